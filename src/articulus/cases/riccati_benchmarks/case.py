"""Regulators of benchmark plants whose Riccati equations have solutions in closed form."""

import numpy as np

from articulus.control import lqr

NEARLY_LOST = 1e-3
"""Input of the unstable mode in example 7: the smaller, the nearer to a mode that no input moves."""


def compute() -> dict:
    first = lqr(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [1.0, 2.0], 1.0)
    second = lqr(([[4.0, 3.0], [-4.5, -3.5]], [[1.0], [-1.0]]), [[9.0, 6.0], [6.0, 4.0]], 1.0)
    e = NEARLY_LOST
    lost = lqr((np.diag([1.0, -2.0]), [[e], [0.0]]), np.ones((2, 2)), 1.0)
    root = np.sqrt(1 + e**2)
    exact = np.array(
        [[(1 + root) / e**2, 1 / (2 + root)], [1 / (2 + root), 0.25 * (1 - e**2 / (2 + root) ** 2)]]
    )
    return {
        "example 1: solution": first.cost,
        "example 1: poles of the closed loop, real parts": np.sort(first.poles.real),
        "example 2: solution over 1 + sqrt(2)": second.cost / (1 + np.sqrt(2)),
        "example 2: poles of the closed loop": np.sort(second.poles.real),
        "example 7: solution over the exact one, entry by entry": lost.cost / exact,
    }
