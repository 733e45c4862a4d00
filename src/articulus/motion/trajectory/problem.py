"""`Problem`: what is to be moved, within which limits, at what cost; the same for all methods.

The unknowns at every time are one column z: states, whatever their rates are made of, inputs, forces of closed loops. A state's rate is
another entry of z, and equations tie the entries of z together at every time. So a mechanism has z = (q, v, a, u) with the rates
q' = v, v' = a and the equation of inverse dynamics, and an ordinary differential equation z = (x, f, u) with x' = f and f = f(x, u).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError

ANY = (-np.inf, np.inf)
Guess = Callable[[np.ndarray, float], np.ndarray]


@dataclass(frozen=True, eq=False)
class PhaseConstraint:
    """lower <= c(z) <= upper.

    Parameters
    ----------
    name : str
        For messages and reports.
    function : casadi.Function
        z (n,) -> c (m,).
    lower, upper : array, (m,)
    """

    name: str
    function: ca.Function
    lower: np.ndarray
    upper: np.ndarray

    def __post_init__(self) -> None:
        for k in np.flatnonzero(~(np.asarray(self.lower) <= np.asarray(self.upper))):
            raise InputError(
                f"constraint '{self.name}', row {k}: found bounds {self.lower[k]:g} and {self.upper[k]:g}; expected the lower one first. "
                "No motion keeps them"
            )


@dataclass(frozen=True, eq=False)
class Phase:
    """A part of the motion with one set of equations.

    Parameters
    ----------
    name : str
    names : tuple of str
        Names of the entries of z.
    rates : dict of int to int
        For each state its place in z, and the place of its rate.
    inputs : tuple of int
        Places of what may be chosen freely; states and inputs determine the rest of z by the equations.
    equations : casadi.Function
        z -> residuals, zero at every time.
    duration : (float, float) [s]
        Least and largest; equal if it is given.
    lower, upper : array, (n,)
        Bounds of z at every time.
    scale : array, (n,)
        Size of each entry.
    start, end : (array, array), (n,) each
        Bounds of z at the start and at the end, within those of every time.
    path, at_start, at_end : tuple of PhaseConstraint
        At every time, at the start, at the end.
    running : casadi.Function or None
        z -> cost per time.
    final : casadi.Function or None
        (z, duration) -> cost at the end.
    guess : callable
        (fractions of the duration (k,), duration [s]) -> z there, (k, n).
    """

    name: str
    names: tuple[str, ...]
    rates: Mapping[int, int]
    inputs: tuple[int, ...]
    equations: ca.Function
    duration: tuple[float, float]
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray
    start: tuple[np.ndarray, np.ndarray]
    end: tuple[np.ndarray, np.ndarray]
    path: tuple[PhaseConstraint, ...] = ()
    at_start: tuple[PhaseConstraint, ...] = ()
    at_end: tuple[PhaseConstraint, ...] = ()
    running: ca.Function | None = None
    final: ca.Function | None = None
    guess: Guess | None = None

    def __post_init__(self) -> None:
        require_duration(self.name, self.duration)
        determined = self.size - len(self.rates) - len(self.inputs)
        if self.equations.numel_out(0) != determined:
            raise InputError(
                f"phase '{self.name}': found {self.equations.numel_out(0)} equations for {determined} unknowns that are neither states nor "
                "inputs; expected as many"
            )
        for where, (lower, upper) in (
            ("every time", (self.lower, self.upper)),
            ("the start", self.start),
            ("the end", self.end),
        ):
            for k in np.flatnonzero(np.isnan(lower) | np.isnan(upper)):
                raise InputError(
                    f"phase '{self.name}': {self.names[k]} at {where}: found bounds {lower[k]:g} and {upper[k]:g}; expected numbers"
                )
            for k in np.flatnonzero(np.maximum(lower, self.lower) > np.minimum(upper, self.upper)):
                raise InputError(
                    f"phase '{self.name}': {self.names[k]} at {where} is to lie between {max(lower[k], self.lower[k]):g} and "
                    f"{min(upper[k], self.upper[k]):g}: no number does. The limits contradict each other"
                )

    @property
    def size(self) -> int:
        """Number of entries of z."""
        return len(self.names)

    @property
    def states(self) -> np.ndarray:
        """Places of the states in z."""
        return np.array(sorted(self.rates), dtype=int)


@dataclass(frozen=True, eq=False)
class PhaseLink:
    """What holds between the end of one phase and the start of the next: residuals of (z, z) that are zero."""

    function: ca.Function
    name: str = "link"


@dataclass(frozen=True, eq=False)
class Problem:
    """Phases one after another.

    Parameters
    ----------
    phases : tuple of Phase
    links : tuple of PhaseLink
        Between each phase and the next, one less than phases; states of the same name are continuous if none is given.
    """

    phases: tuple[Phase, ...]
    links: tuple[PhaseLink, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.phases or not all(isinstance(each, Phase) for each in self.phases):
            raise InputError(f"Problem: found phases {self.phases!r}; expected one or more Phase")
        if not self.links and len(self.phases) > 1:
            made = tuple(_continuous(a, b) for a, b in zip(self.phases, self.phases[1:]))
            object.__setattr__(self, "links", made)
        if len(self.links) != len(self.phases) - 1:
            raise InputError(
                f"Problem: found {len(self.links)} links of {len(self.phases)} phases; expected one less than phases"
            )


def _continuous(before: Phase, after: Phase) -> PhaseLink:
    a, b = SX.sym("a", before.size), SX.sym("b", after.size)
    shared = [
        (before.names.index(after.names[k]), int(k)) for k in after.states if after.names[k] in before.names
    ]
    for i, j in shared:
        ends = [(x[i], y[i]) for x, y in (before.end, (before.lower, before.upper))]
        starts = [(x[j], y[j]) for x, y in (after.start, (after.lower, after.upper))]
        last, first = ((max(low), min(high)) for low, high in (zip(*ends), zip(*starts)))
        if max(last[0], first[0]) > min(last[1], first[1]):
            raise InputError(
                f"Problem: {before.names[i]} is to lie between {last[0]:g} and {last[1]:g} at the end of '{before.name}' and between "
                f"{first[0]:g} and {first[1]:g} at the start of '{after.name}': it cannot be continuous. Expected bounds that meet, or a Link"
            )
    residual = ca.vertcat(SX(0, 1), *(a[i] - b[j] for i, j in shared))
    return PhaseLink(ca.Function("link", [a, b], [residual]), f"{before.name} to {after.name}")


def ode(
    x: SX,
    u: SX,
    rates: SX,
    *,
    duration: float | tuple[float, float],
    start: Sequence[Any],
    end: Sequence[Any] | None = None,
    running: SX | None = None,
    final: SX | None = None,
    time: SX | None = None,
    x_bounds: Sequence[tuple[float, float]] | None = None,
    u_bounds: Sequence[tuple[float, float]] | None = None,
    path: Mapping[str, tuple[SX, Any, Any]] | None = None,
    at_start: Mapping[str, tuple[SX, Any, Any]] | None = None,
    at_end: Mapping[str, tuple[SX, Any, Any]] | None = None,
    parameters: SX | None = None,
    parameter_bounds: Sequence[tuple[float, float]] | None = None,
    t: SX | None = None,
    name: str = "motion",
    guess: tuple[Any, Any] | None = None,
    scale: tuple[Any, Any] | None = None,
) -> Phase:
    """Return the phase of an ordinary differential equation x' = f(x, u).

    Parameters
    ----------
    x, u : casadi.SX
        Symbols of states and inputs.
    rates : casadi.SX
        f(x, u).
    duration : float or (float, float) [s]
        Given, or least and largest.
    start, end : sequence
        For each state a number, a pair of bounds, or None where it is free.
    running, final : casadi.SX
        Cost per time of x and u; cost of x and `time` at the end.
    time : casadi.SX
        Symbol that stands for the duration in `final`.
    x_bounds, u_bounds : sequence of (float, float)
    path, at_start, at_end : dict of name to (expression, lower, upper)
        Constraints on x and u, at every time, at the start and at the end.
    parameters : casadi.SX
        Symbols of numbers that do not change with time and may be chosen; states without a rate, by their names in the plan.
    parameter_bounds : sequence of (float, float)
    t : casadi.SX
        Symbol that stands for the time since the start of the phase [s], in all expressions.
    guess : (array, array)
        States along the way, (times, nx), and inputs; a straight line and zeros if not given.
    scale : (array, array)
        Sizes of states and inputs; from their bounds if not given.
    """
    nx, nu = x.numel(), u.numel()
    if rates.numel() != nx:
        raise InputError(f"ode: found {rates.numel()} rates of {nx} states; expected as many")
    if parameters is not None or t is not None:
        more, rest = _constants_and_clock(parameters, parameter_bounds, t, span(duration)[1])
        start, end, x_bounds = (
            [*(given if given is not None else [default] * nx), *each]
            for given, default, each in zip((start, end, x_bounds), (None, None, ANY), rest)
        )
        if guess is not None:
            known = np.atleast_2d(np.asarray(guess[0], dtype=float))
            guess = np.hstack([known, np.tile(_middle(np.array(rest[2])), (len(known), 1))]), guess[1]
        if scale is not None:
            scale = np.append(scale[0], _sizes(np.array(rest[2], dtype=float))), scale[1]
        x, rates = (
            ca.vertcat(x, more),
            ca.vertcat(rates, SX.zeros(more.numel() - (t is not None)), SX.ones(int(t is not None))),
        )
        nx = x.numel()
    f = SX.sym("f", nx)
    z = ca.vertcat(x, f, u)
    names = (
        *(str(s) for s in ca.vertsplit(x)),
        *(f"rate of {s}" for s in ca.vertsplit(x)),
        *(str(s) for s in ca.vertsplit(u)),
    )
    xb, ub = _pairs("x_bounds", x_bounds, nx), _pairs("u_bounds", u_bounds, nu)
    bounds = np.vstack([xb, np.tile(ANY, (nx, 1)), ub])
    first, last = (_ends(each, nx, nu, bounds) for each in (start, end))
    sizes = _sizes(bounds, first, last) if scale is None else np.concatenate([scale[0], scale[0], scale[1]])
    clock = SX.sym("T") if time is None else time
    conditions = [*(path or {}).values(), *(at_start or {}).values(), *(at_end or {}).values()]
    given = [each for each in (rates, running, final, *(e for e, _, _ in conditions)) if each is not None]
    _require_known(ca.vertcat(*(ca.vec(SX(each)) for each in given)), [x, u, clock])
    return Phase(
        name,
        names,
        {k: nx + k for k in range(nx)},
        tuple(range(2 * nx, 2 * nx + nu)),
        ca.Function("equations", [z], [f - rates]),
        span(duration),
        bounds[:, 0],
        bounds[:, 1],
        sizes,
        (first[:, 0], first[:, 1]),
        (last[:, 0], last[:, 1]),
        path=_constraints(z, path),
        at_start=_constraints(z, at_start),
        at_end=_constraints(z, at_end),
        running=None if running is None else ca.Function("running", [z], [running]),
        final=None if final is None else ca.Function("final", [z, clock], [final]),
        guess=_guess(first, last, nx, nu, guess),
    )


def _constants_and_clock(
    parameters: SX | None, bounds: Any, t: SX | None, longest: float
) -> tuple[SX, tuple[list[Any], list[Any], list[Any]]]:
    """Return parameters and time as states, with their bounds at the start, at the end and at every time."""
    count = 0 if parameters is None else parameters.numel()
    always = [tuple(pair) for pair in _pairs("parameter_bounds", bounds, count)]
    symbols = SX(0, 1) if parameters is None else ca.vec(parameters)
    start: list[Any] = [None] * count
    if t is not None:
        symbols, start, always = ca.vertcat(symbols, t), [*start, 0.0], [*always, (0.0, longest)]
    return symbols, (start, [None] * len(start), always)


def _pairs(what: str, given: Any, count: int) -> np.ndarray:
    """Return bounds, (count, 2)."""
    found = np.array([ANY] * count if given is None else given, dtype=float)
    if found.size != 2 * count:
        raise InputError(f"ode: {what}: found {given!r}; expected a pair of numbers for each of {count}")
    return found.reshape(count, 2)


def _require_known(expressions: SX, known: Sequence[SX]) -> None:
    """Refuse symbols that are neither states nor inputs nor the duration."""
    unknown = ca.Function("given", known, [expressions], {"allow_free": True}).free_sx()
    if unknown:
        raise InputError(
            f"ode: found the symbol '{unknown[0]}' in an expression; expected states, inputs and, in `final`, the symbol given as `time`"
        )


def require_duration(phase: str, duration: tuple[float, float]) -> None:
    """Refuse durations that are not positive and finite."""
    low, high = duration
    if not (0 < low <= high < np.inf):
        raise InputError(
            f"phase '{phase}': found a duration between {low:g} and {high:g} s; expected positive, finite bounds, the lower "
            "one first. Without them the motion may shrink to nothing or never end"
        )


def span(duration: Any) -> tuple[float, float]:
    """Return two numbers, the least and the largest, of a pair or of one."""
    try:
        low, high = duration if isinstance(duration, list | tuple) else (duration, duration)
        return float(low), float(high)
    except (TypeError, ValueError):
        raise InputError(
            f"found {duration!r}; expected a number, or a pair of the least and the largest. A duration that is free needs both, such as "
            "duration=(0.1, 10.0)"
        ) from None


def _ends(given: Sequence[Any] | None, nx: int, nu: int, bounds: np.ndarray) -> np.ndarray:
    held = [None] * nx if given is None else list(given)
    if len(held) != nx:
        raise InputError(
            f"ode: found {len(held)} values at an end; expected one per state, {nx} (None where it is free)"
        )
    rows = [ANY if x is None else span(x) for x in held]
    return np.vstack([np.array(rows, dtype=float).reshape(nx, 2), np.tile(ANY, (nx + nu, 1))])


def _sizes(bounds: np.ndarray, *ends: np.ndarray) -> np.ndarray:
    """Return a size for each entry: the largest finite bound, 1 where there is none."""
    each = np.abs(np.hstack([bounds, *ends]))
    largest = np.where(np.isfinite(each), each, 0).max(1)
    return np.where(largest > 0, largest, 1.0)


def _constraints(z: SX, given: Mapping[str, tuple[SX, Any, Any]] | None) -> tuple[PhaseConstraint, ...]:
    made = []
    for name, (expression, lower, upper) in (given or {}).items():
        m = expression.numel()
        made.append(
            PhaseConstraint(
                name,
                ca.Function("c", [z], [expression]),
                np.broadcast_to(np.asarray(lower, dtype=float), (m,)),
                np.broadcast_to(np.asarray(upper, dtype=float), (m,)),
            )
        )
    return tuple(made)


@dataclass(frozen=True, eq=False)
class GuessBetween:
    """States (k, nx) and inputs (k, nu) at times of equal distance as an initial guess, straight in between."""

    x: np.ndarray
    u: np.ndarray

    def __call__(self, fractions: np.ndarray, T: float) -> np.ndarray:
        s = np.linspace(0, 1, len(self.x))
        z = np.hstack([self.x, np.gradient(self.x, s, axis=0) / T, self.u])
        return np.column_stack([np.interp(fractions, s, column) for column in z.T])


@dataclass(frozen=True, eq=False)
class GuessAlong:
    """Unknowns z (k, nz) at parts s (k,) of the duration as an initial guess, straight in between."""

    s: np.ndarray
    z: np.ndarray

    def __call__(self, fractions: np.ndarray, T: float) -> np.ndarray:
        return np.column_stack([np.interp(fractions, self.s, column) for column in self.z.T])


def _guess(first: np.ndarray, last: np.ndarray, nx: int, nu: int, given: tuple[Any, Any] | None) -> Guess:
    """Return the given states and inputs, or a straight line between the ends and no inputs."""
    if given is None:
        ends = []
        for side, other in ((first, last), (last, first)):
            middle = _middle(side[:nx])
            ends.append(np.where(np.isnan(middle), np.nan_to_num(_middle(other[:nx])), middle))
        x, u = np.array(ends), np.zeros((2, nu))
    else:
        x, u = (np.atleast_2d(np.asarray(g, dtype=float)) for g in given)
        if len(x) < 2 or x.shape[1] != nx or u.shape[1] != nu or len(u) not in (1, len(x)):
            raise InputError(
                f"ode: guess: found states of shape {x.shape} and inputs of shape {u.shape}; expected (k, {nx}) and (k, {nu}) with k of 2 or more"
            )
        u = np.broadcast_to(u, (len(x), nu))
    return GuessBetween(x, u)


def _middle(bounds: np.ndarray) -> np.ndarray:
    """Return the middle of finite bounds, the finite one of one-sided, not a number where there is none."""
    lower, upper = np.where(np.isfinite(bounds), bounds, np.nan).T
    middle = (lower + upper) / 2
    middle = np.where(np.isnan(middle), lower, middle)
    return np.where(np.isnan(middle), upper, middle)
