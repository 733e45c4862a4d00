"""Distributions of what varies: each maps points of the unit cube to numbers by inverse distribution functions.

A distribution is a map from (rows, dims) numbers between 0 and 1 to (rows, width) values, so that every sampler goes with every
distribution. A row depends on its own point alone, bit for bit: there are no sums over rows and no matrix products.

A new distribution is a class here and an entry in `ALL_DISTRIBUTIONS`. Its fields are declared with units and sizes, and with `lists`
(one number) or `key` (several together) it says how a study writes it: reader, messages and report need nothing else.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import special

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.mechanism.numbers import quantity

Limits = tuple[tuple[float, ...], tuple[float, ...]]
OWN = "that of what varies"
"""Unit of a field that is measured as the number that varies."""


class Distribution(Protocol):
    """What varies together."""

    @property
    def dims(self) -> int:
        """Numbers between 0 and 1 that one draw takes."""

    @property
    def width(self) -> int:
        """Numbers that one draw gives."""

    @property
    def limits(self) -> Limits:
        """Least and greatest value of each number that it gives."""

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values, (rows, width), of points of the unit cube, (rows, dims)."""


class Scalar:
    """A distribution of one number."""

    dims = 1
    width = 1
    lists: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Keys that write it in [campaign.vary], and the fields whose numbers each lists; the first one is needed."""


@dataclass(frozen=True)
class Uniform(Scalar):
    """Every number between two equally likely.

    Parameters
    ----------
    low, high : float
    """

    low: float = quantity(OWN, "least value")
    high: float = quantity(OWN, "greatest value")
    lists: ClassVar = {"uniform": ("low", "high")}

    def __post_init__(self) -> None:
        _finite("Uniform", self.low, self.high)
        if self.low > self.high:
            raise InputError(Finding("Uniform", f"[{self.low:g}, {self.high:g}]", "the lower number first"))

    @property
    def limits(self) -> Limits:
        """Least and greatest value."""
        return (self.low,), (self.high,)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values of points of the unit cube."""
        return np.clip(self.low + (self.high - self.low) * u, self.low, self.high)


@dataclass(frozen=True)
class Normal(Scalar):
    """Normal distribution, as a whole or cut off at two numbers.

    Parameters
    ----------
    mean, deviation : float
        Mean and deviation of the distribution that is not cut off.
    low, high : float
        Where it is cut off; what lies outside is omitted, not moved to the limits.
    """

    mean: float = quantity(OWN, "mean")
    deviation: float = quantity(OWN, "standard deviation")
    low: float = quantity(OWN, "least value", default=-math.inf)
    high: float = quantity(OWN, "greatest value", default=math.inf)
    lists: ClassVar = {"normal": ("mean", "deviation"), "truncated": ("low", "high")}

    def __post_init__(self) -> None:
        _finite("Normal", self.mean, self.deviation)
        _positive("Normal", "deviation", self.deviation)
        if not self.low < self.high:
            raise InputError(
                Finding("Normal", f"limits [{self.low:g}, {self.high:g}]", "the lower one first")
            )
        if not self._share > 1e-12:
            found = f"limits [{self.low:g}, {self.high:g}] that hold {self._share:.1g} of the distribution"
            raise InputError(Finding("Normal", found, f"limits nearer to the mean {self.mean:g}"))

    @property
    def _ends(self) -> tuple[float, float]:
        """Limits in deviations from the mean."""
        return (self.low - self.mean) / self.deviation, (self.high - self.mean) / self.deviation

    @property
    def _share(self) -> float:
        low, high = self._ends
        return float(
            special.ndtr(high) - special.ndtr(low) if low < 0 else special.ndtr(-low) - special.ndtr(-high)
        )

    @property
    def limits(self) -> Limits:
        """Least and greatest value."""
        return (self.low,), (self.high,)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values of points of the unit cube."""
        low, high = self._ends
        if low < 0:
            z = special.ndtri(special.ndtr(low) + self._share * u)
        else:  # counted from the upper end, where the distribution function keeps its digits
            z = -special.ndtri(special.ndtr(-high) + self._share * (1 - u))
        return np.clip(self.mean + self.deviation * z, self.low, self.high)


@dataclass(frozen=True)
class LogNormal(Scalar):
    """A positive number whose logarithm is normal: for factors such as friction or damping.

    Parameters
    ----------
    median : float
        Half of all values are below it.
    spread : float [-]
        Standard deviation of the natural logarithm; for small ones the relative standard deviation.
    """

    median: float = quantity(OWN, "median")
    spread: float = quantity("-", "standard deviation of the natural logarithm")
    lists: ClassVar = {"lognormal": ("median", "spread")}

    def __post_init__(self) -> None:
        _finite("LogNormal", self.median, self.spread)
        _positive("LogNormal", "median", self.median)
        _positive("LogNormal", "spread", self.spread)

    @property
    def limits(self) -> Limits:
        """Least and greatest value."""
        return (0.0,), (math.inf,)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values of points of the unit cube."""
        return self.median * np.exp(self.spread * special.ndtri(u))


