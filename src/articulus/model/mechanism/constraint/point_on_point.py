"""Two points that stay together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.loop_joint import same_body

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class PointOnPoint(Constraint):
    """The origins of two frames coincide: a ball joint that closes a loop.

    Parameters
    ----------
    name : str
        Unique among constraints.
    first, second : str
        Bodies or frames.
    """

    name: str
    first: str = name_of("frame", "body or frame whose origin is one point, or `ground`")
    second: str = name_of("frame", "body or frame whose origin is the other, or `ground`")

    type_name = "point"

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("x", "y", "z")

    def residual(self, k: Kinematics) -> SX:
        return k.relative(self.first, self.second).p

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        yield from same_body(f"{where}.second", self.first, self.second, description)
