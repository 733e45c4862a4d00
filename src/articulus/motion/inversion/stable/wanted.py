"""The desired motion of the outputs with its derivatives, from a path, an expression of time or samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.interpolate import BPoly

from articulus.errors import InputError
from articulus.motion.inversion.paths import Path, PathSamples, as_path, require_smooth

JUMP = 1e-6
"""Share of the largest value of a derivative above which a difference at the start or end is a jump."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """Outputs over time: at rest before `t0` and after `t_end`.

    Parameters
    ----------
    inside : function of times (N,)
        Derivatives 0 to `order` between t0 and t_end, (N, order + 1, m).
    order : int
        Highest derivative.
    t0, t_end : float [s]
    breaks : tuple of float [s]
        Times inside at which some derivative that is used may jump.
    """

    inside: Callable[[np.ndarray], np.ndarray]
    order: int
    t0: float
    t_end: float
    breaks: tuple[float, ...] = ()

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """Return the outputs and their derivatives at any times, (N, order + 1, m); at a jump the later value."""
        t = np.asarray(t, dtype=float)
        out = np.array(self.inside(np.clip(t, self.t0, self.t_end)))
        out[(t < self.t0) | (t >= self.t_end), 1:] = 0.0
        return out

    @property
    def marks(self) -> tuple[float, ...]:
        """Beginning, breaks inside and end [s]."""
        inner = sorted({b for b in self.breaks if self.t0 < b < self.t_end})
        return (self.t0, *inner, self.t_end)

    def require_smooth(self, degrees: Sequence[int], names: Sequence[str]) -> None:
        """Refuse a motion that begins or ends with a jump in a derivative below the relative degree."""
        within = np.abs(self.inside(np.linspace(self.t0, self.t_end, 101))).max(0)
        length = self.t_end - self.t0
        ends = self.inside(np.array([self.t0, self.t_end]))
        for where, values in zip((self.t0, self.t_end), ends):
            for j, degree in enumerate(degrees):
                for k in range(1, degree):
                    size = max(within[k, j], within[0, j] / length**k * 1e-3)
                    if abs(values[k, j]) > JUMP * size > 0:
                        raise InputError(
                            f"stable_inversion: derivative {k} of output {names[j]} jumps by {values[k, j]:.4g} at t = {where:g} s; "
                            f"expected derivatives up to {degree - 1} to be continuous (relative degree {degree}): "
                            "take a smoother profile, otherwise the input holds impulses"
                        )


def sample_desired(
    motion: Any, outputs: int, order: int, t0: float | None = None, t_end: float | None = None
) -> Wanted:
    """Return a desired motion with derivatives up to an order.

    Parameters
    ----------
    motion : path, casadi.Function, (t, expression), (times, samples) or Python function
        A path of `articulus.motion.inversion`, such as `Line`; a CasADi function of t; a symbol and an expression in it; times (N,) and rows of
        outputs (N, m), through which a spline is laid; times and arrays (N, order + 1, m) of the outputs and their derivatives (for one
        output also (N, order + 1)), joined by polynomials that have these derivatives; a Python function of times that gives such arrays.
    outputs, order : int
    t0, t_end : float [s]
        Start and end of the motion; needed where it is an expression or a Python function.
    """
    if isinstance(motion, ca.Function):
        t = ca.SX.sym("t")
        return _expression(t, motion(t), outputs, order, _interval(t0, t_end))
    if isinstance(motion, tuple) and len(motion) == 2 and isinstance(motion[0], ca.SX):
        return _expression(motion[0], ca.SX(motion[1]), outputs, order, _interval(t0, t_end))
    if isinstance(motion, tuple) and len(motion) == 2:
        times, values = (np.asarray(x, dtype=float) for x in motion)
        if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == outputs):
            return _path(as_path(values, times), outputs, order)
        return _samples(times, values, outputs, order)
    if isinstance(motion, PathSamples | Path):
        return _path(motion.path if isinstance(motion, PathSamples) else motion, outputs, order)
    if callable(motion):
        first, last = _interval(t0, t_end)

        def inside(times: np.ndarray) -> np.ndarray:
            return _as_columns(np.asarray(motion(times), dtype=float), len(times), outputs, order)

        return Wanted(inside, order, first, last)
    raise InputError(
        f"stable_inversion: found {type(motion).__name__} as wanted motion; expected a path, a casadi.Function of t, (t, expression), "
        "(times, samples with derivatives) or a Python function of times"
    )


def _interval(t0: float | None, t_end: float | None) -> tuple[float, float]:
    if t0 is None or t_end is None or not t0 < t_end:
        raise InputError(
            f"stable_inversion: found t0 = {t0}, t_end = {t_end}; expected t0 < t_end in seconds: between them the outputs move"
        )
    return float(t0), float(t_end)


def _expression(t: ca.SX, y: ca.SX, outputs: int, order: int, interval: tuple[float, float]) -> Wanted:
    if not t.is_symbolic() or not t.is_scalar():
        raise InputError(
            f"stable_inversion: found {t} as first of (t, expression); expected a symbol, SX.sym('t')"
        )
    if y.numel() != outputs:
        raise InputError(f"stable_inversion: found {y.numel()} wanted outputs; expected {outputs}")
    derivatives = [ca.vec(y)]
    for _ in range(order):
        derivatives.append(ca.jacobian(derivatives[-1], t))
    function = ca.Function("wanted", [t], [ca.densify(ca.vertcat(*derivatives))])

    def inside(times: np.ndarray) -> np.ndarray:
        found = np.asarray(function(ca.DM(times).T).full())
        return found.T.reshape(len(times), order + 1, outputs)

    return Wanted(inside, order, *interval)


def _samples(times: np.ndarray, values: np.ndarray, outputs: int, order: int) -> Wanted:
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
        raise InputError("stable_inversion: samples of the wanted motion need ascending times, at least two")
    values = _as_columns(values, len(times), outputs, order)
    pieces = [BPoly.from_derivatives(times, values[:, :, j]) for j in range(outputs)]
    curves = [[piece] + [piece.derivative(k) for k in range(1, order + 1)] for piece in pieces]

    def inside(t: np.ndarray) -> np.ndarray:
        return np.array([[c(t) for c in curve] for curve in curves]).transpose(2, 1, 0)

    return Wanted(inside, order, float(times[0]), float(times[-1]))


def _path(path: Path, outputs: int, order: int) -> Wanted:
    if path.count != outputs:
        raise InputError(
            f"stable_inversion: found a path with {path.count} coordinates; expected {outputs}, one for each output"
        )
    require_smooth(path, order, "stable_inversion")

    def inside(times: np.ndarray) -> np.ndarray:
        found = path.derivatives(times, order).transpose(1, 0, 2)
        return _as_columns(found, len(times), outputs, order)

    return Wanted(inside, order, float(path.t0), float(path.t_end), tuple(map(float, path.knots)))


def _as_columns(values: np.ndarray, count: int, outputs: int, order: int) -> np.ndarray:
    if values.ndim == 2 and outputs == 1:
        values = values[:, :, None]
    if values.ndim != 3 or values.shape[0] != count or values.shape[2] != outputs or values.shape[1] <= order:
        raise InputError(
            f"stable_inversion: found samples of shape {values.shape}; expected ({count}, {order + 1}, {outputs}): "
            f"times, derivatives 0 to {order} (the relative degree), outputs"
        )
    if not np.isfinite(values).all():
        raise InputError("stable_inversion: the wanted motion holds numbers that are not finite")
    return values[:, : order + 1]
