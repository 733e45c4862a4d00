"""Characteristic gain loci of a loop with several channels, and the generalized Nyquist criterion.

The loci are the eigenvalues of L(s) as s goes up the boundary of stability, each followed continuously. Together they turn around -1,
counterclockwise, as often as L has more unstable poles than its closed loop (I + L)^-1.

Source: MacFarlane & Postlethwaite 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from articulus.control.analysis.open_loop import open_loop
from articulus.control.design import Design
from articulus.control.plant import as_plant
from articulus.errors import InputError, NumericalError, doubtful
from articulus.linear import LinearModel
from articulus.linear.figures import frequencies
from articulus.linear.model import rates
from articulus.linear.response import Transfer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TURN = 0.5
"""Largest turn of a locus around -1 between neighboring frequencies [rad]."""
BESIDE = 1e-6
"""Distance of the contour from the boundary of stability, over the frequency, or the slowest: poles on the boundary lie to its left."""
TOUCHING = 1e-4
"""Distance from -1 below which the closed loop counts as being at the boundary of stability."""
ROUNDS, MOST = 60, 100_000


@dataclass(frozen=True, eq=False)
class GainLoci:
    """Eigenvalues of a loop along the boundary of stability.

    Parameters
    ----------
    omega : array, (n,) [rad/s]
        From zero to infinity, or to half of the sampling frequency.
    loci : complex array, (n, m)
        A column for each locus.
    turns : int
        How often all loci together turn around -1, counterclockwise, over all frequencies, negative ones too.
    unstable_open, unstable_closed : int
        Poles of L and of (I + L)^-1 that are not stable; the one by eigenvalues, the other as `unstable_open - turns`.
    """

    omega: np.ndarray
    loci: np.ndarray
    turns: int
    unstable_open: int
    unstable_closed: int

    @property
    def nearest(self) -> tuple[float, float]:
        """Least distance of a locus from -1, and its frequency [rad/s]. No measure of robustness with several channels: see `margins`."""
        away = np.abs(1 + self.loci).min(axis=1)
        k = int(away.argmin())
        return float(away[k]), float(self.omega[k])

    def __str__(self) -> str:
        away, at = self.nearest
        return (
            f"{self.loci.shape[1]} loci, {self.turns} turns around -1, {self.unstable_open} unstable poles of the loop: "
            f"{self.unstable_closed} unstable poles closed; nearest to -1 by {away:.4g} at {at:.4g} rad/s"
        )

    def plot(self) -> Figure:
        """Return a figure: the loci in the complex plane, with -1."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 6), layout="constrained")
        ax = figure.subplots()
        for k, locus in enumerate(self.loci.T):
            ax.plot(locus.real, locus.imag, label=f"locus {k + 1}")
            ax.plot(locus.real, -locus.imag, color=ax.lines[-1].get_color(), lw=0.6, ls="--")
        ax.plot([-1], [0], "k+", ms=10)
        size = 1.2 * float(np.clip(np.percentile(np.abs(self.loci), 90), 2.0, 20.0))
        ax.set(
            xlim=(-size, size),
            ylim=(-size, size),
            xlabel="real part",
            ylabel="imaginary part",
            aspect="equal",
        )
        ax.grid(color="#e5e5e5")
        ax.legend(fontsize="small", frameon=False)
        return figure


