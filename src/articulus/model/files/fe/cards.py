"""Bulk data as cards: fixed fields of 8 or 16 columns, free fields, continuations, comments, INCLUDE.

A card is a name and fields in rows of eight, as in the Nastran quick reference guides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from articulus.errors import Finding, ModelError
from articulus.model.files.asset_paths import why_outside
from articulus.model.files.storage import load_text

ROW = 8
"""Data fields in a row, fields 2 to 9; a line of large fields is half a row."""

MAX_LINES = 4_000_000
MAX_INCLUDES = 100

_BEGIN = re.compile(r"^[ \t]*BEGIN[ \t]+BULK[ \t\r]*$", re.I | re.M)
_SPC = re.compile(r"^[ \t]*SPC[ \t]*=[ \t]*(\d{1,8})[ \t\r]*$", re.I | re.M | re.ASCII)
_INCLUDE = re.compile(r"INCLUDE\s+(['\"]?)(.+?)\1\s*", re.I)


@dataclass
class Card:
    """One entry of the bulk data.

    Parameters
    ----------
    name : str
        In capitals, without the asterisk of large fields.
    file : str
        Name of the file it stands in.
    fields : list of str
        Its data without blanks around, in rows of eight; a field that is not given is empty.
    lines : list of int
        Line of each half row.
    """

    name: str
    file: str
    fields: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    label: str = ""

    def get(self, index: int) -> str:
        """Return a data field, counted from 0 (Nastran's field 2); empty when the card ends before it."""
        return self.fields[index] if index < len(self.fields) else ""

    def where(self, index: int = 0) -> str:
        """Return file and line of a data field."""
        half = min(index // (ROW // 2), len(self.lines) - 1)
        return f"{self.file}:{self.lines[half]}"

    def add(self, data: list[str], large: bool, line: int) -> None:
        """Append a line of data to the rows."""
        width = ROW // 2 if large else ROW
        missing = -len(self.fields) % width
        self.fields += [""] * missing + data + [""] * (width - len(data))
        self.lines += [line] * (len(self.fields) // (ROW // 2) - len(self.lines))


@dataclass
class Deck:
    """The cards of a file and of those it includes.

    Parameters
    ----------
    name : str
        Name of the file as messages show it.
    folder : Path or None
        Where included files may lie; None refuses them.
    """

    name: str
    folder: Path | None
    cards: list[Card] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)
    """Constraint sets that the case control selects."""
    count: int = 0
    included: int = 0

    def read(self, text: str) -> None:
        """Take up a whole file: what stands in front of BEGIN BULK is control data, of which SPC = n is kept."""
        begin = _BEGIN.search(text)
        control, bulk = (text[: begin.end()], text[begin.end() :]) if begin else ("", text)
        self.chosen |= {int(n) for n in _SPC.findall(control)}
        self._bulk(bulk, self.name, control.count("\n") + 1, ())

    def _bulk(self, text: str, file: str, first: int, above: tuple[Path, ...]) -> None:
        card: Card | None = None
        gap = False
        for number, raw in enumerate(text.split("\n"), first):
            self.count += 1
            if self.count > MAX_LINES:
                raise ModelError(
                    Finding(f"{file}:{number}", f"more than {MAX_LINES} lines", "a smaller model")
                )
            line, comment, _ = raw.partition("$")
            line = line.rstrip()
            if not line.strip():
                gap = gap or not comment
                continue
            if line.strip().upper() == "ENDDATA":
                return
            if include := _INCLUDE.fullmatch(line.strip()):
                self._include(include[2], f"{file}:{number}", above)
                card = None
            else:
                card = self._line(line, file, number, card, gap)
            gap = False

    def _line(self, line: str, file: str, number: int, card: Card | None, gap: bool) -> Card | None:
        """Take up a line, maybe behind a blank one; return the card that the next one may continue."""
        head, data, label = _split(line)
        large = "*" in head
        if len(data) > (ROW // 2 if large else ROW):
            self._note(
                file, number, f"{len(data)} fields in a line", f"at most {ROW // 2 if large else ROW}", ""
            )
            data = data[: ROW // 2 if large else ROW]
        if head.strip("+*") == "" or head[0] in "+*":
            if card is None:
                self._note(
                    file, number, f"the continuation {line.strip()[:40]!r}", "a card in front of it", ""
                )
                return None
            if gap:
                hint = "Write + in the first column of a line without data, or delete it."
                self._note(
                    file, number, "a continuation behind a blank line", "cards without blank lines", hint
                )
            mine = head.strip("+*")
            if mine and card.label and mine != card.label:
                problem = f"the continuation '{mine}' behind one that asks for '{card.label}'"
                self._note(
                    file, number, problem, "continuations in their order", "Sort the lines of the card."
                )
        else:
            card = Card(head.rstrip("*").strip().upper(), file)
            self.cards.append(card)
        card.label = label.strip("+* ")
        card.add(data, large, number)
        return card

    def _include(self, filename: str, where: str, above: tuple[Path, ...]) -> None:
        """Take up an included file, which has to lie in the folder of the first one."""
        self.included += 1
        reason = "a text has no folder" if self.folder is None else why_outside(filename, self.folder, {})
        path = None if self.folder is None or reason else (self.folder / filename).resolve()
        if path in above:
            reason = "it includes itself"
        if self.included > MAX_INCLUDES:
            reason = f"it is more than the {MAX_INCLUDES}th"
        if reason or path is None:
            found = f"INCLUDE {filename!r}: {reason}"
            self.findings.append(
                Finding(where, found, "a file inside the folder of the model", "Copy it there.")
            )
            return
        try:
            self._bulk(load_text(path), filename, 1, (*above, path))
        except ModelError as error:
            self.findings += [
                Finding(where, f"INCLUDE {filename!r}: {f.found}", f.expected) for f in error.findings
            ]

    def _note(self, file: str, line: int, found: str, expected: str, hint: str) -> None:
        self.findings.append(Finding(f"{file}:{line}", found, expected, hint))


def _split(line: str) -> tuple[str, list[str], str]:
    """Return the first field, the data fields and the last field of a line."""
    if "," in line:
        head, *data = (part.strip() for part in line.split(","))
        size = ROW // 2 if "*" in head else ROW
        label = data.pop(size) if len(data) == size + 1 else ""
        return head, data, label
    line = line.expandtabs(8)
    head = line[:8].strip()
    width = 16 if "*" in head else 8
    data = [line[i : min(i + width, 72)].strip() for i in range(8, min(len(line), 72), width)]
    return head, data, line[72:80]
