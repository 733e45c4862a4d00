"""`simulate` and `rollout`: from a user's arguments to a run."""

from __future__ import annotations

import dataclasses
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus.api import Mechanism
from articulus.assemble import assemble, independent_rows
from articulus.errors import InputError, did_you_mean
from articulus.integrate import method as find_method
from articulus.mechanism import Description
from articulus.mechanism.numbers import value_of
from articulus.simulate.component import Component
from articulus.simulate.components import Expression
from articulus.simulate.engines import engine_for
from articulus.simulate.events import Event, description, switched_on
from articulus.simulate.network import Network
from articulus.simulate.outputs import Outputs
from articulus.simulate.outside import PythonController
from articulus.simulate.run import Run
from articulus.simulate.simulation import LOG_BYTES, Simulation
from articulus.simulate.steps import whole_steps
from articulus.simulate.system import System

ADMISSIBLE = 1e-9
"""Residual of the constraints up to which an initial state is taken as it is [m, rad; m/s, rad/s]."""

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
    step: float = 1e-3,
    sample: float | None = None,
    events: Sequence[Event] = (),
    outputs: Sequence[str] | None = None,
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
        Its loops are closed first where q0 and v0 do not fit (least change).
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
    step : float [s]
        Fixed step; for adaptive methods the interval at which sampled components and samples may act.
    sample : float [s]
        Time between samples; every step if not given.
    events : sequence of Event
        What to look for between steps, and what then happens.
    outputs : sequence of str
        Signals to report besides q and v; all if not given.
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
    simulation = _set_up(
        mechanism, t_end, q0, v0, True, controller, components, method, step, sample, events, outputs, params,
        seed, t0, rtol, atol,
    )  # fmt: skip
    return simulation.run(Path(checkpoint) if checkpoint else None, checkpoint_interval, keep_checkpoint)


