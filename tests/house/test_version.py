from importlib.metadata import version
from pathlib import Path

import compile_ledger

ROOT = Path(__file__).parents[2]


def test_installed_version_is_the_source_s() -> None:
    assert version("compile-ledger") == compile_ledger.__version__


def test_changelog_knows_this_version() -> None:
    assert f"## [{compile_ledger.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_public_names_can_be_listed() -> None:
    assert set(compile_ledger.__all__) <= set(dir(compile_ledger))
