"""Coordinate systems of bulk data (CORD2R, CORD2C, CORD2S), resolved to the basic one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from articulus.errors import Finding
from articulus.model.files.fe.cards import Card
from articulus.model.files.fe.data import Matrix3, Vector
from articulus.model.files.fe.fields import Fields


@dataclass(frozen=True)
class CoordinateSystem:
    """Origin [m] in basic coordinates, rotation from its axes to basic ones, (3, 3), and the kind of its coordinates.

    Rectangular ("R"): x, y, z; cylindrical ("C"): r, angle from x, z; spherical ("S"): r, angle from z, angle from x;
    angles in degrees.
    """

    origin: NDArray[np.float64]
    rotation: NDArray[np.float64]
    kind: str = "R"

    def point(self, x: Vector) -> Vector:
        """Return a point in basic coordinates."""
        return as_vector(self.origin + self.rotation @ self._rectangular(x))

    def axes(self, at: Vector) -> NDArray[np.float64]:
        """Return the directions of its coordinates at a point in basic coordinates, as columns in basic axes, (3, 3)."""
        x, y, z = self.rotation.T @ (np.array(at) - self.origin)
        r = float(np.hypot(x, y))
        if self.kind == "R" or not r > 0:
            return self.rotation
        c, s = x / r, y / r
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        if self.kind == "S":
            R = float(np.hypot(r, z))
            tilt = np.array([[r / R, z / R, 0.0], [0.0, 0.0, 1.0], [z / R, -r / R, 0.0]])
            turn = turn @ tilt
        return self.rotation @ turn

    def _rectangular(self, x: Vector) -> NDArray[np.float64]:
        a, b, c = x
        if self.kind == "C":
            return np.array([a * np.cos(np.radians(b)), a * np.sin(np.radians(b)), c])
        if self.kind == "S":
            out, turn = np.sin(np.radians(b)), np.radians(c)
            return a * np.array([out * np.cos(turn), out * np.sin(turn), np.cos(np.radians(b))])
        return np.array(x)


BASIC = CoordinateSystem(np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class _Given:
    """A CORD2R, CORD2C or CORD2S card: origin A, B on z, C in the x-z plane on the side of positive x, in system `reference`."""

    fields: Fields
    reference: int
    points: tuple[Vector, Vector, Vector]


def as_vector(x: NDArray[np.float64]) -> Vector:
    """Return an array as three floats."""
    return float(x[0]), float(x[1]), float(x[2])


def as_matrix(R: NDArray[np.float64]) -> Matrix3:
    """Return a (3, 3) array as rows of floats; zeros have no sign."""
    a, b, c = (as_vector(row + 0.0) for row in R)
    return a, b, c


def coordinate_systems(cards: list[Card], findings: list[Finding]) -> dict[int, CoordinateSystem]:
    """Return the coordinate systems of CORD2R, CORD2C and CORD2S cards by id, the basic one (0) among them; note mistakes."""
    given: dict[int, _Given] = {}
    for card in cards:
        f = Fields(card, findings)
        id = f.integer(0, "CID")
        points = (f.vector(2, "A"), f.vector(5, "B"), f.vector(8, "C"))
        reference = f.integer(1, "RID", 0, 0)
        f.ends(11)
        if id in given:
            f.refuse(0, "CID", f"a second system {id}", "ids that differ")
        elif f.ok:
            given[id] = _Given(f, reference, points)
    return _resolve(given)


def _resolve(given: dict[int, _Given]) -> dict[int, CoordinateSystem]:
    """Return the systems in basic coordinates: whichever rests on known ones is next, until none is."""
    known = {0: BASIC}
    waiting = dict(given)
    while ready := [id for id, g in waiting.items() if g.reference in known]:
        for id in ready:
            system = waiting.pop(id)
            known[id] = _system(system, known[system.reference])
    for id, system in waiting.items():
        missing = system.reference not in given
        found = f"system {system.reference}, which is not there" if missing else f"system {system.reference}"
        expected = (
            "a CORD2R, CORD2C or CORD2S of this file, or 0"
            if missing
            else "a system that does not rest on this one"
        )
        system.fields.refuse(1, "RID", found, expected)
        known[id] = BASIC
    return known


def _system(given: _Given, reference: CoordinateSystem) -> CoordinateSystem:
    A, B, C = (np.array(reference.point(x)) for x in given.points)
    z, y = B - A, np.cross(B - A, C - A)
    size, area = float(np.linalg.norm(z)), float(np.linalg.norm(y))
    if not size > 0 or not area > 1e-9 * size * float(np.linalg.norm(C - A)):
        given.fields.refuse(8, "C", "A, B and C on one line", "three points that span a plane")
        return BASIC
    z, y = z / size, y / area
    return CoordinateSystem(A, np.column_stack([np.cross(y, z), y, z]), given.fields.card.name[-1])
