"""Newton-Euler equations of a chain in ground axes, on plain numbers: a check that shares nothing with the engine."""

from __future__ import annotations

import numpy as np

from articulus.bench.models import Array, Model

GRAVITY = 9.81


def residual(model: Model, q: Array, v: Array, tau: Array, vdot: Array) -> float:
    """Return how far joint forces are from those that the motion needs, relative to the largest without motion.

    Parameters
    ----------
    model : Model
        A chain of revolutes.
    q, v, tau, vdot : array, (n,)
        One state with its joint forces and accelerations.
    """
    scale = np.abs(joint_forces(model, q, 0 * v, 0 * v)).max() + np.abs(tau).max()
    return float(np.abs(joint_forces(model, q, v, vdot) - tau).max() / scale)


def joint_forces(model: Model, q: Array, v: Array, vdot: Array) -> Array:
    """Return the joint forces of a chain of revolutes, (n,) [N m]."""
    R, w, wdot, a = np.eye(3), np.zeros(3), np.zeros(3), np.array([0.0, 0.0, GRAVITY])
    bodies = []
    for link, angle, rate, acceleration in zip(model.links, q, v, vdot):
        arm = R @ link.at[:3, 3]
        a = a + _carried_acceleration(w, wdot, arm)
        R = R @ link.at[:3, :3] @ _about_z(angle)
        axis = R[:, 2]
        wdot = wdot + axis * acceleration + np.cross(w, axis * rate)
        w = w + axis * rate
        com, I = R @ link.com, R @ link.inertia @ R.T
        force = link.mass * (a + _carried_acceleration(w, wdot, com))
        moment = I @ wdot + np.cross(w, I @ w) + np.cross(com, force)
        bodies.append((arm, axis, force, moment))
    return _moments_from_tip(bodies)


def _moments_from_tip(bodies: list[tuple[Array, Array, Array, Array]]) -> Array:
    """Return the moments about the joint axes that carry all bodies further out."""
    force, moment, forces = np.zeros(3), np.zeros(3), []
    for arm, axis, own_force, own_moment in reversed(bodies):
        force, moment = force + own_force, moment + own_moment
        forces.append(axis @ moment)
        moment = moment + np.cross(arm, force)
    return np.array(forces[::-1])


def _carried_acceleration(w: Array, wdot: Array, arm: Array) -> Array:
    """Return the acceleration that turning gives to a point at the end of an arm."""
    return np.cross(wdot, arm) + np.cross(w, np.cross(w, arm))


def _about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
