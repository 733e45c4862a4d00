"""Masses and inertial parameters of the bodies as numbers, for any values of the named parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.errors import UnsupportedOperation
from articulus.model.mechanism.body import GROUND, Body
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.expression import evaluate
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import value_of, values_of


def total_mass(d: Description, p: np.ndarray) -> np.ndarray:
    """Return the mass of everything that moves, (...) [kg], at values p (..., parameters) of the named parameters."""
    soft = {b.name for b in d.bodies if b.modes is not None}
    still = {GROUND}
    for c in d.connections:  # parents first
        if c.parent in still and not c.joint.nv and c.child not in soft:
            still.add(c.child)
    masses = [
        _modal_mass(d, b.modes, p) if b.modes is not None else _number(d, b.mass, p)
        for b in d.bodies
        if b.name not in still
    ]
    return np.asarray(sum(masses, np.zeros(p.shape[:-1])))


def body_mass(body: Body) -> tuple[float, np.ndarray]:
    """Return mass [kg] and center of mass in the body frame, (3,) [m]; that of a flexible body is where it is undeformed."""
    if body.modes is None:
        return value_of(body.mass), np.array(values_of(body.com))
    rr = body.modes.rr0
    mass = float(rr[3, 3])
    return mass, np.array([rr[2, 4], rr[0, 5], rr[1, 3]]) / mass if mass else np.zeros(3)


def _modal_mass(d: Description, modes: Modes, p: np.ndarray) -> Any:
    """Return the mass of a flexible body [kg], which may follow parameters."""
    if modes.fit is None:
        return modes.rr0[3, 3]
    values = [_number(d, parameter, p) for parameter in modes.fit.parameters]
    at = 6 * 3 + 3
    return modes.fit.constant[at] + sum(
        float(a) * f for a, f in zip(modes.fit.mixing[at], modes.fit.functions(values))
    )


def inertial_parameters(d: Description, p: np.ndarray) -> np.ndarray:
    """Return m, m c (3) and Jxx, Jyy, Jzz, Jxy, Jxz, Jyz about the origin of every body, (..., 10 bodies) [kg, kg m, kg m^2]."""
    if d.flexible:
        raise UnsupportedOperation(
            f"inertial_parameters of '{d.name}': it has flexible bodies, whose modes hold more than ten numbers of inertia"
        )
    numbers = [np.broadcast_to(x, p.shape[:-1]) for b in d.bodies for x in _ten(d, b, p)]
    return np.stack(numbers, axis=-1)


def _ten(d: Description, body: Body, p: np.ndarray) -> list[Any]:
    m = _number(d, body.mass, p)
    x, y, z = (_number(d, c, p) for c in body.com)
    xx, yy, zz, xy, xz, yz = (_number(d, c, p) for c in body.inertia)
    moments = [xx + m * (y * y + z * z), yy + m * (x * x + z * z), zz + m * (x * x + y * y)]
    return [m, m * x, m * y, m * z, *moments, xy - m * x * y, xz - m * x * z, yz - m * y * z]


def _number(d: Description, x: Any, p: np.ndarray) -> Any:
    index = {parameter.name: i for i, parameter in enumerate(d.parameters)}
    return evaluate(x, lambda parameter: p[..., index[parameter.name]])
