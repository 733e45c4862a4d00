"""The constraints of a mechanism as one set of rows, with Jacobian and accelerations, derived from the residuals.

    position   g(q, t)              = 0     rows of holonomic constraints (zero for the others)
    velocity   G v + g_t            = 0
    acceleration  G vdot + gamma    = 0

A constraint that is not holonomic is its own velocity row A v + b, with G = A.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.kinematics import position_rate
from articulus.dynamics.tree import ROOT, Tree
from articulus.mechanism import Number, Pose
from articulus.mechanism.constraint import Constraint
from articulus.spatial import Motion, Transform


@dataclass(frozen=True)
class Constraints:
    """All constraint rows of a mechanism at one state."""

    g: SX
    """(m,) Position residuals; zero in rows that restrict velocities only."""
    G: SX
    """(m, nv) Derivative of the velocity residuals by v; sparse."""
    rate: SX
    """(m,) Velocity residuals, G v + g_t."""
    gamma: SX
    """(m,) Acceleration residuals at vdot = 0."""

    def rows(self, kept: Sequence[int]) -> Constraints:
        """Return the set with only the given rows, for example the independent ones."""
        at = list(kept)
        return Constraints(self.g[at], self.G[at, :], self.rate[at], self.gamma[at])


def constraints(tree: Tree, v: SX, t: SX) -> Constraints:
    """Return every row of every constraint, in the order of `description.constraints`.

    g_dot = dg/dq N v + dg/dt with qdot = N(q) v, and gamma is the time derivative of that at constant v.
    """
    view = View(tree, v, t)
    parts = [_one(view, c) for c in tree.description.constraints]
    nv = tree.description.nv
    return Constraints(
        ca.vertcat(SX(0, 1), *(p.g for p in parts)),
        ca.vertcat(SX(0, nv), *(p.G for p in parts)),
        ca.vertcat(SX(0, 1), *(p.rate for p in parts)),
        ca.vertcat(SX(0, 1), *(p.gamma for p in parts)),
    )


def _one(view: View, constraint: Constraint) -> Constraints:
    residual = constraint.residual(view)
    if constraint.holonomic:
        g, rate = residual, _time_derivative(view, residual)
    else:
        g, rate = SX.zeros(residual.shape), residual
    return Constraints(g, ca.sparsify(ca.jacobian(rate, view.v)), rate, _time_derivative(view, rate))


def _time_derivative(view: View, expression: SX) -> SX:
    """Return d/dt at constant v: by q along dq/dt, and by t."""
    tree = view.tree
    along = ca.jtimes(expression, tree.q, position_rate(tree, view.v)) if tree.description.nq else 0
    return along + ca.jacobian(expression, view.t)


@dataclass(frozen=True)
class View:
    """A mechanism as its constraints see it (`mechanism.constraint.Kinematics`)."""

    tree: Tree
    v: SX
    t: SX

    @property
    def q(self) -> SX:
        return self.tree.q

    def relative(self, a: str, b: str) -> Transform:
        (node_a, X_a), (node_b, X_b) = self.tree.frame(a), self.tree.frame(b)
        shared = set(self.tree.path(node_a)) & set(self.tree.path(node_b))
        return (self._up(node_a, shared) @ X_a).inverse() @ (self._up(node_b, shared) @ X_b)

    def _up(self, node: int, shared: set[int]) -> Transform:
        """Return the pose of a node in its nearest ancestor among `shared` (the ground if there is none)."""
        X = Transform.identity()
        for i in self.tree.path(node) if node != ROOT else ():
            if i in shared:
                break
            X = _merged(self.tree.nodes[i].X) @ X
        return X

    def velocity(self, frame: str) -> Motion:
        from articulus.dynamics.kinematics import velocity

        return Motion.of(velocity(self.tree, frame, self.v))

    def coordinates(self, joint: str) -> SX:
        return self.tree.q[self.tree.description.q_slices[joint]]

    def rates(self, joint: str) -> SX:
        return self.v[self.tree.description.v_slices[joint]]

    def pose(self, pose: Pose) -> Transform:
        return self.tree.pose(pose)

    def number(self, number: Number) -> SX:
        return self.tree.number(number)


def _merged(X):  # type: ignore[no-untyped-def]
    return X if isinstance(X, Transform) else X.merged()
