"""The shuttle's arm moves to a payload, touches it, lifts it and brings it to a floating structure; and rides on a track.

The arm is that of the source. Assumed: shuttle, payload, structure and station, time functions (cubic rates), servo and contact laws. What they
have to give is chosen after the source: e = 0.18 and the stiffness of the first contact for the rebound to 0.0018 m/s and 2.4 m/s^2, the
second one for 1.8 s.
"""

import math
from typing import Any

import numpy as np

import articulus as art
from articulus.cases.srms import ARM, LENGTHS, REACH, ArmPlace, add_arm, drift, shuttle
from articulus.model.mechanism import LoopJoint, Polynomial, Prescribed
from articulus.model.mechanism.pose import Pose
from articulus.simulation.loop import components as c
from articulus.simulation.loop.contact import Plane, Sphere, dissipation_of
from articulus.simulation.loop.events import Capture
from articulus.simulation.results.run import Run

APPROACH, TRAVEL, TIME = 0.01, 5.0, 25.0  # m/s, m, s
RESTITUTION, STIFFNESS, BALL = 0.18, 7.7e8, 0.1  # -, N/m^1.5, m
AFTER, SERVO = 1.0, 8.0  # s, rad/s
PAYLOAD, SIDE = 5.0e3, 2.0  # kg, m
LIFT, LIFT_TIME = math.radians(20), 60.0
STRUCTURE, BUMPER, LOST, LATCH = 2.0e4, 1.5e4, 0.05, 0.001  # kg, N/m^1.5, restitution, m/s
STATION, CARRIAGE, WAY, RIDE = 5.0e4, 300.0, 10.0, 40.0  # kg, kg, m, s
STEPS = {"rk4": 0.02, "flexible": 0.004}


def compute() -> dict:
    rigid, bent = (approach(flexible) for flexible in (False, True))
    hit = impact(rigid)
    stiff, loose = (lift(flexible) for flexible in (False, True))
    dock, time = docking()
    ride = track()
    speed = hit[1]
    return {
        "approach: velocity of the tip at 25 s, rigid [m/s]": tip_rate(*rigid)[-1],
        "approach: rates of the effector, flexible less rigid, over the largest": nearly(rigid, bent),
        "contact: rebound over approach, joints free": hit[3],
        "contact: rebound at most 0.0018 m/s (1 = yes)": float(speed.max() <= 0.0018),
        "contact: largest deceleration [m/s^2]": hit[2],
        "contact: velocity after a second [m/s]": speed[-1],
    } | {
        "lift: rigid, velocity of the payload from the shuttle at the end, over the largest": stiff[1],
        "lift: flexible, the same is above 0.005 (1 = yes)": float(loose[1] > 0.005),
        "docking: from touch to latch [s]": time,
        "docking: payload less structure after 2 s, rates and velocities of the port over the approach": np.abs(
            dock[1]
        ).max()
        / APPROACH,
        "track: way of the station [m]": ride[1],
        "drift of momentum over that of what moves, in all seven runs": [
            *(drift(run) for run in (rigid[1], bent[1], hit[0], ride[0])),
            *(drift(run, ARM + PAYLOAD) for run in (stiff[0], loose[0])),
            drift(dock[0], STRUCTURE, APPROACH),
        ],
    }


def level(m: art.Mechanism, pitch: Polynomial) -> art.Mechanism:
    """Return the mechanism with elbow and wrist locked and the shoulder driven up and down."""
    m = m.with_locked(["elbow", "wrist"])
    m.constrain(Prescribed("turn", "shoulder", Polynomial((0.0,)), coordinate="first"))
    return m.constrain(Prescribed("pitch", "shoulder", pitch, coordinate="second"))


def cubic(angle: float, time: float, end: float = 0.0, start: float = 0.0) -> Polynomial:
    """Return a motion by an angle whose rate is c s^2 (1 - s) + end s^2, s = t / time."""
    rate = 12 * (angle / time - end / 3)
    return Polynomial((start, 0.0, 0.0, (rate + end) / (3 * time**2), -rate / (4 * time**3)))


def approach(flexible: bool) -> tuple[art.Mechanism, Run]:
    """Return the way down to the payload."""
    angle = TRAVEL / REACH
    m = level(add_arm(shuttle(), flexible=flexible), cubic(angle, TIME, APPROACH / REACH, -angle))
    q0 = m.neutral.copy()
    q0[m.q_slice("shoulder")] = 0.0, -angle
    step = STEPS["flexible" if flexible else "rk4"]
    return m, art.simulate(m, TIME, q0, method="rk4", step=step, sample=0.5)


def tip_rate(m: art.Mechanism, run: Run, frame: str = "tip") -> np.ndarray:
    """Return the velocity of a frame from the shuttle, along the shuttle's z axis [m/s]."""
    found = []
    for q, v in zip(run.q, run.v):
        tip, hub = (m.velocity(name, q, v) for name in (frame, "shuttle"))
        pose = m.pose("shuttle", q)
        arm = m.pose(frame, q)[:3, 3] - pose[:3, 3]
        found.append(pose[:3, 2] @ (tip[3:] - hub[3:] - np.cross(hub[:3], arm)))
    return np.array(found)


