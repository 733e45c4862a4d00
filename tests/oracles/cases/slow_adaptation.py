"""The mean of phi phi_lag' over a period is half a rotation by the lag."""

import numpy as np


def expected():
    lag = np.radians(50)
    return {
        "averaged equilibrium": [0.7, -0.4],
        "averaged rates, error signal 50 deg late: real part and size of the imaginary part": [
            -np.cos(lag) / 2,
            np.sin(lag) / 2,
        ],
        "largest gain of the sampled law by averaging": 4 * np.cos(lag),
        "run with gain 0.02: decay over the gain": -np.cos(lag) / 2,
    }
