"""Subspace identification: states of a predictor from past data, then the model of least prediction errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from articulus.design.fits.least_squares import LeastSquares, least_squares, triangle
from articulus.design.modal.halves import ConjugateHalves, upper_half
from articulus.design.modal.modal_fit import ModalFit, modal_model, pole_deviations
from articulus.design.modal.past import Past, past
from articulus.design.modal.samples import RecordSamples, require_order
from articulus.design.modal.verdict import explained, judge, root_mean_squares
from articulus.errors import NumericalError
from articulus.numerics.lyapunov import one_thread
from articulus.study.records import Record

STEPS = 15
"""Gauss-Newton steps on the prediction errors."""
CLOSE = 0.02
"""Steps of fewer standard deviations than this are not taken any more."""
INSIDE = 0.995
"""Radius to which poles are brought whose predictor is not stable."""
NOISIER = 1.5
"""Sum of squares without a Kalman gain, over that of the regression, up to which the outputs' own noise may explain the rest."""
LOOKS = 4
"""Steps after which that is asked."""
SURE = 6.0
"""Standard deviations by which a Kalman gain must lower the sum of squares to count."""


def subspace_fit(
    record: Record,
    inputs: str | Sequence[str],
    outputs: str | Sequence[str],
    order: int,
    *,
    horizon: int | None = None,
    validation: float = 0.2,
) -> ModalFit:
    """Return a sampled model of given order, with the gain of its Kalman filter and standard deviations of its modes.

    States are the leading directions of what a horizon of past inputs and outputs says about the future (predictor-based subspace
    identification); from there Gauss-Newton steps make the prediction errors least, so that the deviations are those of maximum likelihood.

    Parameters
    ----------
    record : Record
        Evenly sampled, without gaps; data of a closed loop will do.
    inputs, outputs : str or sequence of str
        Its columns; no inputs where noise alone excites.
    order : int
        States, two for each mode.
    horizon : int
        Samples of the past; if not given, that of the least information criterion of Akaike.
    validation : float [-]
        Last part of the record that is held out.

    Notes
    -----
    Source: Chiuso 2007 (predictor-based subspaces), Ljung 1999, chapters 7 and 9 (prediction errors, their covariance).
    """
    whole = RecordSamples.of("subspace_fit", record, inputs, outputs)
    order = require_order("subspace_fit", order, whole)
    s, held_out = whole.split(validation)
    regression = past("subspace_fit", s, order, horizon)
    with one_thread():
        start, sizes = _states(regression, s, order)
        factor = np.linalg.inv(np.linalg.cholesky(regression.noise)).T
        fit, end = _least_errors(_Predictor.of(start, s), factor)
        z, D = fit.split(end.x)
        residuals = fit.residuals(end.x, np.eye(s.y.shape[1]))[0].reshape(s.y.shape)
        errors = fit.errors(end)
    nu, ny = s.u.shape[1], s.y.shape[1]
    values, c = z[:, 0], z[:, 2 + nu + ny : -1].T
    name = f"{s.name}: order {order}"
    model = modal_model(
        values, (z[:, 1 : 1 + nu], c), D[:, :nu], s.period, s.inputs, s.outputs, s.units, name
    )
    innovations = modal_model(values, (z[:, 2 + nu : 2 + nu + ny], c), np.eye(ny), s.period, s.outputs, s.outputs, (s.units[1],) * 2, name)  # fmt: skip
    poles = np.log(values) / s.period
    deviations = pole_deviations(poles, fit.derivatives_of_poles @ errors / (values * s.period)[:, None])
    reason = "the order is too low, or the record holds something that is not linear"
    doubts = judge("subspace_fit", s, residuals, values, sizes, order, reason)
    return ModalFit(
        s.in_units(model), poles, *deviations, innovations.B / s.y_size, sizes[: 4 * order], regression.horizon, root_mean_squares(s, residuals),
        explained(model, held_out or s), residuals * s.y_size, doubts,
    )  # fmt: skip


