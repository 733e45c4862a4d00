"""Formulas of table I of Kasahara, Honda & Narita 1989 on x1' = x2, x2' = x2 - x1^2 x2 - x1; RK4 starts the Adams formulas."""

import numpy as np
from scipy.integrate import solve_ivp

START, END = np.array([0.01, 0.01]), 10.0
WEIGHTS = {
    "euler": [1.0],
    "ab2": [3 / 2, -1 / 2],
    "ab3": [23 / 12, -16 / 12, 5 / 12],
    "ab4": [55 / 24, -59 / 24, 37 / 24, -9 / 24],
}


def f(x):
    return np.array([x[1], x[1] - x[0] ** 2 * x[1] - x[0]])


def rk4(x, h):
    a = f(x)
    b = f(x + h / 2 * a)
    c = f(x + h / 2 * b)
    d = f(x + h * c)
    return x + h / 6 * (a + 2 * b + 2 * c + d)


def run(name, steps):
    h, x, past = END / steps, START, []
    weights = WEIGHTS["ab4" if name == "am4" else name] if name != "rk4" else [1.0]
    for _ in range(steps):
        past = [f(x), *past][:4]
        if name == "rk4" or len(past) < len(weights):
            x = rk4(x, h)
            continue
        predicted = x + h * sum(w * s for w, s in zip(weights, past))
        if name == "am4":
            slopes = [f(predicted), *past]
            predicted = x + h / 24 * (9 * slopes[0] + 19 * slopes[1] - 5 * slopes[2] + slopes[3])
        x = predicted
    return x


def expected():
    exact = solve_ivp(lambda t, x: f(x), (0, END), START, "DOP853", rtol=1e-13, atol=1e-16).y[:, -1]
    out = {"x(10) by RK4, h = 0.0025 s": run("rk4", 4000)}
    for name in ("euler", "ab2", "ab3", "ab4", "rk4", "am4"):
        out[f"{name}: error at t = 10 s, h = 0.01 s"] = np.abs(run(name, 1000) - exact).max()
    return out | limit_cycle()


def limit_cycle():
    """Return amplitude and period from the events of a run of order 8."""

    def turn(t, x):
        return x[1]

    def cross(t, x):
        return x[0]

    cross.direction = 1
    run = solve_ivp(lambda t, x: f(x), (0, 80), START, "DOP853", rtol=1e-11, atol=1e-13, events=[turn, cross])
    late = run.t_events[1][run.t_events[1] > 60]
    peaks = np.abs(run.y_events[0][run.t_events[0] > 60, 0])
    return {"limit cycle: amplitude": peaks.max(), "limit cycle: period [s]": late[1] - late[0]}
