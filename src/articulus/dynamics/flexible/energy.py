"""Energies, momentum and centre of mass of trees of rigid and flexible bodies."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.inverse import velocities
from articulus.dynamics.flexible.tree import FlexibleTree
from articulus.dynamics.passive import spring_energy
from articulus.spatial import Force


def kinetic_energy(tree: FlexibleTree, v: SX) -> SX:
    """Return the kinetic energy of all bodies and armatures [J]."""
    total = SX(0)
    for node, V in zip(tree.nodes, velocities(tree, v).V):
        if node.body is not None:
            total = total + node.body.kinetic(V.column(), v[node.modes])
        total = total + 0.5 * ca.dot(node.armature, v[node.v] ** 2)
    return total


def potential_energy(tree: FlexibleTree) -> SX:
    """Return the energy of gravity, of the joint springs and of the deformations [J]."""
    total = spring_energy(tree.tree)
    g = tree.tree.gravity
    for node, X in zip(tree.nodes, tree.world):
        if node.body is not None:
            moment = node.body.mass * X.p + ca.mtimes(X.R, node.body.first_moment)
            total = total - ca.dot(g, moment) + node.body.elastic()
    return total


def momentum(tree: FlexibleTree, v: SX) -> SX:
    """Return angular momentum about the ground origin and linear momentum, (6,)."""
    total = SX.zeros(6)
    for node, V, X in zip(tree.nodes, velocities(tree, v).V, tree.world):
        if node.body is not None:
            P = ca.mtimes(node.body.rr, V.column())
            P = P + ca.mtimes(node.body.rf, v[node.modes]) if node.body.eta.numel() else P
            total = total + X.force_to_parent(Force.of(P)).column()
    return total


def center_of_mass(tree: FlexibleTree) -> SX:
    """Return the centre of mass of everything that moves, ground frame, (3,) [m]."""
    mass, moment = SX(0), SX.zeros(3)
    for node, X in zip(tree.nodes, tree.world):
        if node.body is not None:
            mass = mass + node.body.mass
            moment = moment + node.body.mass * X.p + ca.mtimes(X.R, node.body.first_moment)
    return moment / mass