def _least_errors(fit: _Predictor, factor: np.ndarray) -> tuple[_Predictor, LeastSquares]:
    """Return the model of least prediction errors: without a Kalman gain where the outputs' own white noise explains what is left."""
    plain = fit.without_gain()
    if plain:
        end = plain.solve(factor, LOOKS)
        if np.sum(end.residuals**2) > NOISIER * len(end.residuals):  # in units of the regression's noise
            return fit, fit.solve(factor)
        plain = replace(plain, z=plain.split(end.x)[0], D=plain.split(end.x)[1])
        end = plain.solve(factor)
        z, D = plain.split(end.x)
        r, J = replace(plain, z=z, D=D, free=fit.free).residuals_at_start(factor)
        T = triangle(J / np.maximum(np.linalg.norm(J, axis=0), 1e-300), r)
        lowered = float(r @ r) - float(T[-1, -1] ** 2)
        gains = int(T.shape[1]) - 1 - len(end.x)
        noise = float(r @ r) / max(len(r) - len(end.x), 1)
        chance = noise * (gains + SURE * np.sqrt(2 * gains))
        if lowered <= chance:
            return plain, end
        more = fit.solve(factor)
        if float(r @ r) - float(more.residuals @ more.residuals) <= chance:
            return plain, end
        return fit, more
    return fit, fit.solve(factor)


Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _states(found: Past, s: RecordSamples, order: int) -> tuple[Matrices, np.ndarray]:
    """Return A, [B, K], C, D by least squares on estimated states; and singular values."""
    nu, p, ny = s.u.shape[1], found.horizon, s.y.shape[1]
    blocks = np.zeros((p, ny, p, nu + ny))
    for i in range(p):  # row block i: the future after i samples; what is beyond the horizon is zero
        blocks[i, :, : p - i] = found.markov[i:].transpose(1, 0, 2)
    M = blocks.reshape(p * ny, -1)
    Z = found.data[:, nu + 1 :]
    U, sizes, _ = np.linalg.svd(M @ np.asarray(np.linalg.qr(Z, mode="r")).T, full_matrices=False)
    x = Z @ (M.T @ (U[:, :order] / np.sqrt(np.maximum(sizes[:order], 1e-300))))
    u, y = s.u[found.first :], s.y[found.first :]
    CD = np.linalg.lstsq(np.hstack([x, u]), y, rcond=None)[0].T
    C, D = CD[:, :order], CD[:, order:]
    e = y - x @ C.T - u @ D.T
    next_x = np.linalg.lstsq(np.hstack([x, u, e])[:-1], x[1:], rcond=None)[0].T
    return (next_x[:, :order], next_x[:, order:], C, D), sizes


def _both(halves: ConjugateHalves, z: np.ndarray) -> np.ndarray:
    """Return rows of all modes: of each pair the half that is kept, then its conjugate."""
    rows = [[r, r.conj()] if pair else [r] for r, pair in zip(z, halves.pair)]
    return np.array([r for some in rows for r in some])


