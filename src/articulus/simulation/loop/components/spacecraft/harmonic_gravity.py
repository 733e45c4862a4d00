"""Gravity of the Earth by spherical harmonics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism import Body
from articulus.model.mechanism.numbers import Vector, convert, quantity, three
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.central_gravity import pull_to_center, require_weightless
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.tracking import names
from articulus.simulation.loop.components.weights import Weight, heavy_bodies, pull
from articulus.spacecraft import EARTH, Epoch, GravityField
from articulus.spacecraft.fields import digest


@dataclass(frozen=True)
class HarmonicGravity(Disturbance):
    """The gravity of the Earth by spherical harmonics on every body, with the gradient of its central term.

    The mu and the radius are those of the coefficients' own file. Terms that change with longitude turn with the Earth, so that they
    need the epoch; without one only zonal terms may be used. Forces are derivatives of a potential: energy is conserved but for the
    work of the turning Earth, which counts as input.

    Parameters
    ----------
    field : str
        "egm2008" (to degree 5), or the path of an ICGEM file (.gfc).
    degree, order : int
        Up to which terms are taken; -1: all of the file, as many orders as degrees.
    epoch : str
        Instant of t = 0 in UTC.
    center : three numbers [m]
        The Earth's center, ground frame, whose axes are inertial: mean equator and equinox of the epoch.
    bodies : sequence of str
        Those that feel it, rigid or flexible; all that have mass if none is named.
    field_digest : str
        What tells the content of the file; filled in. A study that states one refuses a file with another content.
    name : str

    Signals: `force` on all bodies together, ground axes [N].

    Notes
    -----
    The mechanism's own gravity must be zero. Source: Montenbruck & Gill 2000, section 3.2; Cunningham 1970.
    """

    field: str = "egm2008"
    degree: int = quantity("-", "highest degree; -1: that of the file", default=-1)
    order: int = quantity("-", "highest order; -1: the degree", default=-1)
    epoch: str = ""
    center: Vector = quantity("m", "the Earth's center, ground frame", size="3", default=(0.0, 0.0, 0.0))
    bodies: tuple[str, ...] = ()
    field_digest: str = ""
    name: str = "harmonic_gravity"

    type_name = "harmonic_gravity"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        convert(self, center=three, bodies=names)
        chosen = self.coefficients
        if self.epoch:
            Epoch.of(self.epoch)
        elif chosen.needs_orientation:
            raise wrong(
                self,
                "epoch",
                f"none, with terms of '{chosen.name}' that change with longitude",
                "the instant of t = 0 in UTC, which determines the rotation of the Earth",
                "order = 0 takes zonal terms alone",
            )
        found = digest(self.field)
        if self.field_digest not in ("", found):
            raise wrong(
                self,
                "field",
                f"'{self.field}' with digest {found}",
                f"the file with digest {self.field_digest}",
            )
        object.__setattr__(self, "field_digest", found)

    @property
    def coefficients(self) -> GravityField:
        """Return the coefficients that are used."""
        whole = GravityField.read(self.field)
        degree = whole.degree if self.degree < 0 else self.degree
        return whole.up_to(degree, degree if self.order < 0 else self.order)

    def work(self, s: Scope) -> None:
        require_weightless(s, self)
        field, center = self.coefficients, ca.vertcat(*map(s.number, self.center))
        R_EG = Epoch.of(self.epoch).earth_rotation(s.t, EARTH.rotation) if self.epoch else SX.eye(3)
        total = SX.zeros(3)
        for body in heavy_bodies(s, self, self.bodies):
            total += pull_to_center(s, body, SX(field.mu), center)
            total += self._pull_by_terms(s, body, field, center, R_EG)
        s.write("force", total)

    def _pull_by_terms(self, s: Scope, body: Body, field: GravityField, center: SX, R_EG: SX) -> SX:
        """Apply all but the central term at a body's center of mass; return the force."""
        weight, pose = Weight.of(s, body), s.ask("pose", s.q, frames=[body.name])
        R = pose[:3, :3]
        away = ca.mtimes(R_EG, pose[:3, 3] + ca.mtimes(R, weight.com) - center)
        value, slope = field.potential_and_acceleration(away)
        force, potential = weight.mass * ca.mtimes(R_EG.T, slope), -weight.mass * value
        pull(s, body, weight, R, force, SX.zeros(3), potential)
        s.stores(weight.now(potential))
        if self.epoch:
            s.supplies(weight.now(-weight.mass * ca.dot(slope, ca.jtimes(away, s.t, SX(1)))))
        return weight.at(force)
