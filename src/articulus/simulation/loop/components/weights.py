"""Forces of a field on the bodies of a mechanism, rigid and flexible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.flexible.data import BodyData
from articulus.dynamics.flexible.integrals import sparse
from articulus.errors import did_you_mean
from articulus.model.mechanism import Body
from articulus.model.mechanism.modes import Modes
from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import wrong


def heavy_bodies(s: Scope, component: Component, names: Sequence[str]) -> list[Body]:
    """Return the bodies of given names, or all that have mass; raise InputError for unknown ones."""
    known = {b.name: b for b in s.description.bodies}
    for name in names:
        if name not in known:
            raise wrong(component, "bodies", repr(name), "names of bodies", did_you_mean(name, known))
    return [known[name] for name in names] or [
        b for b in known.values() if b.mass != 0 or b.modes is not None
    ]


@dataclass(frozen=True)
class Weight:
    """The mass of a body in its own axes, on symbols of its modal coordinates.

    Attributes
    ----------
    mass : SX [kg]
    com : SX, (3,) [m]
        Center of mass.
    inertia : SX, (3, 3) [kg m^2]
        About the center of mass.
    eta : SX, (n,)
        Symbols of the modal coordinates; none of a rigid body.
    state : SX, (n,)
        What they are.
    felt : SX, (n,)
        The deflection at which forces act: none at the level "ruthless".
    """

    mass: SX
    com: SX
    inertia: SX
    eta: SX
    state: SX
    felt: SX

    @staticmethod
    def of(s: Scope, body: Body) -> Weight:
        """Return the weight of a body."""
        if body.modes is not None:
            return _of_modes(s, body.name, body.modes)
        xx, yy, zz, xy, xz, yz = map(s.number, body.inertia)
        J = ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))
        none = SX(0, 1)
        return Weight(s.number(body.mass), ca.vertcat(*map(s.number, body.com)), J, none, none, none)

    def now(self, expression: SX) -> SX:
        """Return an expression of this weight at the present deflection."""
        return ca.substitute(expression, self.eta, self.state) if self.eta.numel() else expression

    def at(self, expression: SX) -> SX:
        """Return an expression of this weight where forces act."""
        return ca.substitute(expression, self.eta, self.felt) if self.eta.numel() else expression


def _of_modes(s: Scope, name: str, modes: Modes) -> Weight:
    if not modes.count:
        rr0 = sparse(BodyData(modes, s.number).array("rr0"))
        mass, com = rr0[3, 3], ca.densify(ca.vertcat(rr0[2, 4], rr0[0, 5], rr0[1, 3])) / rr0[3, 3]
        about = rr0[:3, :3] - mass * (ca.dot(com, com) * SX.eye(3) - ca.mtimes(com, com.T))
        return Weight(mass, com, about, *[SX(0, 1)] * 3)
    eta, state = SX.sym("eta", modes.count), s.q[s.description.mode_slices(name)[1]]
    held = ElasticBody.of(BodyData(modes, s.number), eta)
    mass, com = held.mass, held.first_moment / held.mass
    about = held.inertia.J - mass * (ca.dot(com, com) * SX.eye(3) - ca.mtimes(com, com.T))
    return Weight(mass, com, about, eta, state, 0 * state if modes.level == "ruthless" else state)


def pull(s: Scope, body: Body, weight: Weight, R: SX, force: SX, moment: SX, potential: SX) -> None:
    """Apply a field to a body: a force at its center of mass and a moment, ground axes, and what its modes feel.

    Parameters
    ----------
    R : SX, (3, 3)
        Rotation of the body.
    force, moment, potential : SX
        On the symbols of the weight; the modes feel minus the derivative of the potential by their coordinates [J].
    """
    arm = ca.mtimes(R, weight.com)
    s.wrench(body.name, weight.at(ca.vertcat(ca.cross(arm, force) + moment, force)))
    if weight.eta.numel():
        s.modal_force(body.name, weight.at(-ca.gradient(potential, weight.eta)))
