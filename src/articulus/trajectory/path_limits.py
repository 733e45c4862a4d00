"""What a run along a path keeps to: forces, speeds and accelerations of the joints, speed of a tool; trees and closed loops."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.api import Mechanism
from articulus.compiled import physics_version
from articulus.dynamics.coupled import every_joint
from articulus.errors import DoubtfulResult, InputError, did_you_mean
from articulus.mechanism.description import Description
from articulus.mechanism.numbers import value_of, values_of
from articulus.trajectory.path_curves import Curve
from articulus.trajectory.speed_profile import FAR, lines

NONE = 1e15
"""In place of an infinite limit."""
MORE = 1.2
"""Share of the excess of a limit that is taken off."""
BEND = 2e-3
"""Second difference of a load over the halves of an interval, from which on it is looked at more closely."""
NEAR = 0.9
"""Load below which it is not."""
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
    def pulled(self) -> bool:
        """Whether there are limits of acceleration."""
        return bool(np.isfinite(self.acceleration).any())

    @cached_property
    def _held(self) -> tuple[np.ndarray, ...]:
        """Limits of forces, accelerations, speeds and the tool's speed, and dry friction, all finite."""
        tool = 1.0 if self.tool is None else self.tool[1]
        sizes = (np.minimum(x, NONE) for x in (self.effort, self.acceleration, self.velocity))
        return *sizes, np.array(tool), self.friction

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
                f"path_speed: the path leads '{self.mechanism.v_names[k]}' {over[k]:.3g} rad or m beyond its range from {lower[k]:g} to "
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

    def coefficients(self, q: Any, first: Any, second: Any) -> tuple[np.ndarray, ...]:
        """Return a, b, c, d of the forces a s'' + b s'^2 + c + d s', (..., motors) each, and the largest squared rate of s, (...)."""
        if self.plain:
            frame = None if self.tool is None else self.tool[0]
            return _at_points(self.mechanism, frame, self.damped)(q, first, second, *self._held[2:])
        zero = np.zeros_like(q)
        rest = self.motor_forces(q, zero, zero)
        a = self.motor_forces(q, zero, first) - rest
        ahead, back = (self.motor_forces(q, sign * first, second) for sign in (1, -1))
        b, d = (ahead + back) / 2 - rest, (ahead - back) / 2
        return a, b, rest + self.friction * np.sign(first[..., self.motors]), d, self.top(q, first)

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
            return _loads(self.mechanism, frame, self.pulled)(q, first, second, x, u, *self._held)
        parts = [np.abs(self.forces(at, x, u)) / self.effort]
        if self.pulled:
            parts.append(np.abs(second * x[..., None] + first * u[..., None]) / self.acceleration)
        return np.concatenate([*parts, np.sqrt(x / self.top(q, first))[..., None]], axis=-1)

    def between(self, work: Any, found: np.ndarray, place: float) -> np.ndarray:
        """Return the loads of a run (`Profiles.run`) at a place within the intervals, (paths, points - 1, rows + 1)."""
        start, pull = found[:, 1:, 1], found[:, 1:, 1] + place * (found[:, 1:, 2] - found[:, 1:, 1])
        squared = np.maximum(found[:, :-1, 0] + place * work.steps[:, 1:, 0] * (start + pull), 0.0)
        return self.loads(work.inside(place), squared, pull)

    def peaks(self, work: Any, found: np.ndarray, closer: bool) -> np.ndarray:
        """Return the largest loads of a run (`Profiles.run`) in the intervals, in which the curve is a cubic, (paths * points - 1, rows + 1), with
        anything between the paths.

        They are those at the ends and of the parabolas through the loads at the middles and the ends; if asked for, of more parabolas where
        loads bend.
        """
        frame, points = None if self.tool is None else self.tool[0], found.shape[1]
        curve = [y.reshape(-1, y.shape[-1]) for y in (work.q, work.first, work.second, work.steps, found)]
        q, first, second, steps, runs = curve
        at = q[:-1], first[:-1], second[:-1], second[1:], steps[:-1], runs[:-1], runs[1:]
        forces = [work.a, work.b, work.c, *([work.d] if self.damped else [])]
        forces = [work.top.ravel(), *(y.reshape(len(q), -1) for y in forces)]
        ends = *(y[:-1] for y in forces), *(y[1:] for y in forces)
        loads, bend = _peaks(self.mechanism, frame, self.pulled, self.damped)(*at, *ends, *self._held)
        if not closer:
            return loads
        bend[points - 1 :: points] = 0.0
        rows = np.nonzero(bend > BEND)[0]
        if len(rows):
            every, places = np.tile(rows, CLOSER + 1), np.repeat(np.arange(CLOSER + 1) / CLOSER, len(rows))
            look = _between(self.mechanism, frame, self.pulled)
            near = look(*(np.take(y, every, axis=0) for y in at), places, *self._held).reshape(
                CLOSER + 1, len(rows), -1
            )
            inner = _peak(near[:-2], near[1:-1], near[2:]).max(axis=0)
            loads[rows] = np.maximum(np.maximum(near[0], near[-1]), inner)
        return loads

    def end_loads(self, work: Any, found: np.ndarray) -> np.ndarray:
        """Return the larger loads of a run (`Profiles.run`) at the ends of the intervals, (paths, points - 1, rows + 1); of the speed a zero."""
        out = np.zeros((found.shape[0], found.shape[1] - 1, work.kept.shape[-1]))
        for end, at in ((1, slice(None, -1)), (2, slice(1, None))):
            x, u = np.maximum(found[:, at, :1], 0.0), found[:, 1:, end : end + 1]
            force = work.a[:, at] * u + work.b[:, at] * x + work.c[:, at] + work.d[:, at] * np.sqrt(x)
            rows = [np.abs(force) / self.effort]
            if self.pulled:
                rows.append(np.abs(work.first[:, at] * u + work.second[:, at] * x) / self.acceleration)
            np.maximum(out[..., :-1], np.concatenate(rows, axis=-1), out=out[..., :-1])
        return out

    def tables(self, work: Any, about: np.ndarray | None) -> np.ndarray:
        """Return the table of `Profiles` with what is kept of the limits, and with dampers taken about squared speeds."""
        effort, acceleration = self._held[:2]
        given = [work.a, work.b, work.c, effort]
        if about is not None:
            root = np.sqrt(about)
            rise, rest = 1 / (2 * root), root / 2
            rise[:, [0, -1]], rest[:, [0, -1]] = 0.0, self.speeds  # known there
            given += [work.d, rise, rest]
        if self.pulled:
            given += [work.first, work.second, acceleration]
        joints = self.mechanism.nv if self.pulled else 0
        return lines(len(self.motors), joints, about is not None)(*given, work.top, work.kept, work.steps)


