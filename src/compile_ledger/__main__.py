"""``python -m compile_ledger``."""

import sys

from compile_ledger.commands import main

if __name__ == "__main__":
    sys.exit(main())
