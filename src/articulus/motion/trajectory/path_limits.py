"""What a run along a path keeps to: forces, speeds and accelerations of the joints, speed of a tool; trees and closed loops."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.dynamics.compiled import physics_version
from articulus.dynamics.coupled import every_joint
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError, did_you_mean
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.numbers import value_of, values_of
from articulus.motion.trajectory.path_curves import Curve
from articulus.motion.trajectory.speed_profile import FAR, greater, largest, lines

NONE = 1e15
"""In place of an infinite limit."""
MORE = 1.2
"""Share of the excess of a limit that is taken off."""
BEND = 2e-3
"""Second difference of a load over the halves of an interval, from which on it is examined more closely."""
NEAR = 0.9
"""Load below which it is not."""
ARGUMENTS = {
    "effort": "torque_limit",
    "velocity": "velocity_limit",
    "acceleration": "acceleration_limit",
    "jerk": "jerk_limit",
    "friction": "friction",
}
"""Arguments that give limits of the joints in place of their own."""
CLOSER = 8
"""Parts of the interval then."""


@dataclass(frozen=True, eq=False)
class PathLimits:
    """Limits along a path, and what the motors do there.

    Parameters
    ----------
    mechanism : Mechanism
    curve : callable
        s -> positions, first and second derivatives by s, (..., len(s), n) each.
    motors : array of int
        Velocities that motors act on.
    effort : array, (motors,) [N m or N]
    velocity, acceleration : array, (nv,) [rad/s or m/s, rad/s^2 or m/s^2]
    tool : (str, float) [m/s]
        Frame and the limit of its speed.
    friction : array, (motors,) [N m or N]
        Dry friction.
    speeds : (float, float) [1/s]
        Rates of s at the ends.
    duration : float [s]
        Given, or the least.
    damped : bool
        Whether there are forces that are odd in the velocities.
    """

    mechanism: Mechanism
    curve: Curve
    motors: np.ndarray
    effort: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    tool: tuple[str, float] | None
    friction: np.ndarray
    speeds: tuple[float, float]
    duration: float | None = None
    damped: bool = False

    @cached_property
    def plain(self) -> bool:
        """Whether one native function gives all coefficients at a point."""
        return not self.mechanism.constraint_names and not self.mechanism.description.parameters

    @cached_property
    def limits_acceleration(self) -> bool:
        """Whether there are limits of acceleration."""
        return bool(np.isfinite(self.acceleration).any())

    @cached_property
    def _reciprocals(self) -> np.ndarray:
        """Reciprocals of the limits of forces, accelerations, speeds and the tool's speed, and dry friction."""
        tool = 1.0 if self.tool is None else self.tool[1]
        sizes = self.effort, self.acceleration, self.velocity, (tool,)
        return np.concatenate([*(1 / np.asarray(size) for size in sizes), self.friction])

    @cached_property
    def _limits(self) -> np.ndarray:
        """Limits of forces and, if there are some, of accelerations; all finite."""
        sizes = [self.effort, self.acceleration] if self.limits_acceleration else [self.effort]
        return np.minimum(np.concatenate(sizes), NONE)

    @cached_property
    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest positions of the joints, (nq,) each."""
        m, sides = self.mechanism, (np.full(self.mechanism.nq, -np.inf), np.full(self.mechanism.nq, np.inf))
        for connection in m.description.independent:
            for side, numbers in zip(sides, (connection.limits.lower, connection.limits.upper)):
                if numbers and connection.name in m.joint_names:
                    side[m.q_slice(connection.name)] = values_of(numbers)
        return sides

    def warn_beyond(self, q: np.ndarray) -> None:
        """Warn of positions (..., nq) beyond the ranges of the joints."""
        lower, upper = self._ranges
        if not np.isfinite([lower, upper]).any():
            return
        over = np.maximum(lower - q, q - upper).reshape(-1, len(lower)).max(axis=0)
        k = int(np.argmax(over))
        if over[k] > 1e-9 * (1 + min(abs(lower[k]), abs(upper[k]))):
            warnings.warn(
                f"path_speed: the path leads '{self.mechanism.q_names[k]}' {over[k]:.3g} rad or m beyond its range from {lower[k]:g} to "
                f"{upper[k]:g}; expected a path within it",
                DoubtfulResult,
                stacklevel=2,
            )

    def motor_forces(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the forces of the motors, dry friction left out, (..., motors) [N m or N]."""
        m = self.mechanism
        if not m.constraint_names:
            return m.inverse_dynamics(q, v, a)
        names = [m.v_names[k] for k in self.motors]
        return m.inverse_dynamics(q, v, a, actuators=names)[..., self.motors]

    def forces(self, at: Sequence[np.ndarray], x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the forces of the motors at points of the curve with squared rates x of s and its second derivatives u, (..., motors)."""
        q, first, second = at
        v = first * np.sqrt(x)[..., None]
        out = self.motor_forces(q, v, second * x[..., None] + first * u[..., None])
        return out + self.friction * np.sign(first[..., self.motors]) if self.friction.any() else out

    def coefficients(self, q: Any, first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return a, b, c (with dampers also d) of the forces a s'' + b s'^2 + c + d s' and the largest squared rate of s, one after another, (...,
        3 motors + 1 or 4 motors + 1), and the largest force that holds the mechanism still, over its limit, (...)."""
        if self.plain:
            frame = None if self.tool is None else self.tool[0]
            found, hold = _at_points(self.mechanism, frame, self.damped)(q, first, second, self._reciprocals)
            return found, hold
        zero = np.zeros_like(first)
        rest = self.motor_forces(q, zero, zero)
        a = self.motor_forces(q, zero, first) - rest
        ahead, back = (self.motor_forces(q, sign * first, second) for sign in (1, -1))
        c = rest + self.friction * np.sign(first[..., self.motors])
        parts = [a, (ahead + back) / 2 - rest, c, *([(ahead - back) / 2] if self.damped else [])]
        found = np.concatenate([*parts, self.top(q, first)[..., None]], axis=-1)
        return found, np.max(np.abs(c) / self.effort, axis=-1)

    def top(self, q: Any, first: Any) -> np.ndarray:
        """Return the squared rates of s at which some joint or the tool is at its largest speed."""
        rate = np.max(np.abs(first) / self.velocity, axis=-1)
        if self.tool is not None:
            J = self.mechanism.jacobian(self.tool[0], q)[..., 3:, :]
            speed = np.linalg.norm((J @ first[..., None])[..., 0], axis=-1)
            rate = np.maximum(rate, speed / self.tool[1])
        return 1 / np.maximum(rate, 1 / np.sqrt(FAR)) ** 2

    def loads(self, at: Sequence[np.ndarray], x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return forces, accelerations (if limited) and the speed over their limits, (..., rows + 1)."""
        q, first, second = at
        if self.plain:
            frame = None if self.tool is None else self.tool[0]
            return _loads(self.mechanism, frame, self.limits_acceleration)(
                q, first, second, x, u, self._reciprocals
            )
        parts = [np.abs(self.forces(at, x, u)) / self.effort]
        if self.limits_acceleration:
            parts.append(np.abs(second * x[..., None] + first * u[..., None]) / self.acceleration)
        return np.concatenate([*parts, np.sqrt(x / self.top(q, first))[..., None]], axis=-1)

    def between(self, work: Any, found: np.ndarray, place: float) -> np.ndarray:
        """Return the loads of a run (`Profiles.run`) at a place within the intervals, (paths, points - 1, rows + 1)."""
        start, pull = found[:, 1:, 1], found[:, 1:, 1] + place * (found[:, 1:, 2] - found[:, 1:, 1])
        squared = np.maximum(found[:, :-1, 0] + place * work.steps[:, 1:, 0] * (start + pull), 0.0)
        return self.loads(work.inside(place), squared, pull)

    def peaks(self, work: Any, samples: np.ndarray, closer: bool) -> np.ndarray:
        """Return the largest loads of a run (`Profiles.run`) in the intervals, in which the curve is a cubic, (paths * points - 1, rows + 1), with
        anything between the paths.

        They are those at the ends and of the parabolas through the loads at the middles and the ends; if asked for, of more parabolas where
        loads bend.
        """
        frame, points = None if self.tool is None else self.tool[0], samples.shape[1]
        arguments = work.q, work.first, work.second, work.steps, work.forces, samples
        q, first, second, steps, forces, runs = (y.reshape(-1, y.shape[-1]) for y in arguments)
        at = (
            q[:-1],
            first[:-1],
            second[:-1],
            second[1:],
            steps[:-1],
            runs[:-1],
            runs[1:],
            forces[:-1],
            forces[1:],
        )
        loads, bend = _peaks(self.mechanism, frame, self.limits_acceleration, self.damped)(
            *at, self._reciprocals
        )
        if not closer:
            return loads
        bend[points - 1 :: points] = 0.0
        rows = np.nonzero(bend > BEND)[0]
        if len(rows):
            look = _closer(self.mechanism, frame, self.limits_acceleration, self.damped)
            loads[rows] = look(*(np.take(y, rows, axis=0) for y in at), self._reciprocals)
        return loads

    def end_loads(self, work: Any, found: np.ndarray) -> np.ndarray:
        """Return the larger loads of a run (`Profiles.run`) at the ends of the intervals, (paths, points - 1, rows + 1); of the speed a zero."""
        out = np.zeros((found.shape[0], found.shape[1] - 1, work.kept.shape[-1]))
        a, b, c, *d = np.split(work.forces[..., :-1], 4 if self.damped else 3, axis=-1)
        for end, at in ((1, slice(None, -1)), (2, slice(1, None))):
            x, u = np.maximum(found[:, at, :1], 0.0), found[:, 1:, end : end + 1]
            force = a[:, at] * u + b[:, at] * x + c[:, at] + sum(y[:, at] * np.sqrt(x) for y in d)
            rows = [np.abs(force) / self.effort]
            if self.limits_acceleration:
                rows.append(np.abs(work.first[:, at] * u + work.second[:, at] * x) / self.acceleration)
            np.maximum(out[..., :-1], np.concatenate(rows, axis=-1), out=out[..., :-1])
        return out

    def tables(self, work: Any, about: np.ndarray | None, rests: bool) -> np.ndarray:
        """Return the table of `Profiles` with what is kept of the limits, and with dampers taken about squared speeds; `rests` if every point can be
        held at rest."""
        given = [work.forces]
        if about is not None:
            root = np.sqrt(about)
            tangent = np.stack([1 / (2 * root), root / 2], axis=-1)
            tangent[:, [0, -1], 0], tangent[:, [0, -1], 1] = 0.0, self.speeds  # known there
            given.append(tangent)
        joints = self.mechanism.nv if self.limits_acceleration else 0
        if joints:
            given += [work.first, work.second]
        build = lines(len(self.motors), joints, about is not None, rests)
        found: np.ndarray = build(*given, self._limits, work.kept, work.steps)
        return found


def _symbols(m: Mechanism) -> tuple[SX, SX, SX]:
    """Return symbols of positions and of both derivatives by s."""
    q, first, second = (SX.sym(name, m.nv) for name in ("q", "first", "second"))
    return q, first, second


def _sizes(held: SX) -> tuple[SX, SX, SX, SX, SX]:
    """Return reciprocals of the limits of forces, accelerations, speeds and the tool's speed, and dry friction, from `PathLimits._held`."""
    n = (held.numel() - 1) // 4
    effort, acceleration, velocity, tool, friction = ca.vertsplit(
        held, [0, n, 2 * n, 3 * n, 3 * n + 1, 4 * n + 1]
    )
    return effort, acceleration, velocity, tool, friction


def _bound(m: Mechanism, frame: str | None, q: SX, first: SX, velocity: SX, tool: SX) -> SX:
    """Return the reciprocal of the largest squared rate of s."""
    rates = ca.fabs(first) * velocity
    if frame is not None:
        speed = ca.norm_2(ca.mtimes(m.function("jacobian", [frame])(q)[3:, :], first))
        rates = ca.vertcat(rates, speed * tool)
    return greater(largest(rates), 1 / np.sqrt(FAR)) ** 2


def _keep(m: Mechanism, name: str, build: Any, ranks: Any) -> kernel.Kernel:
    held = _memory(m)
    if name not in held:
        text = "|".join([physics_version(), m.description.fingerprint, f"path 4 {name}"])
        held[name] = kernel.cached(text, build, finite=False, ranks=lambda: ranks)
    found: kernel.Kernel = held[name]
    return found


_memories: WeakKeyDictionary[Mechanism, tuple[Description, dict[str, Any]]] = WeakKeyDictionary()


def _memory(m: Mechanism) -> dict[str, Any]:
    """Return what is kept for a mechanism as long as it is not changed."""
    found = _memories.get(m)
    if found is None or found[0] is not m.description:
        found = _memories[m] = (m.description, {})
    return found[1]


def has_dampers(m: Mechanism) -> bool:
    """Whether the forces depend on the sign of the velocities."""
    held = _memory(m)
    if "dampers" not in held:
        q, v = np.full(m.nq, 0.1) if m.nq == m.nv else np.asarray(m.neutral), 1.0 + np.arange(m.nv) / m.nv
        ahead, back = (m.tree.inverse_dynamics(q, sign * v, np.zeros(m.nv)) for sign in (1, -1))
        held["dampers"] = bool(np.abs(ahead - back).max() > 1e-12 * np.abs(ahead).max())
    return bool(held["dampers"])


def _at_points(m: Mechanism, frame: str | None, damped: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.coefficients`."""

    def build() -> ca.Function:
        (q, first, second), held = _symbols(m), SX.sym("held", 4 * m.nv + 1)
        effort, _, velocity, tool, friction = _sizes(held)
        force, zero = m.function("inverse_dynamics"), ca.DM.zeros(m.nv)
        rest, ahead = force(q, zero, zero), force(q, first, second)
        back = force(q, -first, second) if damped else ahead
        out = force(q, zero, first) - rest, (ahead + back) / 2 - rest, rest + friction * ca.sign(first)
        last = [*([(ahead - back) / 2] if damped else []), 1 / _bound(m, frame, q, first, velocity, tool)]
        hold = largest(ca.fabs(out[2]) * effort)
        return ca.Function("path", [q, first, second, held], [ca.vertcat(*out, *last), hold])

    return _keep(m, f"coefficients {frame!r} {damped}", build, ((1, 1, 1, 1), (1, 0)))


def _loads(m: Mechanism, frame: str | None, pulled: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.loads`."""

    ranks = (1, 1, 1, 0, 0, 1), (1,)
    return _keep(m, f"loads {frame!r} {pulled}", lambda: _loads_function(m, frame, pulled), ranks)


def _loads_function(m: Mechanism, frame: str | None, pulled: bool) -> ca.Function:
    (q, first, second), held = _symbols(m), SX.sym("held", 4 * m.nv + 1)
    effort, limit, velocity, tool, friction = _sizes(held)
    x, u = SX.sym("x"), SX.sym("u")
    a = second * x + first * u
    forces = m.function("inverse_dynamics")(q, first * ca.sqrt(x), a) + friction * ca.sign(first)
    parts = [ca.fabs(forces) * effort, *([ca.fabs(a) * limit] if pulled else [])]
    out = ca.vertcat(*parts, ca.sqrt(x * _bound(m, frame, q, first, velocity, tool)))
    return ca.Function("loads", [q, first, second, x, u, held], [out])


def _ends_function(m: Mechanism, pulled: bool, damped: bool) -> ca.Function:
    """Return the function from an interval (`_interval`) and the limits to the loads at its start and at its end."""
    at, held = _interval(m, damped), SX.sym("held", 4 * m.nv + 1)
    effort, limit, *_ = _sizes(held)
    _, first, second, following, steps, here, there, *forces = at
    ends = []
    for x, u, rate, bend, given in (
        (here[0], there[1], first, second, forces[0]),
        (there[0], there[2], first + steps[1] * (second + following) / 2, following, forces[1]),
    ):
        a, b, c, *d = ca.vertsplit(given[:-1], m.nv)
        rows = [ca.fabs(a * u + b * x + c + sum(y * ca.sqrt(x) for y in d)) * effort]
        if pulled:
            rows.append(ca.fabs(rate * u + bend * x) * limit)
        ends.append(ca.vertcat(*rows, ca.sqrt(x / given[-1])))
    return ca.Function("ends", [*at, held], ends)


def _peaks(m: Mechanism, frame: str | None, pulled: bool, damped: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.peaks`: largest loads, and the largest second difference of one."""

    def build() -> ca.Function:
        at, held = _interval(m, damped), SX.sym("held", 4 * m.nv + 1)
        start, end = _ends_function(m, pulled, damped)(*at, held)
        middle = _loads_function(m, frame, pulled)(*_within(at, 0.5), held)
        bends = ca.fabs(start - 2 * middle + end)
        most = greater(_peak(start, middle, end), greater(start, end))
        return ca.Function("peaks", [*at, held], [most, largest(ca.if_else(most > NEAR, bends, 0))])

    return _keep(m, f"peaks 4 {NEAR} {frame!r} {pulled} {damped}", build, ((1,) * 10, (1, 0)))


def _closer(m: Mechanism, frame: str | None, pulled: bool, damped: bool) -> kernel.Kernel:
    """Return the native function to the largest loads of an interval by parabolas through those at more places."""

    def build() -> ca.Function:
        at, held, place = _interval(m, damped), SX.sym("held", 4 * m.nv + 1), SX.sym("place")
        inner = ca.Function(
            "inner", [*at, held, place], [_loads_function(m, frame, pulled)(*_within(at, place), held)]
        )
        given = [MX.sym(f"given{k}", y.numel()) for k, y in enumerate((*at, held))]
        start, end = _ends_function(m, pulled, damped)(*given)
        loads = [start, *(inner(*given, k / CLOSER) for k in range(1, CLOSER)), end]
        near = [SX.sym(f"near{k}", start.numel()) for k in range(CLOSER + 1)]
        peaks = [_peak(*near[k : k + 3]) for k in range(CLOSER - 1)]
        most = ca.Function("most", near, [reduce(greater, [near[0], *peaks, near[-1]])])
        return ca.Function("closer", given, [most(*loads)])

    return _keep(m, f"closer {CLOSER} {frame!r} {pulled} {damped}", build, ((1,) * 10, (1,)))


def _interval(m: Mechanism, damped: bool) -> tuple[SX, ...]:
    """Return symbols of an interval: the curve at its start, second derivatives at its end, lengths before and after its start, the run and the
    coefficients of forces at both."""
    n = m.nv
    sizes = {"q": n, "first": n, "second": n, "following": n, "steps": 2, "here": 3, "there": 3}
    return tuple(
        SX.sym(*pair) for pair in (sizes | dict.fromkeys(("begin", "end"), (3 + damped) * n + 1)).items()
    )


def _within(interval: Sequence[SX], place: Any) -> tuple[SX, ...]:
    """Return the curve, the squared rate of s and its second derivative at a place within an interval."""
    q, first, second, following, steps, here, there, *_ = interval
    way, bend = place * steps[1], place * (following - second)
    pull = there[1] + place * (there[2] - there[1])
    return (
        q + way * (first + way * (second / 2 + bend / 6)),
        first + way * (second + bend / 2),
        second + bend,
        ca.fmax(here[0] + way * (there[1] + pull), 0),
        pull,
    )


def _peak(start: SX, middle: SX, end: SX) -> SX:
    """Return the largest value of parabolas through values at the ends and in the middle, or that in the middle if they have none within."""
    bend, steep = start - 2 * middle + end, end - start
    inside = ca.fabs(steep) < -2 * bend
    return ca.if_else(inside, middle - steep**2 / (8 * ca.if_else(inside, bend, 1.0)), middle)


@cache
def less(rows: int) -> kernel.Kernel:
    """Return the native function of the loads about a point and of what is kept of the limits there, that gives what is to be kept and the largest
    load."""

    def build() -> ca.Function:
        before, after, kept = (SX.sym(name, rows) for name in ("before", "after", "kept"))
        loads = ca.fmax(before, after)
        left = kept / (ca.fmax(loads, 1) * MORE - (MORE - 1))
        return ca.Function("less", [before, after, kept], [left, ca.mmax(loads)])

    return kernel.cached(f"path less 2 {MORE} {rows}", build, finite=False, ranks=lambda: ((1, 1, 1), (1, 0)))


def limit_values(m: Mechanism, what: str, limits: Mapping[str, float] | float | None) -> np.ndarray:
    """Return the limits of all velocities, (nv,), infinite where there is none; those of joints that follow others are kept by their leaders."""
    single = limits is not None and not isinstance(limits, Mapping)
    by_name: Mapping[str, float] = {} if single else limits or {}  # type: ignore[assignment]
    values = np.full(m.nv, _number(what, limits)) if single else _own(m, what).copy()
    coupled, names = m.description.coupled, m.joint_names
    for joint, value in by_name.items():
        if joint not in names:
            raise InputError(f"path_speed: {ARGUMENTS[what]}: found '{joint}'; {did_you_mean(joint, names)}")
        if joint in coupled and what in ("effort", "friction"):
            m.description.require_independent(joint, f"path_speed: {ARGUMENTS[what]}")
        values[m.v_slice(joint)] = _number(what, value)
    for joint in coupled if what in ("velocity", "acceleration", "jerk") else ():
        own = next(c for c in m.description.connections if c.name == joint).limits
        limit = by_name.get(joint, values_of(getattr(own, what, ()) or (np.inf,))[0])
        limit = _number(what, limits if single else limit)
        if not limit > 0:
            raise InputError(
                f"path_speed: {ARGUMENTS[what]} of '{joint}' = {limit}; expected a number above zero"
            )
        if limit < np.inf:
            leader, ratio = _leader(m, joint, what)
            values[leader] = min(values[leader], limit / max(ratio, 1 / NONE))
    if not (values > 0).all():
        raise InputError(f"path_speed: {ARGUMENTS[what]} = {values}; expected numbers above zero")
    return values


def _number(what: str, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise InputError(
            f"path_speed: {ARGUMENTS[what]}: found {given!r}; expected a number, or a number for each of some joints"
        ) from None


def _leader(m: Mechanism, joint: str, what: str) -> tuple[int, float]:
    """Return the velocity that a coupled joint follows and the size of its ratio; raise if these are several or change."""
    d = m.description
    T = every_joint(d)(SX.sym("q", m.nq), SX.zeros(m.nv), [value_of(p) for p in d.parameters])[2]
    row = ca.sparsify(T[d.uncoupled.v_slices[joint].start, :])
    if row.nnz() > 1 or not row.is_constant():
        raise InputError(
            f"path_speed: {ARGUMENTS[what]} of '{joint}' is limited, which follows {', '.join(d.leaders(joint))} by {d.coupled[joint].formula()}; expected a "
            f"joint that follows one other with a constant ratio, or no limit: {ARGUMENTS[what]}={{...}} with 'inf' for '{joint}', and limits of what it follows"
        )
    return row.sparsity().get_col()[0] if row.nnz() else 0, abs(float(ca.sum2(row)))


def _own(m: Mechanism, what: str) -> np.ndarray:
    """Return the limits that the joints themselves have, (nv,)."""
    held = _memory(m)
    if what not in held:
        held[what] = np.full(m.nv, np.inf)
        for connection in m.description.connections:
            if connection.name in m.joint_names and (numbers := getattr(connection.limits, what, ())):
                held[what][m.v_slice(connection.name)] = values_of(numbers)
    return np.asarray(held[what])
