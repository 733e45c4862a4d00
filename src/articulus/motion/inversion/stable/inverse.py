"""`stable_inversion`: inputs under which the outputs of a nonlinear system follow a desired motion exactly and everything stays bounded."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX
from threadpoolctl import threadpool_limits

from articulus.control.design import Check
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.result import Inversion
from articulus.motion.inversion.stable.collocation import Internal, collocation
from articulus.motion.inversion.stable.gauss import C, steps
from articulus.motion.inversion.stable.normal_form import normal_form
from articulus.motion.inversion.stable.picard import picard
from articulus.motion.inversion.stable.problem import BoundedProblem, boundary_problem
from articulus.motion.inversion.stable.system import NonlinearSystem, RowFunction
from articulus.motion.inversion.stable.wanted import sample_desired

METHODS = {"collocation": collocation, "picard": picard}
FLOW = 1e-5
"""Largest distance of the states from what the inputs make of them over an interval, over their largest distance from rest."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def stable_inversion(
    system: Any,
    motion: Any,
    method: str = "collocation",
    *,
    t0: float | None = None,
    t_end: float | None = None,
    x0: Any = None,
    eta: SX | None = None,
    tolerance: float = 1e-8,
    pre: float | None = None,
    post: float | None = None,
    step: float | None = None,
) -> Inversion:
    """Return the bounded inputs and states under which the outputs follow a desired motion, from before its start until after its end.

    Unstable zeros make the inputs begin before the motion, stable ones make them end after it.

    Parameters
    ----------
    system : NonlinearSystem, or a linear plant as in `articulus.control.as_plant`
        With as many inputs as outputs.
    motion : path, casadi.Function of t, (t, expression), (times, samples), or function of times
        The desired outputs; see `articulus.motion.inversion.stable.wanted.wanted`. At rest before its start and after its end; derivatives below the relative
        degree have to be continuous there.
    method : str
        "collocation": Newton's method on the boundary value problem of the internal motion, with a refined mesh.
        "picard": two-sided Picard iteration, for motions inside that are nearly linear.
    t0, t_end : float [s]
        Start and end of a motion given as an expression or function.
    x0 : array, (n,)
        Estimate of the state of rest before the motion; zero if not given.
    eta : SX
        Internal coordinates of one's choice, functions of `system.x`.
    tolerance : float [-]
        Error of the internal motion, over its largest distance from rest; also what may be left of it at the ends of the times.
    pre, post : float [s]
        Time before and after the motion; chosen by the slowest zeros if not given.
    step : float [s]
        Between the times of the result; a 500th of the motion if not given.

    Returns
    -------
    Inversion
        With states. Figures: `relative_degree`, `zeros` [rad/s] before the motion, `zeros_end` after it, `error_estimate`, `flow_residual`,
        `eta` (N, k), `iterations`, `meshes`, `intervals`. Where the input jumps, the times hold a sample just before as well.

    Raises
    ------
    InputError
        The motion is not smooth enough; `pre` or `post` is too short (with the length needed).
    NumericalError
        Zeros on the imaginary axis, a singular decoupling matrix, no convergence.
    """
    if method not in METHODS:
        raise InputError(f"stable_inversion: no method '{method}'; expected {' or '.join(METHODS)}")
    plant = system if isinstance(system, NonlinearSystem) else NonlinearSystem.linear(system)
    n, m = plant.g.shape
    at = np.zeros(n) if x0 is None else np.asarray(x0, dtype=float).ravel()
    if at.shape != (n,) or not np.isfinite(at).all():
        raise InputError(f"stable_inversion: found x0 of shape {at.shape}; expected {n} finite numbers")
    form = normal_form(plant, at, eta)
    goal = sample_desired(motion, m, max(form.relative_degree), t0, t_end)
    problem = boundary_problem(form, goal, at, tolerance, pre, post)
    inside = METHODS[method](problem, tolerance)
    return _result(plant, problem, inside, method, step)


