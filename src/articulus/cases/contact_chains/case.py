"""Arms whose tips slide and roll on one object, in time: two planar arms under a plate, three spatial arms on a body, balls on faces."""

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.cases.multiple_chains.case import arm, member
from articulus.dynamics.loops.contact import SLIDING_POINT
from articulus.dynamics.loops.multiple_chains import Grasp, multiple_chains
from articulus.simulation.loop.components import PD, SlidingFriction

LENGTH, MASS, THICK, BALL = (
    0.5,
    0.8,
    0.02,
    0.03,
)  # of links [m, kg], half of the plate, radius of the fingertip [m]
PLATE, INERTIA = 2.0, 0.06
BASES = (-0.4, 0.4)
STIFFNESS, DAMPING = 80.0, 1.5
DOWN = art.Pose(rpy=(0.0, np.pi, 0.0))


def compute() -> dict:
    return {**plate_on_two_arms(), **object_on_three_arms(), **balls()}


def plate_on_two_arms() -> dict:
    """Return the motion of a plate that lies on a sliding and on a rolling fingertip."""
    m, q0 = hands()
    law = PD(STIFFNESS, DAMPING, tuple(0.95 * q0[:4]), joints=("a1", "a2", "b1", "b2"))
    run = art.simulate(m, 0.5, q0=q0, controller=law, step=1e-3)
    return {
        "two arms and a plate: joints, place and angle after 0.25 and 0.5 s [rad, m]": run.q[[250, 500]],
        "two arms and a plate: forces that press, and friction of the rolling tip, at 0.5 s [N]": np.abs(run["multipliers"][500, :3]),
        "two arms and a plate: a tip presses all the time (1 = yes)": bool((run["multipliers"][:, :2] < 0).all()),
    }  # fmt: skip


def hands() -> tuple[art.Mechanism, np.ndarray]:
    """Return two arms of two links in the plane of x and z, and a plate on their tips, with its position."""
    m = art.Mechanism("hands", gravity=(0.0, 0.0, -9.81))
    rod = MASS * LENGTH**2 / 12
    for side, at in zip("ab", BASES):
        for k, (parent, place) in enumerate((("ground", (at, 0, 0)), (f"{side}1", (0, 0, LENGTH))), 1):
            name = f"{side}{k}"
            m.body(name, mass=MASS, com=(0, 0, LENGTH / 2), inertia=(rod, rod, 1e-4))
            m.joint(name, art.Revolute((0, 1, 0)), parent, name, at=place)
        m.frame(f"tip_{side}", f"{side}2", at=(0, 0, LENGTH))
    for name, joint, parent in (
        ("x", art.Prismatic((1, 0, 0)), "ground"),
        ("z", art.Prismatic((0, 0, 1)), "x"),
    ):
        m.body(name, massless="carries the plate")
        m.joint(name, joint, parent, name)
    m.body("plate", mass=PLATE, com=(0, 0, 0), inertia=(INERTIA, INERTIA, INERTIA))
    m.joint("turn", art.Revolute((0, 1, 0)), "z", "plate")
    m.frame("face", "plate", at=art.Pose((0, 0, -THICK), rpy=DOWN.rpy))
    m.constrain(art.SlidingContact("slides", "face", "tip_a"))
    m.constrain(art.SlidingContact("touches", "face", "tip_b", BALL))
    m.constrain(art.RollingContact("rolls", "face", "tip_b", BALL))
    high = 2 * LENGTH * np.cos(0.5)
    bend = np.arccos((high - BALL) / (2 * LENGTH))
    return m, np.array([-0.5, 1.0, bend, -2 * bend, 0.1, high + THICK, 0.0])


