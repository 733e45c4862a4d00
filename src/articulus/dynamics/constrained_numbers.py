"""What constraints make of the equations of the cut tree, as numbers: arrays with any leading axes.

    M vdot + bias + G' lambda = tau,   G vdot + gamma = 0

A direction counts as held by the constraints when its singular value is at least `DEPENDENT` times the largest: redundant
rows then count once, and at a singular position the motions that open there count as free.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.errors import InputError, NumericalError

DEPENDENT = 1e-6
"""Share of the largest singular value of the constraint rows, each of unit length, below which one counts as zero. A
state that is off the constraints by as much (`api.OPEN`) still has its redundant rows found."""
SHORT_ROW = 1e-4
"""Share of the longest row up to which rows are brought to unit length: what rounding leaves of a row that vanishes at a
singular position stays small."""
UNREACHED = 1e-6
"""Share of the largest force that may be missing before actuators count as unable to produce it: what a state and an
acceleration that are off the constraints by rounding leave is a thousand times less."""

Array = np.ndarray


def constrained_inverse(M: Array, G: Array) -> tuple[Array, Array]:
    """Return W and Y with vdot = W (tau - bias) - Y gamma, (..., nv, nv) and (..., nv, m).

    W = M^-1 - M^-1 G' (G M^-1 G')^+ G M^-1 and Y = M^-1 G' (G M^-1 G')^+, by singular values of G L'^-1 with
    M = L L', so that no product of G with itself is formed.
    """
    try:
        half = np.swapaxes(np.linalg.inv(np.linalg.cholesky(M)), -1, -2)
    except np.linalg.LinAlgError:
        raise NumericalError(
            "the mass matrix is not positive definite; expected that of bodies with mass"
        ) from None
    rows, length = _unit_rows(G @ half)
    U, s, V, held = _active_directions(rows)
    inverse = held / np.where(held, s, 1.0)
    V = V * held[..., None]
    W = half @ (np.eye(M.shape[-1]) - _T(V) @ V) @ _T(half)
    return W, half @ (_T(V) * inverse[..., None, :]) @ _T(U) / length[..., None, :]


def derivatives(
    M: Array, G: Array, tree: Sequence[Array], rows: Sequence[Array]
) -> tuple[Array, Array, Array]:
    """Return d vdot/d q, d vdot/d v and W of closed forward dynamics, each (..., nv, nv).

    The differential of the equations, the multipliers' change included:

        M dvdot + G' dlambda = dtau - d(M vdot + bias + G' lambda),   G dvdot = -d(G vdot + gamma)

    Parameters
    ----------
    M, G : array, (..., nv, nv), (..., m, nv)
    tree : two arrays, (..., nv, nv)
        d(M vdot + bias) by displacements and by velocities.
    rows : three arrays
        d(G' lambda) by displacements (..., nv, nv), d(G vdot + gamma) by displacements and by velocities (..., m, nv).
    """
    W, Y = constrained_inverse(M, G)
    (by_q, by_v), (force_by_q, row_by_q, row_by_v) = tree, rows
    return -(W @ (by_q + force_by_q) + Y @ row_by_q), -(W @ by_v + Y @ row_by_v), W


def free_motions(G: Array) -> Array:
    """Return the orthogonal projector on the velocities with G v = 0, (..., nv, nv)."""
    _, _, V, held = _active_directions(_unit_rows(G)[0])
    V = V * held[..., None]
    return np.eye(G.shape[-1]) - _T(V) @ V


def least_forces(free: Array, force: Array, driven: Sequence[int] | None) -> tuple[Array, Array]:
    """Return the smallest tau that, with constraint forces, gives `force`; and what is missing, both (..., nv).

    Parameters
    ----------
    free : array, (..., nv, nv)
        From `free_motions`.
    force : array, (..., nv)
        M vdot + bias.
    driven : sequence of int
        Entries of tau that actuators give; None: all.
    """
    wanted = _times(free, force)
    if driven is None:
        return wanted, np.zeros_like(wanted)
    tau = np.zeros_like(wanted)
    if len(driven):
        reach = free[..., list(driven)]
        tau[..., list(driven)] = _times(np.linalg.pinv(reach, rcond=DEPENDENT), wanted)
    return tau, wanted - _times(free, tau)


def require_reached(what: str, missing: Array, scale: Array, names: Sequence[str], driven: str) -> None:
    """Raise InputError that names the motions along which actuators lack force.

    Parameters
    ----------
    what : str
        The question.
    missing : array, (..., nv)
        From `least_forces`.
    scale : array, (...)
        Largest force in question.
    names : sequence of str, (nv,)
    driven : str
        The actuators, as a text.
    """
    excess = np.abs(missing) - UNREACHED * scale[..., None]
    if not (excess > 0).any():
        return
    at = np.unravel_index(np.argmax(excess), excess.shape)[:-1]
    left = missing[at]
    worst = [k for k in np.argsort(-np.abs(left))[:3] if abs(left[k]) > 0.1 * np.abs(left).max()]
    where = f" (row {tuple(map(int, at))} of the batch)" if at else ""
    text = ", ".join(f"{left[k]:.4g} along '{names[k]}'" for k in worst)
    raise InputError(
        f"{what}: {driven} cannot produce these forces{where}: there is no actuator for {text} [N m or N]; expected "
        "actuators that drive every motion that the constraints leave free, or accelerations that these forces can give"
    )


def _active_directions(rows: Array) -> tuple[Array, Array, Array, Array]:
    """Return U, s, V' of the rows and which singular values hold a direction."""
    U, s, V = np.linalg.svd(rows, full_matrices=False)
    return U, s, V, s > DEPENDENT * s.max(axis=-1, keepdims=True, initial=0.0)


def _unit_rows(A: Array) -> tuple[Array, Array]:
    """Return rows of length one (very short ones less), and what they were divided by."""
    length = np.linalg.norm(A, axis=-1)
    length = np.maximum(length, SHORT_ROW * length.max(axis=-1, keepdims=True, initial=0.0))
    length = np.where(length > 0, length, 1.0)
    return A / length[..., None], length


def _T(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]
