"""A spring unfolds a panel of a spinning hub that floats, until the hinge latches: a plastic impact.

Neither spring nor latch changes the momentum of the whole: its rate is known before the motion is. The motion up to the latch is
a quadrature, because angular momentum and energy leave one unknown rate.
"""

import numpy as np

import articulus as art
from articulus.model.mechanism import Lock
from articulus.simulation.loop.events import Latch

END = 5.0  # s
FOLDED, RATE, DRIFT = -np.pi / 2, 0.1, (0.02, -0.01)  # rad, rad/s, m/s


def compute() -> dict:
    m = satellite()
    d = m.description
    q0, v0 = m.neutral.copy(), np.zeros(m.nv)
    q0[d.q_slices["hinge"]] = FOLDED
    v0[d.v_slices["base"]] = 0.0, 0.0, RATE, *DRIFT, 0.0
    given: dict = {"method": "dormand_prince", "rtol": 1e-12, "atol": 1e-13, "step": 0.01}
    run = art.simulate(m, END, q0, v0, events=[Latch("bolt")], **given)
    hub, hinge = run.q[-1, d.q_slices["base"]], [run.q[-1, d.q_slices["hinge"]][0]]
    hinge.append(run.v[-1, d.v_slices["hinge"]][0])
    turning, moving = run["momentum"][:, :3], run["momentum"][:, 3:]
    return {
        "time of the latch [s]": run.events[0].time,
        "rate of the whole at 5 s [rad/s]": run.v[-1, d.v_slices["base"]][2],
        "angle of the hub at 5 s [rad]": 2 * np.arctan2(hub[3], hub[0]),
        "energy lost [J]": run["energy.dissipated"][-1],
        "hinge at 5 s: angle and rate [rad, rad/s]": hinge,
        "drift of angular and linear momentum, over their sizes": [
            np.abs(p - p[0]).max() / np.linalg.norm(p[0]) for p in (turning, moving)
        ],
    }


def satellite() -> art.Mechanism:
    m = art.Mechanism("satellite", gravity=(0, 0, 0))
    m.body("hub", 60.0, inertia=(10, 12, 15))
    m.body("panel", 8.0, (0.9, 0, 0), (0.1, 2.9, 3.0))
    m.joint("base", art.Free(), "ground", "hub")
    spring: dict = {"stiffness": 1.5, "rest": 0.3}
    m.joint("hinge", art.Revolute((0, 0, 1)), "hub", "panel", at=(0.5, 0, 0), **spring)
    return m.constrain(Lock("bolt", "hinge", (0.0,)))
