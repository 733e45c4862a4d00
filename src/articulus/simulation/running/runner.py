"""A run from set-up to result: chunk by chunk through an engine, with progress and checkpoints."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from articulus import kernel
from articulus.dynamics.positive_definite import definite
from articulus.errors import InputError, NumericalError
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.loop.steps import whole_steps
from articulus.simulation.results.provenance import provenance
from articulus.simulation.results.run import Run
from articulus.simulation.results.status import Failure, FinalState, Occurrence, RunStatus
from articulus.simulation.running import checkpoint, diagnostics, failures
from articulus.simulation.running.noise import NoiseStreams
from articulus.simulation.running.progress import progress
from articulus.simulation.running.python_controller_calls import PythonControllerCalls
from articulus.simulation.running.rerun import RunOrigin
from articulus.simulation.running.watching import RunPart, watcher

if TYPE_CHECKING:
    from articulus.simulation.running.specification import Specification

CHUNK_SECONDS = 0.25
"""Wall-clock time of a chunk that a bar and checkpoints can follow [s]."""
FIRST_CHUNK = 64
LOOKED_AT = 64
"""Samples of a run, evenly chosen, at which the mass matrix is asked for where a body can make it indefinite."""
LOG_BYTES = 4 << 30
"""Size of a log beyond which a run is refused [bytes]."""


class Engine(Protocol):
    """What takes states from step to step.

    `jumps` are the periods, in steps, at which held values change; `nx` and `logged` the sizes of a state and a sample.
    """

    system: System
    jumps: list[int]
    nx: int
    logged: int
    events: list[Occurrence]
    evaluations: int
    rejected: int
    cost: int

    def prepare(self, rows: int) -> None: ...

    def rows(self, c: np.ndarray, d: np.ndarray) -> np.ndarray: ...

    def parameters(self, t0: float, p: np.ndarray) -> np.ndarray: ...

    def on(self, x, p, w, failed, log, *, first: int, every: int) -> Callable[[int, int], None]: ...  # type: ignore[no-untyped-def]

    def sample(self, x, p, w, failed, k: int) -> np.ndarray: ...  # type: ignore[no-untyped-def]

    def cause(self, row: int) -> Any: ...

    def rejected_share(self, row: int) -> float: ...


@dataclass
class Runner:
    """One call of `simulate` or `rollout`, ready to go.

    Parameters
    ----------
    setup : Specification
        What is run and how; `mechanism`, `outside`, `single`, `t0`, `h`, `steps`, `every`, `seed`, `first_run` and `method` are its.
    engine : Engine
    c0 : array, (rows, nc)
        Initial continuous states.
    p : array, (rows, np) or (np,)
        Parameters.
    independent : list of tuple of int
        Constraint rows that imply all the others at the start: of each run, or of the first alone.
    start : dict
        How the loops were closed before the run: largest changes of q and v, redundant rows.

    Attributes
    ----------
    outputs : Outputs
        What to report besides q and v.
    outside_period : int
        Period of a Python controller in steps.
    settings : dict
        What was asked for, for the record.
    """

    setup: Specification
    engine: Engine
    c0: np.ndarray
    p: np.ndarray
    independent: list[tuple[int, ...]]
    start: dict[str, Any]

    def __post_init__(self) -> None:
        s, outside = self.setup.settings, self.setup.outside
        self.mechanism, self.outside, self.single = self.setup.mechanism, outside, self.setup.single
        self.t0, self.h, self.steps, self.every = s.t0, s.step, s.steps, s.every
        self.seed, self.first_run, self.method = s.seed, s.first_run, s.method
        self.outputs = Outputs(self.setup.system, s.outputs)
        self.settings = self.setup.record()
        sampled = outside is not None and outside.period is not None
        self.outside_period = whole_steps("controller period", outside.period, s.step) if sampled else 1  # type: ignore[union-attr, arg-type]

    def run(self, keep: Path | None = None, interval: float = 30.0, leave: bool = False) -> Run:
        """Run to the end and return the result."""
        rows, system = len(self.c0), self.engine.system
        self.engine.prepare(rows)
        self._asked: PythonControllerCalls | None = None
        if self.outside is not None:
            self.engine.jumps.append(self.outside_period)
            if keep and self.outside.stateful:
                raise InputError(
                    f"checkpoint: the controller '{self.outside.name}' has an internal state, which a checkpoint cannot store; "
                    "expected no checkpoint, or a controller of components"
                )
            self._asked = PythonControllerCalls(
                self.outside,
                system,
                self.h,
                self.single,
                self.seed if isinstance(self.seed, int) else self.seed[0],
            )
        began = time.perf_counter()
        self.noise = NoiseStreams(self.seed, rows, system.nw, self.first_run)
        self.x = self.engine.rows(self.c0, np.broadcast_to(system.d0, (rows, system.nd)))
        self.failed = np.full(rows, kernel.NEVER)
        self.given = self.engine.parameters(self.t0, self.p)
        self.logs: list[np.ndarray] = []
        self.earlier: Mapping[str, float] = {}
        self.k = 0
        keeper = _Keeper(self, keep, interval) if keep else None
        if keeper:
            keeper.resume()
        seen = watcher() if self.single else None
        with progress(self.mechanism.name, self.steps) as bar:
            bar.advance(self.k)
            for done in self._chunks():
                bar.advance(done)
                if seen is not None:
                    seen(self._part())
                if keeper:
                    keeper.keep()
                if self._over():
                    self._cut()
                    break
        self.logs.append(self._last_sample())
        wall = time.perf_counter() - began
        result = self._result(wall)
        if keeper and not leave:
            keeper.remove()
        return result

    def _cut(self) -> None:
        """End where the last run ended: samples after it are nobody's."""
        self.k = int(self.failed.max())
        kept = -(-self.k // self.every)
        self.logs = [np.concatenate(self.logs, axis=1)[:, :kept]]

    def _chunks(self) -> Iterator[int]:
        """Take all steps; yield the number of steps after each chunk."""
        size = FIRST_CHUNK
        while self.k < self.steps:
            start, began = self.k, time.perf_counter()
            stop = min(self.steps, start + size)
            self._advance(start, stop)
            self.k = stop
            spent = time.perf_counter() - began
            if spent < CHUNK_SECONDS / 2:
                size *= 4 if spent < CHUNK_SECONDS / 8 else 2
            yield stop - start

    def _advance(self, start: int, stop: int) -> None:
        samples = -(-stop // self.every) - -(-start // self.every)
        log = np.empty((len(self.x), samples, self.engine.logged))
        w = self.noise.draw(stop - start)
        march = self.engine.on(self.x, self.given, w, self.failed, log, first=start, every=self.every)
        if self.outside is None:
            march(start, stop)
        else:
            self._with_outside(march, start, stop, w)
        self.logs.append(log)

    def _with_outside(self, march: Callable[[int, int], None], start: int, stop: int, w: np.ndarray) -> None:
        """Call the Python controller at its instants, with native steps in between."""
        period = self.outside_period
        k = start
        while k < stop and not self._over():
            if k % period == 0:
                self._command(k, w[..., k - start, :])
            following = min(stop, (k // period + 1) * period)
            march(k, following)
            k = following

    def _part(self) -> RunPart:
        """Return the samples of the last chunk."""
        log, system = self.logs[-1][0], self.engine.system
        count = -(-self.k // self.every)
        t = self.t0 + self.every * self.h * np.arange(count - len(log), count)
        return RunPart.of(self.mechanism, t, *(log[:, system.places[name]] for name in "qv"))

    def _over(self) -> bool:
        """Whether all runs have ended."""
        return bool(self.failed[0] >= 0 and (self.failed >= 0).all())

    def _command(self, k: int, w: np.ndarray) -> None:
        """Ask the Python controller for its commands of step k; runs that have ended keep theirs."""
        assert self._asked is not None
        system = self.engine.system
        at = system.held_places["outside"]
        target = self.x[:, system.nc + at.start : system.nc + at.stop]
        commands = self._asked.commands(k, self.t0 + k * self.h, self.x, self.p, w, target.shape)
        if self.single or self.failed.max() < 0:  # a single run that has ended is not asked
            target[:] = commands
        else:
            target[self.failed < 0] = np.broadcast_to(commands, target.shape)[self.failed < 0]

    def _last_sample(self) -> np.ndarray:
        """Return the sample at the end, (rows, 1, logged)."""
        before = self.x
        if self.outside is not None and self.k % self.outside_period == 0 and not self._over():
            self.x = before.copy()
            self._command(self.k, self.noise.peek()[..., 0, :])
        sample = self.engine.sample(self.x, self.given, self.noise.peek(), self.failed, self.k)
        self.x = before
        return sample[:, None]

    # the result

    @property
    def times(self) -> np.ndarray:
        """Times of all samples [s]."""
        k = np.arange(0, self.k, self.every)
        t = self.t0 + np.append(k, self.k) * self.h
        stops = [event.time for event in self.engine.events if event.stop]
        if self.single and stops:
            t[-1] = stops[0]
        return t

    def _result(self, wall: float) -> Run:
        samples = np.concatenate(self.logs, axis=1)
        self.logs = []
        found = self._failures(samples)
        w = NoiseStreams(self.seed, len(self.x), self.engine.system.nw, self.first_run).at(
            np.append(np.arange(0, self.k, self.every), self.k)
        )
        times = self.times
        signals = self.outputs.signals(samples, self.p, w, times, self.h, self.single)
        status: Any = np.full(len(self.x), int(RunStatus.COMPLETE))
        for event in self.engine.events:
            if event.stop:
                status[event.run] = RunStatus.STOPPED
        for failure in found:
            status[failure.run] = RunStatus.FAILED
        simulated = float(np.sum(np.where(self.failed < 0, self.k, self.failed))) * self.h
        counts = self.counts()
        statistics = {
            "steps": int(self.k),
            "evaluations": counts["evaluations"] or self.k * len(self.x) * self.engine.cost,
            "rejected": counts["rejected"],
            "wall_seconds": wall,
            "real_time_ratio": simulated / wall if wall > 0 else float("inf"),
        }
        meta = provenance(
            self.mechanism,
            method=self.method,
            step=self.h,
            seed=self.seed,
            settings=self.settings,
            parameters=self._parameters(),
        ) | {"start": self.start}
        final = FinalState(
            self.k, self.t0 + self.k * self.h, self.x[0] if self.single else self.x, self.noise.state()
        )
        run = Run(
            self.mechanism,
            times,
            signals,
            status=RunStatus(int(status[0])) if self.single else status,
            failures=tuple(found),
            events=tuple(sorted(self.engine.events, key=lambda e: e.time)),
            statistics=statistics,
            meta=meta,
            final=final,
            warnings=diagnostics.find(self, samples, signals, np.flatnonzero(status != RunStatus.FAILED)),
            origin=RunOrigin(self.setup, self.p, samples),
        )
        if self.single and found:
            raise NumericalError(str(found[0]), result=run, rows=np.array([0]))
        diagnostics.warn(self.mechanism.name, run.warnings, len(self.x))
        return run

    def _parameters(self) -> dict[str, Any]:
        """Return the values of all named parameters, one number where all runs have the same."""
        return {
            p.name: {"value": float(x[0]) if (x == x[0]).all() else x.tolist(), "default": value_of(p)}
            | ({"range": list(p.range)} if p.range is not None else {})
            for p, x in zip(self.engine.system.network.parameters, self.p.T)
        }

    def _failures(self, samples: np.ndarray) -> list[Failure]:
        found = {failure.run: failure for failure in self._indefinite(samples)}
        ended = {event.run for event in self.engine.events if event.stop}
        rows = [int(row) for row in np.flatnonzero(self.failed >= 0) if row not in ended]
        found |= {row: failures.diagnose(self, row) for row in rows if row not in found}
        return [found[row] for row in sorted(found)]

    def _indefinite(self, samples: np.ndarray) -> Iterator[Failure]:
        """Yield a failure for each run of flexible bodies whose mass matrix did not stay positive definite."""
        system = self.engine.system
        if not system.description.flexible:
            return
        asked = definite(system.description)
        count = LOOKED_AT if asked.doubtful else 1
        looked_at = np.unique(np.linspace(0, samples.shape[1] - 1, count).round().astype(int))
        for row, states in enumerate(samples[:, looked_at]):
            p = self.p[row, : len(system.description.parameters)]
            bad = asked.first_bad(states[:, system.places["q"]], p, singular=True)
            if bad is not None:
                yield failures.indefinite(self, row, int(looked_at[bad]), states[bad])

    def counts(self) -> dict[str, int]:
        """Return what the engine counts, before a resumption too: evaluations (0 where each step costs the same), rejected."""
        now = {"evaluations": self.engine.evaluations, "rejected": self.engine.rejected}
        return {name: int(count + self.earlier.get(name, 0)) for name, count in now.items()}

    def rejected_shares(self) -> np.ndarray:
        """Return rejected steps over evaluations of each run, (rows,); those of a batch since its last resumption."""
        counts = self.counts()
        if self.single or not counts["rejected"]:
            return np.full(len(self.c0), counts["rejected"] / max(counts["evaluations"], 1))
        return np.array([self.engine.rejected_share(row) for row in range(len(self.c0))])

    def identity(self) -> dict[str, Any]:
        """Return all that decides the numbers of the run, by name, so that a checkpoint of another one is recognized."""
        system = self.engine.system
        maps = [system.rhs, *(update.function for update in system.updates), system.correction]
        return {
            **self.settings,
            "method": self.method,
            "step": self.h,
            "start": self.t0,
            "seed": self.seed if isinstance(self.seed, int) else list(self.seed),
            **({"first run": self.first_run} if self.first_run else {}),
            "initial state": _digest(np.ascontiguousarray(self.c0).tobytes()),
            "parameters": _digest(np.ascontiguousarray(self.p).tobytes()),
            "equations": _digest("".join(m.serialize() for m in maps if m is not None).encode()),
        }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


class _Keeper:
    """Writes checkpoints of a simulation now and then, and takes up the last one."""

    def __init__(self, simulation: Runner, path: Path, interval: float):
        self.simulation, self.path, self.interval = simulation, path, interval
        self._model = simulation.mechanism.description.fingerprint
        self._settings = simulation.identity()
        self._written = 0

    def resume(self) -> None:
        """Go on from the file if there is one; refuse one of another run."""
        s, log = self.simulation, None
        if self.path.exists():
            kept = checkpoint.read(self.path)
            kept.require(self._model, self._settings)
            s.k, s.x = kept.state.step, np.ascontiguousarray(kept.state.x[:, :-1])
            s.failed = np.ascontiguousarray(kept.state.x[:, -1])
            s.noise.resume(kept.state.rng)
            s.engine.events[:] = kept.events
            s.earlier = kept.statistics
            log = dict(kept.log)
            s.logs = [np.ascontiguousarray(np.moveaxis(kept.log["samples"], 0, 1))]
            self._written = s.logs[0].shape[1]
        self._writer = checkpoint.CheckpointWriter(self.path, self._model, self._settings, log, self.interval)

    def keep(self) -> None:
        """Write the file when the interval is over."""
        s = self.simulation
        if not self._writer.due:
            return
        s.logs = [np.concatenate(s.logs, axis=1)]
        fresh = np.moveaxis(s.logs[0][:, self._written :], 1, 0)
        state = FinalState(s.k, s.t0 + s.k * s.h, np.column_stack([s.x, s.failed]), s.noise.state())
        try:
            self._writer.write(
                state, {"samples": fresh}, events=tuple(s.engine.events), statistics=s.counts()
            )
        except InputError as error:
            self._warn(f"no checkpoint at t = {state.t:.6g} s: {error}. The run goes on without")
            self._writer.put_off()
            return
        self._written = s.logs[0].shape[1]

    def remove(self) -> None:
        """Remove the file: the run is complete."""
        try:
            checkpoint.discard(self.path)
        except OSError as error:
            self._warn(f"the checkpoint of the complete run stays: {error}")

    def _warn(self, text: str) -> None:
        warnings.warn(f"'{self.simulation.mechanism.name}': {text}", RuntimeWarning, stacklevel=2)
