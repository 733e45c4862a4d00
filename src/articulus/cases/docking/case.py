"""Two free bodies, each turning steadily about a principal axis, dock off center: a plastic impact of two rigid bodies.

Up to the capture each pose is known in closed form. The impact keeps linear and angular momentum and leaves one rigid body.
"""

import numpy as np

import articulus as art
from articulus.model.mechanism import LoopJoint
from articulus.simulation.loop.events import Capture
from articulus.simulation.results.run import Run

CENTER = np.array([0.1, 0.0, 0.05])
"""Mass center of the target in its frame [m]; that of the chaser is its origin."""
END, JUST = 3.0, 1e-9  # s
GIVEN: dict = {"method": "dormand_prince", "rtol": 1e-12, "atol": 1e-13}


def compute() -> dict:
    m = bodies()
    q0, v0 = approach(m)
    dock = Capture("weld", distance=0.12, speed=1.0, angle=0.5)
    run = art.simulate(m, END, q0, v0, events=[dock], step=0.01, **GIVEN)
    time = run.events[0].time
    after = art.simulate(m, time + JUST, q0, v0, events=[dock], step=(time + JUST) / 50, **GIVEN)
    rates, velocities = moving(m, after)
    kinetic = after["energy.kinetic"]
    return {
        "time of capture [s]": time,
        "rates of chaser and target after it [rad/s]": rates,
        "velocities of their mass centres after it [m/s]": velocities,
        "energy lost: of the record, and by kinetic energy [J]": [
            run["energy.dissipated"][-1],
            kinetic[0] - kinetic[-1],
        ],
        "rate of the target at 3 s [rad/s]": moving(m, run)[0][1],
        "drift of angular and linear momentum, over their sizes": drift(run),
    }


def bodies() -> art.Mechanism:
    m = art.Mechanism("docking", gravity=(0, 0, 0))
    m.body("chaser", 100.0, (0, 0, 0), (20, 25, 30))
    m.body("target", 300.0, tuple(CENTER), (80, 70, 90))
    for name in ("chaser", "target"):
        m.joint(name, art.Free(), "ground", name)
    m.frame("probe", "chaser", (1.0, 0.0, 0.4)).frame("port", "target", (-1.5, 0.0, 0.4))
    m.frame("center", "target", tuple(CENTER))
    return m.constrain(LoopJoint("weld", art.Fixed(), "probe", "port"))


def approach(m: art.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return the start: the chaser turns about its x axis, the target about its z axis."""
    q, v, d = m.neutral.copy(), np.zeros(m.nv), m.description
    q[d.q_slices["target"]][4:] = 2.75, 0.15, -0.03
    v[d.v_slices["chaser"]] = 0.3, 0.0, 0.0, 0.4, 0.08, 0.0
    turning, center = np.array([0.0, 0.0, 0.2]), np.array([0.0, 0.01, 0.02])
    v[d.v_slices["target"]] = *turning, *(center - np.cross(turning, CENTER))
    return q, v


def moving(m: art.Mechanism, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return rates and velocities of both mass centers at the end, in ground axes, (2, 3) each."""
    found = np.array([m.velocity(frame, run.q[-1], run.v[-1]) for frame in ("chaser", "center")])
    return found[:, :3], found[:, 3:]


def drift(run: Run) -> list[float]:
    """Return the largest change of angular momentum about the origin and of linear momentum."""
    halves = (run["momentum"][:, :3], run["momentum"][:, 3:])
    return [float(np.abs(p - p[0]).max() / np.linalg.norm(p[0])) for p in halves]
