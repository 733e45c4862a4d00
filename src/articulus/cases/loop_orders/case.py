"""Two four-bar linkages in a run: the order of every kind of method, and ten seconds through singular positions."""

import math

import numpy as np
from scipy.integrate import solve_ivp

import articulus as art

METHODS = {
    "euler": 2000, "ab2": 500, "ab3": 200, "ab4": 800, "rk4": 50, "am4": 100, "central_difference": 100, "lie_rk4": 50, "newmark": 100, "hht": 100,
    "generalized_alpha": 100,
}  # fmt: skip
"""Steps of the finest of three runs of half a second."""
END = 0.5


def compute() -> dict:
    orders = {f"{name}: order": order(name, steps) for name, steps in METHODS.items()}
    return orders | {
        f"dormand_prince, rtol 1e-10, output every {step:g} s: error of the angle at 10 s [rad]": error(
            "dormand_prince", 10.0, step
        )
        for step in (0.1, 1.0)
    }


def order(method: str, steps: int) -> float:
    """Return the slope of the error over three runs, each with half the step of the one before."""
    errors = [error(method, END, END / n) for n in (steps // 4, steps // 2, steps)]
    return math.log2(errors[0] / errors[2]) / 2


def error(method: str, end: float, step: float) -> float:
    """Return the error of the angle at the end; the bars stay parallel, one pendulum: phi'' = (3.5 g / 3) sin phi."""
    bars = art.load("n_four_bar", n=2)
    v0 = [1.0 if name.startswith("hinge") else -1.0 for name in bars.joint_names]
    run = art.simulate(
        bars, end, v0=v0, method=method, step=step, sample=end, outputs=(), rtol=1e-10, atol=1e-12
    )
    rate = 9.81 * 3.5 / 3
    exact = solve_ivp(
        lambda _, y: [y[1], rate * math.sin(y[0])], (0.0, end), [0.0, 1.0], "DOP853", rtol=1e-13, atol=1e-14
    )
    return float(np.abs(run.q[-1, 0] - exact.y[0, -1]))
