"""A hub with four flexible booms is turned by 90 degrees by one cycle of a sine torque about its axis.

The source is an abstract without data: all numbers are assumed. The booms' first frequency is 0.2 Hz, the cycle takes 60 s.
"""

import math

import casadi as ca
import numpy as np

import articulus as art
from articulus.model.mechanism.pose import Pose
from articulus.simulation.loop import components as c
from articulus.simulation.results.run import Run
from articulus.structure import beam_body

HUB, INERTIA, ROOT = 500.0, 200.0, 0.5  # kg, kg m^2, m
BOOM, LENGTH, FREQUENCY, DAMPING = 5.0, 10.0, 0.2, 0.05  # kg, m, Hz, -
TIME, ANGLE, AFTER, STEP = 60.0, math.pi / 2, 200.0, 0.05
WHOLE = INERTIA + 4 * BOOM * (LENGTH**2 / 12 + (ROOT + LENGTH / 2) ** 2)
TORQUE = 2 * math.pi * WHOLE * ANGLE / TIME**2


def compute() -> dict:
    rigid, bent = slew(craft(False)), slew(craft(True))
    still = craft(True)
    rest = art.simulate(still, AFTER, bent.q[-1], bent.v[-1], method="rk4", step=STEP, sample=1.0)
    momentum = bent["momentum"]
    largest = np.abs(momentum[:, 2]).max()
    return {
        "rigid: angle at the end [rad]": angle(rigid),
        "flexible: largest angular momentum [N m s]": largest,
        "flexible: angular momentum at the end and after it, over the largest": [
            float(np.abs(p).max() / largest) for p in (momentum[-1, :3], rest["momentum"][:, :3])
        ],
        "flexible: largest linear momentum, over the angular per length": float(
            np.abs(momentum[:, 3:]).max() * LENGTH / largest
        ),
        "flexible: angle when the booms have come to rest [rad]": angle(rest),
    }


def craft(flexible: bool) -> art.Mechanism:
    m = art.Mechanism("hub with four booms", gravity=(0, 0, 0))
    m.body("hub", HUB, (0, 0, 0), (INERTIA, INERTIA, INERTIA)).joint("flight", art.Free(), "ground", "hub")
    rho = BOOM / LENGTH
    EI = rho * LENGTH**4 * (2 * math.pi * FREQUENCY / 1.8751040687**2) ** 2
    boom = beam_body(LENGTH, EI=EI, mass_per_length=rho, EA=1e6, modes=2, planes="y", damping=DAMPING)
    for k in range(4):
        heading = k * math.pi / 2
        root = (ROOT * math.cos(heading), ROOT * math.sin(heading), 0.0)
        if flexible:
            m.flexible(f"boom{k}", boom)
        else:
            J = BOOM * LENGTH**2 / 12
            m.body(f"boom{k}", BOOM, (LENGTH / 2, 0, 0), (1e-3 * J, J, J))
        m.joint(f"root{k}", art.Fixed(), "hub", f"boom{k}", Pose(root, (0.0, 0.0, heading)))
    return m


def slew(m: art.Mechanism) -> Run:
    t = ca.SX.sym("t")
    sine = TORQUE * ca.sin(2 * math.pi * t / TIME)
    torque = ca.Function("torque", [t], [ca.vertcat(0, 0, sine, 0, 0, 0)])
    parts = [c.PrescribedForce("flight", torque)]
    return art.simulate(m, TIME, m.neutral, components=parts, method="rk4", step=STEP, sample=0.5)


def angle(run: Run) -> float:
    """Return how far the hub has turned at the end."""
    q = run.q[-1]
    return 2 * math.atan2(q[3], q[0])
