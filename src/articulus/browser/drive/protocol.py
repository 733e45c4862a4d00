"""What pages may say, and the float32 frames that they get."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.browser.drive.machine import Machine
from articulus.browser.drive.session import MOST_DELAY, DrivePhase, Shown
from articulus.browser.web import MessageError, object_in

ACTIONS = ("pause", "resume", "reset", "record", "stop", "replay")
PHASES = tuple(DrivePhase)
HEADER = ("t", "phase", "recording", "stopped", "echo")
"""First numbers of a frame; axes, q, v, seven numbers for each body (position, quaternion wxyz), gauges, and with a delay the poses of the prediction follow."""


@dataclass(frozen=True)
class Move:
    """Deflections of the sticks, one per axis from -1 to 1, with a number that is sent back for timing."""

    axes: tuple[float, ...]
    number: int


@dataclass(frozen=True)
class Act:
    """One of `ACTIONS`."""

    action: str


@dataclass(frozen=True)
class Choose:
    """A mode by its number."""

    mode: int


@dataclass(frozen=True)
class SwitchSoil:
    """Soil on or off."""

    on: bool


@dataclass(frozen=True)
class TakeAxes:
    """Take a group of axes, or give it away."""

    group: str
    take: bool


@dataclass(frozen=True)
class ChooseDelay:
    """Delay of the line to the machine and back [s]."""

    seconds: float


Message = Move | Act | Choose | SwitchSoil | TakeAxes | ChooseDelay


def read(content: str | bytes, machine: Machine) -> Message:
    """Return the message that a text holds; raise MessageError for anything else."""
    return _message(object_in(content), machine)


def _message(found: dict[str, Any], machine: Machine) -> Message:
    match found:
        case {"do": "move", "axes": list(axes), "number": int(number)}:
            return Move(_axes(axes, len(machine.axes)), number % 2**20)
        case {"do": str(action)} if action in ACTIONS:
            return Act(action)
        case {"do": "mode", "mode": str(mode)} if mode in machine.modes:
            return Choose(machine.modes.index(mode))
        case {"do": "soil", "on": bool(on)}:
            return SwitchSoil(on)
        case {"do": "delay", "seconds": int() | float() as seconds} if (
            not isinstance(seconds, bool) and 0 <= seconds <= MOST_DELAY
        ):
            return ChooseDelay(float(seconds))
        case {"do": "take" | "give" as what, "group": str(group)} if group in machine.groups:
            return TakeAxes(group, what == "take")
    raise MessageError(f"found an unknown message with the fields {sorted(map(str, found))[:8]}")


def _axes(axes: list[Any], count: int) -> tuple[float, ...]:
    good = len(axes) == count and all(type(x) in (int, float) and abs(x) < math.inf for x in axes)
    if not good:
        raise MessageError(f"axes: expected {count} finite numbers")
    return tuple(float(min(max(x, -1.0), 1.0)) for x in axes)


def frame(shown: Shown, q: np.ndarray, v: np.ndarray, poses: np.ndarray, *more: np.ndarray) -> np.ndarray:
    """Return a frame for the page, float32; its element `HEADER.index("echo")` is left for each client's own number."""
    head = (shown.t, PHASES.index(shown.phase), shown.recording, shown.stopped, 0.0)
    return np.concatenate([head, shown.axes, q, v, poses.ravel(), *map(np.ravel, more)]).astype("<f4")
