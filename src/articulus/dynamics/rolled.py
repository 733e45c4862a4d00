"""Derivatives and the inverse mass matrix of long mechanisms as graphs of calls: columns by passes, then products."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import casadi as ca
from casadi import MX, SX

from articulus.dynamics import forward, forward_derivatives, inverse_derivatives, operators
from articulus.dynamics.flexible import elimination
from articulus.dynamics.flexible.derivatives import WrittenDerivatives
from articulus.dynamics.inverse_matrix import inverse_mass_matrix, lower_factors
from articulus.dynamics.pair_matrices import Pairs, same_joint
from articulus.dynamics.passive import passive_rates
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Product, Transform, skew

if TYPE_CHECKING:
    from articulus.dynamics.quantities import Question


def derivatives(s: Question) -> tuple[MX, MX, MX]:
    """Return d vdot/d q, d vdot/d v and M^-1: -M^-1 times the derivatives of inverse dynamics, entries written out.

    With flexible bodies by elimination, written out, where that takes fewer operations.
    """
    if s.tree.flexible:
        tree, tau = s.masses, SX.sym("tau", s.tree.description.nv)
        found = WrittenDerivatives(tree, tau)
        whole = found.eliminates()
        outputs = map(ca.densify, found.forward_dynamics() if whole else found.inverse_dynamics())
        written = ca.Function("written", [tree.q, tree.v, tree.p, tau], list(outputs))
        matrices = written(s["q"], s["v"], s["p"], s["tau"])
        return matrices if whole else _products(*matrices)
    vdot, factors = forward.accelerations_and_factors(s.run, s["v"], s["tau"] + s.passive)
    inverse_mass = _inverse_mass(s.tree)(factors.S, factors.K, factors.d_inverse)
    by_q, by_v = _written_pairs(s, vdot)
    return _products(by_q, by_v, inverse_mass)


def derivatives_by_recursion(s: Question) -> tuple[MX, MX, MX]:
    """Return the same by the recursion of `forward_derivatives`; with flexible bodies by `elimination`."""
    position, rate = (s.run.expression(x) for x in passive_rates(s.tree, s.tree.v))
    if not s.tree.flexible:
        return forward_derivatives.derivatives(s.run, s["v"], s["tau"] + s.passive, (position, rate))
    vdot = forward.forward_dynamics(s.run, s["v"], s["tau"] + s.passive)
    columns = inverse_derivatives.columns(s.run, s["v"], vdot)
    return elimination.derivatives(s.masses, columns, (position, rate))


def _products(by_q: MX, by_v: MX, inverse_mass: MX) -> tuple[MX, MX, MX]:
    return -ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass


def _inverse_mass(tree: Tree) -> ca.Function:
    nv = tree.description.nv
    S, K, D_inverse = SX.sym("S", 6, nv), SX.sym("K", 6, nv), SX.sym("D_inverse", nv)
    factors = operators.OperatorFactors.of_matrices(S, K, D_inverse, tree)
    return ca.Function("inverse_mass", [S, K, D_inverse], [operators.mass_matrix_inverse(factors)])


def _written_pairs(s: Question, vdot: MX) -> list[MX]:
    """Return d tau/d q and d tau/d v with every entry written out."""
    nv, columns = s.tree.description.nv, inverse_derivatives.columns(s.run, s["v"], vdot).matrices()
    symbols = [SX.sym("c", *x.shape) for x in columns]
    by_q, by_v, _ = inverse_derivatives.pairs(s.tree, inverse_derivatives.PairColumns(*symbols))
    position, rate = SX.sym("position", nv), SX.sym("rate", nv)
    outputs = [ca.densify(by_q - ca.diag(position)), ca.densify(by_v - ca.diag(rate))]
    written = ca.Function("pairs", [*symbols, position, rate], outputs)
    rates: list = [s.run.expression(ca.densify(x)) for x in passive_rates(s.tree, s.tree.v)]
    return list(written(*columns, *rates))


def inverse_dynamics_derivatives(s: Question, vdot: MX) -> tuple[MX, MX, MX]:
    """Return d tau/d q, d tau/d v and M, friction and springs included."""
    c, pairs = inverse_derivatives.columns(s.run, s["v"], vdot), Pairs(s.masses)
    position, rate = (s.run.expression(_on_diagonal(s.tree, x)) for x in passive_rates(s.tree, s.tree.v))
    same_q, same_v, same_m = ca.vertsplit(c.same)
    rows = ca.vertcat(c.row, c.row_rate)
    by_q = pairs.matrix((c.S, c.by_q), (ca.vertcat(c.psidd, c.psid), rows), same_q.T - position)
    by_v = pairs.matrix(
        (c.S, c.by_v),
        (ca.vertcat(c.rate, inverse_derivatives.felt_turns(s.masses, c.S[:3, :])), rows),
        same_v.T - rate,
    )
    return by_q, by_v, pairs.matrix((c.S, c.row), (c.S, c.row), same_m.T)


def accelerations_and_inverse_mass(s: Question) -> tuple[MX, MX]:
    """Return what the joint forces, friction and springs accelerate, and M^-1."""
    vdot, factors = forward.accelerations_and_factors(s.run, s["v"], s["tau"] + s.passive)
    return vdot, inverse_mass_matrix(s.tree, factors)


def mass_matrix_inverse(s: Question) -> tuple[MX]:
    """Return M^-1."""
    _, factors = forward.accelerations_and_factors(s.run, s.zero(), s.zero())
    return (inverse_mass_matrix(s.tree, factors),)


def mass_matrix_factors(s: Question) -> tuple[MX, MX, MX]:
    """Return the factors L and D of M = L D L', and L^-1."""
    _, f = forward.accelerations_and_factors(s.run, s.zero(), s.zero())
    lower, inverse = lower_factors(s.tree, f.S, f.K)
    return lower, 1 / f.d_inverse, inverse


