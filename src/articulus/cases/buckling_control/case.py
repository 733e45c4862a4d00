"""A column held beyond its buckling load by piezoelectric layers: regulator, all loads below, modes left out."""

import warnings

import numpy as np

from articulus.motion.inversion.piezo import BeamModes, Column, PiezoLayers, buckling_control

WIDTH, THICK, LENGTH, YOUNG, DENSITY = 0.0254, 1e-3, 0.1524, 5e9, 1000.0
LAYER, YOUNG_P, D31 = 110e-6, 2e9, 23e-12
GAUGE, DAMPING, ALPHA = 0.01e6, 0.01, 0.05
"""Gauge [V per unit strain], damping ratio of every mode without load, weight of the output."""
EI, LINE = YOUNG * WIDTH * THICK**3 / 12, DENSITY * WIDTH * THICK


def compute() -> dict:
    modes = BeamModes.simply_supported(LENGTH, EI=EI, mass_per_length=LINE, modes=11, damping=DAMPING)
    layers = PiezoLayers(WIDTH, THICK, YOUNG, LAYER, YOUNG_P, D31)
    column = Column(modes, layers.section_gain, (LENGTH / 3, 2 * LENGTH / 3), 2 * GAUGE * (THICK / 2 + LAYER))
    most = 4.1 * column.buckling_loads[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mode 2, which the layers do not reach, buckles at 4 Euler loads
        design = buckling_control(column, most, weight=ALPHA)
    A, _ = column.matrices(most, (1, 5))
    opened = np.linalg.eigvals(A)
    mass = np.sqrt(LINE)
    k_s = column.output[0] * mass / np.sqrt(3.0)
    K = design.gain[0] * mass  # modal coordinates of the source are without the mass
    return {
        "first and second Euler load [N]": column.buckling_loads[:2],
        "frequencies of modes 1 and 5 without load [rad/s]": modes.omega[[0, 4]],
        "k* [1e-7 N m/V] and k_s [1e4]": [layers.section_gain / 2 / 1e-7, k_s / 1e4],
        "modes that the layers reach and the gauges see": design.modes,
        "open loop at 4.1 Euler loads: real poles [1/s]": np.sort(opened[np.abs(opened.imag) < 1].real),
        "gain [1e7, 1e5, 1e8, 1e5]": K / [1e7, 1e5, 1e8, 1e5],
        "closed loop at 4.1 Euler loads: largest real part [1/s]": design.slowest[-1],
        "closed loop: largest real part over all loads up to there [1/s]": design.slowest.max(),
        "coefficients of the characteristic polynomial are monotone in the load (1 = yes)": design.monotone,
        "Kharitonov polynomials are all stable (1 = yes)": design.family.stable,
        "with modes 7 and 11, fed back through an ideal filter: largest real part [1/s]": design.spillover,
        "load at which mode 2, which the layers do not reach, buckles [Euler loads]": design.limit / column.buckling_loads[0],
    }  # fmt: skip
