"""OP4 as text: integers in fields of eight characters, numbers in those of the header's format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from articulus.model.files.fe.op4_source import Header, Numbers, Op4Source, sparse_run

_FORMAT = re.compile(r"(?:1P,)?([1-9]\d?)[ED]([1-9]\d?)\.\d+(?:\|I16)?", re.I | re.ASCII)
_INTEGER = re.compile(r" *-?\d{1,16} *", re.ASCII)


class TextSource(Op4Source):
    """The lines of a text file."""

    def __init__(self, content: bytes, name: str):
        super().__init__(name)
        self.lines = content.decode("ascii", errors="replace").splitlines()
        self.at = 0
        self.per_line, self.width = 5, 16

    @property
    def where(self) -> str:
        return f"{self.name}:{max(self.at, 1)}"

    def header(self) -> Header | None:
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1
        if self.at == len(self.lines):
            return None
        line = self._line()
        widths = (16, 16, 8, 8) if line.rstrip().endswith("|I16") else (8, 8, 8, 8)
        columns, rows, _, type = self._integers(line, widths)
        name, number_format = line[sum(widths) :][:8], line[sum(widths) :][8:].strip()
        self.per_line, self.width = self._number_format(number_format)
        return self.make_header(name, rows, columns, type)

    def runs(self, header: Header) -> Iterator[tuple[int, int, Numbers]]:
        while True:
            column, row, length = self._integers(self._line(), (8, 8, 8))
            if column > header.columns:
                self._line()  # a number without meaning
                return
            if row > 0:
                yield column, row, self._numbers(length)
            else:
                yield from self._sparse(header, column, length)

    def _sparse(self, header: Header, column: int, left: int) -> Iterator[tuple[int, int, Numbers]]:
        head = 2 if header.bigmat else 1
        while left > 0:
            line = self._line()
            words = self._integers(line, (8, 8) if header.bigmat else (max(len(line), 1),))
            length, row = sparse_run(header, tuple(words))
            count = self.run_words(header, length, left - head, 2 if header.double else 1)
            left -= head + length
            yield column, row, self._numbers(count)

    def _line(self) -> str:
        if self.at == len(self.lines):
            self.refuse("the end of the file", "more lines of a matrix")
        self.at += 1
        return self.lines[self.at - 1]

    def _integers(self, line: str, widths: tuple[int, ...]) -> list[int]:
        fields = [line[end - width : end] for end, width in zip(accumulate(widths), widths)]
        if not all(_INTEGER.fullmatch(f) for f in fields):
            self.refuse(f"{line[:60]!r}", f"{len(widths)} integers in fields of {widths[0]} characters")
        return [int(f) for f in fields]

    def _number_format(self, text: str) -> tuple[int, int]:
        """Return numbers a line and characters a number of a format such as 1P,3E23.16."""
        match = _FORMAT.fullmatch(text or "5E16.9")
        if match is None:
            self.refuse(f"the format {text[:30]!r}", "a format such as 1P,3E23.16")
        return int(match[1]), int(match[2])

    def _numbers(self, count: int) -> Numbers:
        fields: list[str] = []
        while len(fields) < count:
            line = self._line()
            here = min(self.per_line, count - len(fields))
            fields += [line[i * self.width : (i + 1) * self.width] for i in range(here)]
            try:
                fields[-here:] = [float(f.upper().replace("D", "E")) for f in fields[-here:]]  # type: ignore[misc]
            except ValueError:
                self.refuse(f"{line[:60]!r}", f"{here} numbers in fields of {self.width} characters")
        return np.array(fields, dtype=float)
