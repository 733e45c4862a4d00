"""From records to robust control: how far a model may be off over frequency, as a weight that uncertain models take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import csd

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.rational_scalings import magnitude_model
from articulus.control.robust.uncertain import UncertainModel
from articulus.control.sampling import sample
from articulus.design.modal.samples import RecordSamples
from articulus.design.modal.verdict import unexplained
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import one_thread
from articulus.study.records import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEGMENTS = 12
"""Pieces, half over each other, into which records are cut for spectra."""
MARGIN = 2.0
"""Standard deviations of the estimated error that are added to it."""
EXCITED = 1e-4
"""Power of the weakest direction of the inputs, over the largest over frequency, below which nothing is known there."""
INDEPENDENT = 0.75
"""Independent pieces for each one, half over each other with Hann windows."""
ALL = 1.0
"""Relative error from which on feedback cannot rely on the model at all."""


@dataclass(frozen=True, eq=False)
class UncertaintyWeight:
    """How far a model is off: the plant is G (1 + Delta W), Delta of size up to 1.

    Parameters
    ----------
    weight : LinearModel
        W, stable, continuous; its size is at least `error` at all frequencies.
    omega : array, (n,) [rad/s]
        Frequencies at which the inputs excite.
    error : array, (n,) [-]
        Largest relative error of the model at its inputs over all records, with `MARGIN` standard deviations.
    noise : array, (n,) [-]
        One standard deviation of it.
    model : LinearModel
        The model, continuous.
    inputs : tuple of str
    warnings : tuple of str
    """

    weight: LinearModel
    omega: np.ndarray
    error: np.ndarray
    noise: np.ndarray
    model: LinearModel
    inputs: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def bandwidth(self) -> float:
        """Frequency up to which the relative error is below 1: no loop may cross over beyond it [rad/s]; 0 if there is none."""
        over = np.flatnonzero(self.error >= ALL)
        return float(self.omega[over[0]]) if over.size else float(self.omega[-1])

    def uncertain(self, plant: Any = None) -> UncertainModel:
        """Return the model, or another plant with these inputs, with unmodelled dynamics of this size at its inputs."""
        held = self.model if plant is None else plant
        if isinstance(held, UncertainModel):
            return held.with_dynamics(self.inputs, self.weight)
        return UncertainModel(held, BlockStructure(()), {}).with_dynamics(self.inputs, self.weight)

    def plot(self) -> Figure:
        """Return a figure: the error over frequency and the weight above it."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(layout="constrained")
        axes.loglog(self.omega, self.error, ".", markersize=4, label="error with margin")
        axes.loglog(self.omega, self.noise, linewidth=0.7, label="one standard deviation")
        axes.loglog(
            self.omega, np.abs(self.weight.response(self.omega)[:, 0, 0]), color="black", label="weight"
        )
        axes.axhline(1.0, color="0.6", linewidth=0.8)
        axes.set_xlabel("frequency [rad/s]")
        axes.set_ylabel("relative error at the inputs")
        axes.legend()
        return figure


