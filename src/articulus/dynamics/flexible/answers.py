"""Answers for mechanisms with flexible bodies, which the rows of `QUANTITIES` name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import by_displacement
from articulus.dynamics.flexible import forward, inverse, kinematics
from articulus.dynamics.flexible.mass_matrix import mass_matrix
from articulus.dynamics.flexible.tree import FlexibleTree, flexible_tree
from articulus.dynamics.loops.factor import Factored
from articulus.dynamics.passive import passive_forces
from articulus.spatial import Force

if TYPE_CHECKING:
    from articulus.dynamics.quantities import Question


def moving(s: Question) -> FlexibleTree:
    """Return the tree for positions and motions."""
    return flexible_tree(s.tree)


def inertial(s: Question) -> FlexibleTree:
    """Return the tree for masses and forces."""
    return flexible_tree(s.tree, inertial=True)


def inverse_dynamics(s: Question, vdot: SX) -> SX:
    """Return joint and modal forces of a motion: friction, springs and elasticity included, external wrenches taken off."""
    tau, _ = inverse.inverse_dynamics(inertial(s), s["v"], vdot, s.external)
    return tau - passive_forces(s.tree, s["v"])


def bias(s: Question) -> SX:
    """Return inverse dynamics at zero acceleration."""
    return inverse_dynamics(s, SX.zeros(s.tree.description.nv))


def gravity(s: Question) -> SX:
    """Return the forces that hold the mechanism against gravity; elastic forces do not count."""
    tree, zero = inertial(s), SX.zeros(s.tree.description.nv)
    held, _ = inverse.inverse_dynamics(tree, zero, zero, {})
    for node in tree.nodes:
        if node.body is not None:
            held[node.modes, :] -= node.body.restoring(zero[node.modes, :])
    return held


def forward_dynamics(s: Question) -> SX:
    """Return vdot that tau, friction, springs and external wrenches give."""
    tau = s["tau"] + passive_forces(s.tree, s["v"])
    return forward.forward_dynamics(inertial(s), s["v"], tau, s.external)


def inverse_dynamics_derivatives(s: Question, vdot: SX) -> tuple[SX, SX, SX]:
    """Return d tau/d q along displacements, d tau/d v and M, by differentiation of the recursion."""
    tau = inverse_dynamics(s, vdot)
    return by_displacement(s.tree, tau), ca.jacobian(tau, s["v"]), mass_matrix(inertial(s))


def derivatives(s: Question) -> tuple[SX, SX, SX]:
    """Return d vdot/d q, d vdot/d v and M^-1."""
    vdot = SX.sym("vdot", s.tree.description.nv)
    by_q, by_v, mass = inverse_dynamics_derivatives(s, vdot)
    M = Factored(mass)
    by_q, by_v = ca.substitute([by_q, by_v], [vdot], [M.solve(s["tau"] - bias(s))])
    return -M.solve(ca.densify(by_q)), -M.solve(ca.densify(by_v)), M.solve(SX.eye(vdot.numel()))


def operational_inertia(s: Question) -> SX:
    """Return J_a M^-1 J_b', (6, 6)."""
    J_a, J_b = (kinematics.jacobian(inertial(s), frame) for frame in s.frames)
    return ca.mtimes(J_a, factored_mass(s).solve(ca.densify(J_b.T)))


def reactions(s: Question) -> SX:
    """Return the wrench that each joint exerts on its child, in the axes of the child's joint frame, (joints, 6)."""
    tree = inertial(s)
    _, F = inverse.inverse_dynamics(tree, s["v"], s["vdot"], s.external)
    rows = []
    for c in tree.description.connections:
        at = s.tree.pose(c.child_at)
        rows.append(at.force_to_child(Force.of(F[tree.carrier(c.child)])).column().T)
    return ca.vertcat(SX(0, 6), *rows)


def factored_mass(s: Question) -> Factored:
    """Return the mass matrix, factored."""
    return Factored(mass_matrix(inertial(s)))


def of_motion(answer: Callable[..., SX], *inputs: str) -> Callable[[Question], tuple[SX, ...]]:
    """Return the answer of an expression of the moving tree, the frames in question and the named inputs."""
    return lambda s: (answer(moving(s), *s.frames, *(s[name] for name in inputs)),)


def of_inertia(answer: Callable[..., SX], *inputs: str) -> Callable[[Question], tuple[SX, ...]]:
    """Return the answer of an expression of the inertial tree and the named inputs."""
    return lambda s: (answer(inertial(s), *(s[name] for name in inputs)),)
