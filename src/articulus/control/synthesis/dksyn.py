"""Robust performance by D-K iteration, with G scalings of real blocks (`dksyn`, `musyn` in MATLAB; Young 1996)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import hinfnorm
from articulus.control.connect import close, select, series, side_by_side
from articulus.control.design import Check, Design, check_design, static
from articulus.control.plant import Group, PlantPartition, of_matrices
from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mussv import mussv
from articulus.control.robust.rational_scalings import RationalScalings, one_by_one, rational_scalings
from articulus.control.sampling import continuous, trapezoidal
from articulus.control.synthesis.hinfsyn import hinfsyn
from articulus.errors import ArticulusError, InputError, doubtful
from articulus.linear import LinearModel

GRID = 60
"""Frequencies at which mu is computed in the iteration."""
ENOUGH = 1e-3
"""Relative fall of mu below which the iteration ends. Scalings and controller creep along a valley: falls of some thousandths a round add up."""

SHARP = 0.2
"""Damping ratio of poles below which the grid has frequencies of their own."""
RAISES = 40
"""Levels that are tried, each the gain at the one before, until scalings show one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MuDesign(Design):
    """A controller from D-K iteration.

    Parameters
    ----------
    mu : float
        Upper bound of mu over all frequencies that the scalings show.
    peak : float
        Largest upper bound of mu on a grid, repeated numbers taken as different ones.
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
    blocks: Any,
    *,
    measured: Group,
    commands: Group,
    order: int = 4,
    rounds: int = 30,
    relax: float = 0.01,
) -> MuDesign:
    """Return a controller with a small structured singular value from disturbances to errors.

    Below 1, the performance is kept for every perturbation of the structure of size 1 (performance itself is a block). Hinf
    controllers of the scaled plant and scalings of the closed loop, D and for real blocks G, are computed alternately; that ends in a local optimum.

    Parameters
    ----------
    plant : see `as_plant`
        See `hinfsyn`; the errors and disturbances are, in their order, the inputs and outputs of the blocks.
    blocks : sequence of pairs or `Block`
        Blocks of Delta, from errors to disturbances; see `mussv`. Repeated numbers count as that many different ones during the
        design, which is conservative; the figures `true_peak` and `true_lower` belong to the blocks as given.
    measured, commands : names or number of outputs and of inputs
    order : int
        Order of the scaling of every block but the last complex one; even.
    rounds : int
        Largest number of rounds. If mu was still falling in the last one, and on Ctrl-C, the best controller so far is returned, with a
        warning; the figure `complete` is then False, and a check says so.
    relax : float
        See `hinfsyn`.

    Returns
    -------
    Design
        Figures: `mu`, an upper bound over all frequencies, shown by the scalings that the controller was designed with; `peak`, the
        largest mu on a grid; `history`, the peaks of every round; `true_peak` and `true_lower`, upper and lower bound of the largest
        mu on the grid with repeated numbers as they are.
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
    best = _iterate(inner, structure, order, rounds, relax)
    controller = (
        best.controller if parts.model.period is None else trapezoidal(best.controller, parts.model.period)
    )
    peak = float(min(best.history))
    true_peak, true_lower = _as_they_are(inner, best.controller, structure)
    figures = {
        "mu": best.bound,
        "peak": peak,
        "true_peak": true_peak,
        "true_lower": true_lower,
        "history": np.array(best.history),
        "complete": best.complete,
    }
    checks = [
        Check(
            "bound of mu over all frequencies beside its peak on the grid",
            best.bound,
            peak,
            np.isfinite(best.bound),
        )
    ]
    if not best.complete:
        why = f"the iteration was stopped after {len(best.history)} rounds, mu may become less"
        checks.append(Check("least mu of the iteration", best.bound, best.bound, True, not_judged=why))
    return check_design(MuDesign, "dksyn", parts.model, controller, parts.u, parts.y, figures, checks)


