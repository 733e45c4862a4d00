"""Flight code: tasks at their rates, in their order, with delays, against the continuous plant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from articulus.errors import Finding, InputError, did_you_mean
from articulus.simulation.loop.python_controller import STATE, PythonController
from articulus.simulation.loop.steps import steps_in


@dataclass(frozen=True)
class FlightTask:
    """A law that runs at its rate.

    Parameters
    ----------
    name : str
    law : callable, class, generator function or CompiledLaw
        From its inputs to its outputs, in their order: one value, or a sequence of as many as there are outputs. Classes, generator functions, `reset()` and
        `seed(number)` as for `PythonController`.
    period : number [s]
    inputs : names
        "t", "q", "v", signals such as "gyro.rate", and outputs of tasks.
    outputs : names
        Names without dots; those of `Executive.commands` leave as commands.
    delay : number [s]
        From when it reads to when its outputs are there: the time that it computes.
    offset : number [s]
        Its first instant.
    hangs : pairs of numbers [s]
        Times within which it does not run and its last outputs hold: failures to be tried out.
    """

    name: str
    law: Callable[..., Any]
    period: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    delay: float = 0.0
    offset: float = 0.0
    hangs: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        for field in ("inputs", "outputs"):
            held = getattr(self, field)
            object.__setattr__(self, field, (held,) if isinstance(held, str) else tuple(held))
        if not callable(self.law):
            raise _wrong(
                self, "law", repr(self.law), "a function, a class, a generator function or a CompiledLaw"
            )
        for name in self.outputs:
            if "." in name or name in STATE:
                raise _wrong(self, "outputs", f"'{name}'", "names without dots other than t, q, v")


class Refusal(NamedTuple):
    """Outputs of a task that were refused."""

    time: float
    task: str
    reason: str


class Executive:
    """The tasks of a flight computer, called at every tick in their order; those that are due run.

    What a task puts out without delay is there for those after it at the same tick. Outputs that are not finite, or are not as many as declared,
    are refused: the last ones hold, and `refusals` of the last run tells it. Bounds of commands, rates, and delays on the
    way to the actuators are those of a `CommandCheck`; sensors that fail and vote are `SensorFailure` and `Voter`.

    Parameters
    ----------
    tasks : sequence of FlightTask
    commands : names
        Variables that leave as commands, in the order of the actuators of the run.
    tick : number [s]
        Periods, delays and offsets are whole numbers of it.
    initial : dict of name to numbers
        Variables before their task has run; zero if not given.
    """

    def __init__(
        self,
        tasks: Sequence[FlightTask],
        commands: Sequence[str],
        tick: float,
        initial: dict[str, Any] | None = None,
    ):
        self.tasks, self.commands, self.tick = tuple(tasks), tuple(commands), float(tick)
        self.initial = {
            name: np.atleast_1d(np.asarray(x, dtype=float)) for name, x in (initial or {}).items()
        }
        self.refusals: list[Refusal] = []
        self._check()
        own = {name for task in self.tasks for name in task.outputs}
        read = dict.fromkeys(name for task in self.tasks for name in task.inputs if name not in own)
        self.inputs = ("t", *(name for name in read if name != "t"))
        """What it reads of the run."""

    @property
    def controller(self) -> PythonController:
        """The controller of a run."""
        return PythonController(self, self.tick, "executive", self.inputs)

    def _check(self) -> None:
        owners: dict[str, str] = {}
        for task in self.tasks:
            for field in ("period", "delay", "offset"):
                held = getattr(task, field)
                if (
                    (held and steps_in(held, self.tick) is None)
                    or held < 0
                    or (field == "period" and not held)
                ):
                    raise _wrong(task, field, f"{held:g} s", f"a whole number of ticks of {self.tick:g} s")
            for name in task.outputs:
                if name in owners:
                    raise _wrong(
                        task, "outputs", f"'{name}', which task '{owners[name]}' puts out", "another name"
                    )
                owners[name] = task.name
        for name in self.commands:
            if name not in owners:
                raise InputError(
                    Finding(
                        "Executive.commands",
                        f"'{name}', which no task puts out",
                        "outputs of tasks",
                        did_you_mean(name, owners),
                    )
                )
        for task in self.tasks:
            for name in task.inputs:
                if "." not in name and name not in STATE and name not in owners:
                    raise _wrong(
                        task, "inputs", f"'{name}'", "t, q, v, a signal or an output of a task",
                        did_you_mean(name, [*STATE, *owners]),
                    )  # fmt: skip

    def reset(self) -> None:
        """Begin a run."""
        self.refusals = []
        self._count = 0
        self._held = {
            name: self.initial.get(name, np.zeros(1)) for task in self.tasks for name in task.outputs
        }
        self._coming: list[tuple[int, FlightTask, list[np.ndarray]]] = []

    def seed(self, number: int) -> None:
        """Begin the laws of a run, with its seed."""
        self._laws = [
            PythonController(task.law, task.period, task.name, task.inputs).begin(number)
            for task in self.tasks
        ]

    def __call__(self, *values: Any) -> np.ndarray:
        """Return the commands of a tick from what it reads of the run."""
        k, self._count = self._count, self._count + 1
        known = dict(zip(self.inputs, values))
        if any(np.ndim(x) > 1 for x in values):
            raise InputError(
                "Executive: found a batch of states; expected single runs, `simulate` or a campaign"
            )
        self._arrive(k)
        for task, law in zip(self.tasks, self._laws):
            since = k - round(task.offset / self.tick)
            if since < 0 or since % round(task.period / self.tick) or self._hangs(task, k):
                continue
            out = law(*(self._held[name] if name in self._held else known[name] for name in task.inputs))
            self._coming.append((k + round(task.delay / self.tick), task, self._outputs(task, out, k)))
            self._arrive(k)
        return np.concatenate([self._held[name] for name in self.commands])

    def _hangs(self, task: FlightTask, k: int) -> bool:
        t = (k + 1e-6) * self.tick
        return any(start <= t < end for start, end in task.hangs)

    def _arrive(self, k: int) -> None:
        """Take over the outputs that are there at a tick."""
        for _, task, out in [each for each in self._coming if each[0] <= k]:
            self._held |= dict(zip(task.outputs, out))
        self._coming = [each for each in self._coming if each[0] > k]

    def _outputs(self, task: FlightTask, out: Any, k: int) -> list[np.ndarray]:
        """Return the outputs of a task, none of them where they are refused."""
        values = [out] if len(task.outputs) == 1 else list(out) if np.iterable(out) else [out]
        try:
            found = [np.atleast_1d(np.asarray(x, dtype=float)).ravel() for x in values]
        except (TypeError, ValueError):
            found = []
        reason = ""
        if len(found) != len(task.outputs):
            reason = f"{len(found)} outputs, not {len(task.outputs)}"
        elif not all(np.isfinite(x).all() for x in found):
            reason = "numbers that are not finite"
        if reason:
            self.refusals.append(Refusal(k * self.tick, task.name, reason))
            return []
        return found


def _wrong(task: FlightTask, field: str, found: str, expected: str, hint: str = "") -> InputError:
    return InputError(Finding(f"Task '{task.name}', {field}", found, expected, hint, field=field))
