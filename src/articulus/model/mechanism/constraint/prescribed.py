"""A joint coordinate that follows a function of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding, did_you_mean
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.time_function import TimeFunction
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import convert

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class Prescribed(Constraint):
    """A coordinate of a joint is a given function of time (rheonomic): q - f(t) = 0.

    Parameters
    ----------
    name : str
        Unique among constraints.
    joint : str
        Joint of the mechanism.
    motion : TimeFunction, number or casadi.Function [rad or m]
        What the coordinate follows.
    coordinate : str
        Which one, for a joint with several, such as "angle"; not a component of a quaternion.
    """

    name: str
    joint: str = name_of("joint", "joint that is driven")
    motion: TimeFunction = field(metadata={"meaning": "function of time that the coordinate follows"})  # type: ignore[misc]
    coordinate: str = field(default="", metadata={"meaning": "which coordinate, for a joint with several"})

    type_name = "prescribed"

    def __post_init__(self) -> None:
        convert(self, motion=TimeFunction.of)

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("",)

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        kind = description.joint_type(self.joint)
        return (kind.rotational[kind.coordinate_names.index(self.coordinate) - (kind.nq - kind.nv)],)

    def residual(self, k: Kinematics) -> SX:
        index = k.joint_type(self.joint).coordinate_names.index(self.coordinate)
        return k.coordinates(self.joint)[index] - self.motion.value(k)

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        kind = description.joint_type(self.joint)
        if self.coordinate not in _prescribable(kind):
            yield Finding(
                f"{where}.coordinate",
                f"'{self.coordinate}' of the {kind.type_name} joint '{self.joint}'",
                "one of its coordinates that is an angle or a length",
                did_you_mean(self.coordinate, [n for n in _prescribable(kind) if n]),
            )


def _prescribable(kind: Joint) -> tuple[str, ...]:
    """Return the coordinates that are no part of a quaternion."""
    return kind.coordinate_names if kind.nq == kind.nv else kind.coordinate_names[4:]
