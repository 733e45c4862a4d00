"""Durations at which the possible ones of a motion between two states may begin: roots of polynomials.

In units in which the limits of acceleration and jerk are 1, the motion of duration T that ends as far ahead as possible (`extreme_motion`) ends at far(T).
A ramp of jerk 1 from acceleration zero before it and one to zero after it make a motion without accelerations at the ends, of the duration
tau = T + a_0 - a_f. With the speeds u_0 = v_0 - a_0^2 / 2 and u_f = v_f - a_f^2 / 2 at its ends, S = u_0 + u_f, G = u_f - u_0 and the way D to the
goal, far(T) = goal is, in the five cases of which limits are met,

    none          w^4 / 4 + S w^2 - D w - G^2 / 4 = 0,                      tau = 2 w,
    upper         r^4 / 2 - r^3 + (u_f + 1/2) r^2 + G (S - 1) / 2 - D = 0,  tau = r^2 + G,
    lower         r^4 / 2 - r^3 + (u_0 + 1/2) r^2 - G (S - 1) / 2 - D = 0,  tau = r^2 - G,
    both          tau^2 / 4 + (S - 1) tau / 2 - G^2 / 4 - D = 0,
    speed         a straight line.

The same holds for near(T), the end that is farthest behind, mirrored. Where the states can be joined at all, far and near part from a common point, so that
every interval of possible durations begins with a root of one of them, or with the quickest change of speed alone. Extremes of the quartics are
known in closed form; between two of them Laguerre's steps that never leave a bracket find the root, if there is one.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.kernel import Kernel
from articulus.motion.trajectory.extreme_motion import (
    ROW,
    TINY,
    Ends,
    longest,
    mirror,
    mix,
    quickest,
    scale_function,
    time_at_top_speed,
)

STEPS = 10
"""Steps to a root."""
ROUNDING = 4e-15
"""Share of a duration that is added, so that it is possible for certain."""
NONE = 1e200
"""In place of a duration that is not possible."""
BEGINNINGS = 25
"""Durations at which possible ones may begin."""


def _value(c: SX, x: SX) -> tuple[SX, SX, SX]:
    """Return a quartic, highest power first, and its first two derivatives."""
    f, first, half = c[0], SX(0), SX(0)
    for k in range(1, 5):
        half, first, f = half * x + first, first * x + f, f * x + c[k]
    return f, first, 2 * half


@cache
def _root() -> ca.Function:
    """Return the function of a quartic and a bracket between two of its extremes to its root there, or to an end of the bracket."""
    c, low, high = SX.sym("c", 5), SX.sym("low"), SX.sym("high")
    sign = ca.if_else(_value(c, high)[0] > _value(c, low)[0], 1, -1)
    a, b, x = low, high, (low + high) / 2
    for _ in range(STEPS):
        f, first, second = _value(c, x)
        above = sign * f > 0
        a, b = ca.if_else(above, a, x), ca.if_else(above, x, b)
        bend = ca.sqrt(ca.fmax(9 * first**2 - 12 * f * second, 0))
        down = first + ca.if_else(first >= 0, bend, -bend)
        new = x - 4 * f / ca.if_else(down == 0, 1, down)
        x = ca.if_else((new >= a) * (new <= b) * (down != 0), new, (a + b) / 2)
    return ca.Function("quartic_root", [c, low, high], [x])


def _free_extremes(S: SX, D: SX) -> list[SX]:
    """Return the largest and the middle w at which w^3 + 2 S w = D, zero in place of those that are not above it."""
    p = ca.fmin(2 * S, -TINY)
    size = 2 * ca.sqrt(-p / 3)
    turn = ca.acos(ca.fmax(ca.fmin(-3 * D / (p * size), 1), -1)) / 3
    return [ca.fmax(size * ca.cos(turn - 2 * np.pi / 3), 0), ca.fmax(size * ca.cos(turn), 0)]


def _met_extremes(u: SX) -> list[SX]:
    """Return the r above zero at which 2 r^2 - 3 r + 2 u + 1 = 0, or the place where they would meet."""
    root = ca.sqrt(ca.fmax(9 - 8 * (2 * u + 1), 0))
    return [ca.fmax((3 - root) / 4, 0), (3 + root) / 4]


def _quartics(way: SX, ends: Ends, most: SX) -> tuple[SX, SX]:
    """Return the quartics of far(T) = way with their brackets, (7, 9): five coefficients, low, high; and (scale, shift) of durations x -> T.

    A root x of the first three is T = 2 x + shift, of the others x^2 + shift.
    """
    v0, a0, vf, af = ends
    u0, uf = v0 - a0**2 / 2, vf - af**2 / 2
    S, G, shift = u0 + uf, uf - u0, af - a0
    D = way + u0 * a0 + a0**3 / 6 - uf * af - af**3 / 6
    tau = most + ca.fabs(shift) + 1
    high = ca.sqrt(tau + ca.fabs(G))
    rows, shifts = [], []
    for c, inner, last, later in (
        ((0.25, 0, S, -D, -(G**2) / 4), _free_extremes(S, D), tau / 2, shift),
        ((0.5, -1, uf + 0.5, 0, G * (S - 1) / 2 - D), _met_extremes(uf), high, shift + G),
        ((0.5, -1, u0 + 0.5, 0, -G * (S - 1) / 2 - D), _met_extremes(u0), high, shift - G),
    ):
        places = [SX(0), *(ca.fmin(x, last) for x in inner), last]
        for low, up in pairwise(places):
            rows.append(ca.vertcat(*c, low, up))
            shifts.append(later)
    half, rest = (S - 1), -(G**2) - 4 * D
    root = ca.sqrt(ca.fmax(half**2 - rest, 0))
    both = [-half + root + shift, -half - root + shift]
    return ca.horzcat(*rows), ca.vertcat(*shifts, *both)


@cache
def _candidates() -> ca.Function:
    """Return the function of way, ends and V to all durations at which possible ones may begin."""
    way, ends, V = MX.sym("way"), MX.sym("ends", 4), MX.sym("V")
    x, e, top = SX.sym("x"), SX.sym("e", 4), SX.sym("top")
    each = ca.vertsplit(e)
    out: list[SX] = [quickest(each)[0]]
    tables: list[Any] = []
    for sign in (1, -1):
        mirrored = each if sign == 1 else mirror(each)
        table, shifts = _quartics(sign * x, mirrored, longest(x, each, top))
        tables += [table, shifts]
        out.append(ca.sum1(time_at_top_speed(sign * x, mirrored, top)))
    prepare = ca.Function("prepare", [x, e, top], [ca.vertcat(*out), *tables])
    first, *numbers = prepare(way, ends, V)
    durations: list[Any] = [first]
    for quartics, starts in zip(numbers[::2], numbers[1::2]):
        for k in range(9):
            root = _root()(quartics[:5, k], quartics[5, k], quartics[6, k])
            durations.append((2 * root if k < 3 else root**2) + starts[k])
        durations.append(starts[9:])
    return ca.Function("candidates", [way, ends, V], [ca.vertcat(*durations)])


@cache
def beginnings() -> Kernel:
    """Return native code: the numbers of a joint (`extreme_motion.ROW`) to the largest share that the states at the ends take of their limits, the least
    duration, and those [s] at which possible ones may begin, (27,); what is not possible is `NONE`."""

    def build() -> ca.Function:
        row = MX.sym("row", len(ROW))
        way, ends, V, time, worst = scale_function()(row)
        t, x, e, top = SX.sym("t"), SX.sym("x"), SX.sym("e", 4), SX.sym("top")
        margin = mix(t, x, ca.vertsplit(e), top)[3]
        kept = ca.if_else((t >= 0) * (margin >= 0), t, NONE)
        keep = ca.Function("keep", [t, x, e, top], [kept])
        found = ca.vertsplit(_candidates()(way, ends, V) * (1 + ROUNDING))
        durations = time * ca.vertcat(*(keep(T, way, ends, V) for T in found))
        each = SX.sym("each", len(found))
        least = ca.Function("least", [each], [ca.mmin(each)])
        return ca.Function("beginnings", [row], [ca.vertcat(worst, least(durations), durations)])

    return kernel.cached("point to point beginnings 3", build, finite=False)
