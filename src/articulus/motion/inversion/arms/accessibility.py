"""Which directions of the tip the driven joints can move, at a pose or along a path, and which not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.constrained_numbers import constrained_inverse
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.motion.inversion.arms.outputs import read_outputs
from articulus.motion.inversion.arms.servo import Servo
from articulus.simulation.solve.assembly import modal_dofs

Array = np.ndarray

LOST = 1e-6
"""Authority below which a direction counts as out of reach."""
WEAK = 1e-2
"""Authority below which a direction is called weak."""
NAMED = 0.1
"""Share of the largest component of a direction from which a component is named."""


@dataclass(frozen=True)
class Accessibility:
    """What driven joints can do to outputs, at one pose or along a path.

    Attributes
    ----------
    authority : array, (poses, m)
        Cosines between what the driven joints and what forces on the outputs do, in the metric of the mass matrix, largest first: 1 is a
        joint at the output itself, 0 a direction that cannot be moved at once. Flexible bodies move with it.
    rigid : array, (poses, m)
        The same with rigid bodies: what the joints can do slowly. 0 at kinematic singularities.
    weakest : array, (poses, m)
        Direction of least authority (of the rigid one where that is less), over the outputs, unit length.
    output_names : tuple of str
    """

    authority: Array
    rigid: Array
    weakest: Array
    output_names: tuple[str, ...]

    @property
    def least(self) -> float:
        """Least authority of all poses."""
        return float(np.minimum(self.authority, self.rigid).min())

    @property
    def ok(self) -> bool:
        """Whether every direction can be moved at every pose."""
        return self.least > LOST

    def name_direction(self, pose: int | None = None) -> str:
        """Return the direction of least authority in words, such as "tip.z"; at the worst pose if none is given."""
        worst = int(np.minimum(self.authority, self.rigid).min(1).argmin()) if pose is None else pose
        return _in_words(self.weakest[worst], self.output_names)

    def __str__(self) -> str:
        what = "cannot move" if not self.ok else "hardly move" if self.least < WEAK else "move least"
        least, elastic, rigid = (
            f"{x:.3g}" if x > LOST else "0" for x in (self.least, self.authority.min(), self.rigid.min())
        )
        return f"driven joints {what} {self.name_direction()}: authority {least} (elastic {elastic}, rigid {rigid})"


def accessibility(
    mechanism: Mechanism,
    tip: str,
    actuators: Sequence[str],
    q: Any = None,
    *,
    outputs: Sequence[str] = ("x", "y"),
    params: Mapping[str, Any] | None = None,
) -> Accessibility:
    """Return which directions of the outputs the driven joints can move.

    Parameters
    ----------
    mechanism : Mechanism
    tip, joints, outputs, params
        As for `tip_torques`.
    q : array, (..., nq), or dict of names
        Poses, with loops closed; neutral if not given.
    """
    actuators = (actuators,) if isinstance(actuators, str) else tuple(actuators)
    servo = Servo(mechanism, read_outputs(mechanism, tip, outputs), actuators, params)
    poses = mechanism.positions(q).reshape(-1, mechanism.nq)
    servo.keep_independent_rows(poses[0], 0.0)
    return authority_of(servo, poses, np.zeros(len(poses)))


def authority_of(servo: Servo, q: Array, t: Array) -> Accessibility:
    """Return what the driven joints of a servo can do at poses with closed loops, (poses, nq), and times (poses,)."""
    modal = modal_dofs(servo.mechanism)
    joints = np.flatnonzero(~modal)
    driven = np.zeros((servo.nv, len(servo.driven)))
    driven[servo.driven, np.arange(len(servo.driven))] = 1.0
    M, C = servo.mechanism.mass_matrix(q, params=servo.params), servo.jacobian(q, t)
    whole, direction = _cosines(M, C, driven, len(servo.loop_rows))
    plain = np.where(modal, 0.0, q)
    M, C = servo.mechanism.mass_matrix(plain, params=servo.params), servo.jacobian(plain, t)
    M, C = M[:, joints[:, None], joints], C[..., joints]
    rigid, rigid_direction = _cosines(M, C, driven[joints], len(servo.loop_rows))
    weakest = np.where((rigid[:, -1] < whole[:, -1])[:, None], rigid_direction, direction)
    return Accessibility(whole, rigid, weakest, servo.output_names)


def require_access(servo: Servo, q: Array, t: Array) -> None:
    """Raise InputError that names the direction that driven joints cannot move at some pose of a path, and when."""
    found = authority_of(servo, q, t)
    if found.ok:
        turned = np.flatnonzero(np.diff(_signs(servo, q, t)))
        if len(turned):
            k = int(turned[0])
            raise InputError(
                f"between t = {t[k]:.4g} and {t[k + 1]:.4g} s the driven joints lose {found.name_direction(k)}: forces first move it one way, then the "
                f"other (authority {found.authority[k, -1]:.2g}). Expected another choice of joints or outputs, or other modes of the flexible bodies, "
                "whose response at the first instant this is"
            )
        return
    k = int(np.minimum(found.authority, found.rigid).min(1).argmin())
    locked = _remark_on_locking(servo, q[k], t[k])
    raise InputError(
        f"the joints {', '.join(servo.mechanism.v_names[i] for i in servo.driven)} cannot move {found.name_direction(k)} at t = {t[k]:.4g} s (authority "
        f"{found.least:.2g}){locked}; expected joints whose axes can move it, other outputs, or a path that keeps away from the singular pose"
    )


def _signs(servo: Servo, q: Array, t: Array) -> Array:
    """Return the sign of the determinant of the outputs' accelerations by driven forces, (poses,)."""
    loops = len(servo.loop_rows)
    M, C = servo.mechanism.mass_matrix(q, params=servo.params), servo.jacobian(q, t)
    W = constrained_inverse(M, C[:, :loops])[0] if loops else np.linalg.inv(M)
    return np.sign(np.linalg.det(C[:, loops:] @ W[..., servo.driven]))