def gain_loci(loop: Any, omega: Any = None, *, at: str = "commands") -> GainLoci:
    """Return the characteristic gain loci of a loop L with negative feedback, and what they tell of (I + L)^-1.

    Parameters
    ----------
    loop : Design, or see `as_plant`
        L, with as many outputs as inputs; see `open_loop` for the sign. Of a Design, its own loop.
    omega : array, (n,) [rad/s]
        Frequencies to begin with; more are put in where a locus turns fast. A decade beyond slowest and fastest pole if not given.
    at : str
        Where the loop of a Design is cut, "commands" or "measured".

    Raises
    ------
    NumericalError
        So many frequencies would be needed that the turns cannot be told.

    Warns
    -----
    DoubtfulResult
        A locus passes through -1: the closed loop is at the boundary of stability.
    """
    cut = open_loop(loop, at=at) if isinstance(loop, Design) else loop
    L = as_plant(cut, "gain_loci")
    if len(L.inputs) != len(L.outputs) or not L.inputs:
        raise InputError(
            f"gain_loci: found a loop of {len(L.inputs)} inputs and {len(L.outputs)} outputs; expected as many"
        )
    w = _grid(L, omega)
    slowest, last = float(w[1]) / (1e-2 * BESIDE), np.inf if L.period is None else np.pi / L.period
    response, end = _along(L, slowest)
    values = np.linalg.eigvals(response(w))
    for _ in range(ROUNDS):
        loci = follow(np.vstack([values, end]))
        coarse = np.flatnonzero((np.abs(np.angle((1 + loci[1:]) / (1 + loci[:-1]))) > TURN).any(axis=1))
        if not len(coarse):
            break
        if len(w) + len(coarse) > MOST:
            raise _touching(w[coarse[0]])
        after = np.append(w, last)[coarse + 1]
        middle = np.where(np.isfinite(after), 0.5 * (w[coarse] + after), 10 * w[coarse])
        w, values = (
            np.insert(w, coarse + 1, middle),
            np.insert(values, coarse + 1, np.linalg.eigvals(response(middle)), axis=0),
        )
    else:
        raise _touching(w[coarse[0]])
    turned = float(np.angle((1 + loci[1:]) / (1 + loci[:-1])).sum())
    turns = round(turned / np.pi)
    poles = np.linalg.eigvals(L.A)
    places = rates(poles, L.period)
    unstable = int(np.count_nonzero(places.real > BESIDE * np.maximum(np.abs(places.imag), slowest)))
    result = GainLoci(np.append(w, last), loci, turns, unstable, unstable - turns)
    away, at_frequency = result.nearest
    if away < TOUCHING:
        doubtful(
            f"gain_loci: a locus passes -1 by {away:.2g} at {at_frequency:.6g} rad/s: the closed loop is at the boundary of stability, whose poles count as stable"
        )
    return result


def _touching(w: float) -> NumericalError:
    return NumericalError(
        f"gain_loci: near {w:.6g} rad/s a locus passes through -1, or too close to decide: the closed loop is at the boundary of stability"
    )


def _grid(L: LinearModel, omega: Any) -> np.ndarray:
    """Return rising frequencies from zero on."""
    given = frequencies(L) if omega is None else np.sort(np.asarray(omega, dtype=float).ravel())
    last = np.inf if L.period is None else np.pi / L.period
    if not len(given) or not np.isfinite(given).all() or given[0] < 0:
        raise InputError("gain_loci: expected frequencies [rad/s], finite and not negative")
    inside = given[(given > 0) & (given < last)]
    if not len(inside):
        raise InputError(
            "gain_loci: found no frequency above zero and below half of the sampling frequency; expected one at least"
        )
    first = inside[0]
    return np.concatenate([[0.0], np.geomspace(1e-2 * BESIDE * first, first, 80)[:-1], inside])


def _along(L: LinearModel, slowest: float) -> tuple[Any, np.ndarray]:
    """Return L on the contour as a function of frequency, and its eigenvalues where the contour ends."""
    value = Transfer(L.A, L.B, L.C, L.D)

    def contour(w: np.ndarray) -> np.ndarray:
        s = BESIDE * np.maximum(w, slowest) + 1j * w
        return s if L.period is None else np.exp(s * L.period)

    if L.period is None:
        return (lambda w: value(contour(w))), np.linalg.eigvals(L.D)
    end = contour(np.array([np.pi / L.period])).real + 0j
    return (lambda w: value(contour(w))), np.linalg.eigvals(value(end)[0])


def follow(values: np.ndarray) -> np.ndarray:
    """Return rows of eigenvalues (n, m) in an order in which each column is continuous: neighbors are matched by least distance."""
    away = np.abs(values[:-1, :, None] - values[1:, None, :])
    nearest = away.argmin(axis=2)
    clear = (np.sort(nearest, axis=1) == np.arange(values.shape[1])).all(axis=1)
    for row in np.flatnonzero(~clear):  # two have the same nearest
        nearest[row] = linear_sum_assignment(away[row])[1]
    loci, order = values.astype(complex), np.arange(values.shape[1])
    for k, near in enumerate(nearest):
        order = near[order]
        loci[k + 1] = values[k + 1, order]
    return loci
