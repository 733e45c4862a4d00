"""Natural modes about a position, and how they look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.browser.poses import body_poses
from articulus.browser.recording import motion
from articulus.browser.scene import mechanism_size, move_points, outline
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import NumericalError

CYCLE = 2.0
"""Time that one cycle of a shown mode takes [s]."""
FRAMES = 48
"""Frames of a cycle."""
DIFFERENCE = 1e-4
"""Step of the differences of forces that give the stiffness [rad, m]; the fourth-order stencil errs by its fourth power."""
RIGID = 1e-6
"""Part of the largest angular frequency below which a mode counts as a motion without stiffness."""


@dataclass(frozen=True)
class NaturalModes:
    """Small free vibrations about a position that constant joint forces hold at rest, without damping.

    Attributes
    ----------
    omega_squared : array, (modes,) [rad^2/s^2]
        Rising; negative where the position is unstable.
    shapes : array, (nv, modes)
        Displacements of all degrees of freedom.
    """

    omega_squared: np.ndarray
    shapes: np.ndarray

    def plain(self) -> list[dict[str, Any]]:
        """Return frequency [Hz] and kind of each: "vibration", "free" (no stiffness) or "unstable" (rate of growth [1/s])."""
        largest = max(abs(self.omega_squared).max(initial=0.0), 1e-30)
        out = []
        for w2 in self.omega_squared.tolist():
            kind = (
                "free"
                if abs(w2) <= RIGID**2 * largest or abs(w2) < 1e-10
                else "vibration"
                if w2 > 0
                else "unstable"
            )
            rate = abs(w2) ** 0.5
            out.append(
                {"kind": kind, "value": 0.0 if kind == "free" else rate / (2 * np.pi if w2 > 0 else 1)}
            )
        return out


def natural_modes(mechanism: Mechanism, q: np.ndarray, locked: bool = False) -> NaturalModes:
    """Return the natural modes about a position.

    M N' x'' + K N x = 0 over the directions N that the constraints leave free; K is the derivative of the force that holds the
    mechanism at rest. That force is one of the joints, so closure forces are zero and the curvature of constraints adds nothing.
    Of K the symmetric part is taken: constant forces in the body axes of quaternion joints have no potential, and their other part
    is omitted.

    Parameters
    ----------
    mechanism : Mechanism
    q : array, (nq,)
    locked : bool
        Whether joints are held, so that only flexible bodies vibrate.
    """
    M = mechanism.mass_matrix(q)
    K = _stiffness(mechanism, q)
    N = np.eye(mechanism.nv)
    if locked:
        N = N[:, _modal(mechanism)]
    if mechanism.description.constraints:
        N = N @ scipy.linalg.null_space(mechanism.constraint_jacobian(q) @ N, rcond=1e-9)
    if not N.size:
        return NaturalModes(np.zeros(0), np.zeros((mechanism.nv, 0)))
    stiffness = N.T @ K @ N
    try:
        omega_squared, shapes = scipy.linalg.eigh(0.5 * (stiffness + stiffness.T), N.T @ M @ N)
    except np.linalg.LinAlgError:
        raise NumericalError(
            f"natural modes: the mass matrix of '{mechanism.name}' is not positive definite at this position; "
            "there may be a massless body at the end of a chain"
        ) from None
    return NaturalModes(omega_squared, N @ shapes)


def _stiffness(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Return the derivative of the joint forces at rest by small displacements, (nv, nv), by fourth-order differences."""
    n = mechanism.nv
    steps = DIFFERENCE * np.array([-2.0, -1.0, 1.0, 2.0])[:, None, None] * np.eye(n)
    at = mechanism.integrate_position(np.broadcast_to(q, (4, n, q.size)), steps)
    forces = mechanism.bias(at, np.zeros((4, n, n)))
    return np.tensordot([1, -8, 8, -1], forces, axes=1).T / (12 * DIFFERENCE)


def _modal(mechanism: Mechanism) -> np.ndarray:
    """Return which degrees of freedom are modal coordinates."""
    d = mechanism.description
    found = np.zeros(mechanism.nv, dtype=bool)
    for b in d.bodies:
        found[d.mode_slices(b.name)[0]] = True
    return found


def mode_motion(
    mechanism: Mechanism,
    q: np.ndarray,
    shape: np.ndarray,
    amplitude: float,
    name: str,
) -> dict[str, Any]:
    """Return one cycle of a mode as a recording.

    Parameters
    ----------
    shape : array, (nv,)
    amplitude : float
        Largest excursion of any point that is drawn, in parts of the mechanism's size.
    """
    small = 1e-6 / max(float(np.abs(shape).max()), 1e-30)
    reach = _excursion(mechanism, q, mechanism.integrate_position(q, small * shape)) / small
    scale = amplitude * mechanism_size(mechanism) / reach if reach > 0 else 0.0
    phase = np.linspace(0.0, 2 * np.pi, FRAMES + 1)
    rows = mechanism.integrate_position(
        np.broadcast_to(q, (phase.size, q.size)), scale * np.sin(phase)[:, None] * shape
    )
    return motion(mechanism, name, CYCLE * phase / (2 * np.pi), rows)


def _excursion(mechanism: Mechanism, q: np.ndarray, there: np.ndarray) -> float:
    """Return how far the points that are drawn are apart in two positions, at most [m]; stations move with their modes."""
    d = mechanism.description
    before, after = (body_poses(mechanism, x) for x in (q, there))
    out = 0.0
    for k, body in enumerate(d.bodies):
        points = outline(d, body.name)
        out = max(out, _farthest(move_points(before[k], points), move_points(after[k], points)))
        if body.modes is not None:
            eta = there[d.mode_slices(body.name)[1]] - q[d.mode_slices(body.name)[1]]
            bent = [np.linalg.norm(s.translation @ eta) for s in body.modes.stations.values()]
            out = max([out, *map(float, bent)])
    return out


def _farthest(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b, axis=-1).max(initial=0.0))
