"""How large a mechanism is: the one place that says its characteristic length, mass, time and energy.

Every threshold on something with a unit is a pure number times one of these, so that a linkage of nanometres is judged like one of
kilometres. Lengths are the extents of bodies: the largest distance between points that the model names on one of them (joints, centers
of mass, frames, stations of flexible bodies), and radii of gyration. The ground counts with the places where the mechanism is
attached or closed, against each other: where the mechanism stands does not matter.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.model.mechanism.body import GROUND, Body
from articulus.model.mechanism.constraint.base import Constraint, references
from articulus.model.mechanism.expression import evaluate
from articulus.model.mechanism.pose import Pose

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description

Number = Callable[[Any], float]


@dataclass(frozen=True, eq=False)
class Scales:
    """Characteristic sizes of a mechanism.

    Attributes
    ----------
    length : float [m]
        The largest extent of a body; 1 where the model names none (a point on a slide).
    mass : float [kg]
        Mass of all bodies; 1 where there is none.
    gravity : float [m/s^2]
        Size of the acceleration of gravity; may be 0.
    displacement : array, (nv,) [rad, m, -]
        What is a large displacement of each degree of freedom: 1 rad, the length, for a mode such an amplitude that its
        kinetic energy is that of the whole body moving by the length in the same time.
    rows : array, (m,) [rad, m]
        What is a large residual of each constraint row: 1 rad or the length; NaN where the model does not say what it is.
    """

    length: float
    mass: float
    gravity: float
    displacement: np.ndarray
    rows: np.ndarray

    @property
    def energy(self) -> float:
        """Weight times length [J]; 0 without gravity."""
        return self.mass * self.gravity * self.length

    @property
    def time(self) -> float:
        """Time in which the mechanism falls by its length, up to a factor [s]; without gravity nothing tells it, and it is 1."""
        return math.sqrt(self.length / self.gravity) if self.gravity > 0 else 1.0

    def speed(self, v: np.ndarray) -> float:
        """Return how fast velocities (..., nv) are: the largest over a large displacement, at least that of the characteristic time [1/s]."""
        return max(float(np.abs(v / self.displacement).max(initial=0.0)), 1 / self.time)

    def row_sizes(self, G: np.ndarray) -> np.ndarray:
        """Return what is a large residual of each row, (..., m), given its Jacobian (..., m, nv).

        Where the model does not say what a row is, the largest change by a large displacement.
        """
        moved = np.abs(G * self.displacement).max(axis=-1, initial=0.0)
        return np.where(np.isnan(self.rows), np.where(moved > 0, moved, 1.0), self.rows)

    def plain(self, G: np.ndarray) -> np.ndarray:
        """Return the Jacobian (..., m, nv) of rows over their sizes by displacements over theirs [-]."""
        return G * self.displacement / self.row_sizes(G)[..., None]


def scales(d: Description, params: Mapping[str, Any] | None = None) -> Scales:
    """Return the sizes of a mechanism at values of its parameters, those that they start from if not given.

    Arrays of values count with the largest.
    """
    given = {name: float(np.abs(value).max()) for name, value in (params or {}).items()}

    def number(x: Any) -> float:
        return float(evaluate(x, lambda p: given.get(p.name, p.value)))

    extents = [_extent(points) for points in _points(d, number).values()]
    extents += [x for b in d.bodies for x in _gyrations(b, number)]
    extents += [x for c in d.constraints for x in _lengths(c, number)]
    length = max((x for x in extents if math.isfinite(x)), default=0.0) or 1.0
    masses = {b.name: _mass(b, number) for b in d.bodies}
    rows = [_row_size(turns, length) for c in d.constraints for turns in c.turning(d)]
    return Scales(
        length,
        sum(masses.values()) or 1.0,
        math.hypot(*map(number, d.gravity)),
        np.array([*_displacements(d, length, masses)], dtype=float),
        np.array(rows, dtype=float),
    )


def _row_size(turns: bool | None, length: float) -> float:
    return math.nan if turns is None else 1.0 if turns else length


def _displacements(d: Description, length: float, masses: Mapping[str, float]) -> Iterator[float]:
    modes = {b.name: b.modes for b in d.bodies if b.modes is not None}
    units = iter(d.velocity_units("turning", "sliding", "modal"))
    for c in d.connections:
        start, stop = d.v_slices[c.name].start, d.v_slices[c.name].stop
        yield from (1.0 if next(units) == "turning" else length for _ in range(stop - start))
        for own in np.diag(modes[c.child].ff) if c.child in modes else ():
            next(units)
            yield length * math.sqrt(masses[c.child] / own) if own > 0 and masses[c.child] > 0 else length


def _points(d: Description, number: Number) -> dict[str, list[np.ndarray]]:
    """Return the points that the model names, in the frame of the body that carries them."""
    out: dict[str, list[np.ndarray]] = {b.name: [np.zeros(3)] for b in d.bodies} | {GROUND: []}
    stations = {b.name: b.modes.stations for b in d.bodies if b.modes is not None}

    def put(body: str, at: Pose, node: str = "") -> None:
        base = stations[body][node].position if node else np.zeros(3)
        out[body].append(base + [number(x) for x in at.xyz])

    for b in d.bodies:
        out[b.name].append(np.array([number(x) for x in b.com]))
        out[b.name] += [s.position for s in stations.get(b.name, {}).values()]
    for c in d.connections:
        put(c.parent, c.at, c.node)
        put(c.child, c.child_at)
    for f in d.frames:
        if f.body != GROUND:
            put(f.body, f.at, f.node)
    for constraint in d.constraints:
        for field, kind, name in references(constraint):
            if kind == "frame":
                body, frame = d.carrier(name)
                put(body, frame.at, frame.node)
                own = getattr(constraint, {"parent": "at", "child": "child_at"}.get(field, ""), None)
                if isinstance(own, Pose) and frame.at.is_identity and not frame.node:
                    put(body, own)
    return out


def _extent(points: list[np.ndarray]) -> float:
    """Return the largest distance between points along an axis [m]."""
    return float(np.ptp(points, axis=0).max()) if points else 0.0


def _gyrations(b: Body, number: Number) -> Iterator[float]:
    """Yield the radii of gyration of a rigid body about its axes [m]."""
    mass = number(b.mass)
    if b.modes is None and mass > 0:
        yield from (math.sqrt(max(number(x), 0.0) / mass) for x in b.inertia[:3])


def _lengths(constraint: Constraint, number: Number) -> Iterator[float]:
    """Yield the lengths among the numbers of a constraint [m]."""
    for field in dataclasses.fields(constraint):  # type: ignore[arg-type]
        if field.metadata.get("unit") == "m" and field.metadata.get("size", "1") == "1":
            yield abs(number(getattr(constraint, field.name)))


def _mass(b: Body, number: Number) -> float:
    return float(b.modes.rr0[3, 3]) if b.modes is not None else number(b.mass)
