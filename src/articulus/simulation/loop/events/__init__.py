"""Events, one file each. `ALL_EVENTS` is the list that studies, documentation and tests go by."""

from articulus.simulation.loop.events.base import Event, Situation, description
from articulus.simulation.loop.events.bounce import Bounce, stops
from articulus.simulation.loop.events.capture import Capture
from articulus.simulation.loop.events.crossing import Crossing
from articulus.simulation.loop.events.latch import Latch
from articulus.simulation.loop.events.release import Release
from articulus.simulation.loop.events.switch import Switch
from articulus.simulation.loop.events.switching import Switching, keeps_found, switched_on
from articulus.simulation.loop.events.watch import EventWatch

ALL_EVENTS: tuple[type[Event], ...] = (Crossing, Bounce, Switch, Latch, Capture, Release)

__all__ = [
    "ALL_EVENTS",
    "Bounce",
    "Capture",
    "Crossing",
    "Event",
    "EventWatch",
    "Latch",
    "Release",
    "Situation",
    "Switch",
    "Switching",
    "description",
    "keeps_found",
    "stops",
    "switched_on",
]
