"""The internal motion of the whole trajectory at once: collocation of fourth order, solved as one banded system.

Unknown are positions and velocities at equidistant times. Outputs and loops hold at every time exactly; between two times the motion
obeys, along the directions that they leave free, Simpson's rule with the Hermite cubic in the middle (Lobatto IIIA, symmetric). At the
first time the decaying part of the internal motion vanishes, at the last time the growing part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs

from articulus.errors import NumericalError
from articulus.inversion.arms.rest import Rest
from articulus.inversion.arms.servo import Motion, Point, Servo

Array = np.ndarray


@dataclass(frozen=True)
class Grid:
    """Equidistant times with the path at them and in the middle between them, and the poses of rest at both ends."""

    step: float
    nodes: Point
    middles: Point
    start: Rest
    end: Rest


@dataclass(frozen=True)
class Residual:
    """What a trajectory is off by.

    Attributes
    ----------
    position, rate : array, (n, rows)
        Of outputs and loops.
    q, v : array, (n - 1, nv)
        Of Simpson's rule.
    first, last : array
        Of the conditions at the ends.
    motion : Motion
        At the times.
    middle : tuple
        Positions, velocities and `Motion` in the middle.
    """

    position: Array
    rate: Array
    q: Array
    v: Array
    first: Array
    last: Array
    motion: Motion
    middle: tuple[Array, Array, Motion]
    jacobian: Array


def residual(servo: Servo, grid: Grid, q: Array, v: Array) -> Residual:
    """Return what a trajectory, q and v (n, nv), is off by."""
    h, at = grid.step, grid.nodes
    C = servo.jacobian(q, at.t)
    motion = servo.motion(q, v, at, C)
    a = motion.vdot
    q_m = (q[:-1] + q[1:]) / 2 + h / 8 * (v[:-1] - v[1:])
    v_m = (v[:-1] + v[1:]) / 2 + h / 8 * (a[:-1] - a[1:])
    middle = servo.motion(q_m, v_m, grid.middles)
    return Residual(
        servo.residual(q, at),
        servo.rate(q, v, at),
        q[1:] - q[:-1] - h / 2 * (v[:-1] + v[1:]) - h**2 / 12 * (a[:-1] - a[1:]),
        v[1:] - v[:-1] - h / 6 * (a[:-1] + 4 * middle.vdot + a[1:]),
        grid.start.stable @ _internal(grid.start, q[0], v[0]),
        grid.end.unstable @ _internal(grid.end, q[-1], v[-1]),
        motion,
        (q_m, v_m, middle),
        C,
    )


def _internal(rest: Rest, q: Array, v: Array) -> Array:
    return np.concatenate([rest.tangent.T @ (q - rest.q), rest.tangent.T @ v])


class Linearized:
    """The equations linearised about a trajectory, factored: corrections for as many residuals as wanted."""

    def __init__(self, servo: Servo, grid: Grid, q: Array, v: Array, off: Residual):
        self.step = grid.step
        by_q, by_v, rate_by_q = servo.derivatives(q, v, grid.nodes, off.motion)
        q_m, v_m, middle = off.middle
        rows = off.jacobian.shape[-2]
        Q, R = np.linalg.qr(np.swapaxes(off.jacobian, -1, -2), mode="complete")
        self.N = N = np.ascontiguousarray(Q[..., rows:])
        self.inverse = Q[..., :rows] @ _T(np.linalg.inv(R[..., :rows, :]))
        self.rate_by_q, self.by_q, self.by_v = rate_by_q, by_q, by_v
        P = _T(N[:-1])
        m_q, m_v, _ = servo.derivatives(q_m, v_m, grid.middles, middle)
        self.P, self.m_q, self.m_v = P, P @ m_q, P @ m_v
        self.ends = grid.start, grid.end
        nz = N.shape[-1]
        self.dQ = np.concatenate([N, np.zeros_like(N)], axis=-1)
        self.dV = np.concatenate([-self.inverse @ (rate_by_q @ N), N], axis=-1)
        dA = by_q @ self.dQ + by_v @ self.dV
        left = self._rows((self.dQ[:-1], self.dV[:-1], dA[:-1]), -1)
        right = self._rows((self.dQ[1:], self.dV[1:], dA[1:]), 1)
        first = grid.start.stable @ _stacked(grid.start, self.dQ[0], self.dV[0])
        last = grid.end.unstable @ _stacked(grid.end, self.dQ[-1], self.dV[-1])
        self.band = _Band(first, left, right, last, 2 * nz)

    def _rows(self, d: tuple[Array, Array, Array], side: int) -> Array:
        """Return the projected rows of Simpson's rule for changes of position, velocity and acceleration at one side."""
        h, P, (q, v, a) = self.step, self.P, d
        if side < 0:
            q_m, v_m = q / 2 + h / 8 * v, v / 2 + h / 8 * a
        else:
            q_m, v_m = q / 2 - h / 8 * v, v / 2 - h / 8 * a
        up = P @ (side * q - h / 2 * v + side * h**2 / 12 * a)
        low = P @ (side * v - h / 6 * a) - 4 * h / 6 * (self.m_q @ q_m + self.m_v @ v_m)
        return np.concatenate([up, low], axis=-2)

    def correction(self, off: Residual) -> tuple[Array, Array]:
        """Return the changes of positions and velocities, (n, nv) each, that make a residual vanish to first order."""
        p = -_times(self.inverse, off.position)
        w = -_times(self.inverse, off.rate + _times(self.rate_by_q, p))
        a = _times(self.by_q, p) + _times(self.by_v, w)
        given = self._rows((p[:-1, :, None], w[:-1, :, None], a[:-1, :, None]), -1)
        given = given + self._rows((p[1:, :, None], w[1:, :, None], a[1:, :, None]), 1)
        inner = np.concatenate([_times(self.P, off.q), _times(self.P, off.v)], axis=-1) + given[..., 0]
        start, end = self.ends
        first = off.first + start.stable @ _stacked(start, p[0], w[0])
        last = off.last + end.unstable @ _stacked(end, p[-1], w[-1])
        x = self.band.solve(-np.concatenate([first, inner.ravel(), last])).reshape(len(p), -1)
        return p + _times(self.dQ, x), w + _times(self.dV, x)


