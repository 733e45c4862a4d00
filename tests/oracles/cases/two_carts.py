"""Characteristic polynomial of the carts with 100 ((s + 1) / (s / 1000 + 1))^3, the states of which are slow and fast: 30 digits."""

import mpmath as mp
from scipy.optimize import brentq

mp.mp.dps = 30


def times(p, q):
    out = [mp.mpf(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            out[i + j] += a * b
    return out


def slowest(k, m1, m2):
    """Return the largest real part of the roots."""
    k, m1, m2 = map(mp.mpf, (k, m1, m2))
    fast, lead = [mp.mpf(1) / 1000, mp.mpf(1)], [mp.mpf(1), mp.mpf(1)]
    filtered = times(times(fast, fast), fast)
    carts = times([m1 * m2, 0, k * (m1 + m2), 0, 0], filtered)
    push = [100 * k * c for c in times(times(lead, lead), lead)]
    whole = carts[: -len(push)] + [a + b for a, b in zip(carts[-len(push) :], push)]
    return float(max(r.real for r in mp.polyroots(whole[::-1], maxsteps=500, extraprec=120, asc=True)))


def expected():
    x = brentq(lambda x: slowest(1 + 0.2 * x, 1 - 0.2 * x, 1 - 0.2 * x), 2.5, 3.2, xtol=1e-10)
    return {
        "least change that destabilizes, in parts of 20 %": x,
        "stiffness there": 1 + 0.2 * x,
        "m1 and m2 there": [1 - 0.2 * x] * 2,
        "least stiffness that is borne with m1 = m2 = 1": brentq(
            lambda k: slowest(k, 1, 1), 0.005, 0.5, xtol=1e-10
        ),
        "largest stiffness that is borne with m1 = m2 = 1": brentq(
            lambda k: slowest(k, 1, 1), 2.0, 12.0, xtol=1e-10
        ),
    }
