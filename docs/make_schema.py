"""Write docs/ledger.schema.json from the dataclasses of the ledger."""

from __future__ import annotations

import json
from pathlib import Path

from compile_ledger.render.json import json_schema

TARGET = Path(__file__).with_name("ledger.schema.json")


def main() -> None:
    """Write the schema, one key a line, so that a change shows as itself."""
    TARGET.write_text(json.dumps(json_schema(), indent=2, sort_keys=True) + "\n")
    print(TARGET)


if __name__ == "__main__":
    main()
