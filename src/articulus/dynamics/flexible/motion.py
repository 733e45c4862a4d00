"""Velocities of all nodes, base first, and what of their accelerations follows from velocities alone."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.tree import FlexibleTree
from articulus.dynamics.tree import ROOT
from articulus.spatial import Force, Motion


@dataclass(frozen=True)
class NodeMotion:
    """One node, in its own axes.

    With relative motion V_J = U eta_dot + S v of the node on its parent:

        A = (X A_p + U eta_ddot) + c + S vdot,     c = V x V_J + (dU/dt) eta_dot
    """

    V: Motion
    c: SX
    """(6,) Acceleration at zero modal and joint accelerations, the parent's left out."""
    carrier: Motion
    """Velocity of the place that holds the joint: X V_p + U eta_dot."""
    carrier_c: SX
    """(6,) What `c` is for that place."""

    def turning(self, rotor: SX, rate: SX) -> SX:
        """Return the moment that turns the spin of a rotor with the place that holds it, (6,)."""
        return self.carrier.cross_force(Force.of(rotor * rate)).column()


def motions(tree: FlexibleTree, v: SX) -> list[NodeMotion]:
    """Return how every node moves. Source: King 1988, sections 2.3 and 2.4, with the exact rate map of the attachment."""
    out: list[NodeMotion] = []
    for node in tree.nodes:
        up = Motion.zero() if node.parent == ROOT else node.place.X.motion_to_child(out[node.parent].V)
        rate, joint = tree.modal(node.parent, v), Motion.of(ca.mtimes(node.S, v[node.v, :]))
        bend = ca.mtimes(node.place.U, rate)
        bending = ca.jtimes(bend, tree.eta(node.parent), rate) if rate.numel() else SX.zeros(6)
        bent = Motion.of(bend)
        carrier, V = up + bent, up + bent + joint
        c = V.cross(bent + joint).column() + bending + bent.cross(joint).column()
        out.append(NodeMotion(V, c, carrier, carrier.cross(bent).column() + bending))
    return out
