"""Whether values of parameters leave every body and joint physical, asked at each call that gives some.

A model is checked when it is built, with the values that its parameters start from; this is the same check for other
values, on whole arrays. A value of zero passes here (no payload), a negative one does not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.body import TRIANGLE_SLACK
from articulus.model.mechanism.expression import Parameter, ParameterExpression, Varying, evaluate
from articulus.model.mechanism.numbers import Number, Vector, parameters_in

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description

MOST_CORNERS = 64
"""Corners of a box of values up to which they are examined before the rows themselves."""
ROUNDING = 1e-12
"""Share of the trace (and its powers) by which a determinant may be negative."""

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Physical:
    """What the parameters of a mechanism must keep.

    Parameters
    ----------
    least : tuple of (number, names of its parameters, where it is, unit, whether zero is too little)
        Numbers with a parameter that must not be negative.
    inertias : tuple of (body, six numbers, names of the parameters among them)
        Inertias with a parameter.
    ranged : tuple of Parameter
        Those that have a range.
    """

    least: tuple[tuple[Varying, tuple[str, ...], str, str, bool], ...] = ()
    inertias: tuple[tuple[str, Vector, tuple[str, ...]], ...] = ()
    ranged: tuple[Parameter, ...] = ()

    def require(self, given: Values) -> None:
        """Raise InputError that names the parameter, its value and what it makes unphysical.

        Parameters
        ----------
        given : dict of parameter name to array
            Values that were given, of any shapes that broadcast.
        """
        require_in_range(self.ranged, given)
        ends = {name: ends_of(name, value) for name, value in given.items() if value.size}
        for number, names, where, unit, strict in self.least:
            if not ends.keys() & set(names):
                continue
            lowest = ends[number.name][0] if isinstance(number, Parameter) else _lowest(number, given, where)
            if lowest < 0 or (strict and lowest == 0):
                bound = "more than 0" if strict else "at least 0"
                raise InputError(
                    f"parameter {_at(number, names, given, lowest)}: {where} would be {lowest:.6g} "
                    f"{unit}; expected {bound}. Is a sign wrong, or the range of a sweep?"
                )
        for body, six, names in self.inertias:
            mine = {name: ends[name] for name in names if name in ends}
            if mine and not _corners_pass(six, mine):
                self._require_inertia(body, six, tuple(mine), given)

    def _require_inertia(self, body: str, six: Vector, names: Sequence[str], given: Values) -> None:
        numbers = np.broadcast_arrays(*_numbers(six, given))
        with np.errstate(all="ignore"):
            bad = ~np.asarray(is_inertia(*numbers))
        if not bad.any():
            return
        at = np.unravel_index(int(np.argmax(bad)), bad.shape)
        values = ", ".join(f"'{n}' = {np.broadcast_to(given[n], bad.shape)[at]:.6g}" for n in names)
        xx, yy, zz, xy, xz, yz = (x[at] for x in numbers)
        if not np.isfinite([xx, yy, zz, xy, xz, yz]).all():
            raise InputError(
                f"parameter {values}{_row(bad)}: body '{body}' would have an inertia that is not finite"
            )
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        raise InputError(
            f"parameter {values}{_row(bad)}: body '{body}' would have the principal moments of inertia "
            f"{', '.join(f'{m:.6g}' for m in moments)} kg m^2; expected none negative and the largest at most the sum of the "
            "other two"
        )


def physical(description: Description) -> Physical:
    """Return what the parameters of a mechanism must keep."""
    least = tuple(
        (number, _names((number,)), where, unit, strict)
        for number, where, unit, strict in _not_negative(description)
        if isinstance(number, Varying)
    )
    inertias = tuple((b.name, b.inertia, names) for b in description.bodies if (names := _names(b.inertia)))
    return Physical(least, inertias, tuple(p for p in description.parameters if p.range is not None))


def require_in_range(parameters: Sequence[Parameter], given: Values) -> None:
    """Raise InputError that names the parameter whose value is outside the range that was declared for it."""
    for p in parameters:
        if p.range is None or p.name not in given or not given[p.name].size:
            continue
        low, high = ends_of(p.name, given[p.name])
        if low < p.range[0] or high > p.range[1]:
            found = low if low < p.range[0] else high
            raise InputError(
                f"parameter '{p.name}' = {found:.6g}{_row(given[p.name] == found)}: outside its range {p.range[0]:g} to "
                f"{p.range[1]:g}; expected a value inside. A wider range is declared with the parameter"
            )


def _not_negative(d: Description) -> Iterator[tuple[Number, str, str, bool]]:
    """Yield every number that must not be negative: the number, where it is, its unit, whether zero is too little."""
    for b in d.bodies:
        yield b.mass, f"the mass of body '{b.name}'", "kg", False
    units = {
        "armature": "kg m^2 or kg",
        "damping": "N m s/rad or N s/m",
        "coulomb": "N m or N",
        "stiffness": "N m/rad or N/m",
    }
    for c in d.connections:
        for name, unit in units.items():
            for number in getattr(c, name):
                yield number, f"the {name} of joint '{c.name}'", unit, False
        yield c.coulomb_speed, f"the coulomb_speed of joint '{c.name}'", "rad/s or m/s", True
        if c.rotor is not None:
            yield c.rotor.inertia, f"the rotor inertia of joint '{c.name}'", "kg m^2", False
    for constraint in d.constraints:
        for name in ("length", "radius"):
            yield getattr(constraint, name, 0.0), f"the {name} of constraint '{constraint.name}'", "m", True


def is_inertia(xx: Any, yy: Any, zz: Any, xy: Any, xz: Any, yz: Any) -> Any:
    """Whether six numbers, or arrays of them, are an inertia: none of its moments negative, the largest not too large.

    The largest moment is at most the sum of the other two when trace / 2 - J is positive semidefinite, too.
    """
    trace = xx + yy + zz
    half = trace * (1 + TRIANGLE_SLACK) / (2 + TRIANGLE_SLACK)
    return _semidefinite(trace, xx, yy, zz, xy, xz, yz) & _semidefinite(
        trace, half - xx, half - yy, half - zz, -xy, -xz, -yz
    )


def _semidefinite(size: Any, xx: Any, yy: Any, zz: Any, xy: Any, xz: Any, yz: Any) -> Any:
    """Whether all principal minors are at least zero, but for rounding."""
    little = ROUNDING * size
    first = (xx >= -little) & (yy >= -little) & (zz >= -little)
    two = (xx * yy - xy * xy, xx * zz - xz * xz, yy * zz - yz * yz)
    second = (two[0] >= -little * size) & (two[1] >= -little * size) & (two[2] >= -little * size)
    det = xx * two[2] - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    return first & second & (det >= -little * size * size)


def ends_of(name: str, value: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest value of a parameter; raise InputError when one is not finite."""
    if value.ndim == 0:
        low = high = float(value)
    else:  # the short way to value.min() and value.max()
        low, high = float(np.minimum.reduce(value, None)), float(np.maximum.reduce(value, None))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"parameter '{name}': found a value that is not finite")
    return low, high


