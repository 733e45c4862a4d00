"""Time as far as orbits need it: UTC, terrestrial time, and the angle by which the Earth has turned."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.errors import Finding, InputError

FRAME = "mean equator and equinox of the epoch"
"""Inertial axes of everything here: z along the Earth's mean pole, x towards the mean equinox, both of the epoch. Nutation (17"), polar
motion (0.5") and UT1 - UTC (below 0.9 s, 0.42 km at the equator) are omitted."""
NOON = datetime.datetime(2000, 1, 1, 12, tzinfo=datetime.UTC)
DAY, CENTURY = 86400.0, 36525.0
"""Seconds of a day, days of a Julian century."""
LEAPS = (
    "1972-01 1972-07 1973-01 1974-01 1975-01 1976-01 1977-01 1978-01 1979-01 1980-01 1981-07 1982-07 1983-07 1985-07 1988-01 1990-01 "
    "1991-01 1992-07 1993-07 1994-07 1996-01 1997-07 1999-01 2006-01 2009-01 2012-07 2015-07 2017-01"
)
"""Months that began after a leap second; TAI - UTC is 10 s from the first on. Source: IERS Bulletin C."""


@dataclass(frozen=True)
class Epoch:
    """An instant, as UTC days since 2000-01-01T12:00:00Z; a day with a leap second counts as one of 86400 s.

    Parameters
    ----------
    days : float [d]
        Resolved to 0.2 microseconds in this century.
    """

    days: float

    @staticmethod
    def of(text: Any) -> Epoch:
        """Return the epoch of a text such as "2025-03-20T09:01:00Z", or of an Epoch; raise InputError for one without its time scale."""
        if isinstance(text, Epoch):
            return text
        try:
            moment = datetime.datetime.fromisoformat(text)
        except (TypeError, ValueError):
            raise _unknown(text) from None
        if moment.tzinfo is None:
            raise _unknown(text, "Z at the end says that it is UTC")
        if moment.year < 1972:
            raise InputError(Finding("epoch", str(text), "1972 or later, where UTC has whole leap seconds"))
        past = moment - NOON
        return Epoch(past.days + (past.seconds + past.microseconds * 1e-6) / DAY)

    def __str__(self) -> str:
        return (NOON + datetime.timedelta(days=self.days)).isoformat(timespec="milliseconds")[:-6] + "Z"

    @property
    def terrestrial(self) -> float:
        """Return TT - UTC [s], 32.184 s more than TAI - UTC."""
        month = str(self)[:7]
        return 32.184 + 9 + sum(leap <= month for leap in LEAPS.split())

    def after(self, seconds: float) -> Epoch:
        """Return the epoch some seconds later."""
        return Epoch(self.days + seconds / DAY)

    def centuries(self, t: Any = 0.0) -> Any:
        """Return Julian centuries of terrestrial time since J2000.0, t seconds after the epoch."""
        return (self.days + (self.terrestrial + t) / DAY) / CENTURY

    @property
    def sidereal_angle(self) -> float:
        """Return Greenwich mean sidereal time at the epoch [rad], UT1 taken as UTC. Source: IERS Conventions 2010, eqs. 5.14 and 5.32."""
        turn = math.fmod(self.days, 1.0) + 0.7790572732640 + 0.00273781191135448 * self.days
        T = self.centuries()
        arcs = 0.014506 + T * (4612.156534 + T * (1.3915817 - T * (4.4e-7 + T * 2.9956e-5)))
        return math.fmod(2 * math.pi * turn + math.radians(arcs / 3600), 2 * math.pi) % (2 * math.pi)

    def earth_rotation(self, t: Any, rate: float) -> ca.SX:
        """Return R that takes inertial coordinates to Earth-fixed ones t seconds after the epoch, (3, 3)."""
        angle = self.sidereal_angle + rate * t
        c, s = ca.cos(angle), ca.sin(angle)
        return ca.blockcat([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def precession(epoch: Epoch) -> np.ndarray:
    """Return R that takes coordinates in the mean axes of J2000.0 to those of the epoch, (3, 3). Source: Lieske et al. 1977."""
    T = epoch.centuries()
    zeta, z, theta = (
        math.radians(T * (a + T * (b + T * c)) / 3600)
        for a, b, c in (
            (2306.2181, 0.30188, 0.017998),
            (2306.2181, 1.09468, 0.018203),
            (2004.3109, -0.42665, -0.041833),
        )
    )
    return _about_z(-z) @ _about_y(theta) @ _about_z(-zeta)


def _about_z(a: float) -> np.ndarray:
    return np.array([[math.cos(a), math.sin(a), 0], [-math.sin(a), math.cos(a), 0], [0, 0, 1.0]])


def _about_y(a: float) -> np.ndarray:
    return np.array([[math.cos(a), 0, -math.sin(a)], [0, 1.0, 0], [math.sin(a), 0, math.cos(a)]])


def _unknown(text: Any, hint: str = "") -> InputError:
    return InputError(
        Finding("epoch", repr(text), 'a UTC instant such as "2025-03-20T09:01:00Z"', hint, field="epoch")
    )
