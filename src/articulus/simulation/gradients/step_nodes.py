"""The nonlinear functions that a step is made of, each with its derivatives as native code.

A step of the run is x = (c, d) -> maps of sampled components -> (c, d) -> the method -> x. All that is not linear in it are calls of a few
functions of (c, d, p, w, t, h): maps of components, rates at the stages of the method, the return onto the constraints. Each call is a
node; between the nodes a step is sums and products with numbers, so that the tangent of the step is the step with every node in place of

    y' = F_c c' + F_d d' + F_p p'.

The derivatives of all nodes of all steps are known once the run is: they are evaluated side by side in the lanes of the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.simulation.gradients.rate_derivative import has_short_rate, rate_derivative, rate_pull
from articulus.simulation.integrate.base import Method
from articulus.simulation.loop.functions import ARGUMENTS, System
from articulus.simulation.running.native_engine import INSIDE, NativeEngine


@dataclass(frozen=True, eq=False)
class StepNode:
    """A function of (c, d, p, w, t, h) with its derivatives by the states that a tangent has, the held values and chosen parameters.

    Parameters
    ----------
    function : casadi.Function
        With one output y.
    rows : array of int
        Entries of y that have a tangent.
    derivative : casadi.Function
        (c, d, p, w, t, h) -> y, entries of the derivative that are not always zero.
    pattern : casadi.Sparsity
        Pattern of the derivative, (rows, states + held values + parameters).
    system : System, optional
        Whose equations give the derivatives of its rate.
    """

    function: ca.Function
    rows: np.ndarray
    derivative: ca.Function
    pattern: ca.Sparsity
    system: System | None = None

    @classmethod
    def rate(cls, system: System, states: np.ndarray, chosen: Sequence[int]) -> StepNode:
        """Return the node of the rate of c: of trees of few joints by their equations, else as any other."""
        if not has_short_rate(system):
            return cls.of(system.rhs, states, states, chosen)
        y, by = rate_derivative(system, [*states.tolist()], list(chosen))
        whole = ca.sparsify(by)
        out = ca.cse([ca.densify(y), ca.vec(whole.nz[:])])
        made = ca.Function("derivative", system.arguments, out, list(ARGUMENTS), ["y", "by"])
        return cls(system.rhs, states, made, whole.sparsity(), system)

    @classmethod
    def of(
        cls, function: ca.Function, rows: np.ndarray, states: np.ndarray, chosen: Sequence[int]
    ) -> StepNode:
        """Return the node of a function; `states` are the entries of c that have a tangent, `chosen` those of p."""
        kind: Any = SX if function.is_a("SXFunction") else MX
        symbols = [kind.sym(name, function.numel_in(i)) for i, name in enumerate(ARGUMENTS)]
        y = function.call(symbols)[0]
        by = (
            ca.jacobian(y, symbols[0])[rows.tolist(), states.tolist()],
            ca.jacobian(y, symbols[1])[rows.tolist(), :],
            ca.jacobian(y, symbols[2])[rows.tolist(), list(chosen)],
        )
        whole = ca.sparsify(ca.horzcat(*by)) if kind is SX else ca.horzcat(*by)
        out = [ca.densify(y), ca.vec(whole.nz[:])]  # of one row they would be a row
        made = ca.Function(
            "derivative", symbols, ca.cse(out) if kind is SX else out, list(ARGUMENTS), ["y", "by"]
        )
        return cls(function, rows, made, whole.sparsity())

    @property
    def entries(self) -> int:
        """Number of entries of the derivative that are not always zero."""
        return self.pattern.nnz()

    def pull(self, chosen: Sequence[int]) -> ca.Function:
        """Return (c, d, p, w, t, h, mu) -> mu' F_p for the chosen parameters."""
        if self.system is not None:
            mu = SX.sym("mu", len(self.rows))
            made = ca.cse([ca.densify(rate_pull(self.system, self.rows.tolist(), list(chosen), mu))])
            return ca.Function("pull", [*self.system.arguments, mu], made, [*ARGUMENTS, "mu"], ["by_p"])
        kind: Any = SX if self.function.is_a("SXFunction") else MX
        symbols = [kind.sym(name, self.function.numel_in(i)) for i, name in enumerate(ARGUMENTS)]
        mu = kind.sym("mu", len(self.rows))
        y = self.function.call(symbols)[0][self.rows.tolist()]
        found = ca.densify(ca.jtimes(y, symbols[2], mu, True))[list(chosen)]
        out = ca.cse([found]) if kind is SX else [found]
        return ca.Function("pull", [*symbols, mu], out, [*ARGUMENTS, "mu"], ["by_p"])


