"""Energies and momenta of the whole mechanism."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.mass_matrix import Modal
from articulus.dynamics.passive import spring_energy
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Force, Motion, Transform, cross


def velocities(tree: Tree, v: SX) -> list[Motion]:
    """Return the velocity of every node in its own frame."""
    V: list[Motion] = []
    for i, (node, p) in enumerate(zip(tree.nodes, tree.parents)):
        VJ = node.joint_velocity(v[tree.span(i)])
        V.append(VJ if p == ROOT else node.X.motion_to_child(V[p]) + VJ)
    return V


def kinetic_energy(tree: Tree, v: SX) -> SX:
    """Return T = 1/2 v' M v, summed over the bodies [J].

    A rotor adds 1/2 mu^2 J qd^2 + mu J qd (w_parent . e) (Chen & Ou 1989).
    """
    T = SX(0)
    V = velocities(tree, v)
    for i, node in enumerate(tree.nodes):
        if node.body is not None:
            T += node.body.kinetic(V[i], v[tree.modal(i)])
        else:
            T += 0.5 * V[i].dot(node.inertia @ V[i])
        for k, armature in zip(tree.freedoms[i], node.armature):
            T += 0.5 * armature * v[k] ** 2
            if tree.parents[i] != ROOT:
                T += node.rotor.dot(V[tree.parents[i]]) * v[k]
    return T


def potential_energy(tree: Tree) -> SX:
    """Return the energy in gravity, in springs and in deformations [J].

    That in gravity is zero with every centre of mass in the ground origin's plane.
    """
    elastic = SX(0)
    for node in tree.nodes:
        if node.body is not None:
            elastic += node.body.elastic()
    return spring_energy(tree) + gravity_energy(tree) + elastic


def gravity_energy(tree: Tree) -> SX:
    """Return the energy in gravity alone [J]."""
    weight = SX(0)
    for node, X in zip(tree.nodes, tree.world):
        weight += ca.dot(tree.gravity, _first_moment(node, X))
    return -weight


def _first_moment(node: Node, X: Transform) -> SX:
    """Return mass times position of a node's body in the ground frame, (3,) [kg m]."""
    h = node.inertia.h if node.body is None else node.body.first_moment
    return node.inertia.m * X.p + ca.mtimes(X.R, h)


def total_mass(tree: Tree) -> SX:
    """Return the mass of everything that moves [kg]."""
    mass = SX(0)
    for node in tree.nodes:
        mass += node.inertia.m
    return mass


def center_of_mass(tree: Tree) -> SX:
    """Return the centre of mass of everything that moves, in the ground frame, (3,) [m]."""
    moment = SX.zeros(3)
    for node, X in zip(tree.nodes, tree.world):
        moment += _first_moment(node, X)
    return moment / total_mass(tree)


def _momentum(tree: Tree, v: SX) -> Force:
    total = Force.zero()
    V = velocities(tree, v)
    for i, (node, X) in enumerate(zip(tree.nodes, tree.world)):
        if node.body is not None:
            h = Force.of(node.body.momentum(V[i], v[tree.modal(i)]))
        else:
            h = node.inertia @ V[i]
        total = total + X.force_to_parent(h)
        for k in tree.freedoms[i]:
            total = total + _in_ground_axes(tree, tree.parents[i], node.rotor * v[k])
    return total


def _in_ground_axes(tree: Tree, i: int, force: Force) -> Force:
    return force if i == ROOT else tree.world[i].force_to_parent(force)


def momentum(tree: Tree, v: SX) -> SX:
    """Return angular momentum about the ground origin and linear momentum, (6,) [kg m^2/s, kg m/s].

    The spin of rotors is included; armature has no axis in space and is not.
    """
    return _momentum(tree, v).column()


def centroidal_momentum(tree: Tree, v: SX) -> SX:
    """Return angular momentum about the centre of mass and linear momentum, ground axes, (6,) [kg m^2/s, kg m/s]."""
    h = _momentum(tree, v)
    return ca.vertcat(h.n - cross(center_of_mass(tree), h.f), h.f)


def centroidal_momentum_matrix(tree: Tree) -> SX:
    """Return A with centroidal momentum = A v, (6, nv) [kg m^2, kg m, kg] (Orin & Goswami 2008).

    Column k is the momentum of the bodies that freedom k carries, when it alone moves with unit rate.
    """
    composite = [node.inertia for node in tree.nodes]
    modal = [Modal.of(node) for node in tree.nodes]
    com = center_of_mass(tree)
    A = SX.zeros(6, tree.description.nv)
    for i in reversed(range(len(tree))):
        node, p = tree.nodes[i], tree.parents[i]
        if p != ROOT:
            composite[p] += node.X.inertia_to_parent(composite[i])
        if tree.stations[i]:
            modal[p].add(node, composite[i])
            continue
        spin = _in_ground_axes(tree, p, node.rotor)
        momenta = [(k, composite[i] @ S, spin) for S, k in zip(node.S, tree.freedoms[i])]
        momenta += [(k, rf, Force.zero()) for rf, k in zip(modal[i].rf, tree.modes[i])]
        for k, own, spin in momenta:
            h = tree.world[i].force_to_parent(own)
            A[:, k] = ca.vertcat(h.n + spin.n - cross(com, h.f), h.f)
    return A
