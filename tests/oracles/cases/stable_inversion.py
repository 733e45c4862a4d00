"""Plant of Chen & Paden 1993: bounded internal motion for y = amplitude (1 - cos t) on 0 to 2 pi, and runs with its input."""

import numpy as np
from scipy.integrate import solve_ivp

END = 2 * np.pi


def eta1(t, a):
    """Return the bounded solution of eta1' = eta1 + y and its two derivatives; a is the amplitude."""
    inside = a / 2 * (-2 + np.cos(t) - np.sin(t) + np.exp(t - END))
    before = a / 2 * (np.exp(-END) - 1) * np.exp(t)
    eta = before if t < 0 else inside if t < END else 0.0
    y, dy, ddy = (a * (1 - np.cos(t)), a * np.sin(t), a * np.cos(t)) if 0 <= t < END else (0.0, 0.0, 0.0)
    return eta, y, dy, ddy


def internal(a):
    """Return eta2(t), eta2' = -eta2 + eta1^2, bounded: eta1^2 / 3 before the motion, by quadrature in it."""
    start = (a / 2 * (np.exp(-END) - 1)) ** 2 / 3
    run = solve_ivp(
        lambda t, x: -x + eta1(t, a)[0] ** 2,
        (0, END),
        [start],
        "DOP853",
        rtol=1e-12,
        atol=1e-14,
        dense_output=True,
    )
    last = run.y[0, -1]

    def eta2(t):
        if t < 0:
            return eta1(t, a)[0] ** 2 / 3
        return float(run.sol(t)[0]) if t < END else last * np.exp(-(t - END))

    return eta2


def motion(a):
    """Return a function of time with the four states and the input."""
    eta2 = internal(a)

    def at(t):
        x3, y, dy, ddy = eta1(t, a)
        d3 = x3 + y
        dd3 = d3 + dy
        x1, d1, dd1, x4 = y + 3 * x3, dy + 3 * d3, ddy + 3 * dd3, eta2(t)
        x2, d2 = d1 + x1, dd1 + d1
        return [x1, x2, x3, x4], (d2 + 3 * x2 - x1**3) / (2 + np.sin(x4) ** 2)

    return at


def rate(x, u):
    return [
        -x[0] + x[1],
        -3 * x[1] + x[0] ** 3 + (2 + np.sin(x[3]) ** 2) * u,
        x[0] - 2 * x[2],
        -x[3] + x[2] ** 2,
    ]


def far(_, x):
    return 1e7 - np.abs(x).max()  # x2 grows as the inverse square of the time left: 4e-4 s


far.terminal = True


def preview(at, a, begin, end):
    """Return the largest error from rest at a time before the motion, or the time of divergence."""
    given = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-11, "max_step": 0.02, "events": far}
    run = solve_ivp(lambda t, x: rate(x, at(t)[1]), (begin, end), np.zeros(4), **given)
    wanted = np.array([eta1(t, a)[1] for t in run.t])
    return run.t[-1] if run.status == 1 else np.abs(run.y[0] - 3 * run.y[2] - wanted).max()


def expected():
    at = motion(2.0)
    grid = np.linspace(-8, END + 3, 20001)
    out = {
        "relative degree": [2],
        "zeros [1/s]": [-1, 1],  # eta1' = eta1, eta2' = -eta2
        "eta1 and eta2 at t = 0": at(0.0)[0][2:],
        "largest |u_d|": max(abs(at(t)[1]) for t in grid),
        "regulator: coefficients of x1, x2, x3 by w1, w2, w3": manifold(),
    }
    for name, t in (("pi", np.pi), ("pi/2", np.pi / 2), ("-1", -1.0)):
        out[f"states at t = {name}"], out[f"u_d at t = {name}"] = at(t)
    return out


def slowly():
    small, at = motion(0.2), motion(2.0)
    scale = np.array([2.4e-2, 8.8e-3, 1.2e-3, 6.0e-5])
    errors = np.array([preview(small, 0.2, -p, 8.0) for p in (2, 3, 5, 8)])
    off = regulated(0.2)
    return {
        "amplitude 0.2, open loop, preview of 2, 3, 5, 8 s: largest error, over 2.4e-2, 8.8e-3, 1.2e-3, 6.0e-5": errors
        / scale,
        "amplitude 2, open loop, preview of 2, 3, 5, 8 s: diverges at [s]": [
            preview(at, 2.0, -p, 6.0) for p in (2, 3, 5, 8)
        ],
        "regulator, amplitude 0.2, open loop: largest error up to 2 pi, and after": off,
        "regulator, amplitude 2, open loop: diverges at [s]": regulated(2.0)[1],
    }


def manifold():
    """Return x1, x2, x3 of the exosystem w' = S w, y = w3 - w1: x3 S = x1 - 2 x3, x1 = y + 3 x3, x2 = x1 S + x1."""
    S = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0.0]])
    y = np.array([-1, 0, 1.0])
    x3 = np.linalg.solve((S - np.eye(3)).T, y)  # x3 S = x3 + y
    x1 = y + 3 * x3
    return np.array([x1, x1 @ S + x1, x3])


def law(w):
    """Return the input on the manifold; x4 is quadratic in w."""
    S = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0.0]])
    pi = manifold()
    x1, x2, _ = pi @ w
    # x4 = w P w with 2 w P S w = -w P w + x3^2
    A = np.kron(np.eye(3), S.T) + np.kron(S.T, np.eye(3)) + np.eye(9)
    P = np.linalg.solve(A, np.outer(pi[2], pi[2]).ravel()).reshape(3, 3)
    return (pi[1] @ S @ w + 3 * x2 - x1**3) / (2 + np.sin(w @ P @ w) ** 2)


def regulated(a):
    def push(t):
        return law(a * np.array([np.cos(t), -np.sin(t), 1.0])) if t < END else 0.0

    given = {"method": "DOP853", "rtol": 1e-8, "atol": 1e-11, "max_step": 0.02, "events": far}
    first = solve_ivp(lambda t, x: rate(x, push(t)), (0, END), np.zeros(4), **given)
    if first.status == 1:
        return np.inf, first.t[-1]
    last = solve_ivp(lambda t, x: rate(x, 0.0), (END, 14), first.y[:, -1], **given)
    y, late = first.y[0] - 3 * first.y[2], last.y[0] - 3 * last.y[2]
    return np.abs(y - a * (1 - np.cos(first.t))).max(), np.abs(late).max()
