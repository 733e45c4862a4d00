"""Linear models as python-control objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import control

    from articulus.dynamics.loops.null_space import Partition

ROUNDED = 1e-10
"""Length of a constraint row over that of the longest below which it is taken as rounding [-]."""
VANISHED = 1e-14
"""Length of a constraint row up to which it is rounding, even if no other is longer [m, -]: sines of joint angles are not better known."""


def state_space(
    names: Sequence[str],
    turning: np.ndarray,
    by_q: np.ndarray,
    by_v: np.ndarray,
    inverse_mass: np.ndarray,
    name: str,
) -> control.StateSpace:
    """Return x' = A x + B u, y = x for x = (small displacements, velocities), u = joint forces.

    A = [[G, I], [d vdot/d q, d vdot/d v]], B = [0; M^-1], with G from `kinematics.tangent_rate`.
    """
    import control

    n = len(names)
    A = np.block([[turning, np.eye(n)], [by_q, by_v]])
    B = np.vstack([np.zeros((n, n)), inverse_mass])
    labels = plain_labels(names)
    states = [*labels, *(f"d_{s}" for s in labels)]
    inputs = [f"tau_{s}" for s in labels]
    return control.StateSpace(
        A,
        B,
        np.eye(2 * n),
        np.zeros((2 * n, n)),
        states=states,
        inputs=inputs,
        outputs=states,
        name=name.replace(".", "_"),
    )


def constrained_state_space(
    names: Sequence[str],
    turning: np.ndarray,
    tree: tuple[np.ndarray, np.ndarray, np.ndarray],
    G: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    on_positions: np.ndarray,
    name: str,
) -> control.StateSpace:
    """Return the minimal model about a state on the constraints: states are those of independent freedoms.

    Displacements keep the rows on positions, delta = T delta_i; velocities keep all rows, dv = S dv_j + W delta_i; and
    the accelerations follow from the differentials of M vdot + bias + G' lambda = u and of G vdot + gamma = 0:

        [M  G'] [d vdot  ]   [du]   [d_q (M vdot + bias + G' lambda)  d_v bias ] [delta]
        [G  0 ] [d lambda] = [0 ] - [d_q (G vdot + gamma)             d_v gamma] [dv   ]

    Parameters
    ----------
    names : sequence of str, (nv,)
    turning : array, (nv, nv)
        From `kinematics.tangent_rate`.
    tree : three arrays, (nv, nv)
        Derivatives of inverse dynamics by q and v, and M.
    G : array, (m, nv)
    rows : four arrays
        From `closed.constraint_derivatives`.
    on_positions : array of bool, (m,)
        Which rows restrict positions.
    name : str
    """
    import control

    by_q, by_v, M = tree
    force_by_q, rate_by_q, row_by_q, row_by_v = rows
    position, velocity = split(G[on_positions]), split(G)
    T, S = tangent(G[on_positions], position), tangent(G, velocity)
    W = -following(G, velocity, rate_by_q @ T)
    kept = list(velocity.rows)
    K = np.block([[M, G[kept].T], [G[kept], np.zeros((len(kept), len(kept)))]])
    by_position, by_velocity = (
        np.vstack([by_q + force_by_q, row_by_q[kept]]),
        np.vstack([by_v, row_by_v[kept]]),
    )
    right = np.hstack([by_position @ T + by_velocity @ W, by_velocity @ S, -np.eye(*K.shape)[:, : len(M)]])
    vdot = -np.linalg.solve(K, right)[: len(M)]
    i, j, n_i = list(position.independent), list(velocity.independent), len(position.independent)
    velocities = np.hstack([W, S])
    displacements = np.hstack([T, np.zeros_like(S)])
    A = np.vstack([(turning @ displacements + velocities)[i], vdot[j, : n_i + len(j)]])
    B = np.vstack([np.zeros((n_i, len(M))), vdot[j, n_i + len(j) :]])
    labels = plain_labels(names)
    outputs = [*labels, *(f"d_{s}" for s in labels)]
    return control.StateSpace(
        A,
        B,
        np.vstack([displacements, velocities]),
        np.zeros((2 * len(M), len(M))),
        states=[*(labels[k] for k in i), *(f"d_{labels[k]}" for k in j)],
        inputs=[f"tau_{s}" for s in labels],
        outputs=outputs,
        name=name.replace(".", "_"),
    )


def split(G: np.ndarray) -> Partition:
    """Return which rows and which freedoms are independent under G x = 0.

    Rows count by direction, not by length; those shorter than ROUNDED of the longest, or than VANISHED, are zero but for
    rounding, as at a singular position.
    """
    from articulus.dynamics.loops.null_space import partition  # slow to import

    length = np.linalg.norm(G, axis=1, keepdims=True)
    moves = length > max(ROUNDED * length.max(initial=0.0), VANISHED)
    return partition(np.where(moves, G, 0.0) / np.where(moves, length, 1.0))


def tangent(G: np.ndarray, p: Partition) -> np.ndarray:
    """Return T with x = T x_i for every x with G x = 0, (nv, independent)."""
    i = list(p.independent)
    return np.eye(G.shape[1])[:, i] - following(G, p, G[:, i])


def following(G: np.ndarray, p: Partition, residual: np.ndarray) -> np.ndarray:
    """Return x with G x = residual that moves dependent freedoms only, (nv, ...)."""
    x, d = np.zeros((G.shape[1], residual.shape[1])), list(p.dependent)
    x[d] = np.linalg.solve(G[np.ix_(p.rows, d)], residual[list(p.rows)])
    return x


def plain_labels(names: Sequence[str]) -> list[str]:
    """Return signal names without the dots that python-control keeps for itself, all different."""
    plain = [s.replace(".", "_") for s in names]
    return [s if plain.count(s) == 1 else f"{s}_{i}" for i, s in enumerate(plain)]
