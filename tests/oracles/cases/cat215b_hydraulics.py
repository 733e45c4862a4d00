"""Actuators of the Caterpillar 215B: eqs. of section 5.4.2 and table 5.2 of Wong 1991, by hand."""

import numpy as np

PRESSURE, GEAR, MOTOR = np.array([4000, 7000, 4000, 4000]), np.array([307, 545, 220, 250]), 0.7


def expected():
    half = np.sqrt(
        PRESSURE[0] / 2
    )  # without load the motor takes what both orifices let through at the same drop
    return {
        "largest torque: cab, boom, stick, bucket [N m]": PRESSURE * MOTOR / 8 * GEAR,
        "no-load speed of the cab motor at full opening [rad/s]": 26 * 0.05 * half / (MOTOR * GEAR[0]),
    }
