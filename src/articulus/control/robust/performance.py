"""Uncertain systems with a performance channel: bounds of the skewed mu over all frequencies, and perturbations that come near them.

The gain from d to e of a system with Delta is at most g for all Delta of size 1 exactly if mu of diag(I, I / g) M is at most 1, for Delta
beside a full block from e to d (main loop theorem; Packard & Doyle 1993). With one part of the rows divided by x, mu falls with x: the
least x with mu <= 1 is the skewed mu of that part (Fan & Tits 1992).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.analysis.norms import Norm, hinfnorm, largest_singular_values
from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import stable_poles
from articulus.control.connect import close, select
from articulus.control.modes import heaviest
from articulus.control.plant import Group, as_plant, places
from articulus.control.robust.allpass import interpolating
from articulus.control.robust.blocks import Block, BlockStructure
from articulus.control.robust.mu_lower import align_perturbation, solve_near_singular
from articulus.control.robust.mu_peak import LEVEL, MuPeak, mu_frequencies
from articulus.control.robust.mu_upper import upper
from articulus.control.robust.uncertain import UncertainModel
from articulus.errors import InputError
from articulus.linear import LinearModel

TARGET = 1.0 / (1.0 + LEVEL)
"""mu at the frequencies that are examined, so that 1 can be shown between them."""
TOLERANCE = 1e-4
"""Relative accuracy of the skewed mu at a frequency."""
COARSE = 0.03
"""The same far below the peak."""
ROUNDS = 20
"""Steps of the search for the skewed mu at a frequency, and turns of raising it over frequency."""
MOST_CORNERS = 7
"""Real parameters up to which all corners of their box are tried."""
FINALISTS = 4
"""Perturbations whose gain is computed over all frequencies."""


@dataclass(frozen=True, eq=False)
class PerformanceProblem:
    """A stable M with Delta around its first inputs and outputs, and performance from the others.

    Parameters
    ----------
    model : LinearModel
        Inputs w of Delta, then d; outputs z to Delta, then e.
    structure : BlockStructure
        Of Delta.
    ranges : dict of name to (low, high)
        Ranges of its named real parameters.
    exact : bool
        Whether the model holds outside of these ranges, too.
    """

    model: LinearModel
    structure: BlockStructure
    ranges: Mapping[str, tuple[float, float]]
    exact: bool

    @staticmethod
    def read(system: Any, blocks: Any, inputs: Group, outputs: Group, method: str) -> PerformanceProblem:
        """Return the problem of an uncertain model, or of a plant with blocks."""
        if isinstance(system, UncertainModel):
            if blocks is not None:
                raise InputError(
                    f"{method}: found blocks for an uncertain model; expected none, it has its own"
                )
            model, structure = system.model, system.structure
            ranges, exact = system.ranges, system.error < 1e-8
        else:
            if blocks is None:
                raise InputError(
                    f"{method}: found no blocks; expected an UncertainModel, or the structure of Delta, for instance blocks=[(1, 1), (2, 2)]"
                )
            model, structure = as_plant(system, method), BlockStructure.of(blocks, method)
            ranges, exact = {}, True
        k, m = structure.rows, structure.columns
        if len(model.inputs) <= k or len(model.outputs) <= m:
            raise InputError(
                f"{method}: found {len(model.inputs)} inputs and {len(model.outputs)} outputs; expected more than the {k} and {m} of the blocks: "
                "those of the performance follow them"
            )
        d = k + places(model.inputs[k:], inputs, "input", method)
        e = m + places(model.outputs[m:], outputs, "output", method)
        chosen = select(model, [*range(k), *d], [*range(m), *e])
        values, inside = stable_poles(chosen.A, chosen.period)
        if not inside.all():
            s = complex(values[~inside][0])
            raise InputError(
                f"{method}: found the eigenvalue {s:.6g} of M ({heaviest(chosen, s)}), which is not stable; expected a system that is "
                "stable without perturbation; close the loop first"
            )
        return PerformanceProblem(scale_states(chosen)[0], structure, ranges, exact)

    @property
    def with_performance(self) -> BlockStructure:
        """Delta and the block from e to d."""
        rows = len(self.model.inputs) - self.structure.rows
        columns = len(self.model.outputs) - self.structure.columns
        block = Block(rows, columns, repeated=rows == columns == 1, name="performance")
        return BlockStructure((*self.structure.blocks, block))

    @property
    def performance_rows(self) -> np.ndarray:
        """Which outputs are e, (p,)."""
        return np.arange(len(self.model.outputs)) >= self.structure.columns

    def divide_outputs(self, by: np.ndarray) -> PerformanceProblem:
        """Return the problem with its outputs divided by numbers, (p,)."""
        return PerformanceProblem(_divide_outputs(self.model, by), self.structure, self.ranges, self.exact)

    def gains(self, M: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """Return the gain from d to e of matrices M (f, p, m) with Delta (rows, columns) or (f, rows, columns) around them, (f,)."""
        k, m = self.structure.rows, self.structure.columns
        inner = solve_near_singular(np.eye(m) - M[:, :m, :k] @ delta, M[:, :m, k:])
        return largest_singular_values(M[:, m:, k:] + M[:, m:, :k] @ delta @ inner)

    def perturb(self, delta: np.ndarray, omega: float) -> tuple[LinearModel, LinearModel] | None:
        """Return a stable real perturbation that is Delta at a frequency, and the system from d to e with it; None where neither is."""
        period, k, m = self.model.period, self.structure.rows, self.structure.columns
        inner = 0.0 < omega < (np.inf if period is None else np.pi / period * (1.0 - 1e-9))
        size = np.abs(delta).max(initial=0.0)
        if not inner and np.abs(delta.imag).max(initial=0.0) > 1e-9 * size:
            return None
        perturbation = interpolating(delta if inner else delta.real + 0j, self.structure, omega, period)
        try:
            closed = close(self.model, perturbation, np.arange(k), np.arange(m))
        except InputError:  # no solution of the equations
            return None
        return perturbation, select(closed, range(k, len(closed.inputs)), range(m, len(closed.outputs)))

    def values(self, delta: np.ndarray) -> dict[str, float]:
        """Return the named real parameters of a perturbation, in their units."""
        deltas = self.structure.real_values(delta)
        return {
            n: 0.5 * (r[0] + r[1]) + 0.5 * (r[1] - r[0]) * deltas[n]
            for n, r in self.ranges.items()
            if n in deltas
        }

    def is_extrapolated(self, delta: np.ndarray) -> bool:
        """Tell whether a perturbation lies outside the ranges of a model that was fitted within them and is not exact."""
        deltas = self.structure.real_values(delta).values()
        return not self.exact and max(map(abs, deltas), default=0.0) > 1.0


def _divide_outputs(model: LinearModel, by: np.ndarray) -> LinearModel:
    return dataclasses.replace(model, C=model.C / by[:, None], D=model.D / by[:, None])


def skewed_mu(M: np.ndarray, structure: BlockStructure, rows: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Return upper bounds of the least x, `floor` or more, at which mu of M (f, p, m) with some rows divided by x is `TARGET`.

    Infinite where there is none. Far below the largest of all matrices the bounds are coarse (`COARSE`).
    """

    def excess(x: np.ndarray, which: np.ndarray) -> np.ndarray:
        scale = np.where(rows, 1.0 / x[:, None], 1.0)
        bound = upper(structure.pad(M[which] * scale[:, :, None]), structure).bound
        return np.log(np.maximum(bound, 1e-300) / TARGET)

    everything = np.arange(len(M))
    if rows.all():  # mu is proportional to 1 / x
        return np.maximum(np.exp(excess(np.ones(len(M)), everything)), floor)
    endless = excess(np.full(len(M), np.inf), everything) >= -1e-9
    part = upper(structure.pad(M * rows[:, None]), structure).bound / TARGET  # at least this
    low = np.maximum(np.maximum(part, 1e-9 * np.linalg.norm(M, axis=(1, 2))), floor)
    x = np.where(endless, np.inf, low)
    going = np.flatnonzero(~endless & (low > 0.0))
    at_low, at_high, high = np.zeros(len(M)), np.zeros(len(M)), low.copy()
    at_low[going] = at_high[going] = excess(low[going], going)
    going = going[at_low[going] > 1e-9]
    bracketed = going
    for turn in range(60):  # out to where mu is small enough
        if not len(going):
            break
        low[going], at_low[going] = high[going], at_high[going]
        high[going] *= 1.1 if turn == 0 else min(2.0 ** (2.0**turn / 2.0), 1e4)
        at_high[going] = excess(high[going], going)
        going = going[at_high[going] > 0]
    x[going] = np.inf
    going = np.setdiff1d(bracketed, going)
    for turn in range(ROUNDS):  # regula falsi of Illinois in logarithms
        near = np.where(high[going] < 0.9 * low[going].max(initial=0.0), COARSE, TOLERANCE)
        going = going[high[going] > low[going] * (1.0 + near)]
        if not len(going):
            break
        a, b, f, g = np.log(low[going]), np.log(high[going]), at_low[going], at_high[going]
        middle = np.exp(a + (b - a) * (np.clip(f / (f - g), 0.02, 0.98) if turn % 4 < 3 else 0.5))
        value = excess(middle, going)
        up, down = going[value > 0], going[value <= 0]
        low[up], at_low[up] = middle[value > 0], value[value > 0]
        at_high[up] *= 0.5
        high[down], at_high[down] = middle[value <= 0], value[value <= 0]
        at_low[down] *= 0.5
    finite = np.isfinite(x)
    x[finite] = high[finite]
    return x


