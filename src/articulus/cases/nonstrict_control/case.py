"""The torque of an inverted pendulum, tau = I qdd + B qd - m g l sin q, by tasks in two orders."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from articulus.parallel.latency import (
    ControlTask,
    effective_latency,
    mean_square_error,
    nonstrict_delays,
    strict_delay,
)

TASKS = (
    ControlTask("1", 1, ("qdd",)),
    ControlTask("6", 1, ("qd",)),
    ControlTask("2", 1, needs=("1", "6")),
    ControlTask("4", 10, ("q",)),
    ControlTask("5", 1, needs=("4",)),
    ControlTask("3", 1, needs=("2", "5")),
)
UNIT = np.pi / 1500
"""Time of a task of one unit [s]."""
ORDERS = ("123456", "453162")
SETS = ((1.0, 0.5, 1.0), (1.0, 4.0, 16.0), (1.0, 8.0, 16.0))
"""I, B, m g l: assumed, the figure that has them is lost."""


def compute() -> dict:
    out: dict = {"strict: delay": strict_delay(TASKS)}
    for order in ORDERS:
        delays = nonstrict_delays(TASKS, order, "3")
        out[f"{'-'.join(order)}: delays of qdd, qd, q"] = [delays[s] for s in ("qdd", "qd", "q")]
    return out | {
        "1-2-3-4-5-6 at 12.5 rad/s: effective latency over that of the strict order": [
            latency(*numbers, ORDERS[0], 12.5) / 15 for numbers in SETS
        ],
        "inertia alone: frequency at which both errors are equal [rad/s]": crossover(1.0, 0.0, 0.0),
        "limits of 1-2-3-4-5-6, slow and fast": [
            latency(1.0, 4.0, 16.0, ORDERS[0], w) for w in (1e-3, 150.0)
        ],
        "limits of 4-5-3-1-6-2, slow and fast": [
            latency(1.0, 4.0, 16.0, ORDERS[1], w) for w in (1e-3, 150.0)
        ],
    }


def law(inertia: float, damping: float, weight: float) -> Callable:
    return lambda s: inertia * s["qdd"] + damping * s["qd"] - weight * np.sin(s["q"])


def signals(w: float) -> dict:
    return {
        "q": lambda t: np.sin(w * t),
        "qd": lambda t: w * np.cos(w * t),
        "qdd": lambda t: -(w**2) * np.sin(w * t),
    }


def late(order: str) -> dict:
    return {name: delay * UNIT for name, delay in nonstrict_delays(TASKS, order, "3").items()}


def latency(inertia: float, damping: float, weight: float, order: str, w: float) -> float:
    period = 2 * np.pi / w
    return effective_latency(law(inertia, damping, weight), signals(w), late(order), period) / UNIT


def crossover(*numbers: float) -> float:
    """Return the frequency at which the non-strict order stops having the smaller error."""
    strict = dict.fromkeys(("q", "qd", "qdd"), 15 * UNIT)

    def difference(w: float) -> float:
        errors = (
            mean_square_error(law(*numbers), signals(w), delays, 2 * np.pi / w)
            for delays in (late(ORDERS[0]), strict)
        )
        first, second = errors
        return (first - second) / w**4

    return float(brentq(difference, 120.0, 200.0, xtol=1e-9))
