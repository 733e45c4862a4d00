"""A constraint opens when its force has become too large."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.errors import InputError
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import Number, as_number, quantity
from articulus.simulation.loop.events.switching import Switching
from articulus.simulation.loop.events.watch import EventWatch


@dataclass(frozen=True)
class Release(Switching):
    """A constraint ceases to hold when the size of its multipliers rises above a limit: a fuse, a breaking rod.

    One that is overloaded at the start opens there.

    Parameters
    ----------
    constraint : str
        Name of a constraint of the mechanism.
    limit : number [N or N m, that of the rows]
        Size sqrt(sum of squares) of the multipliers of the rows above which it opens.
    rows : names
        Which rows of the constraint count, such as ("x", "y", "z") for the force of a weld; all if not given.
    name : str
    """

    constraint: str = name_of("constraint", "constraint of the mechanism")
    limit: Number = quantity("any", "size of the multipliers above which it opens")
    rows: tuple[str, ...] = field(default=(), metadata={"meaning": "rows that count", "size": "names"})
    name: str = "release"

    type_name = "release"
    direction = 1
    active = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", as_number(self.limit))
        object.__setattr__(self, "rows", (self.rows,) if isinstance(self.rows, str) else tuple(self.rows))

    def holds_at_start(self, value: float, moved: float, d: Description) -> bool:
        return value >= 0

    def value(self, watch: EventWatch) -> SX:
        d, opened = watch.description, self.switched_constraint(watch.description)
        own = [(c.name, row) for c in d.constraints for row in c.row_names(d)]
        known = opened.row_names(d)
        for row in self.rows:
            if row not in known:
                raise InputError(
                    f"event '{self.name}': constraint '{opened.name}' has no row '{row}'; expected some of {', '.join(known)}"
                )
        chosen = [
            i for i, (name, row) in enumerate(own) if name == opened.name and row in (self.rows or known)
        ]
        return ca.norm_2(watch.signal("multipliers", self.name)[chosen]) - watch.number(self.limit)
