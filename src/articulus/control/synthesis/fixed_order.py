"""Controllers of fixed order and structure for one plant or several, by optimization with exact gradients.

The objective is that of Ly's SANDY (U.-L. Ly, H2- and Hinf-Design Tools for Linear Time-Invariant Systems, 3rd Annual Conference on
Aerospace Computational Control, JPL, 1989): the sum over plants of W2 |T|_2^2 + Winf |T|_inf^2 of the closed loop, with constraints
on damping, decay and mean squares. The Hinf norm has kinks, where peaks are equally high; the search is the quasi-Newton method with
a weak Wolfe line search that is known to cope with them (Burke, Henrion, Lewis & Overton 2006; Lewis & Overton 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import h2norm, hinfnorm
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.modes import require_detectable, require_stabilizable
from articulus.control.plant import Group, PlantPartition
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.control.synthesis.descent import descend
from articulus.errors import InputError, NumericalError, doubtful

PENALTIES = (1.0, 10.0, 100.0)
"""Weights of violated constraints, one after the other, over the size of the objective at the start."""
ENOUGH = 1e-6
"""Decay rate, over that of the fastest pole of the plants, at which a search for stability has found it."""
ALLOWED = 1e-3
"""Violation of a constraint, relative, up to which it counts as kept."""

Law = Callable[[ca.SX], tuple[Any, Any, Any, Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedOrderDesign(Design):
    """A controller of a given order or structure.

    Parameters
    ----------
    parameters : array
        Of the structure.
    objective : float
        Weighted sum of squares of the norms.
    h2 : list of float
        H2 norms, of each plant.
    hinf : list of float
        Hinf norms, of each plant.
    searches : list of float
        Objective where each search ended.
    finished : list of bool
        Whether that was a minimum.
    """

    parameters: np.ndarray
    objective: float
    h2: Any
    hinf: Any
    searches: list[float]
    finished: list[bool]


@dataclass(frozen=True)
class DesignLimits:
    """Constraints on the closed loop of every plant; None: not asked for.

    Parameters
    ----------
    damping : float [-]
        Least damping ratio of the poles.
    decay : float [1/s]
        Least distance of the poles from the imaginary axis.
    gamma : float
        Largest Hinf norm.
    mean_squares : dict of output name to number
        Largest mean squares of outputs of the plant for white noise of unit intensity at its disturbances.
    """

    damping: float | None = None
    decay: float | None = None
    gamma: float | None = None
    mean_squares: Mapping[str, float] | None = None


def fixed_order(
    plants: Any,
    controller: int | Law,
    start: Any = None,
    *,
    commands: Group,
    measured: Group,
    h2: float | Sequence[float] = 1.0,
    hinf: float | Sequence[float] = 0.0,
    limits: DesignLimits | None = None,
    starts: int = 6,
    iterations: int = 300,
    seed: int = 0,
) -> FixedOrderDesign:
    """Return a controller of given order or structure with the least sum of W2 |T|_2^2 + Winf |T|_inf^2 over the plants.

    T is the closed loop from the disturbances to the errors: all inputs but the commands, all outputs but the measured ones.

    Parameters
    ----------
    plants : see `as_plant`, or a list of such
        Conditions that the one controller shall serve; all continuous or all with one period, with the same names.
    controller : int or function
        Order of a controller without structure (all entries are free, but no gain past its states where that would let white noise of the
        sensors through to the errors); or the structure: a function of casadi.SX p that returns
        (A, B, C, D) of u = K y, sign included.
    start : array
        Parameters that the search starts from; needed with a function. Other starts are random ones around it.
    commands, measured : names or counts
    h2, hinf : float, or one per plant
        Weights W2 and Winf.
    limits : DesignLimits
    starts : int
        Searches, of which the best counts.
    iterations : int
        Of each search at most; on Ctrl-C the best so far is returned. A DoubtfulResult says so if the best search had not ended by then.
    seed : int

    Returns
    -------
    Design
        For the first plant. Figures: `parameters`, `objective`, `h2`, `hinf` (norms, one per plant), `searches` (objective of each), `finished`
        (whether each ended at a minimum).
    """
    many = plants if isinstance(plants, list) else [plants]
    parts = [PlantPartition.of(plant, commands, measured, "fixed_order") for plant in many]
    if len({part.model.period for part in parts}) > 1:
        raise InputError(
            "fixed_order: found plants with several periods; expected all continuous, or all with one period"
        )
    for part in parts:
        if not len(part.w) or not len(part.z):
            raise InputError(
                "fixed_order: found no disturbances or no errors; expected inputs beside the commands, outputs beside the measured"
            )
        require_stabilizable(part.model, part.B2, "fixed_order", tuple(part.model.inputs[i] for i in part.u))
        require_detectable(part.model, part.C2, "fixed_order", tuple(part.model.outputs[i] for i in part.y))
    white = parts[0].model.period is None and np.any(np.asarray(h2))
    direct = not (white and any(p.D12.any() and p.D21.any() for p in parts))
    form = ControllerForm.of(controller, len(parts[0].u), len(parts[0].y), direct)
    weights = [np.broadcast_to(np.asarray(x, dtype=float), len(parts)) for x in (h2, hinf)]
    problem = FixedOrderProblem(
        [ClosedLoop(p.rescale()[0], form.order) for p in parts],
        form,
        weights[0],
        weights[1],
        limits or DesignLimits(),
    )
    center = np.zeros(form.count) if start is None else np.asarray(start, dtype=float).ravel()
    if center.shape != (form.count,):
        raise InputError(f"fixed_order: found {center.size} parameters to start from; expected {form.count}")
    if not np.isfinite(center).all():
        raise InputError("fixed_order: found numbers in `start` that are not finite; expected finite ones")
    if start is None and not isinstance(controller, int | np.integer):
        raise InputError(
            "fixed_order: a structure was given without parameters to start from; expected `start`"
        )
    with threadpool_limits(1):
        found = _search_controllers(problem, center, start is None, starts, iterations, seed)
        return _design(parts, form, problem, _best(problem, found, iterations), found)


def _design(
    parts: list[PlantPartition],
    form: ControllerForm,
    problem: FixedOrderProblem,
    best: np.ndarray,
    found: list[FinishedSearch],
) -> FixedOrderDesign:
    matrices = form.matrices(best)
    first = parts[0]
    controller = named_controller(first.model, matrices, first.u, first.y, "fixed order")
    closed = [c.model(form.gain(best)) for c in problem.closed]
    norms = [[float(norm(m)) for m in closed] for norm in (h2norm, hinfnorm)]
    violations = problem.violations(best)
    checks = [Check(what, off, ALLOWED, off <= ALLOWED) for what, off in violations.items()]
    what = (
        "largest real part of the poles" if first.model.period is None else "largest pole in size, less one"
    )
    for i, c in enumerate(problem.closed[1:]):
        worst = c.outside(form.gain(best))
        checks.append(Check(f"{what}, plant {i + 2}", worst, 0.0, worst < 0.0))
    figures = {
        "parameters": best,
        "objective": problem.objective(best)[0],
        "h2": norms[0],
        "hinf": norms[1],
        "searches": [search.value for search in found],
        "finished": [search.finished for search in found],
    }
    return check_design(
        FixedOrderDesign, "fixed order", first.model, controller, first.u, first.y, figures, checks
    )


# the controller


@dataclass(frozen=True)
class ControllerForm:
    """How parameters make the matrix K = [D C; B A] of a controller, and its derivative."""

    order: int
    count: int
    function: ca.Function
    shape: tuple[int, int]

    @staticmethod
    def of(controller: int | Law, m: int, p: int, direct: bool = True) -> ControllerForm:
        if isinstance(controller, int | np.integer):
            n = int(controller)
            x = ca.SX.sym("p", (m + n) * (p + n) - (0 if direct else m * p))
            free = np.ones((m + n, p + n), dtype=bool)
            free[:m, :p] = direct
            K = ca.SX(m + n, p + n)
            for i, (row, column) in enumerate(np.argwhere(free.T)[:, ::-1]):
                K[int(row), int(column)] = x[i]
            K = ca.densify(K)
        else:
            count = _count(controller)
            x = ca.SX.sym("p", count)
            A, B, C, D = (
                ca.SX(part) if not isinstance(part, np.ndarray) else ca.SX(ca.DM(part))
                for part in controller(x)
            )
            n = A.shape[0]
            if D.shape != (m, p) or (n and (B.shape != (n, p) or C.shape != (m, n) or A.shape != (n, n))):
                raise InputError(
                    f"fixed_order: found a controller with D of shape {D.shape}; expected {m} commands of {p} measured outputs"
                )
            K = ca.vertcat(ca.horzcat(D, C), ca.horzcat(B, A)) if n else D
        function = ca.Function("controller", [x], [K, ca.jacobian(ca.vec(K), x)])
        return ControllerForm(n, x.numel(), function, (m, p))

    def gain(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(x)[0])

    def slope(self, x: np.ndarray, on_gain: np.ndarray) -> np.ndarray:
        """Return the gradient by parameters from that by K."""
        return np.asarray(self.function(x)[1]).T @ on_gain.ravel(order="F")

    def matrices(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        K, (m, p) = self.gain(x), self.shape
        return K[m:, p:], K[m:, :p], K[:m, p:], K[:m, :p]


def _count(controller: Law) -> int:
    """Return how many parameters a structure has: the largest number that it reads."""
    probe = ca.SX.sym("p", 1000)
    used = ca.symvar(ca.vertcat(*(ca.vec(ca.SX(x)) for x in controller(probe))))
    names = {str(symbol) for symbol in ca.vertsplit(probe)}
    return 1 + max((int(str(s).rpartition("_")[2]) for s in used if str(s) in names), default=-1)


# the problem


@dataclass(frozen=True)
class FixedOrderProblem:
    closed: list[ClosedLoop]
    form: ControllerForm
    h2: np.ndarray
    hinf: np.ndarray
    limits: DesignLimits

    @cached_property
    def speed(self) -> float:
        """Size of the fastest pole of the plants [rad/s]."""
        poles = [np.abs(c.part.model.poles) for c in self.closed]
        return max((float(p[np.isfinite(p)].max(initial=0.0)) for p in poles), default=0.0) or 1.0

    def abscissa(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the largest real part of the poles [rad/s] of all plants."""
        K = self.form.gain(x)
        found = [c.pole(K, np.real, lambda s: 1.0) for c in self.closed]
        value, slope = max(found, key=lambda pair: pair[0])
        return value, self.form.slope(x, slope)

    def objective(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the weighted sum of squares of norms; infinite outside of stability."""
        K = self.form.gain(x)
        total, slope = 0.0, np.zeros_like(K)
        for c, w2, winf in zip(self.closed, self.h2, self.hinf):
            if not c.outside(K) < 0.0:
                return np.inf, np.zeros_like(x)
            if w2:
                value, by = c.square(K)
                if not np.isfinite(value):
                    return np.inf, np.zeros_like(x)
                total, slope = total + w2 * value, slope + w2 * by
            if winf:
                value, by = c.peak(K)
                if not np.isfinite(value):
                    return np.inf, np.zeros_like(x)
                total, slope = total + winf * value**2, slope + 2 * winf * value * by
        return total, self.form.slope(x, slope)

    def exact_objective(self, x: np.ndarray) -> float:
        """Return the objective by the norms that designs are judged by, which keep their digits where the search's do not."""
        models = [c.model(self.form.gain(x)) for c in self.closed]
        h2 = [w * float(h2norm(m)) ** 2 for m, w in zip(models, self.h2) if w]
        return sum(h2) + sum(w * float(hinfnorm(m)) ** 2 for m, w in zip(models, self.hinf) if w)

    def constraints(self, x: np.ndarray) -> list[tuple[str, float, np.ndarray]]:
        """Return what is asked for, how far it is violated (relative, negative if kept), and the gradient by K."""
        K, found = self.form.gain(x), []
        for i, c in enumerate(self.closed):
            of = f" of plant {i + 1}" if len(self.closed) > 1 else ""
            if (least := self.limits.decay) is not None:
                value, by = c.pole(K, np.real, lambda s: 1.0)
                found.append((f"decay{of}", (value + least) / max(least, 1e-12), by / max(least, 1e-12)))
            if (least := self.limits.damping) is not None:
                value, by = c.pole(
                    K, lambda s: s.real / np.abs(s), lambda s: 1j * s.imag * s.conjugate() / abs(s) ** 3
                )
                found.append((f"damping{of}", (value + least) / max(least, 1e-12), by / max(least, 1e-12)))
            if (most := self.limits.gamma) is not None:
                value, by = c.peak(K)
                found.append((f"Hinf norm{of}", value / most - 1.0, by / most))
            for name, most in (self.limits.mean_squares or {}).items():
                value, by = c.square(K, _rows(c.part, name))
                found.append((f"mean square of {name}{of}", value / most - 1.0, by / most))
        return found

    def violations(self, x: np.ndarray) -> dict[str, float]:
        return {what: max(off, 0.0) for what, off, _ in self.constraints(x)}

    def penalized_objective(self, x: np.ndarray, weight: float) -> tuple[float, np.ndarray]:
        value, slope = self.objective(x)
        if np.isfinite(value):
            for _, off, by in self.constraints(x):
                if off > 0:
                    value, slope = value + weight * off, slope + weight * self.form.slope(x, by)
        return value, slope


def _rows(part: PlantPartition, name: str) -> np.ndarray:
    names = [part.model.outputs[i] for i in part.z]
    if name not in names:
        raise InputError(
            f"fixed_order: no error '{name}' for a bound of its mean square; there are {', '.join(names)}"
        )
    return np.array([names.index(name)])


# the search


@dataclass(frozen=True)
class FinishedSearch:
    """Where a search ended: the parameters, the objective with what violated limits add, and whether it is a minimum."""

    x: np.ndarray
    value: float
    finished: bool


def _search_controllers(
    problem: FixedOrderProblem, center: np.ndarray, blank: bool, starts: int, iterations: int, seed: int
) -> list[FinishedSearch]:
    """Return the searches that found controllers; their objectives are those that `exact_objective` gives."""
    rng = np.random.default_rng(seed)
    found: list[FinishedSearch] = []
    furthest, unproved = np.inf, 0
    try:
        for k in range(max(starts, 1)):
            x = (
                center * np.exp(1.5 * rng.normal(size=center.size) * (k > 0))
                + rng.normal(size=center.size) * blank
            )
            x, off, _ = descend(problem.abscissa, x, iterations, enough=-ENOUGH * problem.speed)
            furthest = min(furthest, off)
            if off >= 0.0:
                continue
            if not np.isfinite(scale := problem.objective(x)[0]):
                if not np.isfinite(problem.exact_objective(x)):
                    raise InputError(
                        "fixed_order: the H2 norm is infinite: white noise of the disturbances passes straight through to the errors (D of "
                        "the closed loop is not zero); expected a strictly proper controller, or h2=0"
                    )
                unproved += 1
                continue
            finished = True
            for weight in PENALTIES if problem.constraints(x) else (0.0,):
                x, _, finished = descend(
                    partial(problem.penalized_objective, weight=weight * scale), x, iterations
                )
            late = max(problem.violations(x).values(), default=0.0)
            value = problem.exact_objective(x) * (1.0 if late <= ALLOWED else 1.0 + 1e3 * late)
            if np.isfinite(value):
                found.append(FinishedSearch(x, value, finished))
            else:
                unproved += 1
    except KeyboardInterrupt:
        if not found:
            raise
    if not found and unproved:
        raise NumericalError(
            f"fixed_order: {unproved} searches ended where rounding leaves nothing of the norm: gains without bound, or a pole on the boundary "
            "of stability; expected a limit of decay, a weight of the commands, or another structure"
        )
    if not found:
        raise NumericalError(
            f"fixed_order: no controller of this form was found that stabilizes the plants; the nearest leaves a pole with the real part "
            f"{furthest:.4g}; expected a higher order, another structure or more starts"
        )
    return found


def _best(problem: FixedOrderProblem, found: list[FinishedSearch], iterations: int) -> np.ndarray:
    """Return the parameters of the best search; say so if it had not ended at a minimum."""
    best = min(found, key=lambda search: search.value)
    if not best.finished:
        slope = problem.objective(best.x)[1]
        doubtful(
            f"fixed_order: the best search was still going down after {iterations} iterations (objective {best.value:.6g}, gradient "
            f"{float(np.linalg.norm(slope)):.3g}); more iterations may find a better controller"
        )
    return best.x
