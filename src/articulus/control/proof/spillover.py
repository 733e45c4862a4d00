"""What feedback does to every mode of the full model: those that the design knew, and those that were omitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from articulus.linear import LinearModel

STEPS = 40
"""Steps in which the gain rises from nothing to its value while poles are followed."""
KNOWN = 0.1
"""Distance of a pole of the full model from one of the design's plant, over its size, up to which the design knew it."""


@dataclass(frozen=True)
class Mode:
    """An oscillation of the plant and what becomes of it.

    Parameters
    ----------
    before, after : complex [rad/s]
        Pole without and with the controller.
    known : bool
        Whether the plant of the design has it.
    """

    before: complex
    after: complex
    known: bool

    @property
    def damping(self) -> tuple[float, float]:
        """Damping ratio before and after."""
        return -self.before.real / abs(self.before), -self.after.real / max(abs(self.after), 1e-300)


def modes_of(opened: LinearModel, plant: np.ndarray, known: np.ndarray) -> tuple[Mode, ...]:
    """Return the oscillations of the plant in a loop that is cut at its commands, followed while the cut is closed by a rising gain.

    Parameters
    ----------
    opened : LinearModel
        From the commands at the cut to those that arrive there.
    plant, known : poles of the plant, and of the plant of the design [rad/s]
        Poles of the controller itself, which the cut loop has too, are omitted.
    """
    path = [_poles(opened, 0.0)]
    for gain in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
        found = _poles(opened, gain)
        cost = np.abs(path[-1][:, None] - found[None, :])
        path.append(found[linear_sum_assignment(np.where(np.isfinite(cost), cost, 1e300))[1]])
    before, after = path[0], path[-1]
    whole = np.asarray(plant, dtype=complex)
    waves = whole[
        (whole.imag > 1e-3 * np.abs(whole)) & (np.abs(whole) > 1e-6 * np.abs(whole).max(initial=0.0))
    ]
    keep = [int(np.abs(before - s).argmin()) for s in waves[np.argsort(np.abs(waves), kind="stable")]]
    near = np.asarray(known, dtype=complex)
    return tuple(
        Mode(
            complex(before[k]),
            complex(after[k]),
            bool(len(near) and np.abs(near - before[k]).min() <= KNOWN * abs(before[k])),
        )
        for k in keep
    )


def _poles(opened: LinearModel, gain: float) -> np.ndarray:
    m = len(opened.inputs)
    back = np.linalg.solve(np.eye(m) - gain * opened.D, gain * opened.C)
    values = np.linalg.eigvals(opened.A + opened.B @ back).astype(complex)
    if opened.period is None:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (np.log(np.abs(values)) + 1j * np.angle(values)) / opened.period
    return np.where(np.isfinite(found), found, -1e12)  # what is forgotten within a period
