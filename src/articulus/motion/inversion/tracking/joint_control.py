"""King's joint controller of a flexible arm with two sampling rates: slow computed torque, fast feedback of the deflection.

The slow part is computed torque of the arm with straight links; it needs the whole model and may be sampled slowly. Where the joints
yield to fast forces tau, the deflection obeys about the one that the slow part holds

    delta'' = -W22 (K delta + D delta') + W21 tau,    W = H^-1,

and the fast part, tau = -G (delta - delta_0, delta') by a linear quadratic regulator, makes it decay: a matrix times measured
deflections, which can be done fast.

Source: King 1988, section 4.9.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from articulus.control.design import Check
from articulus.control.synthesis.lqr import lqr
from articulus.control.synthesis.sampled_lq import lqrd
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.piezo.locked import at_rest
from articulus.motion.inversion.tracking.pseudolink import require_multiple, to_configurations
from articulus.simulation.loop.components import ComputedTorque, DeflectionFeedback
from articulus.simulation.loop.components.pseudolink import places
from articulus.simulation.running import Loop


@dataclass(frozen=True, eq=False)
class JointControlDesign:
    """A controller of the joints of a flexible arm, with a slow and a fast part.

    Parameters
    ----------
    mechanism : Mechanism
    kp, kd : array, (n,) [1/s^2], [1/s]
    positions : array, (k, nq)
        Positions of the arm at the configurations of the design, deflected by its weight.
    gains : array, (k, n, 2 m) [N m or N, and those times s]
        G at each configuration.
    fast_poles : complex array, (k, 2 m) [1/s]
        Fast poles of the deflection with the fast part, joints giving way.
    checks : tuple of Check
        Stability of the whole loop at each configuration, with the sampling periods of the design.
    """

    mechanism: Mechanism
    kp: np.ndarray
    kd: np.ndarray
    positions: np.ndarray
    gains: np.ndarray
    fast_poles: np.ndarray
    checks: tuple[Check, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the whole loop is stable at every configuration."""
        return all(check.passed for check in self.checks)

    def components(
        self, target: Any, *, slow: float | None = None, fast: float | None = None, **fields: Any
    ) -> tuple[ComputedTorque, DeflectionFeedback]:
        """Return the controller as components for `simulate` and `Loop`: the slow part, then the fast one.

        Parameters
        ----------
        target : numbers, Table or casadi.Function of t [rad or m]
            Target of the joints.
        slow, fast : float [s]
            Sampling periods of the two parts; continuous if not given.
        **fields
            Of `ComputedTorque`: rate, acceleration, model, measured.
        """
        k, n, width = self.gains.shape
        joints = places(self.mechanism.description)[0]
        part = ComputedTorque(tuple(self.kp), tuple(self.kd), target, rigid=True, period=slow, **fields)
        feedback = DeflectionFeedback(
            self.gains.reshape(k * n, width),
            self.positions[:, joints] if k > 1 else None,
            f"{part.name}.deflection",
            period=fast,
        )
        return part, feedback

    def poles(self, slow: float | None = None, fast: float | None = None, *, at: int = 0) -> np.ndarray:
        """Return the poles of the whole loop about a configuration of the design [1/s].

        Parameters
        ----------
        slow, fast : float [s]
            Sampling periods, one a whole number of the other; both continuous if not given.
        at : int
            Number of the configuration.
        """
        if (slow is None) != (fast is None):
            raise InputError(
                "joint_control: found one sampling period of two; expected both, or none for continuous parts"
            )
        joints = places(self.mechanism.description)[0]
        parts = self.components(tuple(self.positions[at, joints]), slow=slow, fast=fast)
        step = 1e-3 if slow is None or fast is None else require_multiple("joint_control", slow, fast)
        return (
            Loop(self.mechanism, components=parts)
            .linearize(self.positions[at], step=step, trimmed=True)
            .poles
        )

    def __str__(self) -> str:
        return "\n".join(["joint control: slow and fast part", *(f"  {check}" for check in self.checks)])


