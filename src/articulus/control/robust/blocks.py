"""BlockStructure of an uncertainty: blocks, full or repeated, complex or real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError


@dataclass(frozen=True)
class Block:
    """One block of an uncertainty Delta, which maps outputs z of M to its inputs w.

    Parameters
    ----------
    rows, columns : int
        Size: inputs and outputs of M that it takes.
    repeated : bool
        A number times the unit matrix instead of a full matrix.
    real : bool
        A real number; only of repeated blocks (also once).
    name : str
    """

    rows: int
    columns: int
    repeated: bool = False
    real: bool = False
    name: str = ""

    @property
    def size(self) -> int:
        """Rows and columns with those of zeros that make it square."""
        return max(self.rows, self.columns)

    def __str__(self) -> str:
        kind = "real" if self.real else "complex"
        many = f", {self.rows} times" if self.rows > 1 else ""
        shape = f"scalar{many}" if self.repeated else f"full {self.rows} x {self.columns}"
        return f"{self.name + ': ' if self.name else ''}{kind} {shape}"


@dataclass(frozen=True)
class BlockStructure:
    """Blocks of an uncertainty, in their order along the diagonal."""

    blocks: tuple[Block, ...]

    @staticmethod
    def of(blocks: Any, method: str = "mussv") -> BlockStructure:
        """Read blocks: objects of `Block` or MATLAB's pairs; (r, c) is full, (r, 0) complex and (-r, 0) real, both repeated r times."""
        if isinstance(blocks, BlockStructure):
            return blocks
        try:
            found = tuple(b if isinstance(b, Block) else _pair(*b) for b in blocks)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{method}: found blocks {blocks!r}; expected a sequence of Block or of pairs of whole numbers: (2, 3) full, "
                f"(3, 0) complex repeated, (-3, 0) real repeated ({error})"
            ) from None
        if not found:
            raise InputError(f"{method}: found no blocks; expected at least one")
        return BlockStructure(found)

    @property
    def rows(self) -> int:
        """Inputs of M."""
        return sum(b.rows for b in self.blocks)

    @property
    def columns(self) -> int:
        """Outputs of M."""
        return sum(b.columns for b in self.blocks)

    @property
    def size(self) -> int:
        return sum(b.size for b in self.blocks)

    @property
    def slices(self) -> list[slice]:
        """Where the blocks are in the square matrix."""
        ends = np.cumsum([b.size for b in self.blocks])
        return [slice(int(e) - b.size, int(e)) for b, e in zip(self.blocks, ends)]

    def places_of(self, which: str) -> np.ndarray:
        """Return where the "rows" or "columns" of Delta are in its square form."""
        return np.concatenate(
            [np.arange(s.start, s.start + getattr(b, which)) for b, s in zip(self.blocks, self.slices)]
        )

    def pad(self, M: np.ndarray) -> np.ndarray:
        """Return M (..., columns, rows) with rows and columns of zeros where blocks are not square."""
        if (self.columns, self.rows) == (self.size, self.size):
            return M
        out = np.zeros((*M.shape[:-2], self.size, self.size), dtype=M.dtype)
        out[..., self.places_of("columns")[:, None], self.places_of("rows")] = M
        return out

    def cut(self, delta: np.ndarray) -> np.ndarray:
        """Return Delta (..., rows, columns) from its square form."""
        return delta[..., self.places_of("rows")[:, None], self.places_of("columns")]

    def cut_form(self, form: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a square matrix of scalings at outputs of M, between outputs and inputs, and at inputs."""
        z, w = self.places_of("columns"), self.places_of("rows")
        return form[np.ix_(z, z)], form[np.ix_(z, w)], form[np.ix_(w, w)]

    def real_values(self, delta: np.ndarray) -> dict[str, float]:
        """Return the values of named real blocks in Delta (rows, columns)."""
        values, row, column = {}, 0, 0
        for block in self.blocks:
            if block.real and block.name:
                values[block.name] = float(delta[row, column].real)
            row, column = row + block.rows, column + block.columns
        return values

    def inside(self, place: slice, matrices: list[np.ndarray]) -> np.ndarray:
        """Return matrices (k, n, n) of zeros but for the given ones at a block's place."""
        whole = np.zeros((len(matrices), self.size, self.size), dtype=complex)
        whole[:, place, place] = matrices
        return whole

    @property
    def groups(self) -> np.ndarray:
        """Which block each row belongs to, (k, n), 1 or 0."""
        return np.repeat(np.eye(len(self.blocks)), [b.size for b in self.blocks], axis=1)


def _pair(rows: int, columns: int) -> Block:
    r, c = int(rows), int(columns)
    if (r, c) != (rows, columns) or r == 0 or c < 0 or (r < 0 and c not in (0, 1)) or (r < -1 and c == 1):
        raise ValueError(f"found ({rows}, {columns})")
    if r < 0:
        return Block(-r, -r, True, True)
    if c == 0 or (r, c) == (1, 1):
        return Block(r, r, True)
    return Block(r, c)


def hermitian_basis(n: int) -> list[np.ndarray]:
    """Return a basis of the Hermitian matrices, n^2 of (n, n)."""
    found = []
    for i in range(n):
        for j in range(i + 1):
            entries = [1.0] if i == j else [1.0, 1j]
            for z in entries:
                matrix = np.zeros((n, n), dtype=complex)
                matrix[i, j], matrix[j, i] = z, np.conj(z)
                found.append(matrix)
    return found
