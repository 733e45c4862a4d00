"""Robust stability: the peak of mu over all frequencies, and a perturbation that destabilizes (`robstab` in MATLAB)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import stable_poles
from articulus.control.connect import close
from articulus.control.design import Check
from articulus.control.figure import over_frequency
from articulus.control.modes import heaviest
from articulus.control.plant import as_plant
from articulus.control.robust.allpass import interpolating
from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.corners import Corner, least_corner
from articulus.control.robust.mu_peak import MAX_INTERVALS, MuPeak, mu_frequencies
from articulus.control.robust.mussv import Mu
from articulus.control.robust.uncertain import UncertainModel
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class RobustStability:
    """How large a perturbation a stable system bears.

    Parameters
    ----------
    upper : float
        mu is at most this at every frequency, if `everywhere`: all perturbations smaller than `margin` = 1 / upper leave the loop stable.
    lower : float
        1 / lower is the size of the perturbation found that destabilizes; 0 if none was found.
    frequency : float [rad/s]
        Frequency of that perturbation, or, without one, of the largest upper bound. Infinite: the perturbed equations have no solution (as
        when an inertia becomes zero).
    omega, mu : array (f,) [rad/s] and `Mu`
        Bounds at the frequencies that were examined.
    delta : complex array, (rows, columns)
        The perturbation at its frequency.
    perturbation : LinearModel or None
        The same as a stable real system, constant but for complex blocks, which are all-pass.
    worst : dict of name to float
        Values of named real parameters there, in their units; outside their ranges if the margin is above 1.
    everywhere : bool
        Whether the upper bound is shown for all frequencies, between those of the grid, too (Hamiltonian test).
    checks : tuple of Check
    extrapolated : bool
        Whether the worst values lie outside the ranges of a model that was fitted within them and is not exact.
    """

    upper: float
    lower: float
    frequency: float
    omega: np.ndarray
    mu: Mu
    delta: np.ndarray
    perturbation: LinearModel | None
    worst: Mapping[str, float] = field(default_factory=dict)
    everywhere: bool = True
    checks: tuple[Check, ...] = ()
    extrapolated: bool = False

    @property
    def margin(self) -> float:
        """Size below which no perturbation destabilizes [-]."""
        return float(np.divide(1.0, self.upper)) if self.upper > 0 else np.inf

    @property
    def robust(self) -> bool:
        """Whether every perturbation of size up to 1 leaves the loop stable."""
        return self.everywhere and self.upper < 1.0

    def __str__(self) -> str:
        reach = "at all frequencies" if self.everywhere else "at the frequencies of the grid only"
        found = (
            f"one of size {1 / self.lower:.6g} at {self.frequency:.6g} rad/s destabilizes"
            if self.lower > 0
            else "none that destabilizes was found"
        )
        lines = [f"stable for all perturbations smaller than {self.margin:.6g} ({reach}); {found}"]
        lines += [f"  {name} = {value:.6g}" for name, value in self.worst.items()]
        if self.extrapolated:
            lines.append("  these lie outside the ranges in which the model was fitted")
        return "\n".join(lines + [f"  {check}" for check in self.checks])

    def plot(self) -> Figure:
        """Return a figure: both bounds of mu over frequency, and the bound for all of them."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        shown = (self.omega > 0) & np.isfinite(self.omega)
        order = np.argsort(self.omega[shown], kind="stable")
        for bound, label, style in (
            (self.mu.upper, "upper bound", "-"),
            (self.mu.lower, "lower bound", "--"),
        ):
            axes.semilogx(self.omega[shown][order], bound[shown][order], style, label=label)
        where = "all frequencies" if self.everywhere else "largest found"
        axes.axhline(self.upper, color="#404040", ls=":", label=f"{where}: {self.upper:.3g}")
        axes.set_ylabel("mu [-]")
        over_frequency((axes,), linear=(axes,))
        return figure


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def robstab(
    system: Any, blocks: Any = None, omega: Any = None, *, max_intervals: int = MAX_INTERVALS
) -> RobustStability:
    """Return how large perturbations a stable system bears, with the worst one confirmed by the poles it leads to.

    mu is computed on a grid, the peaks are refined, and with the scalings found the eigenvalues of Hamiltonian matrices show
    over which interval around each frequency the bound holds, until the intervals cover all frequencies.

    Parameters
    ----------
    system : UncertainModel, or a plant (see `as_plant`)
        If it is a plant, all inputs and outputs are those of Delta: w = Delta z, with z = M w.
    blocks : sequence of pairs or `Block`
        See `mussv`; not for an `UncertainModel`, which has its own.
    omega : array [rad/s]
        Grid; chosen from the poles if not given.
    max_intervals : int
        Intervals of frequency after which, as on Ctrl-C, what has been found is returned, with a warning that not all frequencies are
        covered. Work, not time: a busy machine changes no verdict.
    """
    model, structure, ranges, exact = _read_system(system, blocks)
    values, inside = stable_poles(model.A, model.period)
    if not inside.all():
        s = complex(values[~inside][0])
        raise InputError(
            f"robstab: found the eigenvalue {s:.6g} of M ({heaviest(model, s)}), which is not stable; expected a system that is "
            "stable without perturbation; close the loop first"
        )
    search = MuPeak(scale_states(model)[0], structure, max_intervals)
    try:
        search.add(
            mu_frequencies(model) if omega is None else np.unique(np.abs(np.asarray(omega, dtype=float)))
        )
        for _ in range(4):
            search.refine()
        everywhere = not len(model.A) or search.cover()
    except KeyboardInterrupt:
        if not len(search.omega):
            raise
        everywhere = False
    corner = least_corner(search.model, structure, search.level)
    if corner is not None and 1.0 / corner.size > search.level:
        before = search.level
        if not search.raise_level(corner):
            everywhere = False
            doubtful(
                f"robstab: parameters of size {corner.size:.4g} destabilize at {corner.omega:.4g} rad/s, although the bound shows stability for all below "
                f"{1 / before:.4g}; likely the model is ill-conditioned (fast and slow states); the bound is raised to that"
            )
    elif not everywhere:
        doubtful(
            f"robstab: the bound {search.level:.4g} is shown at {len(search.omega)} frequencies, not between all of them; "
            "raise max_intervals"
        )
    return _result(search, corner, ranges, everywhere, exact)