def object_on_three_arms() -> dict:
    """Return accelerations beside those of the O(m N) algorithm, and what a run keeps."""
    m, held = member(), member()
    names = ("u", "v", "w")
    for name in names:
        m = m.with_attached(arm(6), "ground", prefix=f"{name}_")
    rng = np.random.default_rng(4)
    q = np.array(m.neutral, dtype=float)
    q[7:] = rng.uniform(-0.6, 0.6, len(q) - 7)
    q[4:7] = (0.2, 0.1, 0.3)
    for name in names:  # a point of the object where the tip is, faces of the tips
        place = m.pose("object", q)
        at = place[:3, :3].T @ (m.pose(f"{name}_tip", q)[:3, 3] - place[:3, 3])
        m.frame(f"{name}_point", "object", at=tuple(at))
        m.constrain(art.SlidingContact(f"{name}_on", f"{name}_tip", f"{name}_point"))
    tau = np.concatenate([np.zeros(6), rng.normal(size=m.nv - 6)])
    algorithm = multiple_chains(held.description, "object", [Grasp(arm(6).description, "tip", SLIDING_POINT)] * 3)  # fmt: skip
    args = [q[:7], np.zeros(6), np.zeros(6)]
    for k in range(3):
        args += [q[7 + 6 * k : 13 + 6 * k], np.zeros(6), tau[6 + 6 * k : 12 + 6 * k], np.zeros(5)]
    found = dict(zip(algorithm.name_out(), algorithm.call(args)))
    wanted = np.concatenate([np.array(found[f"vdot_{k}"]).ravel() for k in range(4)])
    slides = m.forward_dynamics(q, np.zeros(m.nv), tau)
    for name in names:
        m.constrain(art.RollingContact(f"{name}_roll", f"{name}_tip", f"{name}_point", spin=True))
    run = art.simulate(m, 0.2, q0=q, controller=push(tau), step=5e-4)
    kinetic = float(np.ptp(run["energy.kinetic"]))
    return {
        "three arms with sliding points at rest: accelerations beside those of the O(m N) algorithm, relative": relative(slides, wanted),
        "three soft fingers: energy that is not accounted for after 0.2 s over the kinetic one": float(np.abs(run["energy.balance"]).max()) / kinetic,
    }  # fmt: skip


def push(tau: np.ndarray) -> ca.Function:
    """Return constant joint forces as a controller."""
    return ca.Function("tau", [ca.SX.sym("t")], [ca.DM(tau)], ["t"], ["u"])


def balls() -> dict:
    """Return a ball that rolls on a turning table, and one that slips down a slope."""
    rate, radius, mass = 1.5, 0.1, 2.0
    m = art.Mechanism("turntable")
    m.body("table", mass=5.0, com=(0, 0, 0), inertia=(1, 1, 2)).joint(
        "axle", art.Revolute((0, 0, 1)), "ground", "table"
    )
    m.body("ball", mass=mass, com=(0, 0, 0), inertia=(0.4 * mass * radius**2,) * 3)
    m.joint("free", art.Free(), "ground", "ball").constrain(
        art.Prescribed("turn", "axle", art.Polynomial((0.0, rate)))
    )
    m.constrain(art.SlidingContact("on", "table", "ball", radius)).constrain(
        art.RollingContact("roll", "table", "ball", radius)
    )
    start = art.assemble(m, [0, 1, 0, 0, 0, 0.3, 0, radius], [rate, 0, 0, 0, 0, 0.2, 0], fixed=["axle"])
    run = art.simulate(m, 8.0, q0=start.q, v0=start.v, step=5e-3)
    world = np.array([m.pose("ball", q)[:3, :3] @ v[4:7] for q, v in zip(run.q[::100], run.v[::100])])
    turned = np.unwrap(np.arctan2(world[:, 1], world[:, 0]))
    slope, mu = 0.4, 0.05
    hill = art.Mechanism("slope").frame("slope", "ground", at=art.Pose(rpy=(0, slope, 0)))
    hill.body("ball", mass=mass, com=(0, 0, 0), inertia=(0.4 * mass * radius**2,) * 3)
    hill.joint("free", art.Free(), "ground", "ball").constrain(
        art.SlidingContact("on", "slope", "ball", radius)
    )
    q0 = np.array([1, 0, 0, 0, radius * np.sin(slope), 0, radius * np.cos(slope)])
    slip = art.simulate(
        hill,
        1.0,
        q0=q0,
        components=[SlidingFriction("on", mu, speed=1e-5, lag=1e-4)],
        step=1e-4,
        method="rk4",
    )
    hill.constrain(art.RollingContact("roll", "slope", "ball", radius))
    roll = art.simulate(hill, 1.0, q0=q0, step=1e-3)
    way = [float(np.linalg.norm(r.q[-1, 4:] - q0[4:])) for r in (slip, roll)]
    return {
        "ball on a turning table: rate of its circle over that of the table": float((turned[-1] - turned[0]) / (run.t[-1] * rate)),
        "ball on a slope, slipping and rolling: way after 1 s over that of a slide without friction": np.array(way) / (0.5 * 9.81 * np.sin(slope)),
        "slipping ball: turning rate after 1 s [rad/s]": float(np.linalg.norm(slip.v[-1, :3])),
    }  # fmt: skip
