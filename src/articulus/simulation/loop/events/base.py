"""What every event is: a number whose change of sign is looked for during a run, and what then happens.

To add one: one file with a frozen class here, with `value` on symbols and `happen` on numbers, and one line in
`ALL_EVENTS`. Studies read its table as the fields are declared.
"""

from __future__ import annotations

import abc
import dataclasses
import hashlib
from typing import Any, ClassVar, Protocol

import casadi as ca
import numpy as np
from casadi import SX

from articulus.declared import choice
from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import Description
from articulus.simulation.loop.events.watch import EventWatch


class Situation(Protocol):
    """What an event may look at and change when it happens, on numbers."""

    t: float
    q: np.ndarray
    v: np.ndarray

    def dof(self, joint: str) -> int:
        """Return the place in v of the velocity of a joint of one degree of freedom."""

    def impulse(self, direction: np.ndarray, wanted: float) -> np.ndarray:
        """Return the velocities after an impulse along `direction` (nv,) that brings direction' v to `wanted`."""

    def close(self, constraint: str, active: bool, as_found: bool = False) -> None:
        """Switch a constraint on (with the impulse that its velocities need) or off.

        `as_found`: it keeps the residual that it finds (for events whose class says so, `Switching.as_found`).
        """


class Event(abc.ABC):
    """A change of sign of `value`.

    Attributes
    ----------
    type_name : str
        Name in studies.
    name : str
    direction : int
        1: from below zero to above; -1: from above to below; 0: both.
    barrier : bool
        Whether the value may not stay beyond zero: a run in which it does is given up.
    """

    type_name: ClassVar[str]
    name: str
    direction: int = 0
    barrier: ClassVar[bool] = False

    @abc.abstractmethod
    def value(self, watch: EventWatch) -> SX:
        """Return the number whose sign is watched."""

    def holds_at_start(self, value: float, moved: float, d: Description) -> bool:
        """Whether it happens at the very start of a run: no change of sign comes before.

        Parameters
        ----------
        value : float
            At the start.
        moved : float
            What the value changes by in a billionth of a step, signed.
        d : Description
        """
        return False

    @abc.abstractmethod
    def happen(self, situation: Situation) -> bool:
        """Change the situation; return whether the run ends here."""


def passing() -> Any:
    """Return the field `direction` of an event whose direction is chosen."""
    return choice("which change of sign counts", {"rising": 1, "falling": -1, "both": 0}, default=0)


def description(event: Event) -> dict[str, Any]:
    """Return an event as plain texts and numbers, for the record; a function is recorded by its digest or name."""
    held = {f.name: getattr(event, f.name) for f in dataclasses.fields(event)}  # type: ignore[arg-type]
    return {"type": type(event).__name__} | {name: _plain(value) for name, value in held.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, ca.Function):
        return hashlib.sha256(value.serialize().encode()).hexdigest()[:16]
    return getattr(value, "__qualname__", repr(value)) if callable(value) else value


def one_dof(description: Description, name: str, joint: str) -> slice:
    """Return the place in q of the coordinate of a joint of one degree of freedom; raise InputError for another one."""
    slices = description.q_slices
    if joint not in slices:
        raise InputError(f"event '{name}': no joint '{joint}'; {did_you_mean(joint, slices)}")
    at = slices[joint]
    description.require_independent(joint, f"event '{name}', joint")
    if at.stop - at.start != 1:
        raise InputError(
            f"event '{name}': joint '{joint}' has {at.stop - at.start} coordinates; expected one"
        )
    return at
