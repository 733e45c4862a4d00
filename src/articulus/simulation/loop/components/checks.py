"""Messages of components: which one, what was found, what was expected."""

from __future__ import annotations

import math
from typing import Any

from articulus.errors import Finding, InputError, did_you_mean
from articulus.model.mechanism import Connection
from articulus.model.mechanism.numbers import as_number, values_of
from articulus.simulation.loop.component import Component, Scope


def wrong(component: Component, field: str, found: str, expected: str, hint: str = "") -> InputError:
    """Return the error for a field of a component."""
    where = f"{type(component).__name__} '{component.name}', {field}"
    return InputError(Finding(where, found, expected, hint, field=field))


def name_after(component: Component, of: str) -> None:
    """Give a component without a name that of what it works on and of its type, such as "lift_motor"."""
    if not component.name:
        object.__setattr__(component, "name", f"{of}_{component.type_name}")


def at_least(component: Component, bound: float, **fields: Any) -> None:
    """Raise InputError for the first field with a number below the bound, or that is not a number."""
    for field, held in fields.items():
        for value in values_of(held if isinstance(held, tuple) else (held,)):
            if not value >= bound:
                raise wrong(component, field, f"{value:g}", f"at least {bound:g}")


def positive(component: Component, **fields: Any) -> None:
    """Raise InputError for the first field with a number that is not above zero and finite."""
    for field, held in fields.items():
        for value in values_of(held if isinstance(held, tuple) else (held,)):
            if not 0 < value < math.inf:
                raise wrong(component, field, f"{value:g}", "a finite number above 0")


def sampling(component: Component) -> None:
    """Raise InputError for a sampling period that is neither None nor a number above zero."""
    period = component.period
    if period is None:
        return
    if not isinstance(as_number(period), float):
        raise wrong(
            component,
            "period",
            repr(period),
            "a plain number: it decides how many steps lie between instants",
        )
    object.__setattr__(component, "period", float(period))
    positive(component, period=component.period)


def find_joint(s: Scope, component: Component, joint: str) -> Connection:
    """Return a joint by name, or raise InputError with the nearest name."""
    by_name = {c.name: c for c in s.description.connections}
    if joint not in by_name:
        raise wrong(
            component, "joint", f"{joint!r}", "the name of a joint", did_you_mean(str(joint), by_name)
        )
    return by_name[joint]


def one_dof(s: Scope, component: Component, joint: str) -> Connection:
    """Return a joint by name, or raise InputError when it has not exactly one degree of freedom."""
    found = find_joint(s, component, joint)
    if found.joint.nv != 1:
        raise wrong(
            component,
            "joint",
            f"'{joint}', a {found.joint.type_name} joint with {found.joint.nv} degrees of freedom",
            "a joint with one degree of freedom",
        )
    return found


def check_frame(s: Scope, component: Component, frame: str) -> None:
    """Raise InputError, with the name of the component, when there is no such body or frame."""
    try:
        s.description.carrier(frame)
    except InputError as error:
        raise error.within(f"{type(component).__name__} '{component.name}', frame", "frame") from None
