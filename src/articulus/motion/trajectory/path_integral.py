"""A sampling controller: many predictions with random inputs, weighted by their costs (model predictive path integral control).

At every sample the planned inputs move by one step, noise is added to them, the mechanism is predicted with each of thousands of noisy
sequences, and the new plan is their mean with the weights exp(-(S - least S) / temperature). Noise, steps, cost and limits of all
predictions are one native call. Planned is what is added to a base law, gravity(q) less a damping in proportion to the inertia that the
motors feel, and noise is of accelerations: forces alone, of the size of the limits, would throw light wrists about.

Source: Williams, Aldrich & Theodorou 2017.
"""

from __future__ import annotations

import hashlib
import itertools
import math

import casadi as ca
import numpy as np
from casadi import MX

from articulus import kernel
from articulus.errors import InputError
from articulus.motion.trajectory.normals import ROUNDS, WORD, pair, round_keys
from articulus.motion.trajectory.online import Online
from articulus.motion.trajectory.quantities import quantity
from articulus.motion.trajectory.stages import Stages

DAMPING = 2.5
"""Rate at which the base law brakes, over that of the horizon."""

OF_RANGE = 0.1
"""Largest standard deviation of positions by noise, over the range of the joint: a gripper of centimeters beside joints of radians."""


class PathIntegral(Online):
    """The sampling controller of a mechanism, called with t, q and v.

    Parameters
    ----------
    stages : Stages
        What is predicted and what it costs, such as those of `reaching`.
    samples : int
        Predictions at every call.
    noise : float or array, (nu,)
        Standard deviation of the noise: of the positions at the end of the horizon that it makes by itself [rad or m], by way of the
        inertia that the motors feel; of the inputs no more than this part of their sizes, of positions no more than a tenth of the range.
    temperature : float
        Over the spread of the costs (their standard deviation): small values follow the best predictions, large ones their mean.
    rho : float
        Weight of the squared violations of constraints over their sizes.
    offset_free : bool
        Whether constant forces that the model does not have, such as those of a payload, are estimated and made up for.
    """

    def __init__(
        self,
        stages: Stages,
        *,
        samples: int = 1024,
        noise: float | np.ndarray = 0.1,
        temperature: float = 0.1,
        rho: float = 1e3,
        offset_free: bool = True,
    ):
        if samples < 2 or not temperature > 0 or not (np.asarray(noise) > 0).all():
            raise InputError(
                f"path integral: found {samples} samples, temperature {temperature!r}, noise {noise!r}; expected at least 2 and numbers above zero"
            )
        self.samples, self.temperature = samples, temperature
        s, nu = stages, stages.nu
        function = _prediction(s)
        key = hashlib.sha256(function.serialize().encode()).hexdigest()
        self._loop = kernel.recurrence(key, lambda: [function], nu)
        self._end = kernel.compile(s.last_merit, finite=False, ranks=((1, 1, 0), (0,)))
        self._row = np.zeros((samples, self._loop.nx))
        self._p = np.zeros((samples, self._loop.np))
        self._p[:, ROUNDS] = np.arange(samples)
        self._p[:, ROUNDS + 1 :] = np.concatenate([[s.h, rho], np.zeros(2 * nu * nu), *s.box])
        self._w = np.zeros((s.steps + 1, nu))
        self._lost = np.full(samples, kernel.NEVER)
        self._log = np.zeros((samples, s.steps + 1, nu))
        self._passage = self._loop.on(self._row, self._p, self._w, self._lost, self._log)
        self._rho = float(rho)
        self._seed = 0
        super().__init__(stages, offset_free)
        width = np.subtract(self.mechanism.limits.upper, self.mechanism.limits.lower)[self._places]
        self._noise = np.minimum(noise * np.ones(nu), OF_RANGE * width)

    def seed(self, number: int) -> None:
        """Take the seed of a run: equal seeds give equal noise."""
        self._seed = int(number)

    def begin(self) -> None:
        """Forget the planned inputs."""
        self.u = np.zeros((self.stages.steps, self.stages.nu))
        self._count = 0

    def improve(self, x: np.ndarray) -> np.ndarray:
        """Return the inputs to apply now, (nu,), at a state x."""
        N, nu = self.stages.steps, self.stages.nu
        if self._count:
            self.u[:-1] = self.u[1:]
        self._count += 1
        costs = self._costs(x)
        spread = costs - costs.min()
        scale = float(np.std(spread[np.isfinite(spread)]))
        weights = (
            np.exp(-spread / (self.temperature * scale)) if scale > 0 else np.isfinite(spread).astype(float)
        )
        weights /= weights.sum()
        self.u = (weights @ self._log.reshape(self.samples, -1)).reshape(N + 1, nu)[1:]
        return self._applied(self.u[0], x)

    def _applied(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return planned inputs with the base law at a state, which holds the weight and brakes."""
        q, v = np.split(x, 2)
        weight = np.asarray(self.mechanism.gravity(q))[self._places]
        return np.clip(u + weight - self._drag @ v[self._places], *self.stages.box)

    def input_at(self, step: int, x: np.ndarray) -> np.ndarray:
        """Return the planned inputs of a step of the horizon, without noise, (nu,), at a state x."""
        return self._applied(self.u[step], x)

    def _costs(self, x: np.ndarray) -> np.ndarray:
        """Return the costs of all predictions from a state, infinite where one diverged; their inputs beyond the base law are in the log."""
        s, N, nx, nu = self.stages, self.stages.steps, self.stages.nx, self.stages.nu
        self._row[:] = 0.0
        self._row[:, nu : nu + nx] = x
        spread, self._drag = self._gains(x)
        self._p[:, ROUNDS + 3 : ROUNDS + 3 + 2 * nu * nu] = np.concatenate(
            [spread.T.ravel(), self._drag.T.ravel()]
        )
        self._p[:, :ROUNDS] = round_keys((self._seed % WORD, self._count % WORD))
        self._w[:N] = self.u
        self._lost[:] = kernel.NEVER
        self._passage(0, N)
        self._passage(N, N, closing=True)
        ends = np.ascontiguousarray(self._row[:, nu : nu + nx])
        costs = self._row[:, -1] + self._end(ends, np.zeros(len(s.last_rows)), self._rho)
        if not (self._lost == kernel.NEVER).any():
            raise self.lost(x)
        return np.where(self._lost == kernel.NEVER, costs, np.inf)

    def _gains(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the inputs that noise of unit variance gives and those that brake speeds of one, (nu, nu) each, by the inertia that motors feel.

        Column by column: each acceleration is drawn as large as all inputs that it takes allow, so that it remains one of its own joint alone.
        Accelerations of standard deviation a, new in each of N steps h, end at positions of standard deviation a h^2 sqrt(N^3 / 3).
        """
        s = self.stages
        mobility = np.ravel(self._moved(x, self.rest_input, s.h))[self.mechanism.nv :].reshape(s.nu, s.nu)
        felt = np.linalg.inv(mobility)
        spread = felt * self._noise / (s.h**2 * np.sqrt(s.steps**3 / 3))
        most = self._noise * s.input_scale
        allowed = np.min(most[:, None] / np.maximum(np.abs(spread), 1e-300), axis=0)
        return spread * np.minimum(1.0, allowed), DAMPING / (s.h * s.steps) * felt


def _prediction(s: Stages) -> ca.Function:
    """Return (inputs beyond the base law, state, cost) after one noisy step."""
    assert s.mechanism is not None
    nx, nu = s.nx, s.nu
    held, w, k = MX.sym("held", nu + nx + 1), MX.sym("w", nu), MX.sym("k")
    sizes = (ROUNDS, 1, 1, 1, nu * nu, nu * nu, nu, nu)
    p = MX.sym("p", sum(sizes))
    ends = itertools.accumulate(sizes)
    keys, row, h, rho, spread, drag, low, high = (p[end - n : end] for n, end in zip(sizes, ends))
    pairs, normal = math.ceil(nu / 2), pair()
    noise = ca.vertcat(*(normal(keys, row, pairs * k + j) for j in range(pairs)))[:nu]
    x = held[nu : nu + nx]
    plan = w + ca.mtimes(ca.reshape(spread, nu, nu), noise)
    weight = quantity(s.mechanism, "gravity")(x[: nx // 2])
    braked = (
        plan
        + ca.mtimes(s.motors.T, weight)
        - ca.mtimes(ca.reshape(drag, nu, nu), ca.mtimes(s.motors.T, x[nx // 2 :]))
    )
    u = ca.fmin(ca.fmax(braked, low), high)
    after, f = s.step(x, u, h)
    cost = held[nu + nx] + s.merit(x, u, f, h, MX.zeros(len(s.rows)), rho)
    return ca.Function("prediction", [held, p, w, k], [ca.vertcat(plan, after, cost)])
