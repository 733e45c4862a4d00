"""Dry friction of a joint under the load that its bearing carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism import Connection, Prismatic, Revolute
from articulus.model.mechanism.numbers import (
    Number,
    as_number,
    as_optional_number,
    convert,
    quantity,
    value_of,
)
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.bristle import Bristle
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof, positive, wrong


@dataclass(frozen=True)
class BearingFriction(Disturbance):
    """Coulomb friction of a revolute or prismatic joint by the reaction of the joint.

    The load N is the force across the axis (revolute: times the radius of the journal; the force along the axis rubs on
    the collar at the same radius), and for a slider the force across it with the moment across it over the `length` of
    the guide. Friction is mu N, by the law of `Bristle`: it holds at rest.

    Friction changes the accelerations and these the reaction. To keep the equations explicit, N follows the reaction
    with the time constant `lag`: the error of the friction force is lag times the rate of the load. Bristles are as
    stiff as they are loaded, so that the time in which friction settles does not depend on the load.

    Parameters
    ----------
    joint : str
        Revolute or prismatic joint.
    friction : number [-]
        mu in sliding.
    deflection : number [rad or m]
        By which the joint yields before it slides.
    radius : number [m]
        Radius of the journal of a revolute joint.
    length : number [m]
        Length of the guide of a prismatic joint, between its ends; 0: moments do not press.
    static : number [-]
        mu at break-away; that of sliding if not given.
    damping : number [s]
        Damping of the bristles over their stiffness.
    stribeck_speed : number [rad/s or m/s]
        Speed at which friction has fallen from static to sliding by 63 percent.
    preload : number [N]
        Load without reaction: a press fit, a seal.
    lag : number [s]
    name : str
        "<joint>_bearing_friction" if not given.

    Signals: `force` [N m or N], `load` [N].

    Notes
    -----
    All work against friction counts as dissipated, also the little that bent bristles give back. Source of the form with
    a load: Canudas de Wit, Tsiotras, Velenis, Basset & Gissinger 2003.
    """

    joint: str
    friction: Number = quantity("-", "coefficient of friction in sliding")
    deflection: Number = quantity("rad or m", "motion before the joint slides")
    radius: Number = quantity("m", "radius of the journal of a revolute joint", default=0.0)
    length: Number = quantity("m", "length of the guide of a prismatic joint", default=0.0)
    static: Number | None = quantity(
        "-", "coefficient of friction at break-away; that of sliding if not given", default=None
    )
    damping: Number = quantity("s", "damping of the bristles over their stiffness", default=0.0)
    stribeck_speed: Number = quantity(
        "rad/s or m/s", "speed at which static has changed to sliding friction by 63 percent", default=1e-2
    )
    preload: Number = quantity("N", "load without reaction", default=0.0)
    lag: Number = quantity("s", "time constant with which the load follows the reaction", default=1e-3)
    name: str = ""

    type_name = "bearing_friction"
    signals: ClassVar = {"force": "N m or N", "load": "N"}

    def __post_init__(self) -> None:
        numbers = (
            "friction",
            "deflection",
            "radius",
            "length",
            "damping",
            "stribeck_speed",
            "preload",
            "lag",
        )
        convert(self, **dict.fromkeys(numbers, as_number), static=as_optional_number)
        name_after(self, self.joint)
        positive(self, deflection=self.deflection, stribeck_speed=self.stribeck_speed, lag=self.lag)
        positive(self, friction=self.friction)
        at_least(
            self, 0.0, radius=self.radius, length=self.length, damping=self.damping, preload=self.preload
        )
        if self.static is not None and value_of(self.static) < value_of(self.friction):
            raise wrong(
                self,
                "static",
                f"{value_of(self.static):g}",
                f"at least friction, {value_of(self.friction):g}",
            )

    def work(self, s: Scope) -> None:
        connection = one_dof(s, self, self.joint)
        load = s.state("load", value_of(self.preload))
        s.rate("load", (s.number(self.preload) + self._pressing(s, connection) - load) / s.number(self.lag))
        mu = s.number(self.friction)
        stiffness = mu / s.number(self.deflection)
        law = Bristle(
            mu,
            mu if self.static is None else s.number(self.static),
            stiffness,
            stiffness * s.number(self.damping),
            s.number(self.stribeck_speed),
            SX(0),
        )
        v = s.joint_v(self.joint)
        arm = s.number(self.radius) if isinstance(connection.joint, Revolute) else SX(1)
        force = -arm * load * law.work(s, v)[0]
        s.write("force", force)
        s.write("load", load)
        s.force(self.joint, force)
        s.dissipates(-force * v)

    def _pressing(self, s: Scope, connection: Connection) -> SX:
        """Return the load of the reaction [N]."""
        joint = connection.joint
        if not isinstance(joint, Revolute | Prismatic):
            raise wrong(
                self, "joint", f"'{self.joint}', a {joint.type_name} joint", "a revolute or prismatic joint"
            )
        if isinstance(joint, Revolute) and value_of(self.radius) == 0:
            raise wrong(self, "radius", "0", "the radius of the journal of a revolute joint, above 0")
        reaction, axis = s.reaction(self.joint), ca.DM(joint.axis)
        moment, force = reaction[:3], reaction[3:]
        if isinstance(joint, Revolute):
            return _size(force)
        across = force - ca.dot(axis, force) * axis
        if value_of(self.length) == 0:
            return _size(across)
        tilting = moment - ca.dot(axis, moment) * axis
        return _size(across) + 2 * _size(tilting) / s.number(self.length)


SMALL = 1e-9
"""Size of a force or moment below which its length is rounded off [N, N m]."""


def _size(x: SX) -> SX:
    """Return the length of a force, with a derivative where it is zero."""
    return ca.sqrt(ca.sumsqr(x) + SMALL**2)
