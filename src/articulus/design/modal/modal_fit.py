"""`ModalFit`: a linear model that was identified, with its modes and what can be said about them."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.sampling import unsample
from articulus.design.modal.halves import upper_half
from articulus.design.whiteness import LAGS, correlations
from articulus.linear import LinearModel
from articulus.model.files.storage import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class ModalFit:
    """A linear model from measurements.

    Parameters
    ----------
    model : LinearModel
        Sampled where the record is; states are modes.
    poles : complex array, (modes,) [rad/s]
        Poles of the continuous model, one of each pair.
    deviations : complex array, (modes,) [rad/s]
        Standard deviations of their real and imaginary parts.
    frequency_deviations, damping_deviations : array, (modes,) [rad/s], [-]
        Standard deviations of the frequencies and damping ratios.
    gain : array, (states, outputs) or None
        Kalman gain of the innovations, where noise was modelled.
    singular_values : array
        Of what the order was chosen from.
    horizon : int
        Samples of the past that the fit looked at; 0 where there is no such thing.
    errors : dict of str to float
        Root-mean-square of one-step prediction errors of each output, over the samples that were fitted.
    shares : dict of str to float
        Part of the variance of each output that the model alone, driven by the inputs, explains over the samples held out.
    residuals : array, (samples, outputs)
    warnings : tuple of str
        Reasons to doubt.
    """

    model: LinearModel
    poles: np.ndarray
    deviations: np.ndarray
    frequency_deviations: np.ndarray
    damping_deviations: np.ndarray
    gain: np.ndarray | None
    singular_values: np.ndarray
    horizon: int
    errors: dict[str, float]
    shares: dict[str, float]
    residuals: np.ndarray
    warnings: tuple[str, ...]

    @property
    def frequencies(self) -> np.ndarray:
        """Undamped angular frequencies, (modes,) [rad/s]."""
        return np.abs(self.poles)

    @property
    def hertz(self) -> np.ndarray:
        """The same in Hz."""
        return self.frequencies / (2 * np.pi)

    @property
    def damping(self) -> np.ndarray:
        """Damping ratios, (modes,)."""
        return -self.poles.real / np.maximum(self.frequencies, np.finfo(float).tiny)

    @property
    def ok(self) -> bool:
        """Whether there is no reason to doubt."""
        return not self.warnings

    @property
    def continuous(self) -> LinearModel:
        """The model over continuous time: inputs of a sampled one were held for a period."""
        return self.model if self.model.period is None else unsample(self.model)

    def __str__(self) -> str:
        rows = [
            f"  {f:.6g} +- {df:.2g} Hz, damping {z:.4g} +- {dz:.2g}"
            for f, df, z, dz in zip(self.hertz, self.frequency_deviations / (2 * np.pi), self.damping, self.damping_deviations)
        ]  # fmt: skip
        shares = [f"  {name}: {100 * x:.4g} % explained" for name, x in self.shares.items()]
        return "\n".join([f"{self.model.name}: {len(self.poles)} modes", *rows, *shares, *(f"  doubt: {w}" for w in self.warnings)])  # fmt: skip

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def record(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        m = self.model
        return {
            "name": m.name, "ok": self.ok, "warnings": list(self.warnings), "horizon": self.horizon,
            "modes": [
                {"frequency": w, "frequency_deviation": dw, "damping": z, "damping_deviation": dz}
                for w, dw, z, dz in zip(self.frequencies.tolist(), self.frequency_deviations.tolist(), self.damping.tolist(), self.damping_deviations.tolist())
            ],
            "errors": self.errors, "shares": self.shares, "singular_values": self.singular_values.tolist(),
            "model": {"period": m.period, "inputs": list(m.inputs), "outputs": list(m.outputs)} | {k: getattr(m, k).tolist() for k in "ABCD"},
            "gain": None if self.gain is None else self.gain.tolist(),
        }  # fmt: skip

    def to_json(self, path: str | Path) -> None:
        """Write the record of the fit."""
        write_text(path, json.dumps(self.record(), indent=1) + "\n")

    def plot(self) -> Figure:
        """Return a figure: singular values, poles with three standard deviations, correlation of the residuals."""
        import matplotlib.pyplot as plt

        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
        if self.singular_values.size:
            left.semilogy(
                np.arange(1, len(self.singular_values) + 1), self.singular_values, "o", markersize=3
            )
            left.axvline(len(self.model.A) + 0.5, color="black", linewidth=0.8)
        left.set_xlabel("order")
        left.set_ylabel("singular value")
        middle.errorbar(
            self.damping, self.hertz, xerr=3 * self.damping_deviations, yerr=3 * self.frequency_deviations / (2 * np.pi),
            fmt="o", markersize=3, capsize=2,
        )  # fmt: skip
        middle.set_xlabel("damping ratio")
        middle.set_ylabel("frequency [Hz]")
        if len(self.residuals) > LAGS:
            for name, rho in zip(self.model.outputs, correlations(self.residuals).T):
                right.plot(np.arange(1, LAGS + 1), rho, "o-", markersize=3, label=name)
            bound = 2.58 / np.sqrt(len(self.residuals))  # 99 % of white noise
            right.axhspan(-bound, bound, color="0.9")
            right.legend(fontsize=7)
        right.set_xlabel("lag [samples]")
        right.set_ylabel("correlation of residuals")
        return figure


def pole_deviations(s: np.ndarray, by: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return standard deviations of poles, of frequencies and of damping ratios.

    Parameters
    ----------
    s : complex array, (modes,) [rad/s]
    by : complex array, (modes, n)
        Their derivatives by independent errors with deviation 1.
    """
    size = np.maximum(np.abs(s), np.finfo(float).tiny)
    frequency = (s.real[:, None] * by.real + s.imag[:, None] * by.imag) / size[:, None]
    damping = -by.real / size[:, None] + (s.real / size**2)[:, None] * frequency
    spread = [np.linalg.norm(rows, axis=1) for rows in (by.real, by.imag, frequency, damping)]
    return spread[0] + 1j * spread[1], spread[2], spread[3]


