"""What laws of attitude share: how far a craft is from where it should point."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.errors import InputError
from articulus.model.mechanism.numbers import Vector
from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import check_frame, wrong
from articulus.simulation.loop.components.columns import clip
from articulus.spacecraft.attitude import conjugate, quaternion_of_matrix
from articulus.spatial import quaternion_matrix, quaternion_product


def read(s: Scope, component: Component, field: str, signal: str) -> SX:
    """Return a signal; raise InputError that names the component and the field it stands in."""
    try:
        return s.read(signal)
    except InputError:
        raise wrong(
            component, field, f"no signal '{signal}'", "the name of a part that writes it, before this one"
        ) from None


def known_attitude(s: Scope, component: Any) -> tuple[SX, SX]:
    """Return attitude (quaternion to the ground frame) and rate (own axes) as the law knows them: measured, or true."""
    if component.measured:
        attitude, rate = component.measured
        return read(s, component, "measured", attitude), read(s, component, "measured", rate)
    check_frame(s, component, component.frame)
    R = s.ask("pose", s.q, frames=[component.frame])[:3, :3]
    omega = s.ask("velocity", s.q, s.v, frames=[component.frame])[:3]
    return quaternion_of_matrix(R), ca.mtimes(R.T, omega)


def errors(s: Scope, component: Any) -> tuple[SX, SX, SX]:
    """Return the quaternion from the craft to where it should point, the rate relative to that and its feedforward, own axes.

    The feedforward is J (wdot_R - w x w_R) + w x J w; zero without the inertia of the craft.
    """
    q, w = known_attitude(s, component)
    wanted = read(s, component, "guidance", f"{component.guidance}.attitude")
    rate, acceleration = (
        read(s, component, "guidance", f"{component.guidance}.{x}") for x in ("rate", "acceleration")
    )
    R = quaternion_matrix(q)
    w_R, a_R = ca.mtimes(R.T, rate), ca.mtimes(R.T, acceleration)
    J = inertia_matrix(s, component.inertia)
    forward = ca.mtimes(J, a_R - ca.cross(w, w_R)) + ca.cross(w, ca.mtimes(J, w))
    return quaternion_product(conjugate(wanted), q), w - w_R, forward


def inertia_matrix(s: Scope, numbers: Vector) -> SX:
    """Return a matrix from its moments (3), or moments and products xy, xz, yz (6); zero of none."""
    if not numbers:
        return SX.zeros(3, 3)
    xx, yy, zz, *products = map(s.number, numbers)
    xy, xz, yz = products or (0, 0, 0)
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def write_torque(s: Scope, component: Any, torque: SX, q: SX) -> None:
    """Write the torque, within the largest one, and the angle that is missing."""
    limit = s.number(component.limit)
    s.write("torque", clip(torque, -limit, limit))
    s.write("error", 2 * ca.atan2(ca.norm_2(q[1:]), ca.fabs(q[0])))
