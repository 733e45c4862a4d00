"""A CasADi function of the user's as a piece of data: equal when its expressions are equal."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from typing import Any

import casadi as ca
from casadi import SX

from articulus.errors import Finding, InputError


class Formula:
    """A CasADi function with one output; compared, hashed and shown by the content of its expressions.

    Parameters
    ----------
    function : casadi.Function
        Made of expressions (SX, or MX that expands to SX).
    inputs : str
        Names of the inputs that are expected, for messages.
    """

    def __init__(self, function: Any, inputs: str):
        if not isinstance(function, ca.Function):
            raise InputError(Finding("", repr(function), f"a casadi.Function of ({inputs})"))
        wanted = inputs.count(",") + 1
        if (function.n_in(), function.n_out()) != (wanted, 1):
            raise InputError(
                Finding(
                    f"function '{function.name()}'",
                    f"{function.n_in()} inputs and {function.n_out()} outputs",
                    f"the inputs ({inputs}) and one output",
                )
            )
        try:
            self.function = function if function.is_a("SXFunction") else function.expand()
        except RuntimeError as reason:
            raise InputError(
                Finding(
                    f"function '{function.name()}'",
                    f"a {function.class_name()} that cannot be written out in scalars",
                    "plain expressions",
                )
            ) from reason

    @property
    def rows(self) -> int:
        """Number of rows of the output."""
        return self.function.numel_out(0)

    def __call__(self, *arguments: SX) -> SX:
        return ca.vec(ca.densify(self.function(*arguments)))

    def sizes(self) -> tuple[int, ...]:
        """Return the number of entries of each input."""
        return tuple(self.function.numel_in(i) for i in range(self.function.n_in()))

    @functools.cached_property
    def digest(self) -> str:
        """Hash of the expressions."""
        return hashlib.sha256(self.function.serialize().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Formula('{self.function.name()}', '{self.digest}')"


def formula(inputs: str) -> Any:
    """Return a conversion to Formula for `numbers.convert`."""
    return lambda held: held if isinstance(held, Formula) else Formula(held, inputs)


def number_rows(rows: int) -> tuple[str, ...]:
    """Return names of rows that have none: their numbers, nothing for a single row."""
    return tuple(map(str, range(rows))) if rows > 1 else ("",) * rows


def wrong_sizes(where: str, held: Formula, sizes: dict[str, int]) -> Iterator[Finding]:
    """Yield a finding for each input of a function that has another size than the mechanism."""
    for (name, wanted), found in zip(sizes.items(), held.sizes()):
        if found != wanted:
            yield Finding(where, f"an input {name} of {found} numbers", f"{wanted} numbers")
