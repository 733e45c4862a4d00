"""The open-loop test of Wong 1991, section 3.5: torques from inverse dynamics are played back without feedback."""

from __future__ import annotations

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.simulation.integrate import RK4

Array = np.ndarray


def profile(t: Array | float, period: float, joints: int) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration of every joint, (..., joints) [rad, rad/s, rad/s^2].

    theta = (w t - sin w t) / 2 with w = 2 pi / period: from 0 to pi (Wong 1991, eq. 3.43).
    """
    w = 2 * np.pi / period
    phase = w * np.multiply.outer(t, np.ones(joints))
    return (phase - np.sin(phase)) / 2, w * (1 - np.cos(phase)) / 2, w**2 * np.sin(phase) / 2


def torques(arm: Mechanism, t: Array | float, period: float) -> Array:
    """Return the joint torques that the profile needs, (..., joints) [N m]."""
    return arm.inverse_dynamics(*profile(t, period, arm.nv))


def replay(arm: Mechanism, period: float, step: float) -> tuple[Array, Array, Array, Array]:
    """Run the mechanism open loop over one period with RK4, the torque taken at the times of the stages.

    Returns
    -------
    t : array, (steps + 1,) [s]
    errors : three arrays, (steps + 1, joints) [deg, deg/s, deg/s^2]
        Desired minus actual position, velocity and acceleration.
    """
    n = arm.nv

    def rate(t: float, x: Array) -> Array:
        return np.concatenate([x[n:], arm.forward_dynamics(x[:n], x[n:], torques(arm, t, period))])

    t, x = RK4().integrate(rate, 0.0, period, np.zeros(2 * n), round(period / step))
    q, v = x[:, :n], x[:, n:]
    actual = (q, v, arm.forward_dynamics(q, v, torques(arm, t, period)))
    position, velocity, acceleration = (np.degrees(d - a) for d, a in zip(profile(t, period, n), actual))
    return t, position, velocity, acceleration


def extreme(error: Array) -> float:
    """Return the entry of largest size, with its sign."""
    return float(error[np.argmax(np.abs(error))])


def growth_rate(arm: Mechanism, angle: float) -> float:
    """Return the largest real part of the poles with every joint at rest at one angle [1/s]."""
    poles = np.linalg.eigvals(arm.linearize(q=np.full(arm.nq, angle)).A)
    return float(poles.real.max())


def staggered_accelerations(arm: Mechanism) -> Array:
    """Return the accelerations at theta_i = 0.1 i, velocity 0.2 i, no torque, (joints,) [rad/s^2]."""
    i = np.arange(1, arm.nv + 1)
    return arm.forward_dynamics(0.1 * i, 0.2 * i, np.zeros(arm.nv))
