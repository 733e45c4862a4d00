"""Equations in a small simulation language, or as a block diagram, to tasks and to a function that can be integrated.

    a = integral(b, 0.01); b = integral(c, 0.01); c = d - a
    d = g - e; e = f * g; f = a * a; g = b * 1

Each statement is one task (Kasahara, Honda & Narita 1989, fig. 2). The second argument of `integral` is the initial value.
Text is read by a parser of its own; nothing in it is executed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.parallel.graph import TaskGraph

TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/(),]))"
)
FUNCTIONS: dict[str, Callable] = {
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "exp": ca.exp, "log": ca.log, "sqrt": ca.sqrt, "abs": ca.fabs,
    "atan2": ca.atan2, "min": ca.fmin, "max": ca.fmax, "atan": ca.atan,
}  # fmt: skip
TWO = frozenset(("atan2", "min", "max"))


@dataclass(frozen=True)
class Statement:
    """One equation: what it computes, from which names, by how many operations.

    Attributes
    ----------
    name : str
    needs : tuple of str
        Names on the right-hand side, of an integrator that of its input.
    operations : int
        Operations of an integrator 0: its time is chosen with the method.
    initial : float, optional
        Initial value of an integrator.
    expression : callable
        From a table of symbols to the value, of an integrator to its rate.
    """

    name: str
    needs: tuple[str, ...]
    operations: int
    initial: float | None
    expression: Callable[[Mapping[str, ca.SX]], ca.SX]


@dataclass(frozen=True)
class ProgramListing:
    """Statements in the order in which they were written.

    Attributes
    ----------
    statements : tuple of Statement
    """

    statements: tuple[Statement, ...]

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the integrators."""
        return tuple(s.name for s in self.statements if s.initial is not None)

    @property
    def initial(self) -> np.ndarray:
        """Values of the states at the start, (n,)."""
        return np.array([s.initial for s in self.statements if s.initial is not None], dtype=float)

    def graph(self, integration: float = 1.0) -> TaskGraph:
        """Return one task for each statement; edges out of integrators are cut, their values are known at the start of a step.

        Parameters
        ----------
        integration : float
            Time of an integrator, in operations.
        """
        number = {s.name: k for k, s in enumerate(self.statements)}
        times = [
            integration if s.initial is not None else float(max(s.operations, 1)) for s in self.statements
        ]
        edges = [
            (number[name], k)
            for k, s in enumerate(self.statements)
            for name in s.needs
            if self.statements[number[name]].initial is None
        ]
        return TaskGraph.of(times, edges, [s.name for s in self.statements])

    def rates(self) -> ca.Function:
        """Return the rates of the states as a CasADi function of the states."""
        x = ca.SX.sym("x", len(self.states))
        values: dict[str, ca.SX] = dict(zip(self.states, ca.vertsplit(x)))
        order = self.graph().order
        for k in order:
            s = self.statements[k]
            if s.initial is None:
                values[s.name] = s.expression(values)
        rates = [s.expression(values) for s in self.statements if s.initial is not None]
        return ca.Function("rates", [x], [ca.densify(ca.vertcat(*rates))], ["x"], ["rate"])


def read_listing(text: str) -> ProgramListing:
    """Return the program of a listing: statements `name = expression`, parted by semicolons or lines; # begins a comment.

    Parameters
    ----------
    text : str
        Expressions of numbers, names, + - * /, parentheses, sin, cos, tan, atan, atan2, exp, log, sqrt, abs, min, max;
        `integral(rate, initial)` alone on a right-hand side is a state.

    Returns
    -------
    ProgramListing

    Raises
    ------
    ModelError
        Says every statement that is wrong and why.
    """
    found, wrong = [], []
    for number, line in enumerate(str(text).splitlines(), 1):
        for piece in line.split("#")[0].split(";"):
            if not piece.strip():
                continue
            try:
                found.append(_statement(piece.strip()))
            except InputError as error:
                wrong.append(Finding(f"line {number}: {piece.strip()}", str(error), ""))
    if wrong:
        raise ModelError(wrong)
    return _program(found)


