"""What every event is that makes a constraint of the mechanism begin or cease to hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import Constraint, Description
from articulus.simulation.loop.events.base import Event, Situation


class Switching(Event):
    """A constraint begins or ceases to hold.

    Attributes
    ----------
    constraint : str
        Name of a constraint of the mechanism.
    active : bool
        Whether it holds from then on.
    as_found : bool
        Whether a constraint that begins to hold keeps the residual that it finds, in place of zero.
    """

    constraint: str
    active: bool = True
    as_found: ClassVar[bool] = False

    def happen(self, situation: Situation) -> bool:
        situation.close(self.constraint, self.active, self.as_found)
        return False

    def switched_constraint(self, description: Description) -> Constraint:
        """Return the constraint; raise InputError for a name that the mechanism does not have."""
        found = {c.name: c for c in description.constraints}
        if self.constraint not in found:
            near = did_you_mean(self.constraint, found)
            raise InputError(f"event '{self.name}': no constraint '{self.constraint}'; {near}")
        return found[self.constraint]


def switched_on(events: Sequence[Event]) -> set[str]:
    """Return the names of the constraints that some event switches on: they do not hold at the start."""
    return {event.constraint for event in events if isinstance(event, Switching) and event.active}


def keeps_found(events: Sequence[Event]) -> bool:
    """Whether some event makes a constraint keep the residual that it finds."""
    return any(isinstance(event, Switching) and event.as_found for event in events)
