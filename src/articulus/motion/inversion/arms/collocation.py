"""The internal motion of the whole trajectory at once: collocation of fourth order, solved as one banded system.

Unknown are positions and velocities at equidistant times. Outputs and loops hold at every time exactly; between two times the motion
obeys, along the directions that they leave free, Simpson's rule with the Hermite cubic in the middle (Lobatto IIIA, symmetric). At the
first time the decaying part of the internal motion vanishes, at the last time the growing part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import NumericalError
from articulus.motion.inversion.arms.rest import RestPose
from articulus.motion.inversion.arms.servo import PathPoint, Servo, ServoMotion, parts
from articulus.numerics.banded import BandedLU

Array = np.ndarray


@dataclass(frozen=True)
class CollocationGrid:
    """Equidistant times with the path at them and in the middle between them, and the poses of rest at both ends."""

    step: float
    nodes: PathPoint
    middles: PathPoint
    start: RestPose
    end: RestPose


@dataclass(frozen=True)
class TrajectoryResidual:
    """What a trajectory is off by.

    Attributes
    ----------
    position, rate : array, (n, rows)
        Of outputs and loops.
    q, v : array, (n - 1, nv)
        Of Simpson's rule.
    first, last : array
        Of the conditions at the ends.
    motion : ServoMotion
        At the times.
    middle : tuple
        Positions, velocities and `ServoMotion` in the middle.
    """

    position: Array
    rate: Array
    q: Array
    v: Array
    first: Array
    last: Array
    motion: ServoMotion
    middle: tuple[Array, Array, ServoMotion]
    jacobian: Array


def residual(servo: Servo, grid: CollocationGrid, q: Array, v: Array) -> TrajectoryResidual:
    """Return what a trajectory, q and v (n, nv), is off by."""
    h, at = grid.step, grid.nodes
    C = servo.jacobian(q, at.t)
    motion = servo.motion(q, v, at, C)
    a = motion.vdot
    q_m = (q[:-1] + q[1:]) / 2 + h / 8 * (v[:-1] - v[1:])
    v_m = (v[:-1] + v[1:]) / 2 + h / 8 * (a[:-1] - a[1:])
    middle = servo.motion(q_m, v_m, grid.middles)
    return TrajectoryResidual(
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


def _internal(rest: RestPose, q: Array, v: Array) -> Array:
    return np.concatenate([rest.tangent.T @ (q - rest.q), rest.tangent.T @ v])


@dataclass(frozen=True)
class Slopes:
    """Derivatives of accelerations and rates at equidistant times of a trajectory: `by_q`, `by_v` (n, nv, nv), `rate_by_q` (n, rows, nv)."""

    by_q: Array
    by_v: Array
    rate_by_q: Array

    def finer(self, times: int) -> Slopes:
        """Return them at so many times in every interval, by straight lines."""
        return Slopes(*(_between(x, times) for x in (self.by_q, self.by_v, self.rate_by_q)))


def _between(x: Array, times: int) -> Array:
    shares = np.arange(times).reshape(-1, *(1,) * (x.ndim - 1)) / times
    inner = x[:-1, None] + shares * (x[1:] - x[:-1])[:, None]
    return np.concatenate([inner.reshape(-1, *x.shape[1:]), x[-1:]])


class LinearizedTrajectory:
    """The equations linearised about a trajectory, factored: corrections for as many residuals as wanted.

    With the slopes of a trajectory near by, nothing is differentiated: corrections then converge fast, but not quadratically.
    """

    def __init__(
        self,
        servo: Servo,
        grid: CollocationGrid,
        q: Array,
        v: Array,
        off: TrajectoryResidual,
        slopes: Slopes | None = None,
    ):
        n, nv, rows = len(q), servo.nv, off.jacobian.shape[-2]
        b = 2 * (nv - rows)
        self.step, self.ends = grid.step, (grid.start, grid.end)
        self.known, self.inverse = slopes is not None, np.empty((n, nv, rows))
        self.slopes = slopes or Slopes(*(np.empty((n, k, nv)) for k in (nv, nv, rows)))
        self.dQ, self.dV = np.zeros((n, nv, b)), np.empty((n, nv, b))
        self.P, self.m_q, self.m_v = (np.empty((n - 1, b // 2, nv)) for _ in range(3))
        self.band = _Band(n, b, len(grid.start.stable))
        for part in parts(n - 1):
            self._differentiate(servo, grid, q, v, off, part)
        self.band.ends(
            grid.start.stable @ _stack(grid.start, self.dQ[0], self.dV[0]),
            grid.end.unstable @ _stack(grid.end, self.dQ[-1], self.dV[-1]),
        )
        self.band.factor()

    def _differentiate(
        self, servo: Servo, grid: CollocationGrid, q: Array, v: Array, off: TrajectoryResidual, part: slice
    ) -> None:
        """Set the rows of some intervals, and what corrections need at their times."""
        at = slice(part.start, part.stop + 1)
        C = off.jacobian[at]
        by_q, by_v, rate_by_q = (x[at] for x in (self.slopes.by_q, self.slopes.by_v, self.slopes.rate_by_q))
        if not self.known:
            by_q[:], by_v[:], rate_by_q[:] = servo.derivatives(q[at], v[at], grid.nodes[at], off.motion[at])
        Q, R = np.linalg.qr(_T(C), mode="complete")
        rows, nz = C.shape[1], Q.shape[2] - C.shape[1]
        N = np.ascontiguousarray(Q[..., rows:])
        inverse = self.inverse[at] = Q[..., :rows] @ _T(np.linalg.inv(R[:, :rows]))
        dQ, dV = self.dQ[at], self.dV[at]
        dQ[..., :nz], dV[..., nz:] = N, N
        dV[..., :nz] = -inverse @ (rate_by_q @ N)
        dA = by_v @ dV
        dA[..., :nz] += by_q @ N
        P = self.P[part] = _T(N[:-1])
        q_m, v_m, middle = off.middle
        if self.known:
            self.m_q[part], self.m_v[part] = (P @ ((x[:-1] + x[1:]) / 2) for x in (by_q, by_v))
        else:
            self.m_q[part], self.m_v[part] = servo.projected_derivatives(
                q_m[part], v_m[part], grid.middles[part], middle[part], P
            )
        left = self._rows((dQ[:-1], dV[:-1], dA[:-1]), -1, part)
        right = self._rows((dQ[1:], dV[1:], dA[1:]), 1, part)
        self.band.blocks(part, left, right)

    def _rows(self, d: tuple[Array, Array, Array], side: int, part: slice) -> Array:
        """Return the projected rows of Simpson's rule for changes of position, velocity and acceleration at one side."""
        h, P, (q, v, a) = self.step, self.P[part], d
        q_m, v_m = q / 2 - side * h / 8 * v, v / 2 - side * h / 8 * a
        up = P @ (side * q - h / 2 * v + side * h**2 / 12 * a)
        low = P @ (side * v - h / 6 * a) - 4 * h / 6 * (self.m_q[part] @ q_m + self.m_v[part] @ v_m)
        return np.concatenate([up, low], axis=-2)

    def correction(self, off: TrajectoryResidual) -> tuple[Array, Array]:
        """Return the changes of positions and velocities, (n, nv) each, that make a residual vanish to first order."""
        p = -_times(self.inverse, off.position)
        w = -_times(self.inverse, off.rate + _times(self.slopes.rate_by_q, p))
        a = _times(self.slopes.by_q, p) + _times(self.slopes.by_v, w)
        whole = slice(None)
        given = self._rows((p[:-1, :, None], w[:-1, :, None], a[:-1, :, None]), -1, whole)
        given = given + self._rows((p[1:, :, None], w[1:, :, None], a[1:, :, None]), 1, whole)
        inner = np.concatenate([_times(self.P, off.q), _times(self.P, off.v)], axis=-1) + given[..., 0]
        start, end = self.ends
        first = off.first + start.stable @ _stack(start, p[0], w[0])
        last = off.last + end.unstable @ _stack(end, p[-1], w[-1])
        x = self.band.solve(-np.concatenate([first, inner.ravel(), last])).reshape(len(p), -1)
        return p + _times(self.dQ, x), w + _times(self.dV, x)


