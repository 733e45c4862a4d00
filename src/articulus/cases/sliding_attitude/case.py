"""A hub with four flexible booms follows a slew of 90 degrees by a sliding mode; its bound is the reaction of the booms, by their modes.

The source is an abstract without data: all numbers are assumed. The law knows nominal booms; those that fly are up to 20 % softer or stiffer.
"""

import math

import numpy as np

import articulus as art
from articulus import spacecraft as sc
from articulus.model.mechanism.pose import Pose
from articulus.simulation.loop import components as c
from articulus.simulation.results.run import Run
from articulus.structure import beam_body

HUB, INERTIA, ROOT = 500.0, 200.0, 0.5  # kg, kg m^2, m
BOOM, LENGTH, FREQUENCY, DAMPING = 5.0, 10.0, 0.2, 0.01  # kg, m, Hz, -
ANGLE, TIME, AFTER, STEP = math.pi / 2, 20.0, 10.0, 0.01  # rad, s, s, s
SLOPE, LAYER, MARGIN = 0.2, 2e-3, 1.1  # 1/s, rad/s, of the bound
STIFFNESSES = (0.8, 1.0, 1.2)
AXES = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def compute() -> dict:
    nominal = craft(1.0)
    t = np.arange(0.0, TIME + AFTER + STEP / 2, STEP)
    found = sc.reaction_bound(nominal, "flight", profile(t), STEP, spread=0.2)
    runs = [slew(craft(k), found) for k in STIFFNESSES]
    error = [run["law.error"].max() / (LAYER / SLOPE) for run in runs]
    return {
        "inertia of the craft [kg m^2]": np.diag(found.inertia),
        "reaction of the booms in the run over that of the modes with the acceleration of the run, less 1": reaction(
            runs[1], nominal
        ),
        "error within layer over slope, booms of 0.8, 1 and 1.2 of the stiffness (1 = yes)": [
            float(e < 1) for e in error
        ],
        "without the bound the error is beyond it (1 = yes)": float(
            slew(craft(0.8), found, 0.02)["law.error"].max() > LAYER / SLOPE
        ),
    }


def craft(stiffness: float) -> art.Mechanism:
    m = art.Mechanism("hub with four booms", gravity=(0, 0, 0))
    m.body("hub", HUB, (0, 0, 0), (INERTIA,) * 3).joint("flight", art.Free(), "ground", "hub")
    rho = BOOM / LENGTH
    EI = stiffness * rho * LENGTH**4 * (2 * math.pi * FREQUENCY / 1.8751040687**2) ** 2
    boom = beam_body(LENGTH, EI=EI, mass_per_length=rho, EA=1e6, modes=2, planes="both", damping=DAMPING)
    for k in range(4):
        heading = k * math.pi / 2
        root = (ROOT * math.cos(heading), ROOT * math.sin(heading), 0.0)
        m.flexible(f"boom{k}", boom)
        m.joint(f"root{k}", art.Fixed(), "hub", f"boom{k}", Pose(root, (0.0, 0.0, heading)))
    return m


def profile(t: np.ndarray) -> np.ndarray:
    """Return the angular acceleration of the slew, (n, 3)."""
    s = np.clip(t / TIME, 0, 1)
    return 60 * ANGLE / TIME**2 * np.outer(s * (1 - s) * (1 - 2 * s), AXES[2])


def slew(m: art.Mechanism, found: sc.Reaction, part: float = MARGIN) -> Run:
    J = found.inertia
    law = c.spacecraft.SlidingAttitude(
        "hub",
        inertia=tuple(np.diag(J)),
        slope=SLOPE,
        layer=LAYER,
        disturbance=part * float(found.bound[2]),
        name="law",
    )
    names = ("wheel0", "wheel1", "wheel2")
    parts = [
        c.spacecraft.AxisSlew((0, 0, 1), ANGLE, TIME),
        law,
        c.spacecraft.TorqueAllocation("law.torque", AXES, names),
        *(c.ReactionWheel("hub", 0.01, axis, name=name) for name, axis in zip(names, AXES)),
    ]
    return art.simulate(m, TIME + AFTER, m.neutral, components=parts, method="rk4", step=STEP)


def reaction(run: Run, m: art.Mechanism) -> float:
    """Return the largest torque of a run beside that of a rigid craft over that of the modes driven by the acceleration of the run, less 1."""
    turning = np.outer(np.gradient(run.v[:, 2], run.t), AXES[2])
    found = sc.reaction_bound(m, "flight", turning, STEP, spread=0.0)
    beside = run["law.torque"][:, 2] - found.inertia[2, 2] * turning[:, 2]
    return float(np.abs(beside[2:-2]).max() / found.bound[2] - 1)
