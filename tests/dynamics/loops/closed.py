"""Closed mechanisms for the laws, with their equations as symbols and as numbers."""

from __future__ import annotations

import dataclasses
import functools

import casadi as ca
import numpy as np
from casadi import SX

import articulus as art
import zoo
from articulus.cases.slider_crank import mechanism
from articulus.dynamics.kinematics import position_rate
from articulus.dynamics.loops import ConstraintProblem
from articulus.dynamics.loops.canonical import CanonicalSymbols
from articulus.dynamics.loops.joint_form import joint_form
from articulus.dynamics.tree import Tree
from articulus.model.mechanism import Constraint, Description, LoopJoint, PointOnPoint, Pose

NAMES = ("every_joint", "crosses", "balls", "spacecraft", "several_roots", "hinge_chain")
"""Mechanisms of the zoo that have at least six degrees of freedom and no parameters."""


@dataclasses.dataclass(frozen=True)
class Closed:
    """A closed mechanism on symbols, with a random state; loops need not be closed at its position."""

    description: Description
    tree: Tree
    tau: SX
    t: SX
    problem: ConstraintProblem
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray

    def numbers(self, *expressions: SX) -> list[np.ndarray]:
        """Return expressions at the state."""
        f = ca.Function("f", [self.tree.q, self.tree.v, self.tau, self.t], list(expressions))
        out = f.call([self.q, self.v, self.force, 0.0])
        return [np.array(ca.densify(x)).squeeze(axis=1) if x.shape[1] == 1 else np.array(x) for x in out]

    @property
    def point(self) -> CanonicalSymbols:
        return CanonicalSymbols(self.tree.q, self.tree.v, self.t, position_rate(self.tree, self.tree.v))


def close(description: Description, *constraints: Constraint) -> Description:
    """Return a mechanism with constraints and without armature and rotors, which belong to no body."""
    joints = tuple(dataclasses.replace(c, rotor=None, armature=()) for c in description.connections)
    return dataclasses.replace(description, connections=joints, constraints=constraints)


def on_symbols(description: Description, q: np.ndarray, v: np.ndarray, force: np.ndarray) -> Closed:
    tree, tau, t = Tree(description), SX.sym("tau", description.nv), SX.sym("t")
    return Closed(description, tree, tau, t, joint_form(tree, tree.v, tau, t), q, v, force)


@functools.cache
def get(name: str, *, twice: bool = False) -> Closed:
    """Return a mechanism of the zoo whose tool is pinned to the bench (the same pin a second time with `twice`)."""
    mech = zoo.get(name)
    pins = [PointOnPoint("pin", "tool", "bench"), PointOnPoint("again", "tool", "bench")]
    state = zoo.random_state(mech, 3)
    return on_symbols(close(mech.description, *pins[: 1 + twice]), state.q, state.v, state.tau)


def hinged(name: str) -> Closed:
    """Return a mechanism of the zoo with a universal joint that closes a loop between two of its bodies."""
    mech = zoo.get(name)
    loop = LoopJoint("loop", art.Universal(), "bench", "tool", Pose((0.1, 0.0, 0.2)))
    state = zoo.random_state(mech, 4)
    return on_symbols(close(mech.description, loop), state.q, state.v, state.tau)


def kkt(M: np.ndarray, G: np.ndarray, f: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return accelerations and multipliers of the whole system of equations."""
    m = len(G)
    matrix = np.block([[M, G.T], [G, np.zeros((m, m))]])
    found = np.linalg.solve(matrix, np.concatenate([f, -wanted]))
    return found[: len(M)], found[len(M) :]


def reference(closed: Closed) -> tuple[np.ndarray, np.ndarray]:
    """Return accelerations and multipliers of the joint form by NumPy."""
    p = closed.problem
    M, G, f, gamma = closed.numbers(p.M, p.constraints.G, p.f, p.constraints.gamma)
    return kkt(M, G, f, gamma)


def slider_crank() -> tuple[ConstraintProblem, CanonicalSymbols]:
    """Return the slider-crank of Bayo & Avello 1994 in q = (x1, y1, x2)."""
    system = mechanism.slider_crank()
    return system.problem, system.at
