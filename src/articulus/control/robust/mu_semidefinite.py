"""The upper bound of mu as a semidefinite program: the check of `mussv` by another solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mu_upper import osborne, search_space
from articulus.errors import require_package

BISECTIONS = 40


def mu_semidefinite(M: Any, blocks: Any, tolerance: float = 1e-6) -> float:
    """Return the upper bound of mu of one matrix by D and G scalings, by bisection on semidefinite programs (Clarabel).

    Slow, and of one matrix: it is there to check `mussv`, which finds the same bound. Needs the extra `sdp`.

    Parameters
    ----------
    M : complex array, (columns, rows)
    blocks : see `mussv`
    tolerance : float [-]
        Relative.
    """
    structure = BlockStructure.of(blocks, "mu_semidefinite")
    square = structure.pad(np.asarray(M, dtype=complex))
    scale = np.exp(osborne(square[None], structure))[0]
    N = scale[:, None] * square / scale
    size = float(np.linalg.norm(N, 2))
    if size == 0.0:
        return 0.0
    N = N / size
    E, kind, _, _ = search_space(structure)
    P = [e @ N if g else N.conj().T @ e @ N for e, g in zip(E, kind)]
    P = [1j * (p - p.conj().T) if g else p for p, g in zip(P, kind)]
    D = [e if not g else 0.0 * e for e, g in zip(E, kind)]
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        if high - low < tolerance * high or high < tolerance:
            break
        level = 0.5 * (low + high)
        low, high = (low, level) if _feasible(P, D, level**2) else (level, high)
    return high * size


def _feasible(P: list[np.ndarray], D: list[np.ndarray], level: float) -> bool:
    """Return whether some x has level D(x) - P(x) >= 0 with I <= D(x) (its scale is free): t > 0 is reached in

    maximize t: level D(x) - P(x) >= t I, D(x) >= t I, trace D(x) = n, t <= 1.
    """
    clarabel = require_package("clarabel", "mu_semidefinite", "sdp")
    n, k = len(P[0]), len(P)
    columns = [np.concatenate([_pack(level * d - p), _pack(d)]) for p, d in zip(P, D)]
    columns.append(np.concatenate([_pack(-np.eye(n)), _pack(-np.eye(n))]))
    trace = np.array([np.trace(d).real for d in D] + [0.0])
    A = scipy.sparse.csc_matrix(np.vstack([trace, np.eye(k + 1)[-1], -np.array(columns).T]))
    b = np.concatenate([[n, 1.0], np.zeros(len(columns[0]))])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(1), *[clarabel.PSDTriangleConeT(2 * n)] * 2]
    cost = np.zeros(k + 1)
    cost[-1] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    found = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix((k + 1, k + 1)), cost, A, b, cones, settings
    ).solve()
    return bool(found.x[-1] > 1e-9)


def _pack(H: np.ndarray) -> np.ndarray:
    """Return a Hermitian matrix as a real symmetric one of twice the size, its upper triangle by columns, off-diagonals times sqrt 2."""
    real = np.block([[H.real, -H.imag], [H.imag, H.real]])
    rows, columns = np.triu_indices(len(real))
    order = np.lexsort((rows, columns))
    values = real[rows[order], columns[order]]
    return np.where(rows[order] == columns[order], values, np.sqrt(2.0) * values)
