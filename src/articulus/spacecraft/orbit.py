"""Orbits of two bodies: elements, states, and the axes that go along."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from articulus.errors import Finding, InputError
from articulus.spacecraft.epoch import FRAME
from articulus.spacecraft.planet import EARTH, Planet


@dataclass(frozen=True)
class OrbitState:
    """Position and velocity from the center of a planet.

    Parameters
    ----------
    position, velocity : (3,) [m], [m/s]
    frame, epoch : str
        Axes, and the instant in UTC; an empty epoch says that none was given.
    """

    position: np.ndarray
    velocity: np.ndarray
    frame: str = FRAME
    epoch: str = ""


@dataclass(frozen=True)
class Orbit:
    """An ellipse by its elements.

    Parameters
    ----------
    semi_major_axis : float [m]
    eccentricity : float [-]
        From 0 to below 1.
    inclination, ascending_node, periapsis, anomaly : float [rad]
        Angles in the axes of the frame; `anomaly` is the true one.
    planet : Planet
    frame, epoch : str
    """

    semi_major_axis: float
    eccentricity: float = 0.0
    inclination: float = 0.0
    ascending_node: float = 0.0
    periapsis: float = 0.0
    anomaly: float = 0.0
    planet: Planet = EARTH
    frame: str = FRAME
    epoch: str = ""

    def __post_init__(self) -> None:
        a, e = self.semi_major_axis, self.eccentricity
        angles = (self.inclination, self.ascending_node, self.periapsis, self.anomaly)
        if not (math.isfinite(a) and 0 <= e < 1 and all(map(math.isfinite, angles))):
            raise InputError(
                Finding("orbit", f"a = {a:g} m, e = {e:g}", "finite elements of an ellipse, 0 <= e < 1")
            )
        if a * (1 - e) <= self.planet.radius:
            raise InputError(
                Finding(
                    "orbit",
                    f"a lowest distance of {a * (1 - e):.6g} m from the center",
                    f"more than {self.planet.radius:.7g} m, the radius of the {self.planet.name}",
                    "Lengths are in meters, and the semi-major axis counts from the center",
                    field="semi_major_axis",
                )
            )

    @property
    def rate(self) -> float:
        """Return the mean motion [rad/s]."""
        return math.sqrt(self.planet.mu / self.semi_major_axis**3)

    @property
    def period(self) -> float:
        """Return the time of a revolution [s]."""
        return 2 * math.pi / self.rate

    def state(self) -> OrbitState:
        """Return position and velocity."""
        e, f = self.eccentricity, self.anomaly
        p = self.semi_major_axis * (1 - e**2)
        along = p / (1 + e * math.cos(f)) * np.array([math.cos(f), math.sin(f), 0.0])
        speed = math.sqrt(self.planet.mu / p) * np.array([-math.sin(f), e + math.cos(f), 0.0])
        R = _turn(self.ascending_node, 2) @ _turn(self.inclination, 0) @ _turn(self.periapsis, 2)
        return OrbitState(R @ along, R @ speed, self.frame, self.epoch)

    def after(self, seconds: float) -> Orbit:
        """Return the orbit some seconds later: Kepler's equation, solved to rounding."""
        e = self.eccentricity
        E = 2 * math.atan2(
            math.sqrt(1 - e) * math.sin(self.anomaly / 2), math.sqrt(1 + e) * math.cos(self.anomaly / 2)
        )
        M = math.remainder(
            E - e * math.sin(E) + math.remainder(self.rate * seconds, 2 * math.pi), 2 * math.pi
        )
        E = M + math.copysign(0.85 * e, math.sin(M))
        for _ in range(50):
            step = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
            E -= step
            if abs(step) < 1e-16:
                break
        f = 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2))
        return replace(self, anomaly=f)

    @staticmethod
    def of(state: OrbitState, planet: Planet = EARTH) -> Orbit:
        """Return the elements of a state; angles that have no meaning (of a circle, of the equator) are zero."""
        r, v = state.position, state.velocity
        h = np.cross(r, v)
        node = np.array([-h[1], h[0], 0.0])
        away = np.cross(v, h) / planet.mu - r / np.linalg.norm(r)
        e = float(np.linalg.norm(away))
        energy = v @ v / 2 - planet.mu / np.linalg.norm(r)
        if not energy < 0:
            raise InputError(Finding("orbit", f"an energy of {energy:.3g} m^2/s^2", "below zero: an ellipse"))
        round_, flat = e < 1e-12, np.linalg.norm(node) < 1e-12 * np.linalg.norm(h)
        x = np.array([1.0, 0.0, 0.0]) if flat else node / np.linalg.norm(node)
        y = np.cross(h / np.linalg.norm(h), x)
        periapsis = 0.0 if round_ else math.atan2(away @ y, away @ x)
        along = math.atan2(r @ y, r @ x)
        return Orbit(
            -planet.mu / (2 * energy),
            e,
            math.atan2(math.hypot(h[0], h[1]), h[2]),
            0.0 if flat else math.atan2(node[1], node[0]),
            periapsis,
            math.remainder(along - periapsis, 2 * math.pi),
            planet,
            state.frame,
            state.epoch,
        )


def lvlh(position: ca.SX, velocity: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the axes of the local vertical and local horizontal, (3, 3), and their angular velocity, (3,) [rad/s].

    z points to the planet, y against the angular momentum, x completes them (forward on a circle); columns are axes of the orbit
    in the axes of position and velocity. The angular velocity is that of a free fall, h / r^2. Numbers or symbols.
    """
    h = ca.cross(position, velocity)
    size = ca.sqrt(ca.sumsqr(h) + 1e-18 * ca.sumsqr(position))  # finite for a craft at rest
    z, y = -position / ca.norm_2(position), -h / size
    return ca.horzcat(ca.cross(y, z), y, z), h / ca.sumsqr(position)


def _turn(angle: float, axis: int) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    R = np.eye(3)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R
