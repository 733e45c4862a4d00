"""A joint that closes a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import require
from articulus.model.mechanism.pose import Pose

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description

TURNING = ("tilt", "turn", "cross")
"""How the names of closure rows that are angles begin."""


@dataclass(frozen=True)
class LoopJoint(Constraint):
    """The joint at which a closed loop is cut: its two sides stay in a pose that the joint allows.

    Parameters
    ----------
    name : str
        Unique among constraints.
    joint : Joint
        The motion it allows; any type but free.
    parent, child : str
        Bodies or frames on both sides.
    at : Pose
        Pose of the joint frame in the parent.
    child_at : Pose
        Pose of the joint frame in the child.
    """

    name: str
    joint: Joint
    parent: str = name_of("frame", "body or frame on one side, or `ground`")
    child: str = name_of("frame", "body or frame on the other side, or `ground`")
    at: Pose = field(default=Pose(), metadata={"meaning": "pose of the joint's frame in the parent"})
    child_at: Pose = field(default=Pose(), metadata={"meaning": "pose of the joint's frame in the child"})

    type_name = "loop"
    table = "loop"

    def __post_init__(self) -> None:
        require(
            f"loop '{self.name}'",
            joint=(self.joint, Joint),
            at=(self.at, Pose),
            child_at=(self.child_at, Pose),
        )

    def row_names(self, description: Description) -> tuple[str, ...]:
        return self.joint.closure_names

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return tuple(name.startswith(TURNING) for name in self.joint.closure_names)

    def residual(self, k: Kinematics) -> SX:
        between = k.relative(self.parent, self.child)
        return k.joint_on_symbols(self.joint).closure(
            k.pose(self.at).inverse() @ between @ k.pose(self.child_at)
        )

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        if not self.joint.closure_names:
            why = "It closes nothing." if self.joint.nv == 6 else "Its class has no closure rows."
            found = f"a {self.joint.type_name} joint"
            yield Finding(f"{where}.type", found, "a joint that can close a loop", why)
        yield from same_body(f"{where}.child", self.parent, self.child, description)


def same_body(where: str, first: str, second: str, description: Description) -> Iterator[Finding]:
    """Yield a finding when two frames sit on the same body."""
    body = description.carrier(first)[0]
    if description.carrier(second)[0] == body:
        yield Finding(where, f"'{second}', on the same body '{body}' as '{first}'", "a frame on another body")
