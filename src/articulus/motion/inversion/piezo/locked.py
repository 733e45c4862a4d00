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
from articulus.numerics.newton import newton

BALANCED = 1e-9
"""Part of the weight that the stiffness need not hold."""


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
        Mass of the modal coordinates.
    modal : Modal
    """

    q: np.ndarray
    places: np.ndarray
    shapes: np.ndarray
    mass: np.ndarray
    modal: Modal


def locked_modes(
    mechanism: Mechanism, q: Any, count: int | None = None, fixed: Sequence[str] = ()
) -> LockedModes:
    """Return the modes of a mechanism with all joints locked.

    An open mechanism is first let down to its deflection at rest under gravity. Loops stay closed; what their forces add to
    the stiffness is omitted.

    Parameters
    ----------
    mechanism : Mechanism
        With flexible bodies.
    q : array, (nq,), or dict of joint to number
    count : int
        How many modes of lowest frequency; all if not given.
    fixed : names of frames
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
    rows = [mechanism.jacobian(frame, at)[3:, places] for frame in fixed]
    if mechanism.description.constraints:
        rows.append(mechanism.constraint_jacobian(at)[:, places])
    N = _free(np.vstack(rows)) if rows else np.eye(len(places))
    if not N.shape[1]:
        raise InputError("locked modes: the fixed frames and closed loops leave no vibration; fix fewer")
    squares, vectors = scipy.linalg.eigh(N.T @ (K + K.T) @ N / 2, N.T @ M @ N)
    if squares[0] <= 0:
        raise NumericalError(
            f"locked modes of '{mechanism.name}': found omega^2 = {squares[0]:.3g} < 0 with all joints locked: the weight buckles "
            "it in this configuration"
        )
    shapes = (N @ vectors)[:, :count]
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
    tree, still = mechanism.tree, np.zeros(mechanism.nv)

    def at(bent: np.ndarray) -> np.ndarray:
        whole = q.copy()
        whole[in_q] = bent
        return whole

    def weight(bent: np.ndarray) -> np.ndarray:
        return np.asarray(tree.inverse_dynamics(at(bent), still, still))[places]

    def step(bent: np.ndarray, off: np.ndarray) -> np.ndarray:
        K = np.asarray(tree.inverse_dynamics_derivatives(at(bent), still, still)[0])[np.ix_(places, places)]
        return np.linalg.solve(K, -off)

    first = q[in_q]
    size = float(np.abs([weight(0 * first), weight(first)]).max()) or 1.0
    bent, left = newton(first, weight, step, np.add, BALANCED * size)
    if not left[-1] <= 1e-6 * size:
        raise NumericalError(
            f"locked modes of '{mechanism.name}': no deflection at rest found, the stiffness leaves {left[-1]:.2g} N of {size:.2g} N; the weight may buckle it"
        )
    return at(bent)


def _free(rows: np.ndarray) -> np.ndarray:
    """Return the modal coordinates that move none of the rows, (n, k)."""
    return scipy.linalg.null_space(rows, rcond=1e-9)