def _read_system(
    system: Any, blocks: Any
) -> tuple[LinearModel, BlockStructure, Mapping[str, tuple[float, float]], bool]:
    if isinstance(system, UncertainModel):
        if blocks is not None:
            raise InputError("robstab: found blocks for an uncertain model; expected none, it has its own")
        if not system.structure.blocks:
            raise InputError(f"robstab: the model depends on none of {', '.join(system.ranges)}")
        return system.M, system.structure, system.ranges, system.error < 1e-8
    if blocks is None:
        raise InputError(
            "robstab: found no blocks; expected the structure of Delta, for instance [(1, 1), (2, 2)]"
        )
    model, structure = as_plant(system, "robstab"), BlockStructure.of(blocks, "robstab")
    if model.D.shape != (structure.columns, structure.rows):
        raise InputError(
            f"robstab: found {model.D.shape[0]} outputs and {model.D.shape[1]} inputs; expected {structure.columns} and "
            f"{structure.rows} for the blocks {'; '.join(map(str, structure.blocks))}"
        )
    return model, structure, {}, True


def _result(
    search: MuPeak,
    corner: Corner | None,
    ranges: Mapping[str, tuple[float, float]],
    everywhere: bool,
    exact: bool,
) -> RobustStability:
    mu, omega, model = search.mu, search.omega, search.model
    assert mu is not None
    interior = (omega > 0) & (omega < (np.inf if model.period is None else np.pi / model.period))
    plain = np.abs(mu.delta.imag).max(axis=(1, 2), initial=0.0) <= 1e-12 * np.abs(mu.delta).max(
        axis=(1, 2), initial=0.0
    )
    usable = np.where(interior | plain, mu.lower, 0.0)
    if corner is not None and 1.0 / corner.size > usable.max():
        return _with_perturbation(
            search, 1.0 / corner.size, corner.omega, corner.delta, ranges, everywhere, exact
        )
    k = int(np.argmax(usable)) if usable.max() > 0 else int(np.argmax(mu.upper))
    if usable.max() <= 0:
        return RobustStability(
            search.level, 0.0, float(omega[k]), omega, mu, mu.delta[k], None, {}, everywhere
        )
    return _with_perturbation(
        search, float(usable[k]), float(omega[k]), mu.delta[k], ranges, everywhere, exact
    )


def _with_perturbation(
    search: MuPeak,
    lower: float,
    omega: float,
    delta: np.ndarray,
    ranges: Mapping[str, tuple[float, float]],
    everywhere: bool,
    exact: bool,
) -> RobustStability:
    """Return what was found, with a perturbation that destabilizes at a frequency."""
    perturbation = interpolating(delta, search.structure, omega, search.model.period)
    check = _check_pole(search.model, perturbation, omega)
    values = search.structure.real_values(delta)
    worst = {
        n: 0.5 * (r[0] + r[1]) + 0.5 * (r[1] - r[0]) * values[n] for n, r in ranges.items() if n in values
    }
    assert search.mu is not None
    return RobustStability(
        upper=search.level,
        lower=lower,
        frequency=omega,
        omega=search.omega,
        mu=search.mu,
        delta=delta,
        perturbation=perturbation,
        worst=worst,
        everywhere=everywhere,
        checks=(check,),
        extrapolated=not exact and max(map(abs, values.values()), default=0.0) > 1.0,
    )


def _check_pole(model: LinearModel, perturbation: LinearModel, omega: float) -> Check:
    """Return whether the perturbed system has a pole at the frequency; at infinite frequency, whether it has no solution."""
    if not np.isfinite(omega) or not len(model.A):
        loop = np.eye(len(model.D)) - model.D @ perturbation.D
        least = float(np.linalg.svd(loop, compute_uv=False)[-1])
        return Check(
            "smallest singular value of I - D Delta (infinite frequency)", least, 1e-9, least <= 1e-9
        )
    closed = close(model, perturbation, np.arange(len(model.inputs)), np.arange(len(model.outputs)))
    values = np.linalg.eigvals(closed.A)
    target = 1j * omega if closed.period is None else np.exp(1j * omega * closed.period)
    off = float(np.abs(values - target).min() / max(np.abs(values).max(), abs(target), np.finfo(float).tiny))
    return Check(
        "distance of a pole of the perturbed system from j omega, over the largest", off, 1e-6, off <= 1e-6
    )
