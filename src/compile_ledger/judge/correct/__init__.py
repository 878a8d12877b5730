"""Level 2, CORRECT."""
