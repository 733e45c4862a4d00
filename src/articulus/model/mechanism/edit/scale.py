"""A mechanism in other units of length, mass and time: a dynamically similar one of another size."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.constraint import (
    Constraint,
    CustomTimeFunction,
    Lock,
    Polynomial,
    Prescribed,
    PrescribedPoint,
    TimeFunction,
)
from articulus.model.mechanism.constraint.formula import Formula
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.edit.couplings import scaled_couplings
from articulus.model.mechanism.edit.rebuild import CUSTOM, rebuilt
from articulus.model.mechanism.equipment import NO_EQUIPMENT
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import Number, values_of
from articulus.model.mechanism.visual import Mesh

DIMENSIONS = {
    "kg": (1, 0, 0),
    "m": (0, 1, 0),
    "s": (0, 0, 1),
    "N": (1, 1, -2),
    "J": (1, 2, -2),
    "rad": (0, 0, 0),
    "-": (0, 0, 0),
}
"""Powers of mass, length and time of the units that fields of a model declare."""


@dataclass(frozen=True)
class SimilarityFactors:
    """Factors of length, mass and time; every number of a model is multiplied by that of its unit."""

    length: float
    mass: float
    time: float

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not (isinstance(value, float | int) and 0 < value < np.inf):
                raise InputError(f"with_scale: {field.name} = {value!r}; expected a factor above zero")

    def of(self, unit: str, turning: bool = True) -> float:
        """Return the factor of a unit such as "N m s/rad or N s/m", the first for what turns and the second for what slides."""
        either = unit.split(" or ")
        over, *under = either[0 if turning else -1].split("/")
        powers = np.zeros(3)
        for sign, text in ((1, over), *((-1, text) for text in under)):
            for word, power in re.findall(r"([A-Za-z-]+)(?:\^(\d))?", text):
                powers += sign * int(power or 1) * np.array(DIMENSIONS[word])
        return float(np.prod(np.array([self.mass, self.length, self.time]) ** powers))


def rescale(d: Description, s: SimilarityFactors) -> Description:
    """Return the mechanism with every number multiplied by the factor of its unit.

    If q(t) is a motion of the old mechanism under forces tau(t), then q(t / s.time), slides multiplied by s.length, is one of
    the new one under tau multiplied by the factor of its unit. Coordinates of flexible bodies have no unit and stay.

    Parameters
    ----------
    d : Description
    s : Scale
    """
    return rebuilt(
        d,
        bodies=tuple(_fields(b, s) for b in d.bodies),
        connections=tuple(_connection(c, s) for c in d.connections),
        frames=tuple(_fields(f, s) for f in d.frames),
        gravity=tuple(_times(x, s.of("m/s^2")) for x in d.gravity),
        constraints=tuple(_constraint(c, d, s) for c in d.constraints),
        visuals=tuple(_fields(v, s) for v in d.visuals),
        couplings=scaled_couplings(d, s.length, _times),
        equipment=NO_EQUIPMENT,  # the units of its numbers are not known here
    )


def _times(x: Number, factor: float) -> Number:
    return x if factor == 1 else x * factor  # a parameter keeps its value and the unit it had


def _fields(thing: Any, s: SimilarityFactors, turning: tuple[bool, ...] = (True,)) -> Any:
    """Return a dataclass with its numbers, and those of what it holds, scaled; `turning` says which degrees of freedom turn."""
    if isinstance(thing, Modes):
        return _modes(thing, s)
    if isinstance(thing, Mesh):
        thing = thing.scale((s.length,) * 3)
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(thing):
        held = getattr(thing, field.name)
        unit = field.metadata.get("unit", "")
        if unit and isinstance(held, tuple):
            flags = turning if " or " in unit else (True,)
            flags = flags * len(held) if len(flags) == 1 else flags
            changes[field.name] = tuple(_times(x, s.of(unit, f)) for x, f in zip(held, flags))
        elif unit:
            changes[field.name] = _times(held, s.of(unit, turning[0] if turning else True))
        elif isinstance(held, tuple) and held and dataclasses.is_dataclass(held[0]):
            changes[field.name] = tuple(_fields(x, s, turning) for x in held)
        elif dataclasses.is_dataclass(held):
            changes[field.name] = _fields(held, s, turning)
    return dataclasses.replace(thing, **changes)


def _connection(c: Connection, s: SimilarityFactors) -> Connection:
    flags = c.joint.rotational[: c.joint.nv]
    if len(set(flags)) > 1 and any(values_of(c.coulomb)) and s.length != 1:
        raise InputError(
            f"with_scale: joint '{c.name}' turns and slides with one coulomb_speed, which cannot be scaled for both; expected dry "
            "friction in joints that do one of the two"
        )
    return _fields(c, s, flags)


def _constraint(c: Constraint, d: Description, s: SimilarityFactors) -> Constraint:
    if isinstance(c, CUSTOM):
        raise InputError(
            f"with_scale: constraint '{c.name}' is a function of your own, whose units are not known; expected constraints of the "
            "package"
        )
    if isinstance(c, Lock):
        return _fields(c, s, _coordinates(d.joint_type(c.joint)))
    if isinstance(c, Prescribed):
        kind = d.joint_type(c.joint)
        turns = _coordinates(kind)[kind.coordinate_names.index(c.coordinate)]
        return dataclasses.replace(c, motion=_motion(c.motion, s, turns))
    if isinstance(c, PrescribedPoint):
        x, y, z = (f and _motion(f, s, turning=False) for f in (c.x, c.y, c.z))
        return dataclasses.replace(c, x=x, y=y, z=z)
    return _fields(c, s)


def _coordinates(joint: Joint) -> tuple[bool, ...]:
    """Return for each position coordinate whether it has no length in it."""
    if joint.nq == joint.nv:
        return joint.rotational[: joint.nv]
    return (True,) * 4 + (False,) * (joint.nq - 4)


def _motion(f: TimeFunction, s: SimilarityFactors, turning: bool) -> TimeFunction:
    if isinstance(f, Polynomial):
        first = s.of("rad or m", turning)
        return Polynomial(tuple(_times(x, first / s.time**k) for k, x in enumerate(f.coefficients)))
    if isinstance(f, CustomTimeFunction):
        t = SX.sym("t")
        rows = s.of("rad or m", turning) * f.function(t / s.time)
        return CustomTimeFunction(Formula(ca.Function(f.function.function.name(), [t], [rows]), "t"))
    return _fields(f, s, (turning,))


def _modes(m: Modes, s: SimilarityFactors) -> Modes:
    """Return modes of a body of another size; rows are angular first, modal coordinates are plain numbers."""
    D = np.array([s.length] * 3 + [1.0] * 3)
    rigid, mixed, modal = s.mass * np.outer(D, D), s.mass * s.length * D[:, None], s.mass * s.length**2
    factors: dict[str, Any] = {
        "rr0": rigid, "rr1": rigid, "rr2": rigid, "rr2_shortening": rigid, "rf0": mixed, "rf1": mixed,
        "rf1_shortening": mixed, "ff": modal, "stiffness": modal / s.time**2, "damping": modal / s.time,
        "position": s.length, "translation": s.length, "rotation": 1.0, "shortening": s.length, "turning": 1.0,
    }  # fmt: skip
    row = np.concatenate([np.broadcast_to(factors[name], shape).ravel() for _, name, shape in m.layout])
    if m.fit is None:
        return m.with_numbers(m.numbers * row)
    fit = dataclasses.replace(m.fit, constant=m.fit.constant * row, mixing=m.fit.mixing * row[:, None])
    return dataclasses.replace(m, fit=fit)
