"""`invert`: the inputs that make the outputs of a linear plant follow a path."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.zeros import tzero
from articulus.control.design import Check
from articulus.control.plant import Group, as_plant, places
from articulus.control.reduction.minimal import reachable
from articulus.control.sampling import sample
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel, SecondOrder
from articulus.motion.inversion.linear import frequency
from articulus.motion.inversion.linear.forward import defect, response
from articulus.motion.inversion.linear.internal import InternalDynamics, least_errors, least_inputs, square
from articulus.motion.inversion.linear.two_sided import Horizon, InverseSolution, slowest, solve
from articulus.motion.inversion.linear.zeros import Halves, halves, symplectic_zeros
from articulus.motion.inversion.paths import Path, as_path, require_smooth
from articulus.motion.inversion.result import Inversion

NAME = "invert"
STEPS = 1000
"""Steps in the duration of the path, unless a step is given."""
FOLLOWED = 1e-3
"""Error of the outputs in the forward simulation, over the way, above which the step is called too coarse."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def invert(
    plant: Any,
    path: Path,
    *,
    inputs: Group = None,
    outputs: Group = None,
    method: Literal["time", "frequency"] = "time",
    step: float | None = None,
    period: float | None = None,
    pre: float | None = None,
    post: float | None = None,
    cut: float = 1e-8,
    input_weights: Any = None,
    output_weights: Any = None,
) -> Inversion:
    """Return the bounded inputs that make outputs of a linear plant follow a path; they may begin before it and end after it.

    With more inputs than outputs they are those with the least integral of u' R u; with fewer, those with the least integral
    of e' Q e, and `figures["unreachable_outputs"]` tells the largest error that is left of each. The result is checked by a forward
    simulation from rest: `figures["error"]` (not of a plant that is so unstable that its own growth would hide it).

    Parameters
    ----------
    plant : see `control.as_plant`; also `SecondOrder`
        About the state in which all is at rest. Poles may lie anywhere: rigid motions and unstable plants included.
    path : Path
        One coordinate per output. Of outputs with the relative degree r it has to have r - 1 continuous derivatives.
    inputs, outputs : str, sequence of str
        Names; all of the plant if not given.
    method : str
        "time": the stable half of the internal dynamics forwards, the rest backwards, with exact exponentials.
        "frequency": by the Fourier transform over the same window.
    step : float [s]
        Between the times of the result; a thousandth of the duration if not given.
    period : float [s]
        For inputs that hold over a sampling period: a continuous plant is sampled with it first, and the outputs follow at the
        sampling instants. A sampled plant has its own.
    pre, post : float [s]
        Lengths before and after the path; as long as needed if not given, refused if too short.
    cut : float
        Part of the peak of the inputs that may be cut off at the ends.
    input_weights, output_weights : array, (m,) or (m, m); (p,) or (p, p)
        R and Q; ones if not given.
    """
    if method not in ("time", "frequency"):
        raise InputError(f"{NAME}: found method {method!r}; expected 'time' or 'frequency'")
    given: dict[str, Any] = {"step": step, "period": period, "pre": pre, "post": post, "cut": cut}
    given |= {"input_weights": input_weights, "output_weights": output_weights}
    if method == "time":
        return task(plant, path, inputs, outputs, **given).inversion()
    return _by_frequency(plant, path, inputs, outputs, **given)


