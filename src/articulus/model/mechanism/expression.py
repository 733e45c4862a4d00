"""Numbers that depend on named parameters: a `Parameter`, or arithmetic on parameters, as a text and back.

`art.Parameter("l", 1.0) * 0.5` is an `ParameterExpression`. It is kept as a tree of operations, so that every use can put its own thing in
the place of a parameter: floats, arrays of a sweep, symbols of the equations. A text is parsed by the grammar below; nothing is ever
evaluated by Python.

    sum     = product (("+" | "-") product)*
    product = unary (("*" | "/") unary)*
    unary   = "-" unary | power
    power   = atom ("^" unary)?
    atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError, did_you_mean

OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
    "neg": operator.neg,
}
FUNCTIONS: Mapping[str, str] = {
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "exp": "exp",
    "log": "log",
    "abs": "fabs",
}
"""Functions by the name they have in texts, with their name in NumPy and in CasADi."""

UFUNCS: Mapping[Any, str] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.true_divide: "/",
    np.power: "^",
    np.float_power: "^",
    np.negative: "neg",
    np.absolute: "abs",
} | {getattr(np, name): op for op, name in FUNCTIONS.items()}

LONGEST = 1000
"""Characters of an expression that is read from a text."""
DEEPEST = 60
"""Brackets, functions and signs inside each other in such a text."""

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "^": 4}
_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([^\W\d]\w*)|(\*\*|[-+*/^(),]))"
)


class Varying:
    """A number that changes with named parameters; arithmetic on it gives an `ParameterExpression`, NumPy's functions do, too."""

    value: float
    __array_priority__ = 1000.0

    def __add__(self, other: Any) -> Any:
        return _combine("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _combine("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _combine("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _combine("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _combine("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _combine("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _combine("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _combine("/", other, self)

    def __pow__(self, other: Any) -> Any:
        return _combine("^", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _combine("^", other, self)

    def __neg__(self) -> ParameterExpression:
        return ParameterExpression("neg", (self,))

    def __pos__(self) -> Varying:
        return self

    def __abs__(self) -> ParameterExpression:
        return ParameterExpression("abs", (self,))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Return what NumPy's function gives: an Expression, or an array of them."""
        if method != "__call__" or options or (ufunc not in UFUNCS and ufunc is not np.square):
            return NotImplemented
        one: Callable[..., Any] = (
            (lambda x: _plain("^", x, 2.0))
            if ufunc is np.square
            else (lambda *args: _plain(UFUNCS[ufunc], *args))
        )
        if not any(isinstance(x, np.ndarray | list | tuple) for x in inputs):
            return one(*inputs)
        return np.frompyfunc(one, len(inputs), 1)(*(_object_array(x) for x in inputs))


@dataclass(frozen=True)
class Parameter(Varying):
    """A number of a model with a name and a default value, which the `params` of every method change.

    Arithmetic and NumPy's functions give numbers that follow it: `l / 2`, `m * l**2 / 12`, `np.sqrt(k / m)`.

    Parameters
    ----------
    name : str
        Name under which `params={name: ...}` sets it; one name is one number wherever it is used.
    value : float
        Value used when a call does not give one [SI unit of the field it is used in].
    range : two floats
        Least and largest value that a call may give; any if not given. Data of flexible bodies need it: they are prepared
        over this range.
    """

    name: str
    value: float
    range: tuple[float, float] | None = dataclasses.field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise InputError(f"Parameter name {self.name!r}: expected letters, digits and underscores")
        try:
            object.__setattr__(self, "value", float(self.value))
        except (TypeError, ValueError):
            raise InputError(Finding(f"Parameter '{self.name}'", repr(self.value), "a number")) from None
        if not math.isfinite(self.value):
            raise InputError(f"Parameter '{self.name}': value {self.value!r} is not finite")
        if self.range is not None:
            object.__setattr__(self, "range", self._checked_range())

    def _checked_range(self) -> tuple[float, float]:
        try:
            low, high = map(float, self.range or ())
        except (TypeError, ValueError):
            low = high = math.nan
        if not -math.inf < low < high < math.inf:
            raise InputError(
                Finding(
                    f"Parameter '{self.name}', range",
                    repr(self.range),
                    "two numbers, the lower one first",
                    field="range",
                )
            )
        if not low <= self.value <= high:
            raise InputError(
                f"Parameter '{self.name}': value {self.value:g} outside its range {low:g} to {high:g}; expected it inside"
            )
        return low, high


@dataclass(frozen=True)
class ParameterExpression(Varying):
    """Arithmetic on named parameters, made by writing it down: `art.Parameter("l", 1.0) / 2`.

    Parameters
    ----------
    op : str
        An operator (+ - * / ^ neg) or a function (`FUNCTIONS`).
    args : tuple of numbers, parameters and expressions
    """

    op: str
    args: tuple[Any, ...]
    value: float = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            value = float(_apply(self.op, [np.float64(_value(x)) for x in self.args], np))
        if not math.isfinite(value):
            raise InputError(
                Finding(
                    f"expression {text_of(self)}",
                    f"the value {value!r} at {_defaults(self)}",
                    "a finite number",
                )
            )
        object.__setattr__(self, "value", value)

    def __str__(self) -> str:
        return text_of(self)


def evaluate(x: Any, parameter: Callable[[Parameter], Any], functions: Any = np) -> Any:
    """Return a number with something put in the place of each of its parameters.

    Parameters
    ----------
    x : float, Parameter or Expression
    parameter : callable
        Gives what is put in the place of a parameter: a float, an array, a symbol.
    functions : module
        Where sqrt, sin, ... for such things are: NumPy or CasADi.
    """
    if isinstance(x, Parameter):
        return parameter(x)
    if isinstance(x, ParameterExpression):
        return _apply(x.op, [evaluate(arg, parameter, functions) for arg in x.args], functions)
    return x


def text_of(x: Any) -> str:
    """Return a number as a text that `parse` turns into an equal one."""
    if isinstance(x, Parameter):
        return x.name
    if not isinstance(x, ParameterExpression):
        return _literal(float(x)) if x >= 0 else f"({_literal(float(x))})"
    if x.op in FUNCTIONS:
        return f"{x.op}({', '.join(map(text_of, x.args))})"
    own = _PRECEDENCE[x.op]
    if x.op == "neg":
        return f"-{_bracket(x.args[0], own)}"
    left, right = x.args
    if x.op == "^":  # a power takes the power to its right
        return f"{_bracket(left, own + 1)}^{_bracket(right, own)}"
    sign = f" {x.op} " if own == 1 else x.op
    return f"{_bracket(left, own)}{sign}{_bracket(right, own + 1)}"


def parse(text: str, parameter: Callable[[str], Parameter]) -> Any:
    """Return the number that a text such as "m*l^2/12" describes; raise InputError that says what cannot be read.

    Parameters
    ----------
    text : str
    parameter : callable
        Gives the parameter of a name; it raises InputError for a name that is none.
    """
    if len(text) > LONGEST:
        raise InputError(Finding("", f"an expression of {len(text)} characters", f"at most {LONGEST}"))
    return _Parser(text, parameter).whole()


class _Parser:
    """Recursive descent over the grammar at the head of this file."""

    def __init__(self, text: str, parameter: Callable[[str], Parameter]):
        self.text, self.parameter = text, parameter
        self.tokens = list(_tokens(text))
        self.at = self.depth = 0

    def whole(self) -> Any:
        out = self.sum()
        if self.at < len(self.tokens):
            raise self.refusal("an operator")
        return out

    def sum(self) -> Any:
        out = self.product()
        while sign := self.take_sign("+", "-"):
            out = _plain(sign, out, self.product())
        return out

    def product(self) -> Any:
        out = self.unary()
        while sign := self.take_sign("*", "/"):
            out = _plain(sign, out, self.unary())
        return out

    def unary(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(
                f"found an expression with more than {DEEPEST} brackets or signs inside each other"
            )
        out = _plain("neg", self.unary()) if self.take_sign("-") else self.power()
        self.depth -= 1
        return out

    def power(self) -> Any:
        base = self.atom()
        return _plain("^", base, self.unary()) if self.take_sign("^", "**") else base

    def atom(self) -> Any:
        if self.take_sign("("):
            out = self.sum()
            self.expect(")")
            return out
        kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        if kind == "number":
            self.at += 1
            return float(token)
        if kind != "name":
            raise self.refusal("a number, a parameter or a function")
        self.at += 1
        return self.call(token) if self.take_sign("(") else self.parameter(token)

    def call(self, name: str) -> Any:
        args = [self.sum()]
        while self.take_sign(","):
            args.append(self.sum())
        self.expect(")")
        if name not in FUNCTIONS:
            raise InputError(f"found the function '{name}'; {did_you_mean(name, FUNCTIONS)}")
        count = 2 if name == "atan2" else 1
        if len(args) != count:
            raise InputError(Finding("", f"{name} of {len(args)} numbers", f"{count}"))
        return _plain(name, *args)

    def take_sign(self, *signs: str) -> str:
        if (
            self.at < len(self.tokens)
            and self.tokens[self.at][0] == "sign"
            and self.tokens[self.at][1] in signs
        ):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def expect(self, sign: str) -> None:
        if not self.take_sign(sign):
            raise self.refusal(f"'{sign}'")

    def refusal(self, expected: str) -> InputError:
        found = repr(self.tokens[self.at][1]) if self.at < len(self.tokens) else "its end"
        return InputError(Finding(f"expression {self.text!r}", found, expected))


def _tokens(text: str) -> Any:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise InputError(
                Finding(f"expression {text!r}", repr(text[at:].strip()[0]), "numbers, names, + - * / ^ ( )")
            )
        kind = ("number", "name", "sign")[(match.lastindex or 1) - 1]
        yield kind, match[match.lastindex or 1]
        at = match.end()


def _combine(op: str, left: Any, right: Any) -> Any:
    """Return two numbers joined by an operator, entry by entry for arrays; NotImplemented for anything else."""
    for x in (left, right):
        if isinstance(x, np.ndarray):
            return np.frompyfunc(lambda a, b: _plain(op, a, b), 2, 1)(
                _object_array(left), _object_array(right)
            )
        if not isinstance(x, Varying | int | float | np.number) or isinstance(x, bool):
            return NotImplemented
    return _plain(op, left, right)


def _plain(op: str, *args: Any) -> Any:
    """Return an operation on numbers: a float when no parameter is among them."""
    held = tuple(x if isinstance(x, Varying) else float(x) for x in args)
    if any(isinstance(x, Varying) for x in held):
        return ParameterExpression(op, held)
    with np.errstate(all="ignore"):
        value = float(_apply(op, [np.float64(_value(x)) for x in held], np))
    if not math.isfinite(value):
        raise InputError(
            Finding("", f"{op} of {', '.join(map(repr, held))}, which is {value!r}", "a finite number")
        )
    return value


def _apply(op: str, args: list[Any], functions: Any) -> Any:
    return OPERATORS[op](*args) if op in OPERATORS else getattr(functions, FUNCTIONS[op])(*args)


def _literal(x: float) -> str:
    """Return the shortest text of a number: 12 rather than 12.0."""
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)


def _bracket(x: Any, least: int) -> str:
    text = text_of(x)
    binds = _PRECEDENCE.get(x.op, 9) if isinstance(x, ParameterExpression) else 9
    return text if binds >= least else f"({text})"


def _object_array(x: Any) -> np.ndarray:
    """Return an array of objects, so that NumPy takes a parameter as one entry."""
    if isinstance(x, np.ndarray | list | tuple):
        return np.asarray(x, dtype=object)
    out = np.empty((), object)
    out[()] = x
    return out


def _value(x: Any) -> float:
    return x.value if isinstance(x, Varying) else float(x)


def _defaults(x: Any) -> str:
    """Return the values of the parameters of a number, for messages."""
    found: dict[str, float] = {}

    def note(thing: Any) -> None:
        if isinstance(thing, Parameter):
            found[thing.name] = thing.value
        for arg in thing.args if isinstance(thing, ParameterExpression) else ():
            note(arg)

    note(x)
    return ", ".join(f"{name} = {value:g}" for name, value in found.items())
