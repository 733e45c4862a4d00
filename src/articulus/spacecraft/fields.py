"""Fields of a planet from files of coefficients: gravity (ICGEM) and magnetic (WMM, IGRF)."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from casadi import SX

from articulus.errors import Finding, InputError
from articulus.spacecraft.harmonics import (
    from_schmidt,
    from_unnormalized,
    potential,
    potential_and_gradient,
)

BUILT_IN = {"egm2008": "egm2008_5.gfc", "wmm2025": "wmm2025_6.cof"}
"""Files of the package, cut off at degree 5 and 6; whole files are given by their path."""


@dataclass(frozen=True)
class GravityField:
    """Gravity of a planet by spherical harmonics, with the mu and the radius of its own file.

    Parameters
    ----------
    name : str
    mu : float [m^3/s^2]
    radius : float [m]
        Reference radius of the coefficients.
    rows : tuple of (n, m, C, S)
        Fully normalized, without (0, 0).
    """

    name: str
    mu: float
    radius: float
    rows: tuple[tuple[int, int, float, float], ...]

    @property
    def degree(self) -> int:
        """Return the highest degree."""
        return max((row[0] for row in self.rows), default=0)

    @property
    def needs_orientation(self) -> bool:
        """Whether the field turns with the planet: it has terms that change with longitude."""
        return any(m for _, m, _, _ in self.rows)

    def up_to(self, degree: int, order: int | None = None) -> GravityField:
        """Return the field cut off at a degree and order; raise InputError for a degree that the file does not have."""
        if degree > self.degree:
            raise InputError(
                Finding(
                    f"gravity field '{self.name}'",
                    f"degree {degree}",
                    f"at most {self.degree}",
                    field="degree",
                )
            )
        order = degree if order is None else order
        return GravityField(
            self.name, self.mu, self.radius, tuple(r for r in self.rows if r[0] <= degree and r[1] <= order)
        )

    @staticmethod
    def zonal(mu: float, radius: float, *J: float) -> GravityField:
        """Return the field of J2, J3, ..., about the z axis."""
        rows = tuple((n, 0, from_unnormalized(n, 0, -x), 0.0) for n, x in enumerate(J, start=2))
        return GravityField("zonal", mu, radius, rows)

    @staticmethod
    def read(path: str | Path) -> GravityField:
        """Return the field of an ICGEM file (.gfc), or of a name such as "egm2008"; raise InputError with the line that is wrong."""
        text, where = _text(path)
        head: dict[str, str] = {}
        rows = []
        for number, line in enumerate(text.splitlines(), start=1):
            words = (
                line.replace("D", "e").replace("d", "e").split() if line.startswith("gfc ") else line.split()
            )
            if words[:1] == ["gfc"]:
                n, m, C, S = _numbers(where, number, words[1:5], 4)
                if not (0 <= m <= n and float(n).is_integer() and float(m).is_integer()):
                    raise InputError(
                        Finding(
                            f"{where}, line {number}",
                            line.strip(),
                            "degree and order with 0 <= order <= degree",
                        )
                    )
                if n >= 1:
                    rows.append((int(n), int(m), C, S))
            elif line.startswith(("gfct", "trnd", "asin", "acos")):
                raise InputError(
                    Finding(
                        f"{where}, line {number}",
                        line.split()[0],
                        "gfc: coefficients that change with time are not read",
                    )
                )
            elif len(words) >= 2:
                head.setdefault(words[0], words[1])
        if head.get("norm", "fully_normalized") != "fully_normalized":
            raise InputError(Finding(f"{where}, norm", head["norm"], "fully_normalized"))
        mu, radius = (_head(where, head, key) for key in ("earth_gravity_constant", "radius"))
        if not rows:
            raise InputError(
                Finding(where, "no line that begins with gfc", "coefficients in the ICGEM format")
            )
        return GravityField(head.get("modelname", Path(where).stem), mu, radius, tuple(rows))

    def potential(self, p: SX) -> SX:
        """Return the potential without its central term mu / r, of a position in the planet's axes, (3,) [m^2/s^2]; its gradient is the acceleration."""
        return self.mu / self.radius * potential(p, self.radius, self.rows)

    def potential_and_acceleration(self, p: SX, *, central: bool = False) -> tuple[SX, SX]:
        """Return `potential` and its gradient, (3,) [m/s^2], with the central term if asked for."""
        rows = ((0, 0, 1.0, 0.0), *self.rows) if central else self.rows
        value, slope = potential_and_gradient(p, self.radius, rows)
        return self.mu / self.radius * value, self.mu / self.radius * slope


