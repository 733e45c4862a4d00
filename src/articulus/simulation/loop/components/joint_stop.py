"""Stops at the ends of a joint's range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import (
    Number,
    as_number,
    as_optional_number,
    convert,
    quantity,
    value_of,
)
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof, positive, wrong


def stop_force(x: SX, rate: SX, lower: Any, upper: Any, stiffness: SX, damping: SX) -> SX:
    """Return the force that keeps x between bounds: spring and damper beyond either of them, which push but never pull."""
    above, below = ca.fmax(x - upper, 0), ca.fmax(lower - x, 0)
    return ca.if_else(below > 0, ca.fmax(stiffness * below - damping * rate, 0), 0) - ca.if_else(
        above > 0, ca.fmax(stiffness * above + damping * rate, 0), 0
    )


def stop_spring(x: SX, lower: Any, upper: Any, stiffness: SX) -> SX:
    """Return the force of the spring alone: the rest is loss, in the damper or where the stop lets go."""
    return stiffness * (ca.fmax(lower - x, 0) - ca.fmax(x - upper, 0))


@dataclass(frozen=True)
class JointStop(Disturbance):
    """A spring and a damper that push back beyond the limits of a joint, and never pull.

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    stiffness : number [N m/rad or N/m]
    damping : number [N m s/rad or N s/m]
    lower, upper : number [rad or m]
        The limits of the joint in the mechanism if not given.
    name : str
        "<joint>_joint_stop" if not given.

    Signals: `force` [N m or N].
    """

    joint: str
    stiffness: Number = quantity("N m/rad or N/m", "stiffness beyond the limit")
    damping: Number = quantity("N m s/rad or N s/m", "damping beyond the limit", default=0.0)
    lower: Number | None = quantity(
        "rad or m", "smallest free position; the joint's if not given", default=None
    )
    upper: Number | None = quantity(
        "rad or m", "largest free position; the joint's if not given", default=None
    )
    name: str = ""

    type_name = "joint_stop"
    signals: ClassVar = {"force": "N m or N"}

    def __post_init__(self) -> None:
        convert(
            self, stiffness=as_number, damping=as_number, lower=as_optional_number, upper=as_optional_number
        )
        name_after(self, self.joint)
        positive(self, stiffness=self.stiffness)
        at_least(self, 0.0, damping=self.damping)

    def work(self, s: Scope) -> None:
        limits = one_dof(s, self, self.joint).limits
        lower = self.lower if self.lower is not None else (*limits.lower, -math.inf)[0]
        upper = self.upper if self.upper is not None else (*limits.upper, math.inf)[0]
        low, high = value_of(lower), value_of(upper)
        if not low < high or (math.isinf(low) and math.isinf(high)):
            raise wrong(
                self,
                "lower, upper",
                f"{low:g} and {high:g}",
                "lower < upper, one of them finite",
                f"Give them here, or as limits of joint '{self.joint}'",
            )
        x, rate = s.joint_q(self.joint), s.joint_v(self.joint)
        bounds, k = (s.number(lower), s.number(upper)), s.number(self.stiffness)
        force = stop_force(x, rate, *bounds, k, s.number(self.damping))
        ends = [(1, low, bounds[0]), (-1, high, bounds[1])]
        s.meets(lambda: [(side * (x - at), 0) for side, value, at in ends if math.isfinite(value)])
        s.write("force", force)
        s.force(self.joint, force)
        spring = stop_spring(x, *bounds, k)
        s.stores(spring**2 / (2 * k))
        s.dissipates((spring - force) * rate)