class _Band:
    """A banded matrix of n blocks of b columns: `first` rows for the first time, then two neighbors in every row of blocks, then
    the rest of the rows for the last time."""

    def __init__(self, n: int, b: int, first: int):
        self.b, self.count = b, first
        self.kl, self.ku = max(first, 1) + b - 1, max(2 * b - 1 - first, b - 1)
        self.top = self.kl + self.ku
        self.held = np.zeros((n, b, 2 * self.kl + self.ku + 1))

    def blocks(self, part: slice, left: Array, right: Array) -> None:
        """Set rows of blocks, (k, b, b) for each neighbor."""
        b, top = self.b, self.top + self.count
        after = slice(part.start + 1, part.stop + 1)
        left, right = (np.ascontiguousarray(_T(x)) for x in (left, right))
        for c in range(b):
            self.held[part, c, top - c : top - c + b] = left[:, c]
            self.held[after, c, top - b - c : top - c] = right[:, c]

    def ends(self, first: Array, last: Array) -> None:
        """Set the rows of both ends."""
        b, top = self.b, self.top
        for c in range(b):
            self.held[0, c, top - c : top - c + self.count] = first[:, c]
            self.held[-1, c, top + self.count - c : top + b - c] = last[:, c]

    def factor(self) -> None:
        """Factor in place; nothing where the outputs determine the whole motion, as those of rigid arms do."""
        if not self.b:
            return
        try:
            self.factors = BandedLU(self.held.reshape(-1, self.held.shape[-1]).T, self.kl, self.ku)
        except np.linalg.LinAlgError:
            raise NumericalError(
                "the linear equations of the whole trajectory are singular: the driven joints lose the outputs on the way"
            ) from None

    def solve(self, right: Array) -> Array:
        """Return the solution for a right-hand side."""
        return self.factors.solve(right) if self.b else right


def _stack(rest: RestPose, q: Array, v: Array) -> Array:
    return np.concatenate([rest.tangent.T @ q, rest.tangent.T @ v])


def _T(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]
