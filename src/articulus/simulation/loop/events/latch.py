"""A joint locks where it reaches a given position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from casadi import SX

from articulus.declared import name_of
from articulus.errors import InputError
from articulus.model.mechanism import Description, Lock
from articulus.simulation.loop.events.base import one_dof, passing
from articulus.simulation.loop.events.switching import Switching
from articulus.simulation.loop.events.watch import EventWatch

AT = 1e-12
"""Distance below which a joint is at the locked position at the start, over what is large for it: 1 rad, the length [-]."""


@dataclass(frozen=True)
class Latch(Switching):
    """A `Lock` of the mechanism closes when its joint reaches the locked position, by a plastic impact.

    A joint that is there at the start is locked at once, wherever it goes.

    Parameters
    ----------
    constraint : str
        Name of a `Lock` on a joint of one degree of freedom; it does not hold at the start.
    direction : int
        From which side: 1 the joint comes from below, -1 from above, 0 both.
    name : str
    """

    constraint: str = name_of("constraint", "lock of a joint of one degree of freedom")
    direction: int = passing()
    name: str = "latch"

    type_name = "latch"

    def holds_at_start(self, value: float, moved: float, d: Description) -> bool:
        lock: Any = self.switched_constraint(d)
        large = float(d.scales().displacement[d.v_slices[lock.joint].start])
        return abs(value) <= max(AT * large, abs(moved))

    def value(self, watch: EventWatch) -> SX:
        lock = self.switched_constraint(watch.description)
        if not isinstance(lock, Lock):
            raise InputError(
                f"event '{self.name}': constraint '{lock.name}' is a {type(lock).__name__}; expected a Lock, whose joint "
                "reaches a position. For others use Switch or Capture"
            )
        return watch.q[one_dof(watch.description, self.name, lock.joint)] - watch.number(lock.values[0])
