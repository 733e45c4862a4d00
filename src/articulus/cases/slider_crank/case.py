"""ALF1 by iterations in two forms, at a singular position, and ten seconds of ALF2 through eleven of them."""

from collections.abc import Callable

import numpy as np

from articulus.cases.points import Points, by_momenta
from articulus.cases.slider_crank.mechanism import linkage, slider_crank
from articulus.dynamics.loops import augmented, lagrange, regularized_dynamics
from articulus.simulation.solve.assembly import independent_rows

CRANK = np.sqrt(0.5) * np.array([1.0, 1.0, 2.0])
SLIDER_AT_2 = np.array([-1.0, 1.0, -2.0])
UPRIGHT, UPRIGHT_RATE = np.array([0.0, 1.0, 0.0]), np.array([-1.0, 0.0, -2.0])
PENALTY = 1e4
OPEN, FOLDED = np.array([np.pi / 4, -np.pi / 2]), np.array([np.pi / 2, -np.pi])
"""Angles of crank and rod of the linkage in joint coordinates at `CRANK` and at `UPRIGHT` [rad]."""


def compute() -> dict:
    system = slider_crank()
    return joints() | iterations(system) | singular(system) | motion(system)


def joints() -> dict:
    """Return what the same linkage in joint coordinates says."""
    m = linkage()
    rate = np.sqrt(2) * np.array([1.0, -2.0])
    vdot = m.forward_dynamics(OPEN, rate, np.zeros(2))
    ends = [m.acceleration(frame, OPEN, rate, vdot) for frame in ("rod", "slider")]
    return {
        "joint coordinates: accelerations of crank end and slider [m/s^2]": [*ends[0][3:5], ends[1][3]],
        "singular position: freedoms, and at the start": [
            m.nv - len(independent_rows(m, q)) for q in (FOLDED, OPEN)
        ],
        "energy [J]": sum(m.energy(OPEN, 2 * rate)),
    }


def iterations(system: Points) -> dict:
    exact = lagrange(system.problem)

    def error(form: Callable, penalty: float, count: int) -> float:
        found = form(system.problem, penalty, iterations=count).vdot
        return float(np.linalg.norm(system.evaluate(found - exact.vdot, CRANK, SLIDER_AT_2)))

    own = [error(augmented, PENALTY, k) for k in (1, 2, 3, 4)]
    return {
        "exact accelerations [m/s^2]": system.evaluate(exact.vdot, CRANK, SLIDER_AT_2),
        "exact multipliers [N]": system.evaluate(exact.multipliers, CRANK, SLIDER_AT_2),
        **{
            f"error of regularized, iteration {k} [m/s^2]": error(regularized_dynamics, PENALTY, k)
            for k in (1, 2, 3, 4)
        },
        "error of augmented (ALF1), iteration 1 [m/s^2]": own[0],
        "error of augmented (ALF1), iteration 2 [m/s^2]": own[1],
        "error of augmented (ALF1), iterations 3 and 4: below its floor of 1e-11 m/s^2 (1 = yes)": [
            e < 1e-11 for e in own[2:]
        ],
        "error of regularized, iteration 1, penalty 1e7 [m/s^2]": error(regularized_dynamics, 1e7, 1),
    }


def singular(system: Points) -> dict:
    def iterate(form: Callable, count: int, system: Points = system) -> np.ndarray:
        found = form(system.problem, PENALTY, iterations=count).vdot
        return system.evaluate(found, UPRIGHT, UPRIGHT_RATE)

    slip = slider_crank(1 / 3)
    return {
        "singular position, regularized: iteration 1, y1 [m/s^2]": iterate(regularized_dynamics, 1)[1],
        "singular position, regularized: iteration 1 with the slip, y1 [m/s^2]": iterate(regularized_dynamics, 1, slip)[1],
        "singular position, regularized: iteration 3 [m/s^2]": iterate(regularized_dynamics, 3),
        "singular position, regularized: iteration 4 [m/s^2]": iterate(regularized_dynamics, 4),
        "singular position, augmented (ALF1): iteration 1, y1 [m/s^2]": iterate(augmented, 1)[1],
        "singular position, augmented (ALF1): iteration 3 [m/s^2]": iterate(augmented, 3),
    }  # fmt: skip


def motion(system: Points) -> dict:
    fast = 2 * SLIDER_AT_2
    settings = {"penalty": 1e7, "frequency": 10.0, "damping": 1.0, "iterations": 10}
    coarse = by_momenta(system, CRANK, fast, 0, 1e-5, **settings)
    fine = by_momenta(system, CRANK, fast, 0, 1e-8, **settings)
    return {
        "ALF2, tolerance 1e-5: passages": len(coarse.passages),
        "ALF2, tolerance 1e-5: last passage [s]": coarse.passages[-1],
        "ALF2, tolerance 1e-5: energy error [J]": coarse.energy_error,
        "ALF2, tolerance 1e-8: passages [s]": fine.passages,
        "ALF2, tolerance 1e-8: q(10 s) [m]": fine.q,
        "ALF2, tolerance 1e-8: energy error [J]": fine.energy_error,
    }
