"""Two PUMA 600 arms on a turntable hold a box: steps A to F against one dense system of equations in NumPy."""

import dataclasses

import casadi as ca
import numpy as np
from casadi import SX

import articulus as art
from articulus.cases.checks import relative
from articulus.dynamics.constraints import constraints
from articulus.dynamics.loops.operator_form import by_secondary, mobility, operator_form, primary_dofs
from articulus.dynamics.tree import Tree
from articulus.model.mechanism import Description, Fixed, Frame

SIDES = {"left": 0.7, "right": -0.7}
"""Place of each arm on the turntable [m]."""
ANGLES = np.linspace(-1.1, 0.9, 13)
BOX = np.array([1.0, 0.0, 0.0, 0.0, 0.5, 0.1, 0.4])
"""Quaternion and position [m]."""


def compute() -> dict:
    held = holding_a_box()
    tau = np.concatenate([np.linspace(-20.0, 30.0, 13), np.zeros(6)])
    rng = np.random.default_rng(0)
    numbers = equations(held)
    moving, resting = (NumericEquations(held, numbers, v, tau) for v in (rng.normal(size=19), np.zeros(19)))
    out = {}
    for label, solution in (("steps A-F", moving.direct), ("alternative of step D", moving.through_box)):
        for text, found, expected in zip(("vdot", "closure forces"), solution, moving.dense()):
            out[f"{text}, {label}"] = relative(found, expected)
    out["vdot, eq. 3.13 with D^-1/2 in b, at rest"] = relative(resting.closed_form(), resting.dense()[0])
    out["A Lambda A' through the nearest common ancestor"] = moving.through_tools()
    return out


def holding_a_box() -> art.Mechanism:
    """Return the closed mechanism; the box is gripped where the tools are at `ANGLES`."""
    arms = art.Mechanism.from_description(two_arms())
    arms.body("box", mass=12.0, com=(0.02, 0.0, 0.05), inertia=(0.3, 0.5, 0.4))
    arms.joint("flight", art.Free(), "ground", "box")
    to_box = np.eye(4)
    to_box[:3, 3] = -BOX[4:]
    for side in SIDES:
        tool = np.array(arms.function("pose", [f"{side} tool"])(np.concatenate([ANGLES, BOX])))
        arms.loop(f"{side} grip", Fixed(), f"{side} tool", "box", child_at=to_box @ tool)
    return arms


def two_arms() -> Description:
    """Return two PUMA 600 on a turntable."""
    table = art.Mechanism("two arms").body("turntable", mass=80.0, com=(0.05, 0, 0), inertia=(10, 10, 15))
    table.joint("turn", art.Revolute((0, 0, 1)), "ground", "turntable")
    base, puma = table.description, art.load("puma600").description
    bodies, joints, frames = list(base.bodies), list(base.connections), list[Frame]()
    for side, y in SIDES.items():
        bodies += [dataclasses.replace(b, name=f"{side} {b.name}") for b in puma.bodies]
        frames += [
            dataclasses.replace(f, name=f"{side} {f.name}", body=f"{side} {f.body}") for f in puma.frames
        ]
        for c in puma.connections:
            on_table = c.parent == "ground"
            joints.append(
                dataclasses.replace(
                    c,
                    name=f"{side} {c.name}",
                    parent="turntable" if on_table else f"{side} {c.parent}",
                    child=f"{side} {c.child}",
                    at=art.Pose(xyz=(0.0, y, 0.0)) if on_table else c.at,
                )
            )
    return Description.build("two arms", tuple(bodies), tuple(joints), tuple(frames))


def equations(held: art.Mechanism) -> ca.Function:
    """Return vdot and closure forces by both ways, G, gamma and the mobility of the arms, from q, v, f and t."""
    tree, t, f = Tree(held.description), SX.sym("t"), SX.sym("f", held.nv)
    c = constraints(tree, tree.v, t)
    solutions = operator_form(tree, f, c), by_secondary(tree, f, c, ["box"])
    found = [x for s in solutions for x in (s.vdot, s.multipliers)]
    return ca.Function(
        "equations", [tree.q, tree.v, f, t], [*found, c.G, c.gamma, mobility(tree, c, ["box"])]
    )


class NumericEquations:
    """The equations at one state, as numbers."""

    def __init__(self, held: art.Mechanism, numbers: ca.Function, v: np.ndarray, tau: np.ndarray):
        self.held, self.q = held, np.concatenate([ANGLES, BOX])
        self.M = self.ask("mass_matrix", self.q)
        self.f = tau - self.ask("bias", self.q, v).ravel()
        *found, self.G, gamma, self.W = (np.array(x) for x in numbers(self.q, v, self.f, 0.0))
        self.gamma = gamma.ravel()
        self.direct, self.through_box = [x.ravel() for x in found[:2]], [x.ravel() for x in found[2:]]
        self.primary = primary_dofs(Tree(held.description), ["box"])

    def ask(self, name: str, *arguments: np.ndarray, frames: tuple[str, ...] = ()) -> np.ndarray:
        return np.array(self.held.function(name, frames)(*arguments))

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Return vdot and closure forces of equation 2.17."""
        n, m = len(self.M), len(self.G)
        whole = np.block([[self.M, self.G.T], [self.G, np.zeros((m, m))]])
        x = np.linalg.solve(whole, np.concatenate([self.f, -self.gamma]))
        return x[:n], x[n:]

    def closed_form(self) -> np.ndarray:
        """Return vdot of equation 3.13, for gamma = 0."""
        _, D, L_inverse = map(np.array, self.held.function("mass_matrix_factors")(self.q))
        half = L_inverse / np.sqrt(D)
        b = half @ self.G.T
        onto = np.eye(len(half)) - b @ np.linalg.solve(b.T @ b, b.T)
        return half.T @ onto @ half @ self.f

    def through_tools(self) -> float:
        """Return how far A Lambda A', Lambda from pairs of tools, is from the mobility of the primary."""
        tools = [f"{side} tool" for side in SIDES]
        J = np.vstack([self.ask("jacobian", self.q, frames=(a,)) for a in tools])[:, self.primary]
        inertia = self.held.tree.function
        pairs = [[np.array(inertia("operational_inertia", (a, b))(self.q)) for b in tools] for a in tools]
        A = self.G[:, self.primary] @ np.linalg.pinv(J)
        return relative(A @ np.block(pairs) @ A.T, self.W)
