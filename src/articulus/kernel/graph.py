"""From a CasADi function to steps: straight-line bodies and matrix products over numbered values.

Each value of an MX graph is an array with the number of each of its nonzeros, column by column. Transposing, reshaping,
stacking, splitting and picking elements therefore only rearrange numbers and emit nothing. An MX node that is neither such a
rearrangement, nor a call, nor a dense product is expanded to SX by itself.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from ..errors import UnsupportedOperation
from .instructions import Instructions, instructions
from .layers import Inner, Layers, has_calls, layers
from .ops import operation_name

CONDITIONAL = "when_"
"""Begins the name of a function whose outputs are all zero where its first input is: native code then passes it over."""
LOOKUP = "lookup_"
"""Begins the name, followed by the number of rows, of a function that reads a row of a table of constants (see `lookup`), and is in
the names of its derivatives, which CasADi makes."""
ELEMENTWISE = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_NEG)
LOOP_SIZE = 1000  # multiply-adds from which a product is a loop and not straight-line code


@dataclass(frozen=True)
class StraightCode:
    """Straight-line code with the numbers of its input and output nonzeros."""

    code: Instructions
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]

    @property
    def operations(self) -> int:
        """Rows that compute something."""
        return self.code.arithmetic_count

    @property
    def flops(self) -> int:
        """Floating-point operations."""
        return self.code.flops

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return self.inputs

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return self.outputs


@dataclass(frozen=True)
class MatrixProduct:
    """`result = start + sign * left @ right`; every operand is a matrix of numbers."""

    left: np.ndarray
    right: np.ndarray
    start: np.ndarray | None
    result: np.ndarray
    sign: int = 1

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return [x for x in (self.left, self.right, self.start) if x is not None]

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return [self.result]

    @property
    def operations(self) -> int:
        """Multiply-adds."""
        return self.left.shape[0] * self.left.shape[1] * self.right.shape[1]

    @property
    def flops(self) -> int:
        """Two per multiply-add."""
        return 2 * self.operations


@dataclass(frozen=True)
class Elementwise:
    """`result = op(*operands)` element by element: a sum, a difference, a product or a negation.

    An operand of a single number serves all elements.
    """

    op: int
    operands: list[np.ndarray]
    result: np.ndarray

    operations = flops = property(lambda self: len(self.result))

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return self.operands

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return [self.result]


@dataclass(frozen=True)
class Procedure:
    """Straight-line code that several calls share; it finds its operands through pointers."""

    code: Instructions
    inputs: list[int]
    outputs: list[int]
    """Nonzeros of each input and output."""
    constant: set[int] = field(default_factory=set)
    """Inputs that are constants in every call."""
    conditional: bool = False
    """Whether it is passed over where its first input, a single number, is zero in all lanes; its outputs are zero then."""


@dataclass(frozen=True)
class Call:
    """A call of a procedure; every operand is a contiguous run of numbers, inputs may be constants."""

    procedure: Procedure
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]

    @property
    def operations(self) -> int:
        """Rows that compute something."""
        return self.procedure.code.arithmetic_count

    @property
    def flops(self) -> int:
        """Floating-point operations."""
        return self.procedure.code.flops

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return self.inputs

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return self.outputs


@dataclass(frozen=True)
class Routine:
    """A whole program that several steps run, each time on the same slots of its own.

    Parameters
    ----------
    program : Program
    inputs, outputs : list of array
        Slot of each nonzero of each input and output.
    """

    program: Any
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


@dataclass(frozen=True)
class RoutineCall:
    """A run of a routine: the inputs are copied to its slots, the outputs from there."""

    routine: Routine
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]

    @property
    def operations(self) -> int:
        """Rows that compute something."""
        return self.routine.program.signature.instruction_count

    @property
    def flops(self) -> int:
        """Floating-point operations."""
        return self.routine.program.signature.flops

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return self.inputs

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return self.outputs


@dataclass(frozen=True)
class Selection:
    """Slices of one column, one for each call of a sweep."""

    column: int
    """Number of the input or output of the sweep."""
    size: int
    starts: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """What a sweep does (see `sweep`)."""

    guard: ca.Function
    body: ca.Function
    reads: tuple[Selection, ...]
    adds: tuple[Selection, ...]


@dataclass(frozen=True)
class SelectionLoop:
    """A function called on many selections of its operands, by a loop; every operand is a contiguous run of numbers."""

    rule: Rule
    guard: Procedure
    body: Procedure
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]

    @property
    def calls(self) -> int:
        """How often the guard is asked."""
        return len(self.rule.reads[0].starts)

    @property
    def operations(self) -> int:
        """Rows that compute something, where few calls get past their guard."""
        return self.calls * self.guard.code.arithmetic_count + self.body.code.arithmetic_count

    @property
    def flops(self) -> int:
        """Floating-point operations, likewise."""
        return self.calls * self.guard.code.flops + self.body.code.flops

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return self.inputs

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return self.outputs


@dataclass(frozen=True)
class Lookup:
    """A row of a table of constants, by its number."""

    name: str
    table: np.ndarray
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]

    operations = property(lambda self: self.table.shape[1])
    flops = 0

    def reads(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step reads."""
        return self.inputs

    def writes(self) -> Iterable[np.ndarray]:
        """Return the numbers that the step writes."""
        return self.outputs