def _program(found: Sequence[Statement]) -> ProgramListing:
    names = [s.name for s in found]
    wrong = [
        Finding(f"'{s.name}'", f"no statement computes '{name}'", "", did_you_mean(name, names))
        for s in found
        for name in s.needs
        if name not in names
    ]
    wrong += [
        Finding(f"'{name}'", "it is computed twice", "")
        for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if not found:
        wrong.append(Finding("", "no statement", "equations such as a = integral(b, 0.01)"))
    if wrong:
        raise ModelError(wrong)
    program = ProgramListing(tuple(found))
    program.graph()
    return program


def _statement(text: str) -> Statement:
    name, equals, right = text.partition("=")
    name = name.strip()
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name) or name in FUNCTIONS or name == "integral":
        raise InputError("expected name = expression")
    parser = _Parser(right)
    if parser.look() == "integral":
        rate, start = parser.integral()
        return Statement(name, tuple(parser.names), 0, start, rate)
    value = parser.sum()
    parser.end()
    return Statement(name, tuple(parser.names), parser.count, None, value)


Value = Callable[[Mapping[str, ca.SX]], Any]


class _Parser:
    """Recursive descent over the tokens of one expression; counts operations and collects names."""

    def __init__(self, text: str):
        self.tokens: list[str] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise InputError(f"'{text[at:].strip()}' is not understood")
            self.tokens.append(match[0].strip())
            at = match.end()
        if len(self.tokens) > MOST:
            raise InputError(f"{len(self.tokens)} tokens in one statement; expected {MOST} at most")
        self.at, self.count = 0, 0
        self.names: list[str] = []

    def look(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *allowed: str) -> str:
        token = self.look()
        if allowed and token not in allowed:
            raise InputError(f"found '{token or 'the end'}'; expected {' or '.join(allowed)}")
        self.at += 1
        return token

    def end(self) -> None:
        if self.look():
            raise InputError(f"'{self.look()}' stands behind a whole expression")

    def integral(self) -> tuple[Value, float]:
        self.take("integral")
        self.take("(")
        rate = self.sum()
        if self.count:
            raise InputError("integral of an expression; expected the name of a statement")
        self.take(",")
        start = self.sum()
        self.take(")")
        self.end()
        try:
            return rate, float(start({}))
        except (KeyError, TypeError):
            raise InputError("the initial value of an integral is a number") from None

    def sum(self) -> Value:
        left = self.product()
        while self.look() in ("+", "-"):
            left = self._join(self.take(), left, self.product())
        return left

    def product(self) -> Value:
        left = self.sign()
        while self.look() in ("*", "/"):
            left = self._join(self.take(), left, self.sign())
        return left

    def sign(self) -> Value:
        if self.look() in ("+", "-"):
            negative = self.take() == "-"
            inner = self.sign()
            return (lambda v: -inner(v)) if negative else inner
        return self.atom()

    def atom(self) -> Value:
        token = self.take()
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if token and (token[0].isdigit() or token[0] == "."):
            number = float(token)
            return lambda v: number
        if token in FUNCTIONS:
            return self._function(token)
        if not re.fullmatch(r"[A-Za-z_]\w*", token or ""):
            raise InputError(f"found '{token or 'the end'}'; expected a number, a name or (")
        if token == "integral":
            raise InputError("integral inside an expression; expected it as a separate statement")
        if self.look() == "(":
            raise InputError(f"no function '{token}'; {did_you_mean(token, [*FUNCTIONS, 'integral'])}")
        self.names.append(token)
        return lambda v: v[token]

    def _function(self, name: str) -> Value:
        self.take("(")
        arguments = [self.sum()]
        if name in TWO:
            self.take(",")
            arguments.append(self.sum())
        self.take(")")
        self.count += 1
        apply = FUNCTIONS[name]
        return lambda v: apply(*(a(v) for a in arguments))

    def _join(self, sign: str, left: Value, right: Value) -> Value:
        self.count += 1
        join = JOINS[sign]
        return lambda v: join(left(v), right(v))


