"""Level 3, CAPTURED."""
