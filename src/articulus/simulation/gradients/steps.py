"""The steps of a run that was asked for: states before every step, and the derivatives of all nodes there."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.errors import NumericalError, UnsupportedOperation
from articulus.simulation.gradients.step_nodes import StepNodes, compile_columns
from articulus.simulation.loop.functions import System
from articulus.simulation.running.native_engine import NativeEngine
from articulus.simulation.running.noise import NoiseStreams
from articulus.simulation.running.runner import Runner

CHUNK_BYTES = 1 << 22
"""Memory that the derivatives of the steps of a chunk may take: they are read again from the cache."""
KEPT_BYTES = 1 << 28
"""Memory up to which an adjoint keeps all states of a run; beyond it those at the start of every chunk, from which it goes again."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """States of some steps in a row.

    Parameters
    ----------
    first, stop : int
        Steps [first, stop).
    after : array, (steps, nc + nd)
        c and d at every step, after the maps of sampled components worked.
    held : array, (steps, nd)
        d before they did.
    w : array, (steps, nw)
        Noise.
    """

    first: int
    stop: int
    after: np.ndarray
    held: np.ndarray
    w: np.ndarray


class Steps:
    """The steps of one run, with everything that its derivatives need.

    Parameters
    ----------
    runner : Runner
        Runner that is ready to go.
    chosen : sequence of int
        Entries of p by which derivatives are wanted.
    work : bool
        As `StepNodes` says.
    row : int
        Which run of a batch.
    """

    def __init__(self, runner: Runner, chosen: Sequence[int], work: bool, row: int = 0):
        self.runner, self.engine = runner, as_native(runner)
        self.system: System = self.engine.system
        self.chosen, self.work, self.row = tuple(chosen), work, row
        self.h, self.t0, self.count = runner.h, runner.t0, runner.steps
        self.p, self.c0 = runner.p[row], runner.c0[row]

    def _streams(self) -> NoiseStreams:
        runner = self.runner
        seed = runner.seed if isinstance(runner.seed, int) else [runner.seed[self.row]]
        return NoiseStreams(seed, 1, self.system.nw, runner.first_run + self.row)

    def noise(self) -> np.ndarray:
        """Return the noise of all steps and of the end, (steps + 1, nw)."""
        return self._streams().draw(self.count + 1).reshape(self.count + 1, self.system.nw)

    @functools.cached_property
    def native_code(self) -> Made:
        """Native code, kept by the equations for the next call."""
        kept = self.system.__dict__.setdefault("_gradients", {})
        key = (self.engine.method.name, self.chosen, self.work, *self._inside())
        if key not in kept:
            kept[key] = Made(self.engine, self.chosen, self.work)
        return kept[key]

    def _inside(self) -> tuple[float, ...]:
        """Return the step where a node holds noise for it."""
        return (self.h,) if getattr(self.engine.method, "kind", "") != "explicit" else ()

    @property
    def nodes(self) -> StepNodes:
        """One step as calls of nodes."""
        return self.native_code.nodes

    @property
    def chunk_steps(self) -> int:
        """Steps of a chunk."""
        return int(np.clip(CHUNK_BYTES // (8 * max(self.nodes.width, 1)), 16, 4096))

    def chunks(self) -> list[tuple[int, int]]:
        """Return first step and step after the last of every chunk; the last one holds the end of the run as a step of its own."""
        size, end = self.chunk_steps, self.count + 1
        return [(k, min(k + size, end)) for k in range(0, end, size)]

    def forward(self) -> Iterator[Chunk]:
        """Yield the chunks of the run in order."""
        x, streams = self.engine.rows(self.c0[None], self.system.d0[None]), self._streams()
        for first, stop in self.chunks():
            w = streams.draw(stop - first).reshape(stop - first, self.system.nw)
            yield self.march(x, first, stop, w)

    def march(self, x: np.ndarray, first: int, stop: int, w: np.ndarray) -> Chunk:
        """Take the steps of a chunk; x, (1, nx), is changed to the state after it."""
        system, engine = self.system, self.engine
        log = np.empty((1, stop - first, engine.logged))
        failed = np.full(1, kernel.NEVER)
        held = np.empty((stop - first, system.nd))
        held[:1] = x[:, system.nc : system.nc + system.nd]
        go = engine.on(
            x, engine.parameters(self.t0, self.p[None]), np.array(w), failed, log, first=first, every=1
        )
        last = min(stop, self.count)
        go(first, last)
        if failed[0] >= 0:
            raise NumericalError(
                f"gradient: the run failed at t = {self.t0 + failed[0] * self.h:.6g} s; it has no derivative beyond. `simulate` says why"
            )
        if stop > self.count:
            log[:, -1] = engine.sample(
                x, engine.parameters(self.t0, self.p[None]), np.array(w[-1:]), failed, last
            )
        held[1:] = log[0, : len(held) - 1, system.nc :]
        return Chunk(first, stop, log[0], held, w)

    def fires(self, first: int, stop: int) -> np.ndarray:
        """Return which maps of sampled components work at some steps, (steps, maps), 1 or 0."""
        k = np.arange(first, stop)[:, None]
        return (k % np.array(self.engine.periods or [1])[: len(self.nodes.updates)] == 0).astype(float)

    def times(self, first: int, stop: int) -> np.ndarray:
        """Return the times of some steps [s]."""
        return self.t0 + np.arange(first, stop) * self.h

    def derivatives(self, chunk: Chunk, points: bool = False) -> Any:
        """Return the derivatives of all nodes at all steps of a chunk, (steps, width), with `points` also where they are."""
        c = np.ascontiguousarray(chunk.after[:, : self.system.nc])
        t, fires = self.times(chunk.first, chunk.stop), self.fires(chunk.first, chunk.stop)
        found = self.native_code.linearization(points)(
            c, chunk.held, self.p, chunk.w, t, np.full((), self.h), fires
        )
        by, *seen = found if isinstance(found, tuple) else (found,)
        if chunk.stop > self.count:  # no step goes on from the end
            by[-1, self.native_code.first_stage :] = 0.0
        return (by, *seen) if points else by

    @property
    def samples(self) -> np.ndarray:
        """Steps at which the run is sampled; the last is its end."""
        every = self.runner.every
        return np.append(np.arange(0, self.count, every), self.count)


class Made:
    """Native code of the tangents of a step: derivatives of its nodes, one step of tangents forward, one of adjoints back."""

    def __init__(self, engine: NativeEngine, chosen: Sequence[int], work: bool):
        self.nodes = StepNodes(engine, chosen, work)
        self._pulls: dict[tuple[int, tuple[int, ...]], kernel.Kernel] = {}
        self.first_stage = len(self.nodes.updates) + sum(n.entries for n in self.nodes.updates)

    def linearization(self, points: bool) -> kernel.Kernel:
        """Return `StepNodes.linearization` as native code."""
        return self._with_points if points else self._without_points

    @functools.cached_property
    def _with_points(self) -> kernel.Kernel:
        return compile_columns(self.nodes.linearization(True))

    @functools.cached_property
    def _without_points(self) -> kernel.Kernel:
        return compile_columns(self.nodes.linearization(False))

    @functools.cached_property
    def tangent(self) -> kernel.Recurrence:
        """(c', d') from step to step; parameters are h and the direction in p, inputs the derivatives of the nodes."""
        n = self.nodes
        s, p, by, k = SX.sym("x", n.nx), SX.sym("p", 1 + len(n.chosen)), SX.sym("w", n.width), SX.sym("k")
        zero = [SX(x.numel(), 1) for x in n.extras()]
        maps = [n.step_tangent(s, p[1:], by, p[0], zero)]
        if n.updates:
            maps.insert(0, n.update_tangent(s, p[1:], by, zero))
        return recurrence([(s, p, by, k)] * len(maps), maps, n.nx)

    @functools.cached_property
    def adjoint(self) -> kernel.Recurrence:
        """(what each node takes, lambda) from step to step backwards; inputs are the derivatives of the nodes and of the figure."""
        n = self.nodes
        extra = n.extras()
        own = sum(x.numel() for x in extra)
        x, p = SX.sym("x", own + n.nx), SX.sym("p", 1)
        given, k = SX.sym("w", n.width + n.nx), SX.sym("k")
        by, source, e = given[: n.width], given[n.width :], SX.zeros(len(n.chosen))
        back, s = x[own:], SX.sym("s", n.nx)
        taken = ca.vertcat(s, *extra)
        at_stages = ca.jtimes(n.step_tangent(s, e, by, p[0], extra), taken, back, True)
        middle = at_stages[: n.nx] + source
        at_updates = ca.jtimes(n.update_tangent(s, e, by, extra), taken, middle, True)
        marks = at_stages[n.nx :] + at_updates[n.nx :]
        out = ca.substitute(ca.vertcat(marks, at_updates[: n.nx]), taken, SX.zeros(taken.numel()))
        return recurrence([(x, p, given, k)], [out], own + n.nx)

    def pull(self, k: int, chosen: tuple[int, ...]) -> kernel.Kernel:
        """Return the native code of `StepNode.pull` of the node k."""
        if (k, chosen) not in self._pulls:
            self._pulls[k, chosen] = compile_columns(self.nodes.nodes[k].pull(chosen))
        return self._pulls[k, chosen]


def recurrence(symbols: list[tuple[SX, SX, SX, SX]], maps: list[SX], logged: int) -> kernel.Recurrence:
    """Return maps on symbols (x, p, w, k) as a native recurrence."""
    names = ["x", "p", "w", "k"]
    built = [
        ca.Function("map", list(s), ca.cse([ca.densify(m)]), names, ["x_next"]) for s, m in zip(symbols, maps)
    ]
    key = hashlib.sha256("".join(f.serialize() for f in built).encode()).hexdigest()
    return kernel.recurrence(key, lambda: built, logged)


def as_native(runner: Runner) -> NativeEngine:
    """Return the engine of a run; refuse by name what has no derivative here."""
    if runner.outside is not None:
        raise UnsupportedOperation(
            f"gradient: the Python controller '{runner.outside.name}' has no derivative; expected a component or a casadi.Function"
        )
    events = runner.setup.settings.events
    if events:
        raise UnsupportedOperation(
            f"gradient: the event '{events[0].name}' changes the run at a time that moves with the parameters; expected a run without "
            "events. Compliant contacts and stops (GroundContact, JointStop) have derivatives"
        )
    engine = runner.engine
    if not isinstance(engine, NativeEngine) or engine.past:
        reason = (
            "looks back over steps"
            if isinstance(engine, NativeEngine)
            else "chooses or solves its steps as it goes"
        )
        raise UnsupportedOperation(
            f"gradient: method '{runner.method}' {reason}; expected explicit steps of fixed length, such as rk4"
        )
    return engine
