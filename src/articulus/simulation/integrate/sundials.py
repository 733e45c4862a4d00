"""CVODES and IDAS of SUNDIALS, as CasADi builds and calls them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate.base import Integrator

REASONS = {
    "TOO_MUCH_WORK": "max_steps steps were not enough",
    "TOO_MUCH_ACC": "the tolerances are smaller than rounding allows",
    "ERR_FAIL": "the error test failed at the smallest step; likely f jumps, or x runs off to infinity",
    "CONV_FAIL": "Newton's iteration did not converge; likely f is not smooth, z0 is far off, or the index is above 1",
    "RHSFUNC": "f is not finite; likely a singular position, or x runs off to infinity",
    "RES_FAIL": "f or g is not finite; likely a singular position, or x runs off to infinity",
    "NO_RECOVERY": "no consistent start was found; give a better z0, unless the index is above 1",
}
"""What parts of the codes of SUNDIALS mean."""
CAUSES = {
    "ERR_FAIL": "step too small",
    "CONV_FAIL": "not converged",
    "RHSFUNC": "singular",
    "RES_FAIL": "singular",
}
"""Causes of failures (`NumericalError.cause`) by parts of the codes of SUNDIALS."""


@dataclasses.dataclass(frozen=True)
class Sundials(Integrator):
    """A variable-order, variable-step solver of the SUNDIALS suite through CasADi, with exact sparse Jacobians.

    Parameters
    ----------
    rtol, atol : float
        Relative and absolute tolerance of a step.
    max_steps : int
        Steps between two output times after which it gives up.
    longest : float
        Longest step as a part of the interval; 0: any.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_steps: int = 100_000
    longest: float = 0.0
    kind = "casadi"
    controls_error = True
    order = None
    options: ClassVar[dict[str, Any]] = {}
    """Further options of the solver."""

    def __post_init__(self) -> None:
        if not (self.rtol > 0 and self.atol > 0):
            raise InputError(
                f"{self.name}: rtol = {self.rtol!r}, atol = {self.atol!r}; expected both above 0"
            )


class Prepared:
    """A solver that is built once and integrates over any interval.

    The interval is mapped to 0 ... 1 and its ends are parameters: x' becomes (t1 - t0) f(t0 + s (t1 - t0), ...).

    Parameters
    ----------
    method : Sundials
    rates : casadi.Function
        (t, x, z, p) -> (x', residual).
    fractions : sequence of float
        Output times as parts of the interval; the last is 1.
    """

    def __init__(self, method: Sundials, rates: ca.Function, fractions: Sequence[float]):
        x, z, p = (ca.MX.sym(rates.name_in(i), rates.sparsity_in(i)) for i in (1, 2, 3))
        s, t0, length = ca.MX.sym("s"), ca.MX.sym("t0"), ca.MX.sym("length")
        rate, residual = rates(t0 + s * length, x, z, p)
        dae = {"t": s, "x": x, "z": z, "p": ca.vertcat(p, t0, length), "ode": length * rate, "alg": residual}
        options = {
            "reltol": method.rtol,
            "abstol": method.atol,
            "max_num_steps": method.max_steps,
            "disable_internal_warnings": True,
            "show_eval_warnings": False,
            **({"max_step_size": method.longest} if method.longest else {}),
            **method.options,
        }
        self._method, self._fractions = method, np.asarray(fractions, dtype=float)
        self._sizes = {"x0": x.numel(), "z0": z.numel(), "p": p.numel()}
        if not (np.diff([0.0, *fractions]) >= 0).all() or list(fractions[-1:]) != [1.0]:
            raise InputError(
                f"{method.name}: fractions {list(fractions)}; expected rising numbers from 0 to 1, the last 1"
            )
        self._solver = ca.integrator(method.name, method.name, dae, 0.0, self._fractions.tolist(), options)

    def solve(self, t0: float, t1: float, x0: Any, z0: Any, p: Any = ()) -> tuple[np.ndarray, np.ndarray]:
        """Return x and z, (fractions, n), at the fractions of the interval."""
        given = {"x0": x0, "z0": z0, "p": p}
        values = {name: np.asarray(value, dtype=float).ravel() for name, value in given.items()}
        for name, value in values.items():
            if value.size != self._sizes[name] or not np.isfinite(value).all():
                raise InputError(
                    f"{self._method.name}: {name} = {value}; expected {self._sizes[name]} finite numbers"
                )
        try:
            out = self._solver(
                x0=values["x0"], z0=values["z0"], p=np.concatenate([values["p"], [t0, t1 - t0]])
            )
        except RuntimeError as error:
            reason, cause = _reason(str(error))
            text = f"{self._method.name}: {reason}; from t = {t0:.9g} to {t1:.9g} s"
            raise NumericalError(text, cause=cause) from error
        x, z = np.array(out["xf"]).T, np.array(out["zf"]).T
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            raise NumericalError(
                f"{self._method.name}: the result is not finite; from t = {t0:.9g} to {t1:.9g} s"
            )
        return x, z


def fractions_of(times: Any, name: str) -> tuple[float, float, np.ndarray]:
    """Return the ends of rising or falling times, and all times as parts of the interval."""
    t = np.asarray(times, dtype=float)
    if t.ndim != 1 or t.size < 2 or not (np.all(np.diff(t) > 0) or np.all(np.diff(t) < 0)):
        raise InputError(f"{name}: times {times!r}; expected at least two, all rising or all falling")
    fractions = (t - t[0]) / (t[-1] - t[0])
    return float(t[0]), float(t[-1]), fractions


def check_signature(function: ca.Function, inputs: Sequence[str], outputs: Sequence[str], name: str) -> None:
    """Raise an error unless a function has the expected number of columns in and out."""
    if function.n_in() != len(inputs) or function.n_out() != len(outputs):
        raise InputError(
            f"{name}: the function has {function.n_in()} inputs and {function.n_out()} outputs; "
            f"expected ({', '.join(inputs)}) -> ({', '.join(outputs)})"
        )


def _reason(text: str) -> tuple[str, str]:
    """Return what SUNDIALS says, in words, and the cause of the failure."""
    code = re.search(r'returned "(?:CV|IDA)_(\w+)"', text)
    if code is None:
        return text.strip().splitlines()[-1], ""
    meaning = next((text for part, text in REASONS.items() if part in code[1]), "failed")
    cause = next((cause for part, cause in CAUSES.items() if part in code[1]), "")
    return f"{meaning} ({code[1]})", cause


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


@dataclasses.dataclass(frozen=True)
class Idas(Sundials):
    """Backward differentiation formulas of orders 1 to 5 for x' = f(t, x, z, p), 0 = g(t, x, z, p) of index 1.

    Source: Serban & Hindmarsh 2005.
    """

    name = "idas"
    keeps_constraints = True
    options: ClassVar = {"first_time": 1e-6, "suppress_algebraic": True}
    """The search for a consistent start takes its scale from the first; a long one ends in rounding. z follows from x and
    is omitted of the error test: multipliers that peak at a singular position would stop the run there."""

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
