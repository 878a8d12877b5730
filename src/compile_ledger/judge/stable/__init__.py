"""Level 4, STABLE."""
