"""Which engine takes a run forward: native steps where possible, numeric ones where the method or events ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from articulus.errors import InputError
from articulus.integrate import AlphaMethod, Method, SecondOrderMethod
from articulus.integrate.base import Integrator
from articulus.runs.advance import advancer
from articulus.runs.events import Event, Switch
from articulus.runs.marching import Marcher
from articulus.runs.numeric import NumericEngine
from articulus.runs.system import System


def engine_for(
    system: System,
    method: Integrator,
    h: float,
    steps: int,
    events: Sequence[Event],
    rtol: float,
    atol: float,
    independent: Sequence[int],
) -> Any:
    """Return the engine of a method for a system; `independent` are constraint rows that imply all the others."""
    looks_back = isinstance(method, Method) and method.past > 0
    if looks_back and system.noisy:
        raise InputError(
            f"method '{method.name}' looks back over steps, and noise makes the forces jump at every step; expected a "
            "one-step method, such as rk4, or noise that acts through a sampled component"
        )
    if isinstance(method, (Method, SecondOrderMethod)) and not events:
        return Marcher(system, method, h)
    if looks_back:
        raise InputError(
            f"method '{method.name}' looks back over steps; expected a one-step method, such as rk4, for events"
        )
    switches = [event for event in events if isinstance(event, Switch)]
    if isinstance(method, AlphaMethod) and switches:
        raise InputError(
            f"method '{method.name}' keeps its constraints; expected another, such as rk4 or dormand_prince, for the event "
            f"'{switches[0].name}'"
        )
    return NumericEngine(system, advancer(system, method, h, rtol, atol, independent), h, steps, events)
