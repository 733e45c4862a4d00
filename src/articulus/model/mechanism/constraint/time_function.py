"""Functions of time that prescribe a motion: small frozen descriptions, one class each.

`ALL_TIME_FUNCTIONS` is the list that readers and documentation go by.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError
from articulus.kernel.lookup import LONG, interval, looked_up
from articulus.model.mechanism.constraint.base import Kinematics
from articulus.model.mechanism.constraint.formula import Formula, formula
from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_numbers,
    convert,
    quantity,
    values_of,
)


@runtime_checkable
class OverTime(Protocol):
    """What has values at all times and says them as a function: paths, piecewise polynomials."""

    def function(self) -> ca.Function:
        """Return the values as a function of t [s]."""


class TimeFunction(abc.ABC):
    """A value that depends on time alone."""

    in_file = "function"

    type_name: ClassVar[str]

    @abc.abstractmethod
    def value(self, k: Kinematics) -> SX:
        """Return the value at the time `k.t`."""

    @property
    def jumps(self) -> tuple[float, ...]:
        """Times at which its second derivative jumps [s]."""
        return ()

    @staticmethod
    def of(value: Any) -> TimeFunction:
        """Return the function meant by a TimeFunction, a number (a constant) or a casadi.Function of t."""
        if isinstance(value, TimeFunction):
            return value
        if isinstance(value, OverTime):
            value = value.function()
        if isinstance(value, ca.Function):
            return CustomTimeFunction(Formula(value, "t"))
        try:
            return Polynomial((as_number(value),))
        except InputError:
            raise InputError(
                Finding(
                    "",
                    repr(value),
                    "a Polynomial, a Harmonic, a Spline, a path, a number or a casadi.Function of t",
                )
            ) from None


@dataclass(frozen=True)
class Polynomial(TimeFunction):
    """c0 + c1 t + c2 t^2 + ...

    Parameters
    ----------
    coefficients : numbers, the constant first [rad or m, over s to the power of t]
    """

    coefficients: Vector = quantity("-", "c0, c1, c2, ... of c0 + c1 t + c2 t^2 + ..., SI units", size="any")

    type_name = "polynomial"

    def __post_init__(self) -> None:
        convert(self, coefficients=as_numbers)
        if not self.coefficients:
            raise InputError(
                Finding("Polynomial.coefficients", "no number", "at least one", field="coefficients")
            )

    def value(self, k: Kinematics) -> SX:
        total = SX(0)
        for c in reversed(self.coefficients):
            total = total * k.t + k.number(c)
        return total


@dataclass(frozen=True)
class Harmonic(TimeFunction):
    """offset + amplitude sin(frequency t + phase).

    Parameters
    ----------
    amplitude : number [rad or m]
    frequency : number [rad/s]
    phase : number [rad]
    offset : number [rad or m]
    """

    amplitude: Number = quantity("rad or m", "amplitude")
    frequency: Number = quantity("rad/s", "angular frequency")
    phase: Number = quantity("rad", "phase at t = 0", default=0.0)
    offset: Number = quantity("rad or m", "mean value", default=0.0)

    type_name = "harmonic"

    def __post_init__(self) -> None:
        convert(self, amplitude=as_number, frequency=as_number, phase=as_number, offset=as_number)

    def value(self, k: Kinematics) -> SX:
        a, w, phase, offset = map(k.number, (self.amplitude, self.frequency, self.phase, self.offset))
        return offset + a * ca.sin(w * k.t + phase)


@dataclass(frozen=True)
class Spline(TimeFunction):
    """A cubic spline through points, with given rates at both ends (at rest if not given) and constant beyond them.

    Position, rate and acceleration are those of the one spline: piecewise cubic with continuous rate everywhere, and
    continuous acceleration between the ends.

    Parameters
    ----------
    times : numbers [s]
        Ascending, two or more.
    values : numbers, one per time [rad or m]
    end_rates : two numbers [rad/s or m/s]
        Rates at the first and at the last time; zero if not given.
    """

    times: Vector = quantity("s", "ascending times", size="any")
    values: Vector = quantity("rad or m", "one value per time", size="any")
    end_rates: Vector = quantity(
        "rad/s or m/s", "rates at both ends; zero if not given", size="2", default=(0.0, 0.0)
    )

    type_name = "spline"

    def __post_init__(self) -> None:
        convert(self, times=as_numbers, values=as_numbers, end_rates=as_numbers)
        if len(self.end_rates) != 2 or not all(isinstance(x, float) for x in self.end_rates):
            raise InputError(
                Finding("Spline.end_rates", f"{self.end_rates}", "two plain numbers", field="end_rates")
            )
        plain = all(isinstance(x, float) for x in (*self.times, *self.values))
        if not plain or len(self.times) < 2 or len(self.times) != len(self.values):
            raise InputError(
                f"Spline: {len(self.times)} times and {len(self.values)} values; expected two or more plain numbers, as many of each"
            )
        if not (np.diff(np.array(self.times, dtype=float)) > 0).all():
            raise InputError("expected ascending times, each once").within("Spline.times", "times")

    def value(self, k: Kinematics) -> SX:
        times, pieces = self._pieces()
        if len(times) >= LONG:
            begin, *c = ca.vertsplit(
                looked_up(np.column_stack([times, pieces]), interval(times, ca.fmax(k.t, times[0])))
            )
            return _cubic(c, ca.fmax(k.t, times[0]) - begin)
        after = [k.t >= start for start in times]
        total = (1 - after[0]) * pieces[0, 0] + after[-1] * pieces[-1, 0]
        for i, c in enumerate(pieces[:-1]):
            total += (after[i] - after[i + 1]) * _cubic(c, k.t - times[i])
        return total

    def _pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the times, and for each the coefficients c0 + c1 s + c2 s^2 + c3 s^3 of what follows, (n, 4); constant after the last."""
        times, y = np.array(self.times, dtype=float), np.array(self.values, dtype=float)
        rates, h = self._rates(times, y, *values_of(self.end_rates)), np.diff(times)
        slope = np.diff(y) / h
        pieces = np.zeros((len(times), 4))
        pieces[:, 0], pieces[:-1, 1] = y, rates[:-1]
        pieces[:-1, 2] = (3 * slope - 2 * rates[:-1] - rates[1:]) / h
        pieces[:-1, 3] = (rates[:-1] + rates[1:] - 2 * slope) / h**2
        return times, pieces

    @property
    def jumps(self) -> tuple[float, ...]:
        return values_of((self.times[0], self.times[-1]))

    @staticmethod
    def _rates(times: np.ndarray, y: np.ndarray, first: float, last: float) -> np.ndarray:
        """Return the rates at the points with which the acceleration is continuous, given those at both ends."""
        h = np.diff(times)
        slope = np.diff(y) / h
        diagonal, b = 2 * (h[:-1] + h[1:]), 3 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
        b[:1] -= h[1:2] * first
        for i in range(1, len(b)):  # downwards: row i holds h[i + 1] below and h[i] above the diagonal
            factor = h[i + 1] / diagonal[i - 1]
            diagonal[i] -= factor * h[i - 1]
            b[i] -= factor * b[i - 1]
        rates = np.zeros(len(times))
        rates[[0, -1]] = first, last
        for i in range(len(b) - 1, -1, -1):
            rates[i + 1] = (b[i] - h[i] * rates[i + 2]) / diagonal[i]
        return rates


def _cubic(c: Any, s: SX) -> SX:
    return c[0] + s * (c[1] + s * (c[2] + s * c[3]))


@dataclass(frozen=True)
class CustomTimeFunction(TimeFunction):
    """A casadi.Function of t, twice differentiable; cannot be written to a file.

    Parameters
    ----------
    function : casadi.Function
        From t [s] to one number.
    """

    function: Formula

    type_name = "custom"

    def __post_init__(self) -> None:
        convert(self, function=formula("t"))
        if (self.function.sizes(), self.function.rows) != ((1,), 1):
            raise InputError("expected one number t in and one number out").within(
                "CustomTimeFunction.function", "function"
            )

    def value(self, k: Kinematics) -> SX:
        return self.function(k.t)


ALL_TIME_FUNCTIONS: tuple[type[TimeFunction], ...] = (Polynomial, Harmonic, Spline, CustomTimeFunction)