def modal_model(
    values: np.ndarray,
    vectors: tuple[np.ndarray, np.ndarray],
    D: np.ndarray,
    period: float | None,
    inputs: Sequence[str],
    outputs: Sequence[str],
    units: tuple[Sequence[str], Sequence[str]],
    name: str,
) -> LinearModel:
    """Return a model with real states: for each pair of eigenvalues the block [[a, b], [-b, a]].

    Parameters
    ----------
    values : complex array, (modes,)
        Eigenvalues of A, one of each pair.
    vectors : complex arrays, (modes, inputs) and (outputs, modes)
        Of x_i' = values_i x_i + b_i u, y = sum c_i x_i and its conjugate.
    """
    where, halves = upper_half(values)
    B, C = vectors
    blocks, rows, columns, names = [], [], [], []
    for k, (i, pair) in enumerate(zip(where, halves.pair)):
        a, b = values[i].real, values[i].imag
        if pair:  # the real and the imaginary part of x are the states
            blocks.append(np.array([[a, -b], [b, a]]))
            rows += [B[i].real, B[i].imag]
            columns += [2 * C[:, i].real, -2 * C[:, i].imag]
            names += [f"mode {k + 1}", f"mode {k + 1}, quarter turn"]
        else:
            blocks.append(np.array([[a]]))
            rows.append(B[i].real)
            columns.append(C[:, i].real)
            names.append(f"mode {k + 1}")
    n = sum(map(len, blocks))
    A = np.zeros((n, n))
    at = 0
    for block in blocks:
        A[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return LinearModel(
        A, np.reshape(rows, (n, len(inputs))), np.reshape(columns, (n, len(outputs))).T.copy(), np.asarray(D, float), tuple(names),
        tuple(inputs), tuple(outputs), tuple(units[0]), tuple(units[1]), 0.0, period, name,
    )  # fmt: skip
