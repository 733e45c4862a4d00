"""Solve a `NonlinearProgram` by ipopt: its functions are ours, called through CasADi's interface on shared memory."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from articulus.errors import InputError, brief
from articulus.motion.trajectory.program import NonlinearProgram

SETTINGS: dict[str, Any] = {
    "ipopt.print_level": 0,
    "ipopt.sb": "yes",
    "print_time": False,
    "ipopt.mumps_scaling": 0,
    "ipopt.mumps_permuting_scaling": 7,
    "ipopt.mumps_pivot_order": 0,
    "ipopt.mumps_mem_percent": 20,
    "ipopt.mu_strategy": "adaptive",
    "error_on_fail": False,
    "calc_lam_p": False,
    "no_nlp_grad": True,
    "show_eval_warnings": False,
}
"""MUMPS without scaling and with the ordering AMD is three times faster on these systems. Rows are permuted first: trees take up to a fifth longer by
that, a four-bar two thirds and a Stewart platform a sixth of the time. Ten times the memory it estimates, ipopt's default, costs a fifth of
the time in page faults. With an adaptive barrier minimum times take half of the iterations, and what the
barrier adds to the cost is smaller at the end."""
LARGEST = 1e20
"""Most by which a small cost is multiplied, so that the solver's tolerance means something for it."""
LAST = 3
"""Steps at the end of a search of which `Solution.regularization` tells."""
GOOD = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


@dataclass(frozen=True)
class SolverSettings:
    """How a program is searched.

    Parameters
    ----------
    tolerance : float
        Tolerance of the solver, on the scaled program.
    iterations : int
        Most iterations.
    time_limit : float [s]
        Wall-clock time; the best point so far is returned then.
    options : dict or None
        More of ipopt's, such as {"ipopt.mu_strategy": "adaptive"}.
    """

    tolerance: float = 1e-8
    iterations: int = 1000
    time_limit: float = 600.0
    options: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver found.

    Parameters
    ----------
    x : array, (n,)
    cost : float
    multipliers, bound_multipliers : array
        Multipliers of the constraints, and of the bounds of x.
    status : str
        As ipopt names it.
    iterations : int
    seconds : float [s]
        Wall-clock time of the whole solution.
    function_seconds : float [s]
        Processor time in our functions.
    regularization : float
        What each of the last steps added at least to the second derivatives so that they were positive along the constraints; zero at a minimum.
    saddles : list of float
        Costs of the saddles at which searches before this one ended.
    """

    x: np.ndarray
    cost: float
    multipliers: np.ndarray
    bound_multipliers: np.ndarray
    status: str
    iterations: int
    seconds: float
    function_seconds: float
    regularization: float = 0.0
    saddles: list[float] = field(default_factory=list)

    @property
    def converged(self) -> bool:
        """Whether the solver calls it a solution."""
        return self.status in GOOD


class _Shared(ca.Callback):
    """A function for CasADi that reads and writes its memory."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[tuple[str, ca.Sparsity]],
        outputs: Sequence[tuple[str, ca.Sparsity]],
        work: Callable[..., Sequence[Any]],
    ):
        ca.Callback.__init__(self)
        self._held = tuple(inputs), tuple(outputs)
        self._work = work
        self.seconds = 0.0
        self.error: BaseException | None = None
        self.construct(name, {"enable_fd": False})

    def get_n_in(self) -> int:
        return len(self._held[0])

    def get_n_out(self) -> int:
        return len(self._held[1])

    def get_name_in(self, i: int) -> str:
        return self._held[0][i][0]

    def get_name_out(self, i: int) -> str:
        return self._held[1][i][0]

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return self._held[0][i][1]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return self._held[1][i][1]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Any, results: Any) -> int:
        """Let the work write what is asked for."""
        start = time.process_time()
        try:
            given = [np.frombuffer(x) if x is not None and x.nbytes else np.zeros(0) for x in arguments]
            for value, place in zip(self._work(*given), results):
                if place is not None and place.nbytes:
                    np.frombuffer(place)[:] = value() if callable(value) else value
        except Exception as error:  # noqa: BLE001  (CasADi would print it and go on)
            self.error = error
            return 1
        finally:
            self.seconds += time.process_time() - start
        return 0


