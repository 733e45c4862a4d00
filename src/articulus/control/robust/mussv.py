"""Structured singular value mu of matrices: bounds from both sides, and the perturbation (`mussv` in MATLAB)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mu_lower import APART, lower
from articulus.control.robust.mu_real import lower_real
from articulus.control.robust.mu_upper import Scalings, upper
from articulus.errors import InputError


@dataclass(frozen=True, eq=False)
class Mu:
    """Bounds of the structured singular value mu = 1 / (size of the least Delta that makes I - M Delta singular).

    Parameters
    ----------
    upper, lower : float or array, (f,)
        No Delta of the structure smaller than 1 / upper makes I - M Delta singular; `delta`, of size 1 / lower, does. A lower
        bound of zero: none was found.
    delta : complex array, ([f,] rows, columns)
        Zeros where none was found.
    D, G : complex arrays, ([f,] n, n)
        Scalings that show the upper bound, M* D M + j (G M - M* G) <= upper^2 D, of M with rows and columns of zeros where
        blocks are not square.
    structure : BlockStructure
    """

    upper: Any
    lower: Any
    delta: np.ndarray
    D: np.ndarray
    G: np.ndarray
    structure: BlockStructure

    def one(self, k: int) -> Mu:
        """Return the bounds of one of many matrices."""
        return Mu(
            float(self.upper[k]), float(self.lower[k]), self.delta[k], self.D[k], self.G[k], self.structure
        )

    def join(self, other: Mu, order: np.ndarray) -> Mu:
        """Return the bounds of the matrices of both, in an order."""
        a, b = self, other
        return Mu(
            np.concatenate([a.upper, b.upper])[order],
            np.concatenate([a.lower, b.lower])[order],
            np.concatenate([a.delta, b.delta])[order],
            np.concatenate([a.D, b.D])[order],
            np.concatenate([a.G, b.G])[order],
            self.structure,
        )

    @property
    def margin(self) -> Any:
        """Multivariable stability margin, 1 / upper [-]: every smaller Delta leaves I - M Delta regular."""
        with np.errstate(divide="ignore"):
            return 1.0 / np.asarray(self.upper) if np.ndim(self.upper) else float(np.divide(1.0, self.upper))

    def __str__(self) -> str:
        where = "" if np.ndim(self.upper) == 0 else f" at the largest of {len(self.upper)}"
        at = int(np.argmax(self.upper)) if where else ...
        high, low = np.asarray(self.upper)[at], np.asarray(self.lower)[at]
        blocks = "; ".join(str(b) for b in self.structure.blocks[:8])
        return f"mu between {float(low):.6g} and {float(high):.6g}{where} ({blocks})"


def mussv(M: Any, blocks: Any) -> Mu:
    """Return bounds of the structured singular value of a matrix, or of many of one size.

    Upper bounds are by D scalings, with real blocks by D and G scalings (convex; found to about 1e-6); lower bounds by power
    iteration, of structures of real blocks only by a search over corners and edges of the box of parameters. All matrices are
    worked on at once.

    Parameters
    ----------
    M : complex array, (columns, rows) or (f, columns, rows)
        For instance `model.response(omega)`.
    blocks : sequence of pairs or `Block`
        MATLAB's pairs: (r, c) a full complex block, (r, 0) a complex number repeated r times, (-r, 0) a real one. Delta
        goes from the outputs of M to its inputs: the rows of Delta are the columns of M.
    """
    structure = BlockStructure.of(blocks)
    matrices = np.asarray(M, dtype=complex)
    many = matrices[None] if matrices.ndim == 2 else matrices
    if many.shape[1:] != (structure.columns, structure.rows):
        raise InputError(
            f"mussv: found M of shape {matrices.shape}; expected ([f,] {structure.columns}, {structure.rows}) for the blocks "
            f"{'; '.join(map(str, structure.blocks))}"
        )
    if not np.isfinite(many).all():
        bad = int(np.flatnonzero(~np.isfinite(many).all(axis=(1, 2)))[0])
        raise InputError(
            f"mussv: found M[{bad}] with entries that are not finite; expected numbers; likely a pole at that frequency"
        )
    square = structure.pad(many)
    high = upper(square, structure)
    low, delta = _lower(square, structure, high)
    low = np.minimum(low, high.bound)
    many_found = Mu(high.bound, low, structure.cut(delta), high.D, high.G, structure)
    return many_found if matrices.ndim == 3 else many_found.one(0)


def _lower(M: np.ndarray, structure: BlockStructure, high: Scalings) -> tuple[np.ndarray, np.ndarray]:
    """Return lower bounds and perturbations; where the bounds of a mixed structure are apart, also of its real blocks alone."""
    real = [b.real for b in structure.blocks]
    if all(real):
        return lower_real(M, structure, high.bound)
    low, delta = lower(M, structure, high)
    far = np.flatnonzero(low < (1.0 - APART) * high.bound)
    if not any(real) or not len(far):
        return low, delta
    rows = np.repeat(real, [b.size for b in structure.blocks])
    part = np.ix_(far, rows, rows)
    alone = BlockStructure(tuple(b for b in structure.blocks if b.real))
    bound, found = lower_real(M[part], alone, high.bound[far])
    better = bound > low[far]
    low[far[better]] = bound[better]
    delta[far[better]] = 0.0
    delta[np.ix_(far[better], rows, rows)] = found[better]
    return low, delta
