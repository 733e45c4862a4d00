"""Gravity of a planet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from articulus.model.mechanism import Body
from articulus.model.mechanism.numbers import Number, Vector, as_number, convert, quantity, three, values_of
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import positive, wrong
from articulus.simulation.loop.components.tracking import names
from articulus.simulation.loop.components.weights import Weight, heavy_bodies, pull

EARTH = 3.986004418e14
"""Gravitational parameter of the Earth [m^3/s^2]."""


@dataclass(frozen=True)
class CentralGravity(Disturbance):
    """The gravity of a point mass on every body, with its gradient.

    A body of mass m and moment of inertia J about its center of mass, at distance r in the direction e from the center,
    has the potential (to second order in its size over r; MacCullagh)

        U = -mu m / r - mu (tr J - 3 e . J e) / (2 r^3)

    Force and moment are its exact derivatives, so that energy and angular momentum about the center are conserved:

        F = -mu m e / r^2 - 3 mu / (2 r^4) ((tr J - 5 e . J e) e + 2 J e),   n = 3 mu / r^3 e x J e

    Those of a flexible body are those of the deformed one, and its modes feel minus the derivative of U by their coordinates.

    Parameters
    ----------
    mu : number [m^3/s^2]
        Gravitational parameter; the Earth's if not given.
    center : three numbers [m]
        Position of the point mass, ground frame.
    bodies : sequence of str
        Those that feel it, rigid or flexible; all that have mass if none is named.
    name : str

    Signals: `force` on all bodies together, ground axes [N].

    Notes
    -----
    The mechanism's own gravity must be zero. Source: Hughes 1986, section 8.1.
    """

    mu: Number = quantity("m^3/s^2", "gravitational parameter", default=EARTH)
    center: Vector = quantity("m", "position of the point mass", size="3", default=(0.0, 0.0, 0.0))
    bodies: tuple[str, ...] = ()
    name: str = "central_gravity"

    type_name = "central_gravity"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        convert(self, mu=as_number, center=three, bodies=names)
        positive(self, mu=self.mu)

    def work(self, s: Scope) -> None:
        require_weightless(s, self)
        mu, center = s.number(self.mu), ca.vertcat(*map(s.number, self.center))
        total = ca.SX.zeros(3)
        for body in heavy_bodies(s, self, self.bodies):
            total += pull_to_center(s, body, mu, center)
        s.write("force", total)


def require_weightless(s: Scope, component: Disturbance) -> None:
    """Raise InputError where the mechanism has a uniform gravity of its own."""
    if any(values_of(s.description.gravity)):
        raise wrong(
            component,
            "mechanism",
            f"a uniform gravity {values_of(s.description.gravity)} as well",
            "none",
            "Make the mechanism with gravity=(0, 0, 0)",
        )


def pull_to_center(s: Scope, body: Body, mu: ca.SX, center: ca.SX) -> ca.SX:
    """Apply the gravity of a point mass to a body, with its gradient; return the force, ground axes (3,) [N]."""
    weight, pose = Weight.of(s, body), s.ask("pose", s.q, frames=[body.name])
    R, m, J = pose[:3, :3], weight.mass, weight.inertia
    away = pose[:3, 3] + ca.mtimes(R, weight.com) - center
    r = ca.norm_2(away)
    e = away / r
    seen = ca.mtimes([R, J, R.T, e])  # J e in ground axes
    trace, along = ca.trace(J), ca.dot(e, seen)
    force = -mu * m * e / r**2 - 1.5 * mu / r**4 * ((trace - 5 * along) * e + 2 * seen)
    potential = -mu * m / r - mu * (trace - 3 * along) / (2 * r**3)
    pull(s, body, weight, R, force, 3 * mu / r**3 * ca.cross(e, seen), potential)
    s.stores(weight.now(potential))
    return weight.at(force)
