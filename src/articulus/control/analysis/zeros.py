"""Invariant and transmission zeros of plants of any size (`tzero`, `zero` in MATLAB; Emami-Naeini & Van Dooren 1982).

Outputs that no input reaches at once force some states to zero for as long as the outputs are zero; these states are taken out
by orthogonal transformations until the feedthrough of what is left has full rank. Zeros at infinity never appear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from articulus.control.analysis.scaling import scale_states
from articulus.control.plant import as_plant
from articulus.control.reduction.minimal import minreal
from articulus.linear import LinearModel

TOLERANCE = 1e-11
"""Singular value over the size of the matrices below which it counts as zero when ranks are found."""


@dataclass(frozen=True, eq=False)
class Zeros:
    """Zeros of a plant.

    Parameters
    ----------
    transmission : complex array [rad/s]
        Zeros of the transfer function, where its rank drops; values of z [-] for a sampled plant.
    invariant : complex array [rad/s]
        Zeros of the given states, which include the modes that no input moves or no output shows.
    normal_rank : int
        Rank of the transfer function at almost all s.
    degenerate : bool
        The rank is below the number of inputs: some input keeps the output at zero at any s, so that every complex number
        is a zero in that sense; those listed are where the rank drops further.
    """

    transmission: np.ndarray
    invariant: np.ndarray
    normal_rank: int
    degenerate: bool

    def __str__(self) -> str:
        listed = ", ".join(f"{z:.6g}" for z in self.transmission) or "none"
        hidden = len(self.invariant) - len(self.transmission)
        text = f"transmission zeros: {listed}; rank {self.normal_rank}"
        text += f"; {hidden} more of modes without input or output" if hidden > 0 else ""
        return text + ("; degenerate: fewer than inputs" if self.degenerate else "")


def tzero(plant: Any) -> Zeros:
    """Return the zeros of a plant: any numbers of inputs and outputs, minimal or not."""
    model = as_plant(plant, "tzero")
    invariant, rank = finite_zeros(model)
    small = minreal(model)
    transmission = invariant if len(small.A) == len(model.A) else finite_zeros(small)[0]
    return Zeros(transmission, invariant, rank, rank < len(model.inputs))


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def finite_zeros(model: LinearModel) -> tuple[np.ndarray, int]:
    """Return the invariant zeros of a model by rising size, and the rank of its transfer function."""
    model = scale_states(model)[0]
    A, B, C, D, _ = without_forced_states(model.A, *_signals(model))
    A, C, B, D, _ = (x.T for x in without_forced_states(A.T, C.T, B.T, D.T))
    n, rank = len(A), len(D)
    if not n:
        return np.zeros(0, dtype=complex), rank
    # D is square and invertible: columns of [C, D] are turned into [0, D']
    Q = scipy.linalg.qr(np.hstack([C, D]).T)[0][:, ::-1] if rank else np.eye(n)
    found = scipy.linalg.eigvals((np.hstack([A, B]) @ Q)[:, :n], Q[:n, :n])
    return found[np.argsort(np.abs(found), kind="stable")].astype(complex), rank


def _signals(model: LinearModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return B, C, D with inputs and outputs scaled to like size, which changes no zero."""
    a = (float(np.linalg.norm(model.A, 2)) if len(model.A) else 0.0) or 1.0
    B, C, D = model.B, model.C, model.D
    rows = np.linalg.norm(np.hstack([C, D]), axis=1) / a
    rows[rows == 0] = 1.0
    C, D = C / rows[:, None], D / rows[:, None]
    columns = np.linalg.norm(np.vstack([B, D]), axis=0) / a
    columns[columns == 0] = 1.0
    return B / columns, C, D / columns


def without_forced_states(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (A, B, C, D) whose D has full row rank, with the same zeros, and the basis V (n, r) of the states left."""
    least = TOLERANCE * max(
        float(np.linalg.norm(np.block([[A, B], [C, D]]), 2)) if D.size or A.size else 0.0, 1e-300
    )
    V = np.eye(len(A))
    while True:
        U, rank = row_basis(D, least)
        C, D = U.T @ C, U.T @ D
        silent = C[rank:]  # what these show of the states, no input changes at once
        C, D = C[:rank], D[:rank]
        T, seen = row_basis(silent.T, least)
        if not seen:
            return A, B, C, D, V
        free, forced = T[:, seen:], T[:, :seen]
        # forced states stay at zero: so does their rate, which becomes an output
        V = V @ free
        C, D = np.vstack([C @ free, forced.T @ A @ free]), np.vstack([D, forced.T @ B])
        A, B = free.T @ A @ free, free.T @ B


def row_basis(matrix: np.ndarray, least: float) -> tuple[np.ndarray, int]:
    """Return U orthogonal and the rank r: the rows of U' matrix after the first r are zero.

    Householder reflections of the longest columns first. A column with one entry is brought up by an exact exchange: what is zero in
    chains of lags stays zero, where an SVD leaks rounding, which grows by the distance of the poles at every step.
    """
    R, U, rank = matrix.copy(), np.eye(len(matrix)), 0
    while rank < min(R.shape):
        lengths = np.linalg.norm(R[rank:, rank:], axis=0)
        longest = int(np.argmax(lengths))
        if lengths[longest] <= least:
            break
        R[:, [rank, rank + longest]] = R[:, [rank + longest, rank]]
        entries = np.flatnonzero(R[rank:, rank])
        if len(entries) == 1:
            swap, back = [rank, rank + entries[0]], [rank + entries[0], rank]
            R[swap], U[:, swap] = R[back], U[:, back]
        else:
            v = R[rank:, rank].copy()
            v[0] += np.copysign(lengths[longest], v[0])
            v *= np.sqrt(2.0 / (v @ v))
            R[rank:] -= np.outer(v, v @ R[rank:])
            U[:, rank:] -= np.outer(U[:, rank:] @ v, v)
            R[rank + 1 :, rank] = 0.0
        rank += 1
    return U, rank
