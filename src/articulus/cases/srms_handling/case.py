"""The shuttle's arm carries a payload on a straight line, puts it into another place, hands it to a second arm, and slides along a surface.

The arm is that of Park 1993, rigid; the tasks are those that Chun, Turner & Frisch plan: put-and-place, hand-off between arms, sliding. Neither
tells data of them: shuttle, payload, places, times and friction are assumed.
"""

import math
from collections.abc import Iterable

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.srms import ARM, LENGTHS, SHOULDER, ArmPlace, add_arm, drift, shuttle
from articulus.model.mechanism import (
    LoopJoint,
    Polynomial,
    Prescribed,
    PrescribedPoint,
    SlidingContact,
    TimeFunction,
)
from articulus.model.mechanism.pose import Pose
from articulus.simulation.loop import components as c
from articulus.simulation.loop.events import Switch
from articulus.simulation.results.run import Run

PAYLOAD, SIDE = 2.0e3, 1.5  # kg, m
FIRST, SECOND, AWAY = (-0.9, 1.4), (-0.5, 1.2), (-1.3, 1.5)
"""Angles of shoulder and elbow at the first place, at the second, and away from the other arm [rad]."""
LINE, CARRY = (2.0, -1.0), 60.0  # m along x and z of the shuttle, s
SPAN = 25.0
"""Distance of the two arms' shoulders [m]."""
FRICTION, PRESS, SWEEP, STIFF, BALL = 0.3, 0.02, math.radians(30), 2.0e5, 0.1  # -, rad, rad, N m/rad, m
STEP = 0.02


def compute() -> dict:
    moved, carried = carry()
    placed, put = place()
    handed, given = hand_over()
    slid, pressed, height = slide()
    return {
        "carried: way of the payload in the shuttle's axes [m]": moved[0],
        "carried: farthest from its line [m]": moved[1],
        "placed: payload in the shuttle's axes at the end [m]": placed[0],
        "placed: speed of payload and shuttle from one another at the end [m/s]": placed[1],
        "handed over: payload in the grip of the second arm, change of its pose [m]": handed[0],
        "handed over: distance of the first arm from its grapple at the end [m]": handed[1],
        "sliding: load at the end [N]": pressed,
        "sliding: height of the ball above its radius, largest [m]": height,
        "drift of momentum over that of what moves": [
            drift(run, ARM + PAYLOAD) for run in (carried, put, given, slid)
        ],
    }


def step_of(start: float, end: float, t0: float, t1: float) -> TimeFunction:
    """Return what goes from one value to another between two times, 10 s^3 - 15 s^4 + 6 s^5, and rests before and after."""
    return chain_of((start, end), ((t0, t1),))


def chain_of(values: tuple[float, ...], times: tuple[tuple[float, float], ...]) -> TimeFunction:
    """Return what goes through values, each way within its times, and rests in between."""
    t, total = ca.SX.sym("t"), ca.SX(values[0])
    for begin, end, (t0, t1) in zip(values, values[1:], times):
        s = ca.fmin(ca.fmax((t - t0) / (t1 - t0), 0), 1)
        total += (end - begin) * s**3 * (10 - 15 * s + 6 * s**2)
    return TimeFunction.of(ca.Function("way", [t], [total]))


def drive(m: art.Mechanism, ways: Iterable[TimeFunction], prefix: str = "") -> None:
    """Let shoulder and elbow follow functions of time; the shoulder does not turn about z."""
    pitch, elbow = ways
    m.constrain(Prescribed(f"{prefix}turn", f"{prefix}shoulder", Polynomial((0.0,)), coordinate="first"))
    m.constrain(Prescribed(f"{prefix}pitch", f"{prefix}shoulder", pitch, coordinate="second"))
    m.constrain(Prescribed(f"{prefix}bend", f"{prefix}elbow", elbow))


def at(m: art.Mechanism, angles: tuple[float, float], prefix: str = "") -> np.ndarray:
    """Return coordinates with an arm at angles of shoulder and elbow."""
    q = m.neutral.copy()
    q[m.q_slice(f"{prefix}shoulder")] = 0.0, angles[0]
    q[m.q_slice(f"{prefix}elbow")] = angles[1]
    return q


def from_shuttle(m: art.Mechanism, frame: str, q: np.ndarray) -> np.ndarray:
    """Return the pose of a frame in the shuttle's axes, (4, 4)."""
    return _in(m.pose("shuttle", q), m.pose(frame, q))


