"""Poses of rest at the ends of a path, and the internal motions about them: zeros, and what grows or decays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.arms.servo import PathPoint, Servo
from articulus.numerics.subspaces import invariant_subspace, near_axis

Array = np.ndarray

STEPS = 40
"""Newton steps until a pose of rest counts as not found."""
CLOSED = 1e-10
"""Residual of outputs and loops at a pose of rest [m, rad]."""
SMALL = 1e-9
"""Last Newton step at a pose of rest, over the size of the coordinates."""
UNDETERMINED = 1e-13
"""Singular value over the largest below which a motion meets no force and stays as estimated."""
HYPERBOLIC = 1e-6
"""Real part of a zero over its size below which it lies on the imaginary axis."""
SLOW = 1e-7
"""Real part of a zero over the largest zero below which it lies there too: rounding."""


@dataclass(frozen=True)
class RestPose:
    """A pose at which the mechanism is held by the driven joints, and the internal motion about it.

    Attributes
    ----------
    q : array, (nq,)
    tau : array, (m,)
        Driven forces that hold it.
    mass : array, (nv, nv)
        Mass matrix.
    tangent : array, (nv, nz)
        Orthonormal directions that outputs and loops leave free.
    zeros : complex array, (2 nz,) [1/s]
        Zeros of the linear model about the pose, from driven forces to outputs.
    stable, unstable : array, (ns, 2 nz) and (nu, 2 nz)
        Rows whose products with (tangent' dq, tangent' v) are the decaying and the growing part of an internal motion.
    """

    q: Array
    tau: Array
    mass: Array
    tangent: Array
    zeros: Array
    stable: Array
    unstable: Array

    def length(self, x: Array) -> Array:
        """Return the lengths of displacements or velocities, (..., nv), weighted by the mass matrix: a common measure of joints and modes."""
        return np.sqrt(np.maximum(((x @ self.mass) * x).sum(-1), 0.0))

    @property
    def growth(self) -> float:
        """Slowest rate at which a growing internal motion grows [1/s]; inf if none grows."""
        return float(self.zeros.real[self.zeros.real > 0].min(initial=np.inf))

    @property
    def decay(self) -> float:
        """Slowest rate at which a decaying internal motion decays [1/s]; inf if none decays."""
        return float((-self.zeros.real[self.zeros.real < 0]).min(initial=np.inf))


def rest(servo: Servo, q: Array, at: PathPoint, where: str) -> RestPose:
    """Return the pose of rest near a position.

    Parameters
    ----------
    servo : Servo
    q : array, (nq,)
    at : PathPoint
        One time, with outputs at rest.
    where : str
        For messages: "start" or "end".
    """
    still = np.zeros((1, servo.nv))
    try:
        poses = balanced(servo, q[None], still, still, at)
    except NumericalError as reason:
        raise NumericalError(f"no pose of rest found at the {where} of the path: {reason}") from None
    q, motion = poses[0], servo.motion(poses, still, at)
    by_q, by_v, _ = servo.derivatives(q[None], still, at, motion)
    C = servo.jacobian(q[None], at.t)[0]
    N = np.linalg.svd(C)[2][len(C) :].T
    nz = N.shape[1]
    A = np.block([[np.zeros((nz, nz)), np.eye(nz)], [N.T @ by_q[0] @ N, N.T @ by_v[0] @ N]])
    zeros = np.linalg.eigvals(A) if nz else np.zeros(0, complex)
    _require_hyperbolic(zeros, where)
    stable, unstable = (
        invariant_subspace(A.T, zeros, part).basis.T for part in (zeros.real < 0, zeros.real > 0)
    )
    M = servo.mechanism.mass_matrix(q, params=servo.params)
    return RestPose(q, motion.tau[0], M, N, zeros[np.argsort(np.abs(zeros))], stable, unstable)


def balanced(servo: Servo, q: Array, v: Array, vdot: Array, at: PathPoint) -> Array:
    """Return the positions near an estimate at which given velocities and accelerations are in balance: Newton's method.

    Outputs and loops are as wanted, and the accelerations that keep them so are `vdot` in the directions that they leave free: at rest
    the pose that the driven joints hold, else the deflection that follows the motion of the joints without vibration.

    Parameters
    ----------
    q, v, vdot : array, (n, nv)
    at : PathPoint
        n times.
    """
    forces = np.zeros((len(q), len(servo.driven) + len(servo.loop_rows)))
    for _ in range(STEPS):
        off = servo.residual(q, at)
        A, lacking = servo.balance(q, v, vdot, at, forces)
        step, forces = _least(A, -np.concatenate([lacking, off], axis=1), servo.nv)
        q = q + step
        if (
            np.abs(step).max(initial=0.0) < SMALL * (1 + np.abs(q).max(initial=0.0))
            and np.abs(off).max() < CLOSED
        ):
            return q
    raise NumericalError(
        f"outputs or loops stay off by {np.abs(off).max():.3g} m or rad, last step {np.abs(step).max():.3g}; expected a point within reach, "
        "and an estimate q of the first pose near it"
    )


def _least(A: Array, right: Array, nv: int) -> tuple[Array, Array]:
    """Return the smallest solutions of equations with scaled rows and columns, split after nv entries."""
    rows = _positive(np.abs(A).max(2, keepdims=True))
    columns = _positive(np.abs(A / rows).max(1, keepdims=True))
    x = np.linalg.pinv(A / rows / columns, rcond=UNDETERMINED) @ (right[..., None] / rows)
    x = x[..., 0] / columns[:, 0]
    return x[:, :nv], x[:, nv:]


def _positive(scale: Array) -> Array:
    return np.where(scale > 0, scale, 1.0)


def _require_hyperbolic(zeros: Array, where: str) -> None:
    """Raise InputError for zeros on the imaginary axis."""
    on_axis = zeros[near_axis(zeros, HYPERBOLIC, SLOW * np.abs(zeros).max(initial=0.0))]
    if len(on_axis):
        values = ", ".join(f"+-{abs(z):.4g}i" for z in sorted(on_axis[on_axis.imag >= 0], key=abs)[:4])
        raise InputError(
            f"zeros on the imaginary axis at the {where} of the path: {values} 1/s. At constant outputs the mechanism vibrates there "
            "for ever, so no forces that begin and end exist. Expected damping of the flexible bodies, other outputs, or joints that drive "
            "the root of a body that is clamped at its root (a motor turns the body's frame)"
        )
