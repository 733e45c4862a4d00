"""What happens while somebody drives: states, sticks, dead-man stop, recording, replay.

The loop's thread calls `work`; all other threads only `ask` and `move`, and read `shown`.
"""

from __future__ import annotations

import collections
import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from articulus.browser.drive.plant import Plant
from articulus.browser.drive.realtime import Clock, WallClock
from articulus.browser.drive.recording import MOST_SAMPLES, Recording
from articulus.browser.drive.terrain import Terrain

SILENCE = 300_000_000
"""Age of a stick message from which its sticks count as released [ns]."""
STANDSTILL = 1_000_000_000
"""Time that a machine nobody drives is given to come to rest before it is paused [ns]."""
SHOW = 15
"""Steps from one published state to the next: 67 in a second."""
MOST_DELAY = 2.0
"""Longest delay of a line to the machine and back [s]."""
DIG = 15
"""Steps from one change of the ground to the next."""


class DrivePhase(StrEnum):
    """What the machine does."""

    RUNNING = "running"
    PAUSED = "paused"
    REPLAY = "replay"
    FAULT = "fault"


@dataclass(frozen=True, eq=False)
class Shown:
    """What everybody may see.

    Parameters
    ----------
    t : float [s]
        Time of the machine, or within a replay.
    phase : Phase
    state : array, (logged,)
        Continuous states and held values.
    axes : tuple of float
        Sticks as the machine got them.
    mode : int
    soil : bool
    recording : bool
    stopped : bool
        Whether the dead-man stop holds sticks at zero that were not released.
    read : int [ns]
        Time of the session's clock at which the sticks were read.
    """

    t: float
    phase: DrivePhase
    state: np.ndarray
    axes: tuple[float, ...]
    mode: int = 0
    soil: bool = False
    recording: bool = False
    stopped: bool = False
    read: int = 0


