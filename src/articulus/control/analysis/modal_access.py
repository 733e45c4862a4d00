"""How strongly each input moves each mode, and each mode shows in each output (`ctrb`, `obsv` in MATLAB, mode by mode)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.scaling import scale_states
from articulus.control.plant import as_plant

OUT_OF_REACH = 1e-10
"""Controllability or observability below which a mode counts as not moved or not shown."""


@dataclass(frozen=True, eq=False)
class ModalAccess:
    """Controllability and observability of the modes of a plant.

    Parameters
    ----------
    values : complex array, (n,)
        Eigenvalues of A: poles [rad/s], of a sampled plant values of z [-].
    controllability : array, (n, m) [-]
        Controllability of each mode by each input: cosine of the angle between the left eigenvector and the column of B (Hamdan & Nayfeh
        1989); zero if the input does not move the mode.
    observability : array, (n, p) [-]
        Observability of each mode in each output: cosine of the angle between the right eigenvector and the row of C.
    distance_to_uncontrollable, distance_to_unobservable : array, (n,) [-]
        Smallest singular value of [A - s I, B] and of [A - s I; C] at the eigenvalue, over the norm of the matrix: valid for
        multiple poles too.
    inputs, outputs : tuple of str
    """

    values: np.ndarray
    controllability: np.ndarray
    observability: np.ndarray
    distance_to_uncontrollable: np.ndarray
    distance_to_unobservable: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def uncontrollable(self) -> np.ndarray:
        """Eigenvalues of the modes that no input moves."""
        return self.values[self.distance_to_uncontrollable < OUT_OF_REACH]

    @property
    def unobservable(self) -> np.ndarray:
        """Eigenvalues of the modes that no output shows."""
        return self.values[self.distance_to_unobservable < OUT_OF_REACH]

    def __str__(self) -> str:
        lines = [f"{'eigenvalue':24s} best input{'':14s} best output"]
        for i, s in enumerate(self.values):
            if s.imag >= 0:
                j, k = int(np.argmax(self.controllability[i])), int(np.argmax(self.observability[i]))
                by = f"{self.inputs[j]} {self.controllability[i, j]:.3g}"
                at = f"{self.outputs[k]} {self.observability[i, k]:.3g}"
                lines.append(f"{s:<24.6g} {by:24s} {at}")
        return "\n".join(lines)


def modal_access(plant: Any) -> ModalAccess:
    """Return how strongly inputs move and outputs show each mode of a plant, from zero (not at all) to one."""
    model = scale_states(as_plant(plant, "modal_access"))[0]
    values, left, right = scipy.linalg.eig(model.A, left=True, right=True)
    order = np.argsort(np.abs(values), kind="stable")
    values, left, right = values[order], left[:, order], right[:, order]
    return ModalAccess(
        values.astype(complex),
        np.abs(left.conj().T @ _unit(model.B)),
        np.abs(_unit(model.C.T).T @ right).T,
        _distances(model.A, model.B, values),
        _distances(model.A.T, model.C.T, values),
        model.inputs,
        model.outputs,
    )


def _unit(columns: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(columns, axis=0)
    return columns / np.where(sizes > 0, sizes, 1.0)


def _distances(A: np.ndarray, B: np.ndarray, values: np.ndarray) -> np.ndarray:
    identity, B = np.eye(len(A)), _unit(B) * max(float(np.linalg.norm(A, 2)) if len(A) else 1.0, 1e-300)
    size = max(float(np.linalg.norm(np.hstack([A, B]), 2)) if A.size else 1.0, 1e-300)
    return np.array(
        [np.linalg.svd(np.hstack([A - s * identity, B]), compute_uv=False)[-1] / size for s in values]
    )
