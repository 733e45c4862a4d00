"""Numbers of components as columns and matrices of expressions, constant or over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, unlike
from articulus.model.mechanism import Description
from articulus.model.mechanism.constraint.time_function import OverTime
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.numbers import Vector, as_number, as_numbers, values_of
from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import find_joint, wrong
from articulus.simulation.loop.table import Table
from articulus.simulation.loop.time_functions import TimeFunctions

InTime = Vector | Table | TimeFunctions | ca.Function
"""What may change with time: numbers that do not, a table, functions of time, or a CasADi function of t [s] to one column."""

Rows = tuple[Vector, ...]


def clip(x: SX, lower: Any, upper: Any) -> SX:
    """Return x, or the bound that it has passed."""
    return ca.fmin(ca.fmax(x, lower), upper)


# what a field holds


def as_in_time(x: Any) -> InTime:
    """Return numbers as a tuple; a Table or functions of time as they are, those of paths; raise InputError for anything else."""
    if isinstance(x, Table | TimeFunctions):
        return x
    if (course := TimeFunctions.of(x)) is not None:
        return course
    if isinstance(x, OverTime):
        x = x.function()
    if isinstance(x, ca.Function):
        if x.n_in() != 1 or x.numel_in(0) != 1 or x.n_out() != 1 or x.size2_out(0) != 1:
            raise unlike("a function from t to one column", str(x))
        return x
    return as_numbers(x)


def in_time(size: int) -> Callable[[Any], InTime]:
    """Return what reads `size` numbers, a Table or a function of time, and raises InputError for anything else."""

    def read(x: Any) -> InTime:
        held = as_in_time(x)
        if isinstance(held, tuple) and len(held) != size:
            raise unlike(f"{size} numbers", str(len(held)))
        return held

    return read


def as_matrix(x: Any) -> Rows:
    """Return a matrix as a tuple of rows of Numbers; raise InputError for anything else."""
    given = x if isinstance(x, list | tuple) else np.asarray(x, dtype=object)
    try:
        rows = tuple(tuple(as_number(item) for item in row) for row in given)
    except TypeError:
        raise unlike("a matrix (rows of numbers)", repr(x)) from None
    if not rows or not rows[0]:
        raise unlike("a matrix", "an empty one")
    if len({len(row) for row in rows}) > 1:
        raise InputError(
            f"expected rows of the same length, found {', '.join(str(len(row)) for row in rows)}"
        )
    for item in (item for row in rows for item in row if isinstance(item, float)):
        if not math.isfinite(item):
            raise unlike("finite numbers", str(item))
    return rows


def plain(x: Any) -> tuple[float, ...]:
    """Return plain numbers as a tuple; raise InputError for anything else, a Parameter too."""
    numbers = as_numbers(x)
    if any(isinstance(n, Varying) for n in numbers):
        raise unlike("plain numbers", "a Parameter")
    return values_of(numbers)


# as expressions


def column(s: Scope, component: Component, field: str, size: int) -> SX:
    """Return a field with one number for all or one each as a column, (size,)."""
    numbers: Vector = getattr(component, field)
    if len(numbers) not in (1, size):
        raise wrong(component, field, f"{len(numbers)} numbers", f"1 or {size}")
    column = ca.vertcat(*map(s.number, numbers))
    return column if len(numbers) == size else ca.repmat(column, size, 1)


def matrix(s: Scope, component: Component, field: str, shape: tuple[int | None, int | None]) -> SX:
    """Return a field with rows of numbers as a matrix; None in `shape` means any number."""
    rows: Rows = getattr(component, field)
    found = len(rows), len(rows[0])
    if any(want is not None and want != have for want, have in zip(shape, found)):
        expected = " x ".join("any" if n is None else str(n) for n in shape)
        raise wrong(component, field, f"{found[0]} x {found[1]} numbers", f"{expected}")
    return ca.vertcat(*(ca.horzcat(*map(s.number, row)) for row in rows))


def at_time(s: Scope, component: Component, field: str, size: int, t: SX | None = None) -> SX:
    """Return a field that may change with time as a column at t, (size,); t is now when not given."""
    held: InTime = getattr(component, field)
    t = s.t if t is None else t
    if isinstance(held, tuple):
        return column(s, component, field, size)
    found = held.width if isinstance(held, Table | TimeFunctions) else held.size1_out(0)
    if found != size:
        raise wrong(component, field, f"{found} numbers at every time", str(size))
    return held.at(t, s.number) if isinstance(held, Table | TimeFunctions) else held.expand()(t)


def rate_at_time(s: Scope, component: Component, field: str, size: int, order: int = 1) -> SX:
    """Return the time derivative of a field that may change with time, (size,): zero for plain numbers."""
    t = SX.sym("t")
    y = at_time(s, component, field, size, t)
    for _ in range(order):
        y = ca.jacobian(y, t)
    return ca.substitute(y, t, s.t)


# coordinates


def joint_coordinates(s: Scope, component: Component, joints: Sequence[str] = ()) -> tuple[SX, SX]:
    """Return positions and velocities of the named joints (all if none is named), whose velocities are position rates.

    Modal coordinates of flexible bodies are no joints: an encoder does not see them, and a motor does not push them.
    """
    joints = joints or joints_that_move(s.description)
    require_rates(s, component, joints)
    return (
        ca.vertcat(SX(0, 1), *(s.joint_q(j) for j in joints)),
        ca.vertcat(SX(0, 1), *(s.joint_v(j) for j in joints)),
    )


def all_coordinates(s: Scope, component: Component) -> tuple[SX, SX]:
    """Return q and v, modal coordinates among them, of a mechanism whose velocities are the rates of its positions."""
    require_rates(s, component, joints_that_move(s.description))
    return s.q, s.v


def joints_that_move(description: Description) -> tuple[str, ...]:
    """Return the joints that have coordinates in q, in their order: those that can have a motor."""
    return tuple(c.name for c in description.independent if c.joint.nv)


def joint_entries(description: Description, joints: Sequence[str]) -> list[int]:
    """Return the places of the velocities of joints in v."""
    return [k for j in joints for k in range(description.nv)[description.v_slices[j]]]


def require_rates(s: Scope, component: Component, joints: Sequence[str]) -> None:
    """Raise InputError for a joint whose velocities are not the rates of its coordinates."""
    for c in [find_joint(s, component, j) for j in joints]:
        if c.joint.nq != c.joint.nv:
            raise wrong(
                component,
                "joints",
                f"'{c.name}', a {c.joint.type_name} joint",
                "joints whose velocities are the rates of their coordinates",
                "Name the joints that it works on",
            )


# what a sampled component carries from instant to instant


def recall(s: Scope, name: str, first: SX) -> SX:
    """Return what was remembered under a name, and `first` at the first instant of the run."""
    begun = s.memory(f"{name}_begun", 0.0)
    kept = s.memory(name, [0.0] * first.numel())
    s.remember(f"{name}_begun", SX(1))
    return ca.if_else(begun, kept, first)


def integral(s: Scope, component: Component, name: str, rate: SX, limit: SX | float = np.inf) -> SX:
    """Return the time integral of a rate since the start, (n,), which stops at +- limit: a state, or a sum when sampled."""
    zeros = [0.0] * rate.numel()
    if component.period is not None:
        total = s.memory(name, zeros)
        s.remember(name, clip(total + rate * s.number(component.period), -limit, limit))
        return total
    total = s.state(name, zeros)
    outward = ca.logic_or(ca.logic_and(total >= limit, rate > 0), ca.logic_and(total <= -limit, rate < 0))
    s.rate(name, ca.if_else(outward, 0, rate))
    return total
