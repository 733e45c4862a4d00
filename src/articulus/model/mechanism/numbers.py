"""Numbers of a model: plain floats, named parameters or expressions of them, and what each field of a model means."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from articulus.declared import quantity as quantity
from articulus.errors import Finding, InputError, unlike
from articulus.model.mechanism.expression import Parameter, Varying

Number = float | Varying
Vector = tuple[Number, ...]


def value_of(number: Number) -> float:
    """Return the value to start from."""
    return number.value if isinstance(number, Varying) else float(number)


def values_of(vector: Sequence[Number]) -> tuple[float, ...]:
    """Return the values to start from."""
    return tuple(map(value_of, vector))


def as_number(x: Any) -> Number:
    """Return `x` as a Number; raise InputError when it is none."""
    if isinstance(x, Varying):
        return x
    if isinstance(x, (bool, str)):
        raise unlike("a number", repr(x))
    try:
        return float(x)
    except (TypeError, ValueError, OverflowError):
        raise unlike("a number", repr(x)) from None


def as_optional_number(x: Any) -> Number | None:
    """Return a number as `as_number` does, and None as it is: a field that may be omitted."""
    return None if x is None else as_number(x)


def as_vector(x: Any, length: int) -> Vector:
    """Return `x` as a tuple of `length` Numbers; raise InputError when it is none."""
    try:
        items = tuple(as_number(item) for item in x)
    except TypeError:
        raise unlike(f"{length} numbers", repr(x)) from None
    if len(items) != length:
        raise unlike(f"{length} numbers", str(len(items)))
    return items


def as_gravity(x: Any) -> Vector:
    """Return an acceleration of gravity as three Numbers; raise InputError when it is none."""
    try:
        return as_vector(x, 3)
    except InputError as error:
        text = f"gravity: {error} (in ground axes, in m/s^2, such as (0, 0, -9.81))"
        raise InputError(text, error.within("gravity", "gravity").findings) from None


def as_numbers(x: Any) -> Vector:
    """Return a number as a tuple of one, or several numbers as a tuple; raise InputError for anything else."""
    if isinstance(x, Varying) or not hasattr(x, "__iter__"):
        return (as_number(x),)
    return tuple(as_number(item) for item in x)


def as_array(name: str, value: Any) -> np.ndarray:
    """Return `value` as an array of floats; raise InputError when it is none, or has entries that are masked out."""
    try:
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(Finding(name, _kind(value), "numbers")) from None


def _kind(value: Any) -> str:
    masked = isinstance(value, np.ma.MaskedArray)
    return "a masked array (fill it, or leave those rows out)" if masked else repr(value)


def convert(thing: Any, **conversions: Any) -> None:
    """Bring fields of a frozen dataclass to their form while it is made; name the field when one cannot be."""
    for name, conversion in conversions.items():
        try:
            object.__setattr__(thing, name, conversion(getattr(thing, name)))
        except InputError as error:
            raise error.within(f"{type(thing).__name__}.{name}", name) from None


def require_plain(owner: str, sizes: Sequence[int], **fields: Any) -> None:
    """Raise InputError that names the field that does not hold plain numbers, for what is computed with numbers once.

    Parameters
    ----------
    owner : str
        Whose fields they are.
    sizes : sequence of int
        How many numbers a field may hold: 0 for a single one, else the length of a sequence.
    **fields
        Values by name.
    """
    shapes = [(n,) if n else () for n in sizes]
    for name, value in fields.items():
        try:
            array = np.asarray(value, dtype=float)
            good = array.shape in shapes and not np.isnan(array).any() and not isinstance(value, str | bool)
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            count = " or ".join(str(max(n, 1)) for n in sizes)
            raise InputError(
                f"{owner}: {name} = {value!r}; expected plain numbers ({count}). It is computed with once, so that a Parameter, "
                "which gets its value at each call, cannot be in it; flexible bodies with parameters come from `structure.varying_body`"
            )


def require_count(owner: str, **fields: Any) -> None:
    """Raise InputError that names the field that is not a whole number of zero or more."""
    for name, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise InputError(f"{owner}: {name} = {value!r}; expected a whole number that is not negative")


def require(owner: str, **fields: tuple[Any, Any]) -> None:
    """Raise InputError that names the field whose value is not of its type; fields are (value, type)."""
    for name, (value, kind) in fields.items():
        if not isinstance(value, kind):
            expected = getattr(
                kind, "__name__", str(kind).replace("articulus.model.mechanism.connection.", "")
            )
            raise InputError(Finding(f"{owner}, {name}", repr(value), expected, field=name))


def three(x: Any) -> Vector:
    """Return `x` as a tuple of three Numbers."""
    return as_vector(x, 3)


def six(x: Any) -> Vector:
    """Return `x` as a tuple of six Numbers."""
    return as_vector(x, 6)


def parameters_in(thing: Any) -> Iterator[Parameter]:
    """Yield every Parameter inside a dataclass or tuple, in the order of the fields."""
    if isinstance(thing, Parameter):
        yield thing
    elif isinstance(thing, tuple):
        for item in thing:
            yield from parameters_in(item)
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from parameters_in(getattr(thing, field.name))


def distinct(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return each parameter once, in the order in which they first appear; one with a range stands for those without."""
    found: dict[str, Parameter] = {}
    for p in parameters:
        if p.name not in found or (found[p.name].range is None and p.range is not None):
            found[p.name] = p
    return tuple(found.values())


def with_values(thing: Any, values: Mapping[str, float]) -> Any:
    """Return a dataclass or tuple whose parameters have other values where they are given."""
    if isinstance(thing, Parameter):
        return dataclasses.replace(thing, value=values.get(thing.name, thing.value))
    if next(parameters_in(thing), None) is None:
        return thing
    if isinstance(thing, tuple):
        return tuple(with_values(item, values) for item in thing)
    fields = {
        f.name: with_values(getattr(thing, f.name), values) for f in dataclasses.fields(thing) if f.init
    }
    return dataclasses.replace(thing, **fields)


LARGEST = 1e100
"""Largest number of a model: what can be squared and multiplied without an overflow."""


def not_finite(where: str, thing: Any) -> Iterator[Finding]:
    """Yield a finding for every number of a dataclass that is not finite, or beyond LARGEST (limits may be)."""
    for field in dataclasses.fields(thing):
        if field.name in ("lower", "upper", "velocity", "effort"):
            continue
        held = getattr(thing, field.name)
        items = held if isinstance(held, tuple) else (held,)
        for item in items:
            if isinstance(item, float) and not abs(item) <= LARGEST:
                yield Finding(f"{where}.{field.name}", repr(item), f"a finite number, at most {LARGEST:g}")
