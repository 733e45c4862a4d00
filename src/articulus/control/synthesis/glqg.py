"""Controllers of given order with the least bound of their H2 norm under an Hinf bound and gain margins of the actuators.

The generalized LQG problem of Bernstein, Hyland, Richter and Haddad: one equation in place of the Lyapunov equation of the closed loop,

    0 = A Q + Q A' + B B' + sum_i a_i b_i b_i' + Q (C'C / gamma^2 + sum_i c_i' c_i / a_i) Q

Where it has a stabilizing solution Q >= 0, the gain C (s I - A)^-1 B is below gamma (Bernstein & Haddad 1989), the loop stays stable
and tr(Q C'C) a bound of its mean square for all actuators whose gain is anything between `low` and `high`, nonlinear and changing
with time (the circle criterion: A + b_i d c_i with |d| <= 1; Khargonekar, Petersen & Zhou 1990). Without bounds it is LQG and, at
lower order, optimal projection. The sampled equation, with S = Q + Q M' (I - M Q M')^-1 M Q and M = (C / gamma, c_i / sqrt(a_i)), is

    Q = A S A' + B B' + sum_i a_i b_i b_i'                                                  (Haddad, Bernstein & Mustafa 1991)

The controller and the scales a_i are found by descent with exact gradients from the LQG controller, or its projection; where that does
not keep the bounds, first the gain is lowered on which they rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import h2norm, hinfnorm
from articulus.control.connect import close, select
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.modes import require_detectable, require_stabilizable
from articulus.control.plant import Group, PlantPartition, of_matrices, places
from articulus.control.riccati import riccati
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.control.synthesis.descent import descend
from articulus.control.synthesis.fixed_order import (
    ENOUGH,
    ControllerForm,
    DesignLimits,
    FixedOrderProblem,
    mean_speed,
)
from articulus.control.synthesis.optimal_projection import balance_full_order
from articulus.errors import InputError, NumericalError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import Lyapunov, covariance
from articulus.numerics.riccati import care, dare
from articulus.numerics.streams import stream

FAR = 100.0
"""Largest logarithm of a scale, beyond what any search asks for but its longest trial steps."""
CALM = (1.0, 10.0, 100.0)
"""Factors of the weights of commands and of the noise of sensors of the first starts."""
INSIDE = 0.98
"""Gain, of which 1 is the bound, at which the search for a controller that keeps the bounds has found it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralizedLqgDesign(Design):
    """A controller with the least bound of its H2 norm under an Hinf bound and gain margins.

    Parameters
    ----------
    bound : float
        Bound of the H2 norm from disturbances to errors, for all actuators of the sector.
    h2, hinf : float
        Norms with the nominal actuators; `hinf` of the bounded errors.
    gamma : float
        Bound that was asked for; infinite if none.
    sector : (low, high)
        Gains of the actuators for which the loop is stable.
    scales : array, (commands,)
        a_i.
    """

    bound: float
    h2: float
    hinf: float
    gamma: float
    sector: tuple[float, float]
    scales: np.ndarray

    @property
    def phase(self) -> float:
        """Phase by which all actuators may lag or lead [rad]: where the unit circle leaves the disk of the sector."""
        low, high = self.sector
        return float(np.arccos(np.clip((1.0 + low * high) / (low + high), -1.0, 1.0)))


