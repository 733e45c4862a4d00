"""Poles with frequency, damping and the states that take part in them (`damp` in MATLAB)."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.scaling import scale_states
from articulus.control.plant import as_plant
from articulus.linear.model import rates


@dataclass(frozen=True, eq=False)
class ModeTable:
    """Modes of a plant, by rising size of their poles.

    Parameters
    ----------
    poles : complex array, (n,) [rad/s]
        Poles; log(z) / period for a sampled plant.
    omega : array, (n,) [rad/s]
        Natural frequency, the size of the pole.
    damping : array, (n,) [-]
        Damping ratio; negative for an unstable pole, NaN for a pole at zero.
    participation : array, (n, n) [-]
        Part of state j in mode i: |left eigenvector times right eigenvector|, component by component; a row sums to one. It
        does not depend on the units of the states.
    states : tuple of str
    """

    poles: np.ndarray
    omega: np.ndarray
    damping: np.ndarray
    participation: np.ndarray
    states: tuple[str, ...]

    @property
    def hertz(self) -> np.ndarray:
        """Natural frequencies [Hz]."""
        return self.omega / (2 * np.pi)

    @property
    def time_constants(self) -> np.ndarray:
        """Time after which a mode has decayed to 1/e [s]; infinite on the boundary, negative for unstable ones."""
        with np.errstate(divide="ignore"):
            return -1.0 / self.poles.real

    def leading(self, mode: int, count: int = 3) -> list[tuple[str, float]]:
        """Return the states that take most part in a mode, with their part; equal ones (to 1e-9) in the order of the model."""
        order = np.argsort(-self.participation[mode].round(9), kind="stable")[:count]
        return [(self.states[j], float(self.participation[mode, j])) for j in order]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return a row for each pole with an imaginary part of at least zero: pole, frequency [Hz], damping, states."""
        return [
            (
                f"{p.real:.5g}{p.imag:+.5g}j" if p.imag else f"{p.real:.5g}",
                f"{self.hertz[i]:.5g}",
                f"{self.damping[i]:.4g}",
                ", ".join(f"{name} {part:.2f}" for name, part in self.leading(i) if part > 0.05),
            )
            for i, p in enumerate(self.poles)
            if p.imag >= 0
        ]

    def __str__(self) -> str:
        table = [("pole [rad/s]", "frequency [Hz]", "damping", "states that take part"), *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(4)]
        return "\n".join("  ".join(x.ljust(w) for x, w in zip(row, widths)).rstrip() for row in table)

    def _repr_html_(self) -> str:
        head = "<tr><th>pole [rad/s]</th><th>frequency [Hz]</th><th>damping ratio</th><th>states</th></tr>"
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in self.rows()
        )
        return f"<table>{head}{rows}</table>"


def damp(plant: Any) -> ModeTable:
    """Return the modes of a plant: poles, natural frequencies, damping ratios, and which states take part in each."""
    model = as_plant(plant, "damp")
    small = scale_states(model)[0]
    values, left, right = scipy.linalg.eig(small.A, left=True, right=True)
    parts = np.abs(left.conj() * right).T
    parts = parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
    poles = rates(values, model.period)
    omega = np.abs(poles)
    order = np.lexsort((poles.imag, np.round(omega, 12)))
    order = order[np.argsort(omega[order], kind="stable")]
    with np.errstate(divide="ignore", invalid="ignore"):
        damping = np.where(np.isinf(omega), 1.0, -poles.real / omega) + 0.0  # no -0
    return ModeTable(poles[order], omega[order], damping[order], parts[order], model.states)
