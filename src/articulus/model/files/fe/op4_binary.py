"""OP4 as Fortran records: each between two copies of its length, in either byte order, words of four or eight bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from articulus.model.files.fe.op4_source import Header, Numbers, Op4Source, sparse_run

HEADER_WORDS = 6
"""Four integers and a name of two words."""


class BinarySource(Op4Source):
    """The records of a binary file."""

    def __init__(self, content: bytes, name: str):
        super().__init__(name)
        self.content = content
        self.at = 0
        lengths = {order: struct.unpack_from(order + "I", content.ljust(4, b"\0"))[0] for order in "<>"}
        layouts = [(o, n // HEADER_WORDS) for o, n in lengths.items() if n in (24, 48)]
        if not layouts:
            self.refuse(
                f"the bytes {content[:4].hex(' ')} at its begin", "the length 24 or 48 of a header's record"
            )
        self.order, self.word = layouts[0]
        self.integer = self.order + ("i" if self.word == 4 else "q")

    @property
    def where(self) -> str:
        return f"{self.name}: byte {self.at}"

    def header(self) -> Header | None:
        if self.at == len(self.content):
            return None
        record = self._record()
        if len(record) != HEADER_WORDS * self.word:
            self.refuse(f"a record of {len(record)} bytes", f"a header of {HEADER_WORDS * self.word}")
        columns, rows, _, type = self._integers(record, 0, 4)
        name = record[4 * self.word :].decode("ascii", errors="replace").replace(" ", "")
        return self.make_header(name, rows, columns, type)

    def runs(self, header: Header) -> Iterator[tuple[int, int, Numbers]]:
        while True:
            record = self._record()
            column, row, length = self._integers(record, 0, 3)
            if column > header.columns:
                return
            data = record[3 * self.word :]
            if not 0 <= length * self.word <= len(data):
                self.refuse(f"a column of {length} words in {len(data)} bytes", "words that are there")
            if row > 0:
                yield column, row, self._numbers(header, data[: length * self.word])
            else:
                yield from self._sparse(header, column, data[: length * self.word])

    def _sparse(self, header: Header, column: int, data: bytes) -> Iterator[tuple[int, int, Numbers]]:
        head = 2 if header.bigmat else 1
        per_number = max(self._size(header) // self.word, 1)
        while data:
            length, row = sparse_run(header, self._integers(data, 0, head))
            self.run_words(header, length, len(data) // self.word - head, per_number)
            end = (head + length) * self.word
            yield column, row, self._numbers(header, data[head * self.word : end])
            data = data[end:]

    def _size(self, header: Header) -> int:
        """Return the bytes of a number."""
        return 8 if header.double else self.word

    def _numbers(self, header: Header, data: bytes) -> Numbers:
        size = self._size(header)
        if len(data) % size:
            self.refuse(f"{len(data)} bytes of numbers in '{header.name}'", f"a multiple of {size}")
        return np.frombuffer(data, dtype=f"{self.order}f{size}").astype(np.float64)

    def _integers(self, data: bytes, start: int, count: int) -> tuple[int, ...]:
        if len(data) < start + count * self.word:
            self.refuse(f"a record of {len(data)} bytes", f"at least {count} words of {self.word} bytes")
        return struct.unpack_from(f"{self.integer[0]}{count}{self.integer[1]}", data, start)

    def _record(self) -> bytes:
        """Return the next record."""
        start = self.at + 4
        marker = self.content[self.at : start]
        length = struct.unpack(self.order + "I", marker)[0] if len(marker) == 4 else 0
        end = start + length
        if len(marker) < 4 or self.content[end : end + 4] != marker:
            self.refuse("a record without its length at both ends", "records of one matrix after the other")
        self.at = end + 4
        return self.content[start:end]
