"""Caterpillar 215B excavator: inertia, gravity, one acceleration."""

import numpy as np

import articulus as art
from articulus.cases.open_loop import staggered_accelerations


def compute() -> dict:
    digger = art.load("cat215b")
    zero = np.zeros(4)
    M = digger.mass_matrix(zero)
    efforts = np.array([c.limits.effort[0] for c in digger.description.connections])
    hold = np.abs(digger.gravity(zero))
    return {
        "M(0), row 1 [kg m^2]": M[0],
        "M(0), rows 2-4 [kg m^2]": M[1:, 1:],
        "gravity torque at theta = 0 [N m]": digger.gravity(zero),
        "acceleration at theta_i = 0.1 i, velocity 0.2 i, no torque [rad/s^2]": staggered_accelerations(
            digger
        ),
        "effort limits of the model: cab, boom, stick, bucket [N m]": efforts,
        "actuators hold gravity at theta = 0 (1 = yes)": float(np.all(hold < efforts)),
    }
