"""Planar arm of three links whose tip moves along a line: motors at all joints, or none at the first."""

import casadi as ca
import numpy as np
from casadi import SX

import articulus as art
from articulus.dynamics.loops import joint_directions, joint_form, servo
from articulus.dynamics.tree import Tree
from articulus.model.mechanism import Polynomial, PrescribedPoint
from articulus.simulation.integrate import RK4

MASS = (30.0, 18.0, 18.0)
INERTIA = (10.0, 8.64, 8.64)
START = np.radians([60.0, -10.0, -90.0])
STEPS = 250
"""Of RK4 over one second; halving the step changes no digit that is compared."""
READINGS = {"mass centre": 0.0, "joint": 0.25}
"""How much of m L^2 the printed inertia contains, for both meanings it may have."""


def compute() -> dict:
    first = arm(0.0)
    J = first.jacobian("tip", START)[3:5]
    rates = np.array([*np.linalg.solve(J[:, [0, 2]], [-1.0, 0.0])]) @ np.array([[1, 0, 0], [0, 0, 1]])
    out = {
        "tip at t = 0 [m]": first.pose("tip", START)[:2, 3],
        "rates at t = 0 with no turn of joint 2 [rad/s]": rates,
    }
    off_line = []
    for reading, share in READINGS.items():
        mechanism = arm(share)
        methods = {
            "ideal": None,
            "no motor at joint 1": joint_directions(mechanism.description, ["j2", "j3"]),
        }
        for method, motors in methods.items():
            label = f"inertia about the {reading}, {method}"
            q, v, moments = motion(mechanism, motors, rates)
            out[f"angles turned in 1 s [deg], {label}"] = np.degrees(q - START)
            out[f"rates at t = 1 s [rad/s], {label}"] = v
            out[f"moments at t = 0 [N m], {label}"] = moments[0]
            out[f"moments at t = 1 s [N m], {label}"] = moments[1]
            off_line.append(mechanism.pose("tip", q)[:2, 3] - first.pose("tip", START)[:2, 3] - [-1.0, 0.0])
    out["largest distance of the tip from its line at t = 1 s [m]"] = np.abs(off_line).max()
    return out


def arm(share: float) -> art.Mechanism:
    """Return the arm with m L^2 `share` taken off the printed inertias, and no gravity."""
    mechanism = art.Mechanism("three-link arm", gravity=(0, 0, 0))
    for i, (m, inertia) in enumerate(zip(MASS, INERTIA), 1):
        mechanism.body(f"link{i}", mass=m, com=(0.5, 0, 0), inertia=(inertia, inertia, inertia - share * m))
        parent = f"link{i - 1}" if i > 1 else "ground"
        mechanism.joint(
            f"j{i}", art.Revolute((0, 0, 1)), parent, f"link{i}", at=(1.0 if i > 1 else 0.0, 0, 0)
        )
    mechanism.frame("tip", "link3", at=(1.0, 0, 0))
    return mechanism.constrain(
        PrescribedPoint("line", "tip", x=Polynomial((1.9088, -1.0)), y=Polynomial((0.9893,)))
    )


def motion(
    mechanism: art.Mechanism, motors: np.ndarray | None, rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list]:
    """Return angles and rates after one second, and the joint moments at both ends."""
    tree, t = Tree(mechanism.description), SX.sym("t")
    problem = joint_form(tree, tree.v, SX.zeros(3), t)
    Z = problem.constraints.G if motors is None else SX(motors)
    found = servo(problem, Z)
    x = ca.vertcat(tree.q, tree.v)
    rate = ca.Function("rate", [t, x], [ca.vertcat(tree.v, found.vdot)])
    moments = ca.Function("moments", [t, x], [-ca.mtimes(Z.T, found.multipliers)])

    def f(time: float, state: np.ndarray) -> np.ndarray:
        return np.array(rate(time, state)).ravel()

    begin = np.concatenate([START, rates])
    end = RK4().integrate(f, 0.0, 1.0, begin, STEPS)[1][-1]
    return end[:3], end[3:], [np.array(moments(time, s)).ravel() for time, s in ((0.0, begin), (1.0, end))]
