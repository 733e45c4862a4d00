"""A constraint begins or ceases to hold."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import Number, quantity
from articulus.simulation.loop.events.base import passing
from articulus.simulation.loop.events.crossing import check_crossing, excess
from articulus.simulation.loop.events.switching import Switching
from articulus.simulation.loop.events.watch import EventWatch


@dataclass(frozen=True)
class Switch(Switching):
    """A constraint of the mechanism begins or ceases to hold when a signal, or a function of signals, passes a level.

    A signal that is at the level at the start and moves in the direction that counts passes it there, as time does at t0.

    Parameters
    ----------
    function : str or casadi.Function
        As in `Crossing`.
    constraint : str
        Name of a constraint of the mechanism.
    active : bool
        Whether it holds from then on. It holds at the start unless some event switches it on.
    direction : int
    name : str
    level : number [unit of the signal]
    inputs : names
        As in `Crossing`.
    """

    function: ca.Function | str
    constraint: str = name_of("constraint", "constraint of the mechanism")
    active: bool = True
    direction: int = passing()
    name: str = "switch"
    level: Number = quantity("any", "what is passed", default=0.0)
    inputs: tuple[str, ...] = ()

    type_name = "switch"

    def __post_init__(self) -> None:
        check_crossing(self)

    def holds_at_start(self, value: float, moved: float, d: Description) -> bool:
        return moved != 0 and abs(value) <= abs(moved) and moved * self.direction >= 0

    def value(self, watch: EventWatch) -> SX:
        self.switched_constraint(watch.description)
        return excess(self, watch)
