"""A fighter in free flight up to deep stall: mass, tables of the air, control surfaces and trim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.model.library import fighter_tables as data
from articulus.model.mechanism import Body, Connection, Description, Frame, Free, Pose
from articulus.numerics.newton import newton

if TYPE_CHECKING:
    from articulus.simulation.loop.components.aircraft import ControlSurface, TableAerodynamics

MASS = 9295.44
INERTIA = (12875.0, 75674.0, 85552.0, 0.0, -1331.0, 0.0)
"""Mass [kg] and moments xx, yy, zz, xy, xz, yz about the center of mass in axes x forward, y right, z down [kg m^2]."""
AREA, SPAN, CHORD = 27.87, 9.144, 3.45
REFERENCE = 0.35
"""Where moments of the tables are counted about, over the chord from its front."""
GRAVITY = 9.80665
"""[m/s^2]."""


def fighter(center: float = 0.35) -> Description:
    """Return a rigid aircraft of 9.3 t, free to fly: body "aircraft" with x forward, y to the right, z down at its center of mass, frame "reference" of the tables.

    The ground's z axis points up: in level flight along its x axis the body is turned by 180 degrees about x.

    Parameters
    ----------
    center : float [-]
        Center of mass over the mean chord, from its front: 0.35 is unstable in pitch, 0.30 stable at low angles of attack.

    Source: mass, inertia and lengths of the F-16 model of Nguyen et al. 1979 as simulations of it use them (see `fighter_tables`).
    """
    if not 0 < center < 1:
        raise InputError(
            f"fighter: center = {center:g}; expected the place of the center of mass over the chord, such as 0.35"
        )
    ixx, iyy, izz, ixy, ixz, iyz = INERTIA
    return Description(
        name="fighter",
        bodies=(Body("aircraft", MASS, (0.0, 0.0, 0.0), (ixx, iyy, izz, ixy, ixz, iyz)),),
        connections=(Connection("flight", Free(), "ground", "aircraft", Pose()),),
        frames=(Frame("reference", "aircraft", Pose((CHORD * (center - REFERENCE), 0.0, 0.0))),),
        gravity=(0.0, 0.0, -GRAVITY),
        source="Nguyen et al. 1979 (NASA TP-1538): mass, inertia and lengths of an F-16 model; tables of the air in fighter_tables",
    )


def fighter_aerodynamics(**changes: object) -> TableAerodynamics:
    """Return the forces of the air on `fighter`, by the tables of `fighter_tables`: those lateral are linear in sideslip and surfaces."""
    from articulus.simulation.loop.components.aircraft import TableAerodynamics

    side = np.array(data.SIDESLIP)
    straight = np.array(data.STRAIGHT)
    pitching = np.array(data.EFFECT)[:, None] * np.array(data.CM) + np.array(data.EXTRA_CM)
    fields = {
        "area": AREA, "span": SPAN, "chord": CHORD, "alpha": np.radians(data.ALPHA), "elevator": np.radians(data.ELEVATOR),
        "forward": data.CX, "downward": data.CZ, "pitching": pitching, "rates": list(data.RATES.values()),
        "sideslip": (side[:, 0] - side[:, 1]) / np.radians(20.0),
        "aileron": (np.array(data.AILERON) - straight) / np.radians(20.0),
        "rudder": (np.array(data.RUDDER) - straight) / np.radians(30.0),
    }  # fmt: skip
    return TableAerodynamics("reference", **(fields | {"name": "air"} | changes))


def fighter_surfaces(elevator: float = 0.0) -> list[ControlSurface]:
    """Return elevator (+-25 deg, 60 deg/s), ailerons (+-21.5 deg, 80 deg/s) and rudder (+-30 deg, 120 deg/s) with servos of 20.2 rad/s; `elevator` is its deflection at the start [rad]."""
    from articulus.simulation.loop.components.aircraft import ControlSurface

    limits = {"elevator": (25.0, 60.0), "aileron": (21.5, 80.0), "rudder": (30.0, 120.0)}
    return [
        ControlSurface(
            name,
            -np.radians(most),
            np.radians(most),
            np.radians(rate),
            20.2,
            elevator if name == "elevator" else 0.0,
        )
        for name, (most, rate) in limits.items()
    ]


@dataclass(frozen=True)
class LevelFlight:
    """Straight level flight: angle of attack and elevator [rad], thrust along the body's x axis [N], initial state."""

    alpha: float
    elevator: float
    thrust: float
    q0: np.ndarray
    v0: np.ndarray


def trim(
    air: TableAerodynamics, speed: float, density: float, center: float = 0.35, guess: float = 0.1
) -> LevelFlight:
    """Return how `fighter` flies level along the ground's x axis: forces forward and down and the pitching moment about the center of mass vanish.

    Parameters
    ----------
    air : TableAerodynamics
        Of `fighter_aerodynamics`.
    speed : float [m/s]
    density : float [kg/m^3]
    center : float [-]
        As of `fighter`.
    guess : float [rad]
        Estimate of the angle of attack.

    Raises
    ------
    NumericalError
        If there is no such flight near the estimate: too slow, say.
    """
    x = ca.SX.sym("x", 3)
    force, moment = air.coefficients(x[0], ca.SX(0), ca.SX.zeros(3), ca.vertcat(x[1], 0, 0))
    load = density * speed**2 / 2 * AREA / (MASS * GRAVITY)
    off = ca.vertcat(
        load * force[0] + x[2] - ca.sin(x[0]),
        load * force[2] + ca.cos(x[0]),
        load * (moment[1] - (center - REFERENCE) * force[2]),
    )
    balance = ca.Function("level", [x], [off, ca.jacobian(off, x)])
    found, left = newton(
        np.array([guess, 0.0, 0.2]),
        lambda z: np.asarray(balance(z)[0]).ravel(),
        lambda z, r: np.linalg.lstsq(np.asarray(balance(z)[1]), -r, rcond=1e-12)[0],
        np.add,
        1e-12,
    )
    alpha, elevator, thrust = found.tolist()
    if not left[-1] < 1e-9 or thrust < 0 or not air.alpha[0] < alpha < air.alpha[-1]:
        raise NumericalError(
            f"trim: found no level flight at {speed:g} m/s near {np.degrees(guess):g} deg; expected a higher speed, denser air or another guess"
        )
    q0 = np.array([0.0, np.cos(alpha / 2), 0.0, np.sin(alpha / 2), 0.0, 0.0, 0.0])
    v0 = np.array([0.0, 0.0, 0.0, speed * np.cos(alpha), 0.0, speed * np.sin(alpha)])
    return LevelFlight(alpha, elevator, thrust * MASS * GRAVITY, q0, v0)