class StepNodes:
    """One step of a run as calls of nodes.

    Parameters
    ----------
    engine : NativeEngine
        Whose steps they are.
    chosen : tuple of int
        Entries of p by which derivatives are wanted.
    work : bool
        Whether the integrals of power have tangents, which nothing but their own figures depends on.

    Attributes
    ----------
    states : array of int
        Entries of c that have a tangent.
    updates, stages : list of StepNode
        Maps of sampled components; the nodes of the method and the return onto the constraints, in the order in which they are called.
    """

    def __init__(self, engine: NativeEngine, chosen: Sequence[int], work: bool):
        self.engine, self.chosen, self.system = engine, tuple(chosen), engine.system
        system: System = engine.system
        out = [at for name, at in system.places.items() if name.startswith(("work.", "projected"))]
        kept = np.ones(system.nc, dtype=bool)
        for at in out:
            kept[at] = work
        self.states = np.flatnonzero(kept)
        everything = np.arange(system.nd)
        self.updates = [StepNode.of(u.function, everything, self.states, chosen) for u in system.updates]
        if isinstance(engine.method, Method):
            rate = StepNode.rate(system, self.states, chosen)
            self.stages = [rate] * _calls(engine.method)
            if system.correction is not None:
                self.stages.append(StepNode.of(system.correction, self.states, self.states, chosen))
        else:
            self.stages = [StepNode.of(engine.single_step(), self.states, self.states, chosen)]

    @property
    def nodes(self) -> list[StepNode]:
        """All nodes of a step in the order in which they are called."""
        return [*self.updates, *self.stages]

    def linearization(self, points: bool) -> ca.Function:
        """Return (c, d, p, w, t, h, fires) -> derivatives of all nodes; with `points` also (c, d, t) of every node.

        d is that before the maps of sampled components, of which `fires` says which work at t, 1 or 0.
        """
        system = self.system
        symbols = [MX.sym(name, size) for name, size in zip(ARGUMENTS, system.sizes)]
        c, d, p, w, t, h = symbols
        fires, found, seen = MX.sym("fires", len(self.updates)), [], []

        def call(node: StepNode, c: MX, d: MX, t: MX) -> MX:
            y, by = node.derivative.call([c, d, p, w, t, h])
            found.append(by)
            seen.extend([c, d, t])
            return y

        for k, node in enumerate(self.updates):
            renewed = call(node, c, d, t)
            found[-1] = ca.if_else(fires[k], found[-1], 0)
            d = ca.if_else(fires[k], renewed, d)
        self._advance(lambda node, c, at: call(node, c, d, at), c, t, h)
        out = [ca.vertcat(fires, *found), *([ca.vertcat(*map(ca.densify, seen))] if points else [])]
        return ca.Function(
            "linearization", [*symbols, fires], out, [*ARGUMENTS, "fires"], ["by", "points"][: len(out)]
        )

    def _advance(self, call: Callable[[StepNode, Any, Any], Any], c: Any, t: Any, h: Any) -> Any:
        """Return c after the step; `call` gives the value of a node at (c, t)."""
        method, ahead = self.engine.method, list(self.stages)
        if not isinstance(method, Method):
            return call(ahead[0], c, t)

        def rate(at: Any, state: Any) -> Any:
            if self.system.jumps:  # as the step itself does
                at = ca.fmin(ca.fmax(at, t + INSIDE * h), t + (1 - INSIDE) * h)
            return call(ahead.pop(0), state, at)

        c, _ = method.advance(rate, t, c, (), h)
        return call(ahead[0], c, t + h) if ahead else c

    # linear maps of tangents

    @property
    def width(self) -> int:
        """Numbers that the linear maps take at every step: which maps work, derivatives of all nodes."""
        return len(self.updates) + sum(node.entries for node in self.nodes)

    def update_tangent(self, s: SX, e: SX, by: SX, extra: list[SX]) -> SX:
        """Return (c', d') after the maps of sampled components; `extra` is added to what each of these gives."""
        c, d = self._split(s)
        matrices = self._matrices(by)
        for k, pushed in enumerate(extra[: len(self.updates)]):
            fires = by[k]
            renewed = ca.mtimes(matrices[k], ca.vertcat(c, d, e)) + fires * pushed
            d = renewed + (1 - fires) * d
        return ca.vertcat(c, d)

    def step_tangent(self, s: SX, e: SX, by: SX, h: SX, extra: list[SX]) -> SX:
        """Return (c', d') after the step of the method; `extra` is added to what each node gives."""
        c, d = self._split(s)
        first = len(self.updates)
        given = list(zip(self._matrices(by)[first:], extra[first:]))

        def call(node: StepNode, state: SX, at: Any) -> SX:
            matrix, pushed = given.pop(0)
            return ca.mtimes(matrix, ca.vertcat(state, d, e)) + pushed

        return ca.vertcat(self._advance(call, c, SX(0), h), d)

    def _split(self, s: SX) -> tuple[SX, SX]:
        return s[: len(self.states)], s[len(self.states) :]

    def _matrices(self, by: SX) -> list[SX]:
        """Return the derivatives of the nodes from their entries."""
        at, out = len(self.updates), []
        for node in self.nodes:
            out.append(SX(node.pattern, by[at : at + node.entries]))
            at += node.entries
        return out

    @property
    def nx(self) -> int:
        """Length of a tangent (c', d')."""
        return len(self.states) + self.system.nd

    def extras(self) -> list[SX]:
        """Return a symbol for what is added to each node."""
        return [SX.sym(f"r{k}", len(node.rows)) for k, node in enumerate(self.nodes)]


def _calls(method: Method) -> int:
    """Return how often a method asks for the rate in a step."""
    asked = [0]

    def rate(at: Any, state: Any) -> Any:
        asked[0] += 1
        return state

    method.advance(rate, SX.sym("t"), SX.sym("x"), (), SX.sym("h"))
    return asked[0]


def compile_columns(function: ca.Function) -> kernel.Kernel:
    """Return a function of (c, d, p, w, t, h, ...) as native code, columns of any length; t and h are numbers."""
    inputs = tuple(0 if function.name_in(i) in ("t", "h") else 1 for i in range(function.n_in()))
    return kernel.compile(function, finite=False, ranks=(inputs, (1,) * function.n_out()))