def _in(base: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return a pose in another one, (4, 4)."""
    R = base[:3, :3].T
    return np.block([[R @ pose[:3, :3], R @ (pose - base)[:3, 3:]], [np.zeros((1, 3)), np.ones((1, 1))]])


def carry() -> tuple[tuple[np.ndarray, float], Run]:
    """Return the way of a payload whose motion is prescribed, and its distance from the line, and the run."""
    m = add_arm(shuttle()).with_locked(["wrist"])
    m.body("payload", PAYLOAD, (0, 0, 0), (PAYLOAD * SIDE**2 / 6,) * 3)
    m.joint("held", art.Fixed(), "effector", "payload", (LENGTHS["effector"] + SIDE / 2, 0, 0))
    q0 = at(m, FIRST)
    start = from_shuttle(m, "payload", q0)[:3, 3]
    x, z = (step_of(a, a + way, 0.0, CARRY) for a, way in zip(start[[0, 2]], LINE))
    m.constrain(Prescribed("turn", "shoulder", Polynomial((0.0,)), coordinate="first"))
    m.constrain(PrescribedPoint("line", "payload", x=x, z=z, base="shuttle"))
    run = art.simulate(m, CARRY, q0, method="rk4", step=STEP, sample=1.0)
    way = np.array([from_shuttle(m, "payload", q)[:3, 3] for q in run.q]) - start
    along = np.array([LINE[0], 0.0, LINE[1]]) / math.hypot(*LINE)
    off = way - np.outer(way @ along, along)
    return (way[-1], float(np.linalg.norm(off, axis=1).max())), run


def free_payload(m: art.Mechanism, q: np.ndarray, tip: str) -> np.ndarray:
    """Add a payload that flies and a weld "grip" to a tip; return coordinates with the payload at the tip."""
    where = m.pose(tip, q)
    m.body("payload", PAYLOAD, (SIDE / 2, 0, 0), (PAYLOAD * SIDE**2 / 6,) * 3)
    m.joint("payload", art.Free(), "ground", "payload")
    m.constrain(LoopJoint("grip", art.Fixed(), tip, "payload"))
    angle = math.atan2(-where[2, 0], where[0, 0])  # about y
    q0 = np.concatenate([q, np.zeros(7)])
    q0[m.q_slice("payload")] = math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0, *where[:3, 3]
    return q0


def place() -> tuple[tuple[np.ndarray, float], Run]:
    """Return where the payload is at the end, how fast, and the run: taken at the first place, put down at the second."""
    m = add_arm(shuttle()).with_locked(["wrist"])
    legs = (10.0, 50.0), (60.0, 80.0)
    q0 = free_payload(m, at(m, FIRST), "tip")
    drive(m, (chain_of((a, b, a), legs) for a, b in zip(FIRST, SECOND)))
    here, there = (from_shuttle(m, "tip", at(m, angles)) for angles in (FIRST, SECOND))
    for name, pose in (("first", here), ("second", there)):
        m.constrain(LoopJoint(name, art.Fixed(), "shuttle", "payload", Pose.of(pose)))
    events = [
        Switch("t", "grip", True, 1, "take", 5.0),
        Switch("t", "first", False, 1, "lift", 8.0),
        Switch("t", "second", True, 1, "put", 52.0),
        Switch("t", "grip", False, 1, "leave", 55.0),
    ]
    run = art.simulate(m, 80.0, q0, events=events, method="rk4", step=STEP, sample=1.0)
    end = from_shuttle(m, "payload", run.q[-1])[:3, 3]
    hub, load = (m.velocity(frame, run.q[-1], run.v[-1]) for frame in ("shuttle", "payload"))
    arm = m.pose("payload", run.q[-1])[:3, 3] - m.pose("shuttle", run.q[-1])[:3, 3]
    return (end, float(np.linalg.norm(load[3:] - hub[3:] - np.cross(hub[:3], arm)))), run


def hand_over() -> tuple[tuple[float, float], Run]:
    """Return the change of the payload's pose in the second arm's grip, the distance of the first from it, and the run."""
    m = add_arm(shuttle())
    add_arm(m, ArmPlace("shuttle", Pose((SHOULDER[0] + SPAN, SHOULDER[1], 0), (0, 0, math.pi)), "b_"))
    m = m.with_locked(["wrist", "b_wrist"])
    q = at(m, FIRST) + at(m, FIRST, "b_") - m.neutral
    q0 = free_payload(m, q, "tip")
    held = _in(m.pose("b_tip", q0), m.pose("payload", q0))
    m.constrain(LoopJoint("b_grip", art.Fixed(), "b_tip", "payload", Pose.of(held)))
    back = (45.0, 75.0)
    drive(m, (chain_of((a, b), (back,)) for a, b in zip(FIRST, AWAY)))
    drive(m, (chain_of((b, a, b), ((5.0, 35.0), back)) for a, b in zip(FIRST, AWAY)), prefix="b_")
    q0[m.q_slice("b_shoulder")][1], q0[m.q_slice("b_elbow")] = AWAY
    events = [Switch("t", "b_grip", True, 1, "take", 36.0), Switch("t", "grip", False, 1, "leave", 40.0)]
    run = art.simulate(m, 80.0, q0, events=events, method="rk4", step=STEP, sample=1.0)
    first, second, load = (m.pose(frame, run.q[-1]) for frame in ("tip", "b_tip", "payload"))
    moved = _in(second, load) - held
    return (float(np.abs(moved).max()), float(np.linalg.norm((first - load)[:3, 3]))), run


def slide() -> tuple[Run, float, float]:
    """Return the run of a tip that is pressed on a face of the shuttle and swept over it, its load at the end, its largest height."""
    m = add_arm(shuttle()).with_locked(["elbow", "wrist"])
    m.frame("face", "shuttle", (SHOULDER[0], SHOULDER[1], -BALL))
    m.constrain(SlidingContact("touch", "face", "tip", BALL))
    m.constrain(Prescribed("sweep", "shoulder", step_of(0.0, SWEEP, 5.0, 45.0), coordinate="first"))
    press = c.PD(kp=STIFF, kd=STIFF, target=(0.0, PRESS), joints=("shoulder",))
    rub = c.SlidingFriction("touch", FRICTION, speed=1e-3, lag=0.1)
    run = art.simulate(m, 60.0, m.neutral, components=[press, rub], method="rk4", step=STEP, sample=1.0)
    heights = [from_shuttle(m, "tip", q)[2, 3] for q in run.q]
    return run, float(run[f"{rub.name}.load"][-1, 0]), float(np.abs(heights).max())
