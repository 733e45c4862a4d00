"""Energies, momenta and centre of mass of trees of rigid and flexible bodies."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.motion import motions
from articulus.dynamics.flexible.tree import FlexibleTree
from articulus.dynamics.passive import spring_energy
from articulus.spatial import Force, cross


def kinetic_energy(tree: FlexibleTree, v: SX) -> SX:
    """Return the kinetic energy of all bodies, armatures and rotors, 1/2 v' M v [J]."""
    total = SX(0)
    for node, m in zip(tree.nodes, motions(tree, v)):
        if node.body is not None:
            total = total + node.body.kinetic(m.V, v[node.modes, :])
        total = total + 0.5 * ca.dot(node.armature, v[node.v, :] ** 2)
        if not node.rotor.is_zero():
            total = total + Force.of(node.rotor).dot(m.carrier) * v[node.v, :]
    return total


def potential_energy(tree: FlexibleTree) -> SX:
    """Return the energy of gravity, of the joint springs and of the deformations [J]."""
    total = spring_energy(tree.tree)
    for node in tree.nodes:
        if node.body is not None:
            total = total + node.body.elastic()
    return total - ca.dot(tree.tree.gravity, _first_moment(tree)[0])


def momentum(tree: FlexibleTree, v: SX) -> SX:
    """Return angular momentum about the ground origin and linear momentum, (6,) [kg m^2/s, kg m/s]."""
    total = Force.zero()
    for node, m, X in zip(tree.nodes, motions(tree, v), tree.world):
        if node.body is not None:
            P = node.body.momentum(m.V, v[node.modes, :])
            total = total + X.force_to_parent(Force.of(P))
        if not node.rotor.is_zero():
            total = total + X.force_to_parent(Force.of(node.rotor * v[node.v, :]))
    return total.column()


def centroidal_momentum(tree: FlexibleTree, v: SX) -> SX:
    """Return angular momentum about the centre of mass and linear momentum, ground axes, (6,) [kg m^2/s, kg m/s]."""
    h = momentum(tree, v)
    return ca.vertcat(h[:3] - cross(center_of_mass(tree), h[3:]), h[3:])


def centroidal_momentum_matrix(tree: FlexibleTree) -> SX:
    """Return A with centroidal momentum = A v, (6, nv)."""
    return ca.jacobian(centroidal_momentum(tree, tree.v), tree.v)


def center_of_mass(tree: FlexibleTree) -> SX:
    """Return the centre of mass of everything that moves, ground frame, (3,) [m]."""
    moment, mass = _first_moment(tree)
    return moment / mass


def _first_moment(tree: FlexibleTree) -> tuple[SX, SX]:
    """Return the sum of mass times position in the ground frame, and the mass."""
    mass, moment = SX(0), SX.zeros(3)
    for node, X in zip(tree.nodes, tree.world):
        if node.body is not None:
            mass = mass + node.body.mass
            moment = moment + node.body.mass * X.p + ca.mtimes(X.R, node.body.first_moment)
    return moment, mass
