"""Truncated preview: the inverse of a plant that knows the path only so far ahead, and what that costs.

The part of the inverse that is integrated backwards begins at the end of what is known, as if the path rested there. Its error
is exactly what the unknown rest would have contributed: exp(-B T) times the motion of that part at the end of the preview.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from articulus.control.plant import Group
from articulus.errors import InputError
from articulus.motion.inversion.linear.forward import response
from articulus.motion.inversion.linear.internal import known_signal
from articulus.motion.inversion.linear.invert import InversionProblem, grows, task
from articulus.motion.inversion.linear.two_sided import equilibrium, sample_derivatives
from articulus.motion.inversion.paths import Path
from articulus.motion.inversion.result import Inversion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Preview:
    """Inverses with truncated previews, and their errors.

    Parameters
    ----------
    whole : Inversion
        The inverse that knows the whole path.
    lengths : array, (k,) [s]
        Lengths of the previews.
    inversions : tuple of Inversion
        One per length; figures "preview", "input_error", "input_bound", "error".
    """

    whole: Inversion
    lengths: np.ndarray
    inversions: tuple[Inversion, ...]

    @property
    def input_errors(self) -> np.ndarray:
        """Largest difference from the inputs of the whole path, over their peak, (k,)."""
        return np.array([x.figures["input_error"] for x in self.inversions])

    @property
    def input_bounds(self) -> np.ndarray:
        """Bounds of the same from the zeros, (k,): they fall as exp(-rate of the slowest zero x length)."""
        return np.array([x.figures["input_bound"] for x in self.inversions])

    @property
    def errors(self) -> np.ndarray:
        """Largest error of the outputs when the inputs move the plant from rest, without feedback, (k,); NaN of unstable plants."""
        return np.array([x.figures["error"] for x in self.inversions])

    def __str__(self) -> str:
        unit = self.whole.output_units[0]
        lines = [
            "preview [s]   input error [-]   bound [-]   output error" + (f" [{unit}]" if unit != "-" else "")
        ]
        rows = zip(self.lengths, self.input_errors, self.input_bounds, self.errors)
        return "\n".join(lines + [f"{a:11.4g}   {b:15.3e}   {c:9.2e}   {d:12.3e}" for a, b, c, d in rows])

    def plot(self) -> Figure:
        """Return a figure: errors against the length of the preview."""
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        ax.semilogy(self.lengths, self.input_errors, "o-", label="inputs, over their peak")
        ax.semilogy(self.lengths, self.input_bounds, "--", color="0.5", label="bound from the zeros")
        way = max(float(np.ptp(self.whole.outputs, axis=0).max()), 1e-300)
        ax.semilogy(self.lengths, self.errors / way, "s-", label="outputs without feedback, over the way")
        ax.set_xlabel("preview [s]")
        ax.set_ylabel("largest error [-]")
        ax.legend(frameon=False)
        return figure


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def preview(
    plant: Any,
    path: Path,
    lengths: float | Sequence[float],
    *,
    inputs: Group = None,
    outputs: Group = None,
    **settings: Any,
) -> Preview:
    """Return inverses whose inputs at each time use the path only so far ahead, and their errors.

    Parameters
    ----------
    plant, path, inputs, outputs
        See `invert`.
    lengths : float or sequence [s]
        Of the preview; rounded to whole steps. Of a sampled plant the next values that its relative degree needs are known besides.
    **settings
        Of `invert`: step, period, cut, weights.
    """
    given = np.atleast_1d(np.asarray(lengths, dtype=float))
    if given.ndim != 1 or not len(given) or not (given >= 0).all() or not np.isfinite(given).all():
        raise InputError(f"preview.lengths: found {lengths!r}; expected times that are not negative [s]")
    held = task(plant, path, inputs, outputs, **settings)
    whole = held.inversion()
    known_by = _Known.of(held)
    steps = np.rint(given / held.step).astype(int)
    return Preview(whole, steps * held.step, tuple(known_by.truncate(held, whole, int(k)) for k in steps))


@dataclass(frozen=True, eq=False)
class _Known:
    """What the backward half of the internal dynamics does beyond its rest, (N, nb), and how it goes back a step, (nb, nb)."""

    beyond: np.ndarray
    back: np.ndarray

    @staticmethod
    def of(held: InversionProblem) -> _Known:
        parts, nf = held.parts, len(held.parts.A)
        sampled = held.model.period is not None
        y = (
            held.found.y
            if not sampled
            else held.path.position(held.found.t + held.internal.degree * held.step)
        )
        rest = y @ equilibrium(held.internal, np.eye(y.shape[1]), sampled).T
        back = np.linalg.inv(parts.B) if sampled else scipy.linalg.expm(-held.step * parts.B)
        return _Known((held.found.z - rest) @ parts.rows[nf:].T, back)

    def truncate(self, held: InversionProblem, whole: Inversion, steps: int) -> Inversion:
        """Return the inverse with a preview of so many steps."""
        back = np.linalg.matrix_power(self.back, steps)
        later = np.zeros_like(self.beyond)
        later[: len(later) - steps] = self.beyond[steps:]
        z = held.found.z - later @ back.T @ held.parts.G.T
        internal, sampled = held.internal, held.model.period is not None
        motion = sample_derivatives(held.path, held.found.t, internal.degree, held.step, sampled)
        u = -(z @ internal.E.T + known_signal(internal.e, motion))
        x = (z @ internal.V.T + known_signal(internal.x_f, motion)) @ held.basis.T
        peak = np.abs(whole.inputs).max(0)
        figures = {
            "preview": steps * held.step,
            "input_error": float((np.abs(u - whole.inputs).max(0) / np.maximum(peak, 1e-300)).max()),
            "input_bound": self._bound(held, back, peak),
            "error": _error(held, u),
            "zeros": whole.figures["zeros"],
        }
        return dataclasses.replace(whole, method="preview", inputs=u, states=x, figures=figures, checks=())

    def _bound(self, held: InversionProblem, back: np.ndarray, peak: np.ndarray) -> float:
        """Return the sum over the zeros of how much each can add to the inputs, over their peak."""
        R = np.linalg.eig(self.back)[1]
        gains = np.abs(held.internal.E @ held.parts.G @ R)
        sizes = np.abs(np.linalg.solve(R, self.beyond.T.astype(complex))).max(1)
        left = np.abs(np.diag(np.linalg.solve(R, back @ R)))
        return float(((gains * left) @ sizes / np.maximum(peak, 1e-300)).max())


def _error(held: InversionProblem, u: np.ndarray) -> float:
    if grows(held.model, float(held.found.t[-1] - held.found.t[0])):
        return float("nan")
    followed = response(held.model, held.found.t, u, held.found.rest)
    return float(np.abs(followed - held.found.y).max())
