"""Column of Meressi & Paden 1993: modal model, regulator at 4.1 Euler loads, the loads below, modes 7 and 11."""

import numpy as np
from scipy.linalg import solve_continuous_are

WIDTH, THICK, L, YOUNG, DENSITY = 0.0254, 1e-3, 0.1524, 5e9, 1000.0
LAYER, YOUNG_P, D31, GAUGE, ZETA, ALPHA = 110e-6, 2e9, 23e-12, 1e4, 0.01, 0.05
EI, LINE = YOUNG * WIDTH * THICK**3 / 12, DENSITY * WIDTH * THICK
PUSH = WIDTH * YOUNG_P * D31 * (THICK / 2 + LAYER / 2)
SENSE = 2 * np.sqrt(2 / L) * GAUGE * (THICK / 2 + LAYER) * np.pi**2 / L**2


def square(n, P):
    wave = (n * np.pi / L) ** 2
    return wave * (EI * wave - P) / LINE


def plant(P, modes):
    A, B = np.zeros((2 * len(modes), 2 * len(modes))), np.zeros((2 * len(modes), 1))
    for k, n in enumerate(modes):
        A[2 * k, 2 * k + 1] = 1
        A[2 * k + 1, 2 * k : 2 * k + 2] = -square(n, P), -2 * ZETA * np.sqrt(square(n, 0))
        B[2 * k + 1] = -4 * n * np.pi * PUSH / (LINE * L) * np.sqrt(2 / L)
    return A, B


def expected():
    euler = EI * (np.pi / L) ** 2
    A, B = plant(4.1 * euler, (1, 5))
    seen = SENSE * np.sqrt(3) * np.array([[1, 0, -25, 0], [0, 1, 0, -25]])
    K = B.T @ solve_continuous_are(A, B, ALPHA * seen.T @ seen, np.eye(1))

    def slowest(P, modes=(1, 5)):
        A, B = plant(P, modes)
        gain = np.hstack([K, np.zeros((1, 2 * len(modes) - 4))])
        return np.linalg.eigvals(A - B @ gain).real.max()

    opened = np.linalg.eigvals(A)
    return {
        "first and second Euler load [N]": [euler, 4 * euler],
        "frequencies of modes 1 and 5 without load [rad/s]": np.sqrt([square(1, 0), square(5, 0)]),
        "k* [1e-7 N m/V] and k_s [1e4]": [PUSH / 1e-7, SENSE / 1e4],
        "open loop at 4.1 Euler loads: real poles [1/s]": np.sort(opened[np.abs(opened.imag) < 1].real),
        "gain [1e7, 1e5, 1e8, 1e5]": K[0] / [1e7, 1e5, 1e8, 1e5],
        "closed loop at 4.1 Euler loads: largest real part [1/s]": slowest(4.1 * euler),
        "closed loop: largest real part over all loads up to there [1/s]": max(
            slowest(P) for P in np.linspace(0, 4.1 * euler, 83)
        ),
        "with modes 7 and 11, fed back through an ideal filter: largest real part [1/s]": slowest(
            4.1 * euler, (1, 5, 7, 11)
        ),
    }
