"""Mechanical systems for implicit methods, with or without constraints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from articulus.errors import InputError
from articulus.simulation.integrate.second_order import add

Array = np.ndarray


class MotionPoint(NamedTuple):
    """Where the equations of motion are evaluated: time, position, velocity, acceleration, multipliers.

    `dq` is the displacement that led to q from the beginning of the step.
    """

    t: float
    q: Array
    dq: Array
    v: Array
    vdot: Array
    multipliers: Array


class Implicit(Protocol):
    """What an implicit method asks of a problem; `Mechanical` is the dense one, `beams` has one of bands."""

    def start(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return v' and multipliers that fit t [s], q and v."""

    def move(self, t: float, q: Array, dq: Array) -> Array:
        """Return the position at time t [s] that is displaced by dq from q."""

    def correction(self, at: MotionPoint, by_v: float, by_vdot: float, kept: Any) -> tuple[Array, Any]:
        """Return Newton's correction of the position, then that of the multipliers over by_vdot; and what to keep.

        v changes `by_v` and v' changes `by_vdot` times as much as the position. `kept` is what the correction before
        gave back, such as a factored matrix that can still be used, or None to begin again.
        """


@dataclasses.dataclass(frozen=True)
class Mechanical:
    """M(t, q) v' + G' lambda = f(t, q, v) with g(t, q) = 0, and its tangents; q moves with v by `displace`.

    Parameters
    ----------
    mass : callable
        M, (nv, nv), at t and q.
    force : callable
        f, (nv,), at t, q and v.
    stiffness : callable or None
        K = d(M v' + G' lambda - f) / dq along displacements, (nv, nv), at t, q, v, v' and lambda. Without it (and
        without `damping`) the iteration takes it as zero, which serves where h^2 K is small beside M.
    damping : callable or None
        C = -df/dv, (nv, nv), at t, q and v.
    constraint : callable or None
        g, (m,), at t and q.
    jacobian : callable or None
        G = dg/dq along displacements, (m, nv), at t and q.
    gamma : callable or None
        What G v' + gamma = 0 needs, (m,), at t, q and v; for consistent accelerations at the start.
    displace : callable
        From q and dq to the displaced position.
    sizes : pair of arrays or numbers, (nv,) and (nq,)
        What is a large displacement, and a large position: Newton's corrections are measured by the first, rounding by both.
    at_once : callable or None
        Residual of the equations of motion, tangent, g and G at a point with by_v and by_vdot, where one call gives them all.
    """

    mass: Callable[[float, Array], Array]
    force: Callable[[float, Array, Array], Array]
    stiffness: Callable[[float, Array, Array, Array, Array], Array] | None = None
    damping: Callable[[float, Array, Array], Array] | None = None
    constraint: Callable[[float, Array], Array] | None = None
    jacobian: Callable[[float, Array], Array] | None = None
    gamma: Callable[[float, Array, Array], Array] | None = None
    displace: Callable[[Array, Array], Array] = add
    at_once: Callable[[MotionPoint, float, float], tuple[Array, Array, Array, Array]] | None = None
    sizes: tuple[Array | float, Array | float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        rows = {name: getattr(self, name) for name in ("constraint", "jacobian", "gamma")}
        missing = [name for name, value in rows.items() if value is None]
        if 0 < len(missing) < 3:
            raise InputError(f"a mechanical system with constraints needs {' and '.join(missing)} as well")

    def start(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return v' and multipliers that fit t [s], q and v.

        Raises
        ------
        InputError
            q does not fulfil the constraints.
        """
        g, G = self.rows(t, q)
        if g.size and not np.abs(g).max() <= 1e-6 * (1 + np.abs(q).max()):
            raise InputError(
                f"the constraints are off by {np.abs(g).max():.3g} at the start, row {np.abs(g).argmax()}; "
                "expected a position that fulfils them: close the loops first"
            )
        right = self.force(t, q, v)
        if self.gamma is not None:
            right = np.concatenate([right, -self.gamma(t, q, v)])
        solved = np.linalg.solve(saddle(self.mass(t, q), G), right)
        return solved[: v.size], solved[v.size :]

    def move(self, t: float, q: Array, dq: Array) -> Array:
        """Return the displaced position."""
        return self.displace(q, dq)

    def correction(self, at: MotionPoint, by_v: float, by_vdot: float, kept: None) -> tuple[Array, None]:
        """Return Newton's correction of the position, then that of the multipliers over by_vdot; nothing is kept."""
        if self.at_once is not None:
            residual, matrix, g, G = self.at_once(at, by_v, by_vdot)
            return np.linalg.solve(saddle(matrix, G), -np.concatenate([residual / by_vdot, g])), None
        t, q, _, v, vdot, multipliers = at
        g, G = self.rows(t, q)
        residual = self.mass(t, q) @ vdot - self.force(t, q, v)
        if g.size:
            residual = residual + G.T @ multipliers
        matrix = self.tangent(t, q, v, vdot, multipliers, by_v, by_vdot)
        return np.linalg.solve(saddle(matrix, G), -np.concatenate([residual / by_vdot, g])), None

    def rows(self, t: float, q: Array) -> tuple[Array, Array]:
        """Return g and G; none of them has rows where there are no constraints."""
        if self.constraint is None or self.jacobian is None:
            return np.zeros(0), np.zeros((0, 1))
        return np.asarray(self.constraint(t, q), dtype=float), np.asarray(self.jacobian(t, q), dtype=float)

    def tangent(
        self, t: float, q: Array, v: Array, vdot: Array, multipliers: Array, by_v: float, by_vdot: float
    ) -> Array:
        """Return (K + by_v C + by_vdot M) / by_vdot: how the equations change with the position.

        v changes `by_v` and v' changes `by_vdot` times as much as the position.
        """
        matrix = np.array(self.mass(t, q), dtype=float)
        if self.damping is not None:
            matrix += (by_v / by_vdot) * self.damping(t, q, v)
        if self.stiffness is not None:
            matrix += self.stiffness(t, q, v, vdot, multipliers) / by_vdot
        return matrix


def saddle(matrix: Array, G: Array) -> Array:
    """Return [[matrix, G'], [G, 0]]."""
    m = len(G)
    return np.block([[matrix, G.T], [G, np.zeros((m, m))]]) if m else matrix
