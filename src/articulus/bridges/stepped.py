"""`SteppedLoop`: a loop with fixed steps as other worlds see it: inputs, parameters, outputs, a state and the maps that take it forward."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from articulus.errors import InputError, UnsupportedOperation
from articulus.simulation.loop.components import FrameWrench
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.results.signal import Signal
from articulus.simulation.running import Loop, RunSettings
from articulus.simulation.running.native_engine import NativeEngine
from articulus.simulation.running.specification import Specification

if TYPE_CHECKING:
    from articulus.study import Study

WRENCH = "external"
"""Name of the external wrench on a frame, before a point and the frame."""


@dataclass(frozen=True)
class Entry:
    """One number that goes in.

    Parameters
    ----------
    name, unit : str
    start : float
    place : int
        Among the parameters of the loop's equations.
    """

    name: str
    unit: str
    start: float
    place: int


@dataclass(frozen=True, eq=False)
class SteppedLoop:
    """A loop at a fixed step.

    Attributes
    ----------
    loop : Loop
    system : System
        Equations with the inputs among their parameters.
    settings : RunSettings
    engine : NativeEngine
    c0, d0 : arrays
        State at the start, its loops closed, and held values before any sampled component worked.
    parameters, inputs : tuple of Entry
    outputs : tuple of Signal
        Without samples: names, labels and units.
    """

    loop: Loop
    system: System
    settings: RunSettings
    engine: NativeEngine
    c0: np.ndarray
    d0: np.ndarray
    parameters: tuple[Entry, ...]
    inputs: tuple[Entry, ...]
    outputs: tuple[Signal, ...]

    @property
    def h(self) -> float:
        """Step [s]."""
        return self.settings.step

    @property
    def updates(self) -> list[tuple[int, ca.Function]]:
        """Period in steps, and map (c, d, p, w, t, h) -> d, of every sampled component, in the order in which they work."""
        return [(n, u.function) for n, u in zip(self.engine.periods, self.system.updates)]

    @functools.cached_property
    def step(self) -> ca.Function:
        """(c, d, p, w, t, h) -> c after one step."""
        return self.engine.single_step()

    @functools.cached_property
    def report(self) -> ca.Function | None:
        """(c, d, p, w, t, h) -> outputs but q and v; None where there are no others."""
        names = [s.name for s in self.outputs if s.name not in ("q", "v")]
        return self.system.reporting(names) if names else None

    @functools.cached_property
    def p0(self) -> np.ndarray:
        """Parameters and inputs at the start."""
        values = np.zeros(self.system.np)
        for entry in (*self.parameters, *self.inputs):
            values[entry.place] = entry.start
        return values


def stepped(
    loop: Loop,
    q0: Any = None,
    v0: Any = None,
    *,
    step: float = 1e-3,
    method: str = "rk4",
    t0: float = 0.0,
    params: Mapping[str, float] | None = None,
    inputs: Sequence[str] = ("u",),
    wrenches: Sequence[str] = (),
    outputs: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    what: str = "export",
) -> SteppedLoop:
    """Return a loop at a fixed step with places for what comes from outside.

    Parameters
    ----------
    loop : Loop
        Without a controller that is a Python function.
    q0, v0, step, method, t0, params, fixed :
        As those of `articulus.simulate`; the method has fixed steps and looks back over none.
    inputs : sequence of str
        "u": added to the commands; a signal such as "gyro.rate": added to it wherever it is read.
    wrenches : sequence of str
        Bodies or frames on which a moment and a force in ground axes act from outside.
    outputs : sequence of str
        Signals besides q and v; all if not given.
    what : str
        Begins the text of errors.
    """
    if not isinstance(loop, Loop):
        raise InputError(f"{what}: found {loop!r}; expected a Loop, such as art.Loop(arm, controller)")
    if loop.outside is not None:
        raise UnsupportedOperation(
            f"{what}: the controller '{loop.outside.name}' is a Python function, which exists in Python alone; expected components, or the "
            "law as a casadi.Function of t, q, v"
        )
    chosen = None if outputs is None else tuple(outputs)
    settings = RunSettings(t0 + step, t0, step, method=method, outputs=chosen, fixed=tuple(fixed))
    frames = (wrenches,) if isinstance(wrenches, str) else tuple(wrenches)
    ports = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    outside = [FrameWrench(frame, (0.0,) * 6, name=f"{WRENCH}.{frame}") for frame in frames]
    ports += tuple(f"{each.name}.wrench" for each in outside)
    own_components = loop.system.network.components
    network = Network(loop.mechanism.description, (*own_components, *outside), False, (), ports)
    for port in ports:
        if port not in network.injected:
            raise InputError(
                f"{what}: nothing reads '{port}'; expected \"u\" or a signal that a component reads, such as "
                f"{', '.join(sorted(network.signals)[:4]) or 'none: this loop has no signals'}"
            )
    system = System(network, loop.loops)
    setup = Specification(loop.mechanism, system, None, q0, v0, dict(params or {}), True, settings)
    engine = _engine(setup, what)
    c0, p, *_ = setup.start()
    names = [x.name for x in network.parameters]
    units = {s.name: s for s in Outputs(system, settings.outputs).blank().values()}
    places, entries = set[int](), list[Entry]()
    for port in ports:
        labels, own = _labels(system, port)
        symbols = network.injected[port]
        for k, (label, unit) in enumerate(zip(labels, own)):
            at = names.index(symbols[k].name())
            places.add(at)
            entries.append(
                Entry(f"{_input_name(port)}.{label}" if label else _input_name(port), unit, 0.0, at)
            )
    parameters = tuple(
        Entry(name, "", float(np.ravel(p[..., k])[0]), k) for k, name in enumerate(names) if k not in places
    )
    return SteppedLoop(
        loop, system, settings, engine, c0[0], system.d0, parameters, tuple(entries), tuple(units.values())
    )


def _input_name(port: str) -> str:
    """Return the name of an input: other than that of the signal that it is added to, which is an output."""
    if port == "u":
        return "command"
    return port.removesuffix(".wrench") if port.startswith(f"{WRENCH}.") else f"added.{port}"


def of_study(study: Study, what: str) -> dict[str, Any]:
    """Return the arguments of `stepped` for the loop of a study; refuse its events, which have no place in a step."""
    s = study.settings
    if s.events:
        names = ", ".join(f"'{e.name}'" for e in s.events)
        raise UnsupportedOperation(
            f"{what}: the study has events ({names}), which are located between steps; expected none: a stop as the component joint_stop, a "
            "contact as the component contact"
        )
    return {
        "q0": study.q0, "v0": study.v0, "step": s.step, "method": s.method, "t0": s.t0, "params": study.params,
        "outputs": s.outputs, "fixed": s.fixed,
    }  # fmt: skip


def _engine(setup: Specification, what: str) -> NativeEngine:
    """Return the engine of fixed steps; refuse methods that have none, and instants that lie between steps."""
    engine, settings = setup.runner().engine, setup.settings
    if type(engine) is not NativeEngine or engine.past:
        raise UnsupportedOperation(
            f"{what}: the method '{settings.method}' has no single step in native code; expected one of fixed steps that looks back over none, "
            "such as rk4, or semi_implicit_euler"
        )
    for time in engine.system.jumps:
        count = (time - settings.t0) / settings.step
        if count > 0 and abs(count - round(count)) > 1e-6:
            raise InputError(
                f"{what}: an input jumps or bends at t = {time:.9g} s, inside a step of {settings.step:.9g} s; expected a step that divides its times"
            )
    return engine


def _labels(system: System, port: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and units of the entries of a port."""
    signal = Outputs(system, [port]).blank()[port]
    if port.startswith(f"{WRENCH}."):
        return ("mx", "my", "mz", "fx", "fy", "fz"), ("N m",) * 3 + ("N",) * 3
    return signal.labels, signal.units
