"""The peer of planned motions: CasADi's Opti with forward dynamics, as its users write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX

from articulus import Mechanism

FUNCTIONS = ("nlp_f", "nlp_g", "nlp_grad_f", "nlp_jac_g", "nlp_hess_l")


@dataclass(frozen=True, eq=False)
class ArmMove:
    """A motion of an arm from rest to rest in a given time with the least effort.

    Parameters
    ----------
    arm : Mechanism
    start, goal : array, (n,) [rad]
    duration : float [s]
    effort, velocity : array, (n,) [N m], [rad/s]
        Limits.
    intervals : int
    """

    arm: Mechanism
    start: np.ndarray
    goal: np.ndarray
    duration: float
    effort: np.ndarray
    velocity: np.ndarray
    intervals: int

    def line(self, points: int) -> np.ndarray:
        """Return states (2 n, points) at constant speed on the straight line: what one gives by hand."""
        s, step = np.linspace(0, 1, points)[:, None], self.goal - self.start
        return np.hstack([self.start + s * step, np.tile(step / self.duration, (points, 1))]).T

    def guess(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Return states (2 n, points) and inputs (n, points) of the motion of least jerk, the guess that ours makes for itself."""
        s, T, step = np.linspace(0, 1, points)[:, None], self.duration, self.goal - self.start
        q = self.start + s**3 * (10 - 15 * s + 6 * s**2) * step
        v = 30 * s**2 * (1 - s) ** 2 * step / T
        a = 60 * s * (1 - s) * (1 - 2 * s) * step / T**2
        return np.hstack([q, v]).T, self.arm.inverse_dynamics(q, v, a).T


@dataclass(frozen=True)
class PeerSolution:
    """What the peer found, with processor times of the whole solution and of its functions per iteration [s]."""

    cost: float
    iterations: int
    seconds: float
    functions: float


class Opti:
    """A motion as an Opti problem; `solve` may be called again and again.

    Parameters
    ----------
    move : ArmMove
    method : str
        "collocation" (Hermite-Simpson) or "shooting" (RK4 steps, inputs linear in each).
    form : str
        "map", "expand" (map, expanded into one graph) or "loop" (a call per point).
    """

    def __init__(self, move: ArmMove, method: str, form: str) -> None:
        n, N = move.arm.nv, move.intervals
        self._opti, points = ca.Opti(), 2 * N + 1 if method == "collocation" else N + 1
        x, u = self._opti.variable(2 * n, points), self._opti.variable(n, points)
        rates = _rates(move.arm)
        h, efforts = move.duration / N, ca.sum1((u / ca.DM(move.effort)) ** 2)
        if method == "collocation":
            f = _call_columns(rates, form, x, u)
            (xa, xm, xb), (fa, fm, fb) = ((w[:, :-1:2], w[:, 1::2], w[:, 2::2]) for w in (x, f))
            self._opti.subject_to(xb - xa == h / 6 * (fa + 4 * fm + fb))
            self._opti.subject_to(xm == (xa + xb) / 2 + h / 8 * (fa - fb))
            cost = h / 6 * ca.sum2(efforts[:-1:2] + 4 * efforts[1::2] + efforts[2::2])
        else:
            ends = _call_columns(_step(rates, n, h), form, x[:, :-1], u[:, :-1], u[:, 1:])
            self._opti.subject_to(x[:, 1:] == ends)
            middle = ca.sum1(((u[:, :-1] + u[:, 1:]) / 2 / ca.DM(move.effort)) ** 2)
            cost = h / 6 * ca.sum2(efforts[:-1] + 4 * middle + efforts[1:])
        self._opti.minimize(cost)
        _limit(self._opti, move, x, u)
        self._opti.set_initial(x, move.line(points))
        quiet: dict[str, Any] = {"print_time": False, "expand": form == "expand", "record_time": True}
        self._opti.solver("ipopt", quiet, {"print_level": 0, "sb": "yes", "tol": 1e-6})

    def solve(self) -> PeerSolution:
        """Return the solution from the guess."""
        found = self._opti.solve()
        stats = found.stats()
        count = int(stats["iter_count"])
        functions = sum(float(stats[f"t_proc_{name}"]) for name in FUNCTIONS)
        return PeerSolution(
            float(found.value(self._opti.f)), count, float(stats["t_proc_total"]), functions / count
        )


def _rates(arm: Mechanism) -> ca.Function:
    x, u = ca.SX.sym("x", 2 * arm.nv), ca.SX.sym("u", arm.nv)
    acceleration = arm.function("forward_dynamics")(x[: arm.nv], x[arm.nv :], u)
    return ca.Function("rates", [x, u], [ca.vertcat(x[arm.nv :], acceleration)])


def _step(rates: ca.Function, n: int, h: float) -> ca.Function:
    x, a, b = MX.sym("x", 2 * n), MX.sym("a", n), MX.sym("b", n)
    k1 = rates(x, a)
    k2 = rates(x + h / 2 * k1, (a + b) / 2)
    k3 = rates(x + h / 2 * k2, (a + b) / 2)
    k4 = rates(x + h * k3, b)
    return ca.Function("step", [x, a, b], [x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])


def _call_columns(function: ca.Function, form: str, *arguments: MX) -> MX:
    """Return a function at all columns."""
    count = arguments[0].size2()
    if form == "loop":
        return ca.horzcat(*(function(*(a[:, k] for a in arguments)) for k in range(count)))
    return function.map(count)(*arguments)


def _limit(opti: ca.Opti, move: ArmMove, x: MX, u: MX) -> None:
    n, still = move.arm.nv, np.zeros(move.arm.nv)
    opti.subject_to(x[:, 0] == np.concatenate([move.start, still]))
    opti.subject_to(x[:, -1] == np.concatenate([move.goal, still]))
    for unknowns, limits in ((u, move.effort), (x[n:, :], move.velocity)):
        bound = ca.repmat(ca.DM(limits), 1, unknowns.size2())
        opti.subject_to(opti.bounded(-bound, unknowns, bound))
