"""What was seen: frozen dataclasses, and nothing else.

A fact is one thing that an instrument saw in one process. This package holds
the vocabulary of facts and their file format. It imports nothing of ours and,
apart from :mod:`compile_ledger.facts.codec`, only the standard library, so that
the recorder which makes facts stays small.
"""
