"""Force and moment that a joint transmits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.dynamics.tree import transform_of
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import check_frame, find_joint, name_after


@dataclass(frozen=True)
class ForceSensor(Sensor):
    """The wrench that a joint exerts on its child body: about the joint's origin in the child's joint axes, or about a frame's in its.

    It follows the forces of the same instant: feed it back through a sampled component only. Put a fixed joint where
    a force sensor sits.

    Parameters
    ----------
    joint : str
    name : str
        "<joint>_force_sensor" if not given.
    frame : str
        Body or frame about whose origin, and in whose axes, the wrench is given; those of the joint if not given.

    Signals: `moment` [N m], `force` [N].
    """

    joint: str
    name: str = ""
    frame: str = ""

    type_name = "force_sensor"
    signals: ClassVar = {"moment": "N m", "force": "N"}

    def __post_init__(self) -> None:
        name_after(self, self.joint)

    def measure(self, s: Scope) -> dict[str, SX]:
        joint = find_joint(s, self, self.joint)
        wrench = s.reaction(self.joint)
        moment, force = wrench[:3], wrench[3:]
        if self.frame:
            check_frame(s, self, self.frame)
            child, frame = (s.ask("pose", s.q, frames=[name]) for name in (joint.child, self.frame))
            at = transform_of(joint.child_at, s.number)
            turn = ca.mtimes(frame[:3, :3].T, ca.mtimes(child[:3, :3], at.R))
            arm = ca.mtimes(frame[:3, :3].T, child[:3, 3] + ca.mtimes(child[:3, :3], at.p) - frame[:3, 3])
            force = ca.mtimes(turn, force)
            moment = ca.mtimes(turn, moment) + ca.cross(arm, force)
        return {"moment": moment, "force": force}
