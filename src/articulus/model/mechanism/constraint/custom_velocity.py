"""A constraint of the user's on velocities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.formula import Formula, formula, number_rows, wrong_sizes
from articulus.model.mechanism.numbers import convert

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class CustomVelocityConstraint(Constraint):
    """A(q, t) v + b(q, t) = 0 by a CasADi function; cannot be written to a file.

    Parameters
    ----------
    name : str
        Unique among constraints.
    function : casadi.Function
        From all positions q (nq,), velocities v (nv,) and the time t [s] to the rows that must vanish; linear in v.
    """

    name: str
    function: Formula

    type_name = "custom_velocity"
    holonomic = False

    def __post_init__(self) -> None:
        convert(self, function=formula("q, v, t"))

    def row_names(self, description: Description) -> tuple[str, ...]:
        return number_rows(self.function.rows)

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return (None,) * self.function.rows

    def residual(self, k: Kinematics) -> SX:
        return self.function(k.q, k.v, k.t)

    def lift(self, q: Sequence[int], v: Sequence[int], description: Description) -> CustomVelocityConstraint:
        every, rates, t = SX.sym("q", description.nq), SX.sym("v", description.nv), SX.sym("t")
        rows = self.function(every[list(q)], rates[list(v)], t)
        return replace(self, function=Formula(ca.Function("lifted", [every, rates, t], [rows]), "q, v, t"))

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        sizes = {"q": description.nq, "v": description.nv, "t": 1}
        bad = list(wrong_sizes(f"{where}.function", self.function, sizes))
        yield from bad
        if not bad and any(self._bent_rows(sizes)):
            yield Finding(
                f"{where}.function",
                "rows that are not linear in v",
                "A(q, t) v + b(q, t)",
                "A limit on a speed or an energy is no constraint of this kind.",
            )

    def _bent_rows(self, sizes: dict[str, int]) -> list[bool]:
        q, v, t = (SX.sym(name, size) for name, size in sizes.items())
        return list(ca.which_depends(self.function(q, v, t), v, 2, True))
