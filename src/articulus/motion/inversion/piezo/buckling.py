"""A column held beyond its buckling load by piezoelectric layers: regulator on some modes, all loads below, modes left out.

Under a compressive load P the modes of the unloaded column obey eta'' + 2 zeta Omega eta' + (Omega^2 - P G) eta = b v, where
G_ij is the integral of phi_i' phi_j'. Damping forces are those of the unloaded column, since beyond the first buckling load a
frequency is imaginary.

Source: Meressi & Paden 1993.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.control.design import Check, RegulatorDesign
from articulus.control.robust.polynomials import FamilyStability, kharitonov
from articulus.control.synthesis.lqr import lqr
from articulus.errors import InputError, doubtful
from articulus.motion.inversion.piezo.beam_modes import BeamModes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNREACHED = 1e-6
"""Part of the largest entry below which a mode is not reached by the layers, or not seen by the gauges."""
LOADS = 83
"""Loads at which the closed loop is examined."""
QUADRATURE = 100
"""Points of the integral of slopes, exact to rounding for some thirty modes."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column with one piezoelectric pair and strain gauges.

    Parameters
    ----------
    modes : BeamModes
        Modes of the unloaded column, those that may be omitted of the design too.
    gain : float [N m/V]
        Moment by voltage: `PiezoLayers.section_gain` or `gain`.
    gauges : floats [m]
        Places of the differential strain gauges, whose voltages are summed.
    gauge_gain : float [V m]
        Voltage of a gauge by curvature: gauge factor [V per unit strain] times twice the distance of the gauges from the middle.
    layers : two floats [m]
        Where the layers begin and end; over the whole length if not given.
    """

    modes: BeamModes
    gain: float
    gauges: Sequence[float]
    gauge_gain: float
    layers: tuple[float, float] | None = None

    @functools.cached_property
    def input(self) -> np.ndarray:
        """Force on each mode by voltage, (n,)."""
        first, second = self.layers or (0.0, self.modes.length)
        slopes = self.modes.slopes(np.array([first, second]))
        return self.gain * (slopes[1] - slopes[0])

    @functools.cached_property
    def output(self) -> np.ndarray:
        """Voltage of the gauges by modal coordinate, (n,): minus curvature, so that it is positive where the deflection is."""
        step = 1e-4 * self.modes.length
        at = np.asarray(self.gauges, dtype=float)
        curvature = (self.modes.slopes(at + step) - self.modes.slopes(at - step)) / (2 * step)
        return -self.gauge_gain * curvature.sum(0)

    @functools.cached_property
    def shortening(self) -> np.ndarray:
        """G, by which the load softens the column, (n, n) [1/(kg m)]."""
        x, w = np.polynomial.legendre.leggauss(QUADRATURE)
        slopes = self.modes.slopes((x + 1) / 2 * self.modes.length)
        return slopes.T @ (slopes * w[:, None]) * self.modes.length / 2

    @property
    def buckling_loads(self) -> np.ndarray:
        """Loads at which the column buckles, rising, (n,) [N]."""
        softness = np.linalg.eigvals(self.shortening / self.modes.omega[:, None] ** 2).real
        return np.sort(1 / softness)

    def matrices(self, load: float, modes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return (A, B) of some modes, counted from 1, under a load [N]; states are (eta_1, eta_1', eta_2, ...)."""
        k = np.asarray(modes) - 1
        omega, n = self.modes.omega[k], len(k)
        K = np.diag(omega**2) - load * self.shortening[np.ix_(k, k)]
        A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 1))
        A[::2, 1::2], A[1::2, ::2] = np.eye(n), -K
        A[1::2, 1::2] = -np.diag(2 * self.modes.damping[k] * omega)
        B[1::2, 0] = self.input[k]
        return A, B

    def measurement(self, modes: Sequence[int]) -> np.ndarray:
        """Return the voltage of the gauges and its rate by the states of some modes, (2, 2 n)."""
        out = self.output[np.asarray(modes) - 1]
        C = np.zeros((2, 2 * len(out)))
        C[0, ::2] = C[1, 1::2] = out
        return C