def rollout(
    mechanism: Mechanism,
    t_end: float,
    q0: Any = None,
    v0: Any = None,
    *,
    controller: Controller | None = None,
    components: Sequence[Component] = (),
    method: str = "rk4",
    step: float = 1e-3,
    sample: float | None = None,
    outputs: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    t0: float = 0.0,
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
    simulation = _set_up(
        mechanism, t_end, q0, v0, False, controller, components, method, step,
        t_end - t0 if sample is None else sample, (), outputs, params, seed, t0, 1e-8, 1e-10,
    )  # fmt: skip
    return simulation.run(Path(checkpoint) if checkpoint else None, checkpoint_interval, keep_checkpoint)


def _set_up(
    mechanism: Mechanism,
    t_end: float,
    q0: Any,
    v0: Any,
    single: bool,
    controller: Controller | None,
    components: Sequence[Component],
    method: str,
    step: float,
    sample: float | None,
    events: Sequence[Event],
    outputs: Sequence[str] | None,
    params: Mapping[str, Any] | None,
    seed: int,
    t0: float,
    rtol: float,
    atol: float,
) -> Simulation:
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"simulate: found {mechanism!r}; expected a Mechanism, for example art.load('puma600')"
        )
    steps = whole_steps("t_end - t0", _positive("t_end - t0", t_end - t0), _positive("step", step))
    every = 1 if sample is None else whole_steps("sample", _positive("sample", sample), step)
    inside, outside = _controllers(controller)
    system = _system(mechanism.description, (*inside, *components), outside is not None)
    _check_jumps(system, find_method(method), t0, t_end, step)
    c0, p = _initial(mechanism, system, q0, v0, params, single)
    independent = _closed(mechanism, system, c0, p, t0, events)
    engine = engine_for(system, find_method(method), step, events, rtol, atol, independent)
    size = 8 * len(c0) * (steps // every + 2) * engine.logged
    if size > LOG_BYTES:
        raise InputError(
            f"simulate: the log would take {size / 2**30:.3g} GiB; expected at most {LOG_BYTES >> 30}. Give a longer `sample`"
        )
    settings = {
        "t_end": float(t_end),
        "sample": every * step,
        "components": [f"{c.type_name} {c.name}" for c in system.network.components],
        "controller": outside.name if outside else "",
        "events": [description(e) for e in events],
        "rtol": rtol,
        "atol": atol,
    }
    period = (
        1
        if outside is None or outside.period is None
        else whole_steps("controller period", outside.period, step)
    )
    return Simulation(
        mechanism, engine, c0, p, float(t0), float(step), steps, every, Outputs(system, outputs), outside, period, seed,
        single, method, settings,
    )  # fmt: skip


_systems: OrderedDict[Any, System] = OrderedDict()
_MOST_SYSTEMS = 32


def _system(description: Description, components: tuple[Component, ...], outside: bool) -> System:
    """Return the equations of a loop; those of the last few loops are kept, since the same run is often called again."""
    values = tuple(p.value for p in description.parameters)
    key = (description.fingerprint, values, components, outside)
    try:
        found = _systems.get(key)
    except TypeError:  # a component that holds something unhashable, such as an array
        return System(Network(description, components, outside))
    if found is None:
        found = _systems[key] = System(Network(description, components, outside))
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


def _initial(
    mechanism: Mechanism,
    system: System,
    q0: Any,
    v0: Any,
    params: Mapping[str, Any] | None,
    single: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the initial continuous states (rows, nc) and the parameters (rows, np)."""
    q = _state("q0", q0, mechanism.neutral, single)
    v = _state("v0", v0, np.zeros(mechanism.nv), single)
    given = dict(params or {})
    columns = []
    for parameter in system.network.parameters:
        value = np.asarray(given.pop(parameter.name, value_of(parameter)), dtype=float)
        if not np.isfinite(value).all() or value.ndim > (0 if single else 1):
            raise InputError(f"params: '{parameter.name}' = {value!r}; expected finite numbers, one a run")
        columns.append(value)
    if given:
        name = next(iter(given))
        known = [p.name for p in system.network.parameters]
        raise InputError(f"params: no parameter '{name}'; {did_you_mean(name, known)}")
    counts = {len(x) for x in (q, v) if len(x) > 1} | {len(x) for x in columns if x.ndim and len(x) > 1}
    if len(counts) > 1:
        raise InputError(f"rollout: found batches of {sorted(counts)} runs; expected one size")
    rows = counts.pop() if counts else 1
    c = np.tile(system.c0, (rows, 1))
    c[:, system.places["q"]], c[:, system.places["v"]] = q, v
    p = np.zeros((rows, len(columns)))
    for i, value in enumerate(columns):
        p[:, i] = value
    return c, p


def _check_jumps(system: System, method: Any, t0: float, t_end: float, step: float) -> None:
    """Refuse fixed steps across a jump of an input: their order would be lost without a word."""
    if method.kind in ("adaptive", "casadi"):
        return
    for time in system.jumps:
        count = (time - t0) / step
        if t0 < time < t_end and abs(count - round(count)) > 1e-6:
            raise InputError(
                f"an input jumps or bends at t = {time:.9g} s, inside a step of {step:.9g} s; expected it between two steps. "
                "Choose a step that divides its times, or an adaptive method such as dormand_prince"
            )


def _closed(
    mechanism: Mechanism, system: System, c: np.ndarray, p: np.ndarray, t0: float, events: Sequence[Event]
) -> list[int]:
    """Close the loops of every row that is off its constraints; return the independent constraint rows of the first."""
    holding = _holding(mechanism, switched_on(events))
    if not holding.description.constraints:
        return []
    q, v = (c[:, system.places[name]] for name in "qv")
    own = {x.name for x in holding.description.parameters}
    names = [x.name for x in system.network.parameters]
    given = [{name: x for name, x in zip(names, row) if name in own} for row in p]
    for row, params in enumerate(given):
        off = np.abs(holding.constraint_residual(q[row], t0, params=params)).max(initial=0.0)
        fast = np.abs(holding.constraint_rate(q[row], v[row], t0, params=params)).max(initial=0.0)
        if max(off, fast) > ADMISSIBLE:
            found = assemble(holding, q[row], v[row], t=t0, params=params)
            q[row], v[row] = found.q, found.v
    return [mechanism.constraint_names.index(n) for n in independent_rows(holding, q[0], t0, params=given[0])]


def _holding(mechanism: Mechanism, off: set[str]) -> Mechanism:
    """Return the mechanism without the constraints that do not hold yet."""
    if not off:
        return mechanism
    d = mechanism.description
    kept = tuple(c for c in d.constraints if c.name not in off)
    return Mechanism.from_description(dataclasses.replace(d, constraints=kept))


def _state(name: str, value: Any, default: np.ndarray, single: bool) -> np.ndarray:
    """Return an initial state as rows."""
    try:
        array = default if value is None else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}: found {value!r}; expected numbers") from None
    good = array.shape == default.shape or (
        not single and array.ndim == 2 and array.shape[1:] == default.shape
    )
    if not good:
        expected = default.shape if single else ("batch", *default.shape)
        raise InputError(f"{name}: found shape {array.shape}; expected {expected}")
    if not len(np.atleast_2d(array)):
        raise InputError(f"{name}: found an empty batch; expected at least one run")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: found a value that is not finite")
    return np.atleast_2d(array)


def _positive(name: str, value: float) -> float:
    if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
        raise InputError(f"{name}: found {value!r}; expected a positive time in seconds")
    return float(value)
