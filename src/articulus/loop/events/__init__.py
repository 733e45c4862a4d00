"""Events, one file each. `ALL_EVENTS` is the list that studies, documentation and tests go by."""

from articulus.loop.events.base import Event, Situation, description
from articulus.loop.events.bounce import Bounce, stops
from articulus.loop.events.capture import Capture
from articulus.loop.events.crossing import Crossing
from articulus.loop.events.latch import Latch
from articulus.loop.events.release import Release
from articulus.loop.events.switch import Switch
from articulus.loop.events.switching import Switching, keeps_found, switched_on
from articulus.loop.events.watch import Watch

ALL_EVENTS: tuple[type[Event], ...] = (Crossing, Bounce, Switch, Latch, Capture, Release)

__all__ = [
    "ALL_EVENTS",
    "Bounce",
    "Capture",
    "Crossing",
    "Event",
    "Latch",
    "Release",
    "Situation",
    "Switch",
    "Switching",
    "Watch",
    "description",
    "keeps_found",
    "stops",
    "switched_on",
]
