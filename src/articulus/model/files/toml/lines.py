"""On which line each key of a TOML text stands, and from where to where its value; the standard parser does not say."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.S,
)

MOST = 1_000_000


@dataclass(frozen=True)
class Places:
    """Where everything stands in a valid TOML text whose lines end with "\\n", as places of characters.

    Parameters
    ----------
    values : dict of path to (start, end)
        Of the value of each key, and of each entry of an array.
    strings : dict of path to (start, end)
        Of those that are texts, with their quotes.
    headings : dict of path to (start, end)
        Of each table that has a heading, from its first bracket to after the last.
    """

    values: Mapping[str, tuple[int, int]]
    strings: Mapping[str, tuple[int, int]]
    headings: Mapping[str, tuple[int, int]]


def places(text: str) -> Places:
    """Return where everything stands in a valid TOML text."""
    scanner = _Scanner(text)
    return Places(scanner.values, scanner.strings, scanner.headings)


def key_lines(text: str) -> dict[str, int]:
    """Return the line of every key, table and array element of a valid TOML text, by its path.

    Elements on the line where their array begins are omitted; of very many keys the first million are kept.
    Paths read like "joint.lift.at.xyz[2]", those of [[check]] tables like "check[0].signal"; of a key that comes twice
    (tables in pieces) the first line counts.
    """
    return _Scanner(text).lines


class _Scanner:
    def __init__(self, text: str):
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.lines: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.values: dict[str, tuple[int, int]] = {}
        self.strings: dict[str, tuple[int, int]] = {}
        self.headings: dict[str, tuple[int, int]] = {}
        self.breaks = [i for i, c in enumerate(self.text) if c == "\n"]
        self.document()

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return match[0]

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def note(self, path: str, at: int | None = None) -> None:
        if len(self.lines) < MOST:
            self.lines.setdefault(path, self.line(self.at if at is None else at))

    def line(self, at: int) -> int:
        return bisect.bisect_left(self.breaks, at) + 1

    def document(self) -> None:
        table = ""
        self.skip(_BLANK)
        while self.peek():
            if self.peek() == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)

    def header(self) -> str:
        """Read [a.b] or [[a.b]] and return its path."""
        start = self.at
        while self.peek() == "[":
            self.at += 1
        path = self.key("", start)
        self.skip(_SPACE)
        if self.text.startswith("]]", self.at):
            self.counts[path] = self.counts.get(path, 0) + 1
            path = self.latest(path)
            self.note(path, start)
        while self.peek() == "]":
            self.at += 1
        self.headings.setdefault(path, (start, self.at))
        return path

    def key(self, table: str, start: int) -> str:
        """Read a key, dotted or not, and return its path below `table`."""
        path = table
        while True:
            self.skip(_SPACE)
            path = f"{path}.{self.key_part()}" if path else self.key_part()
            self.note(path, start)
            self.skip(_SPACE)
            if self.peek() != ".":
                return path
            path = self.latest(path)
            self.at += 1

    def latest(self, path: str) -> str:
        """Return the path of the last table of an array of tables, any other path as it is."""
        return f"{path}[{self.counts[path] - 1}]" if path in self.counts else path

    def key_part(self) -> str:
        if self.peek() in ("'", '"'):
            return str(tomllib.loads(f"k = {self.skip(_STRING)}")["k"])
        return self.skip(_BARE)

    def pair(self, table: str) -> None:
        path = self.key(table, self.at)
        self.at += 1  # the equals sign
        self.value(path)

    def value(self, path: str) -> None:
        self.skip(_SPACE)
        first, start = self.peek(), self.at
        if first in ("'", '"'):
            self.skip(_STRING)
            self.strings.setdefault(path, (start, self.at))
        elif first == "[":
            self.array(path)
        elif first == "{":
            self.inline_table(path)
        else:
            self.at = start + len(self.skip(_SCALAR).rstrip())
        self.values.setdefault(path, (start, self.at))

    def array(self, path: str) -> None:
        line = self.line(self.at)
        self.at += 1
        count = 0
        while True:
            self.skip(_BLANK)
            if self.peek() in ("]", ""):
                break
            if self.peek() == ",":
                self.at += 1
                continue
            if self.line(self.at) != line:
                self.note(f"{path}[{count}]")
            self.value(f"{path}[{count}]")
            count += 1
        self.at += 1

    def inline_table(self, path: str) -> None:
        self.at += 1
        while True:
            self.skip(_BLANK)
            if self.peek() in ("}", ""):
                break
            if self.peek() == ",":
                self.at += 1
                continue
            self.pair(path)
        self.at += 1
