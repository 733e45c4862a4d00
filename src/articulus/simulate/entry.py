"""`simulate` and `rollout`: from a user's arguments to a run."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus.api import Mechanism
from articulus.dynamics.loops.forms import DEFAULT
from articulus.errors import InputError
from articulus.mechanism import Description
from articulus.simulate.checkpoint import require_place
from articulus.simulate.component import Component
from articulus.simulate.components import Expression
from articulus.simulate.events import Event
from articulus.simulate.events import stops as event_stops
from articulus.simulate.network import Network
from articulus.simulate.outside import PythonController
from articulus.simulate.run import Run
from articulus.simulate.setup import Setup
from articulus.simulate.steps import whole_steps
from articulus.simulate.system import System

Controller = Component | PythonController | ca.Function | Callable | Sequence[Component]


def simulate(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    method: str = "rk4",
    loops: str = DEFAULT,
    step: float = 1e-3,
    sample: float | None = None,
    events: Sequence[Event] = (),
    outputs: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    params: Mapping[str, float] | None = None,
    seed: int = 0,
    t0: float = 0.0,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 30.0,
    keep_checkpoint: bool = False,
) -> Run:
    """Return one run of a mechanism with its components.

    Parameters
    ----------
    mechanism : Mechanism
        Its loops are closed first where q0 and v0 do not fit (least change, see `assemble`); above 0.01 rad or m, or 0.01
        of the velocity, with a warning, `errors.MovedStart`.
    t_end : float [s]
        End; a whole number of steps after t0.
    q0, v0 : array, (nq,), (nv,) [rad, m; rad/s, m/s]
        Initial state; neutral and at rest if not given.
    controller : component, casadi.Function, or Python function of t, q, v
        What commands the actuators. A casadi.Function has inputs named among t, q, v and signals, and becomes native code
        together with the mechanism. A Python function is called at every step and its result held; `PythonController`
        gives it a period. Several may stand in a list; their commands add up.
    components : sequence of Component
        Actuators, sensors, disturbances, further controllers. Without actuators a command is a joint force.
    method : str
        Integration method; see `articulus.integrate.ALL_METHODS`.
    loops : str
        Form in which loops are closed: "regularised", "augmented", "canonical", "penalty", "null_space", "minimal",
        "operator", "absolute", "baumgarte", "park" or "multiple_chains"; see `articulus.dynamics.loops.FORMS`. The default suits every
        mechanism and method.
    step : float [s]
        Fixed step; for adaptive methods the interval at which sampled components and samples may act.
    sample : float [s]
        Time between samples; every step if not given.
    events : sequence of Event
        What to look for between steps, and what then happens.
    outputs : sequence of str
        Signals to report besides q and v; all if not given.
    fixed : sequence of str
        Joints, and flexible bodies, whose q0 and v0 stay as given when loops are closed.
    params : dict of parameter name to number
    seed : int
        Of all noise.
    t0 : float [s]
        Start.
    rtol, atol : float
        Tolerances of adaptive methods.
    checkpoint : path
        File kept up to date while the run goes on. If it exists and belongs to this same run, the run goes on from there;
        the result is the same to the last bit. Removed when the run is complete.
    checkpoint_interval : float [s]
        Wall-clock time between checkpoints.
    keep_checkpoint : bool
        Leave the file in place at the end, for a caller who has yet to save the result.

    Raises
    ------
    NumericalError
        The run could not go on; the text says when and why, `error.result` is the run so far.
    """
    setup = _set_up(
        mechanism, t_end, q0, v0, True, controller, components, method, loops, step, sample, events, outputs, params,
        seed, t0, rtol, atol, fixed,
    )  # fmt: skip
    return _run(setup, checkpoint, checkpoint_interval, keep_checkpoint)


def rollout(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    method: str = "rk4",
    loops: str = DEFAULT,
    step: float = 1e-3,
    sample: float | None = None,
    outputs: Sequence[str] = (),
    fixed: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    t0: float = 0.0,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    checkpoint: str | Path | None = None,
    checkpoint_interval: float = 30.0,
    keep_checkpoint: bool = False,
) -> Run:
    """Return many runs at once, vectorised and on all threads (`with art.kernel.threads(n)`).

    Parameters
    ----------
    q0, v0 : array, (batch, nq), (batch, nv)
        Initial states; one that has no batch axis serves all runs.
    params : dict of parameter name to number or array (batch,)
        A sweep needs nothing else.
    outputs : sequence of str
        Signals to report besides q and v; none if not given.
    sample : float [s]
        Time between samples; only start and end if not given.

    The other parameters are those of `simulate`. A run that fails stops alone: `run.status`, `run.failures`.
    """
    setup = _set_up(
        mechanism, t_end, q0, v0, False, controller, components, method, loops, step,
        _span(t_end, t0) if sample is None else sample, (), outputs, params, seed, t0, rtol, atol, fixed,
    )  # fmt: skip
    return _run(setup, checkpoint, checkpoint_interval, keep_checkpoint)


def _set_up(
    mechanism: Mechanism,
    t_end: float,
    q0: Any,
    v0: Any,
    single: bool,
    controller: Controller | None,
    components: Sequence[Component],
    method: str,
    loops: str,
    step: float,
    sample: float | None,
    events: Sequence[Event],
    outputs: Sequence[str] | None,
    params: Mapping[str, Any] | None,
    seed: int,
    t0: float,
    rtol: float,
    atol: float,
    fixed: Sequence[str],
) -> Setup:
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"simulate: found {mechanism!r}; expected a Mechanism, for example art.load('puma600')"
        )
    steps = whole_steps("t_end - t0", _span(t_end, t0), _positive("step", step))
    every = 1 if sample is None else whole_steps("sample", _positive("sample", sample), step)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed: found {seed!r}; expected a whole number, not below 0")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if _number(name, tolerance) < 0:
            raise InputError(f"{name}: found {tolerance!r}; expected a tolerance, not below 0")
    if not isinstance(params or {}, Mapping):
        raise InputError(f"params: found {params!r}; expected a dict from name to value")
    for name, several in (("components", components), ("events", events), ("outputs", outputs)):
        if several is not None and (isinstance(several, str) or not isinstance(several, Iterable)):
            raise InputError(f"{name}: found {several!r}; expected a list")
    for event in events:
        if not isinstance(event, Event):
            raise InputError(f"events: found {event!r}; expected events, such as Bounce or Crossing")
    inside, outside = _controllers(controller)
    system = _system(
        mechanism.description,
        (*inside, *components),
        outside is not None,
        loops,
        event_stops(mechanism.description, events),
    )
    given = {name: copy.copy(value) for name, value in (params or {}).items()}
    return Setup(
        mechanism, system, outside, copy.copy(q0), copy.copy(v0), given, single, float(t0), float(t_end), float(step), steps, every,
        method, tuple(events), outputs, seed, rtol, atol, (fixed,) if isinstance(fixed, str) else tuple(fixed),
    )  # fmt: skip


_systems: OrderedDict[Any, System] = OrderedDict()
_MOST_SYSTEMS = 32


def _system(
    description: Description,
    components: tuple[Component, ...],
    outside: bool,
    loops: str,
    stops: tuple[str, ...],
) -> System:
    """Return the equations of a loop; those of the last few loops are kept, since the same run is often called again."""
    values = tuple(p.value for p in description.parameters)
    key = (description.fingerprint, values, components, outside, loops, stops)
    try:
        found = _systems.get(key)
    except TypeError:  # a component that holds something unhashable, such as an array
        return System(Network(description, components, outside, stops), loops)
    if found is None:
        found = _systems[key] = System(Network(description, components, outside, stops), loops)
        while len(_systems) > _MOST_SYSTEMS:
            _systems.popitem(last=False)
    _systems.move_to_end(key)
    return found


def _controllers(given: Controller | None) -> tuple[list[Component], PythonController | None]:
    """Return the symbolic controllers and the one outside."""
    items = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    inside: list[Component] = []
    outside: PythonController | None = None
    for i, item in enumerate(items):
        if isinstance(item, Component):
            inside.append(item)
        elif isinstance(item, ca.Function):
            inside.append(Expression(item, name=item.name() if len(items) == 1 else f"{item.name()}{i}"))
        elif outside is None and (isinstance(item, PythonController) or callable(item)):
            outside = item if isinstance(item, PythonController) else PythonController(item)
        else:
            raise InputError(
                f"controller: found {item!r}; expected a component, a casadi.Function or one Python function of t, q, v"
            )
    return inside, outside


def _run(setup: Setup, checkpoint: str | Path | None, interval: float, leave: bool) -> Run:
    """Run; whether checkpoints can be written is found out before."""
    if _number("checkpoint_interval", interval) < 0:
        raise InputError(f"checkpoint_interval: found {interval!r}; expected a time in seconds, not below 0")
    place = None if checkpoint is None else require_place(checkpoint)
    return setup.simulation().run(place, interval, leave)


def _span(t_end: float, t0: float) -> float:
    """Return the time from start to end."""
    return _positive("t_end - t0", _number("t_end", t_end) - _number("t0", t0))


def _positive(name: str, value: float) -> float:
    if _number(name, value) <= 0:
        raise InputError(f"{name}: found {value!r}; expected a positive time in seconds")
    return float(value)


def _number(name: str, value: float) -> float:
    """Return a finite number, or raise what is wrong with it."""
    plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not plain or not math.isfinite(value):
        raise InputError(f"{name}: found {value!r}; expected a finite number")
    return float(value)