def _result(
    system: NonlinearSystem, problem: BoundedProblem, inside: Internal, method: str, step: float | None
) -> Inversion:
    w = problem.wanted
    t = sample_times(problem, step)
    eta = inside(problem, t)
    x = problem.states(t, eta)
    u = problem.inputs(t, x)
    flow = flow_residual(problem, inside)
    if flow > FLOW:  # intervals long for the whole state, though not for the internal motion
        flow = flow_residual(problem, inside, parts=16)
    form = problem.form
    figures = {
        "relative_degree": form.relative_degree,
        "zeros": problem.before.zeros,
        "zeros_end": problem.after.zeros,
        "error_estimate": inside.error,
        "flow_residual": flow,
        "eta": eta,
        "iterations": inside.iterations,
        "meshes": inside.meshes,
        "intervals": len(inside.t) - 1,
    }
    checks = (Check("states follow from the inputs, per interval, relative", flow, FLOW, flow < FLOW),)
    if not checks[0].passed:
        raise NumericalError(
            f"stable_inversion: the states found do not follow from the inputs: off by {flow:.3g} over an interval, expected below {FLOW:g}; give a smaller tolerance"
        )
    return Inversion(
        f"stable inversion ({method})",
        t,
        u,
        w(t)[:, 0],
        tuple(system.input_names),
        tuple(system.output_names),
        tuple(system.input_units),
        tuple(system.output_units),
        w.t0,
        w.t_end,
        x,
        tuple(system.state_names),
        figures,
        checks,
        mechanism=system.mechanism,
    )


def sample_times(problem: BoundedProblem, step: float | None) -> np.ndarray:
    """Return even times over the interval that hit the start of the motion, with one more just before each jump of the inputs."""
    w = problem.wanted
    h = (w.t_end - w.t0) / 500 if step is None else float(step)
    if not 0 < h <= w.t_end - w.t0:
        raise InputError(f"stable_inversion: found step = {step}; expected seconds above 0, below the motion")
    first = int(np.floor((w.t0 - problem.first) / h + 1e-9))
    last = int(np.floor((problem.last - w.t0) / h + 1e-9))
    t = w.t0 + h * np.arange(-first, last + 1)
    if t[-1] < w.t_end - 1e-9 * h:
        t = np.append(t, w.t_end)
    marks = np.array(w.marks)
    before = marks - 1e-9 * (w.t_end - w.t0)
    top = [problem.top(w(x)) for x in (before, marks)]
    jumps = np.abs(top[1] - top[0]).max(1) > 1e-6 * np.abs(w(t)[:, -1]).max(initial=1e-300)
    extra = np.concatenate([marks[jumps], before[jumps & (before > problem.first)]])
    near = (np.abs(t[:, None] - marks[jumps]) < 1e-7 * h).any(1)
    return np.union1d(t[~near], extra)


def flow_residual(problem: BoundedProblem, inside: Internal, parts: int = 2) -> float:
    """Return how far the states are from what the inputs alone make of them over an interval, relative to their way.

    The equations of the system itself are integrated from every node to the next, in some steps of Gauss's method with the inputs as
    functions of time.
    """
    h = np.diff(inside.t) / parts
    nodes = problem.states(inside.t, inside.eta)
    flow = RowFunction(_flow(problem.form.system))
    x = nodes[:-1]
    for part in range(parts):
        begin = inside.t[:-1] + part * h
        times = (begin[:, None] + C * h[:, None]).ravel()
        known = problem.states(times, inside(problem, times))
        u = problem.inputs(times, known)

        def rate(_: np.ndarray, at: np.ndarray, __: np.ndarray | None, u: np.ndarray = u) -> tuple:
            found, slope = flow(at, u)
            return found, slope.reshape(len(at), at.shape[1], at.shape[1]), at

        K = flow(known, u)[0].reshape(len(h), 3, -1)
        x = steps(rate, begin, h, x, K)[0]
    size = np.abs(nodes - nodes[0]).max(0)
    return float(np.abs((x - nodes[1:]) / np.where(size > 0, size, 1.0)).max())


def _flow(system: NonlinearSystem) -> ca.Function:
    """(x, u) -> x' and its derivative by x."""
    u = SX.sym("u", system.h.numel())
    rate = system.f + ca.mtimes(system.g, u)
    out = ca.cse([rate, ca.densify(ca.jacobian(rate, system.x))])
    return ca.Function("flow", [system.x, u], out)
