"""The constants of a flexible body as numbers or, where they follow named parameters, as expressions of them.

Arrays with expressions in them are arrays of objects: floats where nothing changes, zeros among them, and scalar expressions.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.integrals import Integrals, scales, station_of
from articulus.errors import InputError
from articulus.model.mechanism.chebyshev import Fit, fit
from articulus.model.mechanism.modes import Modes


@dataclass(frozen=True, eq=False)
class StationShapes:
    """The arrays of a station; see `articulus.model.mechanism.modes.Station`."""

    position: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    shortening: np.ndarray
    turning: np.ndarray

    def arrays(self) -> list[np.ndarray]:
        """Return all numbers, in a fixed order."""
        return list(vars(self).values())


@dataclass(frozen=True, eq=False)
class SharedData:
    """The constants of a body as symbols that stand for those of several."""

    integrals: Integrals
    level: str
    count: int


class BodyData:
    """The constants of a body.

    Parameters
    ----------
    modes : Modes
    p : callable
        Gives the symbol of a parameter; not needed for a body without parameters.
    """

    def __init__(self, modes: Modes, p: Callable[[Any], SX] | None = None):
        self.modes = modes
        self._p = [] if modes.fit is None or p is None else [p(x) for x in modes.fit.parameters]

    @property
    def level(self) -> str:
        return self.modes.level

    @property
    def count(self) -> int:
        return self.modes.count

    @functools.cached_property
    def integrals(self) -> Integrals:
        """What the equations take."""
        if self.modes.fit is None:
            return integrals_of(self.modes)
        template, fitted = _fitted_integrals(self.modes)
        return _unflatten(template, self._expressions(fitted))

    def station(self, name: str) -> StationShapes:
        """Return the shapes of a station, zeros where rounding left something."""
        held = station_of(self.modes, name)
        names = [f.name for f in dataclasses.fields(StationShapes)]
        if self.modes.fit is None:
            return StationShapes(*(getattr(held, x) for x in names))
        return StationShapes(*(self.array(x, name) for x in names))

    def shapes(self, name: str) -> StationShapes:
        """Return the shapes of a station without the second order where the level of the body leaves it out."""
        held = self.station(name)
        if self.level == "consistent":
            return held
        none = {x: np.zeros(getattr(held, x).shape) for x in ("shortening", "turning")}
        return dataclasses.replace(held, **none)

    def array(self, name: str, station: str = "") -> np.ndarray:
        """Return an array of the body, or of a station."""
        if self.modes.fit is None:
            return self.modes.array(station, name)
        at = 0
        for where, held, shape in self.modes.layout:
            if (where, held) == (station, name):
                return self._numbers[at : at + math.prod(shape)].reshape(shape)
            at += math.prod(shape)
        raise KeyError(name)

    @functools.cached_property
    def _numbers(self) -> np.ndarray:
        assert self.modes.fit is not None
        return self._expressions(self.modes.fit)

    def _expressions(self, fitted: Fit) -> np.ndarray:
        """Return all numbers of a fit as objects, (n,)."""
        functions = fitted.functions(self._p, ca)
        out = np.empty(len(fitted.constant), dtype=object)
        for i, (constant, row) in enumerate(zip(fitted.constant, fitted.mixing)):
            used = np.flatnonzero(row)
            number: Any = float(constant)
            for k in used:
                number = number + float(row[k]) * functions[k]
            out[i] = number
        return out


@functools.lru_cache(maxsize=256)
def integrals_of(modes: Modes) -> Integrals:
    """Return the constants of a body without parameters, found once."""
    return Integrals.of(modes)


@functools.lru_cache(maxsize=64)
def _fitted_integrals(modes: Modes) -> tuple[Integrals, Fit]:
    """Return the constants of a body with parameters at the values that these start from, and their fit."""
    held = modes.fit
    assert held is not None
    template = Integrals.of(modes.with_numbers(modes.numbers))

    def sample(values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        found = Integrals.of(modes.with_numbers(held.at([values[p.name] for p in held.parameters])))
        signs = [[each.sign for each in x.particles] for x in (found, template)]
        if signs[0] != signs[1]:
            raise InputError(
                f"flexible body: its inertia changes in kind between {dict(values)} and the values that the parameters start "
                "from; expected narrower ranges, without a body that has no extent or no mass"
            )
        return _flatten(found), scales(found)

    return template, fit(sample, held.parameters, "flexible body")


def _flatten(found: Integrals) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in found.arrays()])


def _unflatten(template: Integrals, numbers: np.ndarray) -> Integrals:
    arrays, at = [], 0
    for like in template.arrays():
        size = np.size(like)
        held = numbers[at : at + size].reshape(np.shape(like))
        arrays.append(held if np.ndim(like) else held[()])
        at += size
    return template.with_arrays(arrays)
