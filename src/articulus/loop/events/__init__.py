"""Events, one file each. `ALL_EVENTS` is the list that studies, documentation and tests go by."""

from articulus.loop.events.base import Event, Situation, description
from articulus.loop.events.bounce import Bounce, stops
from articulus.loop.events.crossing import Crossing
from articulus.loop.events.switch import Switch, switched_on
from articulus.loop.events.watch import Watch

ALL_EVENTS: tuple[type[Event], ...] = (Crossing, Bounce, Switch)

__all__ = [
    "ALL_EVENTS",
    "Bounce",
    "Crossing",
    "Event",
    "Situation",
    "Switch",
    "Watch",
    "description",
    "stops",
    "switched_on",
]
