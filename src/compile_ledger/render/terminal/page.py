"""A page of the terminal: wraps, indents and transliterates; knows nothing of ledgers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.text import Text

from compile_ledger.render.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

WIDTH = 80
NARROWEST = 40

_ASCII = str.maketrans(
    {
        "✓": "+",
        "✗": "x",
        "·": ".",
        "─": "-",
        "→": "->",
        "×": "x",
        "…": "...",
        "µ": "u",
        "—": "-",
        "–": "-",  # noqa: RUF001 - the character to be replaced
        "’": "'",  # noqa: RUF001 - the character to be replaced
        "≤": "<=",
        "≥": ">=",
    }
)

Piece = str | Text | tuple[str, str]
"""Text, or text with a rich style."""


class Page:
    """Lines of at most :data:`WIDTH` columns on a console.

    Every text that comes in is cleaned of control characters and, for a console
    that is not UTF-8, written in ASCII.
    """

    def __init__(self, console: Console) -> None:
        """Measure ``console``: its width in columns and its encoding."""
        self.console = console
        self.width = max(NARROWEST, min(console.width, WIDTH))
        self.ascii = not console.encoding.lower().replace("-", "").startswith("utf")

    def plain(self, text: str) -> str:
        """``text`` as this console can show it, on one line."""
        text = clean(text)
        if not self.ascii:
            return text
        return text.translate(_ASCII).encode("ascii", "backslashreplace").decode()

    def text(self, *pieces: Piece) -> Text:
        """The pieces joined and made plain; a ``Text`` is one already."""
        made = Text()
        for piece in pieces:
            if isinstance(piece, Text):
                made.append_text(piece)
            elif isinstance(piece, str):
                made.append(self.plain(piece))
            else:
                made.append(self.plain(piece[0]), piece[1])
        return made

    def line(self, *pieces: Piece, indent: int = 0) -> None:
        """Print the pieces, wrapped, every line indented by ``indent`` columns."""
        self.hang("", *pieces, indent=indent)

    def hang(self, label: Piece, *pieces: Piece, indent: int) -> None:
        """Print ``label``, then the pieces beside it from column ``indent`` on, wrapped."""
        head = self.text(label) if label else Text()
        head.truncate(max(0, indent - 1))
        head.pad_right(indent - head.cell_len)
        body = self.text(*pieces)
        for row in body.wrap(self.console, self.width - indent) or [Text()]:
            row.rstrip()
            self._print(Text.assemble(head, row))
            head = Text(" " * indent)

    def flow(self, items: Sequence[Sequence[Piece]], between: str, indent: int) -> None:
        """Print items side by side; a line breaks between items only, where it can."""
        row = Text()
        for item in items:
            piece = self.text(*item)
            if row and indent + row.cell_len + len(between) + piece.cell_len > self.width:
                self.hang("", row, indent=indent)
                row = Text()
            row = self.text(row, between, piece) if row else piece
        self.hang("", row, indent=indent)

    def section(self, title: str, aside: str = "") -> None:
        """Print a blank line and a title in capitals, with a rule to the right edge."""
        self.blank()
        head = f"{title.upper()} ({aside})" if aside else title.upper()
        rule = self.plain("─") * max(0, self.width - len(self.plain(head)) - 1)
        self._print(Text.assemble((self.plain(head), "bold"), " ", (rule, "dim")))

    def blank(self) -> None:
        """Print an empty line."""
        self._print(Text())

    def command(self, command: str, indent: int) -> None:
        """Print a shell command so that it can be copied: continued with backslashes."""
        rows = _shell_rows(self.plain(command), self.width - indent - 4)
        for number, row in enumerate(rows):
            last = number == len(rows) - 1
            prompt = "$ " if number == 0 else "  "
            self.line((f"{prompt}{row}" + ("" if last else " \\"), "cyan"), indent=indent)

    def _print(self, text: Text) -> None:
        text.rstrip()
        self.console.print(
            text, highlight=False, no_wrap=True, overflow="ignore", crop=False, emoji=False
        )


def _shell_rows(command: str, width: int) -> list[str]:
    rows: list[str] = []
    for word in _shell_words(command):
        if rows and len(rows[-1]) + 1 + len(word) <= width:
            rows[-1] += f" {word}"
        else:
            rows.append(word)
    return rows


def _shell_words(command: str) -> Iterable[str]:
    try:
        return shlex.split(command, posix=False)
    except ValueError:
        return command.split()
