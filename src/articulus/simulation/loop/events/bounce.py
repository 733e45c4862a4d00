"""A joint meets a hard stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from casadi import SX

from articulus.declared import choice, name_of
from articulus.errors import InputError
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import quantity
from articulus.simulation.loop.events.base import Event, Situation, one_dof
from articulus.simulation.loop.events.watch import EventWatch


@dataclass(frozen=True)
class Bounce(Event):
    """A joint meets a hard stop and comes back with part of its speed; the impulse acts on the whole mechanism.

    Where impacts come ever faster they have an end: once the next flight would be lower than 1e-12 (rad or m, times the
    position of the stop where that is more than 1) the joint rests on its stop, which holds it by a force that pushes
    and never pulls. It lets go when the force has come down to zero. The run records "<name>" for each impact, "<name>
    rests" at the time to which the remaining flights add up, and "<name> lets go".

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    at : float [rad or m]
        Position of the stop.
    side : int
        1: it stops motion upwards; -1: downwards.
    restitution : float
        Speed after the impact over speed before it.
    name : str
    """

    joint: str = name_of("joint", "joint of one degree of freedom")
    at: float = quantity("rad or m", "the position of the stop")
    side: int = choice("which motion it stops", {"upper": 1, "lower": -1}, default=1)
    restitution: float = quantity("-", "speed after the impact over speed before it", default=0.0)
    name: str = "bounce"

    type_name = "bounce"

    def __post_init__(self) -> None:
        if self.side not in (1, -1):
            raise InputError(f"event '{self.name}': side {self.side!r}; expected 1 or -1")
        if not 0 <= self.restitution <= 1:
            raise InputError(f"event '{self.name}': restitution {self.restitution!r}; expected 0 to 1")
        object.__setattr__(self, "direction", self.side)

    def value(self, watch: EventWatch) -> SX:
        return watch.q[one_dof(watch.description, self.name, self.joint)] - self.at

    def happen(self, situation: Situation) -> bool:
        direction = np.zeros(len(situation.v))
        direction[situation.dof(self.joint)] = 1.0
        speed = float(direction @ situation.v)
        if speed * self.side > 0:
            situation.v = situation.impulse(direction, -self.restitution * speed)
        return False


def stops(description: Description, events: Sequence[Event]) -> tuple[str, ...]:
    """Return the joints of all `Bounce` events, in their order."""
    found = [event for event in events if isinstance(event, Bounce)]
    for event in found:
        one_dof(description, event.name, event.joint)
    return tuple(event.joint for event in found)
