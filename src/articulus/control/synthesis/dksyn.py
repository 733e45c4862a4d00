"""Robust performance by D-K iteration (`dksyn`, `musyn` in MATLAB)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import hinfnorm
from articulus.control.connect import close, select, series, side_by_side
from articulus.control.design import Check, Design, check_design, static
from articulus.control.plant import Group, PlantPartition, of_matrices
from articulus.control.robust.blocks import Block, BlockStructure
from articulus.control.robust.mussv import mussv
from articulus.control.sampling import continuous, trapezoidal
from articulus.control.synthesis.hinfsyn import hinfsyn
from articulus.errors import ArticulusError, InputError, doubtful
from articulus.linear import LinearModel

GRID = 60
"""Frequencies at which mu is computed in the iteration."""
ENOUGH = 1e-3
"""Relative fall of mu below which the iteration ends. Scalings and controller creep along a valley: falls of some thousandths a round add up."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MuDesign(Design):
    """A controller from D-K iteration.

    Parameters
    ----------
    mu : float
        Upper bound of mu over all frequencies that the scalings show.
    peak : float
        Largest upper bound of mu on the grid, blocks taken as full and complex.
    true_peak : float
        The same with the blocks as they are.
    true_lower : float
        Largest lower bound of it.
    history : array
        Peak of mu after each round.
    complete : bool
        Whether all rounds were done.
    """

    mu: float
    peak: float
    true_peak: float
    true_lower: float
    history: np.ndarray
    complete: bool


@threadpool_limits.wrap(limits=1, user_api="blas")  # small matrices: threads only wait for each other
def dksyn(
    plant: Any,
    measured: Group,
    commands: Group,
    blocks: Any,
    *,
    order: int = 4,
    rounds: int = 30,
    relax: float = 0.01,
) -> MuDesign:
    """Return a controller with a small structured singular value from disturbances to errors.

    Below 1, the performance is kept for every perturbation of the structure of size 1 (performance itself is a block). Hinf
    controllers of the scaled plant D P D^-1 and scalings D of the closed loop are found in turns; that ends in a local optimum.

    Parameters
    ----------
    plant : see `as_plant`
        See `hinfsyn`; the errors and disturbances are, in their order, the inputs and outputs of the blocks.
    measured, commands : names or number of outputs and of inputs
    blocks : sequence of pairs or `Block`
        Of Delta, from errors to disturbances; see `mussv`. Repeated and real ones are taken as full complex ones while the
        controller is found, which is on the safe side; the figures `true_peak` and `true_lower` are of the blocks as they are.
    order : int
        Of the scaling of every block but the last; even.
    rounds : int
        At most. If mu was still falling in the last one, and on Ctrl-C, the best controller so far is returned, with a warning; the
        figure `complete` is then False, and a check says so.
    relax : float
        Of the Hinf controllers; see `hinfsyn`.

    Returns
    -------
    Design
        Figures: `mu`, an upper bound over all frequencies, the Hinf norm of the scaled closed loop; `peak`, the largest mu on a
        grid; `history`, the peaks of every round, all of full complex blocks; `true_peak` and `true_lower`, upper and lower
        bound of the largest mu on the grid of the structure as it is: real blocks by D-G scalings, repeated ones as repeated.
        `robstab` of the closed loop finds the peak between grid points. The controller has the states of the plant and of the
        scalings.
    """
    parts = PlantPartition.of(plant, commands, measured, "dksyn")
    structure = BlockStructure.of(blocks, "dksyn")
    if rounds < 1:
        raise InputError(f"dksyn: found rounds = {rounds!r}; expected at least 1")
    if (structure.rows, structure.columns) != (len(parts.w), len(parts.z)):
        raise InputError(
            f"dksyn: found blocks with {structure.columns} inputs and {structure.rows} outputs; expected {len(parts.z)} and {len(parts.w)}, "
            "the numbers of errors and disturbances"
        )
    inner = PlantPartition(continuous(parts.model), parts.w, parts.u, parts.z, parts.y)
    found = _iterate(inner, structure, order, rounds, relax)
    controller = (
        found.controller if parts.model.period is None else trapezoidal(found.controller, parts.model.period)
    )
    peak = float(min(found.history))
    true_peak, true_lower = _as_they_are(inner, found.controller, structure)
    figures = {
        "mu": found.bound,
        "peak": peak,
        "true_peak": true_peak,
        "true_lower": true_lower,
        "history": np.array(found.history),
        "complete": found.complete,
    }
    checks = [
        Check(
            "bound of mu over all frequencies beside its peak on the grid",
            found.bound,
            peak,
            np.isfinite(found.bound),
        )
    ]
    if not found.complete:
        why = f"the iteration was stopped after {len(found.history)} rounds, mu may become less"
        checks.append(Check("least mu of the iteration", found.bound, found.bound, True, not_judged=why))
    return check_design(MuDesign, "dksyn", parts.model, controller, parts.u, parts.y, figures, checks)


def _as_they_are(
    parts: PlantPartition, controller: LinearModel, structure: BlockStructure
) -> tuple[float, float]:
    """Return bounds of the largest mu of the closed loop on a grid, real and repeated blocks as they are."""
    loop = select(close(parts.model, controller, parts.u, parts.y), parts.w, parts.z)
    mu = mussv(loop.response(_grid(loop)), structure)
    return float(mu.upper.max()), float(mu.lower.max())


@dataclass
class _Found:
    """Peaks of mu on the grid, the controller with the lowest, its bound over all frequencies; whether all rounds were done."""

    history: list[float]
    controller: LinearModel
    bound: float
    complete: bool


