"""Gust response of Ly 1989 (design a to c): simplex searches over six gains, norms by Lyapunov's equation and by frequencies."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov
from scipy.optimize import minimize

A = np.array(
    [
        [-1.6750e-02, 1.1214e-01, 2.8000e-04, -5.6083e-01, 1.6750e-02, -2.4320e-02],
        [-1.6400e-02, -7.7705e-01, 9.9453e-01, 1.4700e-03, 1.6400e-02, -6.3390e-02],
        [-4.1670e-02, -3.6595e00, -9.5443e-01, 0, 4.1670e-02, -3.6942e00],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, -4.4470e-01, 0],
        [0, 0, 0, 0, 0, -1.5000e01],
    ]
)
GUST, PUSH = np.array([0, 0, 0, 0, 0.9431, 0]), np.array([0, 0, 0, 0, 0, 15.0])
RATE, LOAD = (
    np.array([0, 0, 1.0, 0, 0, 0]),
    np.array([6.94e-03, 3.2795e-01, 2.31e-03, 0, -6.94e-03, 2.679e-02]),
)
GRID = np.concatenate([np.geomspace(1e-3, 0.02, 60), np.linspace(0.02, 0.2, 400), np.geomspace(0.2, 30, 300)])


def closed(p):
    """Return A, B, C of the loop with k q + (b0 s^2 + b1 s + b2) / (s^2 + a1 s + a2) n_z; errors sqrt(10) n_z and command."""
    k, b0, b1, b2, a1, a2 = p
    command = np.concatenate([k * RATE + b0 * LOAD, [b2 - b0 * a2, b1 - b0 * a1]])
    whole = np.zeros((8, 8))
    whole[:6, :6], whole[7, :6] = A, LOAD
    whole[:6] += np.outer(PUSH, command)
    whole[6, 7], whole[7, 6], whole[7, 7] = 1.0, -a2, -a1
    return (
        whole,
        np.concatenate([GUST, [0, 0]]),
        np.vstack([np.sqrt(10) * np.concatenate([LOAD, [0, 0]]), command]),
    )


def norms(p, peak=True):
    """Return squares of the H2 and Hinf norms; infinite if not stable."""
    A, B, C = closed(p)
    if np.linalg.eigvals(A).real.max() >= 0:
        return np.inf, np.inf
    two = np.trace(C @ solve_continuous_lyapunov(A, -np.outer(B, B)) @ C.T)
    if not peak:
        return two, 0.0
    x = np.linalg.solve(
        1j * GRID[:, None, None] * np.eye(8) - A, np.broadcast_to(B[:, None], (len(GRID), 8, 1))
    )
    return two, (np.abs(C @ x) ** 2).sum((1, 2)).max()


def search(cost, start, rounds=6):
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 3000, "maxfev": 3000, "adaptive": True}
    for _ in range(rounds):
        start = minimize(cost, start, method="Nelder-Mead", options=options).x
    return start


def bound():
    """Return the largest over frequencies of sqrt(10) |G_w| / sqrt(1 + 10 |G_u|^2), which no controller can beat."""
    w = np.linspace(0.05, 0.07, 20001)
    values = [LOAD @ np.linalg.solve(1j * x * np.eye(6) - A, np.column_stack([GUST, PUSH])) for x in w[::10]]
    g = np.abs(np.array(values))
    return (np.sqrt(10) * g[:, 0] / np.sqrt(1 + 10 * g[:, 1] ** 2)).max()


def over_time(growth):
    """Return the integral of e^(2 growth t) 10 n_z^2 after an impulse of the gust, and its mean over time, up to 10 and 100 s."""

    def f(t, y):
        return np.concatenate([A @ y[:6], [np.exp(2 * growth * t) * 10 * (LOAD @ y[:6]) ** 2, y[6]]])

    out = solve_ivp(
        f, (0, 100), np.concatenate([GUST, [0, 0]]), "DOP853", [10.0, 100.0], rtol=1e-11, atol=1e-15
    )
    return out.y[6], out.y[7] / [10.0, 100.0]


def expected():
    P = solve_continuous_are(A, PUSH[:, None], 10 * np.outer(LOAD, LOAD), np.eye(1))
    least = bound()
    a = search(lambda p: 1e4 * norms(p, False)[0], [0.2091, 0.5321, 1.1602, 0.1546, 1.2336, 0.00638], 2)
    two, peak = norms(a)
    still = over_time(0.0)
    return {
        "finite-time indices of the aircraft alone at 10 and 100 s: (4.a)": still[0],
        "finite-time indices of the aircraft alone at 10 and 100 s: (4.c)": still[1],
        "finite-time indices of the aircraft alone at 10 and 100 s: (4.b) with a growth of 0.02 1/s": over_time(
            0.02
        )[0],
        "state feedback: least square of the H2 norm": GUST @ P @ GUST,
        "least Hinf norm of any controller, by the bound at each frequency": least,
        "Hinf alone: norm": least,
        "(a): square of the H2 norm": two,
        "(a): Hinf norm": np.sqrt(peak),
    }


def slowly():
    near = [0.217, 0.76, 0.49, 0.055, 0.1, 0.0021]
    out = {}
    for name, weight in (("b", 1.0), ("c", 10.0)):

        def cost(p, weight=weight):
            two, peak = norms(p)
            return 1e4 * (weight * two + peak)

        out[f"({name}): objective"] = cost(search(cost, near)) / 1e4
    return out
