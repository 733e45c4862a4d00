"""A constraint of the user's on positions."""

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
class CustomConstraint(Constraint):
    """g(q, t) = 0 by a CasADi function; cannot be written to a file.

    Parameters
    ----------
    name : str
        Unique among constraints.
    function : casadi.Function
        From all positions q (nq,) and the time t [s] to the rows that must vanish, twice differentiable.
    """

    name: str
    function: Formula

    type_name = "custom"

    def __post_init__(self) -> None:
        convert(self, function=formula("q, t"))

    def row_names(self, description: Description) -> tuple[str, ...]:
        return number_rows(self.function.rows)

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return (None,) * self.function.rows

    def residual(self, k: Kinematics) -> SX:
        return self.function(k.q, k.t)

    def lift(self, q: Sequence[int], v: Sequence[int], description: Description) -> CustomConstraint:
        every, t = SX.sym("q", description.nq), SX.sym("t")
        rows = self.function(every[list(q)], t)
        return replace(self, function=Formula(ca.Function("lifted", [every, t], [rows]), "q, t"))

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        yield from wrong_sizes(f"{where}.function", self.function, {"q": description.nq, "t": 1})
