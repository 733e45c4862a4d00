"""Fixed steps in native code: one step of a method on symbols, repeated by a kernel's time loop.

A row of the loop's state is (c, d, earlier slopes); its parameters are (t0, h, p). The time of step k is t0 + k h, not a
sum of steps.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
from casadi import MX

from articulus import kernel
from articulus.simulation.integrate import Momentum, SecondOrderMethod, SecondOrderProblem
from articulus.simulation.integrate.base import Method
from articulus.simulation.loop.displacement import displacement
from articulus.simulation.loop.floating import floating_joints, momentum_functions
from articulus.simulation.loop.functions import ARGUMENTS, System
from articulus.simulation.loop.steps import whole_steps
from articulus.simulation.results.status import Occurrence

INSIDE = 1e-8
"""Part of a step by which the ends are avoided when inputs may jump there; more than rounding of times can be."""


class NativeEngine:
    """A system that goes forward in fixed steps of one method.

    Parameters
    ----------
    system : System
    method : Method or SecondOrderMethod
        With `advance` on symbols.
    h : float [s]
    """

    def __init__(self, system: System, method: Method | SecondOrderMethod, h: float):
        self.system, self.method, self.h = system, method, h
        self.past = getattr(method, "past", 0)
        self.evaluations, self.cost = 0, method.evaluations
        self.events: list[Occurrence] = []
        self.rejected = 0
        self.nx = system.nc * (1 + self.past) + system.nd
        self.periods = [
            whole_steps(f"component '{name}', period", period, h)
            for name, period in system.sampled_components
        ]
        self.jumps = list(self.periods)

    def prepare(self, rows: int) -> None:
        """Build the native code for that many rows."""
        self.loop.load(rows)
        if self.past:
            self.starter.load(rows)

    def rows(self, c: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the states of the loop, (rows, nx), for a start without history."""
        x = np.zeros((len(c), self.nx))
        x[:, : self.system.nc], x[:, self.system.nc : self.system.nc + self.system.nd] = c, d
        return x

    def parameters(self, t0: float, p: np.ndarray) -> np.ndarray:
        """Return the parameters of the loop, (rows, 2 + np) or (2 + np,)."""
        first = np.broadcast_to([t0, self.h], (*p.shape[:-1], 2))
        return np.ascontiguousarray(np.concatenate([first, p], axis=-1))

    def cause(self, row: int) -> None:
        """Return nothing: native code knows that a row failed, not why."""

    def rejected_share(self, row: int) -> float:
        """Return 0: steps of fixed length are not rejected."""
        return 0.0

    @property
    def logged(self) -> int:
        """Number of leading elements of a row that a sample holds: c and d."""
        return self.system.nc + self.system.nd

    # native code

    @functools.cached_property
    def loop(self) -> kernel.Recurrence:
        """The time loop of the method."""
        return self._recurrence(self.method)

    @functools.cached_property
    def starter(self) -> kernel.Recurrence:
        """The time loop of the first steps of a method that looks back: its starter, which leaves slopes behind."""
        return self._recurrence(getattr(self.method, "starter", self.method))

    def _recurrence(self, method: Method | SecondOrderMethod) -> kernel.Recurrence:
        made = self.system.recurrences
        which = (method.name, self.past)
        if which not in made:
            made[which] = self._build_loop(method)
        return made[which]

    def _build_loop(self, method: Method | SecondOrderMethod) -> kernel.Recurrence:
        """Return the time loop; nothing is derived when the equations have a text and the cache holds the code."""

        def maps() -> list[ca.Function]:
            return [*self._update_maps(), self.step_map(method)]

        if self.system.identity is not None and type(method).__module__.startswith("articulus."):
            text = f"{type(method).__qualname__} {sorted(vars(method).items())!r} {self.past}"
            return kernel.recurrence(f"{text} {self.system.identity}", maps, self.logged)
        found = maps()
        key = hashlib.sha256("".join(m.serialize() for m in found).encode()).hexdigest()
        return kernel.recurrence(key, lambda: found, self.logged)

    def _symbols(self) -> tuple[MX, MX, MX, MX]:
        s = self.system
        return MX.sym("x", self.nx), MX.sym("p", 2 + s.np), MX.sym("w", s.nw), MX.sym("k")

    def _split(self, x: MX) -> tuple[MX, MX, tuple[MX, ...]]:
        """Return c, d and the earlier slopes."""
        nc, nd = self.system.nc, self.system.nd
        first = nc + nd
        slopes = tuple(x[first + i * nc : first + (i + 1) * nc] for i in range(self.past))
        return x[:nc], x[nc:first], slopes

    def single_step(self) -> ca.Function:
        """(c, d, p, w, t, h) -> c after one step of any length, for methods that do not look back."""
        c, d, p, w, t, h = (MX.sym(n, size) for n, size in zip(ARGUMENTS, self.system.sizes))
        x = ca.vertcat(c, d)
        after = self.step_map(self.method, self.h)(x, ca.vertcat(t, h, p), w, 0)[: self.system.nc]
        return ca.Function("step", [c, d, p, w, t, h], [after], list(ARGUMENTS), ["c_next"])

    def step_map(self, method: Method | SecondOrderMethod, held: float | None = None) -> ca.Function:
        """Return the step on symbols, (x, p, w, k) -> x; noise is held for `held` seconds, the step if not given."""
        x, p, w, k = self._symbols()
        c, d, slopes = self._split(x)
        t0, h, given = p[0], p[1], p[2:]
        rhs, t = self.system.rhs, t0 + k * h

        def rate(at: MX, state: MX) -> MX:
            if self.system.jumps:  # an input that jumps at either end of the step is seen from inside
                at = ca.fmin(ca.fmax(at, t + INSIDE * h), t + (1 - INSIDE) * h)
            return rhs(state, d, given, w, at, h if held is None else held)

        if isinstance(method, SecondOrderMethod):
            after = self._second_order(method, rate, t, c, h, given)
        elif method.past == self.past:
            after, slopes = method.advance(rate, t, c, slopes, h)
        else:  # a starting step: the slope at t joins the history
            first = rate(t, c)
            after, _ = method.advance(rate, t, c, (), h)
            slopes = (first, *slopes)[: self.past]
        if self.system.correction is not None:
            after = self.system.correction(after, d, given, w, t + h, h)
        return self._map("step", (x, p, w, k), ca.vertcat(after, d, *slopes))

    def _second_order(self, method: SecondOrderMethod, rate: Callable, t: MX, c: MX, h: MX, p: MX) -> MX:
        """Return c after a step in which q is displaced by v; states of components go along as velocities do."""
        nq, nv = self.system.description.nq, self.system.description.nv
        displaced = displacement(self.system.description)
        problem = SecondOrderProblem(
            lambda at, q, y: rate(at, ca.vertcat(q, y))[nq:],
            lambda q, dy: displaced(q, dy[:nv]),
            self._momentum(p) if method.balances_momentum else None,
        )
        q, y = method.advance(problem, t, c[:nq], c[nq:], h)
        return ca.vertcat(MX(q), MX(y))

    def _momentum(self, p: MX) -> Momentum | None:
        """Return the momentum of what floats, with v as the first of the velocities; None where nothing does."""
        d = self.system.description
        if not floating_joints(d):
            return None
        nv, model = d.nv, p[: len(d.parameters)]
        value, rate, velocity = momentum_functions(d)
        return Momentum(
            lambda q, y: value(q, y[:nv], model),
            lambda q, y, ydot: rate(q, y[:nv], ydot[:nv], model),
            lambda q, y, pi: ca.vertcat(velocity(q, y[:nv], pi, model), y[nv:]),
        )

    def _update_maps(self) -> list[ca.Function]:
        maps = []
        for update in self.system.updates:
            x, p, w, k = self._symbols()
            c, d, slopes = self._split(x)
            renewed = update.function(c, d, p[2:], w, p[0] + k * p[1], p[1])
            maps.append(self._map("update", (x, p, w, k), ca.vertcat(c, renewed, *slopes)))
        return maps

    def _map(self, name: str, symbols: Sequence[MX], out: MX) -> ca.Function:
        return ca.Function(name, list(symbols), [ca.densify(out)], ["x", "p", "w", "k"], ["x_next"])

    # going forward

    def on(
        self,
        x: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        failed: np.ndarray,
        log: np.ndarray,
        *,
        first: int,
        every: int,
    ) -> Callable[[int, int], None]:
        """Return the march over given arrays (see `Recurrence.on`).

        A multistep method restarts wherever held values jump: no polynomial goes through slopes of both sides.
        """
        go_on = self.loop.on(x, p, w, failed, log, first=first, every=every, periods=self.periods)
        if not self.past:
            return go_on
        begin = self.starter.on(x, p, w, failed, log, first=first, every=every, periods=self.periods)

        def march(start: int, stop: int) -> None:
            while start < stop:
                began = max((start - start % m for m in self.jumps), default=0)
                end = min([stop, *((start // m + 1) * m for m in self.jumps)])
                if start < began + self.past:
                    end = min(end, began + self.past)
                    begin(start, end)
                else:
                    go_on(start, end)
                start = end

        return march

    def sample(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, failed: np.ndarray, k: int) -> np.ndarray:
        """Return the sample at step k, (rows, logged), as if the run went on there; x stays as it is."""
        log = np.zeros((len(x), 1, self.logged))
        passage = self.loop.on(x.copy(), p, w, failed.copy(), log, first=k, periods=self.periods)
        passage(k, k, closing=True)
        return log[:, 0]
