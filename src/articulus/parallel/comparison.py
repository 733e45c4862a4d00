"""Our operation counts beside those that the literature prints for the same task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from articulus.errors import InputError
from articulus.parallel.counts import Growth, Operations, count, growth
from articulus.parallel.published import CUSTOMIZED, SERIAL, PublishedCount

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

TASKS = {
    "inverse_dynamics": "force vector",
    "bias": "force vector",
    "mass_matrix": "inertia matrix",
    "forward_dynamics": "forward dynamics",
}
"""Quantities, and the task of the published tables that each does."""
USUAL = ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics")


@dataclass(frozen=True)
class CountRow:
    """Operations of one quantity, or of one published algorithm for the same number of joints.

    Attributes
    ----------
    who, what : str
        "articulus" or the authors; quantity or task.
    multiplications, additions : int
    others : int, optional
        Divisions, square roots, sines and all else; None where the source does not count them.
    note : str
    """

    who: str
    what: str
    multiplications: int
    additions: int
    others: int | None
    note: str = ""

    @property
    def total(self) -> int:
        """All operations that are counted."""
        return self.multiplications + self.additions + (self.others or 0)


def compare(
    mechanism: Mechanism, names: Sequence[str] = USUAL, frames: Sequence[str] = (), simplify: bool = True
) -> list[CountRow]:
    """Return the operations of quantities of a mechanism, each followed by the published ones for as many joints.

    Published counts hold for serial chains of revolute joints with general links; they are omitted for mechanisms that branch or
    whose joints have several degrees of freedom.

    Parameters
    ----------
    mechanism : Mechanism
    names : sequence of str
        Quantities.
    frames : sequence of str
        Frames that they are about.
    simplify : bool
        As of `count`.

    Returns
    -------
    list of CountRow
    """
    rows = []
    for name in names:
        rows.append(_own(name, count(mechanism, name, frames, simplify)))
        if name in TASKS and is_serial(mechanism):
            rows.extend(_print_row(row, mechanism.nv) for row in SERIAL if row.task == TASKS[name])
    rows.extend(
        CountRow(who, task, mul, add, None, "customized code")
        for arm, task, who, mul, add in CUSTOMIZED
        if arm == mechanism.name
    )
    return rows


def is_serial(mechanism: Mechanism) -> bool:
    """Return whether a mechanism is one chain of joints with one degree of freedom each, without loops and flexible bodies.

    Parameters
    ----------
    mechanism : Mechanism
    """
    held = mechanism.description
    moving = [c for c in held.connections if c.joint.nv]
    bare = not (held.constraints or held.couplings or held.flexible)
    return bare and len({c.parent for c in moving}) == len(moving) == held.nv


def _own(name: str, found: Operations) -> CountRow:
    others = found.total - found.multiplications - found.additions
    return CountRow("articulus", name, found.multiplications, found.additions, others)


def _print_row(row: PublishedCount, n: int) -> CountRow:
    mul, add = (int(x) for x in row.at(n))
    return CountRow(row.method, row.task, mul, add, None, "; ".join(x for x in (row.source, row.note) if x))


def growths(
    make: Callable[[int], Mechanism], names: Sequence[str], sizes: Iterable[int], simplify: bool = True
) -> dict[str, tuple[Growth, Growth]]:
    """Return how multiplications and additions of quantities grow with the size of a family of mechanisms.

    Parameters
    ----------
    make : callable
        From a size to a mechanism.
    names : sequence of str
        Quantities.
    sizes : iterable of int
        Successive sizes.
    simplify : bool
        As of `count`.

    Returns
    -------
    dict of str to (Growth, Growth)
    """
    asked = tuple(sizes)
    if not asked:
        raise InputError("sizes are empty; expected three or more successive whole numbers")
    found = {n: make(n) for n in asked}
    out = {}
    for name in names:
        counts = {n: count(mechanism, name, simplify=simplify) for n, mechanism in found.items()}
        mul = {n: counted.multiplications for n, counted in counts.items()}
        add = {n: counted.additions for n, counted in counts.items()}
        out[name] = growth(mul.__getitem__, asked), growth(add.__getitem__, asked)
    return out
