"""`RunSettings`: how a loop is run in time, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.simulation.loop.events import Event
from articulus.simulation.loop.steps import whole_steps


@dataclass(frozen=True)
class RunSettings:
    """When a run begins and ends, how it is integrated, what is watched and what is reported.

    Parameters
    ----------
    t_end : float [s]
        End; a whole number of steps after t0.
    t0 : float [s]
    step : float [s]
        Fixed step; for adaptive methods the interval at which sampled components and samples may act.
    sample : float [s]
        Time between samples; every step if not given.
    method : str
        Integration method; see `articulus.simulation.integrate.ALL_METHODS`.
    rtol : float
        Error of a step of adaptive methods over the size of a state.
    atol : float, optional
        Error of a step that is allowed in any state; where it is not given, 1e-10 of what is large for each, by the scales of the
        mechanism (`running.tolerance`).
    max_step : float, optional [s]
        Longest step that adaptive methods may try; they know by themselves of contacts, stops and inputs that jump.
    events : sequence of Event
    outputs : sequence of str
        Signals to report besides q and v; all if not given.
    fixed : sequence of str
        Joints and flexible bodies that keep their initial state when the loops are closed.
    seed : int, or one for each run
        Of all noise.
    first_run : int
        Number of the first run of a batch among all that share the seed: its noise is that of this number.

    Attributes
    ----------
    steps, every : int
        Number of steps, and of steps from sample to sample.
    """

    t_end: float
    t0: float = 0.0
    step: float = 1e-3
    sample: float | None = None
    method: str = "rk4"
    rtol: float = 1e-8
    atol: float | None = None
    max_step: float | None = None
    events: tuple[Event, ...] = ()
    outputs: tuple[str, ...] | None = None
    fixed: tuple[str, ...] = ()
    seed: int | tuple[int, ...] = 0
    first_run: int = 0
    steps: int = field(init=False, default=0)
    every: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        put = object.__setattr__
        span = positive("t_end - t0", number("t_end", self.t_end) - number("t0", self.t0))
        step = positive("step", self.step)
        put(self, "steps", whole_steps("t_end - t0", span, step))
        if self.sample is not None:
            put(self, "every", whole_steps("sample", positive("sample", self.sample), step))
        if self.max_step is not None:
            put(self, "max_step", positive("max_step", self.max_step))
        for name in ("t_end", "t0", "step"):
            put(self, name, float(getattr(self, name)))
        if isinstance(self.seed, (tuple, list, np.ndarray)):
            put(self, "seed", tuple(whole("seed", s) for s in self.seed))
        else:
            put(self, "seed", whole("seed", self.seed))
        put(self, "first_run", whole("first_run", self.first_run))
        for name in ("rtol", "atol") if self.atol is not None else ("rtol",):
            if number(name, getattr(self, name)) < 0:
                raise InputError(f"{name}: found {getattr(self, name)!r}; expected a tolerance, not below 0")
        put(self, "fixed", (self.fixed,) if isinstance(self.fixed, str) else tuple(self.fixed))
        put(self, "events", listed("events", self.events))
        put(self, "outputs", None if self.outputs is None else listed("outputs", self.outputs))
        for event in self.events:
            if not isinstance(event, Event):
                raise InputError(f"events: found {event!r}; expected events, such as Bounce or Crossing")

    @staticmethod
    def of(t_end: float, given: dict[str, Any]) -> RunSettings:
        """Return the settings of keyword arguments; an unknown one is refused with the nearest name."""
        known = _settings()
        refuse_unknown([name for name in given if name not in known])
        return RunSettings(t_end, **given)


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


def listed(name: str, given: Any) -> tuple:
    """Return several things as a tuple."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name}: found {given!r}; expected a list")
    return tuple(given)


def whole(name: str, value: Any) -> int:
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
