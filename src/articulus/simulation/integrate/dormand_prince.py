"""The pair of Dormand and Prince."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from articulus.simulation.integrate.adaptive import Adaptive, Attempt
from articulus.simulation.integrate.base import Rhs
from articulus.simulation.integrate.runge_kutta import Tableau
from articulus.simulation.integrate.solution import Statistics


class DormandPrince(Adaptive):
    """Explicit Runge-Kutta pair of orders 5 and 4; the last stage is the first of the next step (FSAL).

    Sources: Dormand & Prince 1980, RK5(4)7M; dense output of order 4: Shampine 1986.
    """

    name, order, error_order = "dormand_prince", 5, 5
    tableau = Tableau(
        nodes=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
        stages=(
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        weights=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
    rows = tuple(np.array(row) for row in (*tableau.stages, tableau.weights))
    error_weights = np.array(
        [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
    )
    """Weights of order 5 minus those of order 4, seven stages."""
    dense = np.array(
        [
            [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
            [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
            [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
            [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
            [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
        ]
    )
    """Stage i adds h k_i sum_j dense_ij theta^(j + 1)."""

    hint = (
        "f jumps here (give the time as a stop), x runs off to infinity, the problem is stiff (try rosenbrock) or the "
        "tolerance is too small"
    )

    def derivative(self, problem: Rhs) -> Rhs:
        return problem

    def begin(
        self, problem: Rhs, t: float, x: np.ndarray, towards: float
    ) -> tuple[tuple[np.ndarray, ...], Statistics]:
        return (np.asarray(problem(t, x), dtype=float),), Statistics(evaluations=1)

    def attempt(
        self,
        problem: Rhs,
        t: float,
        x: np.ndarray,
        memory: tuple[np.ndarray, ...],
        h: float,
        inside: Callable[[float], float],
    ) -> Attempt:
        slopes = np.empty((7, x.size))
        slopes[0] = memory[0]
        for i in range(1, 6):
            reached = x + h * (self.rows[i] @ slopes[:i])
            slopes[i] = problem(inside(t + self.tableau.nodes[i] * h), reached)
        x_next = x + h * (self.rows[6] @ slopes[:6])
        slopes[6] = problem(inside(t + h), x_next)
        return Attempt(
            x_next,
            h * (self.error_weights @ slopes),
            np.vstack([x, h * (self.dense.T @ slopes)]),
            (slopes[6],),
            Statistics(evaluations=6),
        )
