"""Free play of a joint, or between a joint and the one that drives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof, positive, wrong
from articulus.simulation.loop.components.joint_stop import stop_force, stop_spring


@dataclass(frozen=True)
class Backlash(Disturbance):
    """A spring and a damper that act once a free play is used up, to either side, and never pull.

    The play is x = q - ratio q_driver - center. No force acts while |x| is below gap / 2; the driver, such as a motor's shaft
    with its own inertia, feels -ratio times the force on the joint.

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    gap : number [rad or m]
        Whole free play, from one flank to the other, at the joint.
    stiffness : number [N m/rad or N/m]
    damping : number [N m s/rad or N s/m]
        While the flanks touch.
    center : number [rad or m]
        Value of q - ratio q_driver in the middle of the play.
    driver : str
        Joint of one degree of freedom on the other side of the play; a fixed position if not given.
    ratio : number
        Position of the joint over that of its driver, without play.
    name : str
        "<joint>_backlash" if not given.

    Signals: `force` on the joint [N m or N], `play` x [rad or m].
    """

    joint: str
    gap: Number = quantity("rad or m", "whole free play")
    stiffness: Number = quantity("N m/rad or N/m", "stiffness of touching flanks")
    damping: Number = quantity("N m s/rad or N s/m", "damping of touching flanks", default=0.0)
    center: Number = quantity("rad or m", "middle of the play", default=0.0)
    driver: str = ""
    ratio: Number = quantity("-", "position of the joint over that of its driver", default=1.0)
    name: str = ""

    type_name = "backlash"
    signals: ClassVar = {"force": "N m or N", "play": "rad or m"}

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("gap", "stiffness", "damping", "center", "ratio"), as_number))
        name_after(self, self.joint)
        positive(self, stiffness=self.stiffness)
        at_least(self, 0.0, gap=self.gap, damping=self.damping)
        if self.driver == self.joint:
            raise wrong(self, "driver", f"'{self.driver}', the joint itself", "another joint")

    def work(self, s: Scope) -> None:
        one_dof(s, self, self.joint)
        x, rate = s.joint_q(self.joint) - s.number(self.center), s.joint_v(self.joint)
        if self.driver:
            one_dof(s, self, self.driver)
            ratio = s.number(self.ratio)
            x, rate = x - ratio * s.joint_q(self.driver), rate - ratio * s.joint_v(self.driver)
        half, k = s.number(self.gap) / 2, s.number(self.stiffness)
        force = stop_force(x, rate, -half, half, k, s.number(self.damping))
        s.meets(lambda: [(x + half, 0), (half - x, 0)])
        s.write("force", force)
        s.write("play", x)
        s.force(self.joint, force)
        if self.driver:
            s.force(self.driver, -ratio * force)
        spring = stop_spring(x, -half, half, k)
        s.stores(spring**2 / (2 * k))
        s.dissipates((spring - force) * rate)
