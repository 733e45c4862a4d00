"""Human torso: a branched mechanism, torques and open-loop run."""

import dataclasses

import numpy as np

import articulus as art
from articulus.cases.open_loop import extreme, growth_rate, replay, staggered_accelerations, torques
from articulus.model.mechanism import Description

PERIOD = 5.0
LIKE = {"left_upper_arm": "right_upper_arm", "left_lower_arm": "right_lower_arm"}


def compute() -> dict:
    torso = art.load("human_torso")
    return {
        **{f"torque at t = {t} s [N m]": torques(torso, t, PERIOD) for t in (1.25, 2.5, 3.75)},
        "M(0) [kg m^2]": torso.mass_matrix(np.zeros(6)),
        "acceleration at theta_i = 0.1 i, velocity 0.2 i, no torque [rad/s^2]": staggered_accelerations(
            torso
        ),
        "growth rate at theta = pi [1/s]": growth_rate(torso, np.pi),
        **run(torso),
        **symmetry(symmetric(torso.description)),
    }


def run(torso: art.Mechanism) -> dict:
    _, *errors = replay(torso, PERIOD, 0.001)
    largest = np.abs(errors[0]).max(axis=0)
    lost = replay(torso, PERIOD, 0.01)[1]
    return {
        "joint 6, final error of position, h = 0.001 s [deg]": errors[0][-1, 5],
        "joint 6, final error of velocity, h = 0.001 s [deg/s]": errors[1][-1, 5],
        "joint 6, final error of acceleration, h = 0.001 s [deg/s^2]": errors[2][-1, 5],
        "joints 1, 2: largest error, h = 0.001 s [deg]": largest[:2],
        "joints 3-6: largest error, h = 0.001 s [deg]": largest[2:],
        "h = 0.01 s loses the motion, error over 90 deg (1 = yes)": float(abs(extreme(lost.ravel())) > 90),
    }


def symmetric(torso: Description) -> art.Mechanism:
    """Return the torso with the left arm's inertias as the right arm's."""
    right = {b.name: b.inertia for b in torso.bodies}
    bodies = tuple(dataclasses.replace(b, inertia=right[LIKE.get(b.name, b.name)]) for b in torso.bodies)
    return art.Mechanism.from_description(dataclasses.replace(torso, bodies=bodies))


def symmetry(torso: art.Mechanism) -> dict:
    tau = torques(torso, np.linspace(0, PERIOD, 41), PERIOD)
    at = torques(torso, 1.25, PERIOD)
    return {
        "symmetric arms: torque 1, 3, 4 at t = 1.25 s [N m]": at[[0, 2, 3]],
        "symmetric arms: largest torque 5 - torque 3, torque 6 - torque 4 [N m]": np.abs(
            tau[:, 4:] - tau[:, 2:4]
        ).max(axis=0),
    }
