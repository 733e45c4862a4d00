"""A linearly implicit method for stiff problems."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from articulus.simulation.integrate.adaptive import Adaptive, Attempt
from articulus.simulation.integrate.base import Rhs
from articulus.simulation.integrate.solution import Statistics


@dataclasses.dataclass(frozen=True)
class Linearized:
    """x' = f(t, x) with its derivatives.

    Parameters
    ----------
    f : callable
        From time [s] and state (n,) to the derivative (n,).
    jac : callable
        df/dx, (n, n), at t and x.
    dfdt : callable or None
        df/dt, (n,), at t and x, asked for after `jac` there; by a difference when not given.
    """

    f: Rhs
    jac: Callable[[float, np.ndarray], np.ndarray]
    dfdt: Callable[[float, np.ndarray], np.ndarray] | None = None


def _rows(*rows: tuple[float, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(row) for row in rows)


class Rosenbrock(Adaptive):
    """RODAS: Rosenbrock pair of orders 4 and 3, L-stable and stiffly accurate; for stiff problems.

    Each of six stages solves one linear system with the same matrix, no iteration:
    (I / (gamma h) - J) u_i = f(t + alpha_i h, x + sum_j a_ij u_j) + sum_j c_ij u_j / h + d_i h df/dt.
    `problem` is a `Linearized`.

    Source: Hairer & Wanner 1996, section VI.4, and the coefficients of the program RODAS given with that book.
    """

    name, order, error_order = "rosenbrock", 4, 4
    gamma = 1 / 4
    nodes = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
    time_weights = (1 / 4, -0.1043, 0.1035, -0.0362, 0.0, 0.0)
    stages = _rows(
        (),
        (1.544,),
        (0.9466785280815826, 0.2557011698983284),
        (3.314825187068521, 2.896124015972201, 0.9986419139977817),
        (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
        (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
    )
    couplings = _rows(
        (),
        (-5.6688,),
        (-2.430093356833875, -0.2063599157091915),
        (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
        (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
        (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
    )
    dense = np.array(
        [
            [
                10.12623508344586,
                -7.487995877610167,
                -34.80091861555747,
                -7.992771707568823,
                1.025137723295662,
                0.0,
            ],
            [
                -0.6762803392801253,
                6.087714651680015,
                16.43084320892478,
                24.76722511418386,
                -6.594389125716872,
                0.0,
            ],
        ]
    )
    """Rows y and z of the dense output x0 (1 - s) + s (x1 + (1 - s) (y + s z)), s = theta."""

    hint = "f jumps here (give the time as a stop), x runs off to infinity, or the Jacobian is not that of f"

    def derivative(self, problem: Linearized) -> Rhs:
        return problem.f

    def begin(
        self, problem: Linearized, t: float, x: np.ndarray, towards: float
    ) -> tuple[tuple[np.ndarray, ...], Statistics]:
        slope = np.asarray(problem.f(t, x), dtype=float)
        jacobian = np.asarray(problem.jac(t, x), dtype=float)
        if problem.dfdt is not None:
            time_rate = np.asarray(problem.dfdt(t, x), dtype=float)
        else:
            delta = min(math.sqrt(np.finfo(float).eps) * max(1e-5, abs(t)), abs(towards - t) / 2)
            delta = math.copysign(delta, towards - t)
            time_rate = (np.asarray(problem.f(t + delta, x), dtype=float) - slope) / delta
        cost = Statistics(evaluations=1 + (problem.dfdt is None), jacobians=1)
        return (slope, jacobian, time_rate), cost

    def attempt(
        self,
        problem: Linearized,
        t: float,
        x: np.ndarray,
        memory: tuple[np.ndarray, ...],
        h: float,
        inside: Callable[[float], float],
    ) -> Attempt:
        from scipy.linalg.lapack import (
            dgetrf,
            dgetrs,
        )  # here: it takes longer to load than the rest of the package

        slope, jacobian, time_rate = memory
        matrix = np.eye(x.size) / (self.gamma * h) - jacobian
        factors, pivots, _ = dgetrf(matrix)
        u, reached = np.empty((6, x.size)), x
        for i in range(6):
            if i > 0:
                reached = x + self.stages[i] @ u[:i]
                slope = problem.f(inside(t + self.nodes[i] * h), reached)
            right = slope + (self.couplings[i] @ u[:i]) / h + (self.time_weights[i] * h) * time_rate
            u[i], _ = dgetrs(factors, pivots, right)
        x_next = reached + u[5]
        y, z = self.dense @ u
        return Attempt(
            x_next,
            u[5],
            np.array([x, x_next - x + y, z - y, -z]),
            (),
            Statistics(evaluations=5, factorizations=1),
        )
