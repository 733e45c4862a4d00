"""Energies and momenta of the whole mechanism."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import MX, SX

from articulus.dynamics.flexible.integrals import sparse
from articulus.dynamics.mass_matrix import ModalMomentum
from articulus.dynamics.passive import spring_energy
from articulus.dynamics.recursion import Runner
from articulus.dynamics.relative import merge_pose
from articulus.dynamics.tree import ROOT, ElasticParts, Node, Tree
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
        for k, armature in zip(tree.dofs[i], node.armature):
            T += 0.5 * armature * v[k] ** 2
            if tree.parents[i] != ROOT:
                T += node.rotor.dot(V[tree.parents[i]]) * v[k]
    return T


def potential_energy(tree: Tree) -> SX:
    """Return the energy in gravity, in springs and in deformations [J].

    That in gravity is zero with every center of mass in the ground origin's plane.
    """
    elastic = SX(0)
    for node in tree.nodes:
        if node.body is not None:
            elastic += node.body.elastic()
    return spring_energy(tree) + gravity_energy(tree) + elastic


def elastic_forces(tree: Tree) -> SX:
    """Return the elastic forces of the bodies, (nv,): K eta in the places of their modes."""
    out = SX(tree.description.nv, 1)
    for i, part in enumerate(tree.parts):
        if isinstance(part, ElasticParts):
            eta = tree.q[part.q][part.joint.nq :]
            out[tree.modal(i)] = ca.mtimes(sparse(part.elastic.integrals.stiffness), eta)
    return out


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
    """Return the center of mass of everything that moves, in the ground frame, (3,) [m]."""
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
        for k in tree.dofs[i]:
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
    """Return angular momentum about the center of mass and linear momentum, ground axes, (6,) [kg m^2/s, kg m/s]."""
    h = _momentum(tree, v)
    return ca.vertcat(h.n - cross(center_of_mass(tree), h.f), h.f)


def centroidal_momentum_matrix(tree: Tree) -> SX:
    """Return A with centroidal momentum = A v, (6, nv) [kg m^2, kg m, kg] (Orin & Goswami 2008).

    Column k is the momentum of the bodies that degree of freedom k carries, when it alone moves with unit rate.
    """
    composite = [node.inertia for node in tree.nodes]
    modal = [ModalMomentum.of(node) for node in tree.nodes]
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
        momenta = [(k, composite[i] @ S, spin) for S, k in zip(node.S, tree.dofs[i])]
        momenta += [(k, rf, Force.zero()) for rf, k in zip(modal[i].rf, tree.modes[i])]
        for k, own, spin in momenta:
            h = tree.world[i].force_to_parent(own)
            A[:, k] = ca.vertcat(h.n + spin.n - cross(com, h.f), h.f)
    return A


# long mechanisms without flexible bodies: sums that passes carry from node to node


def energy_by_passes(run: Runner, v: Any) -> tuple[Any, Any]:
    """Return kinetic and potential energy [J]."""
    zero: Any = MX(ca.DM.zeros(1))
    ground: tuple = (run.expression(ca.densify(run.tree.gravity)), zero)
    kinetic: Any = zero
    potential: Any = run.expression(ca.densify(spring_energy(run.tree)))
    found: list[tuple] = []
    for i, p in enumerate(run.tree.parents):
        front = (*ground, None) if p == ROOT else found[p]
        *own, kinetic, potential = run(store, i, v[run.tree.span(i)], *front, kinetic, potential)
        found.append(tuple(own))
    return kinetic, potential


def store(
    node: Node, v: SX, gravity: SX, along: SX, Vp: Motion | None, kinetic: SX, potential: SX
) -> tuple[SX, SX, Motion, SX, SX]:
    """Return gravity in the node's axes, its product with the origin's position, the velocity, and energies with the body's."""
    VJ = node.joint_velocity(v)
    V = VJ if Vp is None else node.X.motion_to_child(Vp) + VJ
    T = kinetic + 0.5 * V.dot(node.inertia @ V)
    for k, armature in enumerate(node.armature):
        T += 0.5 * armature * v[k] ** 2
        if Vp is not None:
            T += node.rotor.dot(Vp) * v[k]
    along += ca.dot(gravity, merge_pose(node.X).p)
    gravity = node.X.rotate_to_child(gravity)
    return gravity, along, V, T, potential - node.inertia.m * along - ca.dot(gravity, node.inertia.h)


def momentum_by_passes(run: Runner, v: Any) -> Any:
    """Return the momentum about the ground origin, as `momentum` does."""
    total: Any = MX(ca.DM.zeros(6))
    found: list[tuple] = []
    for i, p in enumerate(run.tree.parents):
        *own, total = run(impel, i, v[run.tree.span(i)], *((None, None) if p == ROOT else found[p]), total)
        found.append(tuple(own))
    return total


def impel(
    node: Node, v: SX, Xp: Transform | None, Vp: Motion | None, total: SX
) -> tuple[Transform, Motion, SX]:
    """Return pose and velocity of a node, and the momentum with that of its body and rotor."""
    VJ = node.joint_velocity(v)
    X = merge_pose(node.X) if Xp is None else Xp @ merge_pose(node.X)
    V = VJ if Vp is None else node.X.motion_to_child(Vp) + VJ
    h = X.force_to_parent(node.inertia @ V)
    for k in range(len(node.S)):
        spin = node.rotor * v[k]
        h = h + (spin if Xp is None else Xp.force_to_parent(spin))
    return X, V, total + h.column()
