"""A double integrator whose acceleration -100 q - 20 v is held for a period."""

import numpy as np


def step(T):
    return np.array([[1 - 50 * T**2, T - 10 * T**2], [-100 * T, 1 - 20 * T]])


def expected():
    return {
        "one link: eigenvalues of a period of 0.1 s [-]": np.sort(np.linalg.eigvals(step(0.1)).real),
        "one link: spectral radius at 20, 50, 100 Hz [-]": [
            np.abs(np.linalg.eigvals(step(1 / f))).max() for f in (20, 50, 100)
        ],
    }
