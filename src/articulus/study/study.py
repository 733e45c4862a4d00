"""What a study is: a mechanism, its components, how to run them, what to look at and what to check."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.loops.forms import AUTO
from articulus.dynamics.mechanism import Mechanism
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.events import Event
from articulus.simulation.running.loop import Loop
from articulus.study.check import Check
from articulus.study.sweep import Sweep

if TYPE_CHECKING:
    from articulus.study.tip import TipMotion


@dataclass(frozen=True)
class Settings:
    """How a study is run; see `simulate` for what each means.

    Parameters
    ----------
    t_end : float [s]
    method : str
    loops : str
    step : float [s]
    sample : float or None [s]
    seed : int
    t0 : float [s]
    rtol : float
    atol : float or None
    max_step : float or None [s]
    checkpoint_interval : float [s]
        Wall-clock time between checkpoints.
    fixed : tuple of str
    limits : bool
        Whether joints have stops at their limits; they are among the components of the study.
    """

    t_end: float
    method: str = "rk4"
    loops: str = AUTO
    step: float = 1e-3
    sample: float | None = None
    seed: int = 0
    t0: float = 0.0
    rtol: float = 1e-8
    atol: float | None = None
    max_step: float | None = None
    checkpoint_interval: float = 30.0
    fixed: tuple[str, ...] = ()
    limits: bool = False


@dataclass(frozen=True, eq=False)
class Study:
    """One study.

    Parameters
    ----------
    name : str
        Beginning of the names of all files that it writes.
    purpose : str
    file : str
        Name of the file that it comes from.
    text : str
        Content of that file.
    mechanism : Mechanism
    settings : Settings
    components : tuple of Component
    events : tuple of Event
    q0, v0 : array, (nq,), (nv,), or with a sweep (runs, nq), (runs, nv)
    params : dict of parameter name to number, or with a sweep to array (runs,)
    outputs : tuple of str
        Signals to keep besides q and v.
    plots : tuple of tuples of str
        Signals or entries of each figure.
    checks : tuple of Check
    sweep : Sweep or None
    tip : TipMotion or None
        Of the table [inversion]; its forces are among the components.
    """

    name: str
    purpose: str
    file: str
    text: str
    mechanism: Mechanism
    settings: Settings
    components: tuple[Component, ...]
    events: tuple[Event, ...]
    q0: np.ndarray
    v0: np.ndarray
    params: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    plots: tuple[tuple[str, ...], ...] = ()
    checks: tuple[Check, ...] = ()
    sweep: Sweep | None = None
    tip: TipMotion | None = None

    @functools.cached_property
    def loop(self) -> Loop:
        """The mechanism with its components."""
        return Loop(self.mechanism, components=self.components, loops=self.settings.loops)
