"""Motions that make inertial parameters show in the joint forces: Fourier series of least uncertainty within limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.optimize

from articulus.design.base_parameters import BaseParameters, independent_combinations
from articulus.design.regression import Regression
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.model.mechanism.named import limit_arrays
from articulus.motion.motion import Motion, MotionState
from articulus.numerics.lyapunov import one_thread
from articulus.numerics.streams import stream

ROUND = 12
"""Power of the norm that stands for the largest value while the search runs: smooth, and above 85 % of it."""
STATES = 16
"""States in a period for every harmonic, at which the regressor is taken."""
FINE = 64
"""States in a period for every harmonic, at which limits are examined; between them a series of degree n may be 1 / cos(pi n / states)
times as large, and that is counted (Ehlich & Zeller 1964)."""
DIFFERENCE = 1e-5
"""Step of the differences by positions, over a large displacement."""
SLOWER, SLOWEST = 1.1, 30
"""Factor by which a motion is slowed down while its forces are too large, and how often."""


@dataclass(frozen=True, eq=False)
class Excitation(Motion):
    """A periodic motion from rest to rest: q_j = center_j + sum_k (a_jk sin(k w t) + b_jk cos(k w t)), zero speed and acceleration at both ends.

    Parameters
    ----------
    mechanism : Mechanism
    period : float [s]
    center : array, (nv,)
    sines, cosines : array, (nv, harmonics)
        a, b.
    cycles : int
        Periods of the motion.
    base : BaseParameters
        Combinations that the motion tells, with the condition number of their regressor.
    deviations : array, (nb,)
        Standard deviations of the combinations after one period with 100 samples for every harmonic and noise of 1 % of each joint's force, rms
        over random states.
    start_condition, gain : float
        Condition number of the random motion from which the search began; the mean axis of its ellipsoid of uncertainty over that here.
    """

    mechanism: Mechanism
    period: float
    center: np.ndarray
    sines: np.ndarray
    cosines: np.ndarray
    cycles: int
    base: BaseParameters
    deviations: np.ndarray
    start_condition: float
    gain: float

    @property
    def condition(self) -> float:
        """Condition number of the base regressor, columns of unit length, each joint in units of its rms force."""
        return self.base.condition

    @cached_property
    def t(self) -> np.ndarray:
        """Times, (points,) [s]."""
        return np.linspace(0.0, self.cycles * self.period, self.cycles * FINE * self.sines.shape[1] + 1)

    @property
    def breakpoints(self) -> np.ndarray:
        """The series is smooth from start to end."""
        return self.t[[0, -1]]

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., nv) each."""
        inside = np.clip(np.asarray(t, dtype=float), 0.0, self.cycles * self.period)
        q, v, vdot = series(self.center, self.sines, self.cosines, self.period, inside)
        tau = self.mechanism.inverse_dynamics(q, v, vdot)
        return MotionState(q, v, vdot, tau)

    def table(self) -> str:
        """Return condition numbers and the worst known combinations as a text."""
        order = np.argsort(-self.deviations)
        rows = [f"  {self.base.base_names[i]}: +- {self.deviations[i]:.2g}" for i in order[:5]]
        head = (
            f"condition number {self.condition:.3g} (random motion: {self.start_condition:.3g}), {len(self.base)} combinations, on average {self.gain:.3g} "
            "times as well known; least known:"
        )
        return "\n".join([head, *rows])


