"""How one frame moves as seen from another: pose, velocity, acceleration and Jacobian, by the joints between the two."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.tree import Tree
from articulus.spatial import Motion, Product, Transform, skew


@dataclass(frozen=True)
class Relative:
    """A frame b in a frame a; motions in the axes and about the origin of b.

    Attributes
    ----------
    X : Transform
        Pose.
    V : Motion
        Velocity of b relative to a.
    A : Motion
        Time derivative of the components of V at constant joint velocities.
    columns : dict of int to Motion
        V by the velocity of each degree of freedom between the two.
    """

    X: Transform
    V: Motion
    A: Motion
    columns: dict[int, Motion]

    def seen_from(self, base: Relative) -> Relative:
        """Return this frame as seen from another one; both are given relative to the same third frame.

        Degrees of freedom that move both, modes of the third body, have the difference of their columns.
        """
        X = base.X.inverse() @ self.X
        carried = X.motion_to_child(base.V)
        V = self.V - carried
        A = self.A - X.motion_to_child(base.A) - carried.cross(V)
        back = {k: X.motion_to_child(column) * -1 for k, column in base.columns.items()}
        both = {k: self.columns[k] + back[k] for k in self.columns.keys() & back.keys()}
        return Relative(X, V, A, self.columns | back | both)

    def rates(self) -> tuple[SX, SX]:
        """Return first and second time derivative of the twelve numbers of X, at constant joint velocities."""
        R, turning = self.X.R, skew(self.V.w)
        turning_rate = ca.mtimes(turning, turning) + skew(self.A.w)
        second = ca.mtimes(turning, self.V.v) + self.A.v
        return _pack_rate(R, self.V), Transform(ca.mtimes(R, turning_rate), ca.mtimes(R, second)).pack()

    def jacobian(self, nv: int) -> SX:
        """Return the derivative of the first of `rates` by v, (12, nv), sparse."""
        J = SX(12, nv)
        for k, column in self.columns.items():
            J[:, k] = _pack_rate(self.X.R, column)
        return ca.sparsify(J)


def _pack_rate(R: SX, V: Motion) -> SX:
    return Transform(ca.mtimes(R, skew(V.w)), ca.mtimes(R, V.v)).pack()


def relative(tree: Tree, v: SX, a: str, b: str) -> Relative:
    """Return how body or frame b moves as seen from a; only joints and modes between the two enter.

    The nearest common ancestor counts as fixed; if it is flexible, its modes move the stations that lead to both.
    """
    (node_a, X_a), (node_b, X_b) = tree.frame(a), tree.frame(b)
    shared = set(tree.path(node_a)) & set(tree.path(node_b))
    return _below(tree, v, node_b, X_b, shared).seen_from(_below(tree, v, node_a, X_a, shared))


def _below(tree: Tree, v: SX, node: int, X: Transform, shared: set[int]) -> Relative:
    """Return a frame of a node as seen from the node's nearest ancestor among `shared`, or from the ground."""
    path = [i for i in tree.path(node) if i not in shared]
    V, A = Motion.zero(), Motion.zero()
    for i in reversed(path):
        step, rates = tree.nodes[i], v[tree.span(i)]
        own, carried = step.joint_velocity(rates), step.X.motion_to_child(V)
        V, A = carried + own, step.X.motion_to_child(A) + carried.cross(own)
        if step.station is not None:
            A = A + step.station.turned_rate(rates)
    columns, at = {}, X
    for i in path:
        for S, k in zip(tree.nodes[i].S, tree.dofs[i]):
            columns[k] = at.motion_to_child(S)
        at = merge_pose(tree.nodes[i].X) @ at
    return Relative(at, X.motion_to_child(V), X.motion_to_child(A), columns)


def merge_pose(X: Transform | Product) -> Transform:
    """Return a pose as one factor."""
    return X.merge() if isinstance(X, Product) else X
