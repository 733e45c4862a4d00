"""The scenario of Basilisk's `scenarioAttitudeFeedbackRW`: a hub with three wheels in orbit, sampled feedback of modified Rodrigues parameters.

Mass, inertia, orbit, wheels, gains and the start are those of that script; the wheels are balanced and without friction, their inertia
across the axis is the hub's, and the gradient of gravity acts.
"""

import math

import numpy as np

import articulus as art
from articulus import spacecraft as sc
from articulus.simulation.loop import components as c

END, STEP = 600.0, 0.1
INERTIA, START = (900.0, 800.0, 600.0), (0.1, 0.2, -0.3)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NAMES = ("wheel0", "wheel1", "wheel2")
RATES = (0.001, -0.01, 0.03)
SPEEDS = tuple(n * np.pi / 30 for n in (100.0, 200.0, 300.0))
MU = 3.986004415e14
EARTH = sc.Planet("Earth", MU, 6378136.6, 1 / 298.257223563, 7.292115e-5)
ORBIT = sc.Orbit(
    1.0e7, 0.01, math.radians(33.3), math.radians(48.2), math.radians(347.8), math.radians(85.3), EARTH
)


def compute() -> dict:
    q0, v0 = start()
    run = art.simulate(hub(), END, q0, v0, components=parts(), method="rk4", step=STEP, sample=END)
    w, q = run.v[-1, :3], run.q[-1, :4]
    return {
        "modified Rodrigues parameters after 600 s": q[1:] / (1 + q[0]),
        "rates after 600 s [rad/s]": w,
        "speeds of the wheels after 600 s [rad/s]": [float(np.ravel(run[f"{n}.speed"])[-1]) for n in NAMES],
    }


def hub() -> art.Mechanism:
    m = art.Mechanism("hub", gravity=(0, 0, 0))
    m.body("hub", 750.0, (0, 0, 0), INERTIA)
    return m.joint("hub", art.Free(), "ground", "hub")


def parts() -> list:
    """Return gravity, guidance, law, allocation and wheels."""
    wheel = sc.WHEELS["HR16-50"]
    wheels = [
        c.ReactionWheel(
            "hub", axis=axis, name=name, momentum=wheel.inertia * (speed + rate), **wheel.fields()
        )
        for axis, name, speed, rate in zip(AXES, NAMES, SPEEDS, RATES)
    ]
    law = c.spacecraft.MrpFeedback("hub", stiffness=3.5, damping=30.0, period=STEP, name="law")
    share = c.spacecraft.TorqueAllocation("law.torque", AXES, NAMES)
    return [c.CentralGravity(mu=MU), c.spacecraft.InertialPointing(), law, share, *wheels]


def start() -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity at the start."""
    sigma, s = np.array(START), ORBIT.state()
    square = sigma @ sigma
    q = np.array([(1 - square), *(2 * sigma)]) / (1 + square)
    R = art.spatial.rotation_of_quaternion(q)
    return np.array([*q, *s.position]), np.array([*RATES, *(R.T @ s.velocity)])