def operational_inertia(s: Question) -> tuple[MX]:
    """Return J_a M^-1 J_b' of two frames, (6, 6), as `operators.operational_inertia` does."""
    _, f = forward.accelerations_and_factors(s.run, s.zero(), s.zero())
    path_a, path_b = (operators.dofs_inward(s.tree, s.tree.frame(frame)[0]) for frame in s.frames)
    common = [k for k in path_a if k in set(path_b)]
    inertia = MX(ca.DM.zeros(36))
    for k in reversed(common):
        inertia = _PASSED["both"](f.S[:, k], f.K[:, k], f.d_inverse[k], inertia)
    for side, path in (("right", path_b), ("left", path_a)):
        for k in reversed([k for k in path if k not in common]):
            inertia = _PASSED[side](f.S[:, k], f.K[:, k], f.d_inverse[k], inertia)
    return (_PASSED["to origins"](inertia, *(_origin(s, frame) for frame in s.frames)),)


def _passing() -> dict[str, ca.Function]:
    """Return how Upsilon passes a degree of freedom, on both sides or on one, and how it is taken to the origins of two frames."""
    s, k, d = SX.sym("S", 6), SX.sym("K", 6), SX.sym("D_inverse")
    flat = SX.sym("upsilon", 36)
    U = ca.reshape(flat, 6, 6)
    left, right = U - ca.mtimes(s, ca.mtimes(k.T, U)), U - ca.mtimes(ca.mtimes(U, k), s.T)
    both = left - ca.mtimes(ca.mtimes(left, k), s.T) + ca.mtimes(s, s.T) * d
    found = {"both": both, "right": right, "left": left}
    functions = {name: ca.Function("passed", [s, k, d, flat], [ca.vec(x)]) for name, x in found.items()}
    a, b = SX.sym("a", 3), SX.sym("b", 3)
    left, right = (
        ca.vertcat(ca.horzcat(SX.eye(3), SX(3, 3)), ca.horzcat(-skew(p), SX.eye(3))) for p in (a, b)
    )
    whole = ca.densify(ca.mtimes(ca.mtimes(left, U), right.T))
    return functions | {"to origins": ca.Function("to_origins", [flat, a, b], [whole])}


