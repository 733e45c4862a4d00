"""Caterpillar 215B: data of section 5.2 and table 5.2 of Wong 1991."""

import numpy as np
from rigid_arms import Arm

ARM = Arm(
    twist=[0, 90, 0, 0],
    mass=[8031, 1830, 688, 512],
    inertia=[[8000, 8000, 15700], [100, 15400, 15400], [10, 600, 600], [130, 130, 130]],
    k=[[-1.05, 0.04, -0.5], [-2.3, -0.2, 0], [-0.9, -0.1, 0], [-0.5, -0.5, 0]],
    hinge=[[0, 0, 0], [0.35, -0.12, 0.5], [2.9, -0.2, 0], [0.9, -0.1, 0]],
    parent=[-1, 0, 1, 2],
)
PRESSURE, GEAR, MOTOR = np.array([4000, 7000, 4000, 4000]), np.array([307, 545, 220, 250]), 0.7


def expected():
    M, weight = ARM.equations(np.zeros(4), np.zeros(4))
    most = PRESSURE * MOTOR / 8 * GEAR
    return {
        "M(0), row 1 [kg m^2]": M[0],
        "M(0), rows 2-4 [kg m^2]": M[1:, 1:],
        "gravity torque at theta = 0 [N m]": weight,
        "acceleration at theta_i = 0.1 i, velocity 0.2 i, no torque [rad/s^2]": ARM.staggered(),
        "effort limits of the model: cab, boom, stick, bucket [N m]": most,
        "actuators hold gravity at theta = 0 (1 = yes)": (most > np.abs(weight)).all(),
    }