@dataclass(frozen=True)
class Rows:
    """Whole rows of a table, all equally likely or with weights: what was measured together stays together.

    Parameters
    ----------
    rows : array, (rows, width)
    weights : sequence of float
        One per row; equal if not given.
    """

    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] = ()
    dims: int = field(default=1, init=False, repr=False)

    def __post_init__(self) -> None:
        table = np.array(self.rows, dtype=float)
        if table.ndim != 2 or not table.size or not np.isfinite(table).all():
            raise InputError(Finding("Rows", f"an array of shape {table.shape}", "rows of finite numbers"))
        weights = np.array(self.weights or [1.0] * len(table), dtype=float)
        if weights.shape != (len(table),) or not (weights >= 0).all() or not 0 < weights.sum() < math.inf:
            expected = f"{len(table)} numbers, none negative, not all zero"
            raise InputError(Finding("Rows.weights", f"{list(self.weights)}", expected, field="weights"))
        object.__setattr__(self, "rows", tuple(map(tuple, table.tolist())))
        object.__setattr__(self, "weights", tuple((weights / weights.sum()).tolist()))

    @staticmethod
    def of(numbers: Sequence[float], weights: Sequence[float] = ()) -> Rows:
        """Return one number that takes some values."""
        return Rows(tuple((float(x),) for x in numbers), tuple(map(float, weights)))

    @property
    def width(self) -> int:
        """Numbers that one draw gives."""
        return len(self.rows[0])

    @property
    def limits(self) -> Limits:
        """Least and greatest value of each column."""
        return tuple(map(min, zip(*self.rows))), tuple(map(max, zip(*self.rows)))

    @functools.cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows, and the ends of their shares of the unit interval."""
        return np.array(self.rows), np.cumsum(self.weights)

    @property
    def middles(self) -> np.ndarray:
        """Points of the unit interval that lead to each row: the middles of their shares."""
        return self._arrays[1] - 0.5 * np.array(self.weights)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the rows at points of the unit interval."""
        rows, ends = self._arrays
        return rows[np.searchsorted(ends[:-1], u[:, 0], side="right")]


