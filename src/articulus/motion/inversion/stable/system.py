"""`NonlinearSystem`: x' = f(x) + g(x) u, y = h(x) as CasADi expressions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.control.plant import as_plant
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError


@dataclass(frozen=True, eq=False)
class NonlinearSystem:
    """x' = f(x) + g(x) u, y = h(x), with as many inputs as outputs.

    Parameters
    ----------
    x : SX, (n,)
        Symbols of the states.
    f : SX, (n,)
    g : SX, (n, m)
    h : SX, (m,)
    state_names, input_names, output_names : sequence of str
        x.0, u.0, y.0 and so on if not given.
    input_units, output_units : sequence of str
        "-" if not given.
    name : str
    mechanism : Mechanism or None
        If the states are its positions and velocities and nothing else acts on it.
    """

    x: SX
    f: SX
    g: SX
    h: SX
    state_names: Sequence[str] = ()
    input_names: Sequence[str] = ()
    output_names: Sequence[str] = ()
    input_units: Sequence[str] = ()
    output_units: Sequence[str] = ()
    name: str = "system"
    mechanism: Mechanism | None = None

    def __post_init__(self) -> None:
        for field in "fgh":
            object.__setattr__(self, field, ca.densify(SX(getattr(self, field))))
        n, m = self.x.numel(), self.h.numel()
        shapes = (self.x.shape, self.f.shape, self.g.shape, self.h.shape)
        if shapes != ((n, 1), (n, 1), (n, m), (m, 1)) or not n or not m:
            raise InputError(
                f"{self.name}: found x, f, g, h of shapes {', '.join(map(str, shapes))}; expected (n, 1), (n, 1), (n, m), (m, 1): "
                "as many inputs (columns of g) as outputs"
            )
        if not self.x.is_valid_input():
            raise InputError(f"{self.name}: x holds expressions; expected SX symbols, such as SX.sym('x', 4)")
        strange = [
            s.name() for s in ca.symvar(ca.vertcat(self.f, ca.vec(self.g), self.h)) if not _among(s, self.x)
        ]
        if strange:
            raise InputError(
                f"{self.name}: found the symbols {', '.join(strange)} in f, g or h; expected those of x only: put numbers in for parameters"
            )
        for field, count, default in (
            ("state_names", n, "x.{}"),
            ("input_names", m, "u.{}"),
            ("output_names", m, "y.{}"),
            ("input_units", m, "-"),
            ("output_units", m, "-"),
        ):
            names = tuple(getattr(self, field)) or tuple(default.format(i) for i in range(count))
            if len(names) != count:
                raise InputError(f"{self.name}: found {len(names)} {field}; expected {count}")
            object.__setattr__(self, field, names)

    @staticmethod
    def affine(x: SX, u: SX, rate: SX, y: SX, **names: Any) -> NonlinearSystem:
        """Return the system with x' = rate(x, u), which must be affine in u, and y(x)."""
        rate, y = SX(rate), SX(y)
        if ca.depends_on(y, u):
            raise InputError(
                "nonlinear system: y depends on u; expected y = h(x): invert a system with feedthrough by solving y = h(x, u) for u"
            )
        g = ca.jacobian(rate, u)
        if ca.depends_on(g, u):
            rows = [i for i in range(x.numel()) if ca.depends_on(g[i, :], u)]
            raise InputError(
                f"nonlinear system: rate {rows[0]} is not affine in u; expected f(x) + g(x) u: make u a state and its rate the input"
            )
        return NonlinearSystem(x, ca.substitute(rate, u, SX.zeros(u.shape)), g, y, **names)

    @staticmethod
    def of_functions(f: ca.Function, g: ca.Function, h: ca.Function, **names: Any) -> NonlinearSystem:
        """Return the system of CasADi functions of x."""
        x = SX.sym("x", f.size1_in(0))
        return NonlinearSystem(x, f(x), g(x), h(x), **names)

    @staticmethod
    def linear(plant: Any) -> NonlinearSystem:
        """Return a linear plant (see `articulus.control.as_plant`) without feedthrough."""
        model = as_plant(plant, "stable_inversion")
        if model.period is not None or np.any(model.D):
            raise InputError(
                "stable_inversion: found a sampled plant or one with feedthrough; expected x' = A x + B u, y = C x"
            )
        x = SX.sym("x", len(model.A))
        return NonlinearSystem(
            x,
            SX(model.A) @ x,
            SX(model.B),
            SX(model.C) @ x,
            model.states,
            model.inputs,
            model.outputs,
            model.input_units,
            model.output_units,
            model.name or "plant",
        )

    @functools.cached_property
    def rate(self) -> ca.Function:
        """(x, u) -> x'."""
        u = SX.sym("u", self.h.numel())
        return ca.Function("rate", [self.x, u], [self.f + ca.mtimes(self.g, u)])

    @functools.cached_property
    def output(self) -> ca.Function:
        """x -> y."""
        return ca.Function("output", [self.x], [self.h])


def _among(symbol: SX, symbols: SX) -> bool:
    return any(ca.is_equal(symbol, s) for s in ca.symvar(symbols))


FEW = 16
"""Rows below which no native code is made."""


class RowFunction:
    """A CasADi function of column vectors for many rows of arguments at once.

    Called with arrays (N, k) it returns arrays (N, k) of column vectors and (N, i, j) of matrices.
    """

    def __init__(self, function: ca.Function):
        self.function = function
        self._native: kernel.Kernel | None = None

    def __call__(self, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
        if len(arguments[0]) < FEW:
            return self._one_by_one(arguments)
        if self._native is None:
            outputs = tuple(1 if self.function.size2_out(i) == 1 else 2 for i in range(self.function.n_out()))
            ranks = (1,) * self.function.n_in(), outputs
            self._native = kernel.compile(self.function, finite=False, ranks=ranks)
        found = self._native(*arguments)
        return found if isinstance(found, tuple) else (found,)

    def _one_by_one(self, arguments: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        found = [
            [np.array(v) for v in self.function.call([ca.DM(a) for a in row])] for row in zip(*arguments)
        ]
        stacked = [np.array(values) for values in zip(*found)]
        return tuple(v[:, :, 0] if v.shape[2] == 1 else v for v in stacked)
