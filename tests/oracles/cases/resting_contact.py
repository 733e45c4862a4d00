"""A ball of 1 kg that falls 1 m and bounces with e = 0.8, one that 15 sin(t) N lift, a pendulum on a stop: closed forms."""

import numpy as np

G, E = 9.81, 0.8


def expected():
    fall = np.sqrt(2 / G)
    impacts = fall * (1 + 2 * np.cumsum([0, *E ** np.arange(1, 4)]))
    out = {}
    for method in ("rk4", "dormand_prince", "generalized_alpha"):
        out[f"{method}, e = 0.8: time of rest after a fall of 1 m [s]"] = fall * (1 + E) / (1 - E)
        out[f"{method}, e = 0.8: first four impacts [s]"] = impacts
        out[f"{method}, e = 0.8: height, speed and force of the floor at 6 s [m, m/s, N]"] = [0, 0, G]
    t0, t1 = np.arcsin(G / 15), 1.2
    d = t1 - t0
    height = -15 * (np.sin(t1) - np.sin(t0)) + 15 * np.cos(t0) * d - G * d**2 / 2
    return out | {
        "e = 0.8: energy lost in all impacts [J]": G,
        "lifted by 15 sin(t) N: time of release [s]": t0,
        "lifted by 15 sin(t) N: height at 1.2 s [m]": height,
        "pendulum on a stop at 30 deg: moment of the stop, largest change of the angle [N m, rad]": [
            G / 2,
            0,
        ],
    }