def uncertainty_weight(
    model: Any,
    records: Record | Sequence[Record],
    inputs: str | Sequence[str],
    outputs: str | Sequence[str],
    *,
    order: int = 4,
) -> UncertaintyWeight:
    """Return how far a model is off over frequency, as records say, and a weight that covers it.

    The part of the residuals y - G u that follows the inputs is the model's error; the rest is noise, which only makes the error less
    known. Both come from spectra over pieces of each record.

    Parameters
    ----------
    model : LinearModel or ModalFit
        Continuous, or sampled like the records; with inputs and outputs in the order of the columns.
    records : Record or sequence of Record
        Others than those that the model was fitted to: what it was fitted to, it explains.
    inputs, outputs : str or sequence of str
        Columns.
    order : int
        Of the weight; even.

    Notes
    -----
    Errors are referred to the inputs, G^+ E, where there are as many outputs as inputs or more. Source: Balas 1989 (the aim); Bendat & Piersol 2010 (spectra,
    their random errors).
    """
    held: LinearModel = getattr(model, "model", model)
    given = (records,) if isinstance(records, Record) else tuple(records)
    if not given or order < 2 or order % 2:
        raise InputError(
            f"uncertainty_weight: found {len(given)} records and order = {order!r}; expected records, and an even order of at least 2"
        )
    omega, errors, spreads = np.zeros(0), [], []
    for record in given:
        s = RecordSamples.of("uncertainty_weight", record, inputs, outputs)
        w, error, spread = _errors(held, s)
        if omega.size == 0:
            omega = w
        errors.append(np.interp(omega, w, error))
        spreads.append(np.interp(omega, w, spread))
    noise = np.max(spreads, axis=0)
    error = np.max(np.array(errors) + MARGIN * np.array(spreads), axis=0)
    with one_thread():
        weight = magnitude_model(omega, np.maximum(error, 1e-6), order)
    short = float(np.max(error / np.abs(weight.response(omega)[:, 0, 0])))
    weight = max(short, 1.0) * weight
    doubts = []
    if error.min() >= ALL:
        doubts.append(
            "the model is wrong by 100 % or more wherever the inputs excite: no robust controller will do better than none"
        )
    if np.median(MARGIN * noise / error) > 0.9:
        doubts.append("most of the error is the margin for noise: longer records would show a better model")
    for text in doubts:
        doubtful(f"uncertainty_weight: {text}")
    names = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    continuous = getattr(model, "continuous", held)
    return UncertaintyWeight(
        weight, omega, error, noise, continuous.rename(inputs=names), names, tuple(doubts)
    )


def _errors(model: LinearModel, s: RecordSamples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return frequencies [rad/s], the relative error at the inputs, and its standard deviation."""
    nu, ny = s.u.shape[1], s.y.shape[1]
    if model.D.shape != (ny, nu) or not nu:
        raise InputError(
            f"uncertainty_weight: found a model of {model.D.shape[1]} inputs and {model.D.shape[0]} outputs for {nu} and {ny} columns; expected as many"
        )
    if model.period is not None and abs(model.period / s.period - 1) > 1e-6:
        raise InputError(
            f"uncertainty_weight: the record '{s.name}' has the interval {s.period:g} s; expected that of the model, {model.period:g} s"
        )
    sampled = model if model.period is not None else sample(model, s.period)
    scaled = replace(s, u=s.u * s.u_size, y=s.y * s.y_size)
    u, e = scaled.u, unexplained(sampled, scaled)
    length = 2 * len(s) // (SEGMENTS + 1)
    if length < 64:
        raise InputError(
            f"uncertainty_weight: found {len(s)} samples; expected at least {32 * (SEGMENTS + 1)}"
        )
    w = 2 * np.pi * np.fft.rfftfreq(length, s.period)
    inside = slice(2, len(w) - 1)
    Suu, Sue, See = (_spectra(a, b, s.period, length)[inside] for a, b in ((u, u), (u, e), (e, e)))
    weakest = np.linalg.eigvalsh(Suu)[:, 0]
    kept = weakest > EXCITED * weakest.max()
    w, Suu, Sue, See, weakest = w[inside][kept], Suu[kept], Sue[kept], See[kept], weakest[kept]
    E = np.linalg.solve(Suu, Sue).transpose(0, 2, 1)
    left = See - E @ Sue  # noise: what follows no input
    back = np.linalg.pinv(sampled.response(w))
    error = np.linalg.norm(back @ E, 2, axis=(1, 2))
    noise = np.trace(back @ left @ back.conj().transpose(0, 2, 1), axis1=1, axis2=2).real
    return w, error, np.sqrt(np.maximum(noise, 0.0) / (weakest * max(INDEPENDENT * SEGMENTS - nu, 1.0)))


def _spectra(a: np.ndarray, b: np.ndarray, period: float, length: int) -> np.ndarray:
    """Return the cross spectra of columns, (frequencies, columns of a, columns of b)."""
    each = [[csd(p, q, 1 / period, nperseg=length)[1] for q in b.T] for p in a.T]
    return np.moveaxis(np.array(each), -1, 0)
