"""`RunSettings`: how a loop is run in time, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from articulus.declared import choice, elsewhere, fields_of, names, quantity, whole
from articulus.declared.field import parameters_text
from articulus.errors import InputError, did_you_mean
from articulus.simulation.integrate import ALL_METHODS
from articulus.simulation.loop.events import Event
from articulus.simulation.loop.steps import end_hint, whole_steps


@dataclass(frozen=True)
class RunSettings:
    """When a run begins and ends, how it is integrated, what is watched and what is reported.

    A new setting is one field here: `simulate`, `rollout`, the table [run] of studies, their writer, the record of a run, JSON Schema
    and this text know it by its declaration.

    Parameters
    ----------
    {settings}

    Attributes
    ----------
    steps, every : int
        Number of steps, and of steps from sample to sample.
    """

    t_end: float = quantity("s", "end; a whole number of steps after t0")
    t0: float = quantity("s", "start", default=0.0)
    step: float = quantity(
        "s",
        "fixed step; for adaptive methods the interval at which sampled components and samples may act",
        default=1e-3,
        above=0,
    )
    sample: float | None = quantity(
        "s",
        "time between samples; if not given, every step, and of a rollout only start and end",
        default=None,
        above=0,
    )
    method: str = choice(
        "integration method; see `articulus.simulation.integrate.ALL_METHODS`",
        [m.name for m in ALL_METHODS],
        default="rk4",
    )
    rtol: float = quantity(
        "-", "error of a step of adaptive methods over the size of a state", default=1e-8, least=0
    )
    atol: float | None = quantity(
        "-",
        "error of a step that is allowed in any state whatever its size. Where it is not given, 1e-10 of what is large for each: 1 rad, the "
        "characteristic length of the mechanism (`mechanism.description.scales()`), these over its characteristic time. Motions that are far "
        "smaller than the mechanism, such as vibrations of nanometres of a body of a metre, ask for a smaller one",
        default=None,
        least=0,
    )
    max_step: float | None = quantity(
        "s",
        "longest step that adaptive methods may try. They do not step over contacts, stops, cables that become taut, tables, and jumps of "
        "functions of time by themselves",
        default=None,
        above=0,
    )
    events: tuple[Event, ...] = elsewhere("what to look for between steps, and what then happens", default=())
    outputs: tuple[str, ...] | None = elsewhere(
        "signals to report besides q and v; if not given, all, and of a rollout none", default=None
    )
    fixed: tuple[str, ...] = names(
        "joints, and flexible bodies, whose q0 and v0 stay as given when loops are closed", default=()
    )
    seed: int | tuple[int, ...] = whole("of all noise; of a rollout one, or one for each run", default=0)
    first_run: int = elsewhere(
        "number of the first run of a rollout among all that share the seed: its noise is that of this number",
        default=0,
    )
    steps: int = field(init=False, default=0)
    every: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        put = object.__setattr__
        span = positive("t_end - t0", number("t_end", self.t_end) - number("t0", self.t0))
        step = positive("step", self.step)
        put(self, "steps", whole_steps("t_end - t0", span, step, end_hint(span, step)))
        if self.sample is not None:
            put(self, "every", whole_steps("sample", positive("sample", self.sample), step))
        if self.max_step is not None:
            put(self, "max_step", positive("max_step", self.max_step))
        for name in ("t_end", "t0", "step"):
            put(self, name, float(getattr(self, name)))
        if isinstance(self.seed, (tuple, list, np.ndarray)):
            put(self, "seed", tuple(natural("seed", s) for s in self.seed))
        else:
            put(self, "seed", natural("seed", self.seed))
        put(self, "first_run", natural("first_run", self.first_run))
        for name in ("rtol", "atol") if self.atol is not None else ("rtol",):
            if number(name, getattr(self, name)) < 0:
                raise InputError(f"{name}: found {getattr(self, name)!r}; expected a tolerance, not below 0")
        put(self, "fixed", (self.fixed,) if isinstance(self.fixed, str) else tuple(self.fixed))
        put(self, "events", as_tuple("events", self.events))
        put(self, "outputs", None if self.outputs is None else as_tuple("outputs", self.outputs))
        for event in self.events:
            if not isinstance(event, Event):
                raise InputError(f"events: found {event!r}; expected events, such as Bounce or Crossing")

    def record(self) -> dict[str, Any]:
        """Return the settings that are given in numbers and names, for the record of a run; what is not given is omitted."""
        held = {f.name: getattr(self, f.name) for f in fields_of(RunSettings) if f.kind != "code"}
        return {n: list(x) if isinstance(x, tuple) else x for n, x in held.items() if x is not None}

    @staticmethod
    def of(t_end: float, given: dict[str, Any]) -> RunSettings:
        """Return the settings of keyword arguments; an unknown one is refused with the nearest name."""
        known = _settings()
        refuse_unknown([name for name in given if name not in known])
        return RunSettings(t_end, **given)


if RunSettings.__doc__:
    RunSettings.__doc__ = RunSettings.__doc__.replace("{settings}", parameters_text(RunSettings))

OTHER_WORDS = {
    "dt": "step",
    "h": "step",
    "timestep": "step",
    "duration": "t_end",
    "T": "t_end",
    "tf": "t_end",
    "integrator": "method",
    "solver": "method",
    "tol": "rtol",
    "x0": "q0 and v0",
    "dt_out": "sample",
    "save_every": "sample",
}
"""What users of other tools write, and the word here."""


def _settings() -> list[str]:
    return [f.name for f in fields(RunSettings) if f.init]


def refuse_unknown(names: Iterable[str]) -> None:
    """Raise InputError for the first of some names that are no settings, with the word that is likely meant."""
    for name in names:
        meant = (
            f"it is called `{OTHER_WORDS[name]}` here"
            if name in OTHER_WORDS
            else did_you_mean(name, _settings())
        )
        raise InputError(f"simulate: no setting '{name}'; {meant}")


def as_tuple(name: str, given: Any) -> tuple:
    """Return several things as a tuple."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name}: found {given!r}; expected a list")
    return tuple(given)


def natural(name: str, value: Any) -> int:
    """Return a whole number that is not below 0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"{name}: found {value!r}; expected a whole number, not below 0")
    return int(value)


def positive(name: str, value: float) -> float:
    """Return a positive time."""
    if number(name, value) <= 0:
        raise InputError(f"{name}: found {value!r}; expected a positive time in seconds")
    return float(value)


def number(name: str, value: float) -> float:
    """Return a finite number, or raise what is wrong with it."""
    plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not plain or not math.isfinite(value):
        raise InputError(f"{name}: found {value!r}; expected a finite number")
    return float(value)
