"""Costs and conditions of a mechanism's motion, as objects: how long it takes, what its motors spend, what a user writes.

A cost of a new kind is a class here and a line in `ALL_COSTS`; one that is used once is a function given to `plan`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.motion.trajectory.problem import PhaseConstraint
from articulus.motion.trajectory.quantities import quantity

WHEN = ("path", "start", "end")
"""When conditions hold: all the way, at the start, at the end."""


@dataclass(frozen=True, eq=False)
class MotionSymbols:
    """What costs and conditions are written in: the motion at one time, as symbols of CasADi.

    Parameters
    ----------
    mechanism : Mechanism
    q, v, a : casadi.SX, (nq,), (nv,), (nv,)
        Positions, velocities and accelerations.
    u : casadi.SX
        Forces of the actuators [N m or N].
    force_sizes : array
        Limits of these forces, 1 where there is none.
    t : casadi.SX
        Time since the start of the motion [s]; only where the task has a clock.
    p : casadi.SX
        Named parameters of the mechanism: numbers, and symbols where the plan may choose them.
    rates : casadi.SX
        Limited jerks, or limited rates of forces, over their limits; none where neither is limited.
    """

    mechanism: Mechanism
    q: SX
    v: SX
    a: SX
    u: SX
    force_sizes: np.ndarray
    t: SX
    p: SX
    rates: SX

    def pose(self, frame: str) -> SX:
        """Return the pose of a body or frame in the ground frame, (4, 4)."""
        return quantity(self.mechanism, "pose", [frame], self.p)(self.q)

    def parameter(self, name: str) -> SX:
        """Return a named parameter of the mechanism."""
        names = [p.name for p in self.mechanism.description.parameters]
        if name not in names:
            raise InputError(f"parameter: found '{name}'; {did_you_mean(name, names)}")
        return self.p[names.index(name)]

    def point(self, frame: str) -> SX:
        """Return where the origin of a body or frame is in the ground frame, (3,) [m]."""
        return self.pose(frame)[:3, 3]

    def point_velocity(self, frame: str) -> SX:
        """Return the velocity of the origin of a body or frame in the ground frame, (3,) [m/s]."""
        rate = quantity(self.mechanism, "position_rate")(self.q, self.v)
        return ca.jtimes(self.point(frame), self.q, rate)


class Cost(abc.ABC):
    """A part of what a motion costs: its weight times the integral of `running` plus `final`."""

    weight: float

    def running(self, motion: MotionSymbols) -> SX | None:
        """Return the cost per time, of the motion at one time; None if there is none."""
        return None

    def final(self, motion: MotionSymbols, duration: SX) -> SX | None:
        """Return the cost at the end, of the motion there and its duration [s]; None if there is none."""
        return None


@dataclass(frozen=True)
class Time(Cost):
    """The duration [s]."""

    weight: float = 1.0

    def final(self, motion: MotionSymbols, duration: SX) -> SX:
        return duration


@dataclass(frozen=True)
class Effort(Cost):
    """The integral of the sum of (u / limit)^2, over 1 where there is no limit."""

    weight: float = 1.0

    def running(self, motion: MotionSymbols) -> SX:
        return ca.sumsqr(motion.u / ca.DM(motion.force_sizes))


@dataclass(frozen=True)
class Acceleration(Cost):
    """The integral of the sum of squared accelerations of the coordinates."""

    weight: float = 1.0

    def running(self, motion: MotionSymbols) -> SX:
        return ca.sumsqr(motion.a)


@dataclass(frozen=True)
class RateEffort(Cost):
    """The integral of the sum of (jerk / limit)^2, or of (rate of force / limit)^2; nothing where neither is limited."""

    weight: float = 1.0

    def running(self, motion: MotionSymbols) -> SX | None:
        return ca.sumsqr(motion.rates) if motion.rates.numel() else None


@dataclass(frozen=True)
class FunctionCost(Cost):
    """A cost of a user's own.

    Parameters
    ----------
    function : callable
        MotionSymbols -> cost per time, or with `when="end"` cost at the end; an expression of CasADi.
    weight : float
    when : "path" or "end"
    """

    function: Callable[[MotionSymbols], SX]
    weight: float = 1.0
    when: str = "path"

    def __post_init__(self) -> None:
        if self.when not in ("path", "end"):
            raise InputError(f'FunctionCost.when: found {self.when!r}; expected "path" or "end"')

    def running(self, motion: MotionSymbols) -> SX | None:
        return _scalar(self.function(motion)) if self.when == "path" else None

    def final(self, motion: MotionSymbols, duration: SX) -> SX | None:
        return _scalar(self.function(motion)) if self.when == "end" else None


ALL_COSTS: dict[str, type[Cost]] = {
    "time": Time,
    "effort": Effort,
    "acceleration": Acceleration,
    "rate": RateEffort,
}
"""Costs by the name that they have in weights and task files."""
SHORT: dict[str, dict[str, float]] = {
    "effort": {"effort": 1.0, "rate": 1e-3},
    "time": {"time": 1.0, "effort": 1e-4, "rate": 1e-4},
}
"""Weights by the word that stands for them; a little effort makes the answer of least time unique, and a little of limited rates keeps them from swinging."""


def costs_of(given: Any) -> tuple[Cost, ...]:
    """Return costs of a word, of weights by name, of a cost or several, or of a function of `MotionSymbols`; raise InputError for others."""
    listed = [given] if isinstance(given, Cost) or callable(given) else given
    if isinstance(given, str) and given in SHORT:
        listed = SHORT[given]
    if isinstance(listed, Mapping):
        for name in listed:
            if name not in ALL_COSTS:
                raise InputError(
                    f"cost: found '{name}'; {did_you_mean(str(name), ALL_COSTS)} Expected {', '.join(ALL_COSTS)}"
                )
        costs = tuple(kind(listed[name]) for name, kind in ALL_COSTS.items() if name in listed)  # type: ignore[call-arg]
    elif isinstance(listed, Sequence) and all(isinstance(x, Cost) or callable(x) for x in listed):
        costs = tuple(x if isinstance(x, Cost) else FunctionCost(x) for x in listed)
    else:
        shown = f'"{given}"' if isinstance(given, str) else repr(given)
        raise InputError(
            f'cost: found {shown}; expected "effort", "time", a dict of weights, a cost such as Time() or a list of them'
        )
    weights = [each.weight for each in costs]
    if not all(isinstance(w, Real) and 0 <= float(w) < np.inf for w in weights) or not any(weights):
        raise InputError(f"cost: found {given!r}; expected nonnegative weights, at least one above zero")
    return costs


@dataclass(frozen=True)
class Condition:
    """lower <= function <= upper, of a user's own.

    Parameters
    ----------
    name : str
        For messages and reports.
    function : callable
        MotionSymbols -> column of expressions.
    lower, upper : float or sequence of float
        For all rows, or for each.
    when : "path", "start" or "end"
        All the way, or at an end only.
    """

    name: str
    function: Callable[[MotionSymbols], SX]
    lower: Any = -np.inf
    upper: Any = np.inf
    when: str = "path"

    def __post_init__(self) -> None:
        if self.when not in WHEN:
            raise InputError(
                f"condition '{self.name}': found when={self.when!r}; {did_you_mean(str(self.when), WHEN)}"
            )

    def constraint(self, motion: MotionSymbols, z: SX) -> PhaseConstraint:
        """Return it as a constraint on the unknowns z."""
        rows = ca.densify(ca.vec(SX(self.function(motion))))
        if not ca.depends_on(rows, z):
            raise InputError(
                f"condition '{self.name}': found an expression that does not depend on the motion; expected one of q, v, a, u or frames"
            )
        try:
            lower, upper = (
                np.broadcast_to(np.asarray(side, dtype=float), (rows.numel(),))
                for side in (self.lower, self.upper)
            )
        except ValueError:
            raise InputError(
                f"condition '{self.name}': found bounds {self.lower!r} and {self.upper!r}; expected numbers for {rows.numel()} rows"
            ) from None
        return PhaseConstraint(self.name, ca.Function("condition", [z], [rows]), lower, upper)


def _scalar(given: Any) -> SX:
    try:
        value = SX(given)
    except (NotImplementedError, TypeError):
        value = SX(0, 0)
    if value.numel() != 1:
        raise InputError(f"cost: found {given!r} from a function; expected one expression of CasADi")
    return value
