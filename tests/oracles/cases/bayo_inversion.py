"""Torque of the link of `bayo_link` for a motion of its tip, in the frequency domain."""

import numpy as np
from bayo_link import inverse, rigid_peak, zeros


def support(t, tau):
    acting = t[np.abs(tau) > 1e-3 * np.abs(tau).max()]
    return [acting[0], acting[-1]]


def expected():
    (t, fast), (_, slow) = inverse(0.5), inverse(1.0)
    return {
        "zeros from torque to tip [1/s]": np.sqrt(zeros()[:2]),
        "largest torque, path in 0.5 s and in 1 s [N m]": [np.abs(fast).max(), np.abs(slow).max()],
        "torque above 0.1 % of its peak, path in 0.5 s: first and last time [s]": support(t, fast),
        "largest torque of the rigid link, path in 0.5 s and in 1 s [N m]": [
            rigid_peak(0.5),
            rigid_peak(1.0),
        ],
    }
