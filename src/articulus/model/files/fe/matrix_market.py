"""Matrix Market files: real matrices, dense or by coordinates.

SciPy's reader ends the process on many damaged files (its threads write past their arrays, or divide by zero); this one checks
every count and index before it uses it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

KINDS = ("real", "integer", "unsigned-integer")
MIRRORED = {"symmetric": 1.0, "hermitian": 1.0, "skew-symmetric": -1.0}
"""Factor of the upper triangle, which the file leaves out, by the symmetry that it names."""


def parse_matrix_market(content: bytes, most: int) -> Any:
    """Return the matrix of a file's content, dense or a coo_array; raise ValueError with the line and what is wrong there.

    Parameters
    ----------
    content : bytes
    most : int
        Most rows and columns.
    """
    first, at = _line(content, 0)
    words = first.lower().split()
    if (
        len(words) != 5
        or words[:2] != ["%%matrixmarket", "matrix"]
        or words[2] not in ("array", "coordinate")
    ):
        raise ValueError("line 1: no heading '%%MatrixMarket matrix array|coordinate real general|symmetric'")
    dense, (kind, symmetry) = words[2] == "array", words[3:]
    if kind not in KINDS:
        raise ValueError(f"line 1: the field is {kind}")
    if symmetry not in ("general", *MIRRORED):
        raise ValueError(f"line 1: the symmetry is {symmetry}")
    sizes, number, at = _sizes(content, at, 2 if dense else 3)
    rows, columns = sizes[:2]
    if symmetry != "general" and rows != columns:
        raise ValueError(f"line {number}: {rows} rows and {columns} columns are called {symmetry}")
    count = _dense_count(rows, columns, symmetry) if dense else sizes[2]
    if not (1 <= rows <= most and 1 <= columns <= most) or not 0 <= count <= len(content):
        raise ValueError(f"line {number}: {', '.join(map(str, sizes))} do not fit the file")
    numbers = _numbers(content[at:], count if dense else 3 * count)
    if dense:
        return _dense(numbers, rows, columns, symmetry)
    return _coordinates(numbers.reshape(count, 3), rows, columns, symmetry, number)


def _line(content: bytes, at: int) -> tuple[str, int]:
    """Return the line that begins at a place, and the place where the next begins."""
    end = content.find(b"\n", at)
    end = len(content) if end < 0 else end
    return content[at : min(end, at + 1000)].decode("latin-1"), end + 1


def _sizes(content: bytes, at: int, count: int) -> tuple[list[int], int, int]:
    """Return the numbers of the first line that is no comment, its number, and where the next line begins."""
    number = 1
    while at < len(content):
        line, at = _line(content, at)
        number += 1
        words = line.split()
        if not words or line.startswith("%"):
            continue
        if len(words) != count or not all(
            word.isascii() and word.isdigit() and len(word) < 16 for word in words
        ):
            raise ValueError(f"line {number}: expected {count} whole numbers, the size of the matrix")
        return [int(word) for word in words], number, at
    raise ValueError(f"line {number}: the file ends before the size of the matrix")


def _dense_count(rows: int, columns: int, symmetry: str) -> int:
    if symmetry == "general":
        return rows * columns
    return rows * (rows - 1) // 2 if symmetry == "skew-symmetric" else rows * (rows + 1) // 2


def _numbers(content: bytes, count: int) -> np.ndarray:
    if not content.strip():
        found = np.zeros(0)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                found = np.fromstring(content, sep=" ")
            except (DeprecationWarning, ValueError):  # the one in older versions of NumPy, the other in newer
                raise ValueError("a word that is no number") from None
    if found.size != count:
        raise ValueError(f"{found.size} numbers, but its size asks for {count}")
    return found


def _dense(numbers: np.ndarray, rows: int, columns: int, symmetry: str) -> np.ndarray:
    if symmetry == "general":
        return numbers.reshape(columns, rows).T
    matrix = np.zeros((rows, rows))
    column, row = np.triu_indices(rows, 1 if symmetry == "skew-symmetric" else 0)
    matrix[column, row] = MIRRORED[symmetry] * numbers
    matrix[row, column] = numbers
    return matrix


def _coordinates(table: np.ndarray, rows: int, columns: int, symmetry: str, above: int) -> sparse.coo_array:
    """Return the matrix of lines of row, column and number; `above` is the number of the line above them."""
    places, values = table[:, :2], table[:, 2]
    wrong = (places != np.floor(places)) | (places < 1) | (places > [rows, columns])
    if wrong.any():
        line = above + 1 + int(np.flatnonzero(wrong.any(axis=1))[0])
        raise ValueError(f"line {line}: a place outside {rows} rows and {columns} columns")
    row, column = places.astype(np.int64).T - 1
    if symmetry != "general":
        off = row != column
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        values = np.concatenate([values, MIRRORED[symmetry] * values[off]])
    return sparse.coo_array((values, (row, column)), shape=(rows, columns))
