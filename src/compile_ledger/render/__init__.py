"""Ledger to text: one file an output form. Imports facts and the judged document only."""
