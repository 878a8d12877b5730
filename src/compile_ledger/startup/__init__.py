"""What Python runs at its start when a program is to be recorded. Imports no torch.

The folder goes on ``PYTHONPATH`` for one program (``compile-ledger record``), or a
``.pth`` file calls :mod:`compile_ledger.startup.boot` once for good
(``compile-ledger activate``).
"""