def _corners_pass(six: Vector, ends: Mapping[str, tuple[float, float]]) -> bool:
    """Whether the inertia is one at all corners of the box of values: then it is inside, for inertias are a convex set."""
    if 2 ** len(ends) > MOST_CORNERS or any(isinstance(x, ParameterExpression) for x in six):
        return False  # of expressions, the corners say nothing about what is between them
    corners = [(low,) if low == high else (low, high) for low, high in ends.values()]
    numbers = (_numbers(six, dict(zip(ends, corner))) for corner in itertools.product(*corners))
    return all(_plainly_inertia(*n) or is_inertia(*n) for n in numbers)


def _plainly_inertia(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> bool:
    """Whether small products make it certain (Gershgorin's circles), in few operations."""
    off = abs(xy) + abs(xz) + abs(yz)
    return min(xx, yy, zz) >= off and (xx + yy + zz) / 2 - max(xx, yy, zz) >= off


def _numbers(six: Vector, given: Mapping[str, Any]) -> list[Any]:
    with np.errstate(all="ignore"):
        return [evaluate(x, lambda p: given.get(p.name, p.value)) for x in six]


def _names(numbers: Vector) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.name for p in parameters_in(numbers)))


def _lowest(number: Varying, given: Values, where: str) -> float:
    """Return the least value of an expression; raise InputError when it is not finite."""
    with np.errstate(all="ignore"):
        values = np.asarray(evaluate(number, lambda p: given.get(p.name, p.value)))
    if not np.isfinite(values).all():
        raise InputError(f"{where} would be {number}, which is not finite for some value of the parameters")
    return float(values.min())


def _at(number: Varying, names: Sequence[str], given: Values, lowest: float) -> str:
    """Return the values of the parameters at which a number is lowest, and where in a batch that is."""
    held = np.broadcast_arrays(*(given.get(n, np.asarray(p.value)) for n, p in zip(names, _distinct(number))))
    with np.errstate(all="ignore"):
        values = np.asarray(evaluate(number, lambda p: held[names.index(p.name)]))
    at = np.unravel_index(int(np.argmin(values)), values.shape)
    return ", ".join(f"'{n}' = {x[at]:.6g}" for n, x in zip(names, held)) + _row(values == lowest)


def _distinct(number: Varying) -> tuple[Parameter, ...]:
    return tuple({p.name: p for p in parameters_in(number)}.values())


def _row(bad: np.ndarray) -> str:
    """Return the text that says where in a batch the first bad value is."""
    if bad.ndim == 0:
        return ""
    at = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return f" (row {tuple(map(int, at))} of the batch)"
