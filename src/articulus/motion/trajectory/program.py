"""Nonlinear programs made of few functions at many places: each is evaluated everywhere by one native call.

The unknowns x are numbered. A `FunctionBlock` is a function of a few of them, taken at many places: row b of its table of numbers says which
unknowns it is given there. Values, derivatives and exact second derivatives come from batched native code; where each of their
numbers belongs in the sparse matrices of the whole program is found once, before the first iteration.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel


class Part(Protocol):
    """What a program is made of: rows at many places, each of a few unknowns, with derivatives; a `FunctionBlock`, or one with its own chain rule."""

    @property
    def name(self) -> str: ...
    @property
    def index(self) -> np.ndarray: ...
    @property
    def lower(self) -> np.ndarray: ...
    @property
    def upper(self) -> np.ndarray: ...
    @property
    def width(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def jacobian_pattern(self) -> tuple[np.ndarray, np.ndarray]: ...
    @property
    def hessian_pattern(self) -> tuple[np.ndarray, np.ndarray]: ...
    def values(self, x: np.ndarray) -> np.ndarray: ...
    def jacobian(self, x: np.ndarray) -> np.ndarray: ...
    def hessian(self, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class FunctionBlock:
    """A function at many places.

    Parameters
    ----------
    name : str
        What it says, for messages.
    function : casadi.Function
        (z, d) -> r: unknowns (n,) and numbers (k,) to a column (m,). SX code.
    index : array of int, (places, n)
        Which unknowns are z at each place; no unknown twice at one place.
    data : array, (places, k)
    lower, upper : array, (places, m)
        Bounds of r.
    """

    name: str
    function: ca.Function
    index: np.ndarray
    data: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __getstate__(self) -> dict[str, Any]:
        """Return what it is made of: a copy makes its own symbols and native code."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def width(self) -> int:
        """Number of rows at each place."""
        return self.function.numel_out(0)

    @property
    def rows(self) -> int:
        """Number of constraints."""
        return len(self.index) * self.width

    @cached_property
    def _symbols(self) -> tuple[SX, SX, SX, SX]:
        z, d = (SX.sym(name, self.function.numel_in(k)) for k, name in enumerate("zd"))
        r = ca.densify(self.function(z, d))
        return z, d, SX.sym("multipliers", r.numel()), r

    @cached_property
    def _lagrangian_gradient(self) -> SX:
        z, _, multipliers, r = self._symbols
        return ca.gradient(ca.dot(multipliers, r), z)

    @cached_property
    def jacobian_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the derivatives at one place, by columns."""
        z, _, _, r = self._symbols
        return _triplet(ca.jacobian_sparsity(r, z))

    @cached_property
    def hessian_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns, upper triangle, of second derivatives at one place, by columns."""
        return _triplet(ca.triu(ca.jacobian_sparsity(self._lagrangian_gradient, self._symbols[0])))

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return r at all places, (places, m)."""
        return self._value(x[self.index], self.data)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives at all places, (places, entries of the pattern)."""
        return self._jacobian(x[self.index], self.data)

    def hessian(self, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return the second derivatives of multipliers . r, (places, entries of the pattern)."""
        return self._hessian(x[self.index], self.data, multipliers)

    @cached_property
    def _key(self) -> str:
        return f"block 4 {hashlib.sha256(self.function.serialize().encode()).hexdigest()}"

    @cached_property
    def _value(self) -> Any:
        z, d, _, r = self._symbols
        return _compile(f"{self._key} value", lambda: ca.Function("value", [z, d], [r]))

    @cached_property
    def _jacobian(self) -> Any:
        z, d, _, r = self._symbols
        return _compile(
            f"{self._key} jacobian",
            lambda: ca.Function("jacobian", [z, d], [_entries(ca.jacobian(r, z), self.jacobian_pattern)]),
        )

    @cached_property
    def _hessian(self) -> Any:
        z, d, multipliers, _ = self._symbols

        def build() -> ca.Function:
            whole = ca.jacobian(self._lagrangian_gradient, z, {"symmetric": True})
            return ca.Function("hessian", [z, d, multipliers], [_entries(whole, self.hessian_pattern)])

        return _compile(f"{self._key} hessian", build)


def _compile(key: str, build: Callable[[], ca.Function]) -> kernel.Kernel:
    return kernel.cached(key, build, finite=False, ranks=lambda: ((1, 1, 1)[: build().n_in()], (1,)))


def _entries(matrix: SX, pattern: tuple[np.ndarray, np.ndarray]) -> SX:
    """Return the entries of a matrix at the places of a pattern; CasADi may have found out that some are zero."""
    if not len(pattern[0]):
        return SX(0, 1)
    shape = ca.Sparsity.triplet(*matrix.shape, *(x.tolist() for x in pattern))
    return ca.vec(ca.project(matrix, shape).nz[:])


def _triplet(sparsity: ca.Sparsity) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = sparsity.get_triplet()
    return np.array(rows, dtype=int), np.array(columns, dtype=int)


@dataclass(frozen=True, eq=False)
class NonlinearProgram:
    """Minimize the sum of all costs, subject to all constraints and lower <= x <= upper.

    Parameters
    ----------
    costs, constraints : tuple of Part
        A cost has one row; its bounds are not used.
    lower, upper : array, (n,)
    scale : array, (n,)
        Size of each unknown: the solver works on x / scale.
    """

    costs: tuple[Part, ...]
    constraints: tuple[Part, ...]
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray = field(default_factory=lambda: np.ones(0))

    def __getstate__(self) -> dict[str, Any]:
        """Return what it is made of: a copy makes its own symbols and native code."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.lower)

    @cached_property
    def first_rows(self) -> np.ndarray:
        """First constraint of each block, and the number of all."""
        return np.cumsum([0, *(block.rows for block in self.constraints)])

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of all constraints."""
        return tuple(  # type: ignore[return-value]
            np.concatenate([np.zeros(0), *(getattr(b, side).ravel() for b in self.constraints)])
            for side in ("lower", "upper")
        )

    def cost(self, x: np.ndarray) -> float:
        """Return the sum of all costs."""
        return float(sum(block.values(x).sum() for block in self.costs))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives of the cost, (n,)."""
        total = np.zeros(self.size)
        for block in self.costs:
            where = block.index[:, block.jacobian_pattern[1]]
            total += np.bincount(where.ravel(), block.jacobian(x).ravel(), self.size)
        return total

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """Return all constraints."""
        return np.concatenate([np.zeros(0), *(block.values(x).ravel() for block in self.constraints)])

    @cached_property
    def jacobian_places(self) -> tuple[ca.Sparsity, np.ndarray]:
        """Pattern of the derivatives of all constraints, and which number of the blocks each of its entries is."""
        rows, columns = [np.zeros(0, int)], [np.zeros(0, int)]
        for block, first in zip(self.constraints, self.first_rows):
            i, j = block.jacobian_pattern
            m = block.width
            rows.append((first + m * np.arange(len(block.index))[:, None] + i).ravel())
            columns.append(block.index[:, j].ravel())
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.lexsort((row, column))
        shape = int(self.first_rows[-1]), self.size
        return _pattern(shape, row[order], column[order]), order

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the entries of the derivatives of all constraints, by columns."""
        values = np.concatenate([np.zeros(0), *(block.jacobian(x).ravel() for block in self.constraints)])
        return values[self.jacobian_places[1]]

    @cached_property
    def hessian_places(self) -> tuple[ca.Sparsity, np.ndarray]:
        """Pattern of the second derivatives, upper triangle, and the entry to which each number of the blocks is added."""
        keys = [np.zeros(0, int)]
        for block in (*self.costs, *self.constraints):
            i, j = block.hessian_pattern
            a, b = block.index[:, i].ravel(), block.index[:, j].ravel()
            keys.append(np.maximum(a, b) * self.size + np.minimum(a, b))
        found, places = np.unique(np.concatenate(keys), return_inverse=True)
        return _pattern((self.size, self.size), found % self.size, found // self.size), places

    def hessian(self, x: np.ndarray, weight: float, multipliers: np.ndarray) -> np.ndarray:
        """Return the entries of the second derivatives of weight * cost + multipliers . constraints, upper triangle, by columns."""
        parts = [np.zeros(0)]
        for block in self.costs:
            parts.append(block.hessian(x, np.full((len(block.index), 1), weight)).ravel())
        for block, first in zip(self.constraints, self.first_rows):
            own = multipliers[first : first + block.rows].reshape(len(block.index), -1)
            parts.append(block.hessian(x, own).ravel())
        pattern, places = self.hessian_places
        return np.bincount(places, np.concatenate(parts), pattern.nnz())


def _pattern(shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray) -> ca.Sparsity:
    """Return a pattern of entries that are sorted by columns."""
    starts = np.searchsorted(columns, np.arange(shape[1] + 1))
    return ca.Sparsity(*shape, starts.tolist(), rows.tolist())
