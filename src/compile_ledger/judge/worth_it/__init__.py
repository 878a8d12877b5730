"""Level 5, WORTH_IT."""
