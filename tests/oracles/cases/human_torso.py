"""Human torso: data of eqs. 3.45 to 3.48 of Wong 1991, as printed."""

import numpy as np
from rigid_arms import Arm, profile, replay

PERIOD = 5.0
P3, Q3, P4, Q4 = (
    2.8 * 0.05**2 / 2,
    2.8 * (0.05**2 / 4 + 0.45**2 / 12),
    1.4 * 0.05**2 / 2,
    1.4 * (0.05**2 / 4 + 0.4**2 / 12),
)
HEAD = 0.4 * 5.0 * 0.12**2


def torso(symmetric=False):
    left = [[Q3, P3, Q3], [Q4, P4, Q4]] if symmetric else [[P3, Q3, Q3], [P4, Q4, Q4]]
    return Arm(
        twist=[0, -90, 90, 0, -90, 0],
        mass=[41.0, 5.0, 2.8, 1.4, 2.8, 1.4],
        inertia=[[2.7, 0.40, 2.7], [HEAD] * 3, [Q3, P3, Q3], [Q4, P4, Q4], *left],
        k=[[0, 0, -0.42], [0, 0.12, 0], [0, 0.2, 0], [0, 0.2, 0], [0, -0.2, 0], [0, -0.2, 0]],
        hinge=[[0, 0, 0], [0, 0, 0.242], [0.15, 0, 0.15], [0, -0.25, 0], [-0.15, 0, 0.15], [0, 0.25, 0]],
        parent=[-1, 0, 0, 2, 0, 4],
    )


def expected():
    arm = torso()
    out = {f"torque at t = {t} s [N m]": arm.torques(*profile(t, PERIOD, 6)) for t in (1.25, 2.5, 3.75)}
    return out | {
        "M(0) [kg m^2]": arm.equations(np.zeros(6), np.zeros(6))[0],
        "acceleration at theta_i = 0.1 i, velocity 0.2 i, no torque [rad/s^2]": arm.staggered(),
        "growth rate at theta = pi [1/s]": arm.growth_rate(np.pi),
        "symmetric arms: torque 1, 3, 4 at t = 1.25 s [N m]": torso(True).torques(*profile(1.25, PERIOD, 6))[
            [0, 2, 3]
        ],
    }


def slowly():
    arm = torso()
    position, velocity, acceleration = replay(arm, PERIOD, 0.001)
    largest = np.abs(position).max(0)
    return {
        "joint 6, final error of position, h = 0.001 s [deg]": position[-1, 5],
        "joint 6, final error of velocity, h = 0.001 s [deg/s]": velocity[-1, 5],
        "joint 6, final error of acceleration, h = 0.001 s [deg/s^2]": acceleration[-1, 5],
        "joints 1, 2: largest error, h = 0.001 s [deg]": largest[:2],
        "joints 3-6: largest error, h = 0.001 s [deg]": largest[2:],
        "h = 0.01 s loses the motion, error over 90 deg (1 = yes)": np.abs(replay(arm, PERIOD, 0.01)[0]).max()
        > 90,
    }
