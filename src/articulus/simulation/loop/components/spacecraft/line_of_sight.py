"""Where an optical train looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import check_frame, wrong
from articulus.simulation.loop.components.columns import as_matrix, matrix
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class LineOfSight(Sensor):
    """Angles of a line of sight, linear in the small motions of the optical elements: rows of an optical sensitivity matrix.

    An element's motion is that from its place at a position of reference, seen in a frame: three rotations (the sines' vector,
    which is the angle for small ones) and three displacements, in its axes.

    Parameters
    ----------
    frames : names
        Bodies and frames of the elements: mirrors, lenses, detector.
    rows : 2 x 6 n numbers [- and 1/m]
        Angle about each axis of the image per motion; six columns for each element, rotations first.
    frame : str
        Body or frame in which motions are seen; "ground" for the whole line of sight in inertial axes.
    at : (nq,) numbers [rad or m]
        Position of reference; the neutral one if not given.
    name : str

    Signals: `angle` [rad].
    """

    frames: tuple[str, ...]
    rows: Any = quantity("- and 1/m", "angles per rotation and displacement of each element", size="2 x 6 n")
    frame: str = GROUND
    at: Any = quantity("rad or m", "position of reference; neutral if not given", size="nq", default=None)
    name: str = "line_of_sight"

    type_name = "line_of_sight"
    signals: ClassVar = {"angle": "rad"}

    def __post_init__(self) -> None:
        convert(self, frames=names, rows=as_matrix)
        if self.at is not None:
            convert(self, at=as_numbers)
        if not self.frames:
            raise wrong(self, "frames", "none", "bodies or frames of the optical elements")

    def measure(self, s: Scope) -> dict[str, SX]:
        for frame in (*self.frames, self.frame):
            check_frame(s, self, frame)
        C = matrix(s, self, "rows", (2, 6 * len(self.frames)))
        here, reference = self._poses(s, s.q), self._poses(s, self._reference(s))
        return {"angle": ca.mtimes(C, ca.vertcat(*map(_motion, here, reference)))}

    def _reference(self, s: Scope) -> SX:
        if self.at is None:
            return SX(ca.DM(s.description.neutral))
        if len(self.at) != s.description.nq:
            raise wrong(self, "at", f"{len(self.at)} numbers", f"{s.description.nq}, as many as q has")
        return ca.vertcat(*map(s.number, self.at))

    def _poses(self, s: Scope, q: SX) -> list[tuple[SX, SX]]:
        """Return rotations and positions of the elements in the frame."""
        base = SX.eye(4) if self.frame == GROUND else s.ask("pose", q, frames=[self.frame])
        R = base[:3, :3].T
        every = [s.ask("pose", q, frames=[frame]) for frame in self.frames]
        return [(ca.mtimes(R, X[:3, :3]), ca.mtimes(R, X[:3, 3] - base[:3, 3])) for X in every]


def _motion(here: tuple[SX, SX], reference: tuple[SX, SX]) -> SX:
    turn = ca.mtimes(here[0], reference[0].T)
    sines = ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]) / 2
    return ca.vertcat(sines, here[1] - reference[1])
