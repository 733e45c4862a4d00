"""Functions of time side by side, looked up on symbols: splines, harmonics, polynomials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import casadi as ca
from casadi import SX

from articulus.model.mechanism import TimeFunction
from articulus.model.mechanism.constraint.base import Kinematics
from articulus.model.mechanism.numbers import Number, value_of


@dataclass(frozen=True)
class TimeFunctions:
    """A column of functions of time.

    Parameters
    ----------
    functions : tuple of TimeFunction
        One per entry of the column.
    """

    functions: tuple[TimeFunction, ...]

    @staticmethod
    def of(x: Any) -> TimeFunctions | None:
        """Return the course meant by a TimeFunction, or by a sequence with one in it; None for anything else."""
        items = tuple(x) if isinstance(x, list | tuple) else (x,)
        if not any(isinstance(item, TimeFunction) for item in items):
            return None
        return TimeFunctions(tuple(map(TimeFunction.of, items)))

    @property
    def width(self) -> int:
        """Return the number of entries."""
        return len(self.functions)

    @property
    def times(self) -> tuple[float, ...]:
        """Times at which a second derivative jumps [s]."""
        return tuple(sorted({t for f in self.functions for t in f.jumps}))

    def at(self, t: SX, number: Callable[[Number], Any] = value_of) -> SX:
        """Return the column at time t, (width,); `number` turns each number of a function into an expression."""
        clock = cast(Kinematics, _Clock(t, number))
        return ca.vertcat(*(f.value(clock) for f in self.functions))


@dataclass(frozen=True)
class _Clock:
    """What a function of time sees."""

    t: SX
    number: Callable[[Number], Any]
