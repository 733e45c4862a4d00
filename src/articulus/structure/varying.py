"""Flexible bodies whose data are functions of named parameters.

The body is prepared at values of the parameters over their ranges, and polynomials are fitted to its data
(`articulus.model.mechanism.chebyshev`). For that the modal coordinates must mean the same everywhere: at each value the shapes are
combined anew, within the space that they span, to those that are nearest (least squares over all stations, displacements and
rotations) to the shapes at the values that the parameters start from. Signs and order are kept, also where frequencies cross;
the space itself, and with it everything that the mechanism does, is that of the body built with that value.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.chebyshev import fit, no_range
from articulus.model.mechanism.expression import Parameter, Varying, evaluate
from articulus.model.mechanism.modes import Modes, Station
from articulus.model.mechanism.numbers import distinct, parameters_in, require

ILL = 1e-6
"""Least singular value of the shapes at the stations, beside the largest one."""
SMALL = 1e-3
"""Least size of an array, in natural units: what is smaller need not be followed as exactly."""


def varying_body(build: Callable[..., Modes], *parameters: Parameter) -> Modes:
    """Return a flexible body whose data follow named parameters.

    Parameters
    ----------
    build : callable
        Returns the body for values of the parameters, given by name: `build(length=2.0)`. Names of modes, stations and the level
        are always the same.
    *parameters : Parameter
        Each with its range. Around ten bodies are built for one parameter, and the product of these numbers for several.

    Modal coordinates are those of the body at the values that the parameters start from; elsewhere they are combinations of the
    modes there that are nearest to these. `Modes.fit.error` is the measured error of the data.

    Raises
    ------
    InputError
        A parameter without range, stations that do not tell the modes apart, or data that no polynomial follows.
    """
    if not parameters:
        raise InputError("varying_body: no parameter; give at least one")
    for p in parameters:
        require("varying_body", parameters=(p, Parameter))
    nominal = _build(build, {p.name: p.value for p in parameters})
    if nominal.fit is not None:
        raise InputError(
            "varying_body: the body that build returns has its own parameters; replace them by numbers"
        )
    target = _shapes(nominal)

    def sample(values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        found = _build(build, values)
        _require_alike(found, nominal, values)
        aligned = transform_modes(found, _combination(found, target)) if nominal.count else found
        return aligned.numbers, _scales(aligned)

    found = fit(sample, parameters, "varying_body")
    return dataclasses.replace(nominal, fit=found)


def evaluate_varying(call: Callable[..., Modes], arguments: Mapping[str, Any]) -> Modes:
    """Return what a call gives for arguments some of which may have named parameters in them."""
    held = tuple(tuple(x) if isinstance(x, list) else x for x in arguments.values())
    parameters = distinct(parameters_in(held))
    if not parameters:
        return call(**arguments)

    def build(**values: float) -> Modes:
        return call(**{name: _at(x, values) for name, x in arguments.items()})

    for name, x in zip(arguments, held):
        for p in parameters_in((x,)):
            if next(q for q in parameters if q.name == p.name).range is None:
                build(**{q.name: q.value for q in parameters})  # what else is wrong comes first
                raise InputError(f"{name} = {x!r}: {no_range(p)}")
    return varying_body(build, *parameters)


def _at(x: Any, values: Mapping[str, float]) -> Any:
    """Return an argument with numbers in the place of its parameters."""
    if isinstance(x, tuple | list):
        return tuple(_at(item, values) for item in x)
    return float(evaluate(x, lambda p: values[p.name])) if isinstance(x, Varying) else x


def _build(build: Callable[..., Modes], values: Mapping[str, float]) -> Modes:
    found = build(**values)
    require("varying_body", build=(found, Modes))
    return found


def _require_alike(found: Modes, nominal: Modes, values: Mapping[str, float]) -> None:
    about = [
        ("modes", found.names, nominal.names),
        ("stations", tuple(found.stations), tuple(nominal.stations)),
        ("level", found.level, nominal.level),
    ]
    for what, one, other in about:
        if one != other:
            raise InputError(
                f"varying_body: {what} {one} at {dict(values)}; expected {other}, as at the values that the parameters start from"
            )


def transform_modes(modes: Modes, T: np.ndarray) -> Modes:
    """Return the same body with other modal coordinates x, eta = T x, (n, n)."""
    twice = lambda array: np.einsum("kl...,ka,lb->ab...", array, T, T)  # noqa: E731
    arrays = {
        "rr1": np.einsum("k...,ka->a...", modes.rr1, T),
        "rr2": twice(modes.rr2),
        "rr2_shortening": twice(modes.rr2_shortening),
        "rf0": modes.rf0 @ T,
        "rf1": np.einsum("kil,ka,lb->aib", modes.rf1, T, T),
        "rf1_shortening": np.einsum("kil,ka,lb->aib", modes.rf1_shortening, T, T),
        "ff": T.T @ modes.ff @ T,
        "stiffness": T.T @ modes.stiffness @ T,
        "damping": T.T @ modes.damping @ T,
    }
    stations = {
        name: Station(
            s.position,
            s.translation @ T,
            s.rotation @ T,
            np.einsum("ikl,ka,lb->iab", s.shortening, T, T),
            np.einsum("ikl,ka,lb->iab", np.asarray(s.turning), T, T),
        )
        for name, s in modes.stations.items()
    }
    return dataclasses.replace(modes, stations=stations, **arrays)


def _combination(modes: Modes, target: np.ndarray) -> np.ndarray:
    """Return T (n, n) so that the shapes times T are nearest to the target."""
    shapes = _shapes(modes)
    sizes = np.linalg.norm(shapes, axis=0)
    singular = np.linalg.svd(shapes / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
    if len(shapes) < modes.count or singular[-1] < ILL * singular[0]:
        raise InputError(
            f"varying_body: the {len(modes.stations)} stations do not distinguish the {modes.count} modes; expected more stations, "
            "all over the body"
        )
    return np.linalg.lstsq(shapes, target, rcond=None)[0]


def _shapes(modes: Modes) -> np.ndarray:
    """Return displacements and rotations of all stations for unit modal coordinates, (6 stations, n), rotations times the size."""
    rows = [np.concatenate([s.translation, _spread(modes) * s.rotation]) for s in modes.stations.values()]
    return np.concatenate([np.zeros((0, modes.count)), *rows])


def _spread(modes: Modes) -> float:
    """Return the size of a body by its stations [m]; 1 if they are in one place."""
    places = np.array([s.position for s in modes.stations.values()]).reshape(-1, 3)
    size = (
        float(np.sqrt(np.mean(np.sum((places - places.mean(axis=0)) ** 2, axis=1)))) if len(places) else 0.0
    )
    return size or 1.0


def _scales(modes: Modes) -> np.ndarray:
    """Return the size by which each number of a body is measured, in the order of `Modes.numbers`.

    That is the largest entry of its array, measured in units of mass, radius of gyration and modal mass (for stiffness and
    damping, of their own diagonal), or a small part of such a unit where the array is next to zero.
    """
    mass = float(modes.rr0[3, 3]) or 1.0
    radius = float(np.sqrt(np.trace(modes.rr0[:3, :3]) / mass)) or 1.0
    one, K, D = (_size(x) for x in (modes.ff, modes.stiffness, modes.damping))
    six, strain = np.sqrt(mass) * np.repeat([radius, 1.0], 3), one / (np.sqrt(mass) * radius)
    axes: dict[str, tuple[np.ndarray, ...]] = {
        "rr0": (six, six), "rr1": (strain, six, six), "rr2": (strain, strain, six, six), "rf0": (six, one),
        "rf1": (strain, six, one), "ff": (one, one), "stiffness": (K, K), "damping": (D, D),
    }  # fmt: skip
    axes |= {"rr2_shortening": axes["rr2"], "rf1_shortening": axes["rf1"]}
    across, still = np.full(3, radius), np.ones(3)
    axes |= {"position": (across,), "translation": (across, strain), "rotation": (still, strain)}
    axes |= {"shortening": (across, strain, strain), "turning": (still, strain, strain)}
    units = [functools.reduce(np.multiply.outer, axes[name]) for _, name, _ in modes.layout]
    largest = dict.fromkeys(axes, SMALL)
    for (station, name, _), unit in zip(modes.layout, units):
        found = float((np.abs(modes.array(station, name)) / unit).max(initial=0.0))
        largest[name] = max(largest[name], found)
    return np.concatenate([(unit * largest[name]).ravel() for (_, name, _), unit in zip(modes.layout, units)])


def _size(matrix: np.ndarray) -> np.ndarray:
    """Return the unit in which each coordinate of a quadratic form is measured; one where it does not enter."""
    diagonal = np.abs(np.diag(matrix))
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
