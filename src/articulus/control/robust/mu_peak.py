"""The peak of mu over all frequencies: a grid, its peaks refined, and intervals on which Hamiltonian matrices show the bound."""

from __future__ import annotations

import numpy as np

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.corners import Corner
from articulus.control.robust.hamiltonian import continuous, positive, singular_frequencies
from articulus.control.robust.mu_upper import upper
from articulus.control.robust.mussv import Mu, mussv
from articulus.linear import LinearModel

LEVEL = 1e-3
"""Distance, over the peak, of the level that is shown to hold at all frequencies from the peak that was found."""
MAX_INTERVALS = 2000
"""Intervals over which the level is shown, one beside the other, before what has been found is returned."""
NEAR_AXIS = 0.05
"""Real part of an eigenvalue of a Hamiltonian, over its size, up to which it may belong on the axis."""
HALVINGS, TURNS = 6, 40
"""Halvings of the gaps before scalings are also found at their very ends, and how often gaps are filled at most."""


def mu_frequencies(model: LinearModel, count: int = 120) -> np.ndarray:
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


class MuPeak:
    """Frequencies looked at so far, with bounds; the level that is shown to hold."""

    def __init__(self, model: LinearModel, structure: BlockStructure, max_intervals: int) -> None:
        self.model, self.structure, self.max_intervals = model, structure, max_intervals
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
        found = mussv(self.response(new), self.structure)
        order = np.argsort(np.concatenate([self.omega, new]), kind="stable")
        self.omega = np.concatenate([self.omega, new])[order]
        self.mu = self.mu.join(found, order) if self.mu else found
        self.level = (1.0 + LEVEL) * float(self.mu.upper.max())

    def response(self, omega: np.ndarray) -> np.ndarray:
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
            if len(self.shown) >= self.max_intervals:
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

    def raise_level(self, corner: Corner) -> bool:
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
            square = self.structure.pad(self.response(self.omega[new]))
            found = upper(square, self.structure, half)
            for i, w in enumerate(self.omega[new]):
                D, G = self.structure.cut_form(found.D[i]), self.structure.cut_form(found.G[i])
                form = np.block([[-D[0], 1j * G[1]], [-1j * G[1].conj().T, self.level**2 * D[2]]])
                self.forms[float(w)] = form
        return self.forms[omega]

    def _crossings(self, form: np.ndarray, place: float) -> np.ndarray:
        """Return frequencies at which the form stops to be positive, the nearest to a place among them.

        Rounding moves eigenvalues of ill-conditioned models off the axis, or elsewhere. So all that are near it count as ends of pieces,
        and the form itself is examined within the pieces; where it is not positive, bisection finds the way back to the place.
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
