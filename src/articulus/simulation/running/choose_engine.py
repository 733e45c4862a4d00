"""Which engine takes a run forward: native steps where possible, numeric ones where the method or events ask."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from articulus.errors import InputError
from articulus.simulation.integrate import StepControl
from articulus.simulation.integrate.base import Integrator
from articulus.simulation.loop.events import Switching
from articulus.simulation.loop.functions import System
from articulus.simulation.running.native_events import NativeEventEngine
from articulus.simulation.running.numeric_engine import NumericEngine
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.running.steppers import stepper_of
from articulus.simulation.running.tolerance import absolute


def engine_for(
    system: System, method: Integrator, s: RunSettings, independent: Sequence[tuple[int, ...]], single: bool
) -> Any:
    """Return the engine of a method for a system; `independent` are constraint rows that imply all the others, of each run or for all.

    `single`: for one run; with events it is all numeric, which needs less code to be built.
    """
    h, events = s.step, s.events
    kind = stepper_of(method)
    loop = None if events else kind.native_loop(system, method, h)
    if loop is not None:
        return loop
    switches = [event for event in events if isinstance(event, Switching)]
    if switches and not kind.switches:
        raise InputError(
            f"method '{method.name}' keeps its constraints; expected another, such as rk4 or dormand_prince, for the event "
            f"'{switches[0].name}'"
        )
    control = StepControl(
        s.rtol, absolute(system, s.atol), max_step=math.inf if s.max_step is None else s.max_step
    )
    steppers = {rows: kind(system, method, h, control, rows) for rows in dict.fromkeys(independent)}
    numeric = NumericEngine(system, [steppers[rows] for rows in independent], h, s.steps, events)
    native = not single and kind.native_loop(system, method, h) is not None
    return NativeEventEngine(system, method, h, numeric) if native and events else numeric
