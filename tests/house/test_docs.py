"""The documents keep up with the code."""

import json
import re
from pathlib import Path

import pytest

from compile_ledger.judge.document import LEVELS, SCHEMA_VERSION
from compile_ledger.judge.slugs import SLUGS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def anchors(page: Path) -> list[str]:
    return re.findall(r"^#+ ([\w-]+)$", page.read_text(), flags=re.MULTILINE)


def test_every_finding_has_its_anchor() -> None:
    assert set(SLUGS) <= set(anchors(ROOT / "docs/findings.md"))


def test_no_anchor_is_left_of_a_finding_that_is_gone() -> None:
    of_findings = re.findall(r"^### (.+)$", (ROOT / "docs/findings.md").read_text(), re.MULTILINE)
    assert set(of_findings) == set(SLUGS)


def test_each_level_has_a_section() -> None:
    assert [word for word in anchors(ROOT / "docs/levels.md") if word in LEVELS] == list(LEVELS)


def test_the_schema_s_history_names_this_version() -> None:
    assert f"| {SCHEMA_VERSION} |" in (ROOT / "docs/ledger.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    targets = [target for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if ":" not in target]
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_the_schema_is_up_to_date() -> None:
    render = pytest.importorskip("compile_ledger.render.json")
    kept = json.loads((ROOT / "docs/ledger.schema.json").read_text())
    assert kept == json.loads(json.dumps(render.json_schema())), "run `make schema`"
