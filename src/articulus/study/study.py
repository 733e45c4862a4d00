"""What a study is: a mechanism, its components, how to run them, what to look at and what to check."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.loops.forms import AUTO
from articulus.dynamics.mechanism import Mechanism
from articulus.simulation.loop.component import Component
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.settings import RunSettings
from articulus.study.check import RunCheck

if TYPE_CHECKING:
    from articulus.study.tip import TipMotion


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
    settings : RunSettings
        With the events and the signals to keep besides q and v.
    components : tuple of Component
    q0, v0 : array, (nq,), (nv,)
    params : dict of parameter name to number
    plots : tuple of tuples of str
        Signals or entries of each figure.
    checks : tuple of RunCheck
    tip : TipMotion or None
        Tip of the table [inversion]; its forces are among the components.
    loops : str
        Form in which loops are closed.
    checkpoint_interval : float [s]
        Time of the clock between checkpoints.
    """

    name: str
    purpose: str
    file: str
    text: str
    mechanism: Mechanism
    settings: RunSettings
    components: tuple[Component, ...]
    q0: np.ndarray
    v0: np.ndarray
    params: dict[str, Any] = field(default_factory=dict)
    plots: tuple[tuple[str, ...], ...] = ()
    checks: tuple[RunCheck, ...] = ()
    tip: TipMotion | None = None
    loops: str = AUTO
    checkpoint_interval: float = 30.0

    @functools.cached_property
    def loop(self) -> Loop:
        """The mechanism with its components."""
        return Loop(self.mechanism, components=self.components, loops=self.loops)