@dataclass(eq=False)
class SkewPeak:
    """The peak of the skewed mu over all frequencies.

    Parameters
    ----------
    problem : PerformanceProblem
    rows : bool array, (p,)
        Outputs of its model that are divided.
    max_intervals : int
        Intervals of frequency; see `robstab`.
    curve : bool
        Whether bounds are wanted at all frequencies; else only the peak is found.
    """

    problem: PerformanceProblem
    rows: np.ndarray
    max_intervals: int
    curve: bool = False

    def find(self, omega: Any) -> None:
        """Find the peak: `value`, whether it is shown at all frequencies, `everywhere`, and `bounds` at the frequencies `omega`."""
        problem, structure = self.problem, self.problem.with_performance
        model = problem.model
        first = mu_frequencies(model) if omega is None else np.unique(np.abs(np.asarray(omega, dtype=float)))
        search = MuPeak(model, structure, self.max_intervals)
        self.omega = first
        self.M = search.response(first)
        floor = 0.0
        if not self.curve:  # the peak alone: most likely where mu itself has its own
            k = int(np.argmax(upper(structure.pad(self.M), structure).bound))
            floor = float(skewed_mu(self.M[[k]], structure, self.rows)[0])
        self.bounds = skewed_mu(self.M, structure, self.rows, floor)
        self.value, self.everywhere = float(self.bounds.max()), not len(model.A)
        self.search: MuPeak | None = None
        for _ in range(ROUNDS):
            if not 0.0 < self.value < np.inf or self.everywhere:
                return
            by = np.where(self.rows, self.value, 1.0)
            self.search = search = MuPeak(_divide_outputs(model, by), structure, self.max_intervals)
            search.add(self.omega)
            for _ in range(2):
                search.refine()
            assert search.mu is not None
            if search.mu.upper.max() <= TARGET * (1.0 + 1e-7):
                search.level = 1.0
                covered = search.cover()
                if search.level <= 1.0 + 1e-7:
                    self.everywhere = covered
                    return
            self._add(search.omega[search.mu.upper > TARGET * (1.0 + 1e-7)])

    def _add(self, omega: np.ndarray) -> None:
        """Look at further frequencies; the value grows at least by rounding."""
        new = np.setdiff1d(omega, self.omega)
        search = MuPeak(self.problem.model, self.problem.with_performance, self.max_intervals)
        M = search.response(new)
        found = skewed_mu(M, self.problem.with_performance, self.rows, self.value)
        order = np.argsort(np.concatenate([self.omega, new]), kind="stable")
        self.omega = np.concatenate([self.omega, new])[order]
        self.M = np.concatenate([self.M, M])[order]
        self.bounds = np.concatenate([self.bounds, found])[order]
        self.value = max(self.value * (1.0 + 1e-6), float(self.bounds.max()))

    def directions(self) -> list[tuple[np.ndarray, int]]:
        """Return perturbations of size 1, with the number of the frequency at which each has the largest gain: the best few."""
        problem = self.problem
        k, m = problem.structure.rows, problem.structure.columns
        tries = [np.zeros((k, m), dtype=complex), *_corners(problem.structure)]
        if self.search is not None and self.search.mu is not None:
            mu = self.search.mu
            for at in {int(np.argmax(mu.lower)), int(np.argmax(mu.upper))}:
                delta = mu.delta[at][:k, :m]
                size = np.linalg.norm(delta, 2)
                tries += [delta / size] if size > 0 else []
        tops = sorted(
            ((float(g.max()), int(np.argmax(g)), t) for t in tries for g in [problem.gains(self.M, t)]),
            key=lambda each: -each[0],
        )[: 2 * FINALISTS]
        peak = int(np.argmax(np.where(np.isfinite(self.bounds), self.bounds, 0.0)))
        starts = [(at, delta) for _, at, delta in tops] + [(peak, delta) for _, _, delta in tops[:2]]
        climbed = [(*_climb(problem, self.M[at], delta), at) for at, delta in starts]
        climbed.sort(key=lambda each: -each[0])
        return [(delta, at) for _, delta, at in climbed[:FINALISTS]]


