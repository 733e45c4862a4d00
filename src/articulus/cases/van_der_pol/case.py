"""Van der Pol's oscillator, eps = 1: orders and errors of the integration formulas, and the limit cycle."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from articulus.simulation.integrate import EXPLICIT_METHODS, RK4, Method

START = (0.01, 0.01)
END = 10.0
STEPS = (250, 500, 1000, 2000, 4000)


def van_der_pol(t: float, x: np.ndarray) -> np.ndarray:
    """x1' = x2, x2' = x2 - x1^2 x2 - x1 (fig. 2 of the paper with eps = 1)."""
    return np.array([x[1], x[1] - x[0] ** 2 * x[1] - x[0]])


def compute() -> dict:
    exact = solve_ivp(van_der_pol, (0.0, END), START, "DOP853", rtol=1e-13, atol=1e-16).y[:, -1]
    out: dict = {"x(10) by RK4, h = 0.0025 s": RK4().integrate(van_der_pol, 0.0, END, START, 4000)[1][-1]}
    for method in EXPLICIT_METHODS[:6]:  # those of the paper
        errors = [error(method, n, exact) for n in STEPS]
        out[f"{method.name}: order"] = -np.polyfit(np.log(STEPS[1:]), np.log(errors[1:]), 1)[0]
        out[f"{method.name}: error at t = 10 s, h = 0.01 s"] = errors[STEPS.index(1000)]
    return out | limit_cycle()


def error(method: Method, steps: int, exact: np.ndarray) -> float:
    """Return the larger component of the error at the end."""
    x = method.integrate(van_der_pol, 0.0, END, START, steps)[1]
    return float(np.abs(x[-1] - exact).max())


def limit_cycle() -> dict:
    """Return amplitude and period after 60 s."""
    t, x = RK4().integrate(van_der_pol, 0.0, 80.0, START, 8000)
    late = t >= 60
    slope = np.array([van_der_pol(0.0, row) for row in x[late]])
    position = CubicHermiteSpline(t[late], x[late, 0], slope[:, 0])
    velocity = CubicHermiteSpline(t[late], x[late, 1], slope[:, 1])
    turns = velocity.roots(extrapolate=False)
    crossings = position.roots(extrapolate=False)
    return {
        "limit cycle: amplitude": np.abs(position(turns)).max(),
        "limit cycle: period [s]": crossings[2] - crossings[0],
    }
