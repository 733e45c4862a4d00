"""What a run along a path keeps to: forces, speeds and accelerations of the joints, speed of a tool; trees and closed loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.api import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.trajectory.path_curves import Curve

FAR = 1e12
"""Squared rate of s where nothing limits it."""


@dataclass(frozen=True, eq=False)
class PathLimits:
    """Limits along a path, and what the motors do there.

    Parameters
    ----------
    mechanism : Mechanism
    curve : callable
        s -> positions, first and second derivatives by s, (..., len(s), n) each.
    motors : array of int
        Velocities that motors act on.
    effort : array, (motors,) [N m or N]
    velocity, acceleration : array, (nv,) [rad/s or m/s, rad/s^2 or m/s^2]
    tool : (str, float) [m/s]
        Frame and the limit of its speed.
    friction : array, (motors,) [N m or N]
        Dry friction.
    speeds : (float, float) [1/s]
        Rates of s at the ends.
    duration : float [s]
        Given, or the least.
    """

    mechanism: Mechanism
    curve: Curve
    motors: np.ndarray
    effort: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    tool: tuple[str, float] | None
    friction: np.ndarray
    speeds: tuple[float, float]
    duration: float | None = None
    damped: bool = field(default=False)

    def motor_forces(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the forces of the motors, dry friction left out, (..., motors) [N m or N]."""
        m = self.mechanism
        if not m.constraint_names:
            return m.inverse_dynamics(q, v, a)
        names = [m.v_names[k] for k in self.motors]
        return m.inverse_dynamics(q, v, a, actuators=names)[..., self.motors]

    def forces(self, q: Any, first: Any, second: Any, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the forces of the motors with squared rates x of s and its second derivatives u, (..., motors)."""
        v = first * np.sqrt(x)[..., None]
        out = self.motor_forces(q, v, second * x[..., None] + first * u[..., None])
        return out + self.friction * np.sign(first[..., self.motors]) if self.friction.any() else out

    def coefficients(self, q: Any, first: Any, second: Any) -> tuple[np.ndarray, ...]:
        """Return a, b, c, d of the forces a s'' + b s'^2 + c + d s', (..., motors) each."""
        zero = np.zeros_like(q)
        rest = self.motor_forces(q, zero, zero)
        a = self.motor_forces(q, zero, first) - rest
        ahead = self.motor_forces(q, first, second)
        if self.damped:
            back = self.motor_forces(q, -first, second)
            b, d = (ahead + back) / 2 - rest, (ahead - back) / 2
        else:
            b, d = ahead - rest, np.zeros(())
        if self.friction.any():
            rest = rest + self.friction * np.sign(first[..., self.motors])
        return a, b, rest, d

    def top(self, q: Any, first: Any) -> np.ndarray:
        """Return the squared rates of s at which some joint or the tool is at its largest speed."""
        rate = np.max(np.abs(first) / self.velocity, axis=-1)
        if self.tool is not None:
            J = self.mechanism.jacobian(self.tool[0], q)[..., 3:, :]
            speed = np.linalg.norm((J @ first[..., None])[..., 0], axis=-1)
            rate = np.maximum(rate, speed / self.tool[1])
        return np.minimum(1 / np.maximum(rate, 1e-100) ** 2, FAR)

    def loads(self, q: Any, first: Any, second: Any, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return forces, accelerations and the speed over their limits, (..., motors + nv + 1)."""
        forces = np.abs(self.forces(q, first, second, x, u)) / self.effort
        a = np.abs(second * x[..., None] + first * u[..., None]) / self.acceleration
        speed = np.sqrt(x / self.top(q, first))
        return np.concatenate([forces, a, speed[..., None]], axis=-1)


def limit_values(m: Mechanism, what: str, held: Mapping[str, float] | float | None) -> np.ndarray:
    """Return the limits of all velocities, (nv,), infinite where there is none."""
    values = np.full(m.nv, np.inf)
    own = {c.name: c.limits for c in m.description.connections}
    given = held if isinstance(held, Mapping) else {}
    for joint in given:
        if joint not in m.joint_names:
            raise InputError(f"path_speed: {what}: found '{joint}'{did_you_mean(joint, m.joint_names)}")
    for joint in m.joint_names:
        part = m.v_slice(joint)
        numbers = getattr(own[joint], what, ()) if joint in own else ()
        if numbers:
            values[part] = np.array([float(x) for x in numbers])
        if held is not None:
            values[part] = given.get(joint, values[part]) if isinstance(held, Mapping) else held
    if not (values > 0).all():
        raise InputError(f"path_speed: {what} = {values}; expected numbers above zero")
    return values