def excitation(
    mechanism: Mechanism,
    period: float = 10.0,
    *,
    harmonics: int = 5,
    terms: str | Sequence[str] = (),
    velocity_limit: Any = None,
    acceleration_limit: Any = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    cycles: int = 1,
    criterion: Literal["volume", "condition"] = "volume",
    seed: int = 0,
    iterations: int = 60,
) -> Excitation:
    """Return a motion that makes the inertial parameters show as well as limits allow.

    With W the base regressor, each joint in units of its rms force: "volume" maximizes the determinant of W'W, which makes the volume of the
    ellipsoid of uncertainty smallest, in whatever units; "condition" minimizes the condition number of W with columns of unit length.

    Parameters
    ----------
    mechanism : Mechanism
        A tree of rigid bodies with revolute and sliding joints. Limits of its joints (position, speed, effort) are kept at all times.
    period : float [s]
        Longer where efforts would be too large.
    harmonics : int
        Harmonics of the series, at least 3.
    terms : str or sequence of str
        Of "armature", "damping", "coulomb", "offset": what is unknown as well.
    velocity_limit, acceleration_limit : number or array, (nv,) [rad/s or m/s, and per s]
        Largest, where the model has no limit or less is wanted.
    ranges : dict of joint to (lower, upper) [rad or m]
        In place of the model's limits. Joints without limits move within half a turn (slides: the mechanism's length).
    cycles : int
        Periods of the motion: averages over them lower the noise.
    criterion : "volume" or "condition"
    seed : int
        Seed of the start.
    iterations : int
        Iterations of the search.

    Notes
    -----
    Source: Swevers et al. 1997 (series, determinant), Gautier & Khalil 1992 (condition number).
    """
    if criterion not in ("volume", "condition"):
        raise InputError(f"excitation: found criterion = {criterion!r}; expected 'volume' or 'condition'")
    search = _Search.of(
        mechanism, period, harmonics, terms, velocity_limit, acceleration_limit, ranges, criterion
    )
    random = stream(seed).normal(size=search.size)
    with one_thread():
        end = scipy.optimize.minimize(
            search.objective, random, jac=True, method="L-BFGS-B", options={"maxiter": iterations}
        )
        first, last = search.motion(random, cycles), search.motion(end.x, cycles)
    return replace(last, start_condition=first.condition, gain=last.gain / first.gain)