@dataclass(frozen=True)
class MagneticField:
    """A planet's magnetic field by Gauss coefficients, with their change in time.

    Parameters
    ----------
    name : str
    year : float
        To which the coefficients belong.
    end : float
        Year up to which they are good.
    rows : tuple of (n, m, g, h, rate of g, rate of h) [nT, nT/year]
        In Schmidt's normalization.
    """

    name: str
    year: float
    end: float
    rows: tuple[tuple[int, int, float, float, float, float], ...]
    radius: float = 6371200.0
    """Reference radius [m]."""

    @staticmethod
    def read(path: str | Path) -> MagneticField:
        """Return the field of a WMM file (.cof), of an IGRF table (igrf14coeffs.txt), or of a name such as "wmm2025"."""
        text, where = _text(path)
        lines = [
            (k, line)
            for k, line in enumerate(text.splitlines(), start=1)
            if line.strip() and not line.startswith(("#", "9999"))
        ]
        table = [k for k, (_, line) in enumerate(lines) if line.split()[0] == "g/h"]
        return _igrf(where, lines[table[0] :]) if table else _wmm(where, lines)

    def field(self, p: SX, year: float) -> SX:
        """Return B of a position in the planet's axes, (3,) [T]; raise InputError outside the years of the coefficients."""
        if not self.year <= year <= self.end:
            raise InputError(
                Finding(
                    f"magnetic field '{self.name}'",
                    f"year {year:.2f}",
                    f"from {self.year:g} to {self.end:g}",
                    field="epoch",
                )
            )
        past = year - self.year
        rows = [
            (n, m, from_schmidt(n, g + past * g1), from_schmidt(n, h + past * h1))
            for n, m, g, h, g1, h1 in self.rows
        ]
        return -1e-9 * self.radius * potential_and_gradient(p, self.radius, rows)[1]

    def dipole(self) -> MagneticField:
        """Return the field of the first degree alone."""
        return MagneticField(
            f"{self.name}, dipole", self.year, self.end, tuple(r for r in self.rows if r[0] == 1), self.radius
        )


def digest(path: str) -> str:
    """Return what tells the content of a file of coefficients from another."""
    return hashlib.sha256(_text(path)[0].encode()).hexdigest()[:16]


def _wmm(where: str, lines: list[tuple[int, str]]) -> MagneticField:
    words = lines[0][1].split() if lines else []
    year = _numbers(where, 1, words[:1], 1)[0]
    rows = []
    for number, line in lines[1:]:
        n, m, *values = _numbers(where, number, line.split()[:6], 6)
        rows.append((int(n), int(m), *values))
    return MagneticField(
        words[1] if len(words) > 1 else Path(where).stem, year, year + 5, _complete(where, rows)
    )


def _igrf(where: str, lines: list[tuple[int, str]]) -> MagneticField:
    years = lines[0][1].split()[3:-1]
    last = max(k for k, y in enumerate(years))
    year = _numbers(where, lines[0][0], [years[last]], 1)[0]
    found: dict[tuple[int, int], list[float]] = {}
    for number, line in lines[1:]:
        kind, n, m, *values = line.split()
        value, rate = _numbers(where, number, [values[last], values[-1]], 2)
        held = found.setdefault((int(n), int(m)), [0.0] * 4)
        at = 0 if kind == "g" else 1
        held[at], held[at + 2] = value, rate
    rows = [(n, m, *held) for (n, m), held in found.items()]
    return MagneticField(Path(where).stem, year, year + 5, _complete(where, rows))


def _complete(where: str, rows: list) -> tuple:
    if not rows:
        raise InputError(Finding(where, "no coefficients", "rows of n, m, g, h and their rates"))
    return tuple(rows)


def _text(path: str | Path) -> tuple[str, str]:
    """Return the text of a file, and how it is called in messages."""
    if str(path) in BUILT_IN:
        return (resources.files("articulus.spacecraft") / "data" / BUILT_IN[str(path)]).read_text(), str(path)
    try:
        return Path(path).read_text(encoding="ascii", errors="replace"), str(path)
    except OSError as error:
        raise InputError(
            Finding(
                str(path),
                error.strerror or "cannot be read",
                f"a file of coefficients, or one of {', '.join(BUILT_IN)}",
            )
        ) from None


def _numbers(where: str, line: int, words: list[str], count: int) -> list[float]:
    try:
        found = [float(w) for w in words]
    except ValueError:
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise InputError(Finding(f"{where}, line {line}", " ".join(words) or "nothing", f"{count} numbers"))
    return found


def _head(where: str, head: dict[str, str], key: str) -> float:
    try:
        value = float(head[key].replace("D", "e").replace("d", "e"))
    except (KeyError, ValueError):
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(Finding(f"{where}, {key}", head.get(key, "nothing"), "a number above 0"))
    return value
