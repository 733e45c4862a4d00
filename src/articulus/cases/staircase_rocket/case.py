"""A ground-to-ground rocket of given time and impulse: its range by staircase linear programs, and the factors of staircase matrices."""

import casadi as ca
import numpy as np

from articulus.motion.trajectory import ode
from articulus.motion.trajectory.staircase import Stage, StaircaseQL, solve_staged, solve_stages, to_stages

G, STAGES, DURATION = 32.2, 24, 12.0
"""Gravity [ft/s^2], number of stages, time of flight [s]."""
THRUST, IMPULSE = 5.0, 10.0
"""Limits of the thrust acceleration [g] and of its integral [g s]."""


def rocket(sides: int, radius: float, turn: float) -> list[Stage]:
    """Return the program: thrust is a sum of pushes along `sides` directions, each `radius` g per unit, the first at angle `turn` [rad]."""
    dt = DURATION / STAGES
    angle = turn + 2 * np.pi * np.arange(sides) / sides
    across, up = radius * G * np.cos(angle), radius * G * np.sin(angle)
    F = np.eye(5)
    F[0, 1] = F[2, 3] = dt
    push = np.array([dt**2 / 2 * across, dt * across, dt**2 / 2 * up, dt * up, np.full(sides, dt)])
    step, shift = np.hstack([F, push]), np.array([0, 0, -G * dt**2 / 2, -G * dt, 0])
    above = np.array([-np.inf, -np.inf, 0.0, -np.inf, -np.inf])  # altitude
    total = np.concatenate([np.zeros(5), np.ones(sides)])[None]
    low = np.concatenate([above, np.zeros(sides)])
    start = np.concatenate([np.zeros(5), np.full(sides, np.inf)])
    stages = [
        Stage(
            5,
            np.zeros(5 + sides),
            step,
            shift,
            total,
            upper=THRUST,
            low=low if k else np.zeros(5 + sides),
            high=np.inf if k else start,
            names=("thrust",),
        )
        for k in range(STAGES)
    ]
    spent = np.array([np.inf, np.inf, np.inf, np.inf, IMPULSE])
    return [*stages, Stage(5, [-1.0, 0, 0, 0, 0], low=above, high=spent)]


def ranges(turn: float) -> list[float]:
    """Return the ranges [ft] with an octagon within the circle, around it, and of its area."""
    half = np.pi / 8
    radii = 1.0, 1 / np.cos(half), np.sqrt(np.pi / (8 * np.sin(half) * np.cos(half)))
    return [-solve_stages(rocket(8, radius, turn), "active_set").cost for radius in radii]


def exact_range() -> float:
    """Return the range [ft] with the thrust as it is, size and direction, by a sequence of quadratic programs."""
    x, u = ca.SX.sym("x", 5), ca.SX.sym("u", 2)
    thrust = G * u[0]
    rates = ca.vertcat(x[1], thrust * ca.cos(u[1]), x[3], thrust * ca.sin(u[1]) - G, u[0])
    anything = (-np.inf, np.inf)
    flight = ode(
        x,
        u,
        rates,
        duration=DURATION,
        start=[0, 0, 0, 0, 0],
        end=[None, None, None, None, (0, IMPULSE)],
        final=-x[0],
        x_bounds=[anything, anything, (0, np.inf), anything, anything],
        u_bounds=[(0, THRUST), (0, np.pi / 2)],
        guess=(np.zeros((2, 5)), [[1.0, 0.8]]),
    )
    return -solve_staged(to_stages(flight, STAGES)).cost


def factor_errors() -> tuple[float, float]:
    """Return by how much a solution and multipliers by staircase factors miss those of the dense matrix, after 60 exchanges of rows."""
    random = np.random.default_rng(1)
    rows = (4, 2, 4, 3, 2, 3, 3)
    factors = StaircaseQL(
        [random.normal(size=(m, 3)) for m in rows], [random.normal(size=(m, 3)) for m in rows[:-1]]
    )
    done = 0
    while done < 60:
        stage, k = (int(i) for i in random.integers(7, size=2))
        own, after = random.normal(size=(2, 3))
        if not len(factors.own[k]):
            continue
        gone = k, int(random.integers(len(factors.own[k])))
        move = factors.unit(*gone)
        pivot = own @ move.get(stage, np.zeros(3)) + (
            after @ move.get(stage + 1, np.zeros(3)) if stage < 6 else 0.0
        )
        if abs(pivot) > 0.3:
            factors.exchange(gone, stage, own, after if stage < 6 else None)
            done += 1
    dense = np.zeros((21, 21))
    counts = np.cumsum([0, *(len(a) for a in factors.own)])
    for k, a in enumerate(factors.own):
        dense[counts[k] : counts[k + 1], 3 * k : 3 * k + 3] = a
        if k < 6:
            dense[counts[k] : counts[k + 1], 3 * k + 3 : 3 * k + 6] = factors.after[k]
    right = random.normal(size=21)
    x = np.concatenate(factors.solve(np.split(right, counts[1:-1])))
    y = factors.dual({k: right[3 * k : 3 * k + 3] for k in range(7)})
    both = np.concatenate([y.get(k, np.zeros(len(a))) for k, a in enumerate(factors.own)])
    off = [
        np.linalg.norm(a - b) / np.linalg.norm(b)
        for a, b in ((x, np.linalg.solve(dense, right)), (both, np.linalg.solve(dense.T, right)))
    ]
    return float(off[0]), float(off[1])


def compute() -> dict:
    count = sum(s.size for s in rocket(8, 1.0, 0.0)) - 5
    inverse, transposed = factor_errors()
    return {
        "range [ft]": exact_range(),
        "range with 64 directions of thrust [ft]": -solve_stages(rocket(64, 1.0, 0.0)).cost,
        "range, octagon with a corner ahead: within, around, same area [ft]": ranges(0.0),
        "range, octagon with a side ahead: within, around, same area [ft]": ranges(np.pi / 8),
        "unknowns of the program, without the given start": count,
        "1 + relative error of a solution after 60 exchanges of rows": 1 + inverse,
        "1 + relative error of multipliers after 60 exchanges of rows": 1 + transposed,
    }
