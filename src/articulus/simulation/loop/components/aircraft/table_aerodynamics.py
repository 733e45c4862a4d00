"""Forces of the air on an aircraft by tables of coefficients over the angle of attack."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError
from articulus.kernel.lookup import interval, looked_up
from articulus.model.mechanism.numbers import Number, as_number, as_optional_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.aircraft.air_data import downward, flow
from articulus.simulation.loop.components.checks import check_frame, name_after, positive, wrong
from articulus.simulation.loop.components.columns import as_matrix, clip, plain
from articulus.simulation.loop.components.tracking import names

SEA_LEVEL, LAPSE, EXPONENT, TROPOPAUSE = 1.225, 2.25577e-5, 4.25588, 11000.0
"""Density at sea level [kg/m^3], fall of temperature with height [1/m], exponent of the density, and height of the tropopause [m]: standard atmosphere."""


def standard_density(height: Any) -> Any:
    """Return the density of the standard atmosphere up to 11 km, and that of 11 km above, at a height over the sea [m]."""
    return SEA_LEVEL * (1 - LAPSE * ca.fmin(height, TROPOPAUSE)) ** EXPONENT


@dataclass(frozen=True)
class TableAerodynamics(Disturbance):
    """Forces and moments of still air on a frame with x forward, y to the right and z down, moments about its origin.

    With dynamic pressure Q = rho V^2 / 2, area S, span b and chord c, and rates p, q, r of the frame in its axes:

        F = Q S (CX, CY, CZ),   M = Q S (b Cl, c Cm, b Cn)
        CX = forward(alpha, elevator) + CXq q c / 2 V, and so CZ and Cm
        CY = sideslip(alpha) beta + aileron(alpha) da + rudder(alpha) dr + (CYp p + CYr r) b / 2 V, and so Cl and Cn

    Between their points tables are linear in angle of attack and elevator, beyond them constant.

    Parameters
    ----------
    frame : str
        Body or frame of the reference point.
    area : number [m^2]
    span, chord : number [m]
    alpha : numbers [rad]
        Angles of attack of all tables, ascending.
    elevator : numbers [rad]
        Deflections of the first surface, ascending.
    forward, downward, pitching : rows of numbers [-]
        CX, CZ, Cm: a row for each deflection of the elevator, a column for each angle of attack.
    rates : nine rows of numbers [-]
        CXq, CZq, Cmq, CYp, Clp, Cnp, CYr, Clr, Cnr.
    sideslip, aileron, rudder : three rows of numbers [1/rad]
        Derivatives of CY, Cl, Cn.
    surfaces : three names
        `ControlSurface` of elevator, ailerons and rudder; an empty name for one that stays at zero.
    density : number [kg/m^3]
        rho; not used with an `altitude`.
    altitude : number [m]
        Height of the ground's origin over the sea: rho follows the standard atmosphere, to 11 km.
    name : str
        "<frame>_table_aerodynamics" if not given.

    Signals: `coefficients` CX, CY, CZ, Cl, Cm, Cn [-], `dynamic_pressure` [Pa].

    Notes
    -----
    The power of the air counts as input. Tables bend: a method of order 4 has a smaller order across their points.
    """

    frame: str
    area: Number = quantity("m^2", "reference area")
    span: Number = quantity("m", "reference length of roll and yaw")
    chord: Number = quantity("m", "reference length of pitch")
    alpha: Any = quantity("rad", "angles of attack of all tables", size="n")
    elevator: Any = quantity("rad", "deflections of the elevator in the tables", size="m")
    forward: Any = quantity("-", "CX", size="m x n")
    downward: Any = quantity("-", "CZ", size="m x n")
    pitching: Any = quantity("-", "Cm", size="m x n")
    rates: Any = quantity("-", "CXq, CZq, Cmq, CYp, Clp, Cnp, CYr, Clr, Cnr", size="9 x n")
    sideslip: Any = quantity("1/rad", "CY, Cl, Cn by sideslip", size="3 x n")
    aileron: Any = quantity("1/rad", "CY, Cl, Cn by ailerons", size="3 x n")
    rudder: Any = quantity("1/rad", "CY, Cl, Cn by rudder", size="3 x n")
    surfaces: tuple[str, ...] = ("elevator", "aileron", "rudder")
    density: Number = quantity("kg/m^3", "density of the air without an altitude", default=1.225)
    altitude: Number | None = quantity(
        "m", "height of the ground's origin over the sea, for the standard atmosphere", default=None
    )
    name: str = ""

    type_name = "table_aerodynamics"
    signals: ClassVar = {"coefficients": "-", "dynamic_pressure": "Pa"}

    def __post_init__(self) -> None:
        tables = {
            "forward": 0,
            "downward": 0,
            "pitching": 0,
            "rates": 9,
            "sideslip": 3,
            "aileron": 3,
            "rudder": 3,
        }
        convert(
            self, **dict.fromkeys(("area", "span", "chord", "density"), as_number), altitude=as_optional_number,
            alpha=_ascending, elevator=_ascending, surfaces=names, **dict.fromkeys(tables, _plain_rows),
        )  # fmt: skip
        name_after(self, self.frame)
        positive(self, area=self.area, span=self.span, chord=self.chord, density=self.density)
        for field, rows in tables.items():
            held, shape = getattr(self, field), (rows or len(self.elevator), len(self.alpha))
            if (len(held), len(held[0])) != shape:
                raise wrong(self, field, f"{len(held)} x {len(held[0])} numbers", f"{shape[0]} x {shape[1]}")
        if len(self.surfaces) != 3:
            raise wrong(self, "surfaces", f"{len(self.surfaces)} names", "three: elevator, ailerons, rudder")

    def coefficients(self, alpha: Any, beta: Any, turning: Any, surfaces: Any) -> tuple[SX, SX]:
        """Return CX, CY, CZ and Cl, Cm, Cn.

        Parameters
        ----------
        alpha, beta : SX [rad]
        turning : SX, (3,)
            p b / 2 V, q c / 2 V, r b / 2 V.
        surfaces : SX, (3,) [rad]
            Elevator, ailerons, rudder.
        """
        m = len(self.elevator)
        held = (
            self.forward,
            self.downward,
            self.pitching,
            self.rates,
            self.sideslip,
            self.aileron,
            self.rudder,
        )
        row = _at(self.alpha, np.vstack(held).T, alpha)
        shares = _shares(self.elevator, surfaces[0])
        CX, CZ, Cm = (ca.dot(row[k * m : (k + 1) * m], shares) for k in range(3))
        rates, lateral = ca.reshape(row[3 * m : 3 * m + 9], 3, 3), ca.reshape(row[3 * m + 9 :], 3, 3)
        along = ca.vertcat(CX, CZ, Cm) + rates[:, 0] * turning[1]
        across = ca.mtimes(lateral, ca.vertcat(beta, surfaces[1], surfaces[2]))
        across += rates[:, 1] * turning[0] + rates[:, 2] * turning[2]
        return ca.vertcat(along[0], across[0], along[1]), ca.vertcat(across[1], along[2], across[2])

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        X, velocity = (
            s.ask("pose", s.q, frames=[self.frame]),
            s.ask("velocity", s.q, s.v, frames=[self.frame]),
        )
        R = X[:3, :3]
        alpha, beta, speed = flow(ca.mtimes(R.T, velocity[3:]))
        lengths = ca.vertcat(*(s.number(x) for x in (self.span, self.chord, self.span)))
        turning = ca.mtimes(R.T, velocity[:3]) * lengths / (2 * speed)
        d = ca.vertcat(*(s.read(f"{name}.deflection") if name else SX(0) for name in self.surfaces))
        force, moment = self.coefficients(alpha, beta, turning, d)
        pressure = self._density(s, X[:3, 3]) * speed**2 / 2
        size = pressure * s.number(self.area)
        s.write("coefficients", ca.vertcat(force, moment))
        s.write("dynamic_pressure", pressure)
        s.wrench(
            self.frame,
            ca.vertcat(ca.mtimes(R, size * lengths * moment), ca.mtimes(R, size * force)),
        )

    def _density(self, s: Scope, place: SX) -> SX:
        if self.altitude is None:
            return s.number(self.density)
        return standard_density(s.number(self.altitude) - ca.dot(downward(s, self), place))


def _at(points: tuple[float, ...], table: np.ndarray, x: SX) -> SX:
    """Return the row of a table (points, columns) at x, straight between points and constant beyond them."""
    steps = np.diff(points)
    slopes = np.vstack([np.diff(table, axis=0) / steps[:, None], np.zeros(table.shape[1])])
    inside = clip(x, points[0], points[-1])
    width = table.shape[1]
    begin, row, slope = ca.vertsplit(
        looked_up(np.column_stack([points, table, slopes]), interval(np.array(points), inside)),
        [0, 1, 1 + width, 1 + 2 * width],
    )
    return row + slope * (inside - begin)


def _shares(points: tuple[float, ...], x: SX) -> SX:
    """Return the weight of each point at x: those of the two neighbors add up to one."""
    passed = [clip((x - a) / (b - a), 0, 1) for a, b in itertools.pairwise(points)]
    return ca.vertcat(*(before - after for before, after in zip([SX(1), *passed], [*passed, SX(0)])))


def _ascending(x: Any) -> tuple[float, ...]:
    numbers = plain(x)
    if len(numbers) < 2 or any(not a < b for a, b in itertools.pairwise(numbers)):
        raise InputError("expected at least two ascending numbers, each once")
    return numbers


def _plain_rows(x: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(plain(row) for row in as_matrix(x))
