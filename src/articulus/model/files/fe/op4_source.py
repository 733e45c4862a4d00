"""What text and binary OP4 files have in common.

A matrix is a header (columns, rows, form, type, name), a record for each column that is not zero, and a record for the
column behind the last. A column holds one run of terms (dense) or several (sparse), each with its first row. The
lengths of sparse runs are counted in words: two for a double, one where words have eight bytes.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from articulus.errors import Finding, ModelError

MAX_BYTES = 2**30
"""Largest matrix file that is read."""

MAX_SIZE = 10_000_000
"""Most rows, and most columns, of a matrix that is read."""

BIGMAT_ROWS = 65_536
"""From so many rows on, a run of a sparse column has its row in a word of its own."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Header:
    """A matrix to come: its name, size, type (1, 2 real; 3, 4 complex; even ones double) and kind of sparse runs."""

    name: str
    rows: int
    columns: int
    type: int
    bigmat: bool

    @property
    def parts(self) -> int:
        """Numbers a term: two when it is complex."""
        return 2 if self.type > 2 else 1

    @property
    def double(self) -> bool:
        """Whether numbers are of double precision."""
        return self.type % 2 == 0


class Op4Source(ABC):
    """An OP4 file that gives its matrices one after another.

    Parameters
    ----------
    name : str
        Name of the file as messages show it.
    """

    def __init__(self, name: str):
        self.name = name

    @property
    @abstractmethod
    def where(self) -> str:
        """File and place of what was read last."""

    @abstractmethod
    def header(self) -> Header | None:
        """Return the next header; None at the end of the file."""

    @abstractmethod
    def runs(self, header: Header) -> Iterator[tuple[int, int, Numbers]]:
        """Yield column, first row and numbers of each run of a matrix, and pass the record behind its last column."""

    def matrix(self, header: Header) -> sparse.csr_array:
        """Return the matrix that stands behind its header."""
        rows: list[Any] = [np.zeros(0, dtype=int)]
        columns: list[Any] = [np.zeros(0, dtype=int)]
        values: list[Any] = [np.zeros(0)]
        for column, first, numbers in self.runs(header):
            terms = self._terms(header, column, first, numbers)
            rows.append(np.arange(first - 1, first - 1 + len(terms)))
            columns.append(np.full(len(terms), column - 1))
            values.append(terms)
        places = (np.concatenate(rows), np.concatenate(columns))
        shape = (header.rows, header.columns)
        matrix = sparse.coo_array((np.concatenate(values), places), shape=shape).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def _terms(self, header: Header, column: int, first: int, numbers: Numbers) -> NDArray[Any]:
        here = f"column {column} of '{header.name}'"
        if column < 1 or first < 1 or first - 1 + len(numbers) // header.parts > header.rows:
            self.refuse(
                f"{len(numbers)} numbers from row {first} on in {here}", f"rows of 1 to {header.rows}"
            )
        if len(numbers) % header.parts:
            self.refuse(f"{len(numbers)} numbers in {here}", "pairs: it is complex")
        if not np.isfinite(numbers).all():
            self.refuse(f"a number that is not finite in {here}", "finite numbers")
        return numbers.view(complex) if header.parts == 2 else numbers

    def make_header(self, name: str, rows: int, columns: int, type: int) -> Header:
        """Return the header of these numbers; refuse what no matrix has. Rows below zero say `bigmat`."""
        name = name.strip(" \0")
        if not re.fullmatch(r"[A-Za-z]\w{0,7}", name, re.ASCII):
            self.refuse(f"the name {name!r}", "the name of a matrix: a letter, then letters and digits")
        if not (0 < abs(rows) <= MAX_SIZE and 0 < columns <= MAX_SIZE):
            self.refuse(f"'{name}' of {abs(rows)} rows and {columns} columns", f"sizes of 1 to {MAX_SIZE}")
        if type not in (1, 2, 3, 4):
            self.refuse(f"type {type} of '{name}'", "1 or 2 (real), 3 or 4 (complex)")
        return Header(name, abs(rows), columns, type, rows < 0 or rows >= BIGMAT_ROWS)

    def run_words(self, header: Header, length: int, left: int, per_number: int) -> int:
        """Return the numbers in a sparse run of `length` words, of which `left` remain in its column."""
        if length <= 0 or length > left or length % per_number:
            found = f"a run of {length} words in '{header.name}', where its column has {left} more"
            self.refuse(found, "whole numbers inside the column")
        return length // per_number

    def refuse(
        self, found: str, expected: str, hint: str = "Was the file cut off, or is it no OP4 file?"
    ) -> NoReturn:
        """Raise ModelError at the place read last."""
        raise ModelError(Finding(self.where, found, expected, hint))


def sparse_run(header: Header, words: tuple[int, ...]) -> tuple[int, int]:
    """Return length [words] and first row of a run from the one or two integers in front of it."""
    if header.bigmat:
        return words[0] - 1, words[1]
    return words[0] // BIGMAT_ROWS - 1, words[0] % BIGMAT_ROWS