class _Band:
    """A banded matrix of blocks: conditions at the first time, two neighbours in every row of blocks, conditions at the last."""

    def __init__(self, first: Array, left: Array, right: Array, last: Array, b: int):
        n, ns = (len(left) + 1) * b, len(first)
        self.kl, self.ku = ns + b - 1, 2 * b - 1 - ns
        self.kl, self.ku = max(self.kl, b - 1), max(self.ku, b - 1)
        held = np.zeros((len(left) + 1, b, 2 * self.kl + self.ku + 1))
        top = self.kl + self.ku
        for c in range(b):
            held[0, c, top - c : top - c + ns] = first[:, c]
            held[:-1, c, top + ns - c : top + ns - c + b] = left[:, :, c]
            held[1:, c, top + ns - b - c : top + ns - c] = right[:, :, c]
            held[-1, c, top + ns - c : top + b - c] = last[:, c]
        self.factors, self.pivots, info = dgbtrf(held.reshape(n, -1).T, self.kl, self.ku, overwrite_ab=True)
        if info:
            raise NumericalError(
                "the linear equations of the whole trajectory are singular: the driven joints lose the outputs on the way"
            )

    def solve(self, right: Array) -> Array:
        return dgbtrs(self.factors, self.kl, self.ku, right, self.pivots)[0]


def _stacked(rest: Rest, q: Array, v: Array) -> Array:
    return np.concatenate([rest.tangent.T @ q, rest.tangent.T @ v])


def _T(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]