def _symbols(m: Mechanism) -> tuple[SX, ...]:
    n = m.nv
    return (
        *(SX.sym(name, n) for name in ("q", "first", "second")),
        SX.sym("velocity", n),
        SX.sym("tool"),
        SX.sym("friction", n),
    )


def _top(m: Mechanism, frame: str | None, q: SX, first: SX, velocity: SX, tool: SX) -> SX:
    rate = ca.mmax(ca.fabs(first) / velocity)
    if frame is not None:
        rate = ca.fmax(rate, ca.norm_2(ca.mtimes(m.function("jacobian", [frame])(q)[3:, :], first)) / tool)
    return 1 / ca.fmax(rate, 1 / np.sqrt(FAR)) ** 2


def _kept(m: Mechanism, name: str, build: Any, ranks: Any) -> kernel.Kernel:
    held = _memory(m)
    if name not in held:
        text = "|".join([physics_version(), m.description.fingerprint, f"path 1 {name}"])
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
        q, v = np.full(m.nq, 0.1), 1.0 + np.arange(m.nv) / m.nv
        ahead, back = (m.tree_inverse_dynamics(q, sign * v, np.zeros(m.nv)) for sign in (1, -1))
        held["dampers"] = bool(np.abs(ahead - back).max() > 1e-12 * np.abs(ahead).max())
    return bool(held["dampers"])


