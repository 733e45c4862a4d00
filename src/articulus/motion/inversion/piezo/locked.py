"""Small vibrations of a mechanism of flexible bodies whose joints are locked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.piezo.criteria import Modal

DEFLECTION_STEPS = 20
"""Newton steps to the deflection at rest."""


@dataclass(frozen=True, eq=False)
class LockedModes:
    """Modes at one configuration, by rising frequency.

    Parameters
    ----------
    q : array, (nq,)
        Position of the mechanism, deflected by its weight.
    places : array of int, (n,)
        Modal coordinates among the velocities of the mechanism.
    shapes : array, (n, k)
        Modal coordinates of each mode; of unit modal mass.
    mass : array, (n, n)
        Of the modal coordinates.
    modal : Modal
    """

    q: np.ndarray
    places: np.ndarray
    shapes: np.ndarray
    mass: np.ndarray
    modal: Modal


def locked_modes(
    mechanism: Mechanism, q: Any, count: int | None = None, held: Sequence[str] = ()
) -> LockedModes:
    """Return the modes of a mechanism with all joints locked.

    An open mechanism is first let down to its deflection at rest under gravity. Loops stay closed; what their forces add to
    the stiffness is left out.

    Parameters
    ----------
    mechanism : Mechanism
        With flexible bodies.
    q : array, (nq,), or dict of joint to number
    count : int
        How many modes of lowest frequency; all if not given.
    held : names of frames
        Frames whose origins are held in place as well.
    """
    places, in_q = _places(mechanism)
    at = np.array(mechanism.positions(q), dtype=float)
    still = np.zeros(mechanism.nv)
    if not mechanism.description.constraints:
        at = at_rest(mechanism, at, places, in_q)
    K, D, M = (
        x[np.ix_(places, places)] for x in mechanism.tree.inverse_dynamics_derivatives(at, still, still)
    )
    rows = [mechanism.jacobian(frame, at)[3:, places] for frame in held]
    if mechanism.description.constraints:
        rows.append(mechanism.constraint_jacobian(at)[:, places])
    N = _free(np.vstack(rows)) if rows else np.eye(len(places))
    if not N.shape[1]:
        raise InputError("locked modes: the held frames and closed loops leave no vibration; hold fewer")
    squares, found = scipy.linalg.eigh(N.T @ (K + K.T) @ N / 2, N.T @ M @ N)
    if squares[0] <= 0:
        raise NumericalError(
            f"locked modes of '{mechanism.name}': found omega^2 = {squares[0]:.3g} < 0 with all joints locked: the weight buckles "
            "it in this configuration"
        )
    shapes = (N @ found)[:, :count]
    return LockedModes(
        at, places, shapes, M, Modal(np.sqrt(squares[:count]), shapes.T @ ((D + D.T) / 2) @ shapes)
    )


def _places(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of all modal coordinates in v and in q."""
    d = mechanism.description
    slices = [d.mode_slices(b.name) for b in d.bodies if b.modes is not None]
    if not any(v.stop > v.start for v, _ in slices):
        raise InputError(
            f"locked modes: '{mechanism.name}' has no flexible bodies; expected some with modes (`beam_body`)"
        )
    v, q = (np.concatenate([np.arange(s.start, s.stop) for s in held]) for held in zip(*slices))
    return v, q


def at_rest(mechanism: Mechanism, q: np.ndarray, places: np.ndarray, in_q: np.ndarray) -> np.ndarray:
    """Return the position with the deflection at which the weight is held by the stiffness, joints as they are."""
    still = np.zeros(mechanism.nv)
    for _ in range(DEFLECTION_STEPS):
        K = mechanism.tree.inverse_dynamics_derivatives(q, still, still)[0][np.ix_(places, places)]
        step = np.linalg.solve(K, -mechanism.tree.inverse_dynamics(q, still, still)[places])
        q = q.copy()
        q[in_q] += step
        if np.abs(step).max() <= 1e-9 * max(np.abs(q[in_q]).max(), 1e-9):
            return q
    raise NumericalError(
        f"locked modes of '{mechanism.name}': no deflection at rest found in {DEFLECTION_STEPS} steps; the weight may buckle it"
    )


def _free(rows: np.ndarray) -> np.ndarray:
    """Return the modal coordinates that move none of the rows, (n, k)."""
    return scipy.linalg.null_space(rows, rcond=1e-9)
