"""Minimization under limits, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.errors import InputError


@dataclass(frozen=True, eq=False)
class Point:
    """Objective and limits at a design, with their derivatives.

    Parameters
    ----------
    objective : float
    slope : array, (variables,)
    limits : array, (limits,)
        Kept where at most zero; relative to what is allowed, so that 0.01 is a hundredth too much.
    slopes : array, (limits, variables)
    defined : bool
        Whether the design has figures at all: an unstable loop has no mean squares.
    found : object
        What was computed on the way.
    """

    objective: float
    slope: np.ndarray
    limits: np.ndarray
    slopes: np.ndarray
    defined: bool = True
    found: Any = None

    @property
    def excess(self) -> float:
        """The largest limit that is broken, relative to what is allowed; zero if none is."""
        return float(max(self.limits.max(initial=0.0), 0.0)) if self.defined else np.inf


@dataclass(frozen=True, eq=False)
class DesignProgram:
    """Minimize an objective over variables, while limits are kept.

    Parameters
    ----------
    names : tuple of str
        Names of the variables.
    lower, upper : array, (variables,)
    evaluate : function of an array
        Returns the `Point` of a design.
    limits : tuple of str
        Names of the limits.
    sizes : array of bool, (variables,)
        Which variables are positive sizes: they are varied by their logarithms. The others are varied in units of `scale`.
    scale : array, (variables,)
        Typical sizes of the other variables.
    unit : str
        Unit of the objective.
    """

    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    evaluate: Callable[[np.ndarray], Point]
    limits: tuple[str, ...]
    sizes: np.ndarray
    scale: np.ndarray
    unit: str = ""

    def __post_init__(self) -> None:
        for name, low, high, size in zip(self.names, self.lower, self.upper, self.sizes):
            if not low <= high:
                raise InputError(f"{name}: bounds {low:g} to {high:g}; expected the lower one first")
            if size and not low > 0:
                raise InputError(f"{name}: lower bound {low:g}; expected a positive one: it is a size")

    def inside(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return a design within the bounds; InputError for a wrong count or what is no number."""
        given = np.asarray(x, dtype=float)
        if given.shape != self.lower.shape or not np.isfinite(given).all():
            raise InputError(
                f"start of shape {given.shape}; expected {len(self.names)} finite numbers: {_few(self.names)}"
            )
        return np.clip(given, self.lower, self.upper)

    # variables on scales of their own

    def to_scaled(self, x: np.ndarray) -> np.ndarray:
        """Return variables as methods vary them: logarithms of sizes, others in units of their scale."""
        return np.where(self.sizes, np.log(np.where(self.sizes, x, 1.0)), x / self.scale)

    def from_scaled(self, z: np.ndarray) -> np.ndarray:
        """Return the variables of scaled ones, within their bounds."""
        x = np.where(self.sizes, np.exp(np.where(self.sizes, z, 0.0)), z * self.scale)
        return np.clip(x, self.lower, self.upper)

    def rates(self, x: np.ndarray) -> np.ndarray:
        """Return dx/dz, (variables,)."""
        return np.where(self.sizes, x, self.scale)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best design that was found from one start.

    Parameters
    ----------
    program : DesignProgram
    x : array, (variables,)
    point : Point
        Objective and limits there.
    ok : bool
        Whether nothing better is near and all limits are kept.
    evaluations : int
        Evaluations of objective, limits and their derivatives.
    method : str
    message : str
        Why the search ended.
    start : array, (variables,)
    others : tuple of Optimum
        From further starts, best first.
    """

    program: DesignProgram
    x: np.ndarray
    point: Point
    ok: bool
    evaluations: int
    method: str
    message: str
    start: np.ndarray
    others: tuple[Optimum, ...] = field(default=(), repr=False)

    @property
    def objective(self) -> float:
        """What was minimized."""
        return self.point.objective

    @property
    def values(self) -> dict[str, float]:
        """The variables by name."""
        return dict(zip(self.program.names, self.x.tolist()))

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the limits that hold the design: within a thousandth of what is allowed."""
        return tuple(n for n, g in zip(self.program.limits, self.point.limits) if g > -1e-3)

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the limits that the design breaks by more than a thousandth, worst first."""
        order = np.argsort(-self.point.limits)
        return tuple(self.program.limits[k] for k in order if self.point.limits[k] > 1e-3)

    def section(self, other: Optimum | np.ndarray, count: int = 41, beyond: float = 0.2) -> LineSection:
        """Return objective and limits along the straight line to another design, and somewhat beyond both.

        Parameters
        ----------
        other : Optimum or array, (variables,)
            Its end.
        count : int
            Number of designs.
        beyond : float
            Part of the line that is added at either end; 0 is this design, 1 the other.
        """
        end = self.program.inside(other.x if isinstance(other, Optimum) else other)
        places = np.linspace(-beyond, 1 + beyond, count)
        way = [self.x + s * (end - self.x) for s in places]
        kept = [
            k
            for k, x in enumerate(way)
            if (x >= self.program.lower).all() and (x <= self.program.upper).all()
        ]
        points = [self.program.evaluate(way[k]) for k in kept]
        return LineSection(
            places[kept], np.array([way[k] for k in kept]),
            np.array([p.objective if p.defined else np.nan for p in points]),
            np.array([p.limits if p.defined else np.full(len(self.program.limits), np.nan) for p in points]),
            self.program,
        )  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{'optimum' if self.ok else 'not converged'} by {self.method}: "
            f"{self.objective:.6g}{' ' + self.program.unit if self.program.unit else ''} after {self.evaluations} evaluations; {self.message}"
        ]
        width = max(map(len, self.program.names))
        ends = np.where(
            self.x <= self.program.lower,
            "at its lower bound",
            np.where(self.x >= self.program.upper, "at its upper bound", ""),
        )
        lines += [f"  {n:<{width}} {v:.6g} {e}".rstrip() for n, v, e in zip(self.program.names, self.x, ends)]
        lines += [
            f"  {n}: {100 * abs(g):.4g} % {'beyond' if g > 0 else 'inside'} its limit"
            for n, g in zip(self.program.limits, self.point.limits)
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class LineSection:
    """Objective and limits along a straight line through the design space.

    Parameters
    ----------
    places : array, (designs,)
        0 at the first design, 1 at the second.
    designs : array, (designs, variables)
    objective : array, (designs,)
        Not a number where the design has no figures.
    limits : array, (designs, limits)
        Kept where at most zero.
    program : DesignProgram
    """

    places: np.ndarray
    designs: np.ndarray
    objective: np.ndarray
    limits: np.ndarray
    program: DesignProgram

    @property
    def allowed(self) -> np.ndarray:
        """Whether all limits are kept, (designs,)."""
        with np.errstate(invalid="ignore"):
            return np.all(self.limits <= 1e-6, axis=1)

    @property
    def separate(self) -> bool:
        """Whether designs that break a limit lie between the two ends: they are optima of different valleys."""
        between = (self.places > 1e-9) & (self.places < 1 - 1e-9)
        return bool((~self.allowed[between]).any())

    def plot(self) -> Any:
        """Return a figure of objective and limits along the line."""
        from articulus.design.charts import plot_section

        return plot_section(self)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