def _at_points(m: Mechanism, frame: str | None, damped: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.coefficients`."""

    def build() -> ca.Function:
        q, first, second, velocity, tool, friction = _symbols(m)
        force, zero = m.function("inverse_dynamics"), ca.DM.zeros(m.nv)
        rest, ahead = force(q, zero, zero), force(q, first, second)
        back = force(q, -first, second) if damped else ahead
        out = force(q, zero, first) - rest, (ahead + back) / 2 - rest, rest + friction * ca.sign(first)
        top = _top(m, frame, q, first, velocity, tool)
        return ca.Function(
            "path", [q, first, second, velocity, tool, friction], [*out, (ahead - back) / 2, top]
        )

    return _kept(m, f"coefficients {frame!r} {damped}", build, ((1, 1, 1, 1, 0, 1), (1, 1, 1, 1, 0)))


def _loads(m: Mechanism, frame: str | None, pulled: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.loads`."""

    ranks = (1, 1, 1, 0, 0, 1, 1, 1, 0, 1), (1,)
    return _kept(m, f"loads {frame!r} {pulled}", lambda: _loads_function(m, frame, pulled), ranks)


def _loads_function(m: Mechanism, frame: str | None, pulled: bool) -> ca.Function:
    q, first, second, velocity, tool, friction = _symbols(m)
    x, u, effort, limit = SX.sym("x"), SX.sym("u"), SX.sym("effort", m.nv), SX.sym("limit", m.nv)
    a = second * x + first * u
    forces = m.function("inverse_dynamics")(q, first * ca.sqrt(x), a) + friction * ca.sign(first)
    parts = [ca.fabs(forces) / effort, *([ca.fabs(a) / limit] if pulled else [])]
    out = ca.vertcat(*parts, ca.sqrt(x / _top(m, frame, q, first, velocity, tool)))
    return ca.Function("loads", [q, first, second, x, u, effort, limit, velocity, tool, friction], [out])


def _between(m: Mechanism, frame: str | None, pulled: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.between` on intervals in which the curve is a cubic."""

    def build() -> ca.Function:
        at, held, place = _interval(m), _held_symbols(m), SX.sym("place")
        out = _loads_function(m, frame, pulled)(*_within(at, place), *held)
        return ca.Function("between", [*at, place, *held], [out])

    ranks = (1,) * 7 + (0, 1, 1, 1, 0, 1), (1,)
    return _kept(m, f"between {frame!r} {pulled}", build, ranks)


def _peaks(m: Mechanism, frame: str | None, pulled: bool, damped: bool) -> kernel.Kernel:
    """Return the native function of `PathLimits.peaks`: largest loads, and the largest second difference of one."""

    def build() -> ca.Function:
        at, held = _interval(m), _held_symbols(m)
        _, first, second, following, steps, here, there = at
        middle = _loads_function(m, frame, pulled)(*_within(at, 0.5), *held)
        forces, ends = [], []
        for x, u, rate, bend in (
            (here[0], there[1], first, second),
            (there[0], there[2], first + steps[1] * (second + following) / 2, following),
        ):
            top, a, b, c, *d = SX.sym("top"), *(SX.sym(name, m.nv) for name in "abcd"[: 3 + damped])
            forces += [top, a, b, c, *d]
            rows = [ca.fabs(a * u + b * x + c + sum(y * ca.sqrt(x) for y in d)) / held[0]]
            if pulled:
                rows.append(ca.fabs(rate * u + bend * x) / held[1])
            ends.append(ca.vertcat(*rows, ca.sqrt(x / top)))
        bends = ca.fabs(ends[0] - 2 * middle + ends[1])
        near = ca.fmax(middle, ca.fmax(*ends)) > NEAR
        most = ca.fmax(_peak(ends[0], middle, ends[1]), ca.fmax(*ends))
        return ca.Function("peaks", [*at, *forces, *held], [most, ca.mmax(ca.if_else(near, bends, 0))])

    ranks = (1,) * 7 + (0, *(1,) * (3 + damped)) * 2 + (1, 1, 1, 0, 1), (1, 0)
    return _kept(m, f"peaks 2 {NEAR} {frame!r} {pulled} {damped}", build, ranks)


def _interval(m: Mechanism) -> tuple[SX, ...]:
    """Return symbols of an interval: the curve at its start, second derivatives at its end, lengths before and after its start, the run at both."""
    n = m.nv
    sizes = {"q": n, "first": n, "second": n, "following": n, "steps": 2, "here": 3, "there": 3}
    return tuple(SX.sym(*pair) for pair in sizes.items())


def _held_symbols(m: Mechanism) -> tuple[SX, ...]:
    n = m.nv
    sizes = {"effort": n, "limit": n, "velocity": n, "tool": 1, "friction": n}
    return tuple(SX.sym(*pair) for pair in sizes.items())


def _within(interval: Sequence[SX], place: Any) -> tuple[SX, ...]:
    """Return the curve, the squared rate of s and its second derivative at a place within an interval."""
    q, first, second, following, steps, here, there = interval
    way, bend = place * steps[1], place * (following - second)
    pull = there[1] + place * (there[2] - there[1])
    return (
        q + way * (first + way * (second / 2 + bend / 6)),
        first + way * (second + bend / 2),
        second + bend,
        ca.fmax(here[0] + way * (there[1] + pull), 0),
        pull,
    )


def _peak(start: Any, middle: Any, end: Any) -> Any:
    """Return the largest value of parabolas through values at the ends and in the middle, or that in the middle if they have none within."""
    where = ca.if_else if isinstance(start, SX) else np.where
    bend, steep = start - 2 * middle + end, end - start
    inside = abs(steep) < -2 * bend
    return where(inside, middle - steep**2 / (8 * where(inside, bend, 1.0)), middle)


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


def limit_values(m: Mechanism, what: str, held: Mapping[str, float] | float | None) -> np.ndarray:
    """Return the limits of all velocities, (nv,), infinite where there is none; those of joints that follow others are kept by their leaders."""
    single = held is not None and not isinstance(held, Mapping)
    given: Mapping[str, float] = {} if single else held or {}  # type: ignore[assignment]
    values = np.full(m.nv, _number(what, held)) if single else _own(m, what).copy()
    coupled, names = m.description.coupled, m.joint_names
    for joint, value in given.items():
        if joint not in names:
            raise InputError(f"path_speed: {what}: found '{joint}'{did_you_mean(joint, names)}")
        if joint in coupled and what in ("effort", "friction"):
            m.description.require_independent(joint, f"path_speed: {what}")
        values[m.v_slice(joint)] = _number(what, value)
    for joint in coupled if what in ("velocity", "acceleration", "jerk") else ():
        own = next(c for c in m.description.connections if c.name == joint).limits
        limit = given.get(joint, values_of(getattr(own, what, ()) or (np.inf,))[0])
        limit = _number(what, held if single else limit)
        if limit < np.inf:
            leader, ratio = _followed(m, joint, what)
            values[leader] = min(values[leader], limit / max(ratio, 1 / NONE))
    if not (values > 0).all():
        raise InputError(f"path_speed: {what} = {values}; expected numbers above zero")
    return values


def _number(what: str, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise InputError(
            f"path_speed: {what}: found {given!r}; expected a number, or a number for each of some joints"
        ) from None


def _followed(m: Mechanism, joint: str, what: str) -> tuple[int, float]:
    """Return the velocity that a coupled joint follows and the size of its ratio; raise if these are several or change."""
    d = m.description
    T = every_joint(d)(SX.sym("q", m.nq), SX.zeros(m.nv), [value_of(p) for p in d.parameters])[2]
    row = ca.sparsify(T[d.uncoupled.v_slices[joint].start, :])
    if row.nnz() > 1 or not row.is_constant():
        raise InputError(
            f"path_speed: {what} of '{joint}' is limited, which follows {', '.join(d.leaders(joint))} by {d.coupled[joint].formula()}; expected a "
            f"joint that follows one other with a constant ratio, or no limit: {what}={{...}} with 'inf' for '{joint}', and limits of what it follows"
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
