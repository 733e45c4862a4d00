"""Statics of a polygon of beads, and the elastic catenary; span 10 m, length 12 m, EA = 5000 N, 1 kg/m."""

import numpy as np
from scipy.optimize import brentq

SPAN, L, EA, G = 10.0, 12.0, 5000.0, 9.81
W = L * G


def polygon(n):
    V = W / n * (np.arange(n) - (n - 1) / 2)

    def parts(H):
        T = np.hypot(H, V)
        return L / n * (1 + T / EA) / T

    H = brentq(lambda H: (parts(H) * H).sum() - SPAN, 1.0, 1e3, xtol=1e-13)
    return [H, -(parts(H) * V)[: n // 2].sum()]


def expected():
    H = brentq(lambda H: H * L / EA + 2 * H / G * np.arcsinh(W / (2 * H)) - SPAN, 1.0, 1e3, xtol=1e-13)
    sag = W * L / (8 * EA) + H / G * (np.sqrt(1 + (W / (2 * H)) ** 2) - 1)
    return {
        "8 parts: horizontal tension [N] and sag [m]": polygon(8),
        "6, 8 and 10 parts, extrapolated: horizontal tension [N]": H,
        "6, 8 and 10 parts, extrapolated: sag [m]": sag,
    }
