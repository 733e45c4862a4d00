"""The constraints of a mechanism as one set of rows, with Jacobian and accelerations, derived from the residuals.

    position   g(q, t)              = 0     rows of holonomic constraints (zero for the others)
    velocity   G v + g_t            = 0
    acceleration  G vdot + gamma    = 0

A constraint that is not holonomic is its own velocity row A v + b, with G = A.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import casadi as ca
from casadi import SX

from articulus.dynamics.external import External
from articulus.dynamics.kinematics import position_rate, velocity
from articulus.dynamics.relative import Relative, merge_pose, relative
from articulus.dynamics.tree import Tree
from articulus.dynamics.tree_part import Parts, TreePart
from articulus.model.mechanism import Constraint, Joint, Number, Pose
from articulus.model.mechanism.constraint import references
from articulus.spatial import Motion, Transform, cross, skew


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
        return Constraints(self.g[at, :], self.G[at, :], self.rate[at, :], self.gamma[at, :])


def constraints(tree: Tree, v: SX, t: SX) -> Constraints:
    """Return every row of every constraint, in the order of `description.constraints`."""
    of_tree, found = closures(tree)
    parts = [closure.on(of_tree, v, t) for closure in found]
    nv = tree.description.nv
    return Constraints(
        ca.vertcat(SX(0, 1), *(p.g for p in parts)),
        ca.vertcat(SX(0, nv), *(p.G for p in parts)),
        ca.vertcat(SX(0, 1), *(p.rate for p in parts)),
        ca.vertcat(SX(0, 1), *(p.gamma for p in parts)),
    )


@dataclass(frozen=True)
class Closure:
    """One constraint by the part of the tree that it is about.

    Parameters
    ----------
    function : casadi.Function
        (constants, places of the joints, v, t, p) -> g, G, rate, gamma, with places, v and columns of G of the part
        alone. Constraints of the same kind on parts of the same shape share it. About the whole tree: q for places.
    constants : SX
        Constants of the part; they may depend on the named parameters of the tree.
    at_place : sequence of int, optional
        Where the places of the part's joints stand in `Parts.places`; None for the whole tree.
    at_v : sequence of int
        Where the velocities of the part stand in those of the mechanism.
    """

    function: ca.Function
    constants: SX
    at_place: Sequence[int] | None
    at_v: Sequence[int]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.function.size1_out(0)

    def on(self, parts: Parts, v: SX, t: SX) -> Constraints:
        """Return the rows on the symbols of the tree."""
        at = parts.tree.q if self.at_place is None else parts.places[list(self.at_place)]
        g, own, rate, gamma = self.function.call([self.constants, at, v[list(self.at_v)], t, parts.tree.p])
        G = SX(self.rows, v.numel())
        G[:, list(self.at_v)] = own
        return Constraints(g, ca.sparsify(G), rate, gamma)


@functools.lru_cache(maxsize=8)
def closures(tree: Tree) -> tuple[Parts, list[Closure]]:
    """Return the parts of a tree and every constraint, in the order of `description.constraints`.

    A constraint on the poses of its frames relative to each other is about the nodes in between; any other one is about
    the whole tree. Each distinct function is made once.
    """
    parts = Parts(tree)
    description, made, out = tree.description, dict[tuple, ca.Function | None](), []
    for c in description.constraints:
        function = None
        if c.holonomic and not description.flexible:
            part = _between(parts, c)
            key = (_kind(c), part.shape)
            if key not in made:
                made[key] = _local_function(part, c)
            function = made[key]
        if function is None:
            out.append(Closure(_whole_function(tree, c), SX(0, 1), None, range(description.nv)))
        else:
            out.append(Closure(function, part.constants, part.at_place, part.at_v))
    return parts, out


def _between(parts: Parts, constraint: Constraint) -> TreePart:
    """Return the part of the tree between the frames that a constraint names."""
    frames = [name for _, kind, name in references(constraint) if kind == "frame"]
    paths: list[set[int]] = [set(parts.tree.path(parts.tree.frame(name)[0])) for name in frames]
    between = set[int]().union(*paths).difference(paths[0].intersection(*paths) if paths else ())
    return parts.part(sorted(between), frames)


def _kind(constraint: Constraint) -> tuple:
    """Return what two constraints have in common that differ in names alone."""
    names = {"name", *(name for name, *_ in references(constraint))}
    held = {f.name: getattr(constraint, f.name) for f in fields(constraint) if f.name not in names}  # type: ignore[arg-type]
    return type(constraint), repr(held)


def _local_function(part: TreePart, constraint: Constraint) -> ca.Function | None:
    """Return the function of a `Closure`; None for a constraint that asks for more than the poses in between."""
    tree, t = part.on_symbols(), SX.sym("t")
    try:
        rows = _one(_Local(tree, tree.v, t), constraint)
    except _NotLocal:
        return None
    return _as_function([tree.constants, tree.places, tree.v, t, tree.p], rows)


def _whole_function(tree: Tree, constraint: Constraint) -> ca.Function:
    t = SX.sym("t")
    return _as_function([SX(0, 1), tree.q, tree.v, t, tree.p], _one(_Traced(tree, tree.v, t), constraint))


def _as_function(symbols: list[SX], rows: Constraints) -> ca.Function:
    outputs = [ca.densify(rows.g), rows.G, ca.densify(rows.rate), ca.densify(rows.gamma)]
    return ca.Function("closure", symbols, outputs)


def _one(view: _Traced, constraint: Constraint) -> Constraints:
    """Return the rows of one constraint.

    It sees each relative pose as symbols x, so that only its own short expressions are differentiated; the poses move
    as `relative` says, xdot = E v:

        rate  = g_x xdot + g_q N v + g_t,   G = rate_xdot E + rate_v,
        gamma = rate_x xdot + rate_xdot xddot + rate_q N v + rate_t,   xddot at constant v.
    """
    tree, v, t = view.tree, view.v, view.t
    residual = constraint.residual(view)
    x, poses = view.symbols(), view.seen
    xdot, xddot = SX.sym("xdot", x.numel()), SX.sym("xddot", x.numel())

    def derivative(expression: SX) -> SX:
        """Return d/dt at constant v."""
        total = ca.jacobian(expression, t) + ca.jtimes(expression, xdot, xddot)
        total += ca.jtimes(expression, x, xdot)
        if isinstance(view, _Local) or not ca.depends_on(expression, tree.q):
            return total
        return total + ca.jtimes(expression, tree.q, position_rate(tree, v))

    if constraint.holonomic:
        g, rate = residual, derivative(residual)
    else:
        g, rate = SX.zeros(residual.shape), residual
    E = ca.vertcat(SX(0, v.numel()), *(pose.by_v(v.numel()) for pose in poses))
    G = ca.mtimes(ca.jacobian(rate, xdot), E) + ca.jacobian(rate, v)
    rates = [pose.rates() for pose in poses]
    values = [*(pose.numbers() for pose in poses), *(r[0] for r in rates), *(r[1] for r in rates)]
    rows = ca.substitute(
        [g, G, rate, derivative(rate)], [ca.vertcat(x, xdot, xddot)], [ca.vertcat(SX(0, 1), *values)]
    )
    g, G, rate, gamma = rows
    return Constraints(g, ca.sparsify(G), rate, gamma)


def by_displacement(tree: Tree, expression: SX) -> SX:
    """Return the derivative of an expression by small displacements in the directions of v, (rows, nv)."""
    if not tree.description.nq:
        return SX(expression.numel(), 0)
    directions = ca.jacobian(position_rate(tree, tree.v), tree.v)
    return ca.mtimes(ca.jacobian(expression, tree.q), directions)


def wrenches(tree: Tree, v: SX, t: SX, multipliers: SX) -> External:
    """Return what the constraints exert on each body, as wrenches about the body's origin in ground axes.

    A virtual displacement d of one body alone changes the rows by D d; the body feels -D' lambda. Constraints on joint
    coordinates load the joints only, like actuators, and give no wrench here.
    """
    moved = {body.name: SX.sym("d", 6) for body in tree.description.bodies}
    view = View(tree, v, t, moved)
    at, work = 0, SX(0)
    for c in tree.description.constraints:
        rows = c.residual(view if c.holonomic else replace(view, moved={}, pushed=moved))
        work = work + ca.dot(rows, multipliers[at : at + rows.numel()])
        at += rows.numel()
    still = ca.vertcat(*moved.values())
    forces = -ca.substitute(ca.gradient(work, still), still, SX.zeros(still.shape))
    out = {}
    for name, wrench in zip(moved, ca.vertsplit(forces, 6)):
        if not wrench.is_zero():
            R = view.world(name).R
            out[name] = ca.vertcat(ca.mtimes(R, wrench[:3]), ca.mtimes(R, wrench[3:]))
    return out


@dataclass(frozen=True)
class View:
    """A mechanism as its constraints see it (`mechanism.constraint.Kinematics`).

    Bodies in `moved` are displaced, and those in `pushed` have another velocity, by a small (angular, linear) amount
    about their origins in their own axes, without the bodies behind them.
    """

    tree: Tree
    v: SX
    t: SX
    moved: dict[str, SX] = field(default_factory=dict)
    pushed: dict[str, SX] = field(default_factory=dict)

    @property
    def q(self) -> SX:
        return self.tree.q

    def world(self, frame: str) -> Transform:
        """Return the pose of a body or frame in the ground frame."""
        return self.tree.world_frame(frame)

    def relative(self, a: str, b: str) -> Transform:
        (node_a, X_a), (node_b, X_b) = self._frame(a), self._frame(b)
        shared = set(self.tree.path(node_a)) & set(self.tree.path(node_b))
        return (self._up(node_a, shared) @ X_a).inverse() @ (self._up(node_b, shared) @ X_b)

    def _frame(self, name: str) -> tuple[int, Transform]:
        """Return the node that carries a frame, and the frame's pose in it."""
        node, X = self.tree.frame(name)
        body, _ = self.tree.description.carrier(name)
        if body not in self.moved:
            return node, X
        d, (own, at) = self.moved[body], self.tree.frame(body)
        if node != own:  # on a station
            X = merge_pose(self.tree.nodes[node].X) @ X
        step = Transform(SX.eye(3) + skew(d[:3]), d[3:])
        return own, at @ step @ at.inverse() @ X

    def _up(self, node: int, shared: set[int]) -> Transform:
        """Return the pose of a node in its nearest ancestor among `shared` (the ground if there is none)."""
        X = Transform.identity()
        for i in self.tree.path(node):
            if i in shared:
                break
            X = merge_pose(self.tree.nodes[i].X) @ X
        return X

    def velocity(self, frame: str) -> Motion:
        V = Motion.of(velocity(self.tree, frame, self.v))
        body, _ = self.tree.description.carrier(frame)
        if body not in self.pushed:
            return V
        X, push = self.world(body), self.pushed[body]
        w, arm = ca.mtimes(X.R, push[:3]), self.world(frame).p - X.p
        return V + Motion(w, ca.mtimes(X.R, push[3:]) + cross(w, arm))

    def coordinates(self, joint: str) -> SX:
        return self.tree.q[self.tree.description.q_slices[joint]]

    def rates(self, joint: str) -> SX:
        return self.v[self.tree.description.v_slices[joint]]

    def joint_type(self, joint: str) -> Joint:
        return self.joint_on_symbols(self.tree.description.joint_type(joint))

    def joint_on_symbols(self, joint: Joint) -> Joint:
        return self.tree.joint_on_symbols(joint)

    def pose(self, pose: Pose) -> Transform:
        return self.tree.pose(pose)

    def number(self, number: Number) -> SX:
        return self.tree.number(number)


