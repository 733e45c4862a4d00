"""PUMA 600: data of tables 3.4 and eqs. 3.41, 3.42 of Wong 1991; CG vectors k and l after eq. 3.40."""

import numpy as np
from rigid_arms import Arm, profile, replay

ARM = Arm(
    twist=[0, -90, 0, 90, -90, 90],
    mass=[10.521, 15.781, 8.767, 1.052, 1.052, 0.351],
    inertia=[
        [1.6120, 0.5091, 1.6120],
        [0.4898, 8.0783, 8.2672],
        [3.3768, 0.3009, 3.3768],
        [0.1810, 0.1810, 0.1273],
        [0.0735, 0.0735, 0.1273],
        [0.0071, 0.0071, 0.0141],
    ],
    k=[[0, 0.054, 0], [-0.14, 0, 0], [0, 0.197, 0], [0, 0, 0.057], [0, 0.007, 0], [0, 0, 0.019]],
    hinge=[[0, 0, 0], [0, 0.203, 0], [0.292, 0, 0], [0.02, -0.235, 0], [0, 0, 0.057], [0, -0.049, 0]],
    parent=[-1, 0, 1, 2, 3, 4],
)
PERIOD = 10.0


def expected():
    out = {}
    for t in (0.0, 2.5, 5.0, 7.5, 10.0):
        tau = ARM.torques(*profile(t, PERIOD, 6))
        out[f"torque 1-3 at t = {t:g} s [N m]"], out[f"torque 4-6 at t = {t:g} s [N m]"] = tau[:3], tau[3:]
    return out | {
        "M(0) [kg m^2]": ARM.equations(np.zeros(6), np.zeros(6))[0],
        "acceleration at theta_i = 0.1 i, velocity 0.2 i, no torque [rad/s^2]": ARM.staggered(),
        "growth rate at theta = 0 [1/s]": ARM.growth_rate(0.0),
        "growth rate at theta = pi [1/s]": ARM.growth_rate(np.pi),
    }


def slowly():
    position, velocity, acceleration = replay(ARM, PERIOD, 0.01)
    coarse = np.abs(replay(ARM, PERIOD, 0.02)[0]).max(0)
    largest = np.abs(position).max(0)
    peaks = [e[np.abs(e[:, 5]).argmax(), 5] for e in (position, velocity, acceleration)]
    return {
        "joint 6, error of position, h = 0.01 s [deg]": peaks[0],
        "joint 6, error of velocity, h = 0.01 s [deg/s]": peaks[1],
        "joint 6, error of acceleration, h = 0.01 s [deg/s^2]": peaks[2],
        "joints 1, 2, 4, 6: largest error, h = 0.01 s [deg]": largest[[0, 1, 3, 5]],
        "joints 3, 5: largest error, h = 0.01 s [deg]": largest[[2, 4]],
        "joint 6: largest error, h = 0.02 s [deg]": coarse[5],
        "joint 6: error at h = 0.02 s over error at h = 0.01 s": coarse[5] / largest[5],
    }
