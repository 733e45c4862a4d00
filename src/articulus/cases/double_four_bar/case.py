"""Two four-bar linkages side by side, ten seconds by ALF1 in two forms and ALF2 through positions with three degrees of freedom."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

import articulus as art
from articulus.cases.points import PointRun, Points, by_accelerations, by_momenta, points, rods
from articulus.dynamics.loops import augmented, regularized_dynamics
from articulus.simulation.solve.assembly import independent_rows

UPRIGHT, RATE = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 1.0]), np.array([1.0, 0.0] * 3)
Y1 = 1


def compute() -> dict:
    system = double_four_bar()
    forms = {"augmented (ALF1)": augmented, "regularized": regularized_dynamics}
    runs = {
        name: by_accelerations(system, with_penalty(form), UPRIGHT, RATE, Y1, 1e-8)
        for name, form in forms.items()
    }
    slow = by_accelerations(system, lambda p: augmented(p, 1e7, 10.0, iterations=1), UPRIGHT, RATE, Y1, 1e-5)
    alf2 = by_momenta(system, UPRIGHT, RATE, Y1, 1e-5, penalty=1e7, frequency=10.0, iterations=10)
    return {
        **joints(),
        **{f"{name}, frequency 20: passages [s]": run.passages for name, run in runs.items()},
        **ends("augmented (ALF1), frequency 20", runs["augmented (ALF1)"]),
        **ends("regularized, frequency 20", runs["regularized"]),
        "ALF1, frequency 10, one iteration, tolerance 1e-5: fails before 10 s, with frequency 20 it does not (1 = yes)": slow.lost
        < 10
        and max(run.lost for run in runs.values()) == 10,
        "ALF1, frequency 10, one iteration, tolerance 1e-5: time at which the energy is off by 1 J [s]": slow.lost,
        "ALF2, frequency 10: passages": len(alf2.passages),
        **ends("ALF2, frequency 10", alf2),
    }


def with_penalty(form: Callable) -> Callable:
    return lambda p: form(p, 1e7, 20.0, iterations=3)


def ends(label: str, run: PointRun) -> dict:
    return {f"{label}: (x1, y1)(10 s) [m]": run.q[:2], f"{label}: energy error [J]": run.energy_error}


def joints() -> dict:
    """Return what the same linkage in joint coordinates says."""
    m = art.load("n_four_bar", n=2)
    turn = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    upright, level = (m.nv - len(independent_rows(m, angle * turn)) for angle in (0.0, np.pi / 2))
    return {
        "energy [J]": sum(m.energy(m.neutral, turn)),
        "freedoms, upright": upright,
        "freedoms, level": level,
    }


def double_four_bar() -> Points:
    """Return five uniform rods of 1 m and 1 kg between three grounds and three points."""
    moving, grounds = [f"p{i}" for i in range(3)], {f"ground{i}": (float(i), 0.0) for i in range(3)}
    ends = [*zip(grounds, moving), *pairwise(moving)]
    return points(rods("double four-bar", dict.fromkeys(moving, "xy"), grounds, ends))