class DriveSession:
    """One machine and those who drive it.

    Parameters
    ----------
    plant : Plant
    clock : Clock
    kept : callable
        Called, in the loop's thread, with every Recording that ends; must return at once.
    """

    def __init__(
        self, plant: Plant, clock: Clock | None = None, kept: Callable[[Recording], None] | None = None
    ):
        self.plant, self._clock, self._kept = plant, clock or WallClock(), kept
        self.phase = DrivePhase.RUNNING
        self.mode, self.soil = 0, False
        self.last: Recording | None = None
        n = len(plant.machine.axes)
        self._columns = {
            group: [i for i, a in enumerate(plant.machine.axes) if a.group == group]
            for group in plant.machine.groups
        }
        self._moved: dict[str, tuple[int, tuple[float, ...]]] = dict.fromkeys(self._columns, (0, (0.0,) * n))
        self._asked: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._left_at: int | None = None
        self._replayed = 0
        self.delay = 0.0
        self._past: collections.deque[Shown] = collections.deque()
        self._count = self._dug = 0
        digging = plant.machine.digging
        self.terrain = None if digging is None else Terrain(digging, plant.machine.ground)
        self._show((0.0,) * n, False, self._clock.now())

    # from any thread

    def move(self, group: str, axes: Sequence[float]) -> None:
        """Take the sticks of a group, one number per axis of the machine; they hold for `SILENCE`."""
        self._moved[group] = (self._clock.now(), tuple(axes))

    def now(self) -> int:
        """Return the time of its clock [ns]."""
        return self._clock.now()

    def ask(self, what: Callable[[], None]) -> None:
        """Have one of the methods below called in the loop's thread, before its next step."""
        self._asked.put(what)

    @property
    def recording(self) -> bool:
        """Whether it records."""
        return self.plant.sink is not None

    # in the loop's thread

    def work(self, steps: int) -> None:
        """Take steps, or let that much time of a replay pass."""
        while not self._asked.empty():
            self._asked.get()()
        now = self._clock.now()
        axes, silent = self._sticks(now)
        if self.phase is DrivePhase.RUNNING:
            self.plant.put(axes, self.mode, self.soil)
            self.plant.advance(steps)
            self._dig(steps)
            self._look()
        elif self.phase is DrivePhase.REPLAY:
            self._replayed += steps
            if self.last is None or self._replayed * self.plant.h >= self.last.duration:
                self.phase = DrivePhase.PAUSED
        self._leave_alone(now)
        self._count += steps
        if self._count >= SHOW:
            self._count = 0
            self._show(axes, silent, now)

    def _sticks(self, now: int) -> tuple[tuple[float, ...], bool]:
        """Return the sticks of all groups, zero where nothing fresh came; and whether that stopped something."""
        out = [0.0] * len(self.plant.machine.axes)
        silent = False
        for group, columns in self._columns.items():
            at, axes = self._moved[group]
            if now - at > SILENCE:
                silent = silent or any(axes[i] for i in columns)
                continue
            for i in columns:
                out[i] = axes[i]
        return tuple(out), silent

    def _dig(self, steps: int) -> None:
        """Let the bucket change the ground, and the ground weigh on the bucket."""
        self._dug += steps
        if self.terrain is None or not self.soil or self._dug < DIG or self.plant.failed:
            return
        d, q = self.terrain.digging, self.plant.q(self.plant.state())
        tip, bucket = (self.plant.machine.mechanism.pose(name, q) for name in (d.tip, d.bucket))
        self.plant.bear(*self.terrain.move(tip[:3, 3], bucket[:3, :3], self._dug * self.plant.h))
        self._dug = 0

    def _look(self) -> None:
        """End what must end: a failed machine, a full recording."""
        if self.plant.failed:
            self.stop_recording()
            self.phase = DrivePhase.FAULT
        elif self.plant.sink is not None and len(self.plant.sink) > MOST_SAMPLES:
            self.stop_recording()

    def _leave_alone(self, now: int) -> None:
        """Pause a machine that nobody drives when it had time to come to rest; keep its recording."""
        if self._left_at is not None and now - self._left_at > STANDSTILL:
            self._left_at = None
            self.stop_recording()
            self.pause()

    def _show(self, axes: tuple[float, ...], stopped: bool, read: int) -> None:
        t, state = self.plant.t, self.plant.state()
        if self.phase is DrivePhase.REPLAY and self.last is not None:
            t = self._replayed * self.plant.h
            state = self.last.at(t)
        self.ahead = Shown(t, self.phase, state, axes, self.mode, self.soil, self.recording, stopped, read)
        self._past.append(self.ahead)
        while len(self._past) > 1 and self._past[1].read <= read - round(1e9 * self.delay):
            self._past.popleft()
        self.shown = self._past[0]

    # what may be asked

    def leave(self) -> None:
        """Nobody drives any more: release all sticks, pause when the machine has come to rest, keep the recording."""
        n = len(self.plant.machine.axes)
        self._moved = dict.fromkeys(self._columns, (0, (0.0,) * n))
        self._left_at = self._clock.now()

    def enter(self) -> None:
        """Somebody drives again."""
        self._left_at = None

    def pause(self) -> None:
        """Stop time."""
        if self.phase is not DrivePhase.FAULT:
            self.phase = DrivePhase.PAUSED

    def resume(self) -> None:
        """Let time go on."""
        if self.phase is not DrivePhase.FAULT:
            self.phase = DrivePhase.RUNNING

    def reset(self) -> None:
        """Put the machine back to its start; a recording ends."""
        self.stop_recording()
        self.plant.reset()
        self._past.clear()
        if self.terrain is not None:
            self.terrain.reset()
        self.phase = DrivePhase.RUNNING

    def choose(self, mode: int) -> None:
        """Choose a mode by its number."""
        self.mode = mode

    def switch_soil(self, on: bool) -> None:
        """Switch the soil; without it the bucket holds nothing."""
        self.soil = on and self.plant.machine.soil
        if self.terrain is not None and not self.soil:
            self.terrain.reset()
            self.plant.bear(0.0, 0.0)

    def choose_delay(self, seconds: float) -> None:
        """Choose the delay of a line to the machine and back [s].

        A command goes out over half of it, the picture comes back over the other half. The machine is a model that behaves the same at any
        time, so what is seen is where it was one delay ago; where it is now, `ahead`, is what a model beside the operator would predict, without an error of its own.
        """
        self.delay = min(max(seconds, 0.0), MOST_DELAY)

    def record(self) -> None:
        """Begin a recording; time continues if it stood still."""
        if self.phase is DrivePhase.FAULT:
            return
        self.stop_recording()
        self.plant.sink = []
        self.resume()

    def stop_recording(self) -> None:
        """End the recording and hand it over."""
        samples, self.plant.sink = self.plant.sink, None
        if samples:
            self.last = Recording(self.plant, np.concatenate(samples))
            if self._kept is not None:
                self._kept(self.last)

    def replay(self) -> None:
        """Play the last recording."""
        self.stop_recording()
        if self.last is not None and self.phase is not DrivePhase.FAULT:
            self._replayed, self.phase = 0, DrivePhase.REPLAY