@dataclass(frozen=True, eq=False)
class _Predictor:
    """x_i' = a_i x_i + b_i u + k_i e, y = sum c_i x_i (and conjugates) + D u + e; z = [a, b, k, c, x0] of each mode are the parameters, then D.

    One entry of c is held for each mode: the scale of its state is free. The last input is 1, with b = 0: an offset of the outputs.
    """

    s: RecordSamples
    halves: ConjugateHalves
    z: np.ndarray
    free: np.ndarray
    D: np.ndarray

    @classmethod
    def of(cls, start: Matrices, s: RecordSamples) -> _Predictor:
        A, BK, C, D = start
        nu = s.u.shape[1]
        BK, D = np.insert(BK, nu, 0.0, axis=1), np.insert(D, nu, 0.0, axis=1)
        s = replace(s, u=np.hstack([s.u, np.ones((len(s), 1))]))
        values, right = np.linalg.eig(A)
        left = np.linalg.inv(right)
        where, halves = upper_half(values)
        b, c = (left @ BK)[where], (C @ right)[:, where].T
        held = np.argmax(np.abs(c) / s.y.std(axis=0), axis=1)
        scale = c[np.arange(len(c)), held]
        z = np.column_stack([values[where], b * scale[:, None], c / scale[:, None], np.zeros(len(c))])
        free = np.ones(z.shape, dtype=bool)
        free[np.arange(len(z)), 1 + b.shape[1] + held] = False
        free[:, 1 + nu] = False
        made = cls(s, halves, z, free, D)
        if not made.is_stable(z):  # the model alone, which forgets
            ny = s.y.shape[1]
            z[:, 2 + nu : 2 + nu + ny] = 0.0
            z[:, 0] *= np.minimum(1.0, INSIDE / np.abs(z[:, 0]))
        return made._with_first_state()

    def _with_first_state(self) -> _Predictor:
        """Return the same with the first state of least squares."""
        only = np.zeros(self.free.shape, dtype=bool)
        only[:, -1] = True
        rest = replace(self, free=only)
        r, J = rest.residuals(rest.start, np.eye(self.s.y.shape[1]))
        J = J[:, : J.shape[1] - self.D.size]
        x = -np.linalg.lstsq(J, r, rcond=1e-10)[0]
        return replace(self, z=self.halves.unpack(x, self.z, only))

    def without_gain(self) -> _Predictor | None:
        """Return the same without a Kalman gain; None where the model itself does not forget."""
        nu, ny = self.s.u.shape[1], self.s.y.shape[1]
        gain = slice(1 + nu, 1 + nu + ny)
        z, free = self.z.copy(), self.free.copy()
        z[:, gain], free[:, gain] = 0.0, False
        return replace(self, z=z, free=free)._with_first_state() if self.is_stable(z) else None

    def residuals_at_start(self, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals and derivatives at the numbers that this was made with."""
        return self.residuals(self.start, factor)

    def solve(self, factor: np.ndarray, most: int = STEPS) -> LeastSquares:
        """Return the least prediction errors near the start, after so many steps at most."""
        free = np.full(len(self.start), np.inf)
        return least_squares(
            lambda x: self.residuals(x, factor), self.start, self.size, -free, free, most, CLOSE
        )

    @property
    def start(self) -> np.ndarray:
        return np.concatenate([self.halves.pack(self.z, self.free), self.D.ravel()])

    @property
    def size(self) -> np.ndarray:
        """Size of each parameter: that of the largest of its kind."""
        kinds = np.abs(self.z).max(axis=0)
        each = self.halves.pack(np.broadcast_to(kinds * (1 + 1j), self.z.shape), self.free)
        d = np.maximum(np.abs(self.D), np.std(self.s.y) / np.sqrt(np.mean(self.s.u**2)))
        return np.maximum(np.concatenate([each, d.ravel()]), 1e-300)

    @property
    def derivatives_of_poles(self) -> np.ndarray:
        """Derivatives of a by the real parameters, (modes, parameters)."""
        m = len(self.z)
        by = np.zeros((m, *self.z.shape), dtype=complex)
        by[np.arange(m), np.arange(m), 0] = 1.0
        return np.concatenate(
            [self.halves.of_function(by, 0 * by, self.free), np.zeros((m, self.D.size))], axis=1
        )

    @staticmethod
    def errors(end: LeastSquares) -> np.ndarray:
        """Return E with E E' the covariance of the parameters."""
        size = np.maximum(np.linalg.norm(end.jacobian, axis=0), 1e-300)
        variance = float(end.residuals @ end.residuals) / max(len(end.residuals) - len(end.x), 1)
        _, spread, V = np.linalg.svd(np.asarray(np.linalg.qr(end.jacobian / size, mode="r")))
        kept = spread > 1e-10 * spread[0]
        return np.asarray((V[kept].T / spread[kept]) * np.sqrt(variance) / size[:, None])

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return z and D of parameters."""
        nd = self.D.size
        return self.halves.unpack(x[: len(x) - nd], self.z, self.free), x[len(x) - nd :].reshape(self.D.shape)

    def _matrices(self, z: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return A (a diagonal), B, K, C and the first state over all modes."""
        nu, ny = self.s.u.shape[1], self.s.y.shape[1]
        a, B, K, c, x0 = np.split(_both(self.halves, z), [1, 1 + nu, 1 + nu + ny, 1 + nu + 2 * ny], axis=1)
        return a[:, 0], B, K, c.T, x0[:, 0]

    def is_stable(self, z: np.ndarray) -> bool:
        """Whether the predictor, A - K C, forgets."""
        a, _, K, C, _ = self._matrices(z)
        return bool((np.abs(np.linalg.eigvals(np.diag(a) - K @ C)) < 1.0).all())

    def residuals(self, x: np.ndarray, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weighted prediction errors, (samples outputs,), and their derivatives.

        The predictor is diagonal in coordinates of its own, so that all derivatives are sums of signals through filters of first order.
        """
        z, D = self.split(x)
        a, B, K, C, x0 = self._matrices(z)
        mu, T = np.linalg.eig(np.diag(a) - K @ C)
        if not (np.abs(mu) < 1.0).all():
            raise NumericalError("subspace_fit: the predictor is not stable")
        W = np.linalg.inv(T)
        up, own = upper_half(mu)
        u, y = self.s.u, self.s.y
        (n, ny), nu = y.shape, u.shape[1]
        share = own.share
        begin = np.zeros(n)
        begin[0] = 1.0
        run = [lambda signal, pole=p: lfilter([0, 1], [1, -pole], signal, axis=0) for p in mu[up]]
        data = [f(np.hstack([u, y])) for f in run]
        kept = np.array([lfilter([1], [1, -p], begin) for p in mu[up]])
        drive = (W @ np.hstack([B - K @ D, K]))[up]
        xi = (
            np.array([d @ w for d, w in zip(data, drive)]) + (W @ x0)[up, None] * kept
        )  # (modes of the predictor, n)
        count = np.where(self.halves.pair, 2, 1)
        at = np.cumsum(count) - count  # of the kept half; its conjugate is next
        other = np.minimum(at + 1, len(a) - 1)
        CT = (C @ T)[:, up] * share  # y = Re sum CT xi
        e = y - (xi.T @ CT.T).real - u @ D.T
        states = T[at][:, up] @ xi + T[at][:, _conjugates(up, own, len(mu))] @ np.where(
            own.pair[:, None], xi.conj(), 0.0
        )
        by = np.zeros((n, ny, *z.shape), dtype=complex)
        conjugate = np.zeros_like(by)
        through = np.zeros((n, ny, ny, nu))
        kC = slice(1 + nu + ny, 1 + nu + 2 * ny)
        for j, f in enumerate(run):
            filtered, filtered_e = f(np.hstack([states.T, states.conj().T])), f(e)
            first, second = np.split(filtered, 2, axis=1)
            w, wc = W[up[j], at], np.where(self.halves.pair, W[up[j], other], 0.0)
            out = CT[:, j]
            for target, weight, state in ((by, w, first), (conjugate, wc, second)):
                target[..., 0] += np.einsum("o,i,ti->toi", out, weight, state)
                target[..., 1 : 1 + nu] += np.einsum("o,i,tu->toiu", out, weight, data[j][:, :nu])
                target[..., 1 + nu : 1 + nu + ny] += np.einsum("o,i,te->toie", out, weight, filtered_e)
                target[..., -1] += np.einsum("o,i,t->toi", out, weight, kept[j])
            wK = W[up[j]] @ K
            by[..., kC] -= np.einsum("o,k,ti->toik", out, wK, first)
            conjugate[..., kC] -= np.einsum("o,k,ti->toik", out, wK, np.where(self.halves.pair, second, 0.0))
            through -= np.einsum("o,k,tl->tokl", out, wK, data[j][:, :nu]).real
        for k in range(ny):
            by[:, k, :, kC.start + k] += states.T
            conjugate[:, k, :, kC.start + k] += np.where(self.halves.pair, states.conj().T, 0.0)
            through[:, k, k, :] += u
        flat = lambda z: z.reshape(n * ny, *z.shape[2:])  # noqa: E731
        J = self.halves.of_function(flat(by), flat(conjugate), self.free).real.reshape(n, ny, -1)
        J = np.concatenate([J, through.reshape(n, ny, -1)], axis=2)
        return (e @ factor).ravel(), -np.einsum("nap,ab->nbp", J, factor).reshape(n * ny, -1)


def _conjugates(up: np.ndarray, halves: ConjugateHalves, count: int) -> np.ndarray:
    """Return the places of the conjugates of eigenvalues: numpy puts each behind the one above the real axis."""
    return np.where(halves.pair, np.minimum(up + 1, count - 1), up)
