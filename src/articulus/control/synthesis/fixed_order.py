"""Controllers of fixed order and structure for one plant or several, by optimization with exact gradients.

The objective is that of Ly's SANDY (U.-L. Ly, H2- and Hinf-Design Tools for Linear Time-Invariant Systems, 3rd Annual Conference on
Aerospace Computational Control, JPL, 1989): the sum over plants of W2 |T|_2^2 + Winf |T|_inf^2 of the closed loop, or of its indices
over a finite time, with constraints on damping, decay, mean squares, margins and bandwidth. The Hinf norm has kinks, where peaks are equally high; the search is the quasi-Newton method with
a weak Wolfe line search that is known to cope with them (Burke, Henrion, Lewis & Overton 2006; Lewis & Overton 2013).
"""

from __future__ import annotations

import dataclasses
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
from articulus.control.plant import Group, PlantPartition, of_matrices
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.control.synthesis.descent import descend
from articulus.control.synthesis.finite_time import FiniteTime, Sinusoid
from articulus.errors import Finding, InputError, NumericalError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.streams import stream

PENALTIES = (1.0, 10.0, 100.0)
"""Weights of violated constraints, one after another, over the size of the objective at the start."""
ENOUGH = 1e-6
"""Decay rate, over that of the fastest pole of the plants, at which a search for stability has found it."""
SLOWER = np.append(np.geomspace(1e-2, 1.0, 40), 1.0)
"""Frequencies, over the end of a bandwidth or its inverse, at which the loop is asked."""
GROWN, NO_LESS = 4.0, 0.95
"""Logarithm by which unstable motions grow within the first times of a search; share to which it has to fall for the next, longer one."""
ROUNDS = 20
"""Times at most that the worst sinusoids are looked for again."""
ALLOWED = 1e-3
"""Violation of a constraint, relative, up to which it counts as kept."""

