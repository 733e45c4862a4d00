"""Values of events and their rates as one function of the equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from articulus.simulation.loop.events import Event, EventWatch
from articulus.simulation.loop.functions import ARGUMENTS, System


def event_values(system: System, events: Sequence[Event]) -> ca.Function:
    """(c, d, p, w, t, h, rate of c) -> values of all events and their rates along the motion.

    Values may depend on accelerations, multipliers and forces; these are then solved for.
    """
    watch = EventWatch(system)
    found = system.with_acceleration("values", [ca.vertcat(*(e.value(watch) for e in events))], ["values"])
    short = found.is_a("SXFunction")
    symbols: list[Any] = found.sx_in() if short else found.mx_in()
    kind: Any = ca.SX if short else ca.MX
    rate = kind.sym("rate", system.nc)
    values: Any = found.call(symbols)[0]
    c, t = symbols[0], symbols[ARGUMENTS.index("t")]
    slopes = ca.jtimes(values, c, rate) + ca.jtimes(values, t, kind(1))
    out: list[Any] = [ca.densify(x) for x in (values, slopes)]
    return ca.Function("events", [*symbols, rate], out, [*ARGUMENTS, "rate"], ["values", "slopes"])
