"""What a run reports besides its signals: how it ended, what failed, what happened, and its last state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np


class RunStatus(IntEnum):
    """How a run ended."""

    COMPLETE = 0
    """It reached its end."""
    STOPPED = 1
    """An event ended it."""
    FAILED = 2
    """It could not go on; a Failure says why."""


class Cause(StrEnum):
    """Why a run could not go on."""

    NOT_FINITE = "not finite"
    DIVERGED = "diverged"
    SINGULAR = "singular"
    STEP_TOO_SMALL = "step too small"
    NOT_CONVERGED = "not converged"
    COMPONENT = "component"


@dataclass(frozen=True, eq=False)
class Failure:
    """One run that could not go on.

    Parameters
    ----------
    run : int
        Index in the batch; 0 for a single run.
    time : float [s]
        Time of the last good state.
    code : Cause
    reason : str
        What happened and the likely cause, as a sentence.
    q, v, x : arrays, (nq,), (nv,), (nx,)
        Last good position, velocity and complete state.
    """

    run: int
    time: float
    code: Cause
    reason: str
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray

    def __str__(self) -> str:
        return f"run {self.run} failed at t = {self.time:.9g} s ({self.code}): {self.reason}"


@dataclass(frozen=True)
class RunWarning:
    """One figure of a run that says that its answer may be wrong.

    Parameters
    ----------
    run : int
        Index in the batch; 0 for a single run.
    figure : str
        What was examined.
    value, limit : float
        What was found, and up to where it is taken as sound (`articulus.simulation.running.diagnostics`).
    cause : str
        Likely cause, as a sentence; empty for all but the worst runs of a batch.
    """

    run: int
    figure: str
    value: float
    limit: float
    cause: str = ""

    @property
    def finding(self) -> str:
        """Figure, value and limit."""
        return f"{self.figure}: found {self.value:.2g}; expected at most {self.limit:g}"

    def __str__(self) -> str:
        cause = f". Likely cause: {self.cause}" if self.cause else ""
        return f"run {self.run} is doubtful, {self.finding}{cause}"


@dataclass(frozen=True)
class Occurrence:
    """One event that took place.

    Parameters
    ----------
    time : float [s]
    name : str
        Name of the event.
    run : int
        Index in the batch; 0 for a single run.
    stop : bool
        Whether it ended the run.
    """

    time: float
    name: str
    run: int = 0
    stop: bool = False


@dataclass(frozen=True, eq=False)
class FinalState:
    """Everything that a run needs to go on.

    Parameters
    ----------
    step : int
        Number of steps done.
    t : float [s]
    x : array, (nx,) or (batch, nx)
        Complete state: positions, velocities, states of components, held values, histories of the method.
    rng : anything that JSON can hold
        State of the random streams (`numerics.streams.stream_state`); None without noise.
    """

    step: int
    t: float
    x: np.ndarray
    rng: Any = None
