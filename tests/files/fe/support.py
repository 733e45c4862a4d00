"""OP4 files written by hand from the layout, and small bulk data."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"


def runs(column: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return (first row from 0, numbers) of each stretch that is not zero."""
    rows = np.flatnonzero(column)
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []
    return [(int(p[0]), column[p]) for p in parts]


def binary_op4(A: np.ndarray, form: str, order: str = "<", word: int = 4, double: bool = True) -> bytes:
    """Return one matrix KAA as a binary file: form "dense", "bigmat" or "nonbigmat"."""
    size = 8 if double else word
    per = max(size // word, 1) * (2 if np.iscomplexobj(A) else 1)
    integer = "i" if word == 4 else "q"

    def integers(*values: int) -> bytes:
        return struct.pack(f"{order}{len(values)}{integer}", *values)

    def numbers(x: np.ndarray) -> bytes:
        return np.ascontiguousarray(x).view(float).astype(f"{order}f{size}").tobytes()

    def record(data: bytes) -> bytes:
        marker = struct.pack(order + "I", len(data))
        return marker + data + marker

    rows, columns = A.shape
    kind = (2 if double else 1) + (2 if np.iscomplexobj(A) else 0)
    name = b"KAA     " if word == 4 else b"KAA         ".ljust(16)
    out = record(integers(columns, -rows if form == "bigmat" else rows, 2, kind) + name)
    for j, column in enumerate(A.T, 1):
        found = runs(column)
        if found and form == "dense":
            first, last = np.flatnonzero(column)[[0, -1]]
            terms = column[first : last + 1]
            out += record(integers(j, first + 1, per * len(terms)) + numbers(terms))
        elif found:
            head = 2 if form == "bigmat" else 1
            data = b""
            for first, terms in found:
                words = per * len(terms)
                one = ((words + 1) * 65536 + first + 1,)
                data += integers(*((words + 1, first + 1) if head == 2 else one)) + numbers(terms)
            out += record(integers(j, 0, sum(head + per * len(t) for _, t in found)) + data)
    return out + record(integers(columns + 1, 1, per) + numbers(np.array([1.0])))


def tridiagonal() -> np.ndarray:
    """Return the matrix KAA of the files in `data`: (1 + min(i, j)) times 2.5 on and -1.25e-3 beside the diagonal."""
    i, j = np.mgrid[0:6, 0:6]
    return np.where(abs(i - j) < 2, (1 + np.minimum(i, j)) * np.where(i == j, 2.5, -1.25e-3), 0.0)


def small(name: str, *fields: object) -> str:
    """Return a card in fields of eight columns."""
    texts = ["" if f is None else str(f) for f in fields]
    rows = [texts[i : i + 8] for i in range(0, len(texts), 8)] or [[]]
    heads = [name, *["" if any(row) else "+" for row in rows[1:]]]
    return "".join(f"{h:<8}" + "".join(f"{t:<8}" for t in row) + "\n" for h, row in zip(heads, rows))


PROPERTIES = small("MAT1", 7, "2.1+11", "", ".3", "7850.") + small(
    "PBAR", 3, 7, "1.-4", "1.-9", "2.-9", "3.-9"
)
BEAM = (
    small("GRID", 1, "", "0.", "0.", "0.", "", 123456)
    + small("GRID", 2, "", "1.", "0.", "0.")
    + small("CBAR", 5, 3, 1, 2, "0.", "1.", "0.")
    + PROPERTIES
)
"""One bar along x, clamped at grid 1."""
