"""Absolute coordinates: every body by itself, every joint a constraint; and the matrix that leads to joint coordinates.

The velocities of body i are V_i = (w_i, rdot_i), angular part first: turning and mass center, in ground axes.

    M V' + D' lambda = h,   D V = 0        Newton and Euler, with the rows of all joints, cut ones included
    V = B v,   D_tree B = 0                B takes joint rates to velocities
    B' M B vdot = B' (h - M Bdot v)        the tree in joint coordinates again;  D_cut B is its G

Bodies that fixed joints join are one; a joint with several degrees of freedom in a row has bodies without mass inside, which
`augmented` bears.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.constraints import Constraints, View
from articulus.dynamics.kinematics import position_rate
from articulus.dynamics.loops.base import ConstraintProblem
from articulus.dynamics.loops.null_space import partition
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import ROOT, Tree
from articulus.errors import UnsupportedOperation
from articulus.spatial import Force, Motion, Transform, cross, skew


@dataclass(frozen=True)
class Absolute:
    """A mechanism in absolute coordinates, on the symbols q, v of its tree."""

    problem: ConstraintProblem
    """M, h and the rows of all joints: those of the tree first, then those of the constraints. Unknowns are V'."""
    B: SX
    """(6n, nv) Joint rates to velocities."""
    carried: SX
    """(6n,) Bdot v, the accelerations at vdot = 0."""
    tree_rows: int
    """Number of rows that belong to joints of the tree."""

    def joint_form(self) -> ConstraintProblem:
        """Return the same equations in joint coordinates, from B and the cut rows alone.

        Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 8-10 and 15.
        """
        M, c, B = self.problem.M, self.problem.constraints, self.B
        force = ca.mtimes(B.T, self.problem.f - ca.mtimes(M, self.carried))
        cut = c.rows(range(self.tree_rows, c.g.numel()))
        gamma = ca.mtimes(cut.G, self.carried) + cut.gamma
        G = ca.sparsify(ca.mtimes(cut.G, B))
        return ConstraintProblem(
            ca.mtimes(B.T, ca.mtimes(M, B)), force, Constraints(cut.g, G, cut.rate, gamma)
        )


def absolute(tree: Tree, v: SX, tau: SX, t: SX) -> Absolute:
    """Return the equations of every body with all joints as constraints.

    Position residuals of the tree's joints are zero: poses come from q.

    Parameters
    ----------
    tree : Tree
        Without `regroup`: bodies keep their own mass.
    v, tau : SX, (nv,)
    t : SX [s]

    Raises
    ------
    UnsupportedOperation
        A joint has armature or a rotor, which belong to no body.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 1-7.
    """
    _refuse_armature(tree)
    bodies = Bodies(tree, t)
    B = bodies.velocity_matrix()
    motion = ca.densify(ca.mtimes(B, v))
    carried = ca.jtimes(motion, tree.q, position_rate(tree, v))
    rows = [bodies.tree_row(i) for i in range(len(tree))]
    tree_rows = sum(row.numel() for row in rows)
    view = Seen(tree, bodies.joint_rates, t, bodies=bodies)
    residuals = [c.residual(view) for c in tree.description.constraints]
    for c, residual in zip(tree.description.constraints, residuals):
        rows.append(bodies.rate(residual) if c.holonomic else residual)
    D_V = ca.vertcat(SX(0, 1), *rows)
    g = ca.vertcat(
        SX.zeros(tree_rows),
        *(r if c.holonomic else 0 * r for c, r in zip(tree.description.constraints, residuals)),
    )
    D = ca.sparsify(ca.jacobian(D_V, bodies.V))
    g, D, D_V, gamma = bodies.at_position([g, D, D_V, bodies.rate(D_V)], motion)
    M, h = bodies.newton_euler(motion, tau + passive_forces(tree, v))
    return Absolute(ConstraintProblem(M, h, Constraints(g, D, D_V, gamma)), B, carried, tree_rows)


