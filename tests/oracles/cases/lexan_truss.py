"""Links of Devasia & Bayo 1994: ten Hermite elements with 2 kg spread along them and their tip loads; moment of the stacks."""

import numpy as np
from beam_shapes import hermite
from scipy.linalg import eigh


def first(load):
    K, M = hermite(1.2, 7e9 * 4.7244e-9, 2.0 / 1.2 + 1500.0 * 4.378e-5, 10)
    M[-2, -2] += load
    return np.sqrt(eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True)[0]) / (2 * np.pi)


def expected():
    moment = 0.731e-6 * 4 * 73e9 * 7.3e-6 * 1.27e-2
    return {
        "moment of the four stacks of a span by voltage [N m/V]": moment,
        "the same, more digits": moment,
        "first frequencies of links 1 and 2, clamped [Hz]": [first(3.5), first(1.0)],
    }
