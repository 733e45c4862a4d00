"""A point that follows functions of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.time_function import TimeFunction
from articulus.model.mechanism.numbers import convert

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class PrescribedPoint(Constraint):
    """Chosen components of a frame's position are given functions of time (rheonomic).

    Parameters
    ----------
    name : str
        Unique among constraints.
    frame : str
        Body or frame whose origin is driven.
    x, y, z : TimeFunction, number, casadi.Function or None [m]
        What each component follows; None leaves it free.
    base : str
        Body or frame in whose axes, and from whose origin, they are measured, such as the hub of a craft that floats; the
        ground if not given.
    """

    name: str
    frame: str = name_of("frame", "body or frame whose origin is driven")
    x: TimeFunction | None = field(default=None, metadata={"meaning": "function of time that x follows"})
    y: TimeFunction | None = field(default=None, metadata={"meaning": "function of time that y follows"})
    z: TimeFunction | None = field(default=None, metadata={"meaning": "function of time that z follows"})
    base: str = name_of("frame", "body or frame in which they are measured", default=GROUND)

    type_name = "prescribed_point"

    def __post_init__(self) -> None:
        convert(self, x=_function_or_none, y=_function_or_none, z=_function_or_none)

    def row_names(self, description: Description) -> tuple[str, ...]:
        return tuple(self._driven())

    def residual(self, k: Kinematics) -> SX:
        p = ca.vertsplit(k.relative(self.base, self.frame).p)
        return ca.vertcat(*(p["xyz".index(axis)] - f.value(k) for axis, f in self._driven().items()))

    def _driven(self) -> dict[str, TimeFunction]:
        held = {"x": self.x, "y": self.y, "z": self.z}
        return {axis: f for axis, f in held.items() if f is not None}

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        if not self._driven():
            yield Finding(where, "none of x, y, z", "at least one of them")
        base, body = (description.carrier(name)[0] for name in (self.base, self.frame))
        if body == base == GROUND:
            yield Finding(f"{where}.frame", f"'{self.frame}', which is on the ground", "a frame that moves")
        elif body == base:
            yield Finding(
                f"{where}.base", f"'{self.base}' on the body of '{self.frame}'", "a frame on another body"
            )


def _function_or_none(value: object) -> TimeFunction | None:
    return None if value is None else TimeFunction.of(value)