def _iterate(
    parts: PlantPartition, structure: BlockStructure, order: int, rounds: int, relax: float
) -> _Found:
    full = BlockStructure(tuple(Block(b.rows, b.columns) for b in structure.blocks))
    scalings = [of_matrices(*static(np.ones((1, 1)))) for _ in full.blocks]
    best: _Found | None = None
    history: list[float] = []
    while len(history) < rounds:
        try:
            design = hinfsyn(
                _scale(parts.model, parts, full, scalings), len(parts.y), len(parts.u), relax=relax
            )
            loop = close(parts.model, design.controller, parts.u, parts.y)
            inner = select(loop, parts.w, parts.z)
            omega = _grid(inner)
            mu = mussv(inner.response(omega), full)
            scalings = [_fit(omega, size, mu.upper, order) for size in _sizes(mu.D, full)]
            scaled = select(_scale(loop, parts, full, scalings), range(len(parts.w)), range(len(parts.z)))
            bound = min(design.gamma, float(hinfnorm(scaled)))  # D M D^-1 with the scalings before and after
        except (KeyboardInterrupt, ArticulusError) as stopped:
            if best is None:
                raise
            doubtful(
                f"dksyn: stopped after {len(history)} rounds ({str(stopped) or 'Ctrl-C'}); the best controller so far is returned"
            )
            return dataclasses.replace(best, history=history, complete=False)
        history.append(float(mu.upper.max()))
        if best is None or bound < best.bound:
            enough = best is not None and bound > (1 - ENOUGH) * best.bound
            best = _Found(history, design.controller, bound, True)
        else:
            enough = True
        if enough:
            return best
    assert best is not None
    doubtful(
        f"dksyn: mu was still falling after {rounds} rounds ({best.bound:.6g}); the best controller so far is returned; raise rounds"
    )
    return dataclasses.replace(best, complete=False)


def _grid(loop: LinearModel) -> np.ndarray:
    rates = np.abs(np.linalg.eigvals(loop.A))
    rates = rates[rates > 1e-6 * rates.max(initial=1.0)]
    return np.geomspace(0.1 * rates.min(initial=1.0), 10 * rates.max(initial=1.0), GRID)


def _sizes(D: np.ndarray, structure: BlockStructure) -> list[np.ndarray]:
    """Return the size of the scaling of every block over frequency, over that of the last block."""
    values = np.array([np.sqrt(D[:, s.start, s.start].real) for s in structure.slices])
    return list(values / values[-1])


def _fit(omega: np.ndarray, size: np.ndarray, mu: np.ndarray, order: int) -> LinearModel:
    """Return the stable system with stable zeros of an order whose size is nearest to one given, in logarithms.

    A product of terms of second order; every further one begins at several frequencies, and the best end counts.
    """
    wanted, counts = np.log(size), (mu / mu.max()) ** 2
    level = np.average(wanted, weights=counts)
    found = np.array([level])
    if np.abs(wanted - level).max() < 1e-3:
        order = 0
    for _ in range(order // 2):
        starts = [
            np.r_[found, c, 0.0, c, 0.1] for c in np.log(omega[np.linspace(5, len(omega) - 6, 6).astype(int)])
        ]
        ends = [
            scipy.optimize.least_squares(_misfit, start, args=(omega, wanted, counts), max_nfev=60)
            for start in starts
        ]
        found = min(ends, key=lambda end: end.cost).x
    model = of_matrices(*static(np.array([[np.exp(found[0])]])))
    for a, za, b, zb in np.exp(found[1:].reshape(-1, 4)):
        gains = [[a * a - b * b, 2 * (za * a - zb * b)]]
        model = series(
            model, of_matrices([[0.0, 1.0], [-b * b, -2 * zb * b]], [[0.0], [1.0]], gains, [[1.0]])
        )
    return model


def _misfit(p: np.ndarray, omega: np.ndarray, wanted: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return weighted differences of logarithms; p: gain, then corner and damping of zeros and of poles, as logarithms."""
    total = np.full(len(omega), p[0])
    for a, za, b, zb in np.exp(np.clip(p[1:], -30, 30).reshape(-1, 4)):
        for corner, damping, sign in ((a, za, 0.5), (b, zb, -0.5)):
            total += sign * np.log((corner**2 - omega**2) ** 2 + (2 * damping * corner * omega) ** 2 + 1e-300)
    limits = 0.01 * np.maximum(np.abs(p[2::2]) - 1.5, 0.0)  # dampings far from 1 are no smooth scaling
    return np.r_[counts * (total - wanted), limits]


def _scale(
    model: LinearModel, parts: PlantPartition, structure: BlockStructure, scalings: list[LinearModel]
) -> LinearModel:
    """Return D P D^-1 of the plant or of its closed loop, with disturbances before commands and errors before measured outputs."""
    into = [_inverse(d) for d, b in zip(scalings, structure.blocks) for _ in range(b.rows)]
    out = [d for d, b in zip(scalings, structure.blocks) for _ in range(b.columns)]
    through = [of_matrices(*static(np.eye(k))) for k in (len(parts.u), len(parts.y))]
    core = select(model, np.r_[parts.w, parts.u], np.r_[parts.z, parts.y])
    found = series(series(side_by_side(*into, through[0]), core), side_by_side(*out, through[1]))
    return dataclasses.replace(
        found,
        states=tuple(f"x.{i}" for i in range(len(found.A))),
        inputs=core.inputs,
        outputs=core.outputs,
        input_units=core.input_units,
        output_units=core.output_units,
        period=None,
    )


def _inverse(model: LinearModel) -> LinearModel:
    inverse = 1.0 / model.D[0, 0]
    return of_matrices(
        model.A - inverse * model.B @ model.C, inverse * model.B, -inverse * model.C, [[inverse]]
    )