Law = Callable[[ca.SX], tuple[Any, Any, Any, Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedOrderDesign(Design):
    """A controller of a given order or structure.

    Parameters
    ----------
    parameters : array
        Parameters of the structure.
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
    margin : float [-]
        Least disk margin at the commands, all of which may change at once: `size` of `control.analysis.DiskMargin`, below 2.
    bandwidth : (low, high) [rad/s]
        Bandwidth of the loop at the commands: disturbances there are at most 0.71 of their size up to `low`, and pass around the loop with at most
        0.71 from `high` on. None in place of either: not asked for.
    """

    damping: float | None = None
    decay: float | None = None
    gamma: float | None = None
    mean_squares: Mapping[str, float] | None = None
    margin: float | None = None
    bandwidth: tuple[float | None, float | None] | None = None

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < 2:
            raise InputError(Finding("DesignLimits.margin", f"{self.margin}", "a number between 0 and 2"))
        if self.bandwidth is None:
            return
        ends = [x for x in self.bandwidth if x is not None]
        if len(self.bandwidth) != 2 or not all(x > 0 for x in ends) or ends != sorted(ends):
            raise InputError(Finding("DesignLimits.bandwidth", f"{self.bandwidth}", "(low, high) in rad/s with 0 < low < high, or None for either"))  # fmt: skip


def fixed_order(
    plants: Any,
    controller: int | Law,
    guess: Any = None,
    *,
    commands: Group,
    measured: Group,
    h2: float | Sequence[float] = 1.0,
    hinf: float | Sequence[float] = 0.0,
    limits: DesignLimits | None = None,
    finite_time: FiniteTime | None = None,
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
    guess : array
        Parameters from which the search starts; needed with a function. The other searches start at random points around it.
    commands, measured : names or counts
    h2, hinf : float, or one per plant
        Weights W2 and Winf.
    limits : DesignLimits
    finite_time : FiniteTime
        Indices over a finite time in place of the norms; the search then needs no stable controller to start from, and a minimum for a time
        that is long enough stabilizes the plants.
    starts : int
        Searches, of which the best counts.
    iterations : int
        Largest number of iterations of each search; on Ctrl-C the best so far is returned. A DoubtfulResult says so if the best search had not ended by then.
    seed : int

    Returns
    -------
    Design
        For the first plant. Figures: `parameters`, `objective`, `h2`, `hinf` (norms, one per plant), `searches` (objective of each), `finished`
        (whether each ended at a minimum).
    """
    many = plants if isinstance(plants, list) else [plants]
    if not many:
        raise InputError("fixed_order: found no plants; expected one or more")
    if not callable(controller) and (
        isinstance(controller, bool) or not isinstance(controller, int | np.integer) or controller < 0
    ):
        raise InputError(
            f"fixed_order: found the controller {controller!r}; expected an order, 0 or more, or a function"
        )
    for name, given, kind in (("limits", limits, DesignLimits), ("finite_time", finite_time, FiniteTime)):
        if not isinstance(given, kind | None):
            raise InputError(f"fixed_order, {name}: found {given!r}; expected {kind.__name__}(...)")
    for name, weight in (("h2", h2), ("hinf", hinf)):
        if np.size(weight) not in (1, len(many)):
            raise InputError(
                f"fixed_order, {name}: found {np.size(weight)} weights; expected 1 or {len(many)}, one per plant"
            )
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
    units = np.ones(form.count)
    if isinstance(controller, int | np.integer):
        units = form.units(parts[0])
        form = form.in_units(units)
    weights = [np.broadcast_to(np.asarray(x, dtype=float), len(parts)) for x in (h2, hinf)]
    if finite_time is not None and parts[0].model.period is not None:
        raise InputError(
            f"fixed_order, finite_time: found a plant sampled every {parts[0].model.period:g} s; expected a continuous one"
        )
    problem = FixedOrderProblem(
        [ClosedLoop(p.rescale()[0], form.order) for p in parts],
        form,
        weights[0],
        weights[1],
        limits or DesignLimits(),
        finite_time,
    )
    center = np.zeros(form.count) if guess is None else np.asarray(guess, dtype=float).ravel()
    if center.shape != (form.count,):
        raise InputError(f"fixed_order: found {center.size} parameters to start from; expected {form.count}")
    if not np.isfinite(center).all():
        raise InputError("fixed_order: found numbers in `guess` that are not finite; expected finite ones")
    if guess is None and not isinstance(controller, int | np.integer):
        raise InputError("fixed_order: a structure needs parameters to start from; expected `guess`")
    with threadpool_limits(1):
        searches = _search_controllers(problem, center / units, guess is None, starts, iterations, seed)
        best = _best(problem, searches, iterations)
        rest = problem.abscissa(best)[0]
        if finite_time is not None and rest >= 0.0:
            raise NumericalError(
                f"fixed_order: the least index over {finite_time.t_end:g} s leaves a pole with the real part {rest:.4g} 1/s; expected a longer t_end"
            )
        return _design(parts, form, problem, best, units, searches)


def _design(
    parts: list[PlantPartition],
    form: ControllerForm,
    problem: FixedOrderProblem,
    best: np.ndarray,
    units: np.ndarray,
    searches: list[FinishedSearch],
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
        "parameters": best * units,
        "objective": problem.posed(best).objective(best)[0],
        "h2": norms[0],
        "hinf": norms[1],
        "searches": [search.value for search in searches],
        "finished": [search.finished for search in searches],
    }
    return check_design(
        FixedOrderDesign, "fixed order", first.model, controller, first.u, first.y, figures, checks
    )


# the controller


def mean_speed(model: LinearModel) -> float:
    """Return the geometric mean of the sizes of the poles that are not at zero [rad/s]."""
    sizes = np.abs(model.poles)
    sizes = sizes[np.isfinite(sizes)]
    sizes = sizes[sizes > 1e-6 * sizes.max(initial=0.0)]
    return float(np.exp(np.log(sizes).mean())) if len(sizes) else 1.0 / (model.period or 1.0)


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

    def units(self, part: PlantPartition) -> np.ndarray:
        """Return the size of each parameter of a controller without structure that a plant suggests: by its poles, and its gain there.

        Random numbers of these sizes are controllers about as fast as the plant, whatever the units of time, commands and measurements.
        """
        m, n, A = self.shape[0], self.order, part.A
        T, w = part.model.period, mean_speed(part.model)
        at = w * np.exp(1j)
        w, at = (w, at) if T is None else (1.0, np.exp(at * T))
        gain = np.linalg.norm(part.C2 @ np.linalg.solve(at * np.eye(len(A)) - A, part.B2) + part.D22, 2)
        root = gain**-0.5 if 0 < gain < np.inf else 1.0
        rows, columns = np.full(m + n, root), np.append(np.full(self.shape[1], root), np.ones(n))
        rows[m:] = w
        K = np.outer(rows, columns).ravel(order="F")
        return K @ np.abs(np.asarray(self.function(0)[1]))

    def in_units(self, units: np.ndarray) -> ControllerForm:
        """Return the same form with parameters counted in units."""
        x = ca.SX.sym("p", self.count)
        K = self.function(x * units)[0]
        function = ca.Function("controller", [x], [K, ca.jacobian(ca.vec(K), x)])
        return dataclasses.replace(self, function=function)

    def parameters(self, K: np.ndarray) -> np.ndarray:
        """Return the parameters of a controller without structure, with states of such units that inputs and outputs of each are alike."""
        by, (m, p) = np.asarray(self.function(0)[1]), self.shape
        units = by.sum(axis=1).reshape(K.shape, order="F")
        scaled = np.divide(K, units, out=np.zeros_like(K), where=units > 0)
        into, out = np.linalg.norm(scaled[m:, :p], axis=1), np.linalg.norm(scaled[:m, p:], axis=0)
        d = np.ones(self.order)
        both = (into > 0) & (out > 0)
        d[both] = np.sqrt(out[both] / into[both])
        scaled[m:] *= d[:, None]
        scaled[:, p:] /= d
        return (by > 0).T @ scaled.ravel(order="F")

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
    finite_time: FiniteTime | None = None
    waves: tuple[tuple[Sinusoid, ...], ...] = ()

    @cached_property
    def at_commands(self) -> list[tuple[ClosedLoop, ClosedLoop, ClosedLoop]]:
        """Return for each plant what a disturbance of the commands does: S - T, S and T."""

        def one(c: ClosedLoop, own: float, added: float) -> ClosedLoop:
            return ClosedLoop(seen_at_commands(c.part, own, added), self.form.order)

        return [(one(c, 2, 1), one(c, 1, 1), one(c, 1, 0)) for c in self.closed]

    def posed(self, x: np.ndarray) -> FixedOrderProblem:
        """Return the problem with the worst sinusoids of the loops at a controller beside those that it has; of finite time only."""
        if self.finite_time is None or not np.any(self.hinf):
            return self
        K, grid = self.form.gain(x), self.speed * np.geomspace(1e-3, 3.0, 100)
        waves = []
        for c, held in zip(self.closed, self.waves or ((),) * len(self.closed)):
            at = hinfnorm(c.model(K)).omega if c.outside(K) < 0.0 else np.nan
            at = at if np.isfinite(at) else max(grid, key=lambda w: c.gain_at(K, w)[0])
            waves.append((*held, Sinusoid(float(at), c.gain_at(K, float(at))[2])))
        return dataclasses.replace(self, waves=tuple(waves))

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
        if self.finite_time is not None:
            every = self.waves or ((),) * len(self.closed)
            for c, w2, winf, waves in zip(self.closed, self.h2, self.hinf, every):
                value, by = c.finite(K, w2, winf, self.finite_time, waves)
                total, slope = total + value, slope + by
            return total, self.form.slope(x, slope)
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
        if self.finite_time is not None:
            return self.posed(x).objective(x)[0]
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
                unit = least or 1e-12 * self.speed
                found.append((f"decay{of}", (value + least) / unit, by / unit))
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
            if (least := self.limits.margin) is not None:
                value, by = self.at_commands[i][0].peak(K)
                found.append((f"disk margin{of}", 0.5 * value * least - 1.0, 0.5 * least * by))
            low, high = self.limits.bandwidth or (None, None)
            if low is not None:
                found.append(
                    (f"bandwidth, low end{of}", *_halve_power(self.at_commands[i][1], K, low * SLOWER))
                )
            if high is not None:
                found.append(
                    (f"bandwidth, high end{of}", *_halve_power(self.at_commands[i][2], K, high / SLOWER))
                )
        return found

    def violations(self, x: np.ndarray) -> dict[str, float]:
        return {what: max(off, 0.0) for what, off, _ in self.constraints(x)}

    def penalized_objective(self, x: np.ndarray, weight: float) -> tuple[float, np.ndarray]:
        value, slope = self.objective(x)
        if np.isfinite(value) and weight:
            for _, off, by in self.constraints(x):
                if off > 0:
                    value, slope = value + weight * off, slope + weight * self.form.slope(x, by)
        return value, slope


def seen_at_commands(part: PlantPartition, own: float, added: float) -> PlantPartition:
    """Return the plant with disturbances of its commands alone; errors are own * command + added * disturbance."""
    m, p, one = len(part.u), len(part.y), np.eye(len(part.u))
    model = of_matrices(
        part.A,
        np.hstack([part.B2, part.B2]),
        np.vstack([np.zeros((m, len(part.A))), part.C2]),
        np.block([[added * one, own * one], [part.D22, part.D22]]),
        part.model.period,
    )
    return PlantPartition(model, np.arange(m), np.arange(m, 2 * m), np.arange(m), np.arange(m, m + p))


def _halve_power(loop: ClosedLoop, K: np.ndarray, grid: np.ndarray) -> tuple[float, np.ndarray]:
    """Return by how much the largest gain over a grid exceeds the root of a half, relative, and the gradient by K."""
    if not loop.outside(K) < 0.0:
        return np.inf, np.zeros_like(K)
    if loop.period is not None:
        grid = grid[grid * loop.period <= np.pi]
    if not len(grid):
        return -1.0, np.zeros_like(K)
    value, by, _ = max((loop.gain_at(K, w) for w in grid), key=lambda found: found[0])
    return np.sqrt(2.0) * value - 1.0, np.sqrt(2.0) * by


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
    rng = stream(seed)
    searches: list[FinishedSearch] = []
    furthest, unproved = np.inf, 0
    try:
        for k in range(max(starts, 1)):
            x = (
                center * np.exp(1.5 * rng.normal(size=center.size) * (k > 0))
                + rng.normal(size=center.size) * blank
            )
            if problem.finite_time is None:
                x, off, _ = descend(problem.abscissa, x, iterations, enough=-ENOUGH * problem.speed)
                furthest = min(furthest, off)
                if off >= 0.0:
                    continue
            if problem.finite_time is not None:
                x = _lengthen(problem, x, iterations)
            if not np.isfinite(scale := problem.posed(x).objective(x)[0]):
                if not np.isfinite(problem.exact_objective(x)):
                    raise InputError(
                        "fixed_order: the H2 norm is infinite: white noise of the disturbances passes straight through to the errors (D of "
                        "the closed loop is not zero); expected a strictly proper controller, or h2=0"
                    )
                unproved += 1
                continue
            x, finished = _descend_with_limits(problem, x, scale, iterations)
            late = max(problem.violations(x).values(), default=0.0)
            value = problem.exact_objective(x) * (1.0 if late <= ALLOWED else 1.0 + 1e3 * late)
            if np.isfinite(value):
                searches.append(FinishedSearch(x, value, finished))
            else:
                unproved += 1
    except KeyboardInterrupt:
        if not searches:
            raise
    if not searches and unproved:
        raise NumericalError(
            f"fixed_order: {unproved} searches ended where rounding leaves nothing of the norm: gains without bound, or a pole on the boundary "
            "of stability; expected a limit of decay, a weight of the commands, or another structure"
        )
    if not searches:
        raise NumericalError(
            f"fixed_order: no controller of this form was found that stabilizes the plants; the nearest leaves a pole with the real part "
            f"{furthest:.4g}; expected a higher order, another structure or more starts"
        )
    return searches


def _descend_with_limits(
    problem: FixedOrderProblem, x: np.ndarray, scale: float, iterations: int
) -> tuple[np.ndarray, bool]:
    """Return a local minimum within the limits, and whether it is one; of the ratio of finite time, for the worst sinusoid that is left."""
    weights: tuple[float, ...] = PENALTIES if problem.constraints(x) else (0.0,)
    if problem.finite_time is None:
        return _descend_weights(problem, x, scale, weights, iterations)
    finished, posed = True, problem.posed(x)
    for _ in range(ROUNDS):
        x, finished = _descend_weights(posed, x, posed.objective(x)[0], weights, iterations)
        before = posed.objective(x)[0]
        posed = posed.posed(x)
        if not posed.objective(x)[0] > before * (1.0 + ALLOWED):
            break
    return x, finished


def _lengthen(problem: FixedOrderProblem, x: np.ndarray, iterations: int) -> np.ndarray:
    """Return a local minimum without limits: of a time in which unstable motions grow by little first, then of longer ones."""
    whole = problem.finite_time
    assert whole is not None
    while True:
        rise = problem.abscissa(x)[0] + whole.growth
        t_end = whole.t_end if rise * whole.t_end <= GROWN else GROWN / rise
        short = dataclasses.replace(problem, finite_time=dataclasses.replace(whole, t_end=t_end)).posed(x)
        x = descend(short.objective, x, iterations)[0]
        after = problem.abscissa(x)[0] + whole.growth
        if t_end == whole.t_end or after * t_end > GROWN * NO_LESS:
            return x


def _descend_weights(
    problem: FixedOrderProblem, x: np.ndarray, scale: float, weights: tuple[float, ...], iterations: int
) -> tuple[np.ndarray, bool]:
    finished = True
    for weight in weights:
        x, _, finished = descend(partial(problem.penalized_objective, weight=weight * scale), x, iterations)
    return x, finished


def _best(problem: FixedOrderProblem, found: list[FinishedSearch], iterations: int) -> np.ndarray:
    """Return the parameters of the best search; say so if it had not ended at a minimum."""
    best = min(found, key=lambda search: search.value)
    if not best.finished:
        slope = problem.posed(best.x).objective(best.x)[1]
        doubtful(
            f"fixed_order: the best search was still decreasing after {iterations} iterations (objective {best.value:.6g}, gradient "
            f"{float(np.linalg.norm(slope)):.3g}); more iterations may find a better controller"
        )
    return best.x