def _corners(structure: BlockStructure) -> list[np.ndarray]:
    """Return the corners of the box of real parameters, other blocks zero; none of very many parameters."""
    real = [b.real for b in structure.blocks]
    if not any(real) or sum(real) > MOST_CORNERS:
        return []
    corners = []
    for signs in itertools.product((1.0, -1.0), repeat=sum(real)):
        factors = np.zeros(len(real))
        factors[real] = signs
        corners.append(structure.cut(np.diag(factors @ structure.groups).astype(complex)))
    return corners


def _climb(problem: PerformanceProblem, M: np.ndarray, delta: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the gain of M (p, m) with a perturbation of size 1 at most, raised along its gradient, and the perturbation.

    Perturbations are a convex set: on the line to the one that the gradient likes best (Frank & Wolfe) the longest step that helps.
    """
    structure = problem.structure
    k, m = structure.rows, structure.columns
    best = float(problem.gains(M[None], delta)[0])
    for _ in range(ROUNDS):
        if not np.isfinite(best):
            break
        R = solve_near_singular(np.eye(m) - M[:m, :k] @ delta, M[:m, k:])
        L = solve_near_singular((np.eye(k) - delta @ M[:m, :k]).T, M[m:, :k].T).T
        U, _, Vh = np.linalg.svd(M[m:, k:] + M[m:, :k] @ delta @ R)
        a, w = R @ Vh[0].conj(), L.conj().T @ U[:, 0]
        a, w = _pad(structure, a, "columns"), _pad(structure, w, "rows")
        q = np.sign(np.real((a.conj() * w) @ structure.groups.T))
        toward = structure.cut(align_perturbation(a[None], w[None], structure, q[None])[0])
        steps = 0.5 ** np.arange(9)
        tries = delta + steps[:, None, None] * (toward - delta)
        gains = problem.gains(np.broadcast_to(M, (len(steps), *M.shape)), tries)
        at = int(np.argmax(gains))
        if not gains[at] > best * (1.0 + 1e-7):
            break
        best, delta = float(gains[at]), tries[at]
    return best, delta


def _pad(structure: BlockStructure, v: np.ndarray, which: str) -> np.ndarray:
    out = np.zeros(structure.size, dtype=complex)
    out[structure.places_of(which)] = v
    return out


def polish(problem: PerformanceProblem, delta: np.ndarray, best: Norm) -> tuple[Norm, np.ndarray]:
    """Return the gain over all frequencies of a perturbation whose real parameters are moved, one after another, to where it is larger."""
    structure = problem.structure
    moves = [
        structure.cut(np.diag(row).astype(complex))
        for row, block in zip(structure.groups, structure.blocks)
        if block.real
    ]
    step = 0.25
    for _ in range(12 if moves and all(b.real for b in structure.blocks) else 0):
        before = best
        for move, sign in itertools.product(moves, (1.0, -1.0)):
            moved = delta + sign * step * move
            moved = np.clip(moved.real, -1.0, 1.0).astype(complex)
            if np.array_equal(moved, delta):
                continue
            pair = problem.perturb(moved, 0.0)
            gain = hinfnorm(pair[1]) if pair else best
            if gain > best:
                best, delta = gain, moved
        if not best > before * (1.0 + 1e-6):
            step *= 0.4
        if not np.isfinite(best):
            break
    return best, delta
