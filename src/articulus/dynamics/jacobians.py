"""Jacobians besides those of frames in ground axes: in the frame's own axes, relative to another frame, of the center of mass."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.energy import total_mass
from articulus.dynamics.kinematics import jacobian
from articulus.dynamics.relative import relative
from articulus.dynamics.tree import ROOT, Tree


def in_axes(R: SX, J: SX) -> SX:
    """Return the rows (angular, linear) of a Jacobian, given in ground axes, in the axes of a frame with rotation R."""
    return ca.vertcat(ca.mtimes(R.T, J[:3, :]), ca.mtimes(R.T, J[3:, :]))


def relative_jacobian(tree: Tree, frame: str, other: str) -> SX:
    """Return J with J v the velocity of a frame's origin as seen from another frame, in the other's axes, (6, nv) [-, m]."""
    seen = relative(tree, tree.v, other, frame)
    J = SX.zeros(6, tree.description.nv)
    for k, column in seen.columns.items():
        J[:, k] = ca.vertcat(ca.mtimes(seen.X.R, column.w), ca.mtimes(seen.X.R, column.v))
    return J


def velocity_transformation(tree: Tree) -> SX:
    """Return Hbar with Hbar v the velocities of all bodies, six rows each: angular, and of the center of mass, in axes of the body.

    For a flexible body it is its origin in place of the center of mass.

    Row block i is [C; rho x C] of body i, with the axes C of the joints that carry it and rho from its center of mass to them; for
    rigid bodies M = Hbar' diag(J, m) Hbar, without armature and rotors.

    Returns
    -------
    SX, (6 bodies, nv) [-, m]
        Bodies in the order of the description.

    Source: Wong 1991, equations 3.9, 3.10 and 3.15. Cost: O(n d) with d the depth of the tree.
    """
    blocks = []
    for body in tree.description.bodies:
        R, com = tree.world_frame(body.name).R, tree.vector(body.com)
        J = in_axes(R, jacobian(tree, body.name))
        blocks.append(ca.vertcat(J[:3, :], J[3:, :] - ca.mtimes(ca.skew(com), J[:3, :])))
    return ca.vertcat(*blocks)


def center_of_mass_jacobian(tree: Tree) -> SX:
    """Return J with J v the velocity of the center of mass of everything that moves, ground axes, (3, nv) [m].

    Column k is the linear momentum of the bodies behind degree of freedom k when it alone moves with unit rate, over the mass. O(n).
    """
    behind = [node.inertia for node in tree.nodes]
    J = SX.zeros(3, tree.description.nv)
    for i in reversed(range(len(tree))):
        node, p = tree.nodes[i], tree.parents[i]
        if p != ROOT:
            behind[p] += node.X.inertia_to_parent(behind[i])
        for S, k in zip(node.S, tree.dofs[i]):
            J[:, k] = ca.mtimes(tree.world[i].R, (behind[i] @ S).f)
    return J / total_mass(tree)
