"""A column held beyond its buckling load by piezoelectric layers: regulator, all loads below, modes left out."""

import numpy as np

from articulus.control import kharitonov, lqr

WIDTH, THICK, LENGTH, YOUNG, DENSITY = 0.0254, 1e-3, 0.1524, 5e9, 1000.0
LAYER, YOUNG_P, D31 = 110e-6, 2e9, 23e-12
GAUGE, DAMPING, ALPHA = 0.01e6, 0.01, 0.05
"""Gauge [V per unit strain], damping ratio of every mode without load, weight of the output."""

EI, LINE = YOUNG * WIDTH * THICK**3 / 12, DENSITY * WIDTH * THICK
COUPLING = WIDTH * YOUNG_P * D31 * (THICK / 2 + LAYER / 2)
SENSOR = 2 * np.sqrt(2 / LENGTH) * GAUGE * (THICK / 2 + LAYER) * np.pi**2 / LENGTH**2
EULER = EI * np.pi**2 / LENGTH**2


def column(modes: tuple[int, ...], load: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, B) of some modes under a load [N]; damping forces are those without load."""
    n = np.array(modes)
    wave = n * np.pi / LENGTH
    square = wave**2 * (EI * wave**2 - load) / LINE
    free = wave**2 * np.sqrt(EI / LINE)
    A = np.zeros((2 * len(n), 2 * len(n)))
    for k in range(len(n)):
        A[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[0, 1], [-square[k], -2 * DAMPING * free[k]]]
    B = np.zeros((2 * len(n), 1))
    B[1::2, 0] = -4 * n * np.pi * COUPLING / (LINE * LENGTH) * np.sqrt(2 / LENGTH)
    return A, B


def compute() -> dict:
    most = 4.1 * EULER
    A, B = column((1, 5), most)
    root = np.sqrt(3.0)
    C = SENSOR * np.array([[root, 0, -25 * root, 0], [0, root, 0, -25 * root]])
    design = lqr((A, B), ALPHA * C.T @ C, 1.0)
    K = design.gain
    loads = np.linspace(0.0, most, 83)
    below = [np.linalg.eigvals(column((1, 5), P)[0] - B @ K).real.max() for P in loads]
    A4, B4 = column((1, 5, 7, 11), most)
    wide = np.hstack([K, np.zeros((1, 4))])
    polynomials = np.array([np.real(np.poly(column((1, 5), P)[0] - B @ K)) for P in loads])
    family = kharitonov(polynomials.min(axis=0), polynomials.max(axis=0))
    steps = np.diff(polynomials[:, 1:], axis=0)
    return {
        "first and second Euler load [N]": [EULER, 4 * EULER],
        "frequencies of modes 1 and 5 without load [rad/s]": [(np.pi / LENGTH) ** 2 * np.sqrt(EI / LINE), (5 * np.pi / LENGTH) ** 2 * np.sqrt(EI / LINE)],
        "k* and k_s, relative to the reference": [COUPLING / 6.48462e-7, SENSOR / 18780.7],
        "open loop at 4.1 Euler loads: real poles [1/s]": np.sort(np.linalg.eigvals(A)[np.abs(np.linalg.eigvals(A).imag) < 1].real),
        "gain, relative to the reference": K[0] / np.array([-6.6488e7, -1.37079e5, -1.79255e8, -1.75971e5]),
        "closed loop at 4.1 Euler loads: largest real part [1/s]": design.poles.real.max(),
        "closed loop: largest real part over all loads up to there [1/s]": max(below),
        "coefficients of the characteristic polynomial are monotone in the load (1 = yes)": bool(((steps >= -1e-9 * np.abs(polynomials[1:, 1:])).all(axis=0) | (steps <= 1e-9 * np.abs(polynomials[1:, 1:])).all(axis=0)).all()),
        "Kharitonov polynomials are all stable (1 = yes)": family.stable,
        "with modes 7 and 11, fed back through an ideal filter: largest real part [1/s]": np.linalg.eigvals(A4 - B4 @ wide).real.max(),
    }  # fmt: skip
