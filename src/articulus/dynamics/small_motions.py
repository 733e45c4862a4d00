"""Linear models of mechanisms: small displacements and velocities about a state, pushed by joint forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.dynamics.loops.free_coordinates import following, split, tangent
from articulus.dynamics.loops.null_space import VelocityPartition
from articulus.errors import InputError
from articulus.linear import LinearModel, LinearModels
from articulus.model.mechanism.scales import Scales

ILL_CONDITIONED = 1e6
"""Condition of the rows of dependent degrees of freedom above which other degrees of freedom should be the states."""


@dataclass(frozen=True)
class Labels:
    """Names and units of a mechanism's degrees of freedom, and the time of the state.

    Parameters
    ----------
    dofs : sequence of str, (nv,)
    position_units, velocity_units, force_units : sequences of str, (nv,)
    t : float [s]
    name : str
        Name of the mechanism.
    """

    dofs: Sequence[str]
    position_units: Sequence[str]
    velocity_units: Sequence[str]
    force_units: Sequence[str]
    t: float
    name: str

    def model(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, displaced: Sequence[int], moving: Sequence[int]
    ) -> LinearModel:
        """Return a model whose states are the given displacements and velocities; all of both are outputs.

        With leading axes in A and B, of operating points, it is one model for each of them.
        """
        q, v, tau = ([f"{kind}.{name}" for name in self.dofs] for kind in ("q", "v", "tau"))
        points, D = A.shape[:-2], np.zeros((C.shape[-2], B.shape[-1]))
        if points:
            C, D = (np.broadcast_to(x, (*points, *x.shape[-2:])) for x in (C, D))
        return (LinearModels if points else LinearModel)(
            A,
            B,
            C,
            D,
            states=(*(q[k] for k in displaced), *(v[k] for k in moving)),
            inputs=tuple(tau),
            outputs=(*q, *v),
            input_units=tuple(self.force_units),
            output_units=(*self.position_units, *self.velocity_units),
            t=self.t,
            name=self.name,
        )


def open_model(labels: Labels, A: np.ndarray, B: np.ndarray) -> LinearModel:
    """Return x' = A x + B u, y = x for x = (small displacements, velocities), u = joint forces; A, B of `state_space`."""
    n = B.shape[-1]
    return labels.model(A, B, np.eye(2 * n), range(n), range(n))


def partitions(
    G: np.ndarray, on_positions: np.ndarray, scales: Scales
) -> tuple[VelocityPartition, VelocityPartition]:
    """Return which displacements and which velocities are independent under constraint rows G."""
    plain = scales.plain(G)
    return split(plain[on_positions]), split(plain)


def closed_models(
    labels: Labels, arrays: Sequence[np.ndarray], on_positions: np.ndarray, scales: Scales
) -> LinearModels:
    """Return the models about some states, the independent degrees of freedom of the first being states of all of them.

    Parameters
    ----------
    labels : Labels
    arrays : sequence of arrays, (states, ...)
        What `closed_model` takes: turning, the three of the tree, G, the four of the rows.
    on_positions : array of bool, (m,)
    scales : Scales
        Scales of the mechanism.

    Raises
    ------
    InputError
        There is no state, or one at which these degrees of freedom are not independent.
    """
    models: list[LinearModel] = []
    chosen = partitions(arrays[4][0], on_positions, scales) if len(arrays[4]) else None
    if chosen is None:
        raise InputError(
            "linearize: found no operating point; expected at least one for a mechanism with constraints"
        )
    for k, (turning, by_q, by_v, M, G, *rows) in enumerate(zip(*arrays)):
        plain = scales.plain(G)
        worst = max(
            (p.condition(g) for p, g in zip(chosen, (plain[on_positions], plain)) if p.rows), default=1.0
        )
        if k and not worst <= ILL_CONDITIONED:
            raise InputError(
                f"linearize: at operating point {k} the states of the first one are not independent (condition {worst:.1e}, "
                f"expected at most {ILL_CONDITIONED:g}); linearize it separately"
            )
        models.append(closed_model(labels, turning, (by_q, by_v, M), G, tuple(rows), on_positions, chosen))
    return LinearModels.of(models)


def closed_model(
    labels: Labels,
    turning: np.ndarray,
    tree: tuple[np.ndarray, np.ndarray, np.ndarray],
    G: np.ndarray,
    rows: Sequence[np.ndarray],
    on_positions: np.ndarray,
    chosen: tuple[VelocityPartition, VelocityPartition],
) -> LinearModel:
    """Return the minimal model about a state on the constraints: states are those of independent degrees of freedom.

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
    chosen : two Partitions
        Which displacements and which velocities are independent.
    """
    by_q, by_v, M = tree
    force_by_q, rate_by_q, row_by_q, row_by_v = rows
    position, velocity = chosen
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
