"""An actuator whose force is linear in its command, its position and its speed, on one joint or on several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_numbers,
    convert,
    quantity,
    value_of,
)
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import name_after, one_dof, wrong
from articulus.simulation.loop.components.columns import clip, column
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class LinearDrive(Actuator):
    """Force f = gain u + offset - stiffness s - damping ds/dt within bounds, with s = sum of ratio q over its joints.

    Each joint gets ratio f. One joint: a geared motor, or a position servo (gain = stiffness, u = desired position).
    Several: a cable over pulleys (a fixed tendon of MJCF) or a differential.

    Parameters
    ----------
    joints : names
        Joints of one degree of freedom.
    ratios : number, or one per joint [-]
        Motion of the drive over motion of the joint.
    gain : number [force/command]
    offset : number [N m or N]
        Force without command at s = 0.
    stiffness, damping : number
        Stiffness and damping of a spring and a damper within the drive.
    lower, upper : number [N m or N]
        Bounds of the force.
    name : str
        "<first joint>_linear_drive" if not given.

    Signals: `position` [rad or m], `force` [N m or N].
    """

    joints: tuple[str, ...]
    ratios: Vector = quantity(
        "-", "motion of the drive over motion of the joint", size="1 or joints", default=(1.0,)
    )
    gain: Number = quantity("force/command", "force by command", default=1.0)
    offset: Number = quantity("N m or N", "force without command at position 0", default=0.0)
    stiffness: Number = quantity("N m/rad or N/m", "spring within the drive", default=0.0)
    damping: Number = quantity("N m s/rad or N s/m", "damper within the drive", default=0.0)
    lower: Number = quantity("N m or N", "smallest force", default=-math.inf)
    upper: Number = quantity("N m or N", "largest force", default=math.inf)
    name: str = ""

    type_name = "linear_drive"
    signals: ClassVar = {"position": "rad or m", "force": "N m or N"}

    def __post_init__(self) -> None:
        scalars = ("gain", "offset", "stiffness", "damping", "lower", "upper")
        convert(self, joints=names, ratios=as_numbers, **dict.fromkeys(scalars, as_number))
        if not self.joints:
            raise wrong(self, "joints", "none", "the joints that it drives")
        name_after(self, self.joints[0])
        object.__setattr__(self, "joint", self.joints[0] if len(self.joints) == 1 else "")
        if not value_of(self.lower) <= value_of(self.upper):
            raise wrong(
                self, "lower", f"{value_of(self.lower):g}", f"at most upper = {value_of(self.upper):g}"
            )

    def drive(self, s: Scope, command: SX) -> None:
        for joint in self.joints:
            one_dof(s, self, joint)
        ratios = column(s, self, "ratios", len(self.joints))
        position = ca.dot(ratios, ca.vertcat(*map(s.joint_q, self.joints)))
        rate = ca.dot(ratios, ca.vertcat(*map(s.joint_v, self.joints)))
        force = s.number(self.gain) * command + s.number(self.offset)
        force = force - s.number(self.stiffness) * position - s.number(self.damping) * rate
        if math.isfinite(value_of(self.lower)) or math.isfinite(value_of(self.upper)):
            force = clip(force, s.number(self.lower), s.number(self.upper))
        s.write("position", position)
        s.write("force", force)
        for k, joint in enumerate(self.joints):
            s.force(joint, ratios[k] * force)
