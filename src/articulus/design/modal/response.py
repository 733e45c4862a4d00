"""A linear model from a measured frequency response: common poles by vector fitting, then least squares in all numbers of the modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.design.fits.least_squares import least_squares
from articulus.design.modal.halves import ConjugateHalves, upper_half
from articulus.design.modal.modal_fit import ModalFit, modal_model, pole_deviations
from articulus.errors import InputError, doubtful
from articulus.numerics.lyapunov import one_thread

ROUNDS = 30
"""Relocations of the poles."""
STILL = 1e-10
"""Change of the poles, over their size, at which they have settled."""
STEPS = 30
"""Gauss-Newton steps."""
POOR = 0.1
"""Root-mean-square of the residuals, over the response, above which a fit is doubted."""


def response_fit(
    omega: Any,
    response: Any,
    order: int,
    *,
    deviations: Any = None,
    through: bool = True,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    name: str = "frequency response",
) -> ModalFit:
    """Return the continuous model of given order whose frequency response is nearest to a measured one.

    Parameters
    ----------
    omega : array, (n,) [rad/s]
    response : complex array, (n, outputs, inputs) or (n,)
    order : int
        States, two for each mode.
    deviations : array like `response`
        Standard deviations of it, which weigh; alike everywhere if not given.
    through : bool
        Whether the model has a direct term D.
    inputs, outputs : sequence of str
        u.0, y.0 and so on if not given.
    name : str
        Name of the model.

    Notes
    -----
    Each mode has one state for each pole, so that residues are products c b. Source: Gustavsen & Semlyen 1999 (poles).
    """
    w, H, weight = _check(omega, response, deviations, order)
    ny, nu = H.shape[1:]
    with one_thread():
        p = _relocate(w, H, weight, order, through)
        fit = _Residues.of(p, w, H, weight, through)
        free = np.full(len(fit.start), np.inf)
        end = least_squares(fit.residuals, fit.start, fit.size, -free, free, STEPS)
        z, D = fit.split(end.x)
        scale = np.maximum(np.linalg.norm(end.jacobian, axis=0), 1e-300)
        _, spread, V = np.linalg.svd(np.asarray(np.linalg.qr(end.jacobian / scale, mode="r")))
        variance = float(end.residuals @ end.residuals) / max(len(end.residuals) - len(end.x), 1)
        kept = spread > 1e-10 * spread[0]
        errors = (V[kept].T / spread[kept]) * np.sqrt(variance) / scale[:, None]
    poles = z[:, 0]
    by = np.zeros((len(poles), *z.shape), dtype=complex)
    by[np.arange(len(poles)), np.arange(len(poles)), 0] = 1.0
    derivative = np.concatenate(
        [
            fit.halves.of_function(by, 0 * by, fit.free),
            np.zeros((len(poles), len(end.x) - fit.free.sum() - (fit.free & fit.halves.pair[:, None]).sum())),
        ],
        axis=1,
    )
    units = (("-",) * nu, ("-",) * ny)
    names = (
        tuple(inputs) or tuple(f"u.{i}" for i in range(nu)),
        tuple(outputs) or tuple(f"y.{i}" for i in range(ny)),
    )
    model = modal_model(poles, (z[:, 1 : 1 + nu], z[:, 1 + nu :].T), D, None, *names, units, name)
    left = (model.response(w) - H).reshape(len(w), -1)
    size = np.sqrt(np.mean(np.abs(H.reshape(len(w), -1)) ** 2, axis=0))
    rms = np.sqrt(np.mean(np.abs(left) ** 2, axis=0))
    labels = [f"{o} by {i}" for o in names[1] for i in names[0]]
    doubts = [
        f"the response {n} is missed by {100 * r / s:.3g} %"
        for n, r, s in zip(labels, rms, size)
        if r > POOR * s
    ]
    if not end.converged:
        doubts.append(f"no least squares were reached in {end.iterations} steps")
    for text in doubts:
        doubtful(f"response_fit: {text}")
    order_of = upper_half(poles)[0]
    spreads = pole_deviations(poles, derivative @ errors)
    return ModalFit(
        model, poles[order_of], spreads[0][order_of], spreads[1][order_of], spreads[2][order_of], None, np.zeros(0), 0, dict(zip(labels, rms.tolist())),
        {n: float(1 - (r / s) ** 2) for n, r, s in zip(labels, rms, size)}, np.zeros((0, ny)), tuple(doubts),
    )  # fmt: skip


def _check(
    omega: Any, response: Any, deviations: Any, order: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    w = np.asarray(omega, dtype=float)
    H = np.asarray(response, dtype=complex)
    H = H[:, None, None] if H.ndim == 1 else H
    if (
        w.ndim != 1
        or H.ndim != 3
        or len(H) != len(w)
        or not np.isfinite(H).all()
        or not (np.diff(w) > 0).all()
        or not (w >= 0).all()
    ):
        raise InputError(
            f"response_fit: found frequencies of shape {w.shape} and a response of shape {H.shape}; expected rising frequencies (n,) and finite numbers "
            "(n, outputs, inputs)"
        )
    spread = np.asarray(1.0 if deviations is None else deviations, dtype=float)
    spread = np.broadcast_to(spread[:, None, None] if spread.ndim == 1 else spread, H.shape)
    if not (spread > 0).all():
        raise InputError("response_fit: found a standard deviation that is not positive")
    if (
        not isinstance(order, (int, np.integer))
        or order < 1
        or 2 * H.size < 2 * order * (H.shape[1] + H.shape[2] + 1)
    ):
        raise InputError(
            f"response_fit: found order = {order!r} for {H.size} numbers; expected a whole number of states, and more numbers"
        )
    return w, H, 1.0 / (spread * np.sqrt(np.mean(np.abs(H) ** 2)))


def _basis(s: np.ndarray, p: np.ndarray, halves: ConjugateHalves) -> np.ndarray:
    """Return 1 / (s - p) as real combinations of each pair, (n, order)."""
    columns = []
    for value, pair in zip(p, halves.pair):
        one = 1 / (s - value)
        if pair:
            other = 1 / (s - value.conj())
            columns += [one + other, 1j * (one - other)]
        else:
            columns.append(one)
    return np.array(columns).T


def _relocate(w: np.ndarray, H: np.ndarray, weight: np.ndarray, order: int, through: bool) -> np.ndarray:
    """Return common poles by vector fitting, relaxed; one of each pair. Unstable ones are mirrored."""
    low = max(w[w > 0].min(), 1e-6 * w[-1])
    first = (
        np.geomspace(low, w[-1], order // 2) if low > 0.02 * w[-1] else np.linspace(low, w[-1], order // 2)
    )
    p = np.concatenate([first * (-0.01 + 1j), [-w[-1] + 0j] * (order % 2)])
    s = 1j * w
    for _ in range(ROUNDS):
        halves = ConjugateHalves(p.imag > 0)
        F = _basis(s, p, halves)
        own = np.hstack([F, np.ones((len(s), 1))]) if through else F
        blocks, sums = [], []
        for row in range(H.shape[1]):
            for column in range(H.shape[2]):
                h, g = H[:, row, column], weight[:, row, column, None]
                A = np.hstack([own * g, -h[:, None] * np.hstack([F, np.ones((len(s), 1))]) * g])
                R = np.asarray(np.linalg.qr(np.vstack([A.real, A.imag]), mode="r"))
                blocks.append(R[own.shape[1] :, own.shape[1] :])
                sums.append(np.linalg.norm(h * g[:, 0]))
        ones = np.hstack([F, np.ones((len(s), 1))]).real.sum(axis=0) * np.linalg.norm(sums) / len(s)
        A = np.vstack([*blocks, ones])
        b = np.zeros(len(A))
        b[-1] = np.linalg.norm(sums)
        scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        c = np.linalg.lstsq(A / scale, b, rcond=None)[0] / scale
        d = c[-1] if abs(c[-1]) > 1e-8 else 1e-8
        M, e = _real_block(p, halves)
        values = np.linalg.eigvals(M - np.outer(e, c[:-1]) / d)
        values = np.where(values.real > 0, -values.conj(), values)
        where, now = upper_half(values)
        moved = np.sort(np.abs(values)) - np.sort(np.abs(np.concatenate([p, p[halves.pair].conj()])))
        p = np.where(now.pair, values[where], values[where].real)
        if np.abs(moved).max() <= STILL * np.abs(p).max():
            break
    return p


def _real_block(p: np.ndarray, halves: ConjugateHalves) -> tuple[np.ndarray, np.ndarray]:
    """Return diag(p) in the coordinates of `_basis`, and the vector of ones."""
    n = int(halves.share.sum())
    M, e = np.zeros((n, n)), np.zeros(n)
    at = 0
    for value, pair in zip(p, halves.pair):
        if pair:
            M[at : at + 2, at : at + 2] = [[value.real, value.imag], [-value.imag, value.real]]
            e[at] = 2.0
        else:
            M[at, at], e[at] = value.real, 1.0
        at += 2 if pair else 1
    return M, e


@dataclass(frozen=True, eq=False)
class _Residues:
    """H = sum c_i b_i / (s - p_i) and conjugates + D; z = [p, b, c] of each mode. One entry of b is held: the scale of the state is free."""

    w: np.ndarray
    H: np.ndarray
    weight: np.ndarray
    halves: ConjugateHalves
    z: np.ndarray
    free: np.ndarray
    D: np.ndarray
    through: bool

    @classmethod
    def of(cls, p: np.ndarray, w: np.ndarray, H: np.ndarray, weight: np.ndarray, through: bool) -> _Residues:
        halves = ConjugateHalves(p.imag > 0)
        ny, nu = H.shape[1:]
        F = _basis(1j * w, p, halves)
        F = np.hstack([F, np.ones((len(w), 1))]) if through else F
        residues = np.zeros((F.shape[1], ny, nu))
        for row in range(ny):
            for column in range(nu):
                A, b = F * weight[:, row, column, None], H[:, row, column] * weight[:, row, column]
                residues[:, row, column] = np.linalg.lstsq(
                    np.vstack([A.real, A.imag]), np.concatenate([b.real, b.imag]), rcond=None
                )[0]
        z, at = [], 0
        for value, pair in zip(p, halves.pair):
            R = residues[at] + 1j * residues[at + 1] if pair else residues[at] + 0j
            U, sizes, V = np.linalg.svd(R)
            b, c = V[0], U[:, 0] * sizes[0]
            if not pair:
                turn = np.exp(-1j * np.angle(b[np.argmax(np.abs(b))]))
                b, c = b * turn, c / turn
            k = int(np.argmax(np.abs(b)))
            z.append(np.concatenate([[value], b / b[k], c * b[k]]))
            at += 2 if pair else 1
        rows = np.array(z)
        free = np.ones(rows.shape, dtype=bool)
        free[np.arange(len(rows)), 1 + np.argmax(np.abs(rows[:, 1 : 1 + nu]), axis=1)] = False
        D = residues[-1] if through else np.zeros((ny, nu))
        return cls(w, H, weight, halves, rows, free, D, through)

    @property
    def start(self) -> np.ndarray:
        return np.concatenate([self.halves.pack(self.z, self.free), self.D.ravel() if self.through else []])

    @property
    def size(self) -> np.ndarray:
        each = self.halves.pack(np.abs(self.z) * (1 + 1j), self.free)
        d = np.full(self.D.size if self.through else 0, np.sqrt(np.mean(np.abs(self.H) ** 2)))
        return np.maximum(np.concatenate([each, d]), 1e-300)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return z and D of parameters."""
        nd = self.D.size if self.through else 0
        z = self.halves.unpack(x[: len(x) - nd], self.z, self.free)
        return z, x[len(x) - nd :].reshape(self.D.shape) if nd else self.D

    def residuals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z, D = self.split(x)
        ny, nu = D.shape
        s = 1j * self.w
        model, by = np.broadcast_to(D + 0j, self.H.shape).copy(), []
        for conjugate in (False, True):
            zc = z.conj() if conjugate else z
            g = 1 / (s[:, None] - zc[:, 0])
            b, c = zc[:, 1 : 1 + nu], zc[:, 1 + nu :]
            counts = self.halves.pair if conjugate else np.ones(len(z), dtype=bool)
            term = np.einsum("wm,my,mu->wmyu", g * counts, c, b)
            model += term.sum(axis=1)
            out = np.zeros((len(s), ny, nu, *z.shape), dtype=complex)
            out[..., 0] = np.einsum("wm,wmyu->wyum", g, term)
            for u in range(nu):
                out[:, :, u, :, 1 + u] = np.einsum("wm,my->wym", g * counts, c)
            for y in range(ny):
                out[:, y, :, :, 1 + nu + y] = np.einsum("wm,mu->wum", g * counts, b)
            by.append(out.reshape(-1, *z.shape))
        J = self.halves.of_function(by[0], by[1], self.free)
        if self.through:
            J = np.hstack([J, np.tile(np.eye(D.size), (len(s), 1))])
        weight = self.weight.ravel()
        r = (model - self.H).ravel() * weight
        J = J * weight[:, None]
        return np.concatenate([r.real, r.imag]), np.vstack([J.real, J.imag])