def _remark_on_locking(servo: Servo, q: Array, t: float) -> str:
    """Return a remark where the loops leave fewer motions than there are outputs."""
    joints = np.flatnonzero(~modal_dofs(servo.mechanism))
    plain = np.where(modal_dofs(servo.mechanism), 0.0, q)
    G = servo.whole.constraint_jacobian(plain, t, params=servo.params)[servo.loop_rows][:, joints]
    left = len(joints) - (np.linalg.matrix_rank(G) if len(G) else 0)
    return f": the loops leave {left} motions to the joints" if left < len(servo.outputs) else ""


def _cosines(M: Array, C: Array, driven: Array, loops: int) -> tuple[Array, Array]:
    """Return singular values of (J W J')^-1/2 J W B (B' W B)^-1/2, (poses, m), and the direction of the least, (poses, m).

    W is the inverse of the mass matrix with the loops closed.
    """
    G, J = C[:, :loops], C[:, loops:]
    W = constrained_inverse(M, G)[0] if loops else np.linalg.inv(M)
    at_outputs, rows = _inverse_root(J @ W @ np.swapaxes(J, -1, -2))
    at_joints, _ = _inverse_root(driven.T @ W @ driven)
    U, s, _ = np.linalg.svd(at_outputs @ J @ W @ driven @ np.swapaxes(at_joints, -1, -2))
    weakest = np.einsum("ni,nij->nj", U[..., -1], rows)
    length = np.linalg.norm(weakest, axis=-1, keepdims=True)
    return s, weakest / np.where(length > 0, length, 1.0)


def _inverse_root(A: Array) -> tuple[Array, Array]:
    """Return R with R A R' = 1, zero along directions that do not move at all, and the same with 1 in place of these zeros."""
    scale = np.sqrt(np.maximum(np.einsum("nii->ni", A), 1e-300))
    values, vectors = np.linalg.eigh(A / (scale[:, :, None] * scale[:, None, :]))
    kept = values > LOST**2
    full = 1 / np.sqrt(np.where(kept, values, 1.0))
    rows = np.swapaxes(vectors, -1, -2) / scale[:, None, :]
    return np.where(kept, full, 0.0)[..., None] * rows, full[..., None] * rows


def _in_words(direction: Array, names: Sequence[str]) -> str:
    """Return a direction as a text: its largest components."""
    size = np.abs(direction)
    if size.max() == 0:
        return ", ".join(names)
    shown = [k for k in np.argsort(-size) if size[k] >= NAMED * size.max()]
    if len(shown) == 1:
        return names[shown[0]]
    signed = direction * np.sign(direction[shown[0]])
    return " ".join(f"{signed[k]:+.2f} {names[k]}" for k in shown)
