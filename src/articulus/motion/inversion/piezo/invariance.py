"""Whether mode shapes stay the same while joints turn: they do, from some mode on, where heavy joints hardly move.

With masses M22 / eps at the joints all modes but the lowest tend, as eps falls, to those with the joints held in place. These do not
know the angles of the joints, since everything else is in the coordinates of the bodies.

Source: Devasia, Paden & Bayo 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.motion.inversion.piezo.locked import LockedModes, locked_modes


@dataclass(frozen=True, eq=False)
class ModeInvariance:
    """How modes change over configurations.

    Parameters
    ----------
    omega : array, (c, k) [rad/s]
        Frequencies.
    likeness : array, (c, k)
        Square of the cosine between the rotations of all stations in a mode and in the same mode at the first configuration; 1 if
        the shape is the same.
    held_omega : array, (c, j) [rad/s]
        Frequencies with the named frames held in place; none without such frames.
    moving : array, (c, k)
        Part of the kinetic energy of each mode that belongs to none of the modes with these frames held.
    """

    omega: np.ndarray
    likeness: np.ndarray
    held_omega: np.ndarray
    moving: np.ndarray

    def invariant(self, tolerance: float = 0.05) -> np.ndarray:
        """Return which modes keep their shape over all configurations, (k,): likeness at least 1 - tolerance."""
        return np.asarray(np.all(self.likeness >= 1 - tolerance, axis=0))

    def __str__(self) -> str:
        lines = [" mode  frequency [rad/s]      least likeness  largest part of the joints"]
        for k in range(self.omega.shape[1]):
            low, high = self.omega[:, k].min(), self.omega[:, k].max()
            moving = f"{self.moving[:, k].max():12.4g}" if self.moving.size else f"{'-':>12s}"
            lines.append(
                f"{k + 1:5d}  {low:9.4g} to {high:9.4g}  {self.likeness[:, k].min():14.5f}  {moving}"
            )
        return "\n".join(lines)


def mode_invariance(
    mechanism: Mechanism, configurations: Sequence[Any], *, modes: int = 6, fixed: Sequence[str] = ()
) -> ModeInvariance:
    """Return how the modes of a mechanism with locked joints change from configuration to configuration.

    Parameters
    ----------
    mechanism : Mechanism
        With flexible bodies.
    configurations : sequence of positions (nq,) or dicts of joint to number
    modes : int
        How many modes of lowest frequency.
    fixed : names of frames
        Frames with the heavy masses, such as those of joints and tip: modes with these held in place are compared.
    """
    found = [locked_modes(mechanism, q, modes) for q in configurations]
    turned = [_rotations(mechanism, each) for each in found]
    like = [_likeness(turned[0], each) for each in turned]
    count = len(found)
    pinned = [locked_modes(mechanism, q, None, fixed) for q in configurations] if fixed else []
    return ModeInvariance(
        np.stack([each.modal.omega for each in found]),
        np.stack(like),
        np.stack([each.modal.omega for each in pinned]) if fixed else np.zeros((count, 0)),
        np.stack([_moving(a, b) for a, b in zip(found, pinned)]) if fixed else np.zeros((count, 0)),
    )


def _rotations(mechanism: Mechanism, modes: LockedModes) -> np.ndarray:
    """Return the rotations of all stations in the frames of their bodies, (3 stations, k)."""
    every = np.zeros((mechanism.nv, modes.shapes.shape[1]))
    every[modes.places] = modes.shapes
    rows = []
    for body in mechanism.description.bodies:
        if body.modes is not None:
            mine = every[mechanism.description.mode_slices(body.name)[0]]
            rows += [station.rotation @ mine for station in body.modes.stations.values()]
    return np.vstack(rows)


def _likeness(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (first * other).sum(0) ** 2 / ((first**2).sum(0) * (other**2).sum(0))


def _moving(modes: LockedModes, pinned: LockedModes) -> np.ndarray:
    """Return the part of each mode outside of the span of those with held frames, by kinetic energy."""
    within = pinned.shapes.T @ modes.mass @ modes.shapes
    return 1.0 - (within**2).sum(0)