@dataclass(frozen=True)
class _Pose:
    """A relative pose of which the numbers that change are symbols."""

    motion: Relative
    changing: list[int]
    symbols: SX

    def transform(self) -> Transform:
        twelve = SX(self.motion.X.pack())
        twelve[self.changing] = self.symbols
        return Transform.unpack(twelve)

    def numbers(self) -> SX:
        return self.motion.X.pack()[self.changing]

    def rates(self) -> tuple[SX, SX]:
        first, second = self.motion.rates()
        return first[self.changing], second[self.changing]

    def by_v(self, nv: int) -> SX:
        return self.motion.jacobian(nv)[self.changing, :]


@dataclass(frozen=True)
class _Traced(View):
    """A view that gives every relative pose as symbols, and remembers which."""

    seen: list[_Pose] = field(default_factory=list)

    def relative(self, a: str, b: str) -> Transform:
        motion = relative(self.tree, self.v, a, b)
        numbers = ca.densify(motion.X.pack())
        changing = [i for i in range(12) if not numbers[i].is_constant()]
        self.seen.append(_Pose(motion, changing, SX.sym("x", len(changing))))
        return self.seen[-1].transform()

    def symbols(self) -> SX:
        return ca.vertcat(SX(0, 1), *(pose.symbols for pose in self.seen))


class _NotLocal(Exception):
    """A constraint asked for more than relative poses."""


class _Local(_Traced):
    """The same of a part of the tree, in which nothing but the poses of the named frames is known."""

    @property
    def q(self) -> SX:
        raise _NotLocal

    def relative(self, a: str, b: str) -> Transform:
        if not (self.tree.carries(a) and self.tree.carries(b)):  # type: ignore[attr-defined]
            raise _NotLocal
        return super().relative(a, b)

    def world(self, frame: str) -> Transform:
        raise _NotLocal

    def velocity(self, frame: str) -> Motion:
        raise _NotLocal

    def coordinates(self, joint: str) -> SX:
        raise _NotLocal

    def rates(self, joint: str) -> SX:
        raise _NotLocal