def solve(
    program: NonlinearProgram,
    start: np.ndarray,
    *,
    tolerance: float = 1e-8,
    iterations: int = 1000,
    time_limit: float = 600.0,
    options: dict[str, Any] | None = None,
    tell: Callable[[], None] = lambda: None,
) -> Solution:
    """Return what ipopt makes of a program.

    Parameters
    ----------
    program : NonlinearProgram
    start : array, (n,)
        Where to begin.
    tolerance : float
        Tolerance of ipopt, on the scaled program.
    iterations : int
        Most iterations.
    time_limit : float [s]
        Wall-clock time; the best point so far is returned then.
    options : dict
        More of ipopt's, such as {"ipopt.mu_strategy": "adaptive"}.
    tell : function
        Called after every iteration.
    """
    n, m = program.size, int(program.first_rows[-1])
    scale = program.scale if len(program.scale) else np.ones(n)
    jacobian_pattern, hessian_pattern = program.jacobian_places[0], program.hessian_places[0]
    factor = cost_factor(program, start)
    columns, hessian_scale = _column_scales(jacobian_pattern, hessian_pattern, scale)
    vector, one, none = ca.Sparsity.dense(n, 1), ca.Sparsity.dense(1, 1), ca.Sparsity(0, 0)
    rows = ca.Sparsity.dense(m, 1)
    arguments = [("x", vector), ("p", none)]

    def values(x: np.ndarray, p: np.ndarray) -> Sequence[Any]:
        return (lambda: factor * program.cost(x * scale), lambda: program.residuals(x * scale))

    def gradient(x: np.ndarray, p: np.ndarray) -> Sequence[Any]:
        return (
            lambda: factor * program.cost(x * scale),
            lambda: program.gradient(x * scale) * (factor * scale),
        )

    def jacobian(x: np.ndarray, p: np.ndarray) -> Sequence[Any]:
        return (
            lambda: program.residuals(x * scale),
            lambda: program.jacobian(x * scale) * columns,
        )

    def hessian(x: np.ndarray, p: np.ndarray, weight: np.ndarray, multipliers: np.ndarray) -> Sequence[Any]:
        return (lambda: program.hessian(x * scale, factor * float(weight[0]), multipliers) * hessian_scale,)

    shared = [
        _Shared("nlp", arguments, [("f", one), ("g", rows)], values),
        _Shared("nlp_grad_f", arguments, [("f", one), ("grad_f_x", vector)], gradient),
        _Shared("nlp_jac_g", arguments, [("g", rows), ("jac_g_x", jacobian_pattern)], jacobian),
        _Shared(
            "nlp_hess_l",
            [*arguments, ("lam_f", one), ("lam_g", rows)],
            [("triu_hess_gamma_x_x", hessian_pattern)],
            hessian,
        ),
    ]
    stop = threading.Event()

    def after_iteration(*_: np.ndarray) -> Sequence[float]:
        tell()
        return (float(stop.is_set()),)

    watch = _Shared(
        "watch",
        [("x", vector), ("f", one), ("g", rows), ("lam_x", vector), ("lam_g", rows), ("lam_p", none)],
        [("ret", one)],
        after_iteration,
    )
    settings = SETTINGS | {
        "iteration_callback": watch,
        "ipopt.tol": tolerance,
        "ipopt.max_iter": iterations,
        "ipopt.max_wall_time": time_limit,
        "grad_f": shared[1],
        "jac_g": shared[2],
        "hess_lag": shared[3],
    }
    try:
        solver = ca.nlpsol("trajectory", "ipopt", shared[0], settings | (options or {}))
    except RuntimeError as error:
        if not options:
            raise
        raise InputError(
            f"options: found {options}, which the solver refuses ({brief(error)}); expected options of ipopt, such as "
            '{"ipopt.mu_strategy": "adaptive"}'
        ) from None
    lower, upper = program.bounds
    begun = time.perf_counter()
    with interruptible(stop):
        result = solver(
            x0=np.clip(start, program.lower, program.upper) / scale,
            lbx=program.lower / scale,
            ubx=program.upper / scale,
            lbg=lower,
            ubg=upper,
        )
    seconds = time.perf_counter() - begun
    for function in shared:
        if function.error is not None:
            raise function.error
    stats = solver.stats()
    x = np.array(result["x"]).ravel() * scale
    equal = program.lower == program.upper  # where there are few unknowns besides, ipopt moves these by 1e-8
    x[equal] = program.lower[equal]
    return Solution(
        x,
        float(result["f"]) / factor,
        np.array(result["lam_g"]).ravel() / factor,
        np.array(result["lam_x"]).ravel() / (factor * scale),
        str(stats["return_status"]),
        int(stats["iter_count"]),
        seconds,
        sum(function.seconds for function in shared),
        min(stats.get("iterations", {}).get("regularization_size", [0.0])[-LAST:]),
    )


@contextlib.contextmanager
def interruptible(stop: threading.Event) -> Iterator[None]:
    """Let a first Ctrl-C end the search after the present iteration, which is kept; a second one raises."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def once(number: int, frame: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def cost_factor(program: NonlinearProgram, start: np.ndarray) -> float:
    """Return by what the cost is multiplied: one over that of the guess where it is small; ipopt itself divides large ones."""
    cost = abs(program.cost(np.clip(start, program.lower, program.upper)))
    return min(1 / cost, LARGEST) if 0 < cost < 1 else 1.0


def _column_scales(
    jacobian: ca.Sparsity, hessian: ca.Sparsity, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return by what each entry of the derivatives is multiplied when x / scale are the unknowns."""
    _, j = jacobian.get_triplet()
    a, b = hessian.get_triplet()
    return scale[np.array(j, dtype=int)], scale[np.array(a, dtype=int)] * scale[np.array(b, dtype=int)]