@dataclass(frozen=True)
class Stats(Scalar):
    """A distribution of scipy.stats.

    Parameters
    ----------
    name : str
        Such as "weibull_min", "beta", "triang" or "poisson".
    parameters : mapping
        Shape parameters by their names there, loc and scale.
    """

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from scipy import stats

        kinds = (stats.rv_continuous, stats.rv_discrete)
        if not isinstance(getattr(stats, str(self.name), None), kinds):
            known = [n for n in dir(stats) if isinstance(getattr(stats, n), kinds)]
            raise InputError(
                Finding(
                    "Stats",
                    f"'{self.name}'",
                    f"a distribution of scipy.stats; {did_you_mean(self.name, known)}",
                )
            )
        named = [x for x in (getattr(stats, self.name).shapes or "").replace(",", " ").split() if x]
        optional = ["loc", "scale"] if isinstance(getattr(stats, self.name), stats.rv_continuous) else ["loc"]
        missing, extra = set(named) - set(self.parameters), set(self.parameters) - {*named, *optional}
        if missing or extra:
            found = ", ".join(self.parameters) or "none"
            expected = ", ".join([*named, *(f"{x} (optional)" for x in optional)])
            raise InputError(Finding("Stats", f"the parameters {found} of {self.name}", expected))
        if not np.isfinite(self._frozen.ppf([0.25, 0.75])).all():
            raise InputError(
                Finding("Stats", f"{dict(self.parameters)}", f"parameters that {self.name} allows")
            )

    @property
    def _frozen(self) -> Any:
        from scipy import stats

        return getattr(stats, self.name)(**self.parameters)

    @property
    def limits(self) -> Limits:
        """Least and greatest value."""
        low, high = self._frozen.support()
        return (float(low),), (float(high),)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values of points of the unit cube."""
        return np.asarray(self._frozen.ppf(u), dtype=float)


@dataclass(frozen=True)
class Correlated:
    """Numbers with distributions of their own that vary together: a Gaussian copula.

    Parameters
    ----------
    members : sequence of Distribution
        Members of one number each.
    correlation : array, (members, members)
        Correlation of the normal variables behind the members; for normal members that is their own correlation. Rank correlation of
        members of any kind: 6/pi asin(correlation / 2).
    """

    members: tuple[Distribution, ...]
    correlation: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        C = np.array(self.correlation, dtype=float)
        n = len(self.members)
        if any((m.dims, m.width) != (1, 1) for m in self.members):
            raise InputError(
                Finding("Correlated", "a member of several numbers", "distributions of one number")
            )
        if C.shape != (n, n) or not np.isfinite(C).all() or (C != C.T).any() or (np.diag(C) != 1).any():
            expected = f"a symmetric matrix of {n} rows with ones on its diagonal"
            raise InputError(
                Finding("Correlated.correlation", f"{C.tolist()}", expected, field="correlation")
            )
        least = float(np.linalg.eigvalsh(C)[0])
        if least < 1e-10:
            found = f"a matrix whose least eigenvalue is {least:.3g}"
            raise InputError(
                Finding("Correlated.correlation", found, "a positive definite one", field="correlation")
            )
        object.__setattr__(self, "correlation", tuple(map(tuple, C.tolist())))

    @property
    def dims(self) -> int:
        """Numbers between 0 and 1 that one draw takes."""
        return len(self.members)

    @property
    def width(self) -> int:
        """Numbers that one draw gives."""
        return len(self.members)

    @property
    def limits(self) -> Limits:
        """Least and greatest value of each member."""
        each = [m.limits for m in self.members]
        return tuple(low[0] for low, _ in each), tuple(high[0] for _, high in each)

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the values of points of the unit cube."""
        z = special.ndtri(u)
        L = np.linalg.cholesky(np.array(self.correlation))
        columns = []
        for i, member in enumerate(self.members):
            mixed = _weighted(z, L[i, : i + 1])
            share = np.clip(special.ndtr(mixed), 2.0**-53, 1 - 2.0**-53)  # not a point at infinity
            columns.append(member.values(share[:, None])[:, 0])
        return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class Direction:
    """Unit vectors, uniform on the sphere or on the cap of a cone.

    Parameters
    ----------
    about : three numbers
        Axis of the cone.
    within : float [rad]
        Half angle of the cone; pi for the whole sphere.
    """

    about: tuple[float, float, float] = quantity("-", "axis of the cone", size="3", default=(0.0, 0.0, 1.0))
    within: float = quantity("rad", "half angle of the cone", default=math.pi)
    key: ClassVar = "direction"
    dims: int = field(default=2, init=False, repr=False)
    width: int = field(default=3, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", _unit("Direction", "about", self.about, 3))
        _angle("Direction", "within", self.within)

    @property
    def limits(self) -> Limits:
        """Least and greatest value of each component."""
        return (-1.0,) * 3, (1.0,) * 3

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the unit vectors of points of the unit square."""
        versine = 2 * math.sin(self.within / 2) ** 2 * u[:, 0]  # 1 - cos of the angle to the axis
        side, turn = np.sqrt(versine * (2 - versine)), 2 * math.pi * u[:, 1]
        along = np.stack([side * np.cos(turn), side * np.sin(turn), 1 - versine], axis=-1)
        return np.stack([_weighted(along, row) for row in _frame(self.about)], axis=-1)


@dataclass(frozen=True)
class Attitude:
    """Attitudes as unit quaternions w, x, y, z (w not negative): uniform within an angle, or with a normal error about each axis.

    Parameters
    ----------
    about : four numbers
        Attitude in the middle, a quaternion w, x, y, z.
    within : float [rad]
        Largest angle from it; pi for all attitudes.
    deviation : float [rad]
        Standard deviation of the rotation about each of three axes, instead of `within`.
    """

    about: tuple[float, float, float, float] = quantity(
        "-", "attitude in the middle", size="4", default=(1.0, 0.0, 0.0, 0.0)
    )
    within: float = quantity("rad", "largest angle", default=math.pi)
    deviation: float | None = quantity("rad", "standard deviation about each axis", default=None)
    key: ClassVar = "attitude"
    dims: int = field(default=3, init=False, repr=False)
    width: int = field(default=4, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", _unit("Attitude", "about", self.about, 4))
        _angle("Attitude", "within", self.within)
        if self.deviation is not None:
            _angle("Attitude", "deviation", self.deviation)
            if self.within != math.pi:
                raise InputError(Finding("Attitude", "within and deviation", "one of them"))

    @property
    def limits(self) -> Limits:
        """Least and greatest value of each component."""
        return (0.0, -1.0, -1.0, -1.0), (1.0,) * 4

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the quaternions of points of the unit cube."""
        if self.deviation is None:
            axis, angle = Direction().values(u[:, :2]), self._angles(u[:, 2])
        else:
            turn = self.deviation * special.ndtri(u)
            angle = np.sqrt(_weighted(turn * turn, (1.0, 1.0, 1.0)))
            axis = turn / np.where(angle > 0, angle, 1.0)[:, None]
        half = np.sin(angle / 2)
        return _compose(
            np.stack([np.cos(angle / 2), *(axis[:, k] * half for k in range(3))], axis=-1), self.about
        )

    def _angles(self, u: np.ndarray) -> np.ndarray:
        """Return angles whose share of all rotations up to `within` is u: (x - sin x) has to be that share of its end."""
        share = (self.within - math.sin(self.within)) * u
        x = np.minimum(np.cbrt(6 * share), math.pi)
        for _ in range(8):  # Newton's method for a convex function from the left converges from one side
            slope = 2 * np.sin(x / 2) ** 2
            x = x - np.where(slope > 0, (x - np.sin(x) - share) / np.where(slope > 0, slope, 1.0), 0.0)
        return np.clip(x, 0.0, self.within)


@dataclass(frozen=True)
class Inertia:
    """Inertia tensors that rigid bodies can have, about a nominal one: Ixx, Iyy, Izz, Ixy, Ixz, Iyz.

    What varies is where the mass lies: each principal second moment of the mass is multiplied by a log-normal factor, and the
    axes are turned by a small random rotation. The triangle inequalities of the principal moments therefore hold in every draw.

    Parameters
    ----------
    nominal : six numbers [kg m^2]
    spread : float [-]
        Standard deviation of the natural logarithm of the principal second moments.
    tilt : float [rad]
        Standard deviation of the rotation of the principal axes about each of three axes.
    """

    nominal: tuple[float, ...] = quantity("kg m^2", "moments, or moments and products", size="3 or 6")
    spread: float = quantity("-", "standard deviation of the logarithm of the second moments")
    tilt: float = quantity("rad", "standard deviation of the rotation about each axis", default=0.0)
    key: ClassVar = "inertia"
    dims: int = field(default=6, init=False, repr=False)
    width: int = field(default=6, init=False, repr=False)

    def __post_init__(self) -> None:
        given = tuple(map(float, self.nominal))
        if len(given) not in (3, 6) or not np.isfinite(given).all():
            raise InputError(
                Finding(
                    "Inertia.nominal",
                    f"{given}",
                    "three moments, or six numbers with the products",
                    field="nominal",
                )
            )
        object.__setattr__(self, "nominal", given if len(given) == 6 else (*given, 0.0, 0.0, 0.0))
        _finite("Inertia", self.spread, self.tilt)
        if self.spread < 0 or not 0 <= self.tilt <= math.pi:
            raise InputError(
                Finding("Inertia", f"spread {self.spread:g}, tilt {self.tilt:g}", "none negative")
            )
        least, moments = float(self._principal[0].min()), np.linalg.eigvalsh(self._tensor)
        if least < -1e-9 * moments[-1] or moments[0] < 0:
            found = f"principal moments {', '.join(f'{x:.6g}' for x in moments)}"
            raise InputError(
                Finding("Inertia.nominal", found, "each at most the sum of the others", field="nominal")
            )

    @property
    def _tensor(self) -> np.ndarray:
        xx, yy, zz, xy, xz, yz = self.nominal
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def _principal(self) -> tuple[np.ndarray, np.ndarray]:
        """Principal second moments of the mass and their axes (columns)."""
        J = self._tensor
        moments, axes = np.linalg.eigh(np.eye(3) * np.trace(J) / 2 - J)
        return moments, axes

    @property
    def limits(self) -> Limits:
        """Least and greatest value of each number."""
        return (0.0,) * 3 + (-math.inf,) * 3, (math.inf,) * 6

    def values(self, u: np.ndarray) -> np.ndarray:
        """Return the six numbers at points of the unit cube."""
        moments, axes = self._principal
        second = np.maximum(moments, 0.0) * np.exp(self.spread * special.ndtri(u[:, :3]))
        q = Attitude(deviation=self.tilt).values(u[:, 3:])
        turned = [_rotate(q, axes[:, k]) for k in range(3)]
        columns = []
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            products = np.stack([a[:, i] * a[:, j] for a in turned], axis=-1)
            across = _weighted(second * products, (1.0, 1.0, 1.0))
            columns.append(_weighted(second, (1.0, 1.0, 1.0)) - across if i == j else -across)
        return np.stack(columns, axis=-1)


ALL_DISTRIBUTIONS: tuple[type[Any], ...] = (
    Uniform,
    Normal,
    LogNormal,
    Rows,
    Stats,
    Correlated,
    Direction,
    Attitude,
    Inertia,
)


@dataclass(frozen=True)
class Axis:
    """What varies, by name: one number, or several that are drawn together.

    Parameters
    ----------
    names : tuple of str
        Parameters, or entries of the initial state such as "q.lift".
    distribution : Distribution
    """

    names: tuple[str, ...]
    distribution: Distribution

    def __post_init__(self) -> None:
        if len(self.names) != self.distribution.width:
            found = f"{len(self.names)} names ({', '.join(self.names)})"
            kind = type(self.distribution).__name__
            raise InputError(Finding("vary", found, f"{self.distribution.width} for {kind}"))


def axes_of(vary: Mapping[Any, Any]) -> tuple[Axis, ...]:
    """Return the axes of a mapping from a name, or a tuple of names, to a distribution or a sequence of values."""
    axes = []
    for given, what in vary.items():
        names = (given,) if isinstance(given, str) else tuple(given)
        distribution = what if hasattr(what, "values") and hasattr(what, "dims") else Rows.of(what)
        axes.append(Axis(names, distribution))
    named = [n for axis in axes for n in axis.names]
    twice = sorted({n for n in named if named.count(n) > 1})
    if twice:
        raise InputError(Finding("vary", f"'{twice[0]}' more than once", "every name once"))
    return tuple(axes)


def draw(axes: Sequence[Axis], points: np.ndarray) -> dict[str, np.ndarray]:
    """Return the numbers of each name, (rows,), at points of the unit cube, (rows, dims of all axes)."""
    out: dict[str, np.ndarray] = {}
    first = 0
    for axis in axes:
        last = first + axis.distribution.dims
        found = axis.distribution.values(np.ascontiguousarray(points[:, first:last]))
        out |= {name: np.ascontiguousarray(found[:, k]) for k, name in enumerate(axis.names)}
        first = last
    return out


def require_ranges(axes: Sequence[Axis], ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise ModelError that names every number whose distribution leaves its valid range."""
    findings = []
    for axis in axes:
        for name, low, high in zip(axis.names, *axis.distribution.limits):
            least, greatest = ranges.get(name, (-math.inf, math.inf))
            if low < least or high > greatest:
                found = f"values from {low:g} to {high:g}"
                hint = (
                    "Cut it off: truncated = [least, greatest]."
                    if isinstance(axis.distribution, Normal)
                    else ""
                )
                findings.append(
                    Finding(
                        f"vary '{name}'", found, f"values within its range, {least:g} to {greatest:g}", hint
                    )
                )
    if findings:
        raise ModelError(findings)


def require_seeds(axes: Sequence[Axis], name: str) -> None:
    """Raise InputError for seeds that are not whole numbers, or that are all the same where they seem to vary."""
    for axis in axes:
        if name not in axis.names:
            continue
        k, d = axis.names.index(name), axis.distribution
        if isinstance(d, Rows):
            broken = [row[k] for row in d.rows if row[k] != math.floor(row[k])]
            if broken:
                raise InputError(Finding(f"vary '{name}'", f"{broken[0]:g}", "whole numbers"))
        elif d.limits[1][k] - d.limits[0][k] < 1:
            found = f"values from {d.limits[0][k]:g} to {d.limits[1][k]:g}"
            raise InputError(
                Finding(
                    f"vary '{name}'",
                    f"{found}, which are all the same whole number or two",
                    "a wide range, such as 0 to 1e9, or a list",
                )
            )


# arithmetic of rows


def _weighted(columns: np.ndarray, weights: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the weighted sum of the first columns, column by column: a matrix product rounds by the number of rows."""
    total = weights[0] * columns[:, 0]
    for k in range(1, len(weights)):
        total = total + weights[k] * columns[:, k]
    return total


def _frame(z: Sequence[float]) -> np.ndarray:
    """Return a rotation matrix whose third column is the unit vector z."""
    v = np.array(z)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(v)))], v)
    x = x / np.linalg.norm(x)
    if (v == (0, 0, 1)).all():
        return np.eye(3)
    return np.stack([x, np.cross(v, x), v], axis=-1)


