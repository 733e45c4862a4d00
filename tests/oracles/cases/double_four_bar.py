"""Two four-bar linkages of Bayo & Avello 1994 that move as one angle: five rods of 1 m and 1 kg, (3 / 2 + 2) g cos / (3 / 3 + 2)."""

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def expected():
    # three rods turn (3 (1/3) / 2), two translate (2 / 2): T = 3/2 theta'^2; weights at (3/2 + 2) sin theta
    def level(_, x):
        return np.sin(x[0])

    start = [np.pi / 2, -1.0]
    run = solve_ivp(
        lambda t, x: [x[1], -3.5 * G / 3 * np.cos(x[0])],
        (0, 10),
        start,
        "DOP853",
        rtol=1e-12,
        atol=1e-12,
        events=level,
    )
    end = [np.cos(run.y[0, -1]), np.sin(run.y[0, -1])]
    out = {"energy [J]": 1.5 + 3.5 * G, "ALF2, frequency 10: (x1, y1)(10 s) [m]": end}
    for form in ("augmented (ALF1)", "regularized"):
        out[f"{form}, frequency 20: passages [s]"] = run.t_events[0]
        out[f"{form}, frequency 20: (x1, y1)(10 s) [m]"] = end
    return out
