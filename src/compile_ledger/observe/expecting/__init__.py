"""Contracts on a function while it runs: ``expect``."""
