"""Events, one file each. `ALL_EVENTS` is the list that studies, documentation and tests go by."""

from articulus.runs.events.base import Event, Situation, description
from articulus.runs.events.bounce import Bounce, stops
from articulus.runs.events.crossing import Crossing
from articulus.runs.events.switch import Switch, switched_on

ALL_EVENTS: tuple[type[Event], ...] = (Crossing, Bounce, Switch)

__all__ = [
    "ALL_EVENTS",
    "Bounce",
    "Crossing",
    "Event",
    "Situation",
    "Switch",
    "description",
    "stops",
    "switched_on",
]
