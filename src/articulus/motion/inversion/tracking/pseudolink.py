"""King's composite controller of the tip of a flexible arm: slow computed torque of pseudolinks, fast feedback of the deflection.

Pseudolinks are the links of the rigid arm whose tip is where that of the flexible arm is; gamma are their angles, gamma' = E (q' + F delta').
Joint forces under which gamma'' = nu leave for the deflection, about rest,

    S delta'' + D delta' + K delta + H21 E^-1 nu = 0,  S = H22 - H21 F,

the zero dynamics of the tip. S is not definite, so they are not stable: nu = nu_slow + nu_fast, where nu_fast = -G (delta - delta_0,
delta') makes the deflection decay to delta_0, that which nu_slow would hold, by a linear quadratic regulator.

Source: King 1988, chapter 4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
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
from articulus.numerics.newton import newton
from articulus.simulation.loop.components import DeflectionFeedback, Pseudolink
from articulus.simulation.loop.components.pseudolink import places
from articulus.simulation.running import Loop

REACHED = 1e-11
"""Error of the places of a rigid arm over the reach of its joints [rad]."""


@dataclass(frozen=True, eq=False)
class PseudolinkDesign:
    """A composite controller of the tip.

    Parameters
    ----------
    mechanism : Mechanism
    tip : tuple of str
    angular : bool
    kp, kd : array, (n,) [1/s^2], [1/s]
    positions : array, (k, nq)
        Positions of the arm at the configurations of the design, deflected by its weight.
    angles : array, (k, n) [rad or m]
        Angles of the pseudolinks there: what `target` has to be to hold the arm.
    gains : array, (k, n, 2 m)
        G at each configuration.
    zeros : complex array, (k, 2 m) [1/s]
        Poles of the deflection without the fast part: the zero dynamics of the tip.
    fast_poles : complex array, (k, 2 m) [1/s]
        With it.
    poles : complex array, (k, 2 n + 2 m) [1/s]
        Poles of the whole loop, slow and fast together, for small motion and without sampling.
    checks : tuple of Check
    """

    mechanism: Mechanism
    tip: tuple[str, ...]
    angular: bool
    kp: np.ndarray
    kd: np.ndarray
    positions: np.ndarray
    angles: np.ndarray
    gains: np.ndarray
    zeros: np.ndarray
    fast_poles: np.ndarray
    poles: np.ndarray
    checks: tuple[Check, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the whole loop is stable at every configuration."""
        return all(check.passed for check in self.checks)

    def components(
        self, target: Any, *, slow: float | None = None, fast: float | None = None, **fields: Any
    ) -> tuple[Pseudolink, DeflectionFeedback]:
        """Return the controller as components for `simulate` and `Loop`: the slow part, then the fast one.

        Parameters
        ----------
        target : numbers, Table or casadi.Function of t [rad or m]
            Angles of the pseudolinks: joint angles of the rigid arm on the desired motion of the tip.
        slow, fast : float [s]
            Sampling periods of the two parts; continuous if not given.
        **fields
            Of `Pseudolink`: rate, acceleration, model.
        """
        k, n, width = self.gains.shape
        joints = places(self.mechanism.description)[0]
        part = Pseudolink(
            self.tip, tuple(self.kp), tuple(self.kd), target, angular=self.angular, period=slow, **fields
        )
        feedback = DeflectionFeedback(
            self.gains.reshape(k * n, width),
            self.positions[:, joints] if k > 1 else None,
            f"{part.name}.deflection",
            f"{part.name}.authority",
            period=fast,
        )
        return part, feedback

    def sampled_poles(self, slow: float, fast: float, *, at: int = 0) -> np.ndarray:
        """Return the poles of the whole loop with sampled parts about a configuration of the design [1/s].

        Parameters
        ----------
        slow, fast : float [s]
            Sampling periods; one a whole number of the other.
        at : int
            Number of the configuration.
        """
        step = require_multiple("pseudolink", slow, fast)
        parts = self.components(tuple(self.angles[at]), slow=slow, fast=fast)
        return Loop(self.mechanism, components=parts).linearize(self.positions[at], step=step).poles

    def __str__(self) -> str:
        return "\n".join(["pseudolink: slow and fast part", *(f"  {check}" for check in self.checks)])


