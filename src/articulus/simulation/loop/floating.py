"""Momentum of bodies that float: what is attached to a free joint to the ground, in axes that do not move.

With P = (M v)_b, the rows of the free joint b, which are moment and force about the body's origin in its axes, and the joint's
pose (R, p),

    pi = (R n + p x R f, R f),  P = (n, f)
    pidot = the same of (M vdot + C v)_b
    M_bb dv_b = P(pi) - (M v)_b

Park 1993, equation 9.33, for a tree of bodies in the place of one.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics import quantities
from articulus.model.mechanism import GROUND, Connection, Description, Free
from articulus.model.mechanism.numbers import values_of
from articulus.spatial import cross, quaternion_matrix


def floating_joints(description: Description) -> list[str]:
    """Return the free joints to the ground that carry no damping or friction of their own."""
    return [c.name for c in description.connections if _floats(c)]


def _floats(c: Connection) -> bool:
    held = (c.damping, c.coulomb, c.armature)
    return isinstance(c.joint, Free) and c.parent == GROUND and not any(any(values_of(x)) for x in held)


def momentum_functions(description: Description) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Return the momenta pi of what floats, their rate, and the velocity of given momenta.

    Functions of (q, v, p), (q, v, vdot, p) and (q, v, pi, p); p are the parameters of the mechanism.
    """
    d = description
    symbols = {"q": SX.sym("q", d.nq), "v": SX.sym("v", d.nv), "p": SX.sym("p", len(d.parameters))}
    q, v, p = symbols.values()
    vdot, joints = SX.sym("vdot", d.nv), floating_joints(d)
    pi = SX.sym("pi", 6 * len(joints))
    model = [p] if d.parameters else []
    M = quantities.function(d, "mass_matrix")(q, *model)
    moving = quantities.function(d, "bias")(q, v, *model) - quantities.function(d, "gravity")(q, *model)
    value, rate, velocity = SX(0, 1), SX(0, 1), SX(v)
    for joint, wanted in zip(joints, ca.vertsplit(pi, 6)):
        own = list(range(d.nv))[d.v_slices[joint]]
        R, place = quaternion_matrix(q[d.q_slices[joint]][:4]), q[d.q_slices[joint]][4:7]
        P = ca.mtimes(M[own, :], v)
        value = ca.vertcat(value, _outward(R, place, P))
        rate = ca.vertcat(rate, _outward(R, place, ca.mtimes(M[own, :], vdot) + moving[own]))
        velocity[own] += ca.solve(M[own, own], _inward(R, place, wanted) - P)
    out = {
        "momentum": ([q, v, p], value),
        "rate": ([q, v, vdot, p], rate),
        "velocity": ([q, v, pi, p], velocity),
    }
    found = [ca.Function(name, given, ca.cse([ca.densify(x)])) for name, (given, x) in out.items()]
    return found[0], found[1], found[2]


def _outward(R: SX, place: SX, P: SX) -> SX:
    """Return a momentum about the body's origin in its axes as one about the joint's place in axes that do not move."""
    force = ca.mtimes(R, P[3:])
    return ca.vertcat(ca.mtimes(R, P[:3]) + cross(place, force), force)


def _inward(R: SX, place: SX, pi: SX) -> SX:
    """Return the inverse of `_outward`."""
    return ca.vertcat(ca.mtimes(R.T, pi[:3] - cross(place, pi[3:])), ca.mtimes(R.T, pi[3:]))
