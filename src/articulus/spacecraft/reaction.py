"""How much the flexible parts of a craft push back in a slew, for bounds of robust laws."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError

CASES = 9
"""Stiffnesses between the smallest and the largest that are tried."""


class Reaction(NamedTuple):
    """What flexible parts do in a slew.

    Attributes
    ----------
    bound : array, (3,) [N m]
        Largest torque about each axis beside that of a rigid craft.
    inertia : array, (3, 3) [kg m^2]
        Of the craft about its mass center, as if its parts were rigid.
    """

    bound: np.ndarray
    inertia: np.ndarray


def reaction_bound(
    mechanism: Mechanism, joint: str, acceleration: Any, step: float, *, spread: float = 0.2
) -> Reaction:
    """Return the largest torque with which the modes of a craft push back while it turns as given, for stiffnesses that are off.

    The craft's own modes (x'' + D x' + K x = -B a, K times 1 - spread to 1 + spread) are driven by the angular acceleration a of the slew; what
    they do to the hub beside J a is the disturbance that a sliding mode has to overcome. Rates are small: terms of second
    order are left out.

    Parameters
    ----------
    mechanism : Mechanism
        At its neutral position.
    joint : str
        Free joint of the hub.
    acceleration : array, (n, 3) [rad/s^2]
        In the hub's axes, linear between instants; as long as the reaction is to be looked at.
    step : float [s]
        Between them.
    spread : float [-]
        Of the stiffness, both ways, at least 0 and below 1.

    Notes
    -----
    Source: Dwyer, Karray & Kim 1989.
    """
    d = mechanism.description
    a = np.asarray(acceleration, dtype=float)
    if a.ndim != 2 or a.shape[1] != 3 or len(a) < 2 or not np.isfinite(a).all() or not step > 0:
        raise InputError(
            Finding(
                "reaction_bound",
                f"acceleration of shape {a.shape}, step {step!r}",
                "(n, 3), finite, and a step above 0",
            )
        )
    if not 0 <= spread < 1:
        raise InputError(Finding("reaction_bound, spread", f"{spread!r}", "at least 0 and below 1"))
    at = mechanism.v_slice(joint)
    flexible = {b.name: b.modes for b in d.bodies if b.modes is not None}
    if at.stop - at.start != 6 or not flexible:
        raise InputError(
            Finding(
                "reaction_bound", f"joint '{joint}' of {at.stop - at.start} freedoms, {len(flexible)} flexible bodies",
                "a free joint and at least one flexible body",
            )
        )  # fmt: skip
    modal = [i for i, name in enumerate(mechanism.v_names) if name.split(".")[0] in flexible]
    M = np.asarray(mechanism.mass_matrix(mechanism.neutral))
    turning, sliding = np.arange(at.start, at.start + 3), np.arange(at.start + 3, at.stop)
    kept = [*turning, *modal]
    M = M[np.ix_(kept, kept)] - M[np.ix_(kept, sliding)] @ np.linalg.solve(
        M[np.ix_(sliding, sliding)], M[np.ix_(sliding, kept)]
    )
    from scipy.linalg import block_diag  # late: its import would slow down every first run

    K = block_diag(*(modes.stiffness for modes in flexible.values()))
    D = block_diag(*(modes.damping for modes in flexible.values()))
    bounds = [
        _reaction(M, K * factor, D, a, step)
        for factor in np.linspace(1 - spread, 1 + spread, CASES if spread else 1)
    ]
    return Reaction(np.max(bounds, axis=0), M[:3, :3])


def _reaction(M: np.ndarray, K: np.ndarray, D: np.ndarray, a: np.ndarray, step: float) -> np.ndarray:
    """Return the largest torque of the modes on the hub about each axis, exact for accelerations that are linear in between."""
    n = len(K)
    inverse = np.linalg.inv(M[3:, 3:])
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
    B = np.vstack([np.zeros((n, 3)), -inverse @ M[3:, :3]])
    whole = np.zeros((2 * n + 6, 2 * n + 6))
    whole[: 2 * n, : 2 * n], whole[: 2 * n, 2 * n : 2 * n + 3], whole[2 * n : 2 * n + 3, 2 * n + 3 :] = (
        A,
        B,
        np.eye(3) / step,
    )
    from scipy.linalg import expm  # late: its import would slow down every first run

    step_by = expm(whole * step)[: 2 * n]
    x, largest = np.zeros(2 * n), np.zeros(3)
    for now, then in itertools.pairwise(a):
        x = step_by @ np.concatenate([x, now, then - now])
        largest = np.maximum(largest, np.abs(M[:3, 3:] @ (A[n:] @ x + B[n:] @ then)))
    return largest
