"""Events: what to look for during a run, and what then happens.

To add one: a frozen class here with `value` on symbols, whose change of sign is the event, and `happen` on numbers; one
line in `ALL_EVENTS`. Studies read its table as the fields are declared.
"""

from __future__ import annotations

import abc
import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.mechanism import Description
from articulus.mechanism.constraint.base import refers
from articulus.mechanism.numbers import quantity
from articulus.runs.network import Network


class Situation(Protocol):
    """What an event may look at and change when it happens, on numbers."""

    t: float
    q: np.ndarray
    v: np.ndarray

    def freedom(self, joint: str) -> int:
        """Return where the velocity of a joint of one freedom stands."""

    def impulse(self, direction: np.ndarray, wanted: float) -> np.ndarray:
        """Return the velocities after an impulse along `direction` (nv,) that brings direction' v to `wanted`."""

    def close(self, constraint: str, active: bool) -> None:
        """Switch a constraint on (with the impulse that its velocities need) or off."""


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
    def value(self, network: Network) -> SX:
        """Return the number whose sign is watched."""

    @abc.abstractmethod
    def happen(self, situation: Situation) -> bool:
        """Change the situation; return whether the run ends here."""


def word(meaning: str, words: Mapping[str, int], default: int) -> Any:
    """Return a dataclass field that holds a number for which a study has a word."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "words": words})


def passing() -> Any:
    """Return the field `direction` of an event whose direction is chosen."""
    return word("which change of sign counts", {"rising": 1, "falling": -1, "both": 0}, default=0)


@dataclass(frozen=True)
class Crossing(Event):
    """A user's function of t, q and v passes zero.

    Parameters
    ----------
    function : casadi.Function
        With inputs named among t, q and v, and one number out.
    direction : int
        1 rising, -1 falling, 0 both.
    stop : bool
        Whether the run ends there.
    action : callable, optional
        From t, q, v to new q, v.
    name : str
    """

    function: ca.Function
    direction: int = passing()
    stop: bool = False
    action: Callable[[float, np.ndarray, np.ndarray], tuple[Any, Any]] | None = None
    name: str = "crossing"

    type_name = "crossing"

    def value(self, network: Network) -> SX:
        known = {"t": network.t, "q": network.q, "v": network.v}
        names = [self.function.name_in(i) for i in range(self.function.n_in())]
        for name in names:
            if name not in known:
                raise InputError(
                    f"event '{self.name}': input '{name}' is unknown; {did_you_mean(name, known)}"
                )
        out = self.function.call([known[name] for name in names])
        if len(out) != 1 or out[0].numel() != 1:
            raise InputError(
                f"event '{self.name}': the function gives {len(out)} outputs; expected one number"
            )
        return out[0]

    def happen(self, situation: Situation) -> bool:
        if self.action is not None:
            q, v = self.action(situation.t, situation.q.copy(), situation.v.copy())
            situation.q, situation.v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        return self.stop


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
        Of one freedom.
    at : float [rad or m]
        Position of the stop.
    side : int
        1: it stops motion upwards; -1: downwards.
    restitution : float
        Speed after the impact over speed before it.
    name : str
    """

    joint: str = refers("joint", "joint of one degree of freedom")
    at: float = quantity("rad or m", "the position of the stop")
    side: int = word("which motion it stops", {"upper": 1, "lower": -1}, default=1)
    restitution: float = quantity("-", "speed after the impact over speed before it", default=0.0)
    name: str = "bounce"

    type_name = "bounce"

    def __post_init__(self) -> None:
        if self.side not in (1, -1):
            raise InputError(f"event '{self.name}': side {self.side!r}; expected 1 or -1")
        if not 0 <= self.restitution <= 1:
            raise InputError(f"event '{self.name}': restitution {self.restitution!r}; expected 0 to 1")
        object.__setattr__(self, "direction", self.side)

    def value(self, network: Network) -> SX:
        return network.q[one_freedom(network.description, self.name, self.joint)] - self.at

    def happen(self, situation: Situation) -> bool:
        direction = np.zeros(len(situation.v))
        direction[situation.freedom(self.joint)] = 1.0
        speed = float(direction @ situation.v)
        if speed * self.side > 0:
            situation.v = situation.impulse(direction, -self.restitution * speed)
        return False


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


ALL_EVENTS: tuple[type[Event], ...] = (Crossing, Bounce, Switch)
"""The list that studies, documentation and tests go by."""


def description(event: Event) -> dict[str, Any]:
    """Return an event as plain texts and numbers, for the record; a function stands there with its digest or name."""
    held = {f.name: getattr(event, f.name) for f in dataclasses.fields(event)}  # type: ignore[arg-type]
    return {"type": type(event).__name__} | {name: _plain(value) for name, value in held.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, ca.Function):
        return hashlib.sha256(value.serialize().encode()).hexdigest()[:16]
    return getattr(value, "__qualname__", repr(value)) if callable(value) else value


def switched_on(events: Sequence[Event]) -> set[str]:
    """Return the names of the constraints that some event switches on: they do not hold at the start."""
    return {event.constraint for event in events if isinstance(event, Switch) and event.active}


def stops(description: Description, events: Sequence[Event]) -> tuple[str, ...]:
    """Return the joints of all `Bounce` events, in their order."""
    found = [event for event in events if isinstance(event, Bounce)]
    for event in found:
        one_freedom(description, event.name, event.joint)
    return tuple(event.joint for event in found)


def one_freedom(description: Description, name: str, joint: str) -> slice:
    """Return where the coordinate of a joint of one freedom stands in q; raise InputError for another one."""
    slices = description.q_slices
    if joint not in slices:
        raise InputError(f"event '{name}': no joint '{joint}'; {did_you_mean(joint, slices)}")
    at = slices[joint]
    if at.stop - at.start != 1:
        raise InputError(
            f"event '{name}': joint '{joint}' has {at.stop - at.start} coordinates; expected one"
        )
    return at
