"""Operations of a quantity: counted from the instruction list of which the kernel makes native code."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING

import casadi as ca

from articulus.dynamics import quantities
from articulus.dynamics.tree import Tree
from articulus.errors import InputError
from articulus.kernel import Instructions, instructions
from articulus.kernel.graph import simplified

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

KINDS = {
    ca.OP_MUL: "multiplications",
    ca.OP_SQ: "multiplications",
    ca.OP_ADD: "additions",
    ca.OP_SUB: "additions",
    ca.OP_TWICE: "additions",
    ca.OP_DIV: "divisions",
    ca.OP_INV: "divisions",
    ca.OP_SQRT: "square_roots",
    ca.OP_SIN: "sines",
    ca.OP_COS: "sines",
}
"""What each operation counts as, the way the literature counts: a subtraction is an addition, a change of sign is free."""

FREE = frozenset((ca.OP_INPUT, ca.OP_CONST, ca.OP_NEG, ca.OP_ASSIGN, ca.OP_LIFT))


@dataclass(frozen=True)
class Operations:
    """How often each kind of scalar operation occurs.

    Attributes
    ----------
    multiplications, additions, divisions, square_roots : int
        Subtractions are additions, squares are multiplications; changes of sign are free.
    sines : int
        Sines and cosines.
    others : int
        All else: other functions, comparisons, choices.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    square_roots: int = 0
    sines: int = 0
    others: int = 0

    @property
    def total(self) -> int:
        """Number of operations of all kinds."""
        return sum(self)

    def __iter__(self):
        return (getattr(self, field.name) for field in fields(self))

    def __add__(self, other: Operations) -> Operations:
        return Operations(*(a + b for a, b in zip(self, other)))

    def time(self, costs: Operations) -> float:
        """Return the time of all operations one after another, in the unit of `costs`, which has the time of each kind."""
        return sum(a * b for a, b in zip(self, costs))

    def __str__(self) -> str:
        named = ((getattr(self, f.name), f.name.replace("_", " ")) for f in fields(self))
        return ", ".join(f"{number} {name}" for number, name in named if number) or "nothing"


def operations(code: Instructions | ca.Function) -> Operations:
    """Return the operations of an instruction list, or of a CasADi function once common subexpressions are computed once.

    Parameters
    ----------
    code : Instructions or casadi.Function
    """
    if isinstance(code, ca.Function):
        code = instructions(simplified(code if code.is_a("SXFunction") else code.expand()))
    elif not isinstance(code, Instructions):
        raise InputError(
            f"operations of {type(code).__name__}; expected a CasADi function or an instruction list"
        )
    found = Counter(KINDS.get(op, "others") for op in code.op if op not in FREE)
    return Operations(**found)


def count(
    mechanism: Mechanism,
    quantity: str = "forward_dynamics",
    frames: Sequence[str] = (),
    simplify: bool = True,
) -> Operations:
    """Return the operations of one evaluation of a quantity of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Where constraints change the quantity, ask that of `mechanism.tree`.
    quantity : str
        Key of `articulus.dynamics.quantities.QUANTITIES`, such as "mass_matrix".
    frames : sequence of str
        Frames that the quantity is about.
    simplify : bool
        True: the code that runs, in which bodies behind fixed joints are merged, inertias are regrouped, zeros and ones of the model
        have disappeared and equal expressions are computed once. False: the algorithm on matrices of which only the structural
        zeros are omitted, as a subroutine without knowledge of the model would run it.

    Returns
    -------
    Operations
        Operations of the written-out form. Native code of long mechanisms is made of calls and may repeat what is shared between them.

    Examples
    --------
    >>> import articulus as art
    >>> art.parallel.count(art.load("two_link"), "mass_matrix").square_roots
    0
    """
    if simplify:
        return operations(quantities.function(mechanism.description, quantity, frames))
    return _plain_count(mechanism, quantity, frames)


def _plain_count(mechanism: Mechanism, quantity: str, frames: Sequence[str]) -> Operations:
    description = mechanism.description
    if description.couplings:
        raise InputError(
            f"'{mechanism.name}' has coupled joints; without simplification only uncoupled ones are counted"
        )
    quantities.function(description, quantity, frames)  # says what is wrong with the question
    ca.GlobalOptions.setSimplificationOnTheFly(False)
    try:
        return operations(
            instructions(quantities.form(Tree(description, merge_fixed=False), quantity, frames))
        )
    finally:
        ca.GlobalOptions.setSimplificationOnTheFly(True)


@dataclass(frozen=True)
class Growth:
    """How an operation count grows with a size n.

    Attributes
    ----------
    sizes, counts : tuple
        What was counted.
    coefficients : tuple of Fraction, optional
        Polynomial c0 + c1 n + c2 n^2 + ... through all counts from `valid_from` on; None if the counts follow none.
    valid_from : int
        Smallest size from which the polynomial is exact.
    """

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    coefficients: tuple[Fraction, ...] | None
    valid_from: int

    def __str__(self) -> str:
        if self.coefficients is None:
            return "no polynomial"
        powers = reversed(list(enumerate(self.coefficients)))
        terms = [_term(c, k) for k, c in powers if c or len(self.coefficients) == 1]
        text = " ".join(terms).removeprefix("+ ").strip()
        return text.replace("- ", "-", 1) if text.startswith("- ") else text


def _term(c: Fraction, k: int) -> str:
    size = "" if abs(c) == 1 and k else str(abs(c))
    if "/" in size and k:
        size = f"({size})"
    power = {0: "", 1: "n"}.get(k, f"n^{k}")
    return f"{'-' if c < 0 else '+'} {' '.join(x for x in (size, power) if x)}"


def growth(counts: Callable[[int], int], sizes: Iterable[int]) -> Growth:
    """Return the polynomial in n that goes exactly through the counts of successive sizes, if there is one.

    Parameters
    ----------
    counts : callable
        From a size n to a number of operations.
    sizes : iterable of int
        Successive sizes. A polynomial of degree d is told when it holds for d + 3 sizes or more at the end; the first sizes often lack
        terms that later ones have.
    """
    asked = tuple(sizes)
    if len(asked) < 3 or any(b - a != 1 for a, b in itertools.pairwise(asked)):
        raise InputError(f"sizes {list(asked)}: expected three or more successive whole numbers")
    values = tuple(counts(n) for n in asked)
    for degree in range(len(values) - 2):
        start = _constant_from(_differences(values, degree))
        if len(values) - start >= degree + 3:
            return Growth(asked, values, _newton(asked[start], values[start:], degree), asked[start])
    return Growth(asked, values, None, asked[0])


def _differences(values: Sequence[int], order: int) -> list[int]:
    found = list(values)
    for _ in range(order):
        found = [b - a for a, b in itertools.pairwise(found)]
    return found


def _constant_from(values: Sequence[int]) -> int:
    start = len(values) - 1
    while start and values[start - 1] == values[-1]:
        start -= 1
    return start


def _newton(first: int, values: Sequence[int], degree: int) -> tuple[Fraction, ...]:
    """Return the coefficients of Newton's forward-difference polynomial, by rising powers of n."""
    total, basis = [Fraction(0)] * (degree + 1), [Fraction(1)]
    for k in range(degree + 1):
        leading = Fraction(_differences(values, k)[0], math.factorial(k))
        for i, b in enumerate(basis):
            total[i] += leading * b
        shifted, scaled = [Fraction(0), *basis], [(first + k) * b for b in basis] + [Fraction(0)]
        basis = [a - b for a, b in zip(shifted, scaled)]
    return tuple(total)
