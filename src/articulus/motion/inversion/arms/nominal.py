"""The nominal motion: the path followed by the joints alone, flexible bodies keeping the shape that they have at rest."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline

from articulus.errors import NumericalError
from articulus.motion.inversion.arms.servo import PathPoint, Servo
from articulus.numerics.newton import least_step, newton
from articulus.simulation.solve.assembly import modal_dofs

Array = np.ndarray

POSES = 40
"""Poses along the path between which the nominal motion is a spline."""
REACHED = 1e-9
"""Residual of outputs and loops [m, rad]."""


def closed(servo: Servo, q: Array, at: PathPoint) -> Array:
    """Return the position near an estimate at which outputs and loops are as wanted, bodies keeping their shape.

    Where the joints alone cannot do it, bodies bend too.
    """
    joints = ~modal_dofs(servo.mechanism)
    for moving in (joints, np.ones(servo.nv, dtype=bool)):
        found, history = newton(
            q,
            lambda x: servo.residual(x[None], at)[0],
            lambda x, off: least_step(servo.jacobian(x[None], at.t)[0], -off, moving),  # noqa: B023
            lambda x, by: x + by,
            REACHED,
        )
        if history[-1] <= REACHED:
            return found
    raise NumericalError(
        f"the path is out of reach at t = {at.t[0]:.4g} s: outputs or loops stay off by {history[-1]:.3g} m or rad; expected a path within "
        "reach, and a guess of the first pose on the desired branch"
    )


def poses(
    servo: Servo, q: Array, point: Callable[[Array], PathPoint], start: float, end: float
) -> tuple[Array, Array]:
    """Return times and positions along the path, followed from the first pose."""
    t = np.linspace(start, end, POSES + 1)
    found = [q]
    for time in t[1:]:
        ahead = 2 * found[-1] - found[-2] if len(found) > 1 else q
        try:
            found.append(closed(servo, ahead, point(np.array([time]))))
        except NumericalError:
            found.append(closed(servo, found[-1], point(np.array([time]))))
    return t, np.array(found)


def spline(t: Array, q: Array, at: Array) -> tuple[Array, Array]:
    """Return positions and velocities at given times of the spline through poses, at rest outside."""
    curve = CubicSpline(t, q, bc_type="clamped")
    inside = np.clip(at, t[0], t[-1])
    return curve(inside), curve(inside, 1)


def rigid_motion(servo: Servo, q: Array, at: PathPoint) -> tuple[Array, Array]:
    """Return velocities and accelerations of the joints that follow the path, bodies keeping their shape, (n, nv) each."""
    joints = np.flatnonzero(~modal_dofs(servo.mechanism))
    inverse = _inverse(servo.jacobian(q, at.t)[..., joints])
    v, vdot = np.zeros_like(q), np.zeros_like(q)
    v[:, joints] = -np.einsum("nij,nj->ni", inverse, servo.rate(q, v, at))
    vdot[:, joints] = -np.einsum("nij,nj->ni", inverse, servo.acceleration(q, v, at))
    return v, vdot


def rigid_forces(servo: Servo, q: Array, at: PathPoint) -> Array:
    """Return the driven forces of the path for bodies that keep their shape, (n, m): what an arm of rigid links would need."""
    joints = np.flatnonzero(~modal_dofs(servo.mechanism))
    force = servo.mechanism.tree.inverse_dynamics(q, *rigid_motion(servo, q, at), params=servo.params)[
        :, joints
    ]
    m, loops = len(servo.driven), len(servo.loop_rows)
    if not loops:
        return force[:, np.searchsorted(joints, servo.driven)]
    reach = np.zeros((len(q), servo.nv, m + loops))
    reach[:, servo.driven, np.arange(m)] = 1.0
    reach[:, :, m:] = -np.swapaxes(servo.jacobian(q, at.t)[:, :loops], -1, -2)
    return np.einsum("nij,nj->ni", np.linalg.pinv(reach[:, joints]), force)[:, :m]


def _inverse(A: Array) -> Array:
    """Return the inverses of matrices, (n, k, k); of rectangular and singular ones those of least squares."""
    if A.shape[-1] == A.shape[-2]:
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.linalg.inv(A)
    return np.linalg.pinv(A)