def glqg(
    plant: Any,
    order: int | None = None,
    *,
    commands: Group,
    measured: Group,
    gamma: float = np.inf,
    bounded: Group = None,
    sector: tuple[float, float] = (1.0, 1.0),
    starts: int = 6,
    iterations: int = 1000,
    seed: int = 0,
) -> GeneralizedLqgDesign:
    """Return the controller of given order with the least bound of the H2 norm, under an Hinf bound and gain margins of the actuators.

    Parameters
    ----------
    plant : see `as_plant`
        Continuous or sampled (`control.sample`). Errors weigh states and commands, disturbances drive states and sensors; no feedthrough
        from disturbances to errors. Commands count as the controller gives them, before the actuators of the sector.
    order : int
        From 1 to that of the plant, which is the default.
    commands, measured : names or counts
    gamma : float
        Largest Hinf norm from disturbances to the bounded errors.
    bounded : names or count
        Errors whose Hinf norm is bounded; all errors if not given.
    sector : (low, high)
        0 < low <= 1 <= high: gains of the actuators, nonlinear and changing with time, for which the loop is to be stable and
        the bound of the H2 norm to hold.
    starts : int
        Starts at most: LQG, two of lower gain, of which the best counts, then random ones until a controller keeps the bounds.
    iterations : int
        Iterations of each descent.
    seed : int

    Raises
    ------
    NumericalError
        No controller was found that keeps the bounds; the message says how far they were reached.
    """
    given = PlantPartition.of(plant, commands, measured, "glqg")
    p, w = _in_own_time(given.rescale()[0])
    order = len(p.A) if order is None else order
    _require(p, order, gamma, sector)
    rows = _bounded_rows(p, bounded)
    wide = _with_sector(p, sector)
    problem = _Problem(ClosedLoop(wide, order), _strictly_proper(order, p), gamma, rows, len(p.w), len(p.z), 0 if sector[0] == sector[1] else len(p.u))  # fmt: skip
    with threadpool_limits(1):
        begin = partial(_start, problem, wide, p, order, iterations)
        x, value, finished = _search(problem, begin, gamma, sector, starts, iterations, seed)
    if not finished:
        doubtful(
            f"glqg: the search was still decreasing after {iterations} iterations; more may find a better controller"
        )
    A, B, C, D = problem.form.matrices(problem.split(x)[0])
    controller = named_controller(given.model, (A * w, B * w, C, D), p.u, p.y, "glqg")
    whole = close(given.model, controller, p.u, p.y)
    gain = hinfnorm(select(whole, p.w, p.z[rows]))
    scales = problem.split(x)[1]
    figures = {
        "bound": float(np.sqrt(value * w)),
        "h2": float(h2norm(select(whole, p.w, p.z))),
        "hinf": float(gain),
        "gamma": float(gamma),
        "sector": (float(sector[0]), float(sector[1])),
        "scales": scales,
    }
    checks = []
    if np.isfinite(gamma):
        checks.append(Check("Hinf norm of the bounded errors", float(gain), gamma, float(gain) <= gamma))
    if problem.channels:
        circle = float(hinfnorm(problem.sector_loop(x)))
        checks.append(Check("circle criterion of the actuators", circle, 1.0, circle < 1.0))
    return check_design(GeneralizedLqgDesign, "generalized LQG", given.model, controller, p.u, p.y, figures, checks)  # fmt: skip


def _in_own_time(p: PlantPartition) -> tuple[PlantPartition, float]:
    """Return a continuous plant with time in units of its poles, and the unit [rad/s]: squares of its H2 norms are that much smaller."""
    m = p.model
    if m.period is not None:
        return p, 1.0
    w = mean_speed(m)
    return replace(p, model=replace(m, A=m.A / w, B=m.B / w)), w


