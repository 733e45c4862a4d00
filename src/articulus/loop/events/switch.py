"""A constraint begins or ceases to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.loop.equations import Network
from articulus.loop.events.base import Event, Situation, passing
from articulus.loop.events.crossing import Crossing
from articulus.mechanism.constraint.base import refers


@dataclass(frozen=True)
class Switch(Event):
    """A constraint of the mechanism begins or ceases to hold when a function of t, q and v passes zero.

    Parameters
    ----------
    function : casadi.Function
        With inputs named among t, q and v, and one number out.
    constraint : str
        Name of a constraint of the mechanism.
    active : bool
        Whether it holds from then on. It holds at the start unless some event switches it on.
    direction : int
    name : str
    """

    function: ca.Function
    constraint: str = refers("constraint", "constraint of the mechanism")
    active: bool = True
    direction: int = passing()
    name: str = "switch"

    type_name = "switch"

    def value(self, network: Network) -> SX:
        names = [c.name for c in network.description.constraints]
        if self.constraint not in names:
            raise InputError(
                f"event '{self.name}': no constraint '{self.constraint}'; {did_you_mean(self.constraint, names)}"
            )
        return Crossing(self.function, name=self.name).value(network)

    def happen(self, situation: Situation) -> bool:
        situation.close(self.constraint, self.active)
        return False


def switched_on(events: Sequence[Event]) -> set[str]:
    """Return the names of the constraints that some event switches on: they do not hold at the start."""
    return {event.constraint for event in events if isinstance(event, Switch) and event.active}