@dataclass(frozen=True)
class Seen(View):
    """A mechanism as its constraints see it, with every body where its own symbols say."""

    bodies: Bodies = field(kw_only=True)

    def relative(self, a: str, b: str) -> Transform:
        return self.bodies.frame(a).inverse() @ self.bodies.frame(b)

    def velocity(self, frame: str) -> Motion:
        return self.bodies.velocity(frame)


class Bodies:
    """Every node's pose and velocity as symbols of their own."""

    def __init__(self, tree: Tree, t: SX):
        self.tree, self.t = tree, t
        self._poses = SX.sym("poses", 12, len(tree))
        self.V = SX.sym("V", 6 * len(tree))
        self._center = [_mass_center(node.inertia.m, node.inertia.h) for node in tree.nodes]

    def tree_row(self, i: int) -> SX:
        """Return what must vanish in the velocity of node i relative to its parent, (6 - degrees of freedom,)."""
        return ca.mtimes(_complement(self.tree.nodes[i].S), self._relative(i).column())

    def rate(self, expression: SX) -> SX:
        """Return d/dt at constant V: along the poses, the joint coordinates and time."""
        poses = ca.vec(self._poses)
        along = ca.jtimes(expression, poses, self._pose_rates) + ca.jtimes(expression, self.t, SX(1))
        return along + ca.jtimes(expression, self.tree.q, position_rate(self.tree, self.joint_rates))

    @functools.cached_property
    def joint_rates(self) -> SX:
        """Return the joint rates that go with V, (nv,)."""
        rates = SX.zeros(self.tree.description.nv)
        for i, dofs in enumerate(self.tree.dofs):
            if dofs:
                S = _columns(self.tree.nodes[i].S)
                rates[list(dofs)] = ca.mtimes(_left_inverse(S), self._relative(i).column())
        return rates

    def frame(self, name: str) -> Transform:
        """Return the pose of a body or frame."""
        node, X = self.tree.frame(name)
        return X if node == ROOT else self._node(node) @ X

    def velocity(self, frame: str) -> Motion:
        """Return the velocity of a frame's origin in ground axes."""
        node, _ = self.tree.frame(frame)
        if node == ROOT:
            return Motion.zero()
        return self._at(Transform(SX.eye(3), self.frame(frame).p), node)

    @functools.cached_property
    def _pose_rates(self) -> SX:
        rates = []
        for i in range(len(self.tree)):
            X, (w, rdot) = self._node(i), self._motion(i)
            origin = rdot - cross(w, ca.mtimes(X.R, self._center[i]))
            rates.append(Transform(ca.mtimes(skew(w), X.R), origin).pack())
        return ca.vertcat(SX(0, 1), *rates)

    def at_position(self, expressions: list[SX], motion: SX) -> list[SX]:
        """Return expressions with the poses of the tree and the velocities `motion`."""
        poses = ca.horzcat(SX(12, 0), *(X.pack() for X in self.tree.world))
        return ca.substitute(expressions, [self._poses, self.V], [poses, motion])

    def velocity_matrix(self) -> SX:
        """Return B: a hinge about u gives every body outboard of it (u, u x d), d from the hinge to its mass center."""
        tree = self.tree
        B = SX(6 * len(tree), tree.description.nv)
        for i, X in enumerate(tree.world):
            center = X.p + ca.mtimes(X.R, self._center[i])
            for j in tree.path(i):
                seen = Transform(tree.world[j].R, tree.world[j].p - center)
                for S, k in zip(tree.nodes[j].S, tree.dofs[j]):
                    B[6 * i : 6 * i + 6, k] = seen.motion_to_parent(S).column()
        return ca.sparsify(B)

    def newton_euler(self, motion: SX, tau: SX) -> tuple[SX, SX]:
        """Return diag(J_i, m_i) and the applied, gravity and gyroscopic forces on every body."""
        tree, blocks, forces = self.tree, [], []
        for i, (node, X) in enumerate(zip(tree.nodes, tree.world)):
            m, w = node.inertia.m, motion[6 * i : 6 * i + 3]
            J = node.inertia.shift(-self._center[i]).rotate(X.R).J
            blocks += [J, m * SX.eye(3)]
            forces.append(Force(-cross(w, ca.mtimes(J, w)), m * tree.gravity))
        for i in range(len(tree)):
            for k, force in self._joint_force(i, tau):
                forces[k] = forces[k] + force
        return ca.sparsify(ca.diagcat(*blocks)), ca.vertcat(SX(0, 1), *(f.column() for f in forces))

    def _joint_force(self, i: int, tau: SX) -> list[tuple[int, Force]]:
        """Return the wrench of a joint's force on its body and the opposite one on the parent's, at mass centers."""
        if not self.tree.dofs[i]:
            return []
        S = _columns(self.tree.nodes[i].S)
        local = Force.of(ca.mtimes(_left_inverse(S).T, tau[list(self.tree.dofs[i])]))
        out, X = [], self.tree.world[i]
        for k, sign in ((i, 1.0), (self.tree.parents[i], -1.0)):
            if k != ROOT:
                center = self.tree.world[k].p + ca.mtimes(self.tree.world[k].R, self._center[k])
                out.append((k, Transform(X.R, X.p - center).force_to_parent(local) * sign))
        return out

    def _relative(self, i: int) -> Motion:
        """Return the velocity of node i relative to its parent, in its own frame."""
        X, p = self._node(i), self.tree.parents[i]
        return self._at(X, i) if p == ROOT else self._at(X, i) - self._at(X, p)

    def _at(self, X: Transform, node: int) -> Motion:
        """Return the velocity of a node's body where frame X is, in the axes of X."""
        w, rdot = self._motion(node)
        seen = rdot + cross(w, X.p - self._center_at(node))
        return Motion(ca.mtimes(X.R.T, w), ca.mtimes(X.R.T, seen))

    def _node(self, i: int) -> Transform:
        return Transform.unpack(self._poses[:, i])

    def _motion(self, i: int) -> tuple[SX, SX]:
        return self.V[6 * i : 6 * i + 3], self.V[6 * i + 3 : 6 * i + 6]

    def _center_at(self, i: int) -> SX:
        X = self._node(i)
        return X.p + ca.mtimes(X.R, self._center[i])