INPUT = re.compile(r"-?\s*[A-Za-z_]\w*")
MOST = 400
"""Tokens of one statement."""
JOINS: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}

BLOCKS = {"integrator": 1, "gain": 1, "sum": 0, "product": 0, "quotient": 2, "constant": 0, "function": 0}
"""Kinds of blocks and how many inputs they have; 0: as many as one likes, or as their function takes."""


def block_diagram(blocks: Sequence[Mapping[str, Any]]) -> ProgramListing:
    """Return the program of a block diagram as data; each block is one task.

    Parameters
    ----------
    blocks : sequence of dict
        Each with `name`, `kind` ("integrator", "gain", "sum", "product", "quotient", "constant", "function"), `inputs` (names of
        blocks; of a sum with a minus sign in front where they are taken off) and what the kind needs: `initial` of an integrator,
        `gain`, `value` of a constant, `function` (one of those of `read_listing`).

    Returns
    -------
    ProgramListing
    """
    found, wrong = [], []
    for k, block in enumerate(blocks):
        try:
            found.append(_block(block))
        except InputError as error:
            wrong.append(Finding(f"block {k + 1}", str(error), ""))
    if wrong:
        raise ModelError(wrong)
    return _program(found)


def read_diagram(path: str | Path) -> ProgramListing:
    """Return the program of a block diagram in a TOML file of tables [[block]], as of `block_diagram`.

    Parameters
    ----------
    path : str or Path
    """
    try:
        held = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"block diagram '{path}': {error}") from None
    blocks = held.pop("block", None)
    if held or not isinstance(blocks, list):
        raise InputError(
            f"block diagram '{path}': found {sorted(held) or 'no blocks'}; expected tables [[block]] alone"
        )
    return block_diagram(blocks)


def _block(block: Any) -> Statement:
    if not isinstance(block, Mapping) or not {"name", "kind"} <= block.keys():
        raise InputError("expected a table with name, kind and inputs")
    name, kind, inputs = block["name"], block["kind"], block.get("inputs", [])
    if kind not in BLOCKS:
        raise InputError(f"no kind '{kind}'; {did_you_mean(str(kind), BLOCKS)}")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise InputError(f"name {name!r}; expected letters, digits and _")
    if not isinstance(inputs, list) or not all(isinstance(i, str) and INPUT.fullmatch(i) for i in inputs):
        raise InputError(f"inputs {inputs!r}; expected a list of names")
    if BLOCKS[kind] and len(inputs) != BLOCKS[kind]:
        raise InputError(f"'{name}': found {len(inputs)} inputs; a {kind} has {BLOCKS[kind]}")
    return _statement(f"{name} = {_right_side(kind, inputs, block)}")


def _right_side(kind: str, inputs: list[str], block: Mapping[str, Any]) -> str:
    own = {"integrator": "initial", "gain": "gain", "constant": "value"}.get(kind)
    number = _number(block, own) if own else 0.0
    if kind == "integrator":
        return f"integral({inputs[0]}, {number!r})"
    if kind == "gain":
        return f"{inputs[0]} * ({number!r})"
    if kind == "constant":
        return repr(number)
    if kind == "function":
        return f"{block.get('function')}({', '.join(inputs)})"
    if len(inputs) < 2:
        raise InputError(f"'{block['name']}': found {len(inputs)} inputs; a {kind} has two or more")
    if kind == "sum":
        return " ".join(i if i.startswith("-") else f"+ {i}" for i in inputs).removeprefix("+ ")
    return (" * " if kind == "product" else " / ").join(inputs)


def _number(block: Mapping[str, Any], key: str) -> float:
    value = block.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise InputError(f"'{block['name']}': {key} = {value!r}; expected a number")
    return float(value)
