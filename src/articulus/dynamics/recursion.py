"""How a recursion runs over the tree: the same pass written out for every node, or called in native code.

An algorithm is a few passes, each a function of one node and of what its neighbors have found. `Inline` writes the
passes out one after another: the expression that optimisation wants, and the best code for small mechanisms, whose
constants fold away. `Rolled` makes a CasADi function of each pass and a graph of calls: nodes of the same shape share
the code and differ in their constants. Long chains stay small this way: written out, 30 joints are 100 kB of
instructions, more than a processor decodes in the time of computing them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics.tree import Node, Tree
from articulus.spatial import Product

Pass = Callable[..., tuple]


class Inline:
    """Passes written out on the symbols of the tree."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def __call__(self, function: Pass, i: int, *values: Any) -> tuple:
        return function(self.tree.nodes[i], *values)

    def value(self, constant: Any) -> Any:
        """Return a constant of a spatial type as the passes take it."""
        return constant

    def expression(self, expression: SX) -> SX:
        """Return an expression of the tree's q, v and p as the passes take it."""
        return expression

    def orientation(self, i: int) -> SX:
        """Return the rotation of node i in ground axes, (9,) by columns."""
        return ca.vec(self.tree.world[i].R)


@dataclass(frozen=True)
class Packed:
    """A value of a spatial type (or a plain column) as one MX column."""

    type: Any
    column: MX


class Rolled:
    """Passes as calls of shared functions, on the MX columns of a graph. What is known to be zero does not enter the functions.

    Parameters
    ----------
    tree : Tree
    symbols : dict of str to MX
        Positions "q" (nq,), velocities "v" (nv,) where they matter, and named parameters "p" where there are any.
    """

    def __init__(self, tree: Tree, symbols: dict[str, MX]):
        self.tree = tree
        self._symbols = {name: symbols[name] for name in ("q", "v", "p") if name in symbols}
        self._functions: dict[tuple, tuple[ca.Function, list[type]]] = {}
        self._places: dict[tuple, tuple[SX, list[int]]] = {}
        self._orientation: dict[int, MX] = {}

    @functools.cached_property
    def _shape(self) -> list[tuple]:
        return [parts.shape() for parts in self.tree.parts]

    @functools.cached_property
    def _place(self) -> list[MX]:
        return [self._varying_place(i, self._symbols["q"]) for i in range(len(self.tree))]

    @functools.cached_property
    def _data(self) -> list[ca.DM | MX]:
        """Return the constants of every node; those with named parameters in them are found by one function."""
        data = [parts.data() for parts in self.tree.parts]
        named = [i for i, x in enumerate(data) if not x.is_constant()]
        found: list[ca.DM | MX] = [ca.DM(x) if x.is_constant() else MX() for x in data]
        if named:
            ends = np.cumsum([0, *(data[i].numel() for i in named)])
            columns = ca.vertsplit(self.expression(ca.vertcat(*(data[i] for i in named))), ends.tolist())
            for i, column in zip(named, columns):
                found[i] = column
        return found

    def _varying_place(self, i: int, q: MX) -> MX:
        """Return the numbers of a node's place that are not the same for all nodes of its shape."""
        parts, own = self.tree.parts[i], q[self.tree.parts[i].q]
        key = ("place", self._shape[i])
        if key not in self._functions:
            data, q_sym = SX.sym("data", self._data[i].numel()), SX.sym("q", own.numel())
            place = ca.densify(parts.with_data(data).place(q_sym))
            varies = [k for k, x in enumerate(ca.vertsplit(place)) if not x.is_constant()]
            self._places[self._shape[i]] = (place, varies)
            self._functions[key] = (ca.Function("place", [data, q_sym], [place[varies]]), [])
        return self._functions[key][0](self._data[i], own)

    def __call__(self, function: Pass, i: int, *values: Packed | MX | None) -> tuple:
        key = (function, self._shape[i], tuple(map(_kind, values)))
        if key not in self._functions:
            self._functions[key] = self._trace(function, i, values)
        call, types = self._functions[key]
        columns = [_column(v) for v in values if v is not None]
        outputs = call.call([self._data[i], self._place[i], *(x for x in columns if not x.is_zero())])
        dense = (MX(ca.DM.zeros(out.shape)) if out.nnz() == 0 else out for out in outputs)
        return tuple(out if t is SX else Packed(t, out) for t, out in zip(types, dense))

    def value(self, constant: Any) -> Packed:
        """Return a constant of a spatial type as the passes take it; it may depend on named parameters."""
        packed = ca.densify(constant.pack())
        column = MX(ca.DM(packed)) if packed.is_constant() else self.expression(packed)
        return Packed(type(constant), column)

    def expression(self, expression: SX) -> MX:
        """Return an expression of the tree's q, v and p as the passes take it; a structural zero where it is zero."""
        if expression.is_zero():
            return MX(*expression.shape)
        held = {"q": self.tree.q, "v": self.tree.v, "p": self.tree.p}
        whole = ca.Function("whole", [held[name] for name in self._symbols], [ca.densify(expression)])
        return whole(*self._symbols.values())

    def orientation(self, i: int) -> MX:
        """Return the rotation of node i in ground axes, (9,) by columns."""
        for k in reversed(self.tree.path(i)):
            if k not in self._orientation:
                (self._orientation[k],) = self(node_rotation, k, self._orientation.get(self.tree.parents[k]))
        return self._orientation[i]

    def _trace(self, function: Pass, i: int, values: tuple) -> tuple[ca.Function, list[type]]:
        data = SX.sym("data", self._data[i].numel())
        varying = SX.sym("place", self._place[i].numel())
        fixed, varies = self._places[self._shape[i]]
        place = SX(fixed)
        place[varies] = varying
        node = self.tree.parts[i].with_data(data).node(ca.sparsify(place))
        symbols, arguments = [data, varying], list[Any]()
        for k, value in enumerate(values):
            if value is None:
                arguments.append(None)
                continue
            shape = _column(value).shape
            x = SX.zeros(*shape) if _column(value).is_zero() else SX.sym(f"x{k}", *shape)
            symbols += [] if x.is_zero() else [x]
            arguments.append(value.type.unpack(x) if isinstance(value, Packed) else x)
        results = function(node, *arguments)
        columns = [r if isinstance(r, SX) else r.pack() for r in results]
        columns = [SX(*x.shape) if x.is_zero() else ca.densify(x) for x in columns]
        return ca.Function(function.__name__, symbols, columns), [type(r) for r in results]


def node_rotation(node: Node, R_parent: SX | None) -> tuple[SX]:
    """Return the rotation of a node in ground axes from that of its parent, (9,) by columns each."""
    own = node.X.merge() if isinstance(node.X, Product) else node.X
    return (ca.vec(own.R if R_parent is None else ca.mtimes(ca.reshape(R_parent, 3, 3), own.R)),)


def _kind(value: Packed | MX | None) -> tuple:
    if value is None:
        return ()
    column = _column(value)
    return (value.type.__name__ if isinstance(value, Packed) else "", column.shape, column.is_zero())


def _column(value: Packed | MX) -> MX:
    return value.column if isinstance(value, Packed) else value


Runner = Inline | Rolled

__all__ = ["Inline", "Packed", "Rolled", "Runner"]
