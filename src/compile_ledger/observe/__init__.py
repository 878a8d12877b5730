"""Sees facts in a live process. The only package that touches torch's private API.

:mod:`compile_ledger.observe.capabilities` is the front door: every private name
is asked for there before it is used, and its absence becomes a line of the
capability table, never a wrong number.
"""
