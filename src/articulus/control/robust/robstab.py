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
from articulus.control.robust.hamiltonian import continuous, positive, singular_frequencies
from articulus.control.robust.mu_upper import upper
from articulus.control.robust.mussv import Mu, mussv
from articulus.control.robust.uncertain import UncertainModel
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = 1e-3
"""Distance, over the peak, of the level that is shown to hold at all frequencies from the peak that was found."""
MOST_INTERVALS = 2000
"""Intervals over which the level is shown, one beside the other, before what has been found is returned."""
NEAR_AXIS = 0.05
"""Real part of an eigenvalue of a Hamiltonian, over its size, up to which it may belong on the axis."""
HALVINGS, TURNS = 6, 40
"""Halvings of the gaps before scalings are also found at their very ends, and how often gaps are filled at most."""


@dataclass(frozen=True, eq=False)
class RobustStability:
    """How large a perturbation a stable system bears.

    Parameters
    ----------
    upper : float
        mu is at most this at every frequency, if `everywhere`: all perturbations smaller than `margin` = 1 / upper are borne.
    lower : float
        1 / lower is the size of the perturbation found that destabilizes; 0 if none was found.
    frequency : float [rad/s]
        Of that perturbation, or, without one, of the largest upper bound. Infinite: the perturbed equations have no solution (as
        when an inertia becomes zero).
    omega, mu : array (f,) [rad/s] and `Mu`
        Bounds at the frequencies that were looked at.
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
        """Whether every perturbation of size up to 1 is borne."""
        return self.everywhere and self.upper < 1.0

    def __str__(self) -> str:
        reach = "at all frequencies" if self.everywhere else "at the frequencies of the grid only"
        found = (
            f"one of size {1 / self.lower:.6g} at {self.frequency:.6g} rad/s destabilizes"
            if self.lower > 0
            else "none that destabilizes was found"
        )
        lines = [f"perturbations smaller than {self.margin:.6g} are borne ({reach}); {found}"]
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
    system: Any, blocks: Any = None, omega: Any = None, *, most: int = MOST_INTERVALS
) -> RobustStability:
    """Return how large perturbations a stable system bears, with the worst one confirmed by the poles it leads to.

    mu is computed on a grid, the peaks are refined, and with the scalings found the eigenvalues of Hamiltonian matrices show
    over which interval around each frequency the bound holds, until the intervals cover all frequencies.

    Parameters
    ----------
    system : UncertainModel, or a plant (see `as_plant`)
        Of a plant, all inputs and outputs are those of Delta: w = Delta z, with z = M w.
    blocks : sequence of pairs or `Block`
        See `mussv`; not for an `UncertainModel`, which has its own.
    omega : array [rad/s]
        Grid; chosen from the poles if not given.
    most : int
        Intervals of frequency after which, as on Ctrl-C, what has been found is returned, with a warning that not all frequencies are
        covered. Work, not time: a busy machine changes no verdict.
    """
    model, structure, ranges, exact = _given(system, blocks)
    values, inside = stable_poles(model.A, model.period)
    if not inside.all():
        s = complex(values[~inside][0])
        raise InputError(
            f"robstab: found the eigenvalue {s:.6g} of M ({heaviest(model, s)}), which is not stable; expected a system that is "
            "stable without perturbation; close the loop first"
        )
    search = _Search(scale_states(model)[0], structure, most)
    try:
        search.add(_grid(model) if omega is None else np.unique(np.abs(np.asarray(omega, dtype=float))))
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
        if not search.contradicted(corner):
            everywhere = False
            doubtful(
                f"robstab: parameters of size {corner.size:.4g} destabilize at {corner.omega:.4g} rad/s, where the bound shows that those below "
                f"{1 / before:.4g} are borne; likely the model is ill-conditioned (fast and slow states); the bound is raised to that"
            )
    elif not everywhere:
        doubtful(
            f"robstab: the bound {search.level:.4g} is shown at {len(search.omega)} frequencies, not between all of them; "
            "raise most"
        )
    return _result(search, corner, ranges, everywhere, exact)


def _given(
    system: Any, blocks: Any
) -> tuple[LinearModel, BlockStructure, Mapping[str, tuple[float, float]], bool]:
    if isinstance(system, UncertainModel):
        if blocks is not None:
            raise InputError("robstab: found blocks for an uncertain model; expected none, it has its own")
        if not system.structure.blocks:
            raise InputError(f"robstab: none of {', '.join(system.ranges)} has any effect on the model")
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


def _grid(model: LinearModel, count: int = 120) -> np.ndarray:
    """Return frequencies: zero, a logarithmic grid around the poles, and each resonance with its flanks [rad/s]."""
    if not len(model.A):  # constant: the same at all frequencies
        return np.array([np.inf if model.period is None else 0.0])
    p = model.poles[np.isfinite(model.poles)]
    size = np.abs(p)[np.abs(p) > 0]
    low, high = (size.min(), size.max()) if len(size) else (1.0, 1.0)
    top = 30.0 * high if model.period is None else np.pi / model.period
    around = (
        np.concatenate([np.abs(p.imag) + k * p.real for k in (-2, -1, -0.5, 0, 0.5, 1, 2)])
        if len(p)
        else p.real
    )
    grid = np.concatenate([[0.0], np.geomspace(min(0.03 * low, 0.5 * top), top, count), around])
    ends = [np.inf] if model.period is None else []
    return np.unique(np.concatenate([grid[(grid >= 0.0) & (grid <= top)], ends]))


class _Search:
    """Frequencies looked at so far, with bounds; the level that is shown to hold."""

    def __init__(self, model: LinearModel, structure: BlockStructure, most: int) -> None:
        self.model, self.structure, self.most = model, structure, most
        self.forms: dict[float, np.ndarray] = {}
        self.shown: dict[float, tuple[float, float]] = {}
        self.at_level = -1.0
        self.omega: np.ndarray = np.zeros(0)
        self.mu: Mu | None = None
        self.level = 0.0
        self.matrices = continuous(model)
        self.poles = np.linalg.eigvals(self.matrices[0])

    def add(self, omega: np.ndarray) -> None:
        """Compute mu at further frequencies."""
        new = np.setdiff1d(omega, self.omega)
        if not len(new):
            return
        found = mussv(self._response(new), self.structure)
        order = np.argsort(np.concatenate([self.omega, new]), kind="stable")
        self.omega = np.concatenate([self.omega, new])[order]
        self.mu = self.mu.joined(found, order) if self.mu else found
        self.level = (1.0 + LEVEL) * float(self.mu.upper.max())

    def _response(self, omega: np.ndarray) -> np.ndarray:
        """Return the frequency response; D at infinite frequency."""
        finite = np.isfinite(omega)
        M = np.repeat(self.model.D[None].astype(complex), len(omega), axis=0)
        M[finite] = self.model.response(omega[finite])
        return M

    def refine(self) -> None:
        """Look between the neighbors of the largest bounds of both kinds."""
        assert self.mu is not None
        new = []
        for bound in (self.mu.upper, self.mu.lower):
            inner = np.concatenate([[-1.0], bound, [-1.0]])
            peaks = np.flatnonzero((inner[1:-1] >= inner[:-2]) & (inner[1:-1] >= inner[2:]))
            for k in peaks[np.argsort(-bound[peaks], kind="stable")][:3]:
                ends = self.omega[[max(k - 1, 0), min(k + 1, len(self.omega) - 1)]]
                if not np.isfinite([*ends, self.omega[k]]).all():
                    continue
                new += list(np.linspace(ends[0], self.omega[k], 5)[1:-1]) + list(
                    np.linspace(self.omega[k], ends[1], 5)[1:-1]
                )
        self.add(np.array(new))

    def cover(self) -> bool:
        """Show that the level holds at all frequencies; raise it where it does not. Return whether that was completed.

        All intervals around the frequencies so far are found; in every gap between them further frequencies are put, all at once.
        """
        if self.level == 0.0:  # nothing is fed back
            return True
        for turn in range(TURNS):
            gaps = self._gaps()
            if not gaps:
                return True
            if len(self.shown) >= self.most:
                return False
            new = [0.5 * (a + b) if np.isfinite(b) else 8.0 * a + 1.0 for a, b in gaps]
            if turn >= HALVINGS:
                new += [x for gap in gaps for x in gap if np.isfinite(x)]
            self.add(np.array([self._frequency(x) for x in new]))
        return False

    def _gaps(self) -> list[tuple[float, float]]:
        """Return the pieces between the intervals on which the level is shown, in the variable of `continuous`."""
        done, gaps = 0.0, []
        places = np.concatenate([[0.0], self._variable(self.omega), [np.inf]])
        found = np.array([self._interval(k) for k in range(len(self.omega))])
        # what rounding hides grows with the distance: scalings count up to the next frequencies only
        found[:, 0], found[:, 1] = np.maximum(found[:, 0], places[:-2]), np.minimum(found[:, 1], places[2:])
        for low, high in sorted(map(tuple, found)):
            if low > done:
                gaps.append((done, low))
            done = max(done, high)
        return gaps + ([(done, np.inf)] if np.isfinite(done) else [])

    def contradicted(self, corner: Corner) -> bool:
        """Raise the level above a perturbation that destabilizes at a frequency that was passed over; return whether it is shown."""
        self.add(np.array([corner.omega]))
        shown = 1.0 / corner.size <= self.level and self.cover()
        self.level = max(self.level, (1.0 + LEVEL) / corner.size)
        return shown

    def _variable(self, omega: np.ndarray) -> np.ndarray:
        """Return frequencies of the continuous model that stands for the model; infinite at the Nyquist frequency."""
        if self.model.period is None:
            return omega
        half = 0.5 * omega * self.model.period
        return np.where(half < 0.5 * np.pi * (1 - 1e-12), np.tan(np.minimum(half, 1.5707963)), np.inf)

    def _frequency(self, variable: float) -> float:
        return variable if self.model.period is None else 2.0 * np.arctan(variable) / self.model.period

    def _interval(self, k: int) -> tuple[float, float]:
        """Return the interval around a frequency of the grid on which its scalings show the level."""
        omega = float(self.omega[k])
        if self.level != self.at_level:
            self.forms, self.shown, self.at_level = {}, {}, self.level
        if omega not in self.shown:
            place = float(self._variable(self.omega)[k])
            try:
                crossings = self._crossings(self._form(omega), place)
            except np.linalg.LinAlgError:
                self.shown[omega] = place, place
                return place, place
            below, above = crossings[crossings <= place], crossings[crossings > place]
            self.shown[omega] = float(below.max(initial=0.0)), float(above.min(initial=np.inf))
        return self.shown[omega]

    def _form(self, omega: float) -> np.ndarray:
        """Return the form of the scalings of a frequency at the level; those of all new frequencies are found at once."""
        assert self.mu is not None
        if omega not in self.forms:
            new = np.flatnonzero([w not in self.forms for w in self.omega])
            half = 0.5 * (self.mu.upper[new] + self.level)  # scalings in the midst hold longer than the best
            square = self.structure.padded(self._response(self.omega[new]))
            found = upper(square, self.structure, half)
            for i, w in enumerate(self.omega[new]):
                D, G = self.structure.cut_form(found.D[i]), self.structure.cut_form(found.G[i])
                form = np.block([[-D[0], 1j * G[1]], [-1j * G[1].conj().T, self.level**2 * D[2]]])
                self.forms[float(w)] = form
        return self.forms[omega]

    def _crossings(self, form: np.ndarray, place: float) -> np.ndarray:
        """Return frequencies at which the form stops to be positive, the nearest to a place among them.

        Rounding moves eigenvalues of ill-conditioned models off the axis, or elsewhere. So all that are near it count as ends of pieces,
        and the form itself is looked at within the pieces; where it is not positive, bisection finds the way back to the place.
        """
        found = singular_frequencies(self.matrices, form)
        if not np.isfinite(place):
            return found
        ends = np.unique(
            [0.0, place, *singular_frequencies(self.matrices, form, NEAR_AXIS), *np.abs(self.poles)]
        )
        ends = np.append(ends, 10.0 * max(ends[-1], 1.0))
        x = (ends[:-1, None] + np.diff(ends)[:, None] * np.array([0.1, 0.5, 0.9])).ravel()
        bad = x[~positive(self.matrices, form, x)]
        nearest = [*bad[bad < place][-1:], *bad[bad > place][:1]]
        return np.concatenate([found, [self._edge(form, place, float(y)) for y in nearest]])

    def _edge(self, form: np.ndarray, good: float, bad: float) -> float:
        """Return the last frequency at which the form is positive, on the way from a good one to a bad one."""
        for _ in range(7):  # a tenth each: seven digits
            x = np.linspace(good, bad, 11)
            fails = np.flatnonzero(~positive(self.matrices, form, x[1:-1]))
            k = int(fails[0]) if len(fails) else 9
            good, bad = float(x[k]), float(x[k + 1])
        return good


def _result(
    search: _Search,
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
        return _perturbed(search, 1.0 / corner.size, corner.omega, corner.delta, ranges, everywhere, exact)
    k = int(np.argmax(usable)) if usable.max() > 0 else int(np.argmax(mu.upper))
    if usable.max() <= 0:
        return RobustStability(
            search.level, 0.0, float(omega[k]), omega, mu, mu.delta[k], None, {}, everywhere
        )
    return _perturbed(search, float(usable[k]), float(omega[k]), mu.delta[k], ranges, everywhere, exact)


def _perturbed(
    search: _Search,
    lower: float,
    omega: float,
    delta: np.ndarray,
    ranges: Mapping[str, tuple[float, float]],
    everywhere: bool,
    exact: bool,
) -> RobustStability:
    """Return what was found, with a perturbation that destabilizes at a frequency."""
    perturbation = interpolating(delta, search.structure, omega, search.model.period)
    check = _confirmed(search.model, perturbation, omega)
    values = _deltas(search.structure, delta)
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


def _confirmed(model: LinearModel, perturbation: LinearModel, omega: float) -> Check:
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


def _deltas(structure: BlockStructure, delta: np.ndarray) -> dict[str, float]:
    found, row, column = {}, 0, 0
    for block in structure.blocks:
        if block.real and block.name:
            found[block.name] = float(delta[row, column].real)
        row, column = row + block.rows, column + block.columns
    return found