def _compose(a: np.ndarray, b: Sequence[float]) -> np.ndarray:
    """Return the products a b of quaternions w, x, y, z with w not negative, (rows, 4): first b, then a."""
    w, x, y, z = b
    rows = [
        _weighted(a, (w, -x, -y, -z)),
        _weighted(a, (x, w, z, -y)),
        _weighted(a, (y, -z, w, x)),
        _weighted(a, (z, y, -x, w)),
    ]
    sign = np.where(rows[0] < 0, -1.0, 1.0)
    return np.stack([sign * r for r in rows], axis=-1)


def _rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return a vector, turned by each quaternion, (rows, 3)."""
    w, u = q[:, 0], q[:, 1:]
    twice = [
        2 * (u[:, 1] * v[2] - u[:, 2] * v[1]),
        2 * (u[:, 2] * v[0] - u[:, 0] * v[2]),
        2 * (u[:, 0] * v[1] - u[:, 1] * v[0]),
    ]
    across = [
        u[:, 1] * twice[2] - u[:, 2] * twice[1],
        u[:, 2] * twice[0] - u[:, 0] * twice[2],
        u[:, 0] * twice[1] - u[:, 1] * twice[0],
    ]
    return np.stack([v[k] + w * twice[k] + across[k] for k in range(3)], axis=-1)


def _finite(where: str, *numbers: float) -> None:
    if not np.isfinite(np.array(numbers, dtype=float)).all():
        raise InputError(Finding(where, f"{list(numbers)}", "finite numbers"))


def _positive(owner: str, field: str, number: float) -> None:
    if not number > 0:
        raise InputError(Finding(f"{owner}.{field}", f"{number:g}", "a positive number", field=field))


def _angle(owner: str, field: str, angle: float) -> None:
    if not 0 <= angle <= math.pi:
        raise InputError(
            Finding(
                f"{owner}.{field}",
                f"{angle:g} rad",
                "an angle from 0 to pi",
                "Degrees instead of radians?",
                field=field,
            )
        )


def _unit(owner: str, field: str, given: Sequence[float], size: int) -> tuple[float, ...]:
    v = np.array(given, dtype=float)
    if v.shape != (size,) or not np.isfinite(v).all() or not np.linalg.norm(v) > 0:
        raise InputError(
            Finding(f"{owner}.{field}", repr(given), f"{size} numbers, not all zero", field=field)
        )
    return tuple((v / np.linalg.norm(v)).tolist())
