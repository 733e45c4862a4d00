"""The fastest run along a given path: reachability analysis on the exact dynamics (Pham & Pham 2018), for many paths at once.

Along a path q(s) the torques are a(s) s'' + b(s) s'^2 + c(s). With x = s'^2 and u = s'' constant between the points of a grid,
x_{i+1} = x_i + 2 h u, every limit is a pair of lines in the plane of u and x. Backwards from the end, the set of speeds from which the
end can be reached is an interval, found by eliminating u; forwards the largest speed within it is taken. The limits hold at both ends
of every interval of the grid. Both passes are native code over all paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from scipy.interpolate import CubicSpline

from articulus import kernel
from articulus.api import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.kernel import NEVER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAR = 1e12
"""Stands for no limit: of a squared speed, or of an acceleration along the path, in lengths of the path."""
FLAT = 1e-12
"""Coefficient of u over the largest of its row's, below which a row limits the speed alone."""
MOST = 2**17
"""Most intervals of a grid."""
SWEEPS = 30
"""Most repetitions with friction that depends on the speed."""
SETTLED = 1e-6
"""Change of the squared speeds, over the largest, at which those repetitions end."""
LEAST = 1e-6
"""Squared speed, over the largest, about which friction is taken where the run is slower."""


@dataclass(frozen=True, eq=False)
class PathMotion:
    """The fastest run along one or many paths.

    Parameters
    ----------
    mechanism : Mechanism
    s : array, (points,)
        Grid, from 0 to 1.
    t : array, (..., points) [s]
        When each point is passed.
    speed : array, (..., points) [1/s]
        Rate of s at the points.
    pull : array, (..., points - 1) [1/s^2]
        Second derivative of s, constant between points.
    path : callable
        s -> positions, first and second derivatives by s, (..., len(s), n) each.
    effort : array, (n,) [N m or N]
        Limits of the joint forces.
    gap : float or array
        Estimated loss of time against the fastest run, over the duration: what half the intervals lose more.
    """

    mechanism: Mechanism
    s: np.ndarray
    t: np.ndarray
    speed: np.ndarray
    pull: np.ndarray
    path: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    effort: np.ndarray
    gap: Any

    @property
    def duration(self) -> Any:
        """How long it takes [s]; one number per path."""
        return float(self.t[-1]) if self.t.ndim == 1 else self.t[..., -1]

    def along(self, between: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return times, positions, velocities and accelerations at the points, and at as many more between them as asked for."""
        part = np.arange(between) / between
        h = np.diff(self.s)
        s = np.append((self.s[:-1, None] + h[:, None] * part).ravel(), self.s[-1])
        x = self.speed[..., :-1, None] ** 2 + 2 * self.pull[..., None] * (h[:, None] * part)
        rate = np.sqrt(np.maximum(np.concatenate([_flat(x), self.speed[..., -1:] ** 2], axis=-1), 0.0))
        pull = np.concatenate([np.repeat(self.pull, between, axis=-1), self.pull[..., -1:]], axis=-1)
        now = (
            2 * (h[:, None] * part) / np.maximum(self.speed[..., :-1, None] + _square(rate, between), 1e-300)
        )
        t = np.concatenate([_flat(self.t[..., :-1, None] + now), self.t[..., -1:]], axis=-1)
        q, first, second = self.path(s)
        v = first * rate[..., None]
        return t, q, v, second * rate[..., None] ** 2 + first * pull[..., None]

    @cached_property
    def forces(self) -> np.ndarray:
        """Joint forces at the points, (..., points, n), with the acceleration of the interval after each [N m or N]."""
        _, q, v, a = self.along()
        return self.mechanism.inverse_dynamics(q, v, a)

    def overload(self, between: int = 8) -> float:
        """Return the largest joint force over its limit, less 1, at the points and between them."""
        _, q, v, a = self.along(between)
        return float((np.abs(self.mechanism.inverse_dynamics(q, v, a)) / self.effort).max() - 1.0)

    def plot(self) -> Figure:
        """Return a figure of joint speeds and joint forces over time, forces over their limits."""
        import matplotlib.pyplot as plt

        if self.t.ndim > 1:
            raise InputError("PathMotion.plot: found many paths; expected one")
        t, _, v, _ = self.along()
        figure, axes = plt.subplots(2, 1, sharex=True, figsize=(8, 5), layout="constrained")
        axes[0].plot(t, v, label=self.mechanism.v_names)
        axes[1].plot(t, self.forces / self.effort)
        axes[1].axhspan(-1, 1, color="0.93", zorder=0)
        axes[0].set_ylabel("joint speeds [rad/s or m/s]")
        axes[1].set(ylabel="forces over their limits", xlabel="t [s]")
        axes[0].legend(frameon=False, fontsize="small", ncols=4)
        axes[0].set_title(f"{self.duration:.5g} s")
        return figure


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:-2], -1)


def _square(x: np.ndarray, between: int) -> np.ndarray:
    return x[..., :-1].reshape(*x.shape[:-1], -1, between)


def path_speed(
    mechanism: Mechanism,
    points: Any,
    *,
    effort: Mapping[str, float] | float | None = None,
    velocity: Mapping[str, float] | float | None = None,
    acceleration: Mapping[str, float] | float | None = None,
    tool: tuple[str, float] | None = None,
    friction: Mapping[str, float] | None = None,
    grid: int = 400,
    gap: float | None = None,
    speeds: tuple[float, float] = (0.0, 0.0),
) -> PathMotion:
    """Return the fastest run through positions on a smooth curve, within the limits of the joints.

    Parameters
    ----------
    mechanism : Mechanism
        A tree whose velocities are the rates of its coordinates; dampers of its joints count.
    points : array, (..., k, nq), or callable
        Positions to pass, two or more, joined by a cubic spline by the lengths of their chords; leading axes are many paths. Or s -> (q,
        dq/ds, d2q/ds2) for s from 0 to 1.
    effort, velocity, acceleration : dict of joint to number, or a number
        Limits in place of those of the joints (the joints have none of acceleration).
    tool : (str, float) [m/s]
        Frame whose speed is limited, and its limit.
    friction : dict of joint to float [N m or N]
        Dry friction, which the motors overcome.
    grid : int
        Intervals of the grid.
    gap : float [-]
        Estimated loss of time against the fastest run, over the duration, down to which the grid is refined; not at all if not given.
        The loss falls with the length of the intervals.
    speeds : (float, float) [1/s]
        Rates of s at the start and at the end.

    Raises
    ------
    InputError
        No force can hold the mechanism at some point of the path: says where and which joint.
    """
    if mechanism.nq != mechanism.nv or mechanism.constraint_names:
        raise InputError(
            f"path_speed: '{mechanism.name}' has joints whose velocities are not the rates of their coordinates, or closed loops; expected a "
            "tree of joints with one degree of freedom"
        )
    curve = points if callable(points) else _spline(mechanism, np.asarray(points, dtype=float))
    limits = _limits(mechanism, effort, velocity, acceleration)
    given = limits, tool, friction or {}, speeds
    coarse, found = (_motion(mechanism, curve, n, *given) for n in (max(grid // 2, 2), grid))
    while gap is not None and (lost := np.max(coarse.duration / found.duration - 1.0)) > gap:
        grid *= 2
        if grid > MOST:
            raise NumericalError(
                f"path_speed: with {MOST} intervals the run is still about {lost:.2g} slower than the fastest; expected a gap above that"
            )
        coarse, found = found, _motion(mechanism, curve, grid, *given)
    return replace(found, gap=coarse.duration / found.duration - 1.0)


def _motion(
    m: Mechanism, curve: Any, grid: int, limits: Any, tool: Any, friction: Any, speeds: Any
) -> PathMotion:
    s = np.linspace(0.0, 1.0, grid + 1)
    q, first, second = curve(s)
    x, u = _Work(m, s, q, first, second, limits, tool, friction, speeds).solve()
    rate = np.sqrt(x)
    steps = 2 * np.diff(s) / np.maximum(rate[..., 1:] + rate[..., :-1], 1e-300)
    t = np.concatenate([np.zeros((*x.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)
    if (rate[..., 1:-1] <= 0).any():
        where = float(s[1:-1][np.argmin(rate.reshape(-1, rate.shape[-1]).min(0)[1:-1])])
        raise NumericalError(f"path_speed: the run comes to a stop at s = {where:.4g} of the path")
    return PathMotion(m, s, t, rate, u, curve, limits[0], 0.0)


def _spline(m: Mechanism, points: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    if points.ndim < 2 or points.shape[-2] < 2 or points.shape[-1] != m.nq or not np.isfinite(points).all():
        raise InputError(
            f"path_speed: found points of shape {points.shape}; expected (..., k, {m.nq}) with k of 2 or more, finite"
        )
    lead, many = points.shape[:-2], points.reshape(-1, *points.shape[-2:])
    curves = []
    for row in many:
        chords = np.linalg.norm(np.diff(row, axis=0), axis=1)
        if not (chords > 0).all():
            raise InputError("path_speed: found two equal positions in a row; expected different ones")
        curves.append(CubicSpline(np.append(0.0, np.cumsum(chords) / chords.sum()), row))

    def at(s: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(
            np.stack([curve(s, order) for curve in curves]).reshape(*lead, len(s), m.nq) for order in range(3)
        )

    return at


def _limits(m: Mechanism, *given: Mapping[str, float] | float | None) -> tuple[np.ndarray, ...]:
    """Return limits of forces, speeds and accelerations, (n,) each."""
    out = []
    for what, held in zip(("effort", "velocity", "acceleration"), given):
        values = np.full(m.nv, np.inf)
        for joint in m.joint_names:
            part = m.v_slice(joint)
            own = next(c for c in m.description.connections if c.name == joint).limits
            if what != "acceleration" and getattr(own, what):
                values[part] = np.array([float(x) for x in getattr(own, what)])
            if held is not None:
                values[part] = held if np.isscalar(held) else held.get(joint, values[part])  # type: ignore[union-attr]
        if not (values > 0).all():
            raise InputError(f"path_speed: {what} = {values}; expected numbers above zero")
        out.append(values)
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Work:
    """Rows of limits on a grid, and the two passes over it."""

    mechanism: Mechanism
    s: np.ndarray
    q: np.ndarray
    first: np.ndarray
    second: np.ndarray
    limits: tuple[np.ndarray, ...]
    tool: tuple[str, float] | None
    friction: Mapping[str, float]
    speeds: tuple[float, float]

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return squared rates of s at the points and its second derivative between them, of all paths."""
        m, zero = self.mechanism, np.zeros_like(self.q)
        rest = m.inverse_dynamics(self.q, zero, zero)
        ahead = m.inverse_dynamics(self.q, self.first, self.second)
        back = m.inverse_dynamics(self.q, -self.first, self.second)
        a = m.inverse_dynamics(self.q, zero, self.first) - rest
        b, damping = (ahead + back) / 2 - rest, (ahead - back) / 2
        for joint, size in self.friction.items():
            part = m.v_slice(joint)
            rest[..., part] += size * np.sign(self.first[..., part])
        top = self._top()
        if not damping.any():
            return self._passes(a, b, rest, top)
        # damping sqrt(x) by its tangent about the speed of the sweep before; first where it takes a quarter of the forces
        with np.errstate(divide="ignore"):
            about = np.minimum(np.min((self.limits[0] / (4 * np.abs(damping))) ** 2, axis=-1), top)
        for _ in range(SWEEPS):
            root = np.sqrt(np.maximum(about, LEAST * about.max()))[..., None]
            x, u = self._passes(a, b + damping / (2 * root), rest + damping * root / 2, top)
            if np.abs(x - about).max() < SETTLED * x.max():
                break
            about = x
        return x, u

    def _top(self) -> np.ndarray:
        """Return the squared rates of s at which some joint or the tool is at its largest speed."""
        with np.errstate(divide="ignore"):
            top = np.min((self.limits[1] / np.abs(self.first)) ** 2, axis=-1)
            if self.tool is not None:
                J = self.mechanism.jacobian(self.tool[0], self.q)[..., 3:, :]
                speed = np.linalg.norm(np.einsum("...ij,...j->...i", J, self.first), axis=-1)
                top = np.minimum(top, (self.tool[1] / speed) ** 2)
        return np.minimum(top, FAR)

    def _passes(self, a: Any, b: Any, c: Any, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        h = np.diff(self.s)
        effort, _, acceleration = self.limits
        rows, low, high = [a], [-effort - c], [effort - c]
        slopes = [b]
        if np.isfinite(acceleration).any():
            rows.append(self.first)
            slopes.append(self.second)
            low.append(np.broadcast_to(-acceleration, self.first.shape))
            high.append(np.broadcast_to(acceleration, self.first.shape))
        A, B, L, H = (np.concatenate(x, axis=-1) for x in (rows, slopes, low, high))
        used = np.isfinite(L).any(axis=tuple(range(L.ndim - 1)))
        A, B, L, H = (x[..., used] for x in (A, B, L, H))
        # at both ends of each interval: a u + b x and a' u + b' (x + 2 h u)
        step = 2 * h[:, None]
        A2 = np.concatenate([A[..., :-1, :], A[..., 1:, :] + step * B[..., 1:, :]], axis=-1)
        B2 = np.concatenate([B[..., :-1, :], B[..., 1:, :]], axis=-1)
        L2, H2 = (np.concatenate([x[..., :-1, :], x[..., 1:, :]], axis=-1) for x in (L, H))
        if not A2.shape[-1]:
            raise InputError(
                "path_speed: found no finite limit of forces or accelerations; expected effort=... or acceleration=..."
            )
        n, lead = A2.shape[-1], A2.shape[:-2]
        p, P, slope, low_x, high_x = _lines(n)(A2, B2, L2, H2)
        high_x = np.minimum(high_x, top[..., :-1])
        low_x = np.maximum(low_x, 0.0)
        self._require_open(low_x, high_x)
        paths = int(np.prod(lead, dtype=int))
        lines = np.concatenate([p, P, slope], axis=-1).reshape(paths, len(h), -1)
        low_x, high_x = (x.reshape(paths, len(h)) for x in (low_x, high_x))
        last = np.minimum(np.broadcast_to(top[..., -1], lead).reshape(paths), self.speeds[1] ** 2)
        sets = self._backward(n, lines, h, low_x, high_x, last)
        x, u = self._forward(n, lines, h, sets)
        return x.reshape(*lead, -1), u.reshape(*lead, -1)

    def _backward(self, n: int, lines: Any, h: Any, low_x: Any, high_x: Any, last: Any) -> np.ndarray:
        """Return the intervals of squared speeds from which the end can be reached, (paths, points, 2)."""
        paths, count = lines.shape[0], len(h)
        w = np.concatenate(
            [lines, np.broadcast_to(h[:, None], (paths, count, 1)), low_x[..., None], high_x[..., None]],
            axis=-1,
        )
        state = np.repeat(last[:, None], 2, axis=1).copy()
        log = np.empty((paths, count, 2))
        passage, failed = _backward_map(n), np.full(paths, NEVER)
        passage.on(state, np.zeros(0), np.ascontiguousarray(w[:, ::-1]), failed, log)(0, count)
        found = np.concatenate([state[:, None], log[:, ::-1]], axis=1)
        empty = found[..., 0] > found[..., 1] * (1 + 1e-9) + 1e-12
        if empty.any():
            row, where = (int(k[0]) for k in np.nonzero(empty))
            which = f" of path {row}" if paths > 1 else ""
            raise InputError(
                f"path_speed: from s = {self.s[where]:.4g}{which} the end cannot be reached within the limits{self._holding(where, row)}. Expected "
                "larger limits, a gentler curve, or other speeds at the ends"
            )
        return found

    def _forward(self, n: int, lines: Any, h: Any, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        paths, count = lines.shape[0], len(h)
        begin = self.speeds[0] ** 2
        if (begin > sets[:, 0, 1] * (1 + 1e-9)).any() or (begin < sets[:, 0, 0] * (1 - 1e-9)).any():
            raise InputError(
                f"path_speed: the speed {self.speeds[0]:g} 1/s at the start is outside of {np.sqrt(max(sets[0, 0, 0], 0)):.4g} to "
                f"{np.sqrt(sets[0, 0, 1]):.4g} 1/s, from which the end can be reached"
            )
        w = np.concatenate([lines, np.broadcast_to(h[:, None], (paths, count, 1)), sets[:, 1:]], axis=-1)
        state, log = np.full((paths, 1), begin), np.empty((paths, count, 1))
        _forward_map(n).on(state, np.zeros(0), np.ascontiguousarray(w), np.full(paths, NEVER), log)(0, count)
        x = np.concatenate([log[..., 0], state], axis=1)
        return x, np.diff(x, axis=1) / (2 * h)

    def _require_open(self, low: np.ndarray, high: np.ndarray) -> None:
        closed = low > high
        if closed.any():
            where = int(np.nonzero(closed.reshape(-1, closed.shape[-1]).any(0))[0][0])
            raise InputError(
                f"path_speed: at s = {self.s[where]:.4g} no speed is within the limits{self._holding(where, 0)}. Expected larger limits or "
                "another path"
            )

    def _holding(self, where: int, path: int) -> str:
        """Return what holding the mechanism still on the rest of the path takes, if that is more than the limits."""
        q = self.q.reshape(-1, *self.q.shape[-2:])[path, where:]
        zero = np.zeros_like(q)
        hold = np.abs(self.mechanism.inverse_dynamics(q, zero, zero)) / self.limits[0]
        k, joint = np.unravel_index(int(np.argmax(hold)), hold.shape)
        if hold[k, joint] <= 1:
            return ""
        return f"; holding still at s = {self.s[where + k]:.4g} takes {hold[k, joint]:.3g} of the limit of '{self.mechanism.v_names[joint]}'"


def _lines(n: int) -> Any:
    """Return the native function from rows a u + b x in [l, h] to lines p + slope x <= u <= P + slope x and bounds of x alone."""

    def build() -> ca.Function:
        a, b, low, high = (SX.sym(name, n) for name in "ablh")
        flat = ca.fabs(a) <= FLAT * (ca.fabs(a) + ca.fabs(b))
        safe = ca.if_else(flat, 1.0, a)
        ends = low / safe, high / safe
        p = ca.if_else(flat, -FAR, ca.fmin(*ends))
        P = ca.if_else(flat, FAR, ca.fmax(*ends))
        slope = ca.if_else(flat, 0.0, -b / safe)
        least, most = SX(-FAR), SX(FAR)
        for k in range(n):  # rows without u
            level = flat[k] * (ca.fabs(b[k]) > 0)
            pair = low[k] / ca.if_else(b[k] == 0, 1.0, b[k]), high[k] / ca.if_else(b[k] == 0, 1.0, b[k])
            least = ca.fmax(least, ca.if_else(level, ca.fmin(*pair), -FAR))
            most = ca.fmin(most, ca.if_else(level, ca.fmax(*pair), FAR))
        for i in range(n):
            for j in range(n):
                if i != j:
                    low_x, high_x = _bound(slope[i] - slope[j], P[j] - p[i])
                    least, most = ca.fmax(least, low_x), ca.fmin(most, high_x)
        return ca.Function("lines", [a, b, low, high], [p, P, slope, least, most])

    return kernel.cached(
        f"path speed lines 1 {n}", build, finite=False, ranks=lambda: ((1, 1, 1, 1), (1, 1, 1, 0, 0))
    )


def _bound(factor: SX, right: SX) -> tuple[SX, SX]:
    """Return the bounds of x that factor x <= right means."""
    level = factor == 0
    value = right / ca.if_else(level, 1.0, factor)
    value = ca.fmin(ca.fmax(value, -FAR), FAR)
    low = ca.if_else(factor < 0, value, ca.if_else(level * (right < 0), FAR, -FAR))
    high = ca.if_else(factor > 0, value, FAR)
    return low, high


def _backward_map(n: int) -> Any:
    def build() -> Sequence[ca.Function]:
        x, none, w, k = SX.sym("x", 2), SX.sym("p", 0), SX.sym("w", 3 * n + 3), SX.sym("k")
        p, P, slope, h, least, most = ca.vertsplit(w, [0, n, 2 * n, 3 * n, 3 * n + 1, 3 * n + 2, 3 * n + 3])
        own = 1 / (2 * h)
        for r in range(n):
            for low_x, high_x in (
                _bound(-own - slope[r], P[r] - x[0] * own),
                _bound(slope[r] + own, x[1] * own - p[r]),
            ):
                least, most = ca.fmax(least, low_x), ca.fmin(most, high_x)
        return [
            ca.Function("back", [x, none, w, k], [ca.vertcat(least, most)], ["x", "p", "w", "k"], ["x_next"])
        ]

    return kernel.recurrence(f"path speed backward 1 {n}", build, 2)


def _forward_map(n: int) -> Any:
    def build() -> Sequence[ca.Function]:
        x, none, w, k = SX.sym("x", 1), SX.sym("p", 0), SX.sym("w", 3 * n + 3), SX.sym("k")
        _, P, slope, h, least, most = ca.vertsplit(w, [0, n, 2 * n, 3 * n, 3 * n + 1, 3 * n + 2, 3 * n + 3])
        u = ca.mmin(P + slope * x)
        onward = ca.fmin(ca.fmax(x + 2 * h * u, least), most)
        return [ca.Function("forth", [x, none, w, k], [onward], ["x", "p", "w", "k"], ["x_next"])]

    return kernel.recurrence(f"path speed forward 1 {n}", build, 1)
