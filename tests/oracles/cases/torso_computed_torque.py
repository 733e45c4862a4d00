"""Computed torque leaves q'' = q_d'' + kd e' + kp e of every joint, whatever the arm: RK4 on it, h = 0.01 s; kp = 100, kd = 20."""

import numpy as np
from human_torso import PERIOD, torso
from rigid_arms import profile, replay


def expected():
    h, x, worst = 0.01, np.zeros(2), 0.0

    def rate(t, x):
        q, v, a = (float(f[0]) for f in profile(t, PERIOD, 1))
        return np.array([x[1], a + 20 * (v - x[1]) + 100 * (q - x[0])])

    for k in range(500):
        t = k * h
        a = rate(t, x)
        b = rate(t + h / 2, x + h / 2 * a)
        c = rate(t + h / 2, x + h / 2 * b)
        d = rate(t + h, x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
        worst = max(worst, abs(x[0] - profile(t + h, PERIOD, 1)[0][0]))
    return {
        "computed torque at h = 0.01 s: largest position error [1e-7 deg]": 1e7 * np.degrees(worst),
    }


def slowly():
    lost = np.abs(replay(torso(), PERIOD, 0.01)[0]).max() > 300
    return {"open loop at h = 0.01 s: largest position error over 300 deg (1 = yes)": lost}