def joint_control(
    mechanism: Mechanism,
    *,
    at: Any,
    kp: Any = 100.0,
    kd: Any = 20.0,
    weight: float = 1.0,
    R: Any = None,
    slow: float | None = None,
    fast: float | None = None,
) -> JointControlDesign:
    """Return the joint controller of a flexible arm with a fast part against vibration, checked for small motion.

    Parameters
    ----------
    mechanism : Mechanism
        Open arm with flexible bodies and a motor in every joint.
    at : position (nq,) or dict of joint to number, or a sequence of them
        Configurations of the design; on the way the gain of the nearest is taken.
    kp, kd : numbers [1/s^2], [1/s]
        Gains of the slow part: e'' + kd e' + kp e = 0 where links do not bend.
    weight : float
        Weight of the elastic and kinetic energy of the deflection.
    R : number or (n, n) [J/(N m)^2]
        Weight of the fast forces; one over the mean stiffness kp H11 of the joints if not given.
    slow, fast : float [s]
        Sampling periods with which the loop is checked, and for which the fast gain is the best; continuous if not given.

    Raises
    ------
    NumericalError
        The whole loop is not stable at a configuration.
    """
    joints, modal = places(mechanism.description)
    if not modal or not joints or mechanism.description.constraints or mechanism.nq != mechanism.nv:
        raise InputError(
            f"joint_control: found '{mechanism.name}'; expected an open arm with flexible bodies and joints whose velocities are the "
            "rates of their coordinates"
        )
    n = len(joints)
    stiff, damped = (np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in (kp, kd))
    found = [_at(mechanism, q, joints, modal, stiff, weight, R, fast) for q in to_configurations(at)]
    positions, gains, fast_poles = (np.stack(x) for x in zip(*found))
    design = JointControlDesign(mechanism, stiff, damped, positions, gains, fast_poles)
    worst = [float(design.poles(slow, fast, at=k).real.max()) for k in range(len(found))]
    if max(worst) >= 0:
        k = int(np.argmax(worst))
        raise NumericalError(
            f"joint_control: the whole loop has a pole at {worst[k]:.4g} 1/s at configuration {k}; lower kp and kd, or sample faster"
        )
    checks = tuple(
        Check(f"largest real part of the whole loop at configuration {k} [1/s]", x, 0.0, x < 0)
        for k, x in enumerate(worst)
    )
    return dataclasses.replace(design, checks=checks)


def _at(
    mechanism: Mechanism,
    q: Any,
    joints: list[int],
    modal: list[int],
    kp: np.ndarray,
    weight: float,
    R: Any,
    fast: float | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, gain and fast poles at one configuration."""
    straight = np.array(mechanism.positions(q), dtype=float)
    straight[modal] = 0.0
    position = at_rest(mechanism, straight, np.array(modal), np.array(modal))
    still = np.zeros(mechanism.nv)
    tangent, damping, H = mechanism.inverse_dynamics_derivatives(position, still, still)
    W, own = np.linalg.inv(H), np.ix_(modal, modal)
    W22, m = W[own], len(modal)
    A = np.block([[np.zeros((m, m)), np.eye(m)], [-W22 @ tangent[own], -W22 @ damping[own]]])
    B = np.vstack([np.zeros((m, len(joints))), W[np.ix_(modal, joints)]])
    R = float(1.0 / (np.diag(H)[joints].mean() * kp.mean())) if R is None else R
    stiffness = block_diag(*(b.modes.stiffness for b in mechanism.description.bodies if b.modes is not None))
    Q = weight * block_diag(stiffness, np.linalg.inv(W22))
    design = lqr((A, B), Q, R) if fast is None else lqrd((A, B), Q, R, fast)
    return position, design.gain, np.sort_complex(np.linalg.eigvals(A - B @ design.gain))
