"""Hinf loop shaping of a lightly damped plant: the largest weight that can be met, and the flat cost there."""

import numpy as np
from scipy.optimize import brentq

from articulus.control import h2syn, hinfnorm, mixsyn
from articulus.control.connect import select
from articulus.control.synthesis.augw import augw
from articulus.errors import InputError

PLANT = ([[0.0, 1.0], [-400.0, -2.0]], [[0.0], [1.0]], [[400.0, 0.0]], [[0.0]])
"""400 / (s^2 + 2 s + 400)."""
W3 = ([1.0, 0.0, 0.0], [40000.0])


def sensitivity(rho: float) -> tuple:
    """Return W1 of table 3.2.1."""
    return rho * np.array([2.5e-5, 1e-2, 1.0]), 0.01 * np.array([4e-2, 4e-1, 1.0])


def limit() -> float:
    """Return the rho at which the least norm is 1."""
    return float(
        brentq(lambda rho: mixsyn(PLANT, sensitivity(rho), None, W3).gamma - 1.0, 2.0, 5.0, xtol=1e-7)
    )


def compute() -> dict:
    rho = limit()
    best = mixsyn(PLANT, sensitivity(rho), None, W3)
    cost = select(best.closed, [0], [0, 1]).response(np.geomspace(0.01, 1e5, 200))
    size = np.linalg.norm(cost, axis=(1, 2))
    tests = mixsyn(PLANT, sensitivity(1.0), None, W3, gamma=1.0).checks
    h2 = h2syn(augw(PLANT, (np.array([1.0]), np.array([0.2, 1.0])), 0.1), measured=1, commands=1)
    h2_peak = float(hinfnorm(select(h2.closed, [0], [0, 1])))
    return {
        "limiting rho": rho,
        "existence tests passed at rho = 1": sum(t.what.startswith("test") for t in tests),
        "cost at the limit, least over largest of all frequencies": size.min() / size.max(),
        "existence test that fails above the limit (2b = 2.5)": _failing(1.003 * rho),
        "order of the controller at the limit (plant and weight: 4)": len(best.controller.A),
        "Hinf norm of the H2 controller over the least one is at least 1 (1 = yes)": h2_peak
        >= mixsyn(PLANT, (np.array([1.0]), np.array([0.2, 1.0])), 0.1).gamma,
    }


def _failing(rho: float) -> float:
    """Return the number of the test that fails first: 2 for 2a, 2.5 for 2b and so on; 0 if a controller exists."""
    try:
        mixsyn(PLANT, sensitivity(rho), None, W3, gamma=1.0)
    except InputError as error:
        test = error.findings[0].where.removeprefix("test ")
        return float(test[0]) + 0.5 * (test[1] == "b")
    return 0.0
