"""Numbers with a unit, such as "20 mm" or "30 deg/s", turned into SI numbers with a check of their dimension.

A unit is a product of known names: `N m s/rad`, `kg m^2`, `m/s/s`. A blank, `*` or `.` multiplies, `/` divides
by the one name that follows it, `^` raises that one name. An angle counts as a dimension of its own, so that the
lead of a screw in `mm` cannot pass for its pitch in `m/rad`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from articulus.errors import did_you_mean

BASE = ("kg", "m", "s", "rad")
"""The dimensions, by their SI unit."""

MAX_POWER = 9

Dimension = tuple[int, int, int, int]


class UnitError(ValueError):
    """A text that is no number with a known unit of the right dimension; the text says why."""


@dataclass(frozen=True)
class Unit:
    """A factor to SI and the powers of kg, m, s and rad."""

    factor: Fraction
    dimension: Dimension

    def power(self, n: int) -> Unit:
        kg, m, s, rad = self.dimension
        return Unit(self.factor**n, (kg * n, m * n, s * n, rad * n))

    def times(self, other: Unit) -> Unit:
        kg, m, s, rad = (a + b for a, b in zip(self.dimension, other.dimension))
        return Unit(self.factor * other.factor, (kg, m, s, rad))


ONE = Unit(Fraction(1), (0, 0, 0, 0))


def _unit(factor: str | Fraction, kg: int = 0, m: int = 0, s: int = 0, rad: int = 0) -> Unit:
    return Unit(Fraction(factor), (kg, m, s, rad))


PI = Fraction(math.pi)
POUND, INCH = Fraction("0.45359237"), Fraction("0.0254")
POUND_FORCE = POUND * Fraction("9.80665")

UNITS: dict[str, Unit] = {
    # mass
    "kg": _unit("1", kg=1),
    "g": _unit("0.001", kg=1),
    "t": _unit("1000", kg=1),
    "lb": _unit(POUND, kg=1),
    # length
    "m": _unit("1", m=1),
    "km": _unit("1000", m=1),
    "cm": _unit("0.01", m=1),
    "mm": _unit("0.001", m=1),
    "um": _unit("0.000001", m=1),
    "in": _unit(INCH, m=1),
    "ft": _unit(INCH * 12, m=1),
    # time
    "s": _unit("1", s=1),
    "ms": _unit("0.001", s=1),
    "min": _unit("60", s=1),
    "h": _unit("3600", s=1),
    # angle
    "rad": _unit("1", rad=1),
    "mrad": _unit("0.001", rad=1),
    "deg": _unit(PI / 180, rad=1),
    "rev": _unit(PI * 2, rad=1),
    # angular speed
    "Hz": _unit(PI * 2, s=-1, rad=1),
    "rpm": _unit(PI / 30, s=-1, rad=1),
    # force, torque, energy, power
    "N": _unit("1", kg=1, m=1, s=-2),
    "kN": _unit("1000", kg=1, m=1, s=-2),
    "MN": _unit("1000000", kg=1, m=1, s=-2),
    "lbf": _unit(POUND_FORCE, kg=1, m=1, s=-2),
    "Nm": _unit("1", kg=1, m=2, s=-2),
    "kNm": _unit("1000", kg=1, m=2, s=-2),
    "J": _unit("1", kg=1, m=2, s=-2),
    "W": _unit("1", kg=1, m=2, s=-3),
    "kW": _unit("1000", kg=1, m=2, s=-3),
    # pressure
    "Pa": _unit("1", kg=1, m=-1, s=-2),
    "kPa": _unit("1000", kg=1, m=-1, s=-2),
    "MPa": _unit("1000000", kg=1, m=-1, s=-2),
    "GPa": _unit("1000000000", kg=1, m=-1, s=-2),
    "bar": _unit("100000", kg=1, m=-1, s=-2),
    "psi": _unit(POUND_FORCE / INCH**2, kg=1, m=-1, s=-2),
}

_NUMBER = re.compile(
    r"\s*([-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?)(?![\d.])\s*", re.A
)
_FACTOR = re.compile(r"\s*([*./]?)\s*([A-Za-z]+|1(?=\s*/))(?:\s*\^\s*([-+]?\d{1,2}))?\s*", re.A)


def parse_unit(text: str) -> Unit:
    """Return the unit that a text such as "N m s/rad" names; "-" is a plain number."""
    if text.strip() in ("-", "1", ""):
        return ONE
    out, at = ONE, 0
    while at < len(text):
        match = _FACTOR.match(text, at)
        if match is None or (at == 0 and match[1]):
            raise UnitError(f"the unit {_short(text)} cannot be read; write it like 'N m s/rad' or 'kg m^2'")
        out = out.times(_factor(match))
        at = match.end()
    return out


def _factor(match: re.Match[str]) -> Unit:
    sign, name, power = match.groups()
    n = int(power or 1)
    if abs(n) > MAX_POWER:
        raise UnitError(f"the power {n} of '{name}' is beyond {MAX_POWER}")
    if name == "1":
        return ONE
    if name not in UNITS:
        raise UnitError(f"there is no unit {_short(name)}; {did_you_mean(name, UNITS)}")
    return UNITS[name].power(-n if sign == "/" else n)


def split_quantity(text: str) -> tuple[str, str]:
    """Return the number and the unit of a text such as "20 mm", as they are written; the unit of a plain number is ""."""
    match = _NUMBER.match(text)
    if match is None:
        raise UnitError(f"{_short(text)} is no number with a unit, such as '20 mm'")
    return match[1], text[match.end() :]


def parse_quantity(text: str) -> tuple[float, Unit]:
    """Return the SI value and the unit of a text such as "20 mm"."""
    number, name = split_quantity(text)
    if not name:
        raise UnitError(f"{_short(text)} has no unit; write a plain number without quotes, or add the unit")
    unit = parse_unit(name)
    try:
        return float(Fraction(number) * unit.factor), unit
    except OverflowError:
        raise UnitError(f"{_short(text)} is too large") from None


def convert(text: str, expected: str) -> float:
    """Return a text such as "20 mm" in the SI unit `expected`; raise UnitError when it measures something else."""
    value, unit = parse_quantity(text)
    check_dimension(unit, expected, text)
    return value


def check_dimension(unit: Unit, expected: str, text: str) -> None:
    """Raise UnitError unless `unit`, found in `text`, measures what the SI unit `expected` measures."""
    if unit.dimension != parse_unit(expected).dimension:
        raise UnitError(f"{_short(text)} measures [{base_text(unit)}], not [{expected}]")


def base_text(unit: Unit) -> str:
    """Return the dimension of a unit in base units, such as "kg m^2 s^-2"."""
    powers = [(name, n) for name, n in zip(BASE, unit.dimension) if n]
    return " ".join(name if n == 1 else f"{name}^{n}" for name, n in powers) or "-"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
