"""A description with some parts replaced, validated again, and constraints taken over from one mechanism to another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.constraint import Constraint, CustomConstraint, CustomVelocityConstraint
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.numbers import parameters_in
from articulus.model.mechanism.pose import Pose, quaternion_of

CUSTOM = (CustomConstraint, CustomVelocityConstraint)


def rebuilt(d: Description, **changes: Any) -> Description:
    """Return the validated description with other parts."""
    return Description.build(**({f.name: getattr(d, f.name) for f in dataclasses.fields(d)} | changes))


def compose(first: Pose, second: Pose) -> Pose | None:
    """Return the pose `second` behind `first`, None where parameters in their rotations leave no Pose that says it."""
    if first.is_identity or second.is_identity:
        return second if first.is_identity else first
    if any(True for _ in parameters_in((first.rpy, first.quaternion))):
        return None
    R = first.rotation()
    shift = [sum(r * x for r, x in zip(row, second.xyz) if r) for row in R]
    xyz = tuple(a + b if isinstance(b, Varying) or b else a for a, b in zip(first.xyz, shift))
    if np.array_equal(R, np.eye(3)):
        return dataclasses.replace(second, xyz=xyz)
    if any(True for _ in parameters_in((second.rpy, second.quaternion))):
        return None
    return Pose(xyz=xyz, quaternion=quaternion_of(R @ second.rotation()))


def require_names(what: str, kind: str, given: Iterable[str], known: Iterable[str], owner: str) -> None:
    """Raise InputError for a name that is not one of the mechanism."""
    held = list(known)
    for name in given:
        if name not in held:
            raise InputError(f"{what}: no {kind} '{name}' in '{owner}'; {did_you_mean(str(name), held)}")


def taken_over(
    what: str,
    constraints: Iterable[Constraint],
    old: Description,
    new: Description,
    held: Mapping[str, float] | None = None,
    prefix: str = "",
) -> tuple[Constraint, ...]:
    """Return constraints of one mechanism for another; formulas of all q and v are rewritten for its coordinates.

    Parameters
    ----------
    what : str
        Operation, for messages.
    constraints : iterable of Constraint
        Those of `old` that stay, their names already as in `new`.
    old, new : Description
        The coordinates of `new` have the names that they have in `old`, with `prefix` before them.
    held : dict of coordinate name to number
        Positions of coordinates of `old` that no longer move.
    prefix : str
    """
    return tuple(
        _rewritten(what, c, old, new, held or {}, prefix) if isinstance(c, CUSTOM) else c for c in constraints
    )


def _rewritten(
    what: str, c: Any, old: Description, new: Description, held: Mapping[str, float], prefix: str
) -> Constraint:
    q, v, t, gone = SX.sym("q", new.nq), SX.sym("v", new.nv), SX.sym("t"), SX.sym("gone")
    positions = _entries(old.coordinate_names(), new.coordinate_names(), q, held, gone, prefix)
    names, still = (old.coordinate_names(rates=True), new.coordinate_names(rates=True)), dict[str, float]()
    if held:
        still = dict.fromkeys(set(names[0]) - set(names[1]), 0.0)
    velocities = _entries(*names, v, still, gone, prefix)
    by_velocity = isinstance(c, CustomVelocityConstraint)
    rows = c.function(positions, velocities, t) if by_velocity else c.function(positions, t)
    if ca.depends_on(rows, gone):
        raise InputError(
            f"{what}: constraint '{c.name}' is a function of coordinates that go; expected one of those that stay. "
            "Leave it out of the mechanism first"
        )
    symbols = [q, v, t] if by_velocity else [q, t]
    return dataclasses.replace(c, function=ca.Function(c.function.function.name(), symbols, [rows]))


def _entries(
    old: tuple[str, ...], new: tuple[str, ...], symbols: SX, held: Mapping[str, float], gone: SX, prefix: str
) -> SX:
    """Return the old coordinates in terms of the new ones."""
    at = {name: i for i, name in enumerate(new)}
    parts = [
        symbols[at[prefix + name]] if prefix + name in at else SX(held[name]) if name in held else gone
        for name in old
    ]
    return ca.vertcat(SX(0, 1), *parts)
