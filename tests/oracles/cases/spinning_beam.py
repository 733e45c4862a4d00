"""Uniform beam of length, EI and mass per length one on a hub: exact clamped modes in the equations of Padilla & von Flotow 1989.

consistent: eta'' + (K + W^2 (H - 1)) eta = -F W', inconsistent: without H, ruthless: K alone.
"""

import numpy as np
from beam_shapes import clamped_roots, clamped_shape, gauss
from convected import Chain
from scipy.integrate import solve_ivp
from scipy.linalg import eigvals

SPINS = np.array([0.1, 0.3, 0.5, 0.9, 1.0, 2.0])


def integrals(modes):
    """Return squares of frequencies, H (spin), mu (push along the beam), F, E, deflections at the tip."""
    x, w = gauss()
    roots = clamped_roots(modes)
    shapes, slopes = (np.array([clamped_shape(b, x, k) for b in roots]) for k in (0, 1))
    H = (slopes * w * (1 - x**2) / 2) @ slopes.T
    mu = (slopes * w * (1 - x)) @ slopes.T
    return roots**4, H, mu, shapes @ (w * x), shapes @ w, np.array([clamped_shape(b, 1.0) for b in roots])


def stiffness(level, squares, H, spin):
    K = np.diag(squares)
    return (
        K
        + {"consistent": H - np.eye(len(H)), "inconsistent": -np.eye(len(H)), "ruthless": 0 * H}[level]
        * spin**2
    )


def first_squares(level):
    squares, H, *_ = integrals(4)
    spins = SPINS * np.sqrt(squares[0])
    return np.array([np.linalg.eigvalsh(stiffness(level, squares, H, s))[0] for s in spins]) / squares[0]


def buckling(modes):
    squares, _, mu, *_ = integrals(modes)
    loads = eigvals(np.diag(squares), mu).real
    return loads[loads > 0].min()


def hub(t, spin, up=20.0):
    """Return angle, rate and acceleration of the hub, spun up in 20 s."""
    w = 2 * np.pi / up
    if t >= up:
        return spin * (t - up / 2), spin, 0.0
    return (
        spin / up * (t * t / 2 + (np.cos(w * t) - 1) / w**2),
        spin / up * (t - np.sin(w * t) / w),
        spin / up * (1 - np.cos(w * t)),
    )


def exact(elements):
    """Return the largest deflection of an inextensible chain that is geometrically exact, spun up to twice omega1."""
    chain, n = Chain([[(1 / elements, 1 / elements, 1.0)] * elements]), elements + 1
    spin = 2 * clamped_roots(1)[0] ** 2

    def turned(t, x):
        theta, rate = x[:n].copy(), x[n:].copy()
        theta[0], rate[0], push = hub(t, spin)
        return theta, rate, push

    def rates(t, x):
        theta, rate, push = turned(t, x)
        return np.concatenate([rate, chain.accelerations(theta, rate, [0], [push])])

    t = np.linspace(0, 30, 3001)
    y = solve_ivp(rates, (0, 30), np.zeros(2 * n), "LSODA", rtol=1e-8, atol=1e-10, t_eval=t).y
    tips = [chain.tip(turned(time, x)[0] - hub(time, spin)[0])[1] for time, x in zip(t, y.T)]
    return np.abs(tips).max()


def deflection(level, spin):
    """Return the largest deflection of the tip of two modes in 30 s, spun up in 20 s."""
    squares, H, _, F, _, tip = integrals(2)
    spin = spin * np.sqrt(squares[0])

    def rate(t, x):
        _, W, dW = hub(t, spin)
        return np.concatenate([x[2:], -stiffness(level, squares, H, W) @ x[:2] - F * dW])

    y = solve_ivp(
        rate, (0, 30), np.zeros(4), "DOP853", rtol=1e-9, atol=1e-12, t_eval=np.linspace(0, 30, 6001)
    ).y
    return np.abs(tip @ y[:2]).max()


def expected():
    _, H, mu, F, E, _ = integrals(1)
    inconsistent = first_squares("inconsistent")
    levels = ("consistent", "inconsistent", "ruthless")
    return {
        "consistent: first frequency over that at rest, spin 0.1, 0.3, 0.5, 0.9, 1, 2 of it": np.sqrt(
            first_squares("consistent")
        ),
        "inconsistent: the same, spin 0.1, 0.3, 0.5, 0.9": np.sqrt(inconsistent[:4]),
        "inconsistent: square of the frequency at spin 1": inconsistent[4],
        "inconsistent: square of the frequency is negative at spin 2 (1 = yes)": inconsistent[5] < 0,
        "ruthless: the same, spin 0.1, 0.3, 0.5, 0.9, 1, 2": np.sqrt(first_squares("ruthless")),
        "mu11, eta11, E1, F1": [mu[0, 0], H[0, 0], E[0], F[0]],
        "buckling acceleration rho L^3 / EI, 1, 2, 3, 4, 6 modes": [buckling(n) for n in (1, 2, 3, 4, 6)],
        "buckling acceleration rho L^3 / EI, 20 modes": buckling(20),
        "spin-up to twice omega1 in 20 s: largest tip deflection over L, consistent": deflection(
            "consistent", 2.0
        ),
        "spin-up to twice omega1 in 20 s: largest tip deflection over L, ruthless": deflection(
            "ruthless", 2.0
        ),
        "the same, inconsistent: larger than the beam (1 = yes)": deflection("inconsistent", 2.0) > 1,
        "spin-up to 0.05 omega1: largest tip deflection over L, consistent, inconsistent, ruthless": [
            deflection(k, 0.05) for k in levels
        ],
    }


def slowly():
    sizes = {n: exact(n) for n in (4, 6, 8)}
    x = {n: 1 / n**2 for n in sizes}
    limit = sum(sizes[n] * np.prod([x[j] / (x[j] - x[n]) for j in x if j != n]) for n in x)
    return {
        "spin-up to twice omega1 in 20 s: largest tip deflection over L, consistent, beside a geometrically exact beam": limit
    }