def nearly(rigid: tuple[art.Mechanism, Run], bent: tuple[art.Mechanism, Run]) -> float:
    """Return the largest difference of the effector's rate about y over the largest rate."""
    rates = [
        np.array([m.velocity("effector", q, v)[1] for q, v in zip(run.q, run.v)]) for m, run in (rigid, bent)
    ]
    return float(np.abs(rates[1] - rates[0]).max() / np.abs(rates[0]).max())


def impact(rigid: tuple[art.Mechanism, Run]) -> tuple[Run, np.ndarray, float, float]:
    """Return the run of a second from the touch, the velocity of the tip, its largest deceleration; its rebound with free joints, over the approach."""
    m = add_arm(shuttle()).with_locked(["elbow", "wrist"])
    m.frame("top", "shuttle", (6.0 + REACH, 2.0, -BALL))
    contact = c.Contact(Sphere("tip", BALL), Plane("top"), STIFFNESS, dissipation_of(RESTITUTION, APPROACH))
    inertia = m.mass_matrix(m.neutral)[-1, -1]
    hold = c.PD(kp=inertia * SERVO**2, kd=2 * inertia * SERVO, joints=("shoulder",))
    start = rigid[1].q[-1], rigid[1].v[-1]
    run = art.simulate(m, AFTER, *start, components=[hold, contact], method="rk4", step=1e-4, sample=1e-3)
    fine, free = (
        tip_rate(m, art.simulate(m, 0.03, *start, components=parts, method="rk4", step=1e-4))
        for parts in ([hold, contact], [contact])
    )
    return run, tip_rate(m, run), float(np.diff(fine).max() / 1e-4), free.max() / APPROACH


def lift(flexible: bool) -> tuple[Run, float]:
    """Return the run with the payload and its velocity from the shuttle at the end over the largest."""
    m = add_arm(shuttle(), flexible=flexible)
    add_payload(m)
    m = level(m, cubic(-LIFT, LIFT_TIME))
    step = STEPS["flexible" if flexible else "rk4"]
    run = art.simulate(m, LIFT_TIME, m.neutral, method="rk4", step=step, sample=0.5)
    speed = np.abs(tip_rate(m, run, "payload"))
    return run, float(speed[-1] / speed.max())


def add_payload(m: art.Mechanism) -> None:
    """Put the payload, a cube, at the tip."""
    J = PAYLOAD * SIDE**2 / 6
    m.body("payload", PAYLOAD, (SIDE / 2, 0, 0), (J, J, J))
    m.joint("held", art.Fixed(), "effector", "payload", (LENGTHS["effector"], 0, 0))


def docking() -> tuple[tuple[Run, np.ndarray], float]:
    """Return the run of two seconds with the velocity of the payload's probe from the port, and the time from touch to latch."""
    m = add_arm(shuttle())
    add_payload(m)
    m = m.with_locked(["shoulder", "elbow", "wrist"])
    m.body("structure", STRUCTURE, (5.0, 0.0, 0.0), (6e4, 2e5, 2e5))
    m.joint("structure", art.Free(), "ground", "structure")
    m.frame("ball", "payload", (SIDE, 0, 0)).frame("probe", "payload", (SIDE + BALL, 0, 0))
    m.frame("port", "structure").frame("face", "structure", Pose((0, 0, 0), (0, -math.pi / 2, 0)))
    m.constrain(LoopJoint("weld", art.Fixed(), "probe", "port"))
    contact = c.Contact(Sphere("ball", BALL), Plane("face"), BUMPER, dissipation_of(LOST, APPROACH))
    latch = Capture("weld", distance=0.1, speed=LATCH)
    q0, v0 = m.neutral.copy(), np.zeros(m.nv)
    q0[m.q_slice("structure")][4:] = m.pose("probe", q0)[:3, 3]
    v0[m.v_slice("structure")][3] = -APPROACH
    given: dict[str, Any] = {"components": [contact], "events": [latch], "method": "rk4", "step": 2e-3}
    run = art.simulate(m, 2.0, q0, v0, sample=0.1, **given)
    (probe, moving), (port, other) = (
        (m.pose(frame, run.q[-1])[:3, 3], m.velocity(frame, run.q[-1], run.v[-1]))
        for frame in ("probe", "port")
    )
    carried = np.concatenate([np.zeros(3), np.cross(other[:3], probe - port)])
    return (run, moving - other - carried), float(run.events[0].time)


def track() -> tuple[Run, float]:
    """Return the run of a carriage with the arm along a station that floats, and how far the station goes."""
    m = art.Mechanism("track", gravity=(0, 0, 0))
    m.body("station", STATION, (0, 0, 0), (2e5, 5e6, 5e6)).joint("flight", art.Free(), "ground", "station")
    m.body("carriage", CARRIAGE, (0, 0, 0), (50, 50, 50))
    m.joint("rail", art.Prismatic((1, 0, 0)), "station", "carriage")
    add_arm(m, ArmPlace("carriage", Pose()))
    m = m.with_locked(["shoulder", "elbow", "wrist"])
    m.constrain(Prescribed("ride", "rail", cubic(WAY, RIDE)))
    run = art.simulate(m, RIDE, m.neutral, method="rk4", step=STEPS["rk4"], sample=0.5)
    return run, float(m.pose("station", run.q[-1])[0, 3])