_rules: OrderedDict[str, tuple[ca.Function, Rule]] = OrderedDict()
MOST_RULES = 256
"""Sweeps that are known by name; one that is forgotten is compiled call by call."""


def remember(function: ca.Function, rule: Rule) -> ca.Function:
    """Make a function known as a sweep; return it, or the one that already has its name."""
    known = _rules.setdefault(function.name(), (function, rule))
    _rules.move_to_end(function.name())
    while len(_rules) > MOST_RULES:
        _rules.popitem(last=False)
    return known[0]


Step = StraightCode | MatrixProduct | Elementwise | Call | RoutineCall | SelectionLoop | Lookup


@dataclass
class Graph:
    """Steps in order, over values numbered from 0; the program's inputs come first."""

    count: int
    steps: list[Step] = field(default_factory=list)
    constants: dict[int, float] = field(default_factory=dict)
    _known: dict[tuple, np.ndarray] = field(default_factory=dict)

    def fresh(self, size: int) -> np.ndarray:
        """Return new numbers."""
        self.count += size
        return np.arange(self.count - size, self.count)

    def constant(self, values: list[float]) -> np.ndarray:
        """Return numbers that identify constants; equal constants have the same numbers."""
        key = tuple(map(float.hex, map(float, values)))
        if key not in self._known:
            self._known[key] = self.fresh(len(values))
            self.constants.update(zip(self._known[key].tolist(), values))
        return self._known[key]


def copying(source: np.ndarray, target: np.ndarray) -> StraightCode:
    """Return a body that copies values."""
    n = len(source)
    code = Instructions([ca.OP_INPUT] * n, [0] * n, list(range(n)), {}, [np.arange(n)])
    return StraightCode(code, [source.ravel()], [target.ravel()])


def zeroing(target: np.ndarray) -> StraightCode:
    """Return a body that writes zeros."""
    code = Instructions([ca.OP_CONST], [-1], [-1], {0: 0.0}, [np.zeros(len(target), dtype=int)])
    return StraightCode(code, [], [target])


def expanded(function: ca.Function) -> ca.Function:
    """Return the function as SX where straight-line code is the better form, else unchanged.

    Products from `LOOP_SIZE` multiply-adds and functions called repeatedly keep their MX graph.
    """
    if function.is_a("SXFunction"):
        return function
    if function.is_a("MXFunction") and _keeps_graph(function):
        return function
    try:
        return function.expand()
    except RuntimeError as reason:
        if function.is_a("MXFunction"):
            return function
        raise UnsupportedOperation(
            f"{function.name()} ({function.class_name()}) cannot be expanded"
        ) from reason


def simplified(function: ca.Function) -> ca.Function:
    """Return an SX function with common subexpressions computed once."""
    if function.has_free():
        return function  # refused later, by name
    symbols = function.sx_in()
    outputs = ca.cse(function.call(symbols))
    return ca.Function(function.name(), symbols, outputs, function.name_in(), function.name_out())


def _keeps_graph(function: ca.Function) -> bool:
    largest, calls = _survey(function)
    return largest >= LOOP_SIZE or any(times > 1 and called.is_a("SXFunction") for called, times in calls)


def _survey(function: ca.Function) -> tuple[int, list[tuple[ca.Function, int]]]:
    """Return the multiply-adds of the largest product of an MX function and how often it calls each function.

    What the MX functions that it calls contain counts each time that they are called.
    """
    largest, called, times = 0, dict[int, ca.Function](), Counter[int]()
    for i in range(function.n_instructions()):
        kind = function.instruction_id(i)
        if kind == ca.OP_MTIMES:
            largest = max(largest, _multiply_adds(function.instruction_MX(i)))
        elif kind == ca.OP_CALL:
            found = function.instruction_MX(i).which_function()
            called[found.__hash__()] = found
            times[found.__hash__()] += 1
    for inner, n in [(f, times[k]) for k, f in called.items() if f.is_a("MXFunction")]:
        most, calls = _survey(inner)
        largest = max(largest, most)
        for each, again in calls:
            called[each.__hash__()] = each
            times[each.__hash__()] += n * again
    return largest, [(called[key], n) for key, n in times.items()]