@dataclass(frozen=True, eq=False)
class InversionProblem:
    """An inversion in the time domain: the plant, the path, the internal dynamics with its halves, and the solution.

    `basis` gives the states of the plant from those that the inputs can move.
    """

    model: LinearModel
    path: Path
    step: float
    internal: InternalDynamics
    parts: Halves
    basis: np.ndarray
    found: InverseSolution

    def inversion(self) -> Inversion:
        """Return the inputs with what was checked."""
        return _result(
            self.model, self.path, self.parts.values, self.internal.degree, self.found, f"{NAME} (time)"
        )


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is to be inverted: checked, with the chosen inputs and outputs."""

    model: LinearModel
    structure: SecondOrder | None
    path: Path
    step: float
    weights: tuple[np.ndarray, np.ndarray]

    @staticmethod
    def of(
        plant: Any,
        path: Any,
        inputs: Group,
        outputs: Group,
        step: float | None,
        period: float | None,
        cut: float,
        weights: tuple[Any, Any],
    ) -> _Asked:
        model, structure = choose_ports(plant, inputs, outputs, period, NAME)
        path = as_path(path)
        m, p = len(model.inputs), len(model.outputs)
        if path.count != p:
            raise InputError(
                f"{NAME}: found a path of {path.count} coordinates for {p} outputs ({', '.join(model.outputs[:8])}); expected one each"
            )
        if not cut > 0:
            raise InputError(
                f"{NAME}: found cut = {cut!r}; expected a positive part of the peak, such as 1e-8"
            )
        sampled = model.period is not None
        h = model.period or step or (path.t_end - path.t0) / STEPS
        if not h > 0 or (sampled and step not in (None, h)):
            raise InputError(
                f"{NAME}: found step = {step!r} s; expected {'the sampling period' if sampled else 'a positive time'}"
            )
        sizes = _weight(weights[0], m, "input_weights"), _weight(weights[1], p, "output_weights")
        return _Asked(model, structure, path, h, sizes)


def task(
    plant: Any,
    path: Any,
    inputs: Group = None,
    outputs: Group = None,
    *,
    step: float | None = None,
    period: float | None = None,
    pre: float | None = None,
    post: float | None = None,
    cut: float = 1e-8,
    input_weights: Any = None,
    output_weights: Any = None,
) -> InversionProblem:
    """Solve in the time domain; arguments as of `invert`."""
    asked = _Asked.of(plant, path, inputs, outputs, step, period, cut, (input_weights, output_weights))
    model, sampled = asked.model, asked.model.period is not None
    m, p = len(model.inputs), len(model.outputs)
    if sampled and m != p:
        raise InputError(
            f"{NAME}: found {m} inputs and {p} outputs of a sampled plant; expected as many, or method 'frequency'"
        )
    moved, basis = _controllable_part(model)
    internal, parts = _split_dynamics(moved, asked)
    found = solve(internal, parts, asked.path, Horizon(asked.step, pre, post, cut), sampled, NAME)
    found = dataclasses.replace(found, x=found.x @ basis.T, rest=basis @ found.rest)
    return InversionProblem(model, asked.path, asked.step, internal, parts, basis, found)


def _by_frequency(
    plant: Any,
    path: Any,
    inputs: Group,
    outputs: Group,
    *,
    step: float | None,
    period: float | None,
    pre: float | None,
    post: float | None,
    cut: float,
    input_weights: Any,
    output_weights: Any,
) -> Inversion:
    asked = _Asked.of(plant, path, inputs, outputs, step, period, cut, (input_weights, output_weights))
    model, sampled = asked.model, asked.model.period is not None
    moved, _ = _controllable_part(model)
    if sampled and len(model.inputs) != len(model.outputs):
        zeros, degree = symplectic_zeros(moved, asked.weights, NAME), 0
    else:
        internal, parts = _split_dynamics(moved, asked)
        zeros, degree = parts.values, internal.degree
    lengths = _lengths(slowest(zeros, asked.step, sampled), asked.step, (pre, post), cut)
    found = frequency.solve(model, asked.structure, asked.path, asked.step, lengths, asked.weights, NAME)
    return _result(model, asked.path, zeros, degree, found, f"{NAME} (frequency)")


def _split_dynamics(moved: LinearModel, asked: _Asked) -> tuple[InternalDynamics, Halves]:
    """Return the internal dynamics and its halves; refuse paths that are not smooth enough for it."""
    internal = _internal(moved, asked.weights, NAME)
    if moved.period is None:
        require_smooth(asked.path, internal.degree, NAME)
    square_plant = len(moved.inputs) == len(moved.outputs)
    return internal, halves(internal.A, moved, _hidden(moved, square_plant), NAME)


def choose_ports(
    plant: Any, inputs: Group, outputs: Group, period: float | None, name: str
) -> tuple[LinearModel, SecondOrder | None]:
    """Return the plant with the chosen inputs and outputs, and its second-order form where it has one."""
    second = SecondOrder.of(plant) if hasattr(plant, "H_rate") else None
    model = as_plant(plant, name)
    if period is not None and model.period is None:
        model, second = sample(model, period), None
    if period is not None and model.period != period:
        raise InputError(f"{name}: found period = {period:g} s for a plant sampled with {model.period:g} s")
    j, i = places(model.inputs, inputs, "input", name), places(model.outputs, outputs, "output", name)
    if not len(j) or not len(i):
        raise InputError(f"{name}: found {len(j)} inputs and {len(i)} outputs; expected at least one each")
    driven, seen = tuple(model.inputs[k] for k in j), tuple(model.outputs[k] for k in i)
    if second is not None:
        second = dataclasses.replace(
            second, B=second.B[:, j], H=second.H[i], H_rate=second.H_rate[i], inputs=driven, outputs=seen
        )
    return (
        dataclasses.replace(
            model,
            B=model.B[:, j],
            C=model.C[i],
            D=model.D[np.ix_(i, j)],
            input_units=tuple(model.input_units[k] for k in j),
            output_units=tuple(model.output_units[k] for k in i),
            inputs=driven,
            outputs=seen,
        ),
        second,
    )


def _controllable_part(model: LinearModel) -> tuple[LinearModel, np.ndarray]:
    """Return the plant without the states that the inputs do not move, and the basis of those left."""
    small, d = scale_states(model)
    size = [1e-10 * max(float(np.linalg.norm(x)), 1e-300) for x in (small.A, small.B)]
    T = reachable(small.A, small.B, *size)
    if T.shape[1] == len(model.A):
        return model, np.eye(len(model.A))
    left = dataclasses.replace(
        small,
        A=T.T @ small.A @ T,
        B=T.T @ small.B,
        C=small.C @ T,
        states=tuple(f"x.{i}" for i in range(T.shape[1])),
    )
    return left, d[:, None] * T


def _internal(model: LinearModel, weights: tuple[np.ndarray, np.ndarray], name: str) -> InternalDynamics:
    m, p = len(model.inputs), len(model.outputs)
    A, B, C, D = model.A, model.B, model.C, model.D
    try:
        if m == p:
            return square(A, B, C, D)
        if m > p:
            L = np.linalg.inv(np.linalg.cholesky(weights[0])).T  # u = L v with v' v = u' R u
            found = least_inputs(A, B @ L, C, D @ L)
            return dataclasses.replace(found, E=L @ found.E, e=L @ found.e)
        S = np.linalg.cholesky(weights[1]).T
        found = least_errors(A, B, S @ C, S @ D)
        return dataclasses.replace(found, f=found.f @ S, x_f=found.x_f @ S, e=found.e @ S)
    except InputError as error:
        raise InputError(
            f"{name}: {error}: inputs {', '.join(model.inputs[:8])}, outputs {', '.join(model.outputs[:8])}; expected outputs that the "
            "inputs can move one by one. Leave out an output, or add an input"
        ) from None


def _hidden(model: LinearModel, is_square: bool) -> np.ndarray:
    """Return the eigenvalues of modes that the inputs move but the outputs do not show."""
    if not is_square:
        return np.zeros(0, dtype=complex)
    zeros = tzero(model)
    left = list(zeros.invariant)
    for s in zeros.transmission:
        if left:
            left.pop(int(np.argmin(np.abs(np.array(left) - s))))
    return np.array(left, dtype=complex)


def _lengths(
    rates: tuple[float, float], step: float, given: tuple[float | None, float | None], cut: float
) -> tuple[float, float]:
    """Return lengths before and after the path in which the slowest zeros die away to `cut`."""
    needed = [np.log(1 / cut) / rate + 10 * step for rate in rates]
    for side, length, need in zip(("pre", "post"), given, needed):
        if length is not None and length < need - 11 * step:
            raise InputError(
                f"invert: horizon too short: {side} = {length:g} s; needs {need:.4g} s for the slowest zero to die away to {cut:g}"
            )
    return tuple(need if x is None else x for x, need in zip(given, needed))  # type: ignore[return-value]


def _result(
    model: LinearModel, path: Path, zeros: np.ndarray, degree: int, solution: InverseSolution, name: str
) -> Inversion:
    m, p = len(model.inputs), len(model.outputs)
    figures: dict[str, Any] = {
        "zeros": zeros[np.argsort(np.abs(zeros), kind="stable")],
        "degree": degree,
        "step": float((solution.t[-1] - solution.t[0]) / (len(solution.t) - 1)),
    }
    checks: tuple[Check, ...] = ()
    if len(model.A):
        figures["defect"] = defect(model, solution.t, solution.u, solution.x)
        good = figures["defect"] <= FOLLOWED
        checks = (Check("equations of the plant, missed in a step", figures["defect"], FOLLOWED, good),)
    if m < p:
        left = np.abs(solution.x @ model.C.T + solution.u @ model.D.T - solution.y).max(0)
        figures["unreachable"] = float(left.max())
        figures["unreachable_outputs"] = dict(zip(model.outputs, left.tolist()))
    elif not grows(model, solution.t[-1] - solution.t[0]):
        followed = response(model, solution.t, solution.u, solution.rest)
        way = float(np.ptp(solution.y, axis=0).max())
        figures["error"] = float(np.abs(followed - solution.y).max())
        good = figures["error"] <= FOLLOWED * way
        missed = "error of the outputs moved from rest by the inputs"
        checks += (Check(missed, figures["error"], FOLLOWED * way, good),)
    for check in checks:
        if not check.passed:
            doubtful(
                f"{name}: {check}; the step {figures['step']:.3g} s is too coarse for a spline through the inputs"
            )
    return Inversion(
        name,
        solution.t,
        solution.u,
        solution.y,
        model.inputs,
        model.outputs,
        model.input_units,
        model.output_units,
        path.t0,
        path.t_end,
        solution.x,
        model.states,
        figures,
        checks,
        zero_order_hold=model.period is not None,
    )


def grows(model: LinearModel, duration: float) -> bool:
    """Whether the plant itself makes more than 1000 of an error in the duration, so that it cannot be run without feedback."""
    rate = float(model.poles.real.max(initial=0.0))
    return rate * duration > np.log(1e3)


def _weight(given: Any, count: int, what: str) -> np.ndarray:
    if given is None:
        return np.eye(count)
    W = np.asarray(given, dtype=float)
    W = np.diag(W) if W.ndim == 1 else W
    if W.shape != (count, count) or not np.allclose(W, W.T) or not (np.linalg.eigvalsh(W) > 0).all():
        raise InputError(
            f"invert.{what}: found shape {np.shape(given)}; expected {count} positive numbers or a symmetric positive definite matrix"
        )
    return W
