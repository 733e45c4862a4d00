"""A joint that is held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.numbers import Vector, as_numbers, convert, quantity, values_of

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class Lock(Constraint):
    """The coordinates of a joint keep given values.

    Parameters
    ----------
    name : str
        Unique among constraints.
    joint : str
        Joint of the mechanism.
    values : numbers, one per coordinate [rad or m]
        Where it is held; a quaternion for the rotation of spherical and free joints.
    """

    name: str
    joint: str = name_of("joint", "joint that is held")
    values: Vector = quantity("rad or m", "coordinates at which it is held", size="nq")

    type_name = "lock"

    def __post_init__(self) -> None:
        convert(self, values=as_numbers)

    def row_names(self, description: Description) -> tuple[str, ...]:
        return description.joint_type(self.joint).velocity_names

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return description.joint_type(self.joint).rotational

    def residual(self, k: Kinematics) -> SX:
        values = ca.vertcat(*map(k.number, self.values))
        return k.joint_type(self.joint).difference(values, k.coordinates(self.joint))

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        kind = description.joint_type(self.joint)
        if len(self.values) != kind.nq:
            yield Finding(
                f"{where}.values",
                f"{len(self.values)} numbers",
                f"{kind.nq}, one for each coordinate of the {kind.type_name} joint '{self.joint}'",
            )
        elif not kind.nq:
            yield Finding(f"{where}.joint", f"the fixed joint '{self.joint}'", "a joint that moves")
        elif kind.nq != kind.nv and not any(values_of(self.values[:4])):
            yield Finding(f"{where}.values", "a quaternion of zeros", "a rotation as quaternion w, x, y, z")