def pseudolink(
    mechanism: Mechanism,
    tip: str | Sequence[str],
    *,
    at: Any,
    kp: Any = 100.0,
    kd: Any = 20.0,
    weight: float = 1.0,
    R: Any = None,
    angular: bool = False,
    fast: float | None = None,
) -> PseudolinkDesign:
    """Return the composite controller of the tip of a flexible arm, checked for small motion at its configurations.

    Parameters
    ----------
    mechanism : Mechanism
        Open arm with flexible bodies, of any number of modes.
    tip : str, or one name for each joint
        Frame to be controlled, whose place tells all joints; or the frame of each joint, such as the ends of the links (see `Pseudolink`).
    at : position (nq,) or dict of joint to number, or a sequence of them
        Configurations of the design; on the way the gain of the nearest is taken.
    kp, kd : numbers [1/s^2], [1/s]
        Gains of the slow part: e'' + kd e' + kp e = 0.
    weight : float
        Weight of the elastic and kinetic energy of the deflection.
    R : number or (n, n) [kg m^2 s^2]
        Weight of the accelerations that the fast part adds; the mean inertia of the joints over kp if not given.
    angular : bool
        Whether the orientation of the tip counts as well; see `Pseudolink`.
    fast : float [s]
        Sampling period of the fast part for which its gain is to be the best; continuous if not given.

    Raises
    ------
    NumericalError
        The whole loop is not stable at a configuration: the slow part is too fast for the vibration, or the fast one too weak.
    """
    joints, modal = places(mechanism.description)
    n = len(joints)
    frames = (tip,) if isinstance(tip, str) else tuple(tip)
    if not modal or not joints or mechanism.description.constraints:
        raise InputError(
            f"pseudolink: found '{mechanism.name}'; expected an open arm with joints and flexible bodies"
        )
    if len(frames) not in (1, n):
        raise InputError(
            f"pseudolink, tip: found {len(frames)} frames; expected 1 or {n}, one for each joint"
        )
    stiff, damped = (np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in (kp, kd))
    designs = [
        _at(mechanism, frames, q, joints, modal, stiff, damped, weight, R, angular, fast)
        for q in to_configurations(at)
    ]
    poles = np.stack([each["poles"] for each in designs])
    positions, angles, gains, zeros, fast_poles = (
        np.stack([each[name] for each in designs])
        for name in ("positions", "angles", "gains", "zeros", "fast_poles")
    )
    design = PseudolinkDesign(
        mechanism, frames, angular, stiff, damped, positions, angles, gains, zeros, fast_poles, poles
    )
    worst = poles.real.max(1)
    if fast is not None:
        worst = np.array([design.sampled_poles(fast, fast, at=k).real.max() for k in range(len(designs))])
    if worst.max() >= 0:
        k = int(worst.argmax())
        raise NumericalError(
            f"pseudolink: the whole loop has a pole at {worst[k]:.4g} 1/s at configuration {k}, whose zero dynamics are at "
            f"{np.abs(designs[k]['zeros']).min():.4g} 1/s or faster; lower kp and kd, weight or R, or sample faster"
        )
    return dataclasses.replace(
        design,
        checks=tuple(
            Check(
                f"largest real part of the whole loop at configuration {k} [1/s]", float(x), 0.0, bool(x < 0)
            )
            for k, x in enumerate(worst)
        ),
    )


def require_multiple(what: str, slow: float, fast: float) -> float:
    """Return the shorter of two sampling periods; raise InputError unless one is a whole number of the other."""
    step = min(slow, fast)
    if not step > 0 or abs(max(slow, fast) / step - round(max(slow, fast) / step)) > 1e-9:
        raise InputError(
            f"{what}: found sampling periods {slow:g} and {fast:g} s; expected one to be a whole number of the other"
        )
    return step


def to_configurations(at: Any) -> Sequence[Any]:
    """Return configurations as a sequence: one position or dict, or several."""
    if isinstance(at, Mapping) or (not isinstance(at, Sequence) and np.ndim(at) == 1):
        return [at]
    if isinstance(at, Sequence) and at and isinstance(at[0], int | float):
        return [np.asarray(at, dtype=float)]
    return list(at)


def _at(
    mechanism: Mechanism,
    tip: tuple[str, ...],
    q: Any,
    joints: list[int],
    modal: list[int],
    kp: np.ndarray,
    kd: np.ndarray,
    weight: float,
    R: Any,
    angular: bool,
    fast: float | None,
) -> dict[str, np.ndarray]:
    """Return the design at one configuration."""
    straight = np.array(mechanism.positions(q), dtype=float)
    straight[modal] = 0.0
    position = at_rest(mechanism, straight, np.array(modal), np.array(modal))
    rows = slice(0 if angular else 3, 6)
    frames = tip if len(tip) == len(joints) else tip * len(joints)
    angles = _rigid_angles(mechanism, frames, position, joints, modal, rows)
    straight[joints] = angles
    own = _along(mechanism, frames, straight, joints, rows)
    W, moved = (
        np.array([a @ mechanism.jacobian(f, x)[rows] for a, f in zip(own, frames)])
        for x in (straight, position)
    )
    moves = np.linalg.solve(W[:, joints], moved)
    P = np.linalg.inv(moves[:, joints])
    F = P @ moves[:, modal]
    still = np.zeros(mechanism.nv)
    tangent, damping, H = mechanism.inverse_dynamics_derivatives(position, still, still)
    H11, H22, H21 = H[np.ix_(joints, joints)], H[np.ix_(modal, modal)], H[np.ix_(modal, joints)]
    K, D = (x[np.ix_(modal, modal)] - x[np.ix_(modal, joints)] @ F for x in (tangent, damping))
    m, n = len(modal), len(joints)
    push = np.hstack([H21 @ P, tangent[np.ix_(modal, joints)] @ P])
    solved = np.linalg.solve(H22 - H21 @ F, np.hstack([K, D, push]))
    A = np.block([[np.zeros((m, m)), np.eye(m)], [-solved[:, : 2 * m]]])
    B = np.vstack([np.zeros((m, n)), -solved[:, 2 * m : 2 * m + n]])
    by_angle = np.vstack([np.zeros((m, n)), -solved[:, 2 * m + n :]])
    R = float(np.diag(H11).mean() / kp.mean()) if R is None else R
    stiffness = block_diag(*(b.modes.stiffness for b in mechanism.description.bodies if b.modes is not None))
    Q = weight * block_diag(stiffness, H22)
    design = lqr((A, B), Q, R) if fast is None else lqrd((A, B), Q, R, fast)
    responses = np.linalg.solve(stiffness, np.hstack([push, K, D]))
    return {
        "positions": position,
        "angles": angles,
        "gains": design.gain,
        "zeros": np.sort_complex(np.linalg.eigvals(A)),
        "fast_poles": np.sort_complex(np.linalg.eigvals(A - B @ design.gain)),
        "poles": np.sort_complex(np.linalg.eigvals(_whole(A, B, by_angle, design.gain, responses, kp, kd))),
    }