def _multiply_adds(node: ca.MX) -> int:
    if node.op() != ca.OP_MTIMES or not all(node.dep(k).is_dense() for k in range(3)):
        return 0
    return node.dep(1).size1() * node.dep(1).size2() * node.dep(2).size2()


class Tracer:
    """Walks a function and appends its steps to a graph.

    Parameters
    ----------
    function : casadi.Function
    graph : Graph
    routine : callable
        Makes a routine of an MX function.
    """

    def __init__(self, function: ca.Function, graph: Graph, routine: Callable[[ca.Function], Routine]):
        self.graph, self._routine = graph, routine
        calls = _survey(function)[1] if function.is_a("MXFunction") else []
        self.once = {called.__hash__() for called, times in calls if times == 1}
        self.procedures: dict[int, Procedure] = {}
        self.routines: dict[int, Routine] = {}

    def trace(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Append the steps of one call; return the numbers of its outputs' nonzeros."""
        if LOOKUP in function.name():
            return self._lookup(function, arguments)
        if function.is_a("SXFunction"):
            return self._straight_line(function, arguments)
        if function.is_a("MXFunction"):
            return self._walk(function, arguments)
        return self.trace(expanded(function), arguments)

    def _straight_line(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        if has_calls(function):
            return self._trace_layers(simplified(function), arguments)
        outputs = [self.graph.fresh(function.nnz_out(k)) for k in range(function.n_out())]
        self.graph.steps.append(StraightCode(instructions(simplified(function)), list(arguments), outputs))
        return outputs

    def _call(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        procedure = self._procedure(function)
        outputs = [self.graph.fresh(size) for size in procedure.outputs]
        self.graph.steps.append(Call(procedure, [self._contiguous(a) for a in arguments], outputs))
        return outputs

    def _procedure(self, function: ca.Function) -> Procedure:
        """Return the code of a function that several calls share."""
        key = function.__hash__()
        if key not in self.procedures:
            sizes = [function.nnz_in(k) for k in range(function.n_in())]
            results = [function.nnz_out(k) for k in range(function.n_out())]
            code = instructions(simplified(function))
            self.procedures[key] = Procedure(
                code, sizes, results, conditional=function.name().startswith(CONDITIONAL)
            )
        return self.procedures[key]

    def _trace_layers(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Append the steps of SX code with calls, layer by layer."""
        found = layers(function)
        numbers: dict[int, int] = {}
        groups: dict[tuple[int, ...], np.ndarray] = {}
        for layer, wanted in enumerate(found.needed()):
            for inner in found.calls.get(layer, ()):
                operands = [self._operand(found, rows, numbers, groups, arguments) for rows in inner.inputs]
                for rows, made in zip(inner.outputs, self._inner(inner, operands)):
                    numbers.update(zip(rows, made.tolist()))
            if any(wanted):
                code, imported = found.body(layer, wanted, numbers, len(arguments))
                outputs = [self.graph.fresh(len(rows)) for rows in wanted]
                read = np.array([numbers[r] for r in imported], dtype=int)
                self.graph.steps.append(StraightCode(code, [*arguments, read], outputs))
                groups.update(zip(wanted[:-1], outputs))
                numbers.update(zip(wanted[-1], outputs[-1].tolist()))
        return [
            self._operand(found, tuple(out.tolist()), numbers, groups, arguments) for out in found.outputs
        ]

    def _inner(self, inner: Inner, operands: list[np.ndarray]) -> list[np.ndarray]:
        called = inner.function
        if LOOKUP in called.name():
            return self._lookup(called, operands)
        if called.name() in _rules:
            return self._sweep(_rules[called.name()][1], called, operands)
        return self._run(called, operands) if has_calls(called) else self._call(called, operands)

    def _operand(
        self,
        found: Layers,
        rows: tuple[int, ...],
        numbers: dict[int, int],
        groups: dict[tuple[int, ...], np.ndarray],
        arguments: Sequence[np.ndarray],
    ) -> np.ndarray:
        """Return the numbers of rows that are read together."""
        if rows in groups:
            return groups[rows]
        if rows and all(found.op[r] == ca.OP_CONST for r in rows):
            return self.graph.constant([found.constant[r] for r in rows])
        out = []
        for r in rows:
            if found.op[r] == ca.OP_CONST:
                out.append(int(self.graph.constant([found.constant[r]])[0]))
            elif found.op[r] == ca.OP_INPUT:
                out.append(int(arguments[found.first[r]][found.second[r]]))
            else:
                out.append(numbers[r])
        return np.array(out, dtype=int)

    def _run(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        key = function.__hash__()
        if key not in self.routines:
            self.routines[key] = self._routine(function)
        routine = self.routines[key]
        outputs = [self.graph.fresh(len(slots)) for slots in routine.outputs]
        self.graph.steps.append(RoutineCall(routine, list(arguments), outputs))
        return outputs

    def _sweep(self, rule: Rule, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Append a sweep."""
        guard, body = (self._procedure(each) for each in (rule.guard, rule.body))
        outputs = [self.graph.fresh(function.nnz_out(k)) for k in range(function.n_out())]
        inputs = [self._contiguous(a) for a in arguments]
        self.graph.steps.append(SelectionLoop(rule, guard, body, inputs, outputs))
        return outputs

    def _lookup(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Append the reading of a row; the table is what the function gives for every number. Its derivatives are zero."""
        if not function.name().startswith(LOOKUP):  # such as fwd1_lookup_...
            return [self.graph.constant([0.0] * function.nnz_out(k)) for k in range(function.n_out())]
        rows = int(function.name().removeprefix(LOOKUP).split("_")[0])
        table = _table(function, rows)
        outputs = [self.graph.fresh(table.shape[1])]
        self.graph.steps.append(Lookup(function.name(), table, list(arguments), outputs))
        return outputs

    def _contiguous(self, numbers: np.ndarray) -> np.ndarray:
        if len(numbers) < 2 or np.array_equal(numbers, numbers[0] + np.arange(len(numbers))):
            return numbers
        fresh = self.graph.fresh(len(numbers))
        self.graph.steps.append(copying(numbers, fresh))
        return fresh

    def _walk(self, function: ca.Function, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        held: dict[int, np.ndarray] = {}
        outputs: list[list[np.ndarray]] = [[] for _ in range(function.n_out())]
        for i in range(function.n_instructions()):
            sources, targets = function.instruction_input(i), function.instruction_output(i)
            kind = function.instruction_id(i)
            if kind == ca.OP_OUTPUT:
                outputs[targets[0]].append(held[sources[0]])  # segments of one output come in order
                continue
            node = function.instruction_MX(i)
            if kind == ca.OP_INPUT:
                place = node.info()
                results = [arguments[place["ind"]][place["offset"] : place["offset"] + node.nnz()]]
            else:
                results = self._node(node, [held[k] for k in sources])
            held.update((k, r) for k, r in zip(targets, results) if k >= 0)
        return [np.concatenate(parts) if parts else np.zeros(0, dtype=int) for parts in outputs]

    def _node(self, node: ca.MX, operands: list[np.ndarray]) -> list[np.ndarray]:
        rearranged = _rearrange(node, operands)
        if rearranged is not None:
            return rearranged
        if node.is_call() and node.which_function().is_a("SXFunction"):
            called = node.which_function()
            constant = any(n in self.graph.constants for x in operands for n in x[:1].tolist())
            written_out = called.__hash__() in self.once and not constant
            if has_calls(called):
                return self._straight_line(called, operands) if written_out else self._run(called, operands)
            return self._straight_line(called, operands) if written_out else self._call(called, operands)
        if node.is_call():
            called = node.which_function()
            again = called.is_a("MXFunction") and called.__hash__() not in self.once and _keeps_graph(called)
            return self._run(called, operands) if again else self.trace(called, operands)
        if node.is_constant():
            return [self.graph.constant(node.to_DM().nonzeros())]
        if _multiply_adds(node):
            return [self._product(node, operands)]
        if node.op() in ELEMENTWISE and _same(node):
            result = self.graph.fresh(node.nnz())
            self.graph.steps.append(Elementwise(node.op(), operands, result))
            return [result]
        if node.op() == ca.OP_ADDNONZEROS:
            return self.trace(_add_at(node), operands)
        if node.op() == ca.OP_DOT:  # which CasADi cannot take out of its graph
            return self.trace(_dotted(node), operands)
        return self.trace(_node_function(node), operands)

    def _product(self, node: ca.MX, operands: list[np.ndarray]) -> np.ndarray:
        start, left, right = (_matrix(x, node.dep(k)) for k, x in enumerate(operands))
        result = self.graph.fresh(node.nnz())
        first = None if node.dep(0).is_zero() else start
        self.graph.steps.append(MatrixProduct(left, right, first, _matrix(result, node)))
        return result


def _same(node: ca.MX) -> bool:
    """Tell whether the operands of a node have its own sparsity pattern; one of them may be a number."""
    same = [node.dep(k).sparsity() == node.sparsity() for k in range(node.n_dep())]
    return any(same) and all(
        found or node.dep(k).nnz() == 1 == node.dep(k).numel() for k, found in enumerate(same)
    )


def _matrix(numbers: np.ndarray, node: ca.MX) -> np.ndarray:
    return numbers.reshape(node.shape, order="F")


def _rearrange(node: ca.MX, operands: list[np.ndarray]) -> list[np.ndarray] | None:
    """Return the results of a node that only rearranges its operands' nonzeros, else None."""
    kind = node.op()
    if kind in (ca.OP_RESHAPE, ca.OP_HORZCAT, ca.OP_DIAGCAT) or (kind == ca.OP_VERTCAT and node.is_column()):
        return [np.concatenate(operands)]
    if kind == ca.OP_VERTCAT and node.is_dense():
        return [np.vstack([_matrix(x, node.dep(k)) for k, x in enumerate(operands)]).ravel(order="F")]
    if kind in (ca.OP_HORZSPLIT, ca.OP_VERTSPLIT) and (kind == ca.OP_HORZSPLIT or node.dep(0).is_column()):
        offsets = node.info()["offset"]
        return [operands[0][a:b] for a, b in pairwise(offsets)]
    if kind == ca.OP_TRANSPOSE:
        order = ca.DM(node.dep(0).sparsity(), list(range(1, node.dep(0).nnz() + 1))).T
        return [operands[0][np.array(order.nonzeros(), dtype=int) - 1]]
    if kind == ca.OP_SETNONZEROS:
        chosen = _chosen(node.info())
        whole = operands[0].copy()
        whole[chosen[chosen >= 0]] = operands[1][chosen >= 0]
        return [whole]
    if kind == ca.OP_GETNONZEROS:
        chosen = _chosen(node.info())
        return [operands[0][chosen]] if chosen.size and chosen.min() >= 0 else None
    return None


def _chosen(places: dict) -> np.ndarray:
    """Return the places of one slice, of a slice of slices or of a list; -1 for an element that is nowhere."""
    if "slice" in places:
        return _places(places["slice"])
    if "outer" in places:
        return np.add.outer(_places(places["outer"]), _places(places["inner"])).ravel()
    return np.array(places.get("nz", [-1]), dtype=int)


def _places(part: dict) -> np.ndarray:
    return np.arange(part["start"], part["stop"], part["step"])


def _add_at(node: ca.MX) -> ca.Function:
    """Return the SX function that adds elements to others at chosen places, where one place may come several times."""
    x, y = (ca.SX.sym("x", node.dep(k).nnz()) for k in range(2))
    sums = ca.vertsplit(x)
    for k, place in enumerate(_chosen(node.info()).tolist()):
        if place >= 0:
            sums[place] += y[k]
    return ca.Function("added", [x, y], [ca.vertcat(*sums)])


def _dotted(node: ca.MX) -> ca.Function:
    """Return the SX function that multiplies two arrays element by element and adds up."""
    x, y = (ca.SX.sym("x", node.dep(k).sparsity()) for k in range(2))
    return ca.Function("dotted", [x, y], [ca.dot(x, y)])


def _node_function(node: ca.MX) -> ca.Function:
    """Return the SX function of a single node."""
    symbols = [ca.MX.sym(f"x{k}", node.dep(k).sparsity()) for k in range(node.n_dep())]
    try:
        value = ca.graph_substitute([node], [node.dep(k) for k in range(node.n_dep())], symbols)
        return ca.Function("node", symbols, value).expand()
    except RuntimeError as reason:
        raise UnsupportedOperation(
            f"MX operation {operation_name(node.op())} ({node}) cannot be compiled"
        ) from reason


def _table(function: ca.Function, rows: int) -> np.ndarray:
    """Return the table of a function that reads its rows: the constant in it, which to read row by row would take rows squared."""
    size = rows * function.nnz_out(0)
    for i in range(function.n_instructions()):
        if function.instruction_id(i) == ca.OP_CONST and rows > 1:
            node = function.instruction_MX(i)
            if node.nnz() == size:
                return np.array(node.to_DM().nonzeros()).reshape(rows, -1)
    return np.array(function(np.arange(rows)[None, :])).T
