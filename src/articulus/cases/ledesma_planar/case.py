"""Joint torques that move the tip of the arm and the end point of the five-bar linkage, proved by forward simulation."""

import numpy as np

import articulus as art
from articulus.cases.ledesma_planar.models import arm, five_bar
from articulus.motion.inversion import Inversion, Line, Profile, tip_torques
from articulus.motion.inversion.arms import forward

JOINTS = ("shoulder", "elbow")
STROKE = Line(
    (0.5, 0.3), (0.983, 0.3), Profile(1.0, law="sine")
)  # m, s; 0.483 m as printed, the rest assumed
SMALL = 1e-3
"""Share of 0.7 rad at which the link alone is linear."""


def compute() -> dict:
    return one_link() | open_chain() | closed_chain()


def one_link() -> dict:
    """Return results of the outer link alone, beside those of a linear program in the frequency domain."""
    link = art.load("bayo_link")
    path = Line((0.0,), (SMALL * 0.7 * 0.66,), Profile(0.5, law="sine"))
    found = tip_torques(link, "tip", path, ["hinge"], outputs=("y",))
    zeros = found.figures["zeros"]
    return {
        "link 2 alone: slowest zeros, squared [1/s^2]": np.unique((zeros**2).real.round(1))[:2],
        "link 2 alone, 0.7 mrad in 0.5 s: peak torque, times 1000 [N m]": np.abs(found.inputs).max() / SMALL,
        "the same for a rigid link [N m]": np.abs(found.figures["rigid_inputs"]).max() / SMALL,
        "the same: the torque begins and ends [s]": found.support,
    }


def open_chain() -> dict:
    plain = arm()
    start = {"shoulder": -0.6, "elbow": 2.2}
    found = tip_torques(plain, "tip", STROKE, JOINTS, guess=start)
    other = tip_torques(plain, "tip", STROKE, JOINTS, guess=start, method="fixed_point")
    off, rigid = (error(plain, found, inputs) for inputs in (None, found.figures["rigid_inputs"]))
    finer = error(arm(3), found)
    apart = np.abs(found.inputs - other.inputs).max() / np.abs(found.inputs).max()
    return {
        "arm: Newton and fixed point agree to 1e-6 of the largest torque (1 if so)": apart < 1e-6,
        "arm: inverse torques move the tip to 1e-9 m, all checks hold (1 if so)": off.max() < 1e-9
        and found.ok,
        "arm: torques begin before and end after the motion (1 if so)": found.pre > 0.05
        and found.post > 0.05,
        "arm: rigid torques are off by 10 mm and leave 1 mm of vibration (1 if so)": rigid.max() > 0.01
        and np.ptp(rigid[found.t > found.t_end], axis=0).max() > 1e-3,
        "arm of 3 modes a link under the torques of 2: off by a tenth of that at most (1 if so)": finer.max()
        < 0.1 * rigid.max(),
    }


def closed_chain() -> dict:
    plain = five_bar()
    start = {"joint1": 2.2, "joint2": -1.4, "joint3": 0.9, "joint4": 1.4}
    path = Line((0.32, 0.83), (0.47, 0.98), Profile(1.0, law="sine"))
    found = tip_torques(plain, "tip", path, ("joint1", "joint3"), guess=start)
    off, rigid = (error(plain, found, inputs) for inputs in (None, found.figures["rigid_inputs"]))
    return {
        "five-bar: inverse torques move the end point to 1e-9 m, all checks hold (1 if so)": off.max() < 1e-9
        and found.ok,
        "five-bar: rigid torques are off by 10 mm (1 if so)": rigid.max() > 0.01,
    }


def error(mechanism: art.Mechanism, found: Inversion, inputs: np.ndarray | None = None) -> np.ndarray:
    """Return how far the outputs are off under the torques of the inverse, or under others, (N, 2) [m]."""
    return np.abs(forward(mechanism, found, inputs=inputs).outputs - found.outputs)
