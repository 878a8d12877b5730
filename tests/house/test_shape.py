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


def code_lines(path: Path) -> int:
    """Lines that are neither blank nor comments nor documentation."""
    text = path.read_text(encoding="utf-8")
    documentation = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        number not in documentation and bool(line.strip()) and not line.strip().startswith("#")
        for number, line in enumerate(text.splitlines(), start=1)
    )


def test_no_file_is_long() -> None:
    lengths = {
        name(path, 1): code_lines(path)
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


def test_public_functions_and_classes_are_documented() -> None:
    bare = [
        f"{name(path, node.lineno)} {node.name}"
        for path in sources("src", "examples", "benchmarks", "docs")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, Function | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert not bare