def _rigid_angles(
    mechanism: Mechanism,
    frames: Sequence[str],
    position: np.ndarray,
    joints: list[int],
    modal: list[int],
    rows: slice,
) -> np.ndarray:
    """Return the joint angles of the rigid arm whose frames are where those of the arm are, (n,)."""
    place, straight = {f: mechanism.pose(f, position) for f in set(frames)}, position.copy()
    straight[modal] = 0.0

    def rigid(angles: np.ndarray) -> np.ndarray:
        out = straight.copy()
        out[joints] = angles
        return out

    def derivatives(angles: np.ndarray) -> np.ndarray:
        q = rigid(angles)
        own = _along(mechanism, frames, q, joints, rows)
        W = np.array([a @ mechanism.jacobian(f, q)[rows][:, joints] for a, f in zip(own, frames)])
        if np.linalg.matrix_rank(W, tol=1e-9 * np.abs(W).max()) < len(joints):
            raise InputError(
                f"pseudolink, at: the places of {list(dict.fromkeys(frames))} do not determine all joints in this configuration (singular); "
                "choose another, name the ends of the links, one for each joint, or let orientations count: angular = True"
            )
        return W

    def error(angles: np.ndarray) -> np.ndarray:
        q = rigid(angles)
        own = _along(mechanism, frames, q, joints, rows)
        return np.array([a @ _off(place[f], mechanism.pose(f, q))[rows] for a, f in zip(own, frames)])

    size = np.abs(derivatives(straight[joints])).max()
    angles, history = newton(
        straight[joints], error, lambda x, off: np.linalg.solve(derivatives(x), off), np.add, REACHED, size
    )
    if history[-1] <= REACHED * size:
        return angles
    raise NumericalError(
        "pseudolink: no rigid arm has its frames where those of the arm are; the deflection may be too large"
    )


def _along(
    mechanism: Mechanism, frames: Sequence[str], straight: np.ndarray, joints: list[int], rows: slice
) -> list[np.ndarray]:
    """Return the direction in which each joint of the rigid arm moves its frame."""
    return [mechanism.jacobian(f, straight)[rows, joints[k]] for k, f in enumerate(frames)]


def _off(place: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return rotation and displacement from one pose to another, (6,); the rotation to first order."""
    turn = place[:3, :3] @ found[:3, :3].T
    axis = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return np.concatenate([axis, place[:3, 3] - found[:3, 3]])


def _whole(
    A: np.ndarray,
    B: np.ndarray,
    by_angle: np.ndarray,
    G: np.ndarray,
    held: np.ndarray,
    kp: np.ndarray,
    kd: np.ndarray,
) -> np.ndarray:
    """Return A of the whole loop; states: error of the pseudolinks and its rate, deflection and its rate.

    `by_angle` is what an error adds to the rates of the deflection, `held` (m, 2 n + 2 m) the deflection over that which the present
    acceleration, error, deflection and its rate hold.
    """
    n, m = len(kp), len(held)
    slow = np.hstack([-np.diag(kp), -np.diag(kd), np.zeros((n, 2 * m))])
    over = held[:, :n] @ slow
    over[:, :n] += held[:, n : 2 * n]
    over[:, 2 * n :] += held[:, 2 * n :]
    rates = np.hstack([np.zeros((m, 2 * n + m)), np.eye(m)])
    nu = slow - G @ np.vstack([over, rates])
    top = np.hstack([np.zeros((n, n)), np.eye(n), np.zeros((n, 2 * m))])
    bottom = np.hstack([by_angle, np.zeros((2 * m, n)), A]) + B @ nu
    return np.vstack([top, nu, bottom])