def _as_they_are(
    parts: PlantPartition, controller: LinearModel, structure: BlockStructure
) -> tuple[float, float]:
    """Return bounds of the largest mu of the closed loop on a grid, repeated blocks as they are."""
    loop = select(close(parts.model, controller, parts.u, parts.y), parts.w, parts.z)
    mu = mussv(_response(loop, _grid(loop)), structure)
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
    single = one_by_one(structure)
    scalings = RationalScalings.one(single)
    best: _Found | None = None
    history: list[float] = []
    while len(history) < rounds:
        try:
            scaled = _scale(parts.model, parts, scalings)
            design = hinfsyn(scaled, measured=len(parts.y), commands=len(parts.u), relax=relax)
            loop = close(parts.model, design.controller, parts.u, parts.y)
            before = _shown(loop, parts, scalings)
            inner = select(loop, parts.w, parts.z)
            omega = _grid(inner)
            response = _response(inner, omega)
            scalings, peak = rational_scalings(response, omega, single, order)
            after = _shown(loop, parts, scalings)
            bound = min(before, after)
            if np.isfinite(after):
                scalings = dataclasses.replace(scalings, beta=after)
        except (KeyboardInterrupt, ArticulusError) as stopped:
            if best is None:
                raise
            doubtful(
                f"dksyn: stopped after {len(history)} rounds ({str(stopped) or 'Ctrl-C'}); the best controller so far is returned"
            )
            return dataclasses.replace(best, history=history, complete=False)
        history.append(peak)
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
    """Return zero, infinity, frequencies in equal ratios around the poles, and each resonance with its flanks."""
    poles = np.linalg.eigvals(loop.A)
    rates = np.abs(poles)
    rates = rates[rates > 1e-6 * rates.max(initial=1.0)]
    even = np.geomspace(0.1 * rates.min(initial=1.0), 10 * rates.max(initial=1.0), GRID)
    sharp = poles[(poles.imag > 0) & (np.abs(poles.real) < SHARP * np.abs(poles))]
    around = [sharp.imag + k * sharp.real for k in (-1.0, 0.0, 1.0)]
    return np.unique(np.concatenate([[0.0, np.inf], even, *around]))


def _response(loop: LinearModel, omega: np.ndarray) -> np.ndarray:
    finite = np.isfinite(omega)
    found = np.repeat(loop.D[None].astype(complex), len(omega), axis=0)
    found[finite] = loop.response(omega[finite])
    return found


def _shown(loop: LinearModel, parts: PlantPartition, scalings: RationalScalings) -> float:
    """Return a bound of mu of a closed loop over all frequencies, which scalings show at their level or at a higher one."""
    for _ in range(RAISES):
        scaled = _scale(loop, parts, scalings)
        norm = float(hinfnorm(select(scaled, range(len(parts.w)), range(len(parts.z)))))
        if not scalings.with_phase or norm <= scalings.beta * (1.0 + 1e-9) or np.isinf(norm):
            return norm
        scalings = dataclasses.replace(scalings, beta=norm)
    return np.inf


def _scale(model: LinearModel, parts: PlantPartition, scalings: RationalScalings) -> LinearModel:
    """Return beta (D P D^-1 - h) c of the plant or of its closed loop, disturbances before commands and errors before measured outputs."""
    core = select(model, np.r_[parts.w, parts.u], np.r_[parts.z, parts.y])
    into, place = scalings.into
    w, z, u, y = len(parts.w), len(parts.z), len(parts.u), len(parts.y)
    first = side_by_side(into, of_matrices(*static(np.eye(u))))  # disturbances, what G takes away, commands
    order = np.r_[np.arange(w), 2 * w + np.arange(u), w + np.arange(w)]
    first = select(first, range(w + u), order)
    second = side_by_side(core, of_matrices(*static(np.eye(w))))
    third = side_by_side(scalings.out, of_matrices(*static(np.eye(y))), of_matrices(*static(np.eye(w))))
    total = np.zeros((z + y, z + y + w))
    total[:, : z + y] = np.eye(z + y)
    for column in np.flatnonzero(place >= 0):
        total[place[column], z + y + column] = -1.0
    found = series(series(series(first, second), third), of_matrices(*static(total)))
    return dataclasses.replace(
        found,
        states=tuple(f"x.{i}" for i in range(len(found.A))),
        inputs=core.inputs,
        outputs=core.outputs,
        input_units=core.input_units,
        output_units=core.output_units,
        period=None,
    )
