"""CVODES through CasADi."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from articulus.simulation.integrate.sundials import Prepared, Sundials, check_signature, fractions_of


@dataclasses.dataclass(frozen=True)
class Cvodes(Sundials):
    """Backward differentiation formulas of orders 1 to 5 for stiff x' = f(t, x, p).

    Source: Serban & Hindmarsh 2005.
    """

    name = "cvodes"

    def prepare(self, rhs: ca.Function, fractions: Sequence[float] = (1.0,)) -> Callable[..., np.ndarray]:
        """Return solve(t0, t1, x0, p=()) -> x, (fractions, n), built once for many intervals.

        Parameters
        ----------
        rhs : casadi.Function
            (t, x, p) -> x', columns.
        fractions : sequence of float
            Output times as parts of the interval; the last is 1.
        """
        check_signature(rhs, ("t", "x", "p"), ("xdot",), self.name)
        t, x, p = (ca.MX.sym(rhs.name_in(i), rhs.sparsity_in(i)) for i in range(3))
        rates = ca.Function("rates", [t, x, ca.MX(0, 1), p], [rhs(t, x, p), ca.MX(0, 1)])
        prepared = Prepared(self, rates, fractions)
        return lambda t0, t1, x0, p=(): prepared.solve(t0, t1, x0, (), p)[0]

    def integrate(self, rhs: ca.Function, times: Any, x0: Any, p: Any = ()) -> np.ndarray:
        """Return x, (times, n), at rising or falling times [s]; x0 holds at the first.

        Raises
        ------
        NumericalError
            With the reason that SUNDIALS gives.
        """
        t0, t1, fractions = fractions_of(times, self.name)
        return self.prepare(rhs, fractions.tolist())(t0, t1, x0, p)
