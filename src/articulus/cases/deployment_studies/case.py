"""An appendage is slewed while three wheels hold its craft; a rim of 18 bodies unfolds as far as six stays are paid out, which pulse.

Second and third study of an abstract without data, whose first is the case `boom_reorientation`: all numbers are assumed.
"""

import math

import casadi as ca
import numpy as np

import articulus as art
from articulus.model.mechanism.pose import Pose
from articulus.simulation.loop import components as c

HUB, INERTIA, ROOT = 400.0, (150.0, 120.0, 100.0), (0.8, 0.3, 0.2)
ARM, CENTER, ABOUT = 30.0, (2.0, 0.0, 0.0), (2.0, 40.0, 42.0)
"""Mass [kg], center [m] and inertia [kg m^2] of the appendage in its own axes."""
AXIS, ANGLE, TIME, END = (0.6, 0.0, 0.8), math.pi / 2, 40.0, 120.0
STIFFNESS, DAMPING = (20.0, 20.0, 30.0), (90.0, 90.0, 100.0)
"""Of the loops of attitude [N m], [N m s]."""
JOINT = (60.0, 160.0)
"""Of the loop of the appendage."""
NAMES = ("wheel_x", "wheel_y", "wheel_z")

SIDES, LINK, BLOCK, ROD = 6, 5.0, 2.0, 3.0
"""Sides of the rim, length of a link [m], masses of a block and of a link [kg]."""
FOLDED, SPRING = 1.0, 6.0
"""Radius at the start [m], stiffness of the springs at the blocks [N m/rad]."""
EA, LOSS, SPEED, UNFOLDED = 4e3, 1.0, 0.25, 9.0
"""Stays: stiffness [N], damping [N s/m], speed at which they are paid out [m/s], length in the end [m]."""
UNFOLDING, STEP = 40.0, 1e-3


def compute() -> dict:
    return {**slew(), **unfold()}


def slew() -> dict:
    """Return where craft and appendage are in the end, and how momentum was kept."""
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", HUB, (0, 0, 0), INERTIA).joint("flight", art.Free(), "ground", "hub")
    m.body("arm", ARM, CENTER, ABOUT).joint("shoulder", art.Revolute(AXIS), "hub", "arm", at=ROOT)
    s = [ca.SX.sym(n, k) for n, k in (("t", 1), ("q", m.nq), ("v", m.nv))]
    t, q, v = s
    part = ca.fmin(t / TIME, 1)
    goal = ANGLE * (10 * part**3 - 15 * part**4 + 6 * part**5)
    rate = ANGLE / TIME * 30 * part**2 * (1 - part) ** 2
    hold = -ca.vertcat(*STIFFNESS) * 2 * q[1:4] * q[0] - ca.vertcat(*DAMPING) * v[:3]
    drive = JOINT[0] * (goal - q[7]) + JOINT[1] * (rate - v[6])
    law = ca.Function("law", s, [ca.vertcat(-hold, drive)], ["t", "q", "v"], ["u"])
    wheels = [c.ReactionWheel("hub", 0.1, tuple(a), name=n) for a, n in zip(np.eye(3), NAMES)]
    parts = [c.Expression(law), *wheels, c.Torque("shoulder")]
    run = art.simulate(m, END, components=parts, method="rk4", step=0.005, sample=0.5)
    stored = np.concatenate([run[f"{n}.momentum"] for n in NAMES], axis=1)
    R = np.array([art.spatial.rotation_of_quaternion(row) for row in run.q[:, :4]])
    angular, linear = run["momentum"][:, :3], run["momentum"][:, 3:]
    largest = np.abs(stored).max()
    half = int(20.0 / 0.5)
    return {
        "appendage: attitude of the hub half way, vector part of its quaternion": run.q[half, 1:4],
        "appendage: momenta of the wheels half way [N m s]": stored[half],
        "appendage: angle in the end [rad]": run.q[-1, 7],
        "appendage: attitude in the end, and momenta of the wheels over the largest": [
            float(np.abs(run.q[-1, 1:4]).max()),
            float(np.abs(stored[-1]).max() / largest),
        ],
        "appendage: angular momentum of craft and wheels, and linear per meter, over the largest of a wheel": [
            float(np.abs(angular + np.einsum("tij,tj->ti", R, stored)).max() / largest),
            float(np.abs(linear).max() / largest),
        ],
    }


def rim() -> art.Mechanism:
    """Return six blocks that slide outwards, and twelve links between them that are folded up."""
    m = art.Mechanism("rim", gravity=(0, 0, 0))
    J = ROD * LINK**2 / 12
    for k in range(SIDES):
        turn = 2 * math.pi * k / SIDES
        m.body(f"block{k}", BLOCK, (0, 0, 0), (0.01, 0.01, 0.01))
        m.joint(f"slide{k}", art.Prismatic((1, 0, 0)), "ground", f"block{k}", Pose((0, 0, 0), (0, 0, turn)))
        for side, heading in (("a", 2 * math.pi / 3), ("b", -2 * math.pi / 3)):
            link = f"link{k}{side}"
            m.body(link, ROD, (LINK / 2, 0, 0), (1e-3 * J, J, J))
            hinge = art.Revolute((0, -1, 0))
            m.joint(
                f"hinge{k}{side}",
                hinge,
                f"block{k}",
                link,
                Pose((0, 0, 0), (0, 0, heading)),
                stiffness=SPRING,
            )
            m.frame(f"end{k}{side}", link, (LINK, 0, 0))
    for k in range(SIDES):
        m.constrain(art.PointOnPoint(f"joint{k}", f"end{k}a", f"end{(k + 1) % SIDES}b"))
    return m


def unfold() -> dict:
    """Return how far the rim is in the end, and how its stays pulsed."""
    m = rim()
    up = math.acos(FOLDED / (2 * LINK))
    q0 = np.tile([FOLDED, up, up], SIDES)
    t = ca.SX.sym("t")
    command = ca.if_else(t < (UNFOLDED - FOLDED) / SPEED, SPEED, 0.0)
    law = ca.Function("law", [t], [ca.repmat(command, SIDES, 1)], ["t"], ["u"])
    stays = [
        c.Winch(("ground", f"block{k}"), EA, FOLDED, damping=LOSS, name=f"stay{k}") for k in range(SIDES)
    ]
    run = art.simulate(
        m, UNFOLDING, q0, components=[c.Expression(law), *stays], method="rk4", step=STEP, sample=2e-3
    )
    tension = run["stay0.tension"].ravel()
    radii = run.q[:, ::3]
    return {
        "rim: radius in the end [m]": radii[-1, 0],
        "rim: pulses of tension in a stay": float(np.sum((tension[1:] > 0) & (tension[:-1] == 0))),
        "rim: largest tension [N]": float(tension.max()),
        "rim: time of the largest tension [s]": float(run.t[tension.argmax()]),
        "rim: difference between its six radii [m]": float(np.ptp(radii, axis=1).max()),
    }
