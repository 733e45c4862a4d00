"""Hinf controllers by two Riccati equations (`hinfsyn` in MATLAB; `hinf`, `hinfgama`, `hinfopt` of older toolboxes).

Of plants with poles or zeros on the imaginary axis that the errors or disturbances do not see (rigid bodies, undamped modes) the axis is
moved to the left a little (Chiang & Safonov 1992). The closed loop is then designed on the line Re s = -shift. It has no pole right
of that line, so that its gain on the axis itself is at most that on the line: what is promised holds for the plant as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import hinfnorm
from articulus.control.connect import close, select
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.plant import Group, PlantPartition
from articulus.control.sampling import continuous, trapezoidal
from articulus.control.synthesis.hinf_problem import GammaSubspace, HinfProblem, ZeroOnAxis
from articulus.errors import Finding, InputError, NumericalError, doubtful
from articulus.linear import LinearModel

ABOVE = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Relative distances from the optimum at which controllers are tried until the closed loop keeps the bound."""
ACHIEVED = 1e-6
"""Relative excess of the closed loop's norm over gamma that rounding may cause."""
SINGULAR = (1e-6, 1e-13)
"""Relative singular values below which states of the controller are eliminated; the second is tried where the first is not right."""
SHIFTS = 0.3 * 10.0 ** -np.arange(0.0, 7.5, 0.5)
"""Shifts of the imaginary axis, over the middle size of the poles of a closed loop, largest first; smaller ones lose the digits of X and Y."""
COST = 1e-2
"""Relative change of the least gamma from one shift to the next, below which the larger of them is taken."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HinfDesign(Design):
    """A controller that keeps a bound of the Hinf norm.

    Parameters
    ----------
    gamma : float
        Norm of the closed loop, from disturbances to errors.
    gamma_optimal : float or None
        Least norm; None if a bound was given.
    limit : float or None
        Rate up to which poles of the controller were accepted [rad/s].
    complete : bool
        Whether the search for the least norm was finished.
    shift : float
        How far the imaginary axis was moved for the design [rad/s].
    """

    gamma: float
    gamma_optimal: float | None
    limit: float | None
    complete: bool = True
    shift: float = 0.0


@threadpool_limits.wrap(
    limits=1, user_api="blas"
)  # matrices of some hundred rows: threads only wait for each other
def hinfsyn(
    plant: Any,
    *,
    measured: Group,
    commands: Group,
    gamma: float | None = None,
    relax: float = 0.0,
    shift: float | None = None,
    tolerance: float = 1e-8,
    iterations: int = 100,
) -> HinfDesign:
    """Return the stabilizing controller with the least Hinf norm from disturbances to errors.

    Parameters
    ----------
    plant : see `as_plant`
        Inputs: disturbances and commands; outputs: errors and measured. Any D11 and D22; D12 must have independent columns,
        D21 independent rows. A sampled plant is designed through the bilinear transformation, which keeps the norm.
    measured, commands : names or number of outputs and of inputs
        What the controller reads and drives (counts: of the last ones, as in MATLAB); all others are errors and disturbances.
    gamma : float
        Design for this bound instead of the optimum; InputError names the existence test that fails there.
    relax : float
        Design for (1 + relax) times the optimum. At the optimum the closed loop is all-pass, the controller has very fast
        poles or loses order, and gains nothing: 0.01 to 0.1 give a controller that can be built.
    shift : float [rad/s]
        All poles of the closed loop are to be left of -shift; the least norm is then that of the gain along the line Re s = -shift, which
        is never below that along the imaginary axis. If not given: 0, but for plants with a pole or a zero on the axis that errors
        or disturbances do not see (a rigid body in `mixsyn`). Of these the largest shift is taken that costs about a hundredth of
        gamma; a warning tells it, because poles of the closed loop often stay near -2 shift. Of a sampled plant: of the plane of the
        bilinear transformation.
    tolerance : float
        Relative, of the optimum.
    iterations : int
        Largest number of iterations of the search for the optimum; about ten are usual. After them, and on Ctrl-C, the best bound so far is designed for, with a
        warning; the figure `complete` is then False, and a check says so.

    Returns
    -------
    Design
        Figures: `gamma`, the norm of the closed loop, computed from it; `gamma_optimal`, the least one (None if gamma was
        given); `limit`, the existence test that fails below the optimum; `shift` [rad/s] of the imaginary axis. The checks hold the existence tests of Chiang & Safonov 1989.
    """
    parts = PlantPartition.of(plant, commands, measured, "hinfsyn")
    if not len(parts.w) or not len(parts.z):
        raise InputError(
            f"hinfsyn: found {len(parts.w)} disturbances and {len(parts.z)} errors beside commands and measured outputs; expected at least one each"
        )
    if iterations < 1:
        raise InputError(f"hinfsyn: found iterations = {iterations!r}; expected at least 1")
    if relax < 0 or (gamma is not None and not gamma > 0) or (shift is not None and not shift >= 0):
        raise InputError(
            f"hinfsyn: found gamma = {gamma}, relax = {relax}, shift = {shift}; expected gamma > 0, relax >= 0, shift >= 0"
        )
    without_period = PlantPartition(continuous(parts.model), parts.w, parts.u, parts.z, parts.y)
    try:
        problem = HinfProblem.of(without_period, "hinfsyn", shift or 0.0)
    except ZeroOnAxis as error:
        if shift is not None:
            raise
        problem = _off_axis(without_period, error, iterations)
    if gamma is not None:
        return _at_given(parts, problem, gamma)
    best, limit, complete = optimum(problem, tolerance, iterations)
    figures = {"gamma_optimal": best, "limit": limit, "complete": complete, "shift": problem.shift}
    return _near(parts, problem, best, relax, figures)


def _off_axis(parts: PlantPartition, cause: ZeroOnAxis, iterations: int) -> HinfProblem:
    """Return the problem with the largest shift of the imaginary axis that costs little; raise the cause if gamma has no limit."""
    last: tuple[HinfProblem, float] | None = None
    for shift in SHIFTS * cause.scale:
        try:
            problem = HinfProblem.of(parts, "hinfsyn", float(shift))
            least = optimum(problem, 1e-4, iterations)[0]
        except (InputError, NumericalError):  # a weight decays more slowly, or another zero is there now
            continue
        if last is not None and abs(last[1] - least) <= COST * least:
            doubtful(
                f"{cause}; the imaginary axis was shifted by {last[0].shift:.4g} rad/s for the design: poles of the closed loop may stay as slow as "
                f"{-2 * last[0].shift:.4g} rad/s, and gamma is about {max(last[1] / least - 1, 0):.1%} above its limit; "
                "set `shift` for other poles, or add a disturbance or weight that sees the pole"
            )
            return last[0]
        last = problem, least
    raise cause


def optimum(problem: HinfProblem, tolerance: float, iterations: int) -> tuple[float, str, bool]:
    """Return the least gamma, the existence test that fails below it, and whether the search came to its end.

    Below a bound from the Hamiltonian matrices nothing exists. Above it, the room that X, Y and their spectral radius leave
    is a smooth function of 1 / gamma^2 with one zero, found by Brent's method.
    """
    start = problem.room(0.0)
    sides = problem.state, problem.estimate
    bounds = {"4": float(start[0] ** -0.5), "2a": sides[0].lower_bound, "3a": sides[1].lower_bound}
    lowest = max(bounds.values())
    if (
        not lowest > 0.0
    ):  # then X or Y may still become infinite at some gamma; the H2 norm tells where to look
        lowest = 1e-6 * problem.h2_norm
        bounds = {"none: the norm can be made as small as one likes": lowest}
    if not lowest > 0.0:
        size = float(np.linalg.norm(sides[0].B1) * np.linalg.norm(sides[0].C1))
        return size or 1.0, "none: the errors can be made zero", True
    search = _Search(problem, start, iterations)
    complete, top = True, lowest * (1 + tolerance)
    try:
        if search(top**-2) > 0:
            direct = max(side.at_infinity() for side in sides)
            return top, "1" if direct >= lowest * (1 - 1e-8) else max(bounds, key=bounds.__getitem__), True
        scipy.optimize.brentq(
            search,
            0.0,
            top**-2,
            xtol=1e-20 * tolerance * top**-2,
            rtol=2 * tolerance,
            maxiter=iterations + 2,  # the search itself counts
        )
    except (_Enough, KeyboardInterrupt) as stopped:
        complete = False
        cause = "Ctrl-C" if isinstance(stopped, KeyboardInterrupt) else "the limit; raise iterations"
        doubtful(
            f"hinfsyn: stopped before the optimum was found, after {len(search.steps)} iterations ({cause}); designing for the best bound so far"
        )
    feasible = [t for t, room in search.steps if room.min() > 0]
    most = max(feasible, default=0.0)
    failed = min(
        (step for step in search.steps if step[1].min() <= 0), default=None, key=lambda step: step[0]
    )
    limit = "4" if failed is None else ("4", "2b", "3b")[int(np.argmin(search.relative(failed[1])))]
    return (most**-0.5 if most > 0 else 100.0 * lowest), limit, complete


class _Enough(Exception):
    """As many iterations as are allowed."""


class _Search:
    """The room over its value at gamma without bound, the least of three, as a function of t = 1 / gamma^2."""

    def __init__(self, problem: HinfProblem, start: np.ndarray, iterations: int):
        self.problem, self.iterations = problem, iterations
        self.size = np.where(np.isfinite(start), start, np.nan)
        self.steps: list[tuple[float, np.ndarray]] = []

    def __call__(self, t: float) -> float:
        if t == 0.0:
            return 1.0
        if len(self.steps) >= self.iterations:
            raise _Enough
        room = self.problem.room(t)
        self.size = np.where(np.isnan(self.size) & np.isfinite(room), np.abs(room), self.size)
        self.steps.append((t, room))
        return float(self.relative(room).min())

    def relative(self, room: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(room), room / self.size, 1.0)


def _at_given(parts: PlantPartition, problem: HinfProblem, gamma: float) -> HinfDesign:
    tests, x, y = problem.tests(gamma)
    failed = [test for test in tests if not test.passed]
    if failed or x is None or y is None:
        text = f"hinfsyn: no controller makes the norm less than {gamma:.6g}: {'; '.join(map(str, failed))}"
        raise InputError(text, [Finding(test.what, str(test), "a test that passes") for test in failed])
    controller, norm = _law(parts, problem, gamma, x, y)
    check = Check("norm of the closed loop", norm, gamma, norm <= gamma * (1 + ACHIEVED))
    figures = {"gamma": norm, "gamma_optimal": None, "limit": None, "shift": problem.shift}
    return check_design(
        HinfDesign, "hinfsyn", parts.model, controller, parts.u, parts.y, figures, [*tests, check]
    )


def _near(
    parts: PlantPartition, problem: HinfProblem, best: float, relax: float, figures: dict[str, Any]
) -> HinfDesign:
    """Return the controller for the least bound at or above (1 + relax) times the optimum that its closed loop keeps."""
    tried: list[tuple[float, LinearModel, list[Check], float]] = []
    for above in ABOVE:
        bound = max(
            best * (1 + relax) * (1 + (above if not relax else above - ABOVE[0])), np.finfo(float).tiny
        )
        tests, x, y = problem.tests(bound)
        if x is None or y is None or not all(test.passed for test in tests):
            continue
        controller, norm = _law(parts, problem, bound, x, y)
        tried.append((norm, controller, tests, bound))
        if norm <= bound * (1 + ACHIEVED):
            break
    if not tried:
        raise NumericalError(f"hinfsyn: no controller could be computed near the least gamma {best:.6g}")
    norm, controller, tests, bound = min(tried, key=lambda one: one[0])
    if norm > bound * (1 + 1e-3):
        doubtful(
            f"hinfsyn: the existence tests promise gamma = {bound:.6g}, but the best closed loop has {norm:.6g}; "
            "likely badly scaled units or nearly undamped modes; relax gamma"
        )
    figures = {"gamma": norm, **figures, "gamma_optimal": min(norm, best)}
    check = Check("norm of the closed loop", norm, bound, np.isfinite(norm))
    checks = [*tests, check]
    if not figures["complete"]:
        why = "the search was stopped, a lower one may exist"
        checks.append(Check("least gamma", best, best, True, not_judged=why))
    return check_design(HinfDesign, "hinfsyn", parts.model, controller, parts.u, parts.y, figures, checks)


def _law(
    parts: PlantPartition, problem: HinfProblem, gamma: float, x: GammaSubspace, y: GammaSubspace
) -> tuple[LinearModel, float]:
    """Return the controller for a bound, and the norm of its closed loop."""
    found: list[tuple[LinearModel, float]] = []
    for singular in SINGULAR:
        try:
            controller = named_controller(
                parts.model, problem.controller(gamma, x, y, singular), parts.u, parts.y, "hinfsyn"
            )
        except np.linalg.LinAlgError:
            continue
        if controller.period is not None:
            controller = trapezoidal(controller, controller.period)
        found.append((controller, _norm(parts, controller)))
        if found[-1][1] <= gamma * (1 + ACHIEVED):
            break
    return min(found, key=lambda one: one[1])


def _norm(parts: PlantPartition, controller: LinearModel) -> float:
    """Return the norm of the closed loop from disturbances to errors; infinite if that is not stable."""
    return float(hinfnorm(select(close(parts.model, controller, parts.u, parts.y), parts.w, parts.z)))