def _mass_center(m: SX, h: SX) -> SX:
    """Return h / m, the frame's origin for a node without mass."""
    return SX.zeros(3) if m.is_zero() else h / m


def _columns(S: tuple[Motion, ...]) -> SX:
    return ca.horzcat(*(s.column() for s in S))


def _left_inverse(S: SX) -> SX:
    """Return S^+ with S^+ S = I."""
    return ca.solve(ca.mtimes(S.T, S), S.T)


def _complement(directions: tuple[Motion, ...]) -> SX:
    """Return rows T with T S = 0 and full rank: motions in the node's frame that its joint does not allow."""
    if not directions:
        return SX.eye(6)
    S = _columns(directions)
    symbols = ca.symvar(S)
    sample = ca.DM(ca.substitute(S, ca.vertcat(*symbols), SX.ones(len(symbols)))) if symbols else ca.DM(S)
    p = partition(np.array(sample).T)
    rest, pivot = list(p.independent), list(p.dependent)
    T = SX(6, 6)[: len(rest), :]
    T[:, rest] = SX.eye(len(rest))
    T[:, pivot] = -ca.mtimes(S[rest, :], ca.inv(S[pivot, :]))
    return ca.sparsify(T)


def _refuse_armature(tree: Tree) -> None:
    for c in tree.description.connections:
        if c.rotor is not None or any(c.per_dof("armature")):
            raise UnsupportedOperation(
                f"joint '{c.name}' has armature or a rotor, which belong to no body; absolute coordinates cannot "
                "represent them. Use a form in joint coordinates, or model the rotor as a separate body"
            )