_PASSED = _passing()


def _origin(s: Question, frame: str) -> MX:
    """Return the origin of a frame in ground axes, (3,) [m]."""
    node, X = s.tree.frame(frame)
    pose = None
    for i in reversed(s.tree.path(node)):
        (pose,) = s.run(ground_pose, i, pose)
    at: Any = s.run.expression(ca.densify(X.p))
    return at if pose is None else pose.column[9:] + ca.mtimes(ca.reshape(pose.column[:9], 3, 3), at)


def ground_pose(node: Node, Xp: Transform | None) -> tuple[Transform]:
    """Return the pose of a node in ground axes from that of its parent."""
    own = node.X.merge() if isinstance(node.X, Product) else node.X
    return (own if Xp is None else Xp @ own,)


def node_columns(node: Node, Xp: Transform | None) -> tuple[Transform, SX]:
    """Return the pose of a node and its free directions, in ground axes about the ground origin."""
    (X,) = ground_pose(node, Xp)
    return X, ca.vertcat(SX(0, 1), *(X.motion_to_parent(S).column() for S in node.S))


def velocity_transformation(s: Question) -> tuple[MX]:
    """Return Hbar as `jacobians.velocity_transformation` does: rows of each body times the directions of all joints, where they carry it."""
    tree, poses, columns = s.tree, list[Any](), [MX(6, 0)] * s.tree.description.nv
    for i, p in enumerate(tree.parents):
        pose, own = s.run(node_columns, i, None if p == ROOT else poses[p])
        poses.append(pose)
        for k, column in zip(tree.dofs[i], ca.vertsplit(own, 6) if tree.dofs[i] else ()):
            columns[k] = column
    blocks = []
    for body in tree.description.bodies:
        node, X = tree.frame(body.name)
        place: Any = s.run.expression(ca.vertcat(ca.densify(X.pack()), ca.densify(tree.vector(body.com))))
        front: Any = MX(ca.DM(Transform.identity().pack())) if node == ROOT else poses[node].column
        rows: Any = ca.reshape(_BODY_ROWS(front, place), 6, 6)
        carrying = sorted(k for i in tree.path(node) for k in tree.dofs[i])
        blocks.append(_spread(rows, columns, carrying))
    return (ca.vertcat(*blocks),)


def _spread(rows: MX, columns: list[MX], chosen: list[int]) -> MX:
    """Return rows times the chosen columns, in their places among all."""
    out, at = list[MX](), 0
    for _, run in itertools.groupby(enumerate(chosen), lambda pair: pair[1] - pair[0]):
        own = [j for _, j in run]
        out += [MX(ca.DM.zeros(6, own[0] - at)), ca.mtimes(rows, ca.horzcat(*(columns[j] for j in own)))]
        at = own[-1] + 1
    return ca.horzcat(*out, MX(ca.DM.zeros(6, len(columns) - at)))


def _body_rows() -> ca.Function:
    """(pose of a node, pose of a body in it and its center of mass) -> what takes a motion in ground axes to the velocity of the body."""
    node, place = SX.sym("node", 12), SX.sym("place", 15)
    X = Transform.unpack(node) @ Transform.unpack(place[:12])
    com = X.p + ca.mtimes(X.R, place[12:])
    lower = ca.horzcat(-ca.mtimes(X.R.T, skew(com)), X.R.T)
    matrix = ca.vertcat(ca.horzcat(X.R.T, SX.zeros(3, 3)), lower)
    return ca.Function("body_rows", [node, place], [ca.densify(ca.vec(matrix))])


_BODY_ROWS = _body_rows()


def _on_diagonal(tree: Tree, entries: SX) -> SX:
    """Return entries of the degrees of freedom in the order of `same_joint`."""
    return ca.vertcat(*(entries[a] if a == b else SX(0) for a, b in same_joint(tree)))
