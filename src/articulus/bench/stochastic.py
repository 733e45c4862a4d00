"""Rows of stochastic dynamic programming: three states, 33 points each, on one and on two threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

import casadi as ca
import numpy as np

import articulus as art
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.motion.trajectory.stochastic import FeedbackLaw, Jump, feedback_law

POINTS, STEPS = 33, 128
QUICK = 13


def law(points: int, steps: int) -> FeedbackLaw:
    """Return the law of a pendulum with a lagging drive, driven by Gaussian noise, and by jumps that shrink the state."""
    x, u = ca.SX.sym("x", 3), ca.SX.sym("u", 2)
    drift = ca.vertcat(x[1] + u[1], -ca.sin(x[0]) - 0.3 * x[1] + x[2], -x[2] + u[0])
    return feedback_law(
        x,
        u,
        drift,
        cost=ca.dot(x, x) / 2 + ca.dot(u, u) / 2,
        duration=1.0,
        grid=[(-2, 2, points)] * 3,
        u_bounds=[(-1, 1), (-0.2, 0.2)],
        gaussian=np.diag([0.05, 0.2, 0.3]),
        jumps=[Jump(0.5, -0.3 * x)],
        steps=steps,
        samples=2,
    )


def three_states(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a whole law and of one point and evaluation, and two threads beside one."""
    points, steps = (QUICK, 48) if effort.quick else (POINTS, STEPS)
    found = law(points, steps)
    evaluations = points**3 * steps * (1 + found.corrections)
    (time,) = race([Contender("articulus", partial(law, points, steps))], effort.seconds, 2)
    yield Measurement(
        f"stochastic programming, three states, {points} points each",
        3,
        time,
        value=1e-6 * time,
        unit="s",
        note=f"{steps} steps, {found.corrections:.1f} corrections each, {1e3 * time / evaluations:.0f} ns per point and evaluation",
    )
    if effort.quick:
        return

    def on(threads: int) -> None:
        with art.kernel.threads(threads):
            law(points, steps)

    ways = [Contender(f"{k} threads", partial(on, k)) for k in (2, 1)]
    two, one = race(ways, 2 * effort.seconds, effort.rounds, cores=2)
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
    yield Measurement(
        "stochastic programming, two threads",
        3,
        two,
        peer="articulus, one thread",
        peer_us=one,
        value=one / two,
        bar=FigureLimit(1.7),
        note=load,
    )
