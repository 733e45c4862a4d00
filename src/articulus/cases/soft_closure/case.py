"""The tip of an arm of two links is caught by a pin at 1 s: with an impact, and by motors that make it arrive at rest.

Both motions start alike. The first continues at a constant velocity of the tip, the second by `ServoConstraints` with an `arrival`.
"""

import numpy as np

import articulus as art
from articulus.model.mechanism import Polynomial, PrescribedPoint
from articulus.simulation.loop.components import ServoConstraints
from articulus.simulation.loop.events import Switch
from articulus.simulation.results.run import Run

CAUGHT, ARRIVAL = PrescribedPoint("pin", "tip", x=Polynomial((1.0,)), y=Polynomial((0.8,))), 1.0  # m, s
START, VELOCITY = np.array([1.6, 0.3]), np.array([-0.6, 0.5])  # of the tip [m, m/s]
MOTORS = ("shoulder", "elbow")


def compute() -> dict:
    m = arm()
    hard = run_of(m, ServoConstraints((CAUGHT,), MOTORS, frequency=0.0))
    soft = run_of(m, ServoConstraints((CAUGHT,), MOTORS, frequency=1e4, arrival=ARRIVAL))
    half = np.searchsorted(soft.t, ARRIVAL / 2 - 1e-9)
    return {
        "at a constant velocity: energy lost when the pin catches [J]": hard["energy.dissipated"][-1],
        "with forces that prepare it: energy lost when the pin catches [J]": soft["energy.dissipated"][-1],
        "tip half a second before [m]": m.pose("tip", soft.q[half])[:2, 3],
        "moments of the motors at the start [N m]": soft["tau"][0],
        "tip off the pin at 1.5 s, either way [m]": [
            np.abs(m.pose("tip", run.q[-1])[:2, 3] - [1.0, 0.8]).max() for run in (hard, soft)
        ],
    }


def run_of(m: art.Mechanism, law: ServoConstraints) -> Run:
    q0 = angles(START)
    v0 = np.linalg.solve(m.jacobian("tip", q0)[3:5], VELOCITY)
    caught = Switch("t", "pin", level=ARRIVAL, direction=1)
    return art.simulate(
        m, 1.5, q0, v0, controller=law, events=[caught], step=1e-2, method="dormand_prince", rtol=1e-11, atol=1e-12
    )  # fmt: skip


def arm() -> art.Mechanism:
    m = art.Mechanism("arm", gravity=(0, 0, 0))
    m.body("upper", 4.0, (0.5, 0, 0), (0.1, 0.4, 0.4))
    m.body("lower", 3.0, (0.4, 0, 0), (0.1, 0.3, 0.3))
    m.joint("shoulder", art.Revolute((0, 0, 1)), "ground", "upper")
    m.joint("elbow", art.Revolute((0, 0, 1)), "upper", "lower", at=(1.0, 0, 0))
    return m.frame("tip", "lower", (1.0, 0, 0)).constrain(CAUGHT)


def angles(tip: np.ndarray) -> np.ndarray:
    """Return the angles of both joints, elbow to the right, for a place of the tip."""
    bend = np.arccos((tip @ tip - 2.0) / 2.0)
    return np.array([np.arctan2(tip[1], tip[0]) - bend / 2, bend])
