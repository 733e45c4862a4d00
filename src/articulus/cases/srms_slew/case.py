"""The shuttle's arm slews by 90 degrees on its floating base: rigid, and with flexible upper and lower arms in four elements.

Lengths, masses, moduli and joints are those of the source. Assumed: the shuttle, radii of gyration of joints and end effector, damping, and
the time: the rate is one cubic of time, c s^2 (1 - s), in 72 s, so that the tip reaches the 0.6 m/s that the source gives for the empty arm.
"""

import math

import numpy as np

import articulus as art
from articulus.cases.srms import SHUTTLE, add_arm, drift, shuttle
from articulus.model.mechanism.constraint import Polynomial, Prescribed
from articulus.simulation.results.run import Run

TIME, ANGLE, AFTER = 72.0, math.pi / 2, 5.0
STEP = {False: 0.02, True: 0.004}
"""Of rigid and flexible arms [s]; the fastest mode of the links has a time constant of 2 ms."""


def compute() -> dict:
    stiff, rigid = slew(flexible=False)
    arm, bent = slew(flexible=True)
    held, rest = hold(bent)
    fastest, after = speeds(stiff, rigid)[:, 0].max(), speeds(held, rest)[:, 0].max()
    return {
        "masses of arms, joints and end effector together [kg]": [mass(stiff), mass(arm)],
        "length from shoulder to tip [m]": [reach(stiff), reach(arm)],
        "rigid: turn of the shuttle at the end [rad]": 2 * math.asin(rigid.q[-1, 3]),
        "rigid: speeds of tip and shuttle at the end over the largest of the tip": speeds(stiff, rigid)[-1]
        / fastest,
        "rigid: largest speed of the tip from the shuttle [m/s]": fastest,
        "flexible: the tip moves by more than 1 mm/s when the joints have stopped (1 = yes)": float(
            after > 1e-3
        ),
        "rigid, flexible, and after it: drift of momentum over that of the arm": [
            drift(run) for run in (rigid, bent, rest)
        ],
    }


def mass(m: art.Mechanism) -> float:
    """Return the mass of the arm: that of all less the shuttle's."""
    M = m.mass_matrix(m.neutral)
    return float(M[3, 3]) - SHUTTLE


def reach(m: art.Mechanism) -> float:
    """Return how far the tip is from the shoulder."""
    ends = [m.pose(frame, m.neutral)[:3, 3] for frame in ("shoulder", "tip")]
    return float(np.linalg.norm(ends[1] - ends[0]))


def speeds(m: art.Mechanism, run: Run) -> np.ndarray:
    """Return the speeds of the tip, seen from the shuttle, and of the shuttle's center, (n, 2)."""
    found = []
    for q, v in zip(run.q, run.v):
        tip, hub = (m.velocity(frame, q, v) for frame in ("tip", "shuttle"))
        arm = m.pose("tip", q)[:3, 3] - m.pose("shuttle", q)[:3, 3]
        found.append([np.linalg.norm(tip[3:] - hub[3:] - np.cross(hub[:3], arm)), np.linalg.norm(hub[3:])])
    return np.array(found)


def mechanism(flexible: bool, motion: Polynomial) -> art.Mechanism:
    """Return shuttle and arm: shoulder universal and driven, elbow revolute and wrist spherical, both locked."""
    m = add_arm(shuttle(), flexible=flexible)
    m = m.with_locked(["elbow", "wrist"])
    m.constrain(Prescribed("slew", "shoulder", motion, coordinate="first"))
    return m.constrain(Prescribed("level", "shoulder", Polynomial((0.0,)), coordinate="second"))


def slew(flexible: bool) -> tuple[art.Mechanism, Run]:
    motion = Polynomial((0.0, 0.0, 0.0, 4 * ANGLE / TIME**3, -3 * ANGLE / TIME**4))
    m = mechanism(flexible, motion)
    return m, art.simulate(m, TIME, m.neutral, method="rk4", step=STEP[flexible], sample=0.5)


def hold(run: Run) -> tuple[art.Mechanism, Run]:
    """Return what follows when the shoulder holds."""
    held = mechanism(True, Polynomial((ANGLE,)))
    return held, art.simulate(held, AFTER, run.q[-1], run.v[-1], method="rk4", step=STEP[True], sample=0.1)
