"""Nodes that follow others: rigid links, weighted means, supports along any direction.

Each tie is a set of linear equations that give as many components of one node by those of others. They are solved for the
components that are best conditioned, put into each other where ties follow ties, and leave q_all = T q. A rigid motion of
the nodes that lead is one of those that follow. Levers turn linearly: what is of second order in the rotation of a node
(levers that shorten) is omitted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from articulus.errors import InputError, did_you_mean
from articulus.structure.element.base import Node
from articulus.structure.vectors import skew

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
"""Degrees of freedom of a node: translations along and rotations about the global axes."""

GROUPS = {"all": COMPONENTS, "translation": COMPONENTS[:3], "rotation": COMPONENTS[3:]}

Components = str | Sequence[str]
"""Some degrees of freedom of a node: "x", ("x", "rz"), "translation", "rotation" or "all"."""

Place = Callable[[Node], np.ndarray]
"""Position of a node, (3,) [m]."""

FLAT = 1e-9
"""Singular value of the equations, beside the largest, below which they do not determine a motion."""


@dataclass(frozen=True)
class Follow:
    """Equations `rows` q_node = sum of `others` q_other, each (m, 6)."""

    node: Node
    rows: np.ndarray
    others: tuple[tuple[Node, np.ndarray], ...] = ()


class Tie(ABC):
    """Base of all ties."""

    @abstractmethod
    def follows(self, at: Place) -> list[Follow]:
        """Return the equations of each node that follows."""


@dataclass(frozen=True)
class RigidLink(Tie):
    """Nodes that follow one node like points of a rigid body (Nastran's RBE2; an offset, a pinned end of a beam).

    Parameters
    ----------
    node : str or int
        It leads.
    dependents : sequence of nodes
        They follow.
    components : str or sequence of str
        In which of their components they follow; the others stay free.
    axes : array, (3, 3)
        Directions of these components, by rows; global axes if not given.
    """

    node: Node
    dependents: Sequence[Node]
    components: Components = "all"
    axes: Sequence[Sequence[float]] | None = None

    def follows(self, at: Place) -> list[Follow]:
        rows = _directions(self.axes)[list(components(self.components))]
        return [
            Follow(d, rows, ((self.node, rows @ _lever(at(d) - at(self.node))),)) for d in self.dependents
        ]


@dataclass(frozen=True)
class Average(Tie):
    """A node that follows the mean motion of others, which stay as flexible as they are (Nastran's RBE3).

    Its motion is the rigid one that is nearest to theirs: the sum of weight times squared distance is least. Rotations of
    the others, where they count, are weighted with the square of their mean distance.

    Parameters
    ----------
    node : str or int
        It follows.
    weights : dict of node to number
        The others.
    components : str or sequence of str
        In which of its components it follows.
    of : str or sequence of str
        Components of the others that count.
    """

    node: Node
    weights: Mapping[Node, float]
    components: Components = "all"
    of: Components = "translation"

    def follows(self, at: Place) -> list[Follow]:
        if not self.weights or not all(w > 0 for w in self.weights.values()):
            raise InputError(
                f"Average({self.node!r}): weights {dict(self.weights)}; expected numbers above zero"
            )
        levers = {n: at(n) - at(self.node) for n in self.weights}
        size = np.mean([np.linalg.norm(c) for c in levers.values()]) or 1.0
        counts = np.isin(np.arange(6), components(self.of)) * np.array([1.0] * 3 + [size**2] * 3)
        each = {n: _lever(c).T * (w * counts) for (n, c), w in zip(levers.items(), self.weights.values())}
        whole = sum((each[n] @ _lever(c) for n, c in levers.items()), np.zeros((6, 6)))
        unit = np.array([1.0] * 3 + [size] * 3)
        if np.linalg.cond(whole / np.outer(unit, unit)) > 1 / FLAT:
            raise InputError(
                f"Average({self.node!r}): the motion of {', '.join(map(repr, self.weights))} does not give its rotation; expected nodes that are not "
                "on one line, or their rotations too"
            )
        inverse, mine = np.linalg.inv(whole), list(components(self.components))
        return [
            Follow(self.node, np.eye(6)[mine], tuple((n, (inverse @ each[n])[mine]) for n in self.weights))
        ]


@dataclass(frozen=True)
class Hold(Tie):
    """A support along any directions.

    Parameters
    ----------
    node : str or int
        It is held.
    components : str or sequence of str
        Which of its components.
    axes : array, (3, 3)
        Directions of these components, by rows.
    """

    node: Node
    components: Components
    axes: Sequence[Sequence[float]]

    def follows(self, at: Place) -> list[Follow]:
        return [Follow(self.node, _directions(self.axes)[list(components(self.components))])]


def motion_of(
    count: int, ties: Sequence[Tie], number: Callable[[Node], int], positions: np.ndarray
) -> tuple[sp.csr_array, np.ndarray]:
    """Return T (6 count, n), all components of the nodes for those that lead, and the numbers of the latter.

    Parameters
    ----------
    count : int
        Number of nodes.
    ties : sequence of Tie
    number : callable
        Number of a node.
    positions : array, (count, 3) [m]
    """
    rows: dict[int, dict[int, float]] = {}
    for follow in [f for tie in ties for f in tie.follows(lambda n: positions[number(n)])]:
        for place, terms in _solve_dependent(follow, number).items():
            if place in rows:
                raise InputError(
                    f"node {follow.node!r}: '{COMPONENTS[place % 6]}' follows two ties; expected one for each degree of freedom"
                )
            rows[place] = terms
    leads = np.setdiff1d(np.arange(6 * count), list(rows))
    entries = [(i, j, v) for i, terms in rows.items() for j, v in terms.items()]
    i, j, v = (np.array(x) for x in zip(*entries)) if entries else (np.zeros(0, int),) * 3
    own = sp.csr_array((np.ones(len(leads)), (leads, leads)), (6 * count, 6 * count))
    step = own + sp.csr_array((v, (i, j)), (6 * count, 6 * count))
    T, left = step, np.array(sorted(rows), dtype=int)
    for _ in range(len(rows) + 1):
        if not abs(T[:, left]).sum():
            return sp.csr_array(T[:, leads]), leads
        T = sp.csr_array(step @ T)
        T.eliminate_zeros()
    raise InputError("ties: nodes follow each other in a circle; expected that each follows nodes that lead")


def components(given: Components) -> tuple[int, ...]:
    """Return the numbers of the degrees of freedom meant."""
    names = GROUPS.get(given, (given,)) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in COMPONENTS:
            raise InputError(
                f"no degree of freedom '{name}' of a node; {did_you_mean(name, (*COMPONENTS, *GROUPS))}"
            )
    return tuple(COMPONENTS.index(name) for name in names)


def _solve_dependent(follow: Follow, number: Callable[[Node], int]) -> dict[int, dict[int, float]]:
    """Return each component that follows by those it follows: the best conditioned ones of the node are taken."""
    C, base = follow.rows, 6 * number(follow.node)
    taken = _best_columns(C)
    rest = np.setdiff1d(np.arange(6), taken)
    inverse = np.linalg.inv(C[:, taken])
    terms: list[dict[int, float]] = [{} for _ in taken]
    blocks = [(base + rest, -inverse @ C[:, rest])]
    blocks += [(6 * number(n) + np.arange(6), inverse @ B) for n, B in follow.others]
    for places, values in blocks:
        for row, out in zip(values, terms):
            for place, value in zip(places, row):
                if abs(value) > 1e-14:
                    out[int(place)] = out.get(int(place), 0.0) + float(value)
    return {int(base + c): out for c, out in zip(taken, terms)}


def _best_columns(C: np.ndarray) -> np.ndarray:
    """Return the columns that determine the equations C best, translations and rotations each for themselves."""
    out: list[int] = []
    for part in (slice(0, 3), slice(3, 6)):
        rows = np.flatnonzero(np.abs(C[:, part]).max(axis=1, initial=0.0) > 0)
        if len(rows):
            _, _, order = qr(C[rows, part], pivoting=True)
            out += [part.start + int(c) for c in order[: len(rows)]]
    return np.array(sorted(out), dtype=int)


def _directions(axes: Sequence[Sequence[float]] | None) -> np.ndarray:
    """Return the directions of six components, (6, 6), global."""
    R = np.eye(3) if axes is None else np.asarray(axes, dtype=float)
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-6):
        raise InputError(f"axes {R.tolist()}; expected three unit vectors that are square to each other")
    return np.kron(np.eye(2), R)


def _lever(c: np.ndarray) -> np.ndarray:
    """Return S (6, 6): a point at c from a node moves by S times the motion of the node, on a rigid lever."""
    S = np.eye(6)
    S[:3, 3:] = -skew(c)
    return S
