"""Energies and momenta of the whole mechanism."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.passive import spring_energy
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force, Motion, cross


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
        T += 0.5 * V[i].dot(node.inertia @ V[i])
        for k, armature in zip(tree.freedoms[i], node.armature):
            T += 0.5 * armature * v[k] ** 2
            if tree.parents[i] != ROOT:
                T += node.rotor.dot(V[tree.parents[i]]) * v[k]
    return T


def potential_energy(tree: Tree) -> SX:
    """Return the energy in gravity, zero with every centre of mass in the ground origin's plane, and in springs [J]."""
    weight = SX(0)
    for node, X in zip(tree.nodes, tree.world):
        weight += ca.dot(tree.gravity, node.inertia.m * X.p + ca.mtimes(X.R, node.inertia.h))
    return spring_energy(tree) - weight


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
        moment += node.inertia.m * X.p + ca.mtimes(X.R, node.inertia.h)
    return moment / total_mass(tree)


def _momentum(tree: Tree, v: SX) -> Force:
    total = Force.zero()
    V = velocities(tree, v)
    for i, (node, X) in enumerate(zip(tree.nodes, tree.world)):
        total = total + X.force_to_parent(node.inertia @ V[i])
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
    com = center_of_mass(tree)
    A = SX.zeros(6, tree.description.nv)
    for i in reversed(range(len(tree))):
        node, p = tree.nodes[i], tree.parents[i]
        if p != ROOT:
            composite[p] += node.X.inertia_to_parent(composite[i])
        for S, k in zip(node.S, tree.freedoms[i]):
            h = tree.world[i].force_to_parent(composite[i] @ S)
            spin = _in_ground_axes(tree, p, node.rotor)
            A[:, k] = ca.vertcat(h.n + spin.n - cross(com, h.f), h.f)
    return A
