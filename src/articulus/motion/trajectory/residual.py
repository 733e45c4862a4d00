"""What swings on after a motion of a mechanism with flexible bodies, when its joints are locked at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from articulus.errors import InputError

if TYPE_CHECKING:
    from articulus.motion.trajectory.plans import Plan


@dataclass(frozen=True, eq=False)
class Residual:
    """Vibration of a frame after a motion.

    Parameters
    ----------
    hertz : array, (modes,) [Hz]
        Natural frequencies with locked joints, the lowest first.
    amplitude : array, (modes,) [m]
        Amplitude of the frame's origin at each of them: half of the whole swing.
    energy : float [J]
        That swings on.
    """

    hertz: np.ndarray
    amplitude: np.ndarray
    energy: float

    @property
    def largest(self) -> float:
        """Distance from rest that the frame cannot exceed: the sum of the amplitudes [m]."""
        return float(self.amplitude.sum())

    def __str__(self) -> str:
        rows = [f"{1e3 * a:.3g} mm at {f:.3g} Hz" for f, a in zip(self.hertz[:3], self.amplitude[:3])]
        return f"swings on by {', '.join(rows)}; {self.energy:.2g} J"


def residual_vibration(plan: Plan, frame: str) -> Residual:
    """Return the vibration after a simulation with the planned forces; see `Plan.residual_vibration`."""
    task, m = plan.task, plan.mechanism
    assert task is not None
    rows, places = task.modes
    if not rows.size or m.constraint_names:
        raise InputError("residual_vibration: expected an open mechanism with flexible bodies")
    run = plan.run(track=False)
    end, speed = run.q[-1], run.v[-1]
    straight = end.copy()
    straight[places] = 0.0
    rest, still = task.settle(straight), np.zeros(m.nv)
    mass = m.mass_matrix(rest)
    M = mass[np.ix_(rows, rows)]
    K = np.asarray(m.inverse_dynamics_derivatives(rest, still, still)[0])[np.ix_(rows, rows)]
    squares, shapes = eigh((K + K.T) / 2, M)
    if squares[0] <= 0:
        raise InputError(
            "residual_vibration: the end is no stable position of the flexible bodies with locked joints"
        )
    omega = np.sqrt(squares)
    joints = np.setdiff1d(np.arange(m.nv), rows)
    pushed = (
        M @ speed[rows] + mass[np.ix_(rows, joints)] @ speed[joints]
    )  # the brakes act on the joints alone
    bent, moving = shapes.T @ M @ (end - rest)[places], shapes.T @ pushed
    size = np.hypot(bent, moving / omega)
    reach = np.linalg.norm(m.jacobian(frame, rest)[3:, rows] @ shapes, axis=0)
    return Residual(omega / (2 * np.pi), size * reach, float((squares * size**2).sum() / 2))
