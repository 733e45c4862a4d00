"""Linkages in space turn and change their shape by torques inside: three links by a planned loop of their joints, six into a hexagon.

The source names both and has no data: links are uniform rods of 1 kg and 1 m, with three links, and of 2 kg and 2 m, with six.
"""

import math

import numpy as np

import articulus as art
from articulus.model.mechanism import Limits, Prescribed
from articulus.model.mechanism.constraint import Polynomial
from articulus.motion import trajectory
from articulus.motion.trajectory import Plan
from articulus.simulation.results.run import Run

TURN, TIME, INTERVALS, TORQUE = 0.3, 10.0, 80, 1.0  # rad, s, -, N m
FOLD = 20.0  # s
RANGE = Limits(lower=(-2.6,), upper=(2.6,))  # rad


def three_links() -> art.Mechanism:
    """Return three rods in a plane: the middle one flies, the outer ones hang at its ends."""
    m = art.Mechanism("three links", gravity=(0, 0, 0))
    rod(m, "middle", 1.0, 1.0)
    m.joint("flight", art.Planar(), "ground", "middle")
    rod(m, "left", 1.0, -1.0)
    rod(m, "right", 1.0, 1.0)
    m.joint("a", art.Revolute((0, 0, 1)), "middle", "left", (-0.5, 0, 0), limits=RANGE)
    return m.joint("b", art.Revolute((0, 0, 1)), "middle", "right", (0.5, 0, 0), limits=RANGE)


def rod(m: art.Mechanism, name: str, mass: float, length: float) -> None:
    """Add a rod along x from its joint, the middle one about its center."""
    J = mass * length**2 / 12
    m.body(name, mass, (0.0 if name == "middle" else length / 2, 0, 0), (1e-3 * J, J, J))


def turn_links() -> Plan:
    """Return the plan of a turn of three links."""
    shapes = [(0.0, 0.0), (1.2, 0.0), (1.2, 1.2), (0.0, 1.2), (0.0, 0.0)]
    guess = [[0.0, 0.0, TURN * k / 4, *shape] for k, shape in enumerate(shapes)]
    return trajectory.plan(
        three_links(), np.zeros(5), [0.0, 0.0, TURN, 0.0, 0.0], duration=TIME, actuators=("a", "b"), torque_limit=TORQUE,
        intervals=INTERVALS, guess=guess,
    )  # fmt: skip


def connection(run: Run) -> float:
    """Return how far the middle link turns as three rods without momentum do whose joints move as in a run, by the trapezoidal rule."""
    a, b, da, db = run.q[:, 3], run.q[:, 4], run.v[:, 3], run.v[:, 4]
    zero = np.zeros_like(a)
    e = [np.array([np.cos(x), np.sin(x)]) for x in (a, b)]
    n = [np.array([-y, x]) for x, y in e]
    r = np.array([0 * e[0], [-0.5 + zero, zero] - e[0] / 2, [0.5 + zero, zero] + e[1] / 2])
    dr = np.array([0 * e[0], -da * n[0] / 2, db * n[1] / 2])
    r, dr = r - r.mean(axis=0), dr - dr.mean(axis=0)
    inertia = 3 / 12 + (r**2).sum(axis=(0, 1))
    momentum = (da + db) / 12 + (r[:, 0] * dr[:, 1] - r[:, 1] * dr[:, 0]).sum(axis=0)
    return float(np.trapezoid(-momentum / inertia, run.t))


def hexagon() -> tuple[Run, np.ndarray]:
    """Return the run of six rods in a line that are folded by their joints into a hexagon, and the gap of its ends [m]."""
    m = art.Mechanism("beam of six", gravity=(0, 0, 0))
    m.body("link0", 2.0, (1.0, 0, 0), (0.01, 2 / 3, 2 / 3)).joint("flight", art.Free(), "ground", "link0")
    for k in range(1, 6):
        m.body(f"link{k}", 2.0, (1.0, 0, 0), (0.01, 2 / 3, 2 / 3))
        m.joint(f"joint{k}", art.Revolute((0, 0, 1)), f"link{k - 1}", f"link{k}", (2.0, 0, 0))
        fold = Polynomial((0.0, 0.0, math.pi / FOLD**2, -2 * math.pi / (3 * FOLD**3)))
        m.constrain(Prescribed(f"fold{k}", f"joint{k}", fold))
    m.frame("end", "link5", (2.0, 0, 0))
    run = art.simulate(m, FOLD, m.neutral, method="rk4", step=0.01, sample=0.5)
    return run, m.pose("end", run.q[-1])[:3, 3] - m.pose("link0", run.q[-1])[:3, 3]


def compute() -> dict:
    forces = turn_links().run(track=False)
    folded, gap = hexagon()
    q = folded.q[-1]
    return {
        "three links: turn with straight joints at the end, by the planned torques alone [rad]": forces.q[
            -1, 2:
        ],
        "three links: turn in the run less that by the momentum of three rods [rad]": float(
            forces.q[-1, 2] - connection(forces)
        ),
        "hexagon: gap of its ends [m]": gap,
        "hexagon: turn of the first link [rad]": 2 * math.atan2(q[3], q[0]),
        "momentum over that of the parts, three links and six": [
            float(np.abs(run["momentum"]).max() / scale) for run, scale in ((forces, 0.2), (folded, 20.0))
        ],
    }
