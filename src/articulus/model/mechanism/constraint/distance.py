"""A massless rod between two points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.loop_joint import same_body
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class Distance(Constraint):
    """The origins of two frames stay at a fixed distance: (p . p - l^2) / 2 l = 0.

    Parameters
    ----------
    name : str
        Unique among constraints.
    first, second : str
        Bodies or frames.
    length : number or Parameter [m]
        The distance.
    """

    name: str
    first: str = name_of("frame", "body or frame whose origin is one end, or `ground`")
    second: str = name_of("frame", "body or frame whose origin is the other, or `ground`")
    length: Number = quantity("m", "distance of the two origins")

    type_name = "distance"

    def __post_init__(self) -> None:
        convert(self, length=as_number)

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("",)

    def residual(self, k: Kinematics) -> SX:
        p, length = k.relative(self.first, self.second).p, k.number(self.length)
        return (ca.dot(p, p) - length**2) / (2 * length)

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        if not value_of(self.length) > 0:
            yield Finding(
                f"{where}.length",
                f"{value_of(self.length):.6g} m",
                "a length > 0",
                'Points that coincide are a constraint of type "point".',
            )
        yield from same_body(f"{where}.second", self.first, self.second, description)
