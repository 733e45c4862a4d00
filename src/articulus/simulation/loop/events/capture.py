"""A constraint between two frames closes when they are near and slow enough: docking, berthing, grasping."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.dynamics.tree import transform_of
from articulus.errors import InputError
from articulus.model.mechanism import Constraint, Description, LoopJoint
from articulus.model.mechanism.constraint.base import references
from articulus.model.mechanism.numbers import Number, as_number, quantity, value_of
from articulus.model.mechanism.pose import Pose
from articulus.simulation.loop.events.switching import Switching
from articulus.simulation.loop.events.watch import EventWatch


@dataclass(frozen=True)
class Capture(Switching):
    """A constraint between two frames closes once their distance, relative speed and misalignment are all below limits.

    It holds the relative pose in which it finds them: nothing moves at the instant of capture. Velocities change by the impulse
    of a plastic impact between the two sides, which keeps linear and angular momentum; the energy that it takes counts
    as dissipated. Frames that are within the limits at the start are caught there.

    Parameters
    ----------
    constraint : str
        Name of a constraint between two frames, such as a `LoopJoint` of a fixed joint (a weld); it does not hold at the start.
    distance : number [m]
        Distance of the two frames' origins.
    speed : number [m/s]
        Relative velocity of the two origins.
    angle : number [rad]
        Angle of the rotation from one frame to the other; not looked at if not given.
    name : str
    """

    constraint: str = name_of("constraint", "constraint between two frames")
    distance: Number = quantity("m", "distance of the two origins below which it closes")
    speed: Number = quantity("m/s", "relative speed of the two origins below which it closes")
    angle: Number | None = quantity("rad", "rotation between the frames below which it closes", default=None)
    name: str = "capture"

    type_name = "capture"
    direction = -1
    as_found = True

    def __post_init__(self) -> None:
        for label in ("distance", "speed", "angle"):
            held = getattr(self, label)
            if held is None and label == "angle":
                continue
            number = as_number(held)
            if not value_of(number) > 0:
                raise InputError(f"event '{self.name}': {label} {held!r}; expected a number above 0")
            object.__setattr__(self, label, number)

    def holds_at_start(self, value: float, moved: float, d: Description) -> bool:
        return value <= 0

    def value(self, watch: EventWatch) -> SX:
        closed = self.switched_constraint(watch.description)
        (R_a, p_a, v_a), (R_b, p_b, v_b) = (_side(watch, *side) for side in self._sides(closed))
        apart, slip = p_b - p_a, v_b - v_a
        parts = [
            ca.norm_2(apart) / watch.number(self.distance) - 1,
            ca.norm_2(slip) / watch.number(self.speed) - 1,
        ]
        if self.angle is not None:
            off = (3 - ca.trace(ca.mtimes(R_a.T, R_b))) / 2  # 1 - cos(angle)
            parts.append(off / (1 - ca.cos(watch.number(self.angle))) - 1)
        return ca.mmax(ca.vertcat(*parts))

    def _sides(self, closed: Constraint) -> list[tuple[str, Pose]]:
        """Return body or frame of both sides of the constraint, and the pose of the joint in it."""
        if isinstance(closed, LoopJoint):
            return [(closed.parent, closed.at), (closed.child, closed.child_at)]
        frames = [name for _, kind, name in references(closed) if kind == "frame"]
        if len(frames) != 2 or not closed.holonomic:
            raise InputError(
                f"event '{self.name}': constraint '{closed.name}' is between {len(frames)} frames; expected a constraint on the "
                "positions of two, such as a LoopJoint or a PointOnPoint"
            )
        return [(name, Pose()) for name in frames]


def _side(watch: EventWatch, frame: str, at: Pose) -> tuple[SX, SX, SX]:
    """Return rotation, position and velocity of a joint's frame in ground axes."""
    pose = watch.ask("pose", watch.q, frames=(frame,))
    moving = watch.ask("velocity", watch.q, watch.v, frames=(frame,))
    offset = transform_of(at, watch.number)
    arm = ca.mtimes(pose[:3, :3], offset.p)
    return (
        ca.mtimes(pose[:3, :3], offset.R),
        pose[:3, 3] + arm,
        moving[3:] + ca.cross(moving[:3], arm),
    )