def _require(p: PlantPartition, order: int, gamma: float, sector: tuple[float, float]) -> None:
    """Raise InputError for a problem that has no meaning."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or not 1 <= order <= len(p.A):
        raise InputError(f"glqg: found order {order!r}; expected an integer from 1 to {len(p.A)}")
    if not (isinstance(gamma, Real) and gamma > 0):
        raise InputError(f"glqg: found gamma = {gamma!r}; expected a positive number")
    ends = np.asarray(sector, dtype=object).ravel()
    plain = len(ends) == 2 and all(isinstance(x, Real) for x in ends)
    if not plain or not 0 < ends[0] <= 1 <= ends[1] < np.inf:
        raise InputError(f"glqg: found the sector {sector!r}; expected (low, high) with 0 < low <= 1 <= high")
    if not len(p.w) or not len(p.z):
        raise InputError(
            "glqg: found no disturbances or no errors; expected inputs beside the commands, outputs beside the measured"
        )
    if p.D11.any():
        raise InputError("glqg: found feedthrough from disturbances to errors; expected none")
    if sector[0] < sector[1] and p.D22.any():
        raise InputError(
            "glqg: found feedthrough from commands to measured outputs; expected none where actuators have a sector"
        )
    least = [np.linalg.eigvalsh(M)[0] for M in (p.D12.T @ p.D12, p.D21 @ p.D21.T)]
    if min(least) <= 0:
        raise InputError("glqg: expected definite weights of commands and noise of sensors")
    require_stabilizable(p.model, p.B2, "glqg", tuple(p.model.inputs[i] for i in p.u))
    require_detectable(p.model, p.C2, "glqg", tuple(p.model.outputs[i] for i in p.y))


def _bounded_rows(p: PlantPartition, bounded: Group) -> np.ndarray:
    return places([p.model.outputs[i] for i in p.z], bounded, "error", "glqg")


def _strictly_proper(order: int, p: PlantPartition) -> ControllerForm:
    form = ControllerForm.of(order, len(p.u), len(p.y), direct=False)
    return form.in_units(form.units(p))


def _with_sector(p: PlantPartition, sector: tuple[float, float]) -> PlantPartition:
    """Return the plant with actuators of the middle gain, the rest of the sector as disturbances after and errors before them."""
    low, high = sector
    if low == high:
        return p
    middle, rest, m = 0.5 * (low + high), 0.5 * (high - low), len(p.u)
    model = p.model
    B, D = model.B.copy(), model.D.copy()
    B[:, p.u] *= middle
    D[np.ix_(p.y, p.u)] *= middle
    inputs, outputs = B.shape[1], len(D)
    D = np.block([[D, np.zeros((outputs, m))], [np.zeros((m, inputs + m))]])
    D[np.arange(outputs, outputs + m), p.u] = 1.0
    wide = of_matrices(
        model.A,
        np.hstack([B, rest * p.B2]),
        np.vstack([model.C, np.zeros((m, len(model.A)))]),
        D,
        model.period,
    )
    w, z = np.append(p.w, np.arange(inputs, inputs + m)), np.append(p.z, np.arange(outputs, outputs + m))
    return PlantPartition(wide, w, p.u, z, p.y)


@dataclass(frozen=True)
class _Problem:
    """tr(Q C'C) of a closed loop and its gradient by the numbers of the controller and the logarithms of the scales."""

    closed: ClosedLoop
    form: ControllerForm
    gamma: float
    rows: np.ndarray
    noises: int
    errors: int
    channels: int

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the controller and the scales."""
        return x[: self.form.count], np.exp(np.clip(x[self.form.count :], -FAR, FAR))

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the square of the bound and its gradient; infinite where there is none."""
        inner, scales = self.split(x)
        K = self.form.gain(inner)
        if not self.closed.outside(K) < 0.0:
            return np.inf, np.zeros_like(x)
        A, B, C, _ = self.closed.of(K)
        n, k, sampled = self.noises, self.errors, self.closed.period is not None
        weight = np.append(np.ones(n), np.sqrt(scales))
        noise, cost = B * weight, C[:k].T @ C[:k]
        lines, sizes = self._lines(scales)
        M = C[lines] * sizes[:, None]
        Q, flow, inner_cov = _auxiliary(A, noise, M, sampled)
        if Q is None:
            return np.inf, np.zeros_like(x)
        value = float(np.sum(cost * Q))
        P = Lyapunov(flow.T, sampled).solve(cost)
        back = Q @ (P - cost if sampled else P) @ Q
        on_noise, on_M = 2 * P @ noise, 2 * M @ back
        dC = np.zeros_like(C)
        dC[:k] = 2 * C[:k] @ Q
        np.add.at(dC, lines, on_M * sizes[:, None])
        dA = 2 * P @ A @ inner_cov if sampled else 2 * P @ Q
        slope = self.form.slope(inner, self.closed.back(K, dA, on_noise * weight, dC))
        by_scale = 0.5 * np.sum(on_noise * noise, axis=0)[n:]
        if self.channels:
            by_scale = by_scale - 0.5 * np.sum(on_M * M, axis=1)[-self.channels :]
        return value, np.append(slope, by_scale)

    def peak(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the gain that is below 1 exactly where there is a bound, and its gradient."""
        inner, scales = self.split(x)
        K = self.form.gain(inner)
        if not self.closed.outside(K) < 0.0:
            return np.inf, np.zeros_like(x)
        A, B, C, _ = self.closed.of(K)
        weight = np.append(np.ones(self.noises), np.sqrt(scales))
        lines, sizes = self._lines(scales)
        N, M, T = B * weight, C[lines] * sizes[:, None], self.closed.period
        omega = hinfnorm(of_matrices(A, N, M, np.zeros((len(M), N.shape[1])), T)).omega
        if not np.isfinite(omega):
            return np.inf, np.zeros_like(x)
        at = 1j * omega if T is None else np.exp(1j * omega * T)
        resolvent = np.linalg.inv(at * np.eye(len(A)) - A)
        U, s, Vh = np.linalg.svd(M @ resolvent @ N)
        u, v = U[:, 0], Vh[0].conj()
        left, right = (M @ resolvent).conj().T @ u, resolvent @ (N @ v)
        on_noise, on_M = np.outer(left.conj(), v).real, np.outer(u.conj(), right).real
        dC = np.zeros_like(C)
        np.add.at(dC, lines, on_M * sizes[:, None])
        slope = self.closed.back(K, np.outer(left.conj(), right).real, on_noise * weight, dC)
        by_scale = 0.5 * np.sum(on_noise * N, axis=0)[self.noises :]
        if self.channels:
            by_scale = by_scale - 0.5 * np.sum(on_M * M, axis=1)[-self.channels :]
        return float(s[0]), np.append(self.form.slope(inner, slope), by_scale)

    def _lines(self, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of C that are M, and their factors."""
        rows = self.rows if np.isfinite(self.gamma) else self.rows[:0]
        lines = np.append(rows, self.errors + np.arange(self.channels))
        sizes = np.append(np.full(len(rows), 1.0 / self.gamma), 1.0 / np.sqrt(scales))
        return lines.astype(int), sizes

    def sector_loop(self, x: np.ndarray) -> LinearModel:
        """Return the loop that the uncertain part of the actuators closes, scaled."""
        inner, scales = self.split(x)
        A, B, C, D = self.closed.of(self.form.gain(inner))
        own, seen, roots = slice(self.noises, None), slice(self.errors, None), np.sqrt(scales)
        return of_matrices(A, B[:, own] * roots, C[seen] / roots[:, None], D[seen, own], self.closed.period)


def _auxiliary(A: np.ndarray, noise: np.ndarray, M: np.ndarray, sampled: bool) -> tuple[Any, Any, Any]:
    """Return Q, the matrix of its linear equation, and S (sampled); None where there is no solution that counts."""
    V = noise @ noise.T
    if not len(M):
        Q = covariance(A, V, sampled)
        return Q, A, Q
    try:
        found = (dare if sampled else care)(A.T, M.T, V, -np.eye(len(M)))
    except (InputError, np.linalg.LinAlgError):
        return None, None, None
    Q = found.X
    values = np.linalg.eigvalsh(Q)
    if not values[0] >= -1e-9 * values[-1]:
        return None, None, None
    if not sampled:
        return Q, A + Q @ M.T @ M, Q
    inner = np.eye(len(M)) - M @ Q @ M.T
    if not np.linalg.eigvalsh(inner)[0] > 0:
        return None, None, None
    S = Q + Q @ M.T @ np.linalg.solve(inner, M @ Q)
    return Q, found.closed.T, S


def _start(
    problem: _Problem, wide: PlantPartition, p: PlantPartition, order: int, iterations: int, calm: float = 1.0
) -> np.ndarray:
    """Return the LQG controller of actuators with the middle gain, or its projection, and scales that suit it.

    With commands and noise of the sensors that weigh `calm` times as much its gain is lower.
    """
    period, n, k = p.model.period, len(p.w), len(p.z)
    B1, C1, D12, D21 = wide.B1[:, :n], wide.C1[:k], calm * wide.D12[:k], calm * wide.D21[:, :n]
    A, B2, C2 = wide.A, wide.B2, wide.C2
    control = riccati(A, B2, C1.T @ C1, D12.T @ D12, C1.T @ D12, period=period, method="glqg")
    seen = riccati(A.T, C2.T, B1 @ B1.T, D21 @ D21.T, B1 @ D21.T, period=period, method="glqg")
    F, L = control.gain, seen.gain.T
    inner = A - B2 @ F - L @ C2 + L @ wide.D22 @ F
    left, right = balance_full_order(wide, F, L, D21 @ D21.T, D12.T @ D12, order, period is not None)
    K = np.block([[np.zeros((len(p.u), len(p.y))), -F @ right], [left.T @ L, left.T @ inner @ right]])
    x = np.append(problem.form.parameters(K), np.zeros(problem.channels))
    if not problem.closed.outside(problem.form.gain(x[: problem.form.count])) < 0.0:
        x, off = _stabilize(problem, x, iterations)
        if off >= 0:
            raise NumericalError(
                f"glqg: no stabilizing controller of order {order} was found in {iterations} iterations; expected a higher order or more of them"
            )
    if problem.channels:
        x[problem.form.count :] = _first_scales(problem, x)
    return x


def _first_scales(problem: _Problem, x: np.ndarray) -> np.ndarray:
    """Return logarithms of the scales at which both ways in which a channel adds to the bound are equal, to first order."""
    A, B, C, _ = problem.closed.of(problem.form.gain(x[: problem.form.count]))
    n, k, sampled = problem.noises, problem.errors, problem.closed.period is not None
    Q = covariance(A, B[:, :n] @ B[:, :n].T, sampled)
    P = covariance(A.T, C[:k].T @ C[:k], sampled)
    pushes, sees = np.einsum("ni,nm,mi->i", B[:, n:], P, B[:, n:]), C[k:] @ Q
    seen = np.einsum("in,nm,im->i", sees, P, sees)
    return 0.5 * np.log(np.maximum(seen, 1e-300) / np.maximum(pushes, 1e-300))


def _search(
    problem: _Problem,
    begin: Callable[[float], np.ndarray],
    gamma: float,
    sector: tuple[float, float],
    starts: int,
    iterations: int,
    seed: int,
) -> tuple[np.ndarray, float, bool]:
    """Return the least bound: a controller that keeps the bounds by a margin first, then down from there."""
    rng, least = stream(seed), np.inf
    found: list[tuple[np.ndarray, float, bool]] = []
    for k in range(max(starts, 1)):
        x = begin(CALM[min(k, len(CALM) - 1)])
        if k >= len(CALM):
            x = _stabilize(problem, x * np.exp(1.5 * rng.normal(size=x.size)), iterations)[0]
        if not np.isfinite(problem.value(x)[0]):
            x, peak, _ = descend(problem.peak, x, iterations, enough=INSIDE)
            least = min(least, peak)
        if np.isfinite(problem.value(x)[0]):
            found.append(descend(problem.value, x, iterations))
        if found and k + 1 >= len(CALM):
            break
    if found:
        return min(found, key=lambda search: search[1])
    asked = [f"gamma = {gamma:.4g}"] if np.isfinite(gamma) else []
    asked += [f"the sector ({sector[0]:g}, {sector[1]:g})"] if problem.channels else []
    raise NumericalError(
        f"glqg: no controller was found that keeps {' and '.join(asked)}; the gain that has to be below 1 came to {least:.4g}; "
        "expected wider bounds, a higher order or more starts"
    )


def _stabilize(problem: _Problem, x: np.ndarray, iterations: int) -> tuple[np.ndarray, float]:
    """Return numbers of a controller that stabilizes the plant, the scales as they are, and the largest real part of the poles."""
    every = FixedOrderProblem([problem.closed], problem.form, np.ones(1), np.zeros(1), DesignLimits())
    n = problem.form.count
    inner, off, _ = descend(every.abscissa, x[:n], iterations, enough=-ENOUGH * every.speed)
    return np.append(inner, x[n:]), off
