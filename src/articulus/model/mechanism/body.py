"""Rigid bodies and the named points of interest on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.declared import text
from articulus.errors import Finding, InputError
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_vector,
    convert,
    quantity,
    six,
    three,
    value_of,
    values_of,
)
from articulus.model.mechanism.pose import Pose
from articulus.model.mechanism.visual import Visual, as_visuals

GROUND = "ground"
"""Name of the fixed world."""

TRIANGLE_SLACK = 1e-3
"""Relative excess of one principal moment over the sum of the others that rounded digits explain (flat plates)."""

NEGLIGIBLE = 1e-12
"""Moment of inertia per mass that rounding makes of zero: that of a radius of gyration of a micrometre [m^2]."""


@dataclass(frozen=True)
class Body:
    """A rigid body.

    Parameters
    ----------
    name : str
        Unique among bodies and frames.
    mass : number [kg]
        Positive; zero only together with `massless`.
    com : three numbers [m]
        Center of mass in the body frame.
    inertia : six numbers [kg m^2]
        Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the center of mass, body axes; a product is minus the integral
        of x y dm, as in URDF.
    massless : str
        Why this body may have no mass and no inertia; empty for an ordinary body.
    doubtful : str
        Why this body may have principal moments that no rigid body has, or an inertia without mass; its numbers are
        used as they are. Empty for an ordinary body.
    modes : Modes
        What makes the body flexible; it then holds all of the inertia, and mass, com and inertia above are not given.
    visuals : tuple of Visual
        What is drawn for it; without any, a skeleton from its joints.
    """

    name: str
    mass: Number = quantity("kg", "mass", default=0.0)
    com: Vector = quantity("m", "center of mass in the body frame", size="3", default=(0.0, 0.0, 0.0))
    inertia: Vector = quantity(
        "kg m^2",
        "Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the center of mass, body axes",
        size="6",
        default=(0.0,) * 6,
    )
    massless: str = text("why the body has neither mass nor inertia", default="")
    doubtful: str = text(
        "why the body has moments that no rigid body has, or an inertia without mass",
        default="",
        kw_only=True,
    )
    modes: Modes | None = None
    visuals: tuple[Visual, ...] = text(
        "what is drawn for it; without any, a skeleton from its joints", default=(), repr=False
    )  # not part of fingerprints

    def __post_init__(self) -> None:
        convert(self, mass=as_number, com=three, inertia=six, visuals=as_visuals)

    def inertia_matrix(self) -> np.ndarray:
        """Return the 3 x 3 inertia about the center of mass with every parameter at its own value."""
        xx, yy, zz, xy, xz, yz = values_of(self.inertia)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def findings(self, where: str) -> Iterator[Finding]:
        """Yield what is physically wrong with this body."""
        if self.modes is not None:
            yield from self._modes_findings(where)
            return
        if self.massless:
            yield from self._massless_findings(where)
            return
        mass = value_of(self.mass)
        if mass < 0 or (mass == 0 and not self.doubtful):
            yield Finding(
                f"{where}.mass",
                f"{mass:.6g} kg",
                "mass > 0",
                'Mark a body that is massless on purpose: massless = "reason".',
            )
        yield from self._inertia_findings(where)

    def _modes_findings(self, where: str) -> Iterator[Finding]:
        for field, held in (("mass", (self.mass,)), ("com", self.com), ("inertia", self.inertia)):
            if any(values_of(held)):
                yield Finding(
                    f"{where}.{field}",
                    f"{values_of(held)} on a flexible body",
                    "nothing: its modes contain the inertia",
                    "Model a rigid part of it as a separate body behind a fixed joint.",
                )
        if self.massless:
            yield Finding(f"{where}.massless", repr(self.massless), "nothing on a flexible body")
        if self.visuals:
            yield Finding(
                f"{where}.visuals",
                f"{len(self.visuals)} shapes on a flexible body",
                "none: it is drawn as a chain of its stations, which bends",
                "Model a rigid part of it as a separate body behind a fixed joint.",
            )

    def _massless_findings(self, where: str) -> Iterator[Finding]:
        for field, held in (("mass", (self.mass,)), ("inertia", self.inertia)):
            if any(values_of(held)):
                yield Finding(
                    f"{where}.{field}", f"{values_of(held)}", f"zero, because massless = {self.massless!r}"
                )

    def _inertia_findings(self, where: str) -> Iterator[Finding]:
        moments = np.linalg.eigvalsh(self.inertia_matrix())
        if self.doubtful:
            yield from self._negative_findings(where)
        elif moments[0] <= 0:
            yield Finding(
                f"{where}.inertia",
                f"principal moments {_text(moments)} kg m^2",
                "all three positive (positive definite)",
                "Was it given about the joint instead of the center of mass, or with products of the wrong size?",
            )
        elif moments[2] > (moments[0] + moments[1]) * (1 + TRIANGLE_SLACK):
            yield Finding(
                f"{where}.inertia",
                f"principal moments {_text(moments)} kg m^2",
                "the largest at most the sum of the other two (triangle inequality)",
                "No rigid body has such moments: check the units and the order Ixx, Iyy, Izz, Ixy, Ixz, Iyz.",
            )

    def _negative_findings(self, where: str) -> Iterator[Finding]:
        own = values_of(self.inertia)[:3]
        if min(own) < -NEGLIGIBLE * value_of(self.mass):
            yield Finding(
                f"{where}.inertia",
                f"Ixx, Iyy, Izz = {_text(np.array(own))} kg m^2",
                "none negative (positive definite)",
                "A moment about an axis is the integral of a square over the mass.",
            )


def six_of(inertia: Any) -> Vector:
    """Return six inertia numbers from three (diagonal), six, or a symmetric 3 x 3 array."""
    if np.ndim(inertia) == 2:
        I = np.asarray(inertia, dtype=object)
        if I.shape != (3, 3) or not _is_symmetric(I):
            raise InputError("expected a symmetric 3 x 3 array")
        return as_vector((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]), 6)
    if np.ndim(inertia) == 0:
        raise InputError("expected three or six numbers, or a symmetric 3 x 3 array")
    if len(inertia) == 3:
        return (*as_vector(inertia, 3), 0.0, 0.0, 0.0)
    return as_vector(inertia, 6)


def _is_symmetric(I: np.ndarray) -> bool:
    """Return whether a 3 x 3 array is symmetric to rounding; entries with parameters must be the same expressions."""
    pairs = [(I[a, b], I[b, a]) for a, b in ((0, 1), (0, 2), (1, 2))]
    if any(isinstance(x, Varying) for x in I.ravel()):
        return all(x == y for x, y in pairs)
    largest = max(abs(float(x)) for x in I.ravel())
    return all(abs(float(x) - float(y)) <= 1e-9 * largest for x, y in pairs)


def _text(moments: np.ndarray) -> str:
    return ", ".join(f"{m:.6g}" for m in moments)


@dataclass(frozen=True)
class Frame:
    """A named point of interest with axes, fixed to a body.

    Parameters
    ----------
    name : str
        Unique among bodies and frames.
    body : str
        Body that carries it, or "ground".
    at : Pose
        Pose in the body frame, or in that of the node.
    node : str
        Station of a flexible body that carries it; the body's own frame if not given.
    """

    name: str
    body: str = text("body that carries the frame, or `ground`")
    at: Pose = text("pose in the body frame", default=Pose())
    node: str = text(
        "station of a flexible body that carries the frame; `at` is then a pose in the station's frame",
        default="",
    )
