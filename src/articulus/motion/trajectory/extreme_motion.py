"""Extreme motions of one joint with limited jerk, and the durations that are possible between two states: Newton steps on convex functions.

In units in which the limits of acceleration and jerk are 1, a motion of given duration T that ends as far ahead as possible has the jerks
+1, 0, -1, 0, -1, 0, +1 (speeding up to a_1, slowing down with a_2): T and the change of speed determine a_1 and a_2 by quadratic equations,
in five cases of which limits are met. Mirrored, it ends as far behind as possible. A duration is possible if the goal lies between both ends, far(T) and
near(T).

Without accelerations at the ends, both begin at T_0, the least time of the change of speed alone, in the same place. Up to the duration T_1 at which
the limit of speed is touched, far is convex in T, and rising there; from T_1 on it rises with that limit. The same holds for -near (seen on thousands of
random states; with accelerations at the ends far is not convex near T_0, and this search must not be used). Hence, mirrored so that the goal is not behind
the common end at T_0, possible durations are those from the only root r of far(T) = goal on, but for one open interval between two roots (s_1, s_2) of
near(T) = goal, if there are any: at most two blocked intervals, as Berscheid & Kröger 2021 count them. Roots beyond T_1 are those of straight lines; on
convex functions Newton steps from outside converge without passing a root.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.kernel import Kernel

ROW = (
    "q0", "v0", "vdot0", "goal", "goal_velocity", "goal_acceleration",
    "velocity_limit", "acceleration_limit", "jerk_limit",
)  # fmt: skip
"""Numbers of a joint, as native code reads them."""
SHARES = (
    "acceleration at the start",
    "acceleration at the end",
    "speed at the start",
    "speed at the end",
    "speed that follows from the acceleration at the start",
    "speed that comes before the acceleration at the end",
)
"""What is compared with limits at the ends."""
FAR = 1 + 1e-9
"""Largest share of a limit that a state may take: a limit that is met counts as kept whatever the rounding of units."""

JERKS = np.array([1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0])
"""Jerks of the parts of an extreme motion that ends ahead."""
TOLERANCE = 1e-12
"""Distance from an extreme end, over the ways, that counts as none."""
SAME = 1e-15
"""Distance of the goal from the end of the quickest change of speed, over the ways, that counts as none."""
TINY = 1e-150
"""Keeps roots and quotients of zero finite."""
STEPS = 12
"""Newton steps of all joints; those that need more take as many again."""
ROUNDS = 20
"""Times that more are taken."""
CONVERGED = 1e-14
"""Last Newton step, over the duration."""

Ends = Sequence[SX]
"""Speed and acceleration at the start and at the end."""


def _root(x: SX) -> SX:
    return ca.sqrt(ca.fmax(x, TINY**2))


def _integrate(times: Sequence[SX], jerks: Iterable[Any], v: SX, a: SX) -> SX:
    """Return the way of parts with constant jerk."""
    x = SX(0)
    for t, j in zip(times, jerks):
        x, v, a = x + t * (v + t * (a / 2 + t * j / 6)), v + t * (a + t * j / 2), a + t * j
    return x


def mirror(ends: Ends) -> Ends:
    """Return the ends of the mirrored motion."""
    return [-x for x in ends]


def _without_speed_limit(T: SX, ends: Ends) -> tuple[SX, SX, SX, SX]:
    """Return a_1, a_2 and how long they last in the motion of duration T that ends as far ahead as possible, without limit of speed."""
    v0, a0, vf, af = ends
    G = vf - v0 + (a0**2 - af**2) / 2
    w = ca.fmax((T + a0 - af) / 2, TINY)
    # no limit of acceleration, the upper one, the lower one, both
    a2 = 1 - _root(T - G + a0 - af)
    a1 = -1 + _root(T + G + a0 - af)
    free = ((w + G / w) / 2, (G / w - w) / 2, SX(0), SX(0))
    upper = (SX(1), a2, G - 1 + a2**2, SX(0))
    lower = (a1, SX(-1), SX(0), a1**2 - 1 - G)
    both = (SX(1), SX(-1), (T - 4 + a0 - af + G) / 2, (T - 4 + a0 - af - G) / 2)
    fits = (
        (free[0] <= 1) * (free[1] >= -1),
        (upper[1] >= -1) * (upper[2] >= 0),
        (lower[0] <= 1) * (lower[3] >= 0),
    )
    found = both
    for fit, case in reversed(list(zip(fits, (free, upper, lower)))):
        found = tuple(ca.if_else(fit, x, y) for x, y in zip(case, found))  # type: ignore[assignment]
    return found


def _times(ends: Ends, form: tuple[SX, SX, SX, SX]) -> list[SX]:
    a1, a2, t2, t6 = form
    return [a1 - ends[1], t2, a1 - a2, SX(0), SX(0), t6, ends[3] - a2]


def _far(T: SX, ends: Ends) -> tuple[SX, SX]:
    """Return how far ahead a motion of duration T can end without limit of speed, and the slope over T."""
    t = SX.sym("t")
    x = _integrate(_times(ends, _without_speed_limit(t, ends)), JERKS, *ends[:2])
    found: list[SX] = ca.substitute([x, ca.jtimes(x, t, SX(1))], [t], [T])
    return found[0], found[1]


def _touching(ends: Ends, V: SX) -> list[SX]:
    """Return the parts of the extreme motion that touches the limit of speed V for no time."""
    v0, a0, vf, af = ends
    up, down = ca.fmax(V - v0 + a0**2 / 2, 0), ca.fmax(V - vf + af**2 / 2, 0)
    b1, b2 = ca.fmin(1, ca.sqrt(up)), -ca.fmin(1, ca.sqrt(down))
    return [b1 - a0, up - b1**2, b1, SX(0), -b2, down - b2**2, af - b2]


def _extreme(T: SX, ends: Ends, V: SX) -> tuple[list[SX], SX, SX]:
    """Return the parts of the motion that ends as far ahead as possible, its way, and a number below zero if there is none."""
    form = _without_speed_limit(T, ends)
    v0, a0, _, af = ends
    a1, a2, t2, _ = form
    fast = (a1 > 0) * (a2 < 0) * (v0 - a0**2 / 2 + a1**2 + t2 > V)
    touching = _touching(ends, V)
    touching[3] = T - sum(touching[:3] + touching[4:], SX(0))
    times = [ca.if_else(fast, x, y) for x, y in zip(touching, _times(ends, form))]
    margin = (T + a0 - af) / 2
    for t in times:
        margin = ca.fmin(margin, t)
    return times, _integrate(times, JERKS, v0, a0), margin


def mix(T: SX, way: SX, ends: Ends, V: SX) -> tuple[SX, SX, SX, SX]:
    """Return the parts of both extreme motions, the share of the first for the way, and a number below zero if the duration is impossible."""
    ahead, far, first = _extreme(T, ends, V)
    behind, near, second = _extreme(T, mirror(ends), V)
    near = -near
    slack = TOLERANCE * (ca.fabs(way) + ca.fabs(far) + ca.fabs(near))
    valid = ca.fmin(first, second) + TOLERANCE * T
    margin = ca.fmin(ca.fmin(far - way, way - near) + slack, ca.if_else(valid < 0, -1e30 + valid, 1e30))
    apart = far - near
    share = ca.if_else(apart > slack, (way - near) / ca.if_else(apart > 0, apart, 1), 0.5)
    return ca.vertcat(*ahead), ca.vertcat(*behind), ca.fmin(ca.fmax(share, 0), 1), margin


def quickest(ends: Ends) -> tuple[SX, SX]:
    """Return the least time of the change of speed and acceleration alone, and the way meanwhile."""
    v0, a0, vf, af = ends
    s = ca.if_else(vf - v0 >= ca.sign(af - a0) * (af**2 - a0**2) / 2, 1, -1)
    square = s * (vf - v0) + (a0**2 + af**2) / 2
    peak = ca.fmax(ca.fmin(1, ca.sqrt(ca.fmax(square, 0))), ca.fmax(s * a0, s * af))
    times = [peak - s * a0, ca.fmax(square - 1, 0), peak - s * af]
    return sum(times, SX(0)), _integrate(times, [s, SX(0), -s], v0, a0)


def longest(way: SX, ends: Ends, V: SX) -> SX:
    """Return a duration from which on all are possible: to rest, from rest to rest, and from rest."""
    v0, a0, v1, a1 = (ca.fabs(x) for x in ends)
    times = [2 * a + v + a**2 / 2 + 2 * ca.sqrt(v + a**2) for v, a in ((v0, a0), (v1, a1))]
    way = ca.fabs(way) + times[0] * (v0 + a0**2) + times[1] * (v1 + a1**2)
    speed = ca.fmin(V, ca.sqrt(way) + way ** (1 / 3))
    return 1.01 * (times[0] + times[1] + way / ca.fmax(speed, TINY) + 2 * speed + 4 * ca.sqrt(speed))


def time_at_top_speed(way: SX, ends: Ends, V: SX) -> SX:
    """Return how long the part at the limit of speed of the extreme motion is that ends at the way, and its duration without that; negative if there is
    none."""
    times = _touching(ends, V)
    return ca.vertcat((way - _integrate(times, JERKS, *ends[:2])) / V, sum(times, SX(0)))


def _right(way: SX, ends: Ends, V: SX, most: SX) -> tuple[SX, SX]:
    """Return where to begin from the right, and 1 if that is the root: on the straight line beyond the duration that touches the limit of speed."""
    at_top, T = ca.vertsplit(time_at_top_speed(way, ends, V))
    return ca.if_else(at_top >= 0, T + at_top, ca.fmin(T, most)), at_top >= 0


def _begin(way: SX, ends: Ends, V: SX) -> tuple[SX, SX]:
    """Return the state of the search, and its parameters."""
    T, common = quickest(ends)
    size = ca.fabs(way) + ca.fabs(common) + T * (ca.fabs(ends[0]) + ca.fabs(ends[2]) + T)
    at = ca.fabs(way - common) <= SAME * size
    s = ca.if_else(ca.if_else(at, _far(T, ends)[1] >= 0, way >= common), 1, -1)
    way, ends = s * way, [s * x for x in ends]
    most = ca.fmax(longest(way, ends, V), T)
    r, fixed = _right(way, ends, V, most)
    s2, straight = _right(-way, mirror(ends), V, most)
    r, fixed = ca.if_else(at, T, r), ca.if_else(at, 1, fixed)
    return ca.vertcat(1, r, T, s2, 1), ca.vertcat(way, *ends, T, r, fixed, straight)


def _step(x: SX, p: SX) -> SX:
    """Take a Newton step of each root: x is the last change, r, s_1, s_2 and whether there may be s_1 and s_2."""
    _, r, s1, s2, some = ca.vertsplit(x)
    way, *rest = ca.vertsplit(p)
    ends, (low, high, fixed, straight) = rest[:4], rest[4:]

    def newton(T: SX, way: SX, ends: Ends) -> tuple[SX, SX]:
        f, slope = _far(T, ends)
        return T - (f - way) / ca.if_else(slope == 0, 1, slope), slope

    new, slope = newton(r, way, ends)
    new = ca.fmin(ca.fmax(ca.if_else(slope > 0, new, high), low), high)
    r_new = ca.if_else(fixed, r, new)
    s1_new, falling = newton(s1, -way, mirror(ends))
    s2_new, rising = newton(s2, -way, mirror(ends))
    some_new = some * (falling < 0) * ca.if_else(straight, 1, rising > 0)
    s1_new = ca.if_else(some_new, ca.fmax(s1_new, low), s1)
    s2_new = ca.if_else(some_new * (1 - straight), s2_new, s2)
    change = ca.fmax(ca.fabs(r_new - r) / (r_new + TINY), some_new * ca.fabs(s1_new - s1) / (s1_new + TINY))
    change = ca.fmax(change, some_new * ca.fabs(s2_new - s2) / (s2_new + TINY))
    return ca.vertcat(change, r_new, s1_new, s2_new, some_new)


def _symbols() -> tuple[SX, SX, SX, SX]:
    return SX.sym("T"), SX.sym("way"), SX.sym("ends", 4), SX.sym("V")


@cache
def scale_function() -> ca.Function:
    """Return the function of the numbers of a joint (`ROW`) to way, ends and V in units in which the limits of acceleration and jerk are 1, the unit of
    time, and the largest share of its limit that the states at the ends take: infinite where the numbers are no numbers, or limits not above zero."""
    row = SX.sym("row", len(ROW))
    q0, v0, a0, q1, v1, a1, V, A, J = ca.vertsplit(row)
    time = A / J
    speed = A * time
    ends = ca.vertcat(v0 / speed, a0 / A, v1 / speed, a1 / A)
    valid = (ca.fmin(ca.fmin(V, A), J) > 0) * (0 * ca.sum1(row) == 0)
    worst = ca.if_else(valid, ca.mmax(ca.vertcat(*end_shares(ca.vertsplit(ends), V / speed))), np.inf)
    return ca.Function("scaled", [row], [(q1 - q0) / (speed * time), ends, V / speed, time, worst])


def end_shares(ends: Ends, V: SX) -> list[SX]:
    """Return what the states at the ends take of their limits, in the order of `SHARES`."""
    v0, a0, v1, a1 = ends
    # speeds that follow when the acceleration is taken back at once, or came before
    after, before = v0 + a0 * ca.fabs(a0) / 2, v1 - a1 * ca.fabs(a1) / 2
    return [ca.fabs(x) for x in (a0, a1, v0 / V, v1 / V, after / V, before / V)]


@cache
def parts() -> Kernel:
    """Return native code: the numbers of a joint (`ROW`) and T [s] to the parts of both extreme motions [s], the share of the first, and a number below zero if
    T is impossible, (16,)."""

    def build() -> ca.Function:
        row, T = MX.sym("row", len(ROW)), MX.sym("T")
        way, ends, V, time, _ = scale_function()(row)
        t, w, e, top = _symbols()
        mixed = ca.Function("mix", [t, w, e, top], list(mix(t, w, ca.vertsplit(e), top)))
        ahead, behind, share, margin = mixed(T / time, way, ends, V)
        times = time * ca.fmax(ca.vertcat(ahead, behind), 0)
        return ca.Function("parts", [row, T], [ca.vertcat(times, share, margin)])

    return kernel.cached("point to point parts 8", build, finite=False)


@cache
def _beginning() -> ca.Function:
    _, way, ends, V = _symbols()
    return ca.Function("begin", [way, ends, V], list(_begin(way, ca.vertsplit(ends), V)))


def _repeat(x: MX, p: MX) -> MX:
    """Return the state of the search after `STEPS` more."""
    state, its = SX.sym("x", 5), SX.sym("p", 9)
    step = ca.Function("newton", [state, its], [_step(state, its)])
    for _ in range(STEPS):
        x = step(x, p)
    return x


def _intervals() -> ca.Function:
    """Return the function of the state of the search and the unit of time to the least duration, and between which others are not possible, [s]."""
    x, time = SX.sym("x", 5), SX.sym("time")
    _, r, s1, s2, some = ca.vertsplit(x)
    some = some * (s2 > s1)
    least = ca.if_else(some * (s1 < r) * (r < s2), s2, r)
    return ca.Function("intervals", [x, time], [time * ca.vertcat(least, some * s1, some * s2)])


@cache
def possible_durations() -> Kernel:
    """Return native code: the numbers of a joint (`ROW`) to the largest share that its states at the ends take of their limits, and to r, s_1 and s_2 [s], (4,).

    Durations from r on are possible, but for those between s_1 and s_2 (both zero if there are none). The accelerations at the ends have to be zero. The share is
    infinite where the numbers are no numbers, limits not above zero, or the search did not end within `STEPS` steps (`search_on`).
    """

    def build() -> ca.Function:
        row = MX.sym("row", len(ROW))
        way, ends, V, time, worst = scale_function()(row)
        x, p = _beginning()(way, ends, V)
        x = _repeat(x, p)
        worst = ca.if_else(x[0] <= CONVERGED, worst, np.inf)
        return ca.Function("durations", [row], [ca.vertcat(worst, _intervals()(x, time))])

    return kernel.cached("point to point durations 2", build, finite=False)


@cache
def _going_on() -> tuple[Kernel, Kernel, Kernel]:
    """Return native code: the numbers of a joint to the state of the search, its parameters, unit of time and largest share; `STEPS` more; the end of it."""

    def begin() -> ca.Function:
        row = MX.sym("row", len(ROW))
        way, ends, V, time, worst = scale_function()(row)
        return ca.Function("begin", [row], [*_beginning()(way, ends, V), time, worst])

    def more() -> ca.Function:
        x, p = MX.sym("x", 5), MX.sym("p", 9)
        return ca.Function("more", [x, p], [_repeat(x, p)])

    functions = {"begin": begin, "more": more, "end": _intervals}
    return tuple(  # type: ignore[return-value]
        kernel.cached(f"point to point {name} 8", build, finite=False) for name, build in functions.items()
    )


def search_on(rows: np.ndarray) -> np.ndarray:
    """Return what `possible_durations` does of joints (k, 9) whose search takes more steps."""
    begin, more, end = _going_on()
    x, p, time, worst = begin(rows)
    for _ in range(ROUNDS):
        x = more(x, p)
        if (x[:, 0] <= CONVERGED).all():
            break
    good = np.isfinite(x).all(-1) & (x[:, 0] <= 1e-9)
    return np.column_stack([np.where(good, worst, np.inf), end(x, time)])