def series(
    center: np.ndarray, sines: np.ndarray, cosines: np.ndarray, period: float, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations of the series at times, (..., nv) each."""
    w = 2 * np.pi / period * np.arange(1, sines.shape[1] + 1)
    phase = np.asarray(t)[..., None] * w
    s, c = np.sin(phase), np.cos(phase)
    return (
        center + s @ sines.T + c @ cosines.T,
        (c * w) @ sines.T - (s * w) @ cosines.T,
        -((s * w**2) @ sines.T) - (c * w**2) @ cosines.T,
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """From free coefficients to a motion within limits, and to the determinant with its gradient."""

    regression: Regression
    period: float
    harmonics: int
    center: np.ndarray
    half: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray
    independent: np.ndarray
    noise: np.ndarray
    effort: np.ndarray
    criterion: str

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        period: float,
        harmonics: int,
        terms: str | Sequence[str],
        velocity: Any,
        acceleration: Any,
        ranges: Mapping[str, tuple[float, float]] | None,
        criterion: str,
    ) -> _Search:
        regression = Regression(mechanism, (terms,) if isinstance(terms, str) else tuple(terms))
        d, nv = mechanism.description, mechanism.nv
        if any(c.joint.nq != c.joint.nv for c in d.connections):
            raise UnsupportedOperation(
                f"excitation of '{mechanism.name}': it has joints with quaternions; expected revolute and sliding joints. Lock them, or move them by hand"
            )
        if not (np.isfinite(period) and period > 0 and harmonics >= 3 and nv):
            raise InputError(
                f"excitation: found period = {period!r}, harmonics = {harmonics!r} for {nv} joints; expected a positive time, at least 3 harmonics, and a "
                "joint that moves"
            )
        limits, large = limit_arrays(d), np.pi * d.scales().displacement
        lower = np.where(np.isfinite(limits.lower), limits.lower, -large)
        upper = np.where(np.isfinite(limits.upper), limits.upper, large)
        for name, (low, high) in (ranges or {}).items():
            if name not in d.v_slices:
                raise InputError(f"excitation: no joint '{name}'; {did_you_mean(name, list(d.v_slices))}")
            lower[d.v_slices[name]], upper[d.v_slices[name]] = low, high
        if not (upper > lower).all():
            raise InputError("excitation: found a range without room; expected lower below upper")
        speed = np.minimum(limits.velocity, _limit("velocity_limit", velocity, nv))
        center, half = (lower + upper) / 2, (upper - lower) / 2
        most = _limit("acceleration_limit", acceleration, nv)
        q = mechanism.random_position(0, 200, reach=d.scales().length)
        w = 2 * np.pi / period
        random = stream(0)
        v, vdot = random.normal(size=(2, 200, nv)) * half * 0.5 * np.array([w, w * w])[:, None, None]
        Y = regression.matrix(q, v, vdot)
        base = independent_combinations(regression, Y * d.scales().displacement[:, None])
        force = np.linalg.norm(Y @ regression.values(), axis=0) / np.sqrt(len(Y))
        noise = np.where(force > 0, force, force.max(initial=0.0) or 1.0)
        return cls(
            regression,
            period,
            harmonics,
            center,
            half,
            speed,
            most,
            base.independent,
            noise,
            limits.effort,
            criterion,
        )

    @property
    def size(self) -> int:
        """Number of free coefficients."""
        return len(self.center) * (2 * self.harmonics - 2)

    @cached_property
    def free(self) -> np.ndarray:
        """Coefficients [a, b] of free ones: those with zero speed and acceleration at both ends, (2 harmonics, free)."""
        k = np.arange(1, self.harmonics + 1)
        still = np.zeros((2, 2 * self.harmonics))
        still[0, : self.harmonics], still[1, self.harmonics :] = k, k**2
        return scipy.linalg.null_space(still) / np.concatenate([k, k])[:, None].mean()

    @cached_property
    def shapes(self) -> np.ndarray:
        """Position, velocity and acceleration of each free coefficient at the states, (3, states, free)."""
        t = np.arange(STATES * self.harmonics) * self.period / (STATES * self.harmonics)
        return self._shapes(t)

    def _shapes(self, t: np.ndarray) -> np.ndarray:
        a, b = np.split(self.free, 2)
        return np.array(series(np.zeros(a.shape[1]), a.T, b.T, self.period, t))

    @property
    def bounds(self) -> np.ndarray:
        """Largest displacement, speed and acceleration of each joint, (3, nv)."""
        return np.array([self.half, self.speed, self.acceleration])

    def objective(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return what is minimized and its gradient by the free coefficients."""
        c = x.reshape(len(self.center), -1)
        raw = np.einsum("dtf,jf->dtj", self.shapes, c)
        shares = raw / self.bounds[:, None]
        size = np.sum(shares**ROUND, axis=(0, 1)) ** (1 / ROUND)
        states = raw / size
        value, by = self._criterion(self.center + states[0], states[1], states[2])
        direct = np.einsum("dtj,dtf->jf", by / size, self.shapes)
        by_size = -np.einsum("dtj,dtj->j", by, states) / size
        rounds = shares ** (ROUND - 1) / self.bounds[:, None]
        through = np.einsum("dtj,dtf->jf", rounds, self.shapes) * (size ** (1 - ROUND) * by_size)[:, None]
        return value, (direct + through).ravel()

    def _regressor(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
        """Return the base regressor, rows in units of each joint's noise, (states, nv, nb)."""
        return self.regression.matrix(q, v, vdot)[..., self.independent] / self.noise[:, None]

    def _criterion(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> tuple[float, np.ndarray]:
        """Return what is minimized and its derivatives by q, v, vdot of every state, (3, states, nv).

        The regressor is linear in vdot and quadratic in v, so that their differences are exact.
        """
        W = self._regressor(q, v, vdot)
        value, G = (_volume if self.criterion == "volume" else _condition)(W.reshape(-1, W.shape[-1]))
        G = G.reshape(W.shape)
        if not np.isfinite(value):
            return np.inf, np.zeros((3, *q.shape))
        by = np.empty((3, *q.shape))
        large = self.regression.mechanism.description.scales().displacement
        steps = (DIFFERENCE * large, large / self.period, large / self.period**2)
        for kind, step in enumerate(steps):
            for j, h in enumerate(step):
                ends = []
                for sign in (1.0, -1.0):
                    at = [q, v, vdot]
                    at[kind] = at[kind].copy()
                    at[kind][:, j] += sign * h
                    ends.append(self._regressor(*at))
                by[kind, :, j] = np.einsum("tij,tij->t", G, ends[0] - ends[1]) / (2 * h)
        return value, by

    def motion(self, x: np.ndarray, cycles: int) -> Excitation:
        """Return the motion of free coefficients, as large and as fast as limits allow."""
        period = self.period
        for _ in range(SLOWEST):
            made = self._motion(x, period, cycles)
            tau = np.asarray(made.at(made.t[: FINE * self.harmonics]).tau)
            if (np.abs(tau) <= self.effort).all():
                return made
            period *= SLOWER
        over = [n for n, k in zip(made.names, (np.abs(tau) > self.effort).any(axis=0)) if k]
        raise NumericalError(
            f"excitation: the limits of effort of {', '.join(over)} do not even hold the mechanism while it moves slowly; expected larger efforts or smaller "
            "ranges"
        )

    def _motion(self, x: np.ndarray, period: float, cycles: int) -> Excitation:
        moved = replace(self, period=period)
        c = x.reshape(len(self.center), -1)
        fine = FINE * self.harmonics
        raw = np.einsum("dtf,jf->dtj", moved._shapes(np.arange(fine) * period / fine), c)
        between = 1 / np.cos(np.pi * self.harmonics / fine)
        size = np.max(np.abs(raw) * between / self.bounds[:, None], axis=(0, 1))
        a, b = np.split(self.free @ (c / size[:, None]).T, 2)
        t = np.arange(100 * self.harmonics) * period / (100 * self.harmonics)
        q, v, vdot = series(self.center, a.T, b.T, period, t)
        Y = self.regression.matrix(q, v, vdot) / self.noise[:, None]
        base = independent_combinations(self.regression, Y)
        W = Y[..., base.independent].reshape(-1, len(base))
        scale = np.linalg.norm(W, axis=0)
        R = np.asarray(np.linalg.qr(W / scale, mode="r"))
        inverse = scipy.linalg.solve_triangular(R, np.eye(len(base))) / scale[:, None]
        deviations = 0.01 * np.linalg.norm(inverse, axis=1)
        axis = float(np.exp(np.mean(np.log(np.abs(np.diag(R)) * scale))))
        m = self.regression.mechanism
        return Excitation(m, period, self.center, a.T, b.T, cycles, base, deviations, base.condition, axis)


def _volume(W: np.ndarray) -> tuple[float, np.ndarray]:
    """Return - log det W'W / 2 and its derivatives by W."""
    scale = np.linalg.norm(W, axis=0)
    R = np.asarray(np.linalg.qr(W / scale, mode="r"))
    diagonal = np.abs(np.diag(R))
    if not (diagonal > 0).all():
        return np.inf, np.zeros_like(W)
    inverse = scipy.linalg.solve_triangular(R, np.eye(len(R)))
    value = -float(np.sum(np.log(diagonal)) + np.sum(np.log(scale)))
    return value, -(W / scale) @ (inverse @ inverse.T) / scale


def _condition(W: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the logarithm of the condition number of W with columns of unit length, and its derivatives by W."""
    scale = np.linalg.norm(W, axis=0)
    U, sizes, V = np.linalg.svd(W / scale, full_matrices=False)
    if not sizes[-1] > 0:
        return np.inf, np.zeros_like(W)
    G = np.outer(U[:, 0], V[0]) / sizes[0] - np.outer(U[:, -1], V[-1]) / sizes[-1]
    return float(np.log(sizes[0] / sizes[-1])), (G - W / scale * np.sum(G * W / scale, axis=0)) / scale


def _limit(name: str, given: Any, nv: int) -> np.ndarray:
    limit = np.full(nv, np.inf) if given is None else np.broadcast_to(np.asarray(given, float), (nv,)).copy()
    if not (limit > 0).all():
        raise InputError(f"excitation: found {name} = {given!r}; expected positive numbers")
    return limit
