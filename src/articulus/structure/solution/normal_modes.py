"""Undamped normal modes: K phi = omega^2 M phi."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, splu

from articulus.errors import InputError
from articulus.structure.check import DENSE
from articulus.structure.solution.eigenvalues import finite_modes, shift
from articulus.structure.solution.statics import rigid_motions
from articulus.structure.structure import Structure
from articulus.structure.thin_shells import warn_if_shear_counts


@dataclass(frozen=True, eq=False)
class NormalModes:
    """Modes of a structure, by rising frequency, with unit modal mass.

    Parameters
    ----------
    omega : array, (k,) [rad/s]
        Circular frequencies; zero for rigid motions.
    shapes : array, (n, k)
        Degrees of freedom; phi' M phi = 1, the largest translation (rotation, where there is none) positive.
    """

    omega: np.ndarray
    shapes: np.ndarray

    @property
    def hertz(self) -> np.ndarray:
        """Frequencies [Hz]."""
        return self.omega / (2 * np.pi)

    @property
    def elastic(self) -> NormalModes:
        """The modes without rigid motions, whose frequencies are exactly zero."""
        keep = self.omega > 0
        return NormalModes(self.omega[keep], self.shapes[:, keep])


def normal_modes(structure: Structure, count: int | None = None) -> NormalModes:
    """Return the modes of lowest frequency.

    Parameters
    ----------
    structure : Structure
        Degrees of freedom without mass are allowed; they follow statically.
    count : int
        How many; all of them (those of finite frequency) if not given.
    """
    n = structure.count
    if count is not None and not 0 <= count <= n:
        raise InputError(f"normal modes: {count} asked of a structure with {n} degrees of freedom")
    if count is None or n <= DENSE or count > n // 4:
        squares, shapes = finite_modes(structure.M.toarray(), structure.K.toarray(), shapes=True)
        squares, shapes = squares[:count], shapes[:, :count]
    else:
        squares, shapes = _sparse(structure, count)
    if count is not None and len(squares) < count:
        raise InputError(
            f"normal modes: {count} asked, but only {len(squares)} degrees of freedom carry mass"
        )
    rigid = rigid_motions(structure).shape[1]
    squares[: min(rigid, len(squares))] = 0.0
    omega = np.sqrt(np.maximum(squares, 0.0))
    warn_if_shear_counts(structure, omega, shapes)
    return NormalModes(omega, _fix_signs(structure, shapes))


def _sparse(structure: Structure, count: int) -> tuple[np.ndarray, np.ndarray]:
    start = np.random.default_rng(0).standard_normal(structure.count)
    K, M = sp.csc_array(structure.K), sp.csc_array(structure.M)
    s = shift(M.diagonal(), K.diagonal())
    inverse = LinearOperator(K.shape, factor_definite(K + s * M).solve, dtype=float)
    squares, shapes = eigsh(K, k=count, M=M, sigma=-s, OPinv=inverse, which="LM", v0=start)
    order = np.argsort(squares)
    return squares[order], shapes[:, order]


def _fix_signs(structure: Structure, shapes: np.ndarray) -> np.ndarray:
    moving = structure.dofs[:, 1] < 3
    size = np.abs(shapes) * np.where(moving[:, None], 1.0, 0.0)
    size = np.where(size.max(axis=0, initial=0.0) > 0, size, np.abs(shapes))
    largest = np.argmax(size, axis=0)
    return shapes * np.where(shapes[largest, np.arange(shapes.shape[1])] < 0, -1.0, 1.0)


def factor_definite(A: sp.sparray) -> SuperLU:
    """Return the factors of a symmetric definite matrix; for shells four times sooner and half the size of SuperLU's default."""
    return splu(
        sp.csc_array(A), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
