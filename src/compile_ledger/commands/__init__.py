"""One file a command; its docstring is its help. Nothing imports this package but the entry."""
