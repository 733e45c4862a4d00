"""Task graphs of expressions, of mechanisms and of one step of integration, from single operations to whole bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import casadi as ca

from articulus.dynamics import quantities
from articulus.dynamics.tree import tree_of
from articulus.errors import InputError, did_you_mean
from articulus.kernel import Instructions, instructions
from articulus.kernel.graph import simplified
from articulus.parallel.counts import FREE, KINDS, Operations, operations
from articulus.parallel.graph import TaskGraph

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

Grain = Literal["operation", "near fine", "fused", "equation", "body"]
EACH = Operations(1, 1, 1, 1, 1, 1)
"""Every operation takes one unit of time."""

STAGES = {"euler": (2,), "ab2": (5,), "ab3": (7,), "ab4": (9,), "am4": (9, 9), "rk4": (3, 3, 2, 8)}
"""Operations with which each evaluation of the rates is put into one state: of the Adams formulas c h (c0 f0 + c1 f1 + ...) + x."""


@dataclass(frozen=True)
class _Tasks:
    """Tasks under construction."""

    times: list[float]
    names: list[str]
    edges: set[tuple[int, int]]

    def add(self, name: str, time: float, needs: Sequence[int | None]) -> int:
        """Add a task and return its number; needs that are None are known from the start."""
        k = len(self.times)
        self.times.append(time)
        self.names.append(name)
        self.edges.update((p, k) for p in needs if p is not None)
        return k

    def graph(self) -> TaskGraph:
        """Return the finished graph."""
        return TaskGraph.of(self.times, self.edges, self.names)


def operation_graph(code: Instructions | ca.Function, costs: Operations = EACH) -> TaskGraph:
    """Return the graph in which every scalar operation is a task; changes of sign are part of what uses them.

    Parameters
    ----------
    code : Instructions or casadi.Function
    costs : Operations
        Time of each kind of operation.
    """
    tasks = _Tasks([], [], set())
    _add_rows(tasks, _instructions(code), costs, {})
    return tasks.graph()


def _instructions(code: Instructions | ca.Function) -> Instructions:
    if isinstance(code, Instructions):
        return code
    if not isinstance(code, ca.Function):
        raise InputError(f"graph of {type(code).__name__}; expected a CasADi function or an instruction list")
    return instructions(simplified(code if code.is_a("SXFunction") else code.expand()))


def _add_rows(
    tasks: _Tasks, code: Instructions, costs: Operations, inputs: dict[tuple[int, int], int | None]
) -> list[int | None]:
    """Add a task for each operation and return the task that computes each row, None where it is known from the start.

    `inputs` names the tasks that compute inputs, by number of the input and of its entry.
    """
    made: list[int | None] = []
    for row, op in enumerate(code.op):
        a, b = code.first[row], code.second[row]
        if op == ca.OP_INPUT:
            made.append(inputs.get((a, b)))
        elif op == ca.OP_CONST:
            made.append(None)
        elif op in FREE:
            made.append(made[a])
        else:
            kind = KINDS.get(op, "others")
            needs = [made[x] for x in (a, b) if x >= 0]
            made.append(tasks.add(f"{SIGNS.get(op, '?')}{row}", getattr(costs, kind), needs))
    return made


SIGNS = {
    ca.OP_MUL: "*", ca.OP_SQ: "*", ca.OP_ADD: "+", ca.OP_TWICE: "+", ca.OP_SUB: "-", ca.OP_DIV: "/", ca.OP_INV: "/",
    ca.OP_SQRT: "sqrt ", ca.OP_SIN: "sin ", ca.OP_COS: "cos ",
}  # fmt: skip


def ode_graph(
    rates: ca.Function,
    method: str = "euler",
    grain: Grain = "near fine",
    costs: Operations = EACH,
    integration: float | None = None,
) -> TaskGraph:
    """Return the tasks of one step of x' = f(x, ...): evaluations of the rates and the integration of each state.

    States at the start of the step are known, so that no edge leaves the last integrations (Kasahara, Honda & Narita 1989).

    Parameters
    ----------
    rates : casadi.Function
        First input x (n,), first output x' (n,); further inputs are known from the start.
    method : {"euler", "ab2", "ab3", "ab4", "am4", "rk4"}
        "rk4" evaluates the rates four times, "am4" (predictor and corrector) twice.
    grain : {"operation", "near fine", "fused", "equation"}
        "operation": a task for every operation, those of the integration one after another. "near fine": the integration of a
        state in one evaluation is one task. "fused": as that, with tasks put together that could not run at the same time.
        "equation": rate and integration of a state are one task, with all operations that it needs, shared or not.
    costs : Operations
        Time of each kind of operation.
    integration : float, optional
        Time of the integration of a state in one evaluation; that of its operations if not given.

    Returns
    -------
    TaskGraph
    """
    stages = STAGES.get(method)
    if stages is None:
        raise InputError(f"no method '{method}'; {did_you_mean(str(method), STAGES)}")
    n = _states(rates)
    if grain == "fused":
        return ode_graph(rates, method, "near fine", costs, integration).fuse()
    if grain == "equation":
        return _equations(rates, n, stages, costs, integration)
    if grain not in ("operation", "near fine"):
        raise InputError(f"grain '{grain}' of an equation; expected operation, near fine, fused or equation")
    code = _instructions(rates)
    tasks = _Tasks([], [], set())
    states: list[int | None] = [None] * n
    history: list[list[int | None]] = [[] for _ in range(n)]
    for stage, flops in enumerate(stages):
        finished = _add_rows(tasks, code, costs, {(0, i): s for i, s in enumerate(states)})
        last = stage == len(stages) - 1
        for i in range(n):
            needs = [finished[code.outputs[0][i]], *(history[i] if last else ())]
            time = (
                flops * (costs.additions + costs.multiplications) / 2 if integration is None else integration
            )
            pieces = flops if grain == "operation" else 1
            for _ in range(pieces):
                needs = [tasks.add(f"x{i + 1}" if last else f"x{i + 1}.{stage + 1}", time / pieces, needs)]
            states[i] = needs[0]
            history[i].append(finished[code.outputs[0][i]])
    return tasks.graph()


def _states(rates: ca.Function) -> int:
    if not isinstance(rates, ca.Function) or rates.n_in() < 1 or rates.n_out() < 1:
        raise InputError("rates: expected a CasADi function from x to x'")
    n = rates.numel_in(0)
    if rates.numel_out(0) != n or rates.nnz_out(0) != n:
        raise InputError(
            f"rates: found {rates.nnz_out(0)} rates of {n} states; expected a dense column with one for each state"
        )
    return n


def _equations(
    rates: ca.Function, n: int, stages: tuple[int, ...], costs: Operations, integration: float | None
) -> TaskGraph:
    x = rates.sx_in()
    rate = rates.call(x)[0]
    rows, columns = ca.jacobian_sparsity(rate, x[0]).get_triplet()
    tasks = _Tasks([], [], set())
    before: list[int | None] = [None] * n
    for stage, flops in enumerate(stages):
        now: list[int | None] = []
        for i in range(n):
            own = operations(ca.Function("rate", x, [rate[i]])).time(costs)
            time = (
                flops * (costs.additions + costs.multiplications) / 2 if integration is None else integration
            )
            asked = [before[j] for r, j in zip(rows, columns) if r == i] + [before[i]]
            name = f"x{i + 1}" if len(stages) == 1 else f"x{i + 1}.{stage + 1}"
            now.append(tasks.add(name, own + time, asked))
        before = now
    return tasks.graph()


def mechanism_graph(
    mechanism: Mechanism,
    quantity: str = "forward_dynamics",
    grain: Grain = "operation",
    costs: Operations = EACH,
) -> TaskGraph:
    """Return the tasks of a quantity of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
    quantity : str
        Key of `articulus.dynamics.quantities.QUANTITIES`.
    grain : {"operation", "fused", "body"}
        "body": a task for each body in each pass of the recursion, with the time of its operations.
    costs : Operations
        Time of each kind of operation.
    """
    if grain == "body":
        return _passes(mechanism, quantity, costs)
    if grain not in ("operation", "fused"):
        raise InputError(f"grain '{grain}' of a mechanism; expected operation, fused or body")
    found = operation_graph(quantities.function(mechanism.description, quantity), costs)
    return found.fuse() if grain == "fused" else found


def _passes(mechanism: Mechanism, quantity: str, costs: Operations) -> TaskGraph:
    description = mechanism.description
    row = quantities.QUANTITIES.get(quantity)
    if row is None:
        raise InputError(f"no quantity '{quantity}'; {did_you_mean(quantity, quantities.QUANTITIES)}")
    if row.rolled is None or row.frames or description.couplings:
        raise InputError(
            f"'{quantity}' of '{mechanism.name}' has no form by passes over the bodies; expected grain operation or fused"
        )
    return call_graph(
        quantities.form(tree_of(description, row.merge_fixed, row.regroup), quantity, calls=True), costs
    )


def call_graph(function: ca.Function, costs: Operations = EACH) -> TaskGraph:
    """Return the graph of an MX function in which each function that it calls is a task; what is done between calls takes no time.

    Parameters
    ----------
    function : casadi.Function
    costs : Operations
        Time of each kind of operation.
    """
    if not function.is_a("MXFunction"):
        raise InputError(f"{function.name()} calls no other functions; expected a graph of calls")
    tasks = _Tasks([], [], set())
    producers: dict[int, frozenset[int]] = {}
    time: dict[int, float] = {}
    for i in range(function.n_instructions()):
        kind = function.instruction_id(i)
        sources = (
            [producers.get(s, frozenset()) for s in function.instruction_input(i) if s >= 0]
            if kind != ca.OP_INPUT
            else []
        )
        produced = frozenset().union(*sources)
        if kind == ca.OP_CALL:
            called = function.instruction_MX(i).which_function()
            key = called.__hash__()
            if key not in time:
                time[key] = operations(called).time(costs)
            produced = frozenset(
                {tasks.add(f"{called.name()} {len(tasks.times) + 1}", time[key], sorted(produced))}
            )
        if kind == ca.OP_OUTPUT:
            continue
        for target in function.instruction_output(i):
            if target >= 0:
                producers[target] = produced
    return tasks.graph()


def step_graph(
    mechanism: Mechanism,
    method: str = "rk4",
    grain: Grain = "fused",
    costs: Operations = EACH,
) -> TaskGraph:
    """Return the tasks of one step of a mechanism: position rates, forward dynamics and the integration of all states.

    Parameters
    ----------
    mechanism : Mechanism
    method : str
        As of `ode_graph`.
    grain : {"operation", "near fine", "fused", "equation"}
    costs : Operations
        Time of each kind of operation.
    """
    return ode_graph(mechanism_rates(mechanism), method, grain, costs)


def mechanism_rates(mechanism: Mechanism) -> ca.Function:
    """Return the rates of (q, v) of a mechanism as a CasADi function of x = (q, v), tau and, where it has parameters, p.

    Parameters
    ----------
    mechanism : Mechanism
    """
    held = mechanism.description
    forward = quantities.function(held, "forward_dynamics")
    rate = quantities.function(held, "position_rate")
    x, tau = ca.SX.sym("x", held.nq + held.nv), ca.SX.sym("tau", held.nv)
    p = ca.SX.sym("p", len(held.parameters))
    q, v, more = x[: held.nq], x[held.nq :], [p] if held.parameters else []
    qdot = rate.call([q, v, *more][: rate.n_in()])[0]
    vdot = forward.call([q, v, tau, *more])[0]
    return ca.Function("rates", [x, tau, *more], [ca.densify(ca.vertcat(qdot, vdot))])
