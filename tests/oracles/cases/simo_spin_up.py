"""Beam of Simo & Vu-Quoc 1987 spun up to 6 rad/s in 15 s: convected chains of 4 and 8 elements; formulas at rest and at speed."""

import numpy as np
from convected import Chain
from scipy.integrate import solve_ivp

L, LINE, EI, EA = 10.0, 1.2, 1.4e4, 2.8e7


def hub(t):
    """Return angle, rate and acceleration of the hub."""
    if t >= 15:
        return 6 * t - 45, 6.0, 0.0
    w = 2 * np.pi / 15
    return (
        0.4 * (t * t / 2 + (np.cos(w * t) - 1) / w**2),
        0.4 * (t - np.sin(w * t) / w),
        0.4 * (1 - np.cos(w * t)),
    )


def lag(elements):
    """Return times and the deflection of the tip in hub axes."""
    chain = Chain([[(L / elements, LINE * L / elements, EI)] * elements])
    n = elements + 1

    def rate(t, x):
        theta, speed = x[:n].copy(), x[n:].copy()
        theta[0], speed[0], push = hub(t)
        return np.concatenate([speed, chain.accelerations(theta, speed, [0], [push])])

    t = np.linspace(0, 20, 2001)
    x = solve_ivp(rate, (0, 20), np.zeros(2 * n), "LSODA", rtol=1e-8, atol=1e-10, t_eval=t).y
    out = []
    for k, time in enumerate(t):
        psi = hub(time)[0]
        theta = x[:n, k].copy()
        theta[0] = psi
        place = chain.tip(theta)
        out.append(np.cos(psi) * place[1] - np.sin(psi) * place[0])
    return t, np.array(out)


def expected():
    k = 6 * L * np.sqrt(LINE / EA)
    return {
        "first frequency at rest [rad/s]": 1.8751040687**2 * np.sqrt(EI / LINE) / L**2,
        "stretch at 6 rad/s [m]": L * (np.tan(k) / k - 1),
    }


def slowly():
    out = {}
    for n in (4, 8):
        t, u = lag(n)
        out[f"chain of {n}: largest lag of the tip [m]"] = u.min()
        out[f"chain of {n}: time of the largest lag [s]"] = t[u.argmin()]
        out[f"chain of {n}: largest motion after 16 s [m]"] = np.abs(u[t > 16]).max()
    return out