@dataclass(frozen=True, eq=False)
class BucklingControl:
    """A regulator that holds a column beyond its buckling load.

    Parameters
    ----------
    load : float [N]
        That it was designed for.
    modes : tuple of int
        Modes of the design, counted from 1.
    design : RegulatorDesign
        State feedback v = -K x on these modes.
    buckling_loads : array, (n,) [N]
        Buckling loads of the column without control.
    limit : float [N]
        Smallest load at which the modes outside of the design buckle; infinite if there are none.
    loads, slowest : arrays, (m,) [N], [1/s]
        Loads from none to that of the design, and the largest real part of the poles there.
    family : FamilyStability
        All characteristic polynomials between the smallest and the largest coefficients over these loads.
    monotone : bool
        Whether every coefficient goes one way with the load, so that only the ends of the range matter to the bounds.
    spillover : float [1/s]
        Largest real part of all modes that the gauges see, with feedback of the design's modes alone (an ideal modal filter).
    checks : tuple of Check
    """

    load: float
    modes: tuple[int, ...]
    design: RegulatorDesign
    buckling_loads: np.ndarray
    limit: float
    loads: np.ndarray
    slowest: np.ndarray
    family: FamilyStability
    monotone: bool
    spillover: float
    checks: tuple[Check, ...]

    @property
    def gain(self) -> np.ndarray:
        """K, by the states (eta, eta') of each mode of the design, (1, 2 n)."""
        return self.design.gain

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        first = self.buckling_loads[0]
        lines = [
            f"buckling control: modes {', '.join(map(str, self.modes))} at {self.load:.5g} N, {self.load / first:.3g} times the first "
            f"buckling load {first:.5g} N"
        ]
        return "\n".join(lines + [f"  {check}" for check in self.checks])

    def plot(self) -> Figure:
        """Return a figure: the largest real part of the poles over the load."""
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
        ax.plot(self.loads, self.slowest, label="modes of the design")
        ax.axhline(0.0, color="0.5", lw=0.8)
        for k, P in enumerate(self.buckling_loads[self.buckling_loads <= self.load * 1.02]):
            ax.axvline(
                P, color="tab:red", lw=0.8, ls="--", label="buckling without control" if k == 0 else None
            )
        ax.set(xlabel="load [N]", ylabel="largest real part [1/s]")
        ax.legend(frameon=False)
        return figure


def buckling_control(
    column: Column, load: float, *, order: int = 2, weight: float = 1.0, R: float = 1.0
) -> BucklingControl:
    """Return the regulator that holds a column under a load, checked at all loads below and with the modes left out.

    Parameters
    ----------
    column : Column
    load : float [N]
        Compressive; usually beyond the first buckling load.
    order : int
        Modes of the design: the lowest that the layers reach and the gauges see.
    weight : float
        Weight of the squares of the voltage of the gauges and of its rate.
    R : float
        Weight of the square of the voltage of the layers.

    A mode outside of the design is not held: beyond its buckling load, `limit`, a check fails and a warning says so.
    """
    if not load > 0:
        raise InputError(f"buckling_control, load: found {load!r}; expected a compressive load > 0 [N]")
    reached, seen = (np.abs(x) > UNREACHED * np.abs(x).max() for x in (column.input, column.output))
    usable = tuple(int(k) + 1 for k in np.flatnonzero(reached & seen))
    if len(usable) < order:
        raise InputError(
            f"buckling_control: the layers reach and the gauges see modes {usable} of {column.modes.count}; expected at least "
            f"{order} (order). Give the column more modes, or put layers and gauges elsewhere"
        )
    chosen = usable[:order]
    A, B = column.matrices(load, chosen)
    C = column.measurement(chosen)
    design = lqr((A, B), weight * C.T @ C, R)
    K = design.gain
    loads = np.linspace(0.0, load, LOADS)
    closed = np.stack([column.matrices(P, chosen)[0] - B @ K for P in loads])
    slowest = np.linalg.eigvals(closed).real.max(1)
    polynomials = np.array([np.real(np.poly(each)) for each in closed])
    family = kharitonov(polynomials.min(0), polynomials.max(0))
    spillover = _spillover(column, load, usable, K)
    limit = _limit(column, chosen)
    checks = (
        Check("largest real part over all loads up to the design's [1/s]", float(slowest.max()), 0.0, bool(slowest.max() < 0)),
        Check("root of the Kharitonov polynomials farthest to the right [1/s]", float(family.root.real), 0.0, bool(family.stable)),
        Check("largest real part with the modes left out that layers and gauges know [1/s]", spillover, 0.0, spillover < 0),
        Check("load over that at which the modes outside of the design buckle", load / limit, 1.0, load < limit),
    )  # fmt: skip
    if load >= limit:
        doubtful(
            f"buckling_control: a mode outside of the design buckles at {limit:.5g} N, less than the load of {load:.5g} N: the "
            "column is not stabilized. Put layers and gauges where they reach and see it, raise the order, or keep the load below"
        )
    return BucklingControl(
        load, chosen, design, column.buckling_loads, limit, loads, slowest, family, _monotone(polynomials), spillover, checks
    )  # fmt: skip


def _spillover(column: Column, load: float, usable: tuple[int, ...], K: np.ndarray) -> float:
    """Return the largest real part of the usable modes with feedback of the first of them alone."""
    A, B = column.matrices(load, usable)
    wide = np.zeros((1, len(A)))
    wide[:, : K.shape[1]] = K
    return float(np.linalg.eigvals(A - B @ wide).real.max())


def _limit(column: Column, chosen: tuple[int, ...]) -> float:
    """Return the smallest load at which the modes outside of the design buckle by themselves."""
    k = np.delete(np.arange(column.modes.count), np.array(chosen) - 1)
    if not len(k):
        return np.inf
    G = column.shortening[np.ix_(k, k)]
    return float(1 / np.linalg.eigvals(G / column.modes.omega[k][:, None] ** 2).real.max())


def _monotone(polynomials: np.ndarray) -> bool:
    steps, size = np.diff(polynomials[:, 1:], axis=0), 1e-9 * np.abs(polynomials[1:, 1:])
    return bool(((steps >= -size).all(0) | (steps <= size).all(0)).all())
