"""Files and functions stay short enough to be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE_LINES, FUNCTION_LINES = 300, 60

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def name(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def test_no_file_is_long() -> None:
    lengths = {
        name(path, 1): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources("src", "tests", "examples", "benchmarks", "docs")
    }
    assert not {where: lines for where, lines in lengths.items() if lines > FILE_LINES}


def test_no_function_is_long() -> None:
    long = [
        f"{name(path, node.lineno)} {node.name}"
        for path in sources("src", "tests", "examples", "benchmarks", "docs")
        for node in functions(path)
        if (node.end_lineno or 0) - node.lineno >= FUNCTION_LINES
    ]
    assert not long


def test_public_functions_are_documented() -> None:
    bare = [
        f"{name(path, node.lineno)} {node.name}"
        for path in sources("src", "examples", "benchmarks")
        for node in public(ast.parse(path.read_text(encoding="utf-8")).body)
        if not ast.get_docstring(node)
    ]
    assert not bare


def public(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """Functions, classes and methods whose names do not start with an underscore."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)
