"""PUMA 600: torques of a smooth motion, played back open loop."""

import numpy as np

import articulus as art
from articulus.cases.open_loop import extreme, growth_rate, replay, staggered_accelerations, torques

PERIOD = 10.0


def compute() -> dict:
    arm = art.load("puma600")
    return {
        **instants(arm),
        "M(0) [kg m^2]": arm.mass_matrix(np.zeros(6)),
        "acceleration at theta_i = 0.1 i, velocity 0.2 i, no torque [rad/s^2]": staggered_accelerations(arm),
        "growth rate at theta = 0 [1/s]": growth_rate(arm, 0.0),
        "growth rate at theta = pi [1/s]": growth_rate(arm, np.pi),
        **run(arm),
    }


def instants(arm: art.Mechanism) -> dict:
    out = {}
    for t in (0.0, 2.5, 5.0, 7.5, 10.0):
        tau = torques(arm, t, PERIOD)
        out[f"torque 1-3 at t = {t:g} s [N m]"] = tau[:3]
        out[f"torque 4-6 at t = {t:g} s [N m]"] = tau[3:]
    return out


def run(arm: art.Mechanism) -> dict:
    _, position, velocity, acceleration = replay(arm, PERIOD, 0.01)
    coarse = np.abs(replay(arm, PERIOD, 0.02)[1]).max(axis=0)
    largest = np.abs(position).max(axis=0)
    peaks = [extreme(e[:, 5]) for e in (position, velocity, acceleration)]
    return {
        "joint 6, error of position, h = 0.01 s [deg]": peaks[0],
        "joint 6, error of velocity, h = 0.01 s [deg/s]": peaks[1],
        "joint 6, error of acceleration, h = 0.01 s [deg/s^2]": peaks[2],
        "joints 1, 2, 4, 6: largest error, h = 0.01 s [deg]": largest[[0, 1, 3, 5]],
        "joints 3, 5: largest error, h = 0.01 s [deg]": largest[[2, 4]],
        "joint 6: largest error, h = 0.02 s [deg]": coarse[5],
        "joint 6: error at h = 0.02 s over error at h = 0.01 s": coarse[5] / largest[5],
    }
