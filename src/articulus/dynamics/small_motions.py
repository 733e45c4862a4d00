"""Linear models of mechanisms: small displacements and velocities about a state, pushed by joint forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.dynamics.loops.free_coordinates import following, split, tangent
from articulus.linear import LinearModel


@dataclass(frozen=True)
class Labels:
    """Names and units of a mechanism's freedoms, and the time of the state.

    Parameters
    ----------
    freedoms : sequence of str, (nv,)
    position_units, velocity_units, force_units : sequences of str, (nv,)
    t : float [s]
    name : str
        Of the mechanism.
    """

    freedoms: Sequence[str]
    position_units: Sequence[str]
    velocity_units: Sequence[str]
    force_units: Sequence[str]
    t: float
    name: str

    def model(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, displaced: Sequence[int], moving: Sequence[int]
    ) -> LinearModel:
        """Return a model whose states are the given displacements and velocities; all of both are outputs."""
        q, v, tau = ([f"{kind}.{name}" for name in self.freedoms] for kind in ("q", "v", "tau"))
        return LinearModel(
            A,
            B,
            C,
            np.zeros((len(C), B.shape[1])),
            states=(*(q[k] for k in displaced), *(v[k] for k in moving)),
            inputs=tuple(tau),
            outputs=(*q, *v),
            input_units=tuple(self.force_units),
            output_units=(*self.position_units, *self.velocity_units),
            t=self.t,
            name=self.name,
        )


def open_model(
    labels: Labels, turning: np.ndarray, by_q: np.ndarray, by_v: np.ndarray, inverse_mass: np.ndarray
) -> LinearModel:
    """Return x' = A x + B u, y = x for x = (small displacements, velocities), u = joint forces.

    A = [[G, I], [d vdot/d q, d vdot/d v]], B = [0; M^-1], with G from `kinematics.tangent_rate`.
    """
    n = len(inverse_mass)
    A = np.block([[turning, np.eye(n)], [by_q, by_v]])
    B = np.vstack([np.zeros((n, n)), inverse_mass])
    return labels.model(A, B, np.eye(2 * n), range(n), range(n))


def closed_model(
    labels: Labels,
    turning: np.ndarray,
    tree: tuple[np.ndarray, np.ndarray, np.ndarray],
    G: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    on_positions: np.ndarray,
) -> LinearModel:
    """Return the minimal model about a state on the constraints: states are those of independent freedoms.

    Displacements keep the rows on positions, delta = T delta_i; velocities keep all rows, dv = S dv_j + W delta_i; and
    the accelerations follow from the differentials of M vdot + bias + G' lambda = u and of G vdot + gamma = 0:

        [M  G'] [d vdot  ]   [du]   [d_q (M vdot + bias + G' lambda)  d_v bias ] [delta]
        [G  0 ] [d lambda] = [0 ] - [d_q (G vdot + gamma)             d_v gamma] [dv   ]

    Parameters
    ----------
    labels : Labels
    turning : array, (nv, nv)
        From `kinematics.tangent_rate`.
    tree : three arrays, (nv, nv)
        Derivatives of inverse dynamics by q and v, and M.
    G : array, (m, nv)
    rows : four arrays
        From `closed.constraint_derivatives`.
    on_positions : array of bool, (m,)
        Which rows restrict positions.
    """
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
    return labels.model(A, B, np.vstack([displacements, velocities]), i, j)
