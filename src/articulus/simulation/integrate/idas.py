"""IDAS through CasADi."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from articulus.simulation.integrate.sundials import Prepared, Sundials, check_signature, fractions_of


@dataclasses.dataclass(frozen=True)
class Idas(Sundials):
    """Backward differentiation formulas of orders 1 to 5 for x' = f(t, x, z, p), 0 = g(t, x, z, p) of index 1.

    Source: Serban & Hindmarsh 2005.
    """

    name = "idas"
    keeps_constraints = True
    options: ClassVar = {"first_time": 1e-6, "suppress_algebraic": True}
    """The search for a consistent start takes its scale from the first; a long one ends in rounding. z follows from x and
    is left out of the error test: multipliers that peak at a singular position would stop the run there."""

    def prepare(
        self, dae: ca.Function, fractions: Sequence[float] = (1.0,)
    ) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        """Return solve(t0, t1, x0, z0, p=()) -> x and z, (fractions, n), built once for many intervals.

        Parameters
        ----------
        dae : casadi.Function
            (t, x, z, p) -> (x', g), columns.
        fractions : sequence of float
            Output times as parts of the interval; the last is 1.
        """
        check_signature(dae, ("t", "x", "z", "p"), ("xdot", "g"), self.name)
        return Prepared(self, dae, fractions).solve

    def integrate(
        self, dae: ca.Function, times: Any, x0: Any, z0: Any, p: Any = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return x and z, (times, n), at rising or falling times [s].

        x0 holds at the first; z0 is a guess there, made consistent.

        Raises
        ------
        NumericalError
            With the reason that SUNDIALS gives.
        """
        t0, t1, fractions = fractions_of(times, self.name)
        return self.prepare(dae, fractions.tolist())(t0, t1, x0, z0, p)
