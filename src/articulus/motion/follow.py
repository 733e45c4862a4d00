"""Following a motion: feedback of a bounded bandwidth along it, and a simulation whose steps end where the motion does.

Where every degree of freedom has a motor, the gains are (M w^2 - dtau/dq, 2 M w) along the motion, with the inertia M and what forces of the motion change by
per change of position, mostly gravity: deviations of all joints go to zero as those of one mass with two poles at -w, however light a wrist is. By default w settles a deviation within the motion, and stays below a part of what the period of
a controller allows.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, doubtful
from articulus.motion.lqr_tracking import fine_motion, matrix_function
from articulus.motion.piecewise import Piecewise
from articulus.simulation.loop.component import Component, Controller
from articulus.simulation.loop.components.actuator_wrappers import Saturation
from articulus.simulation.loop.components.state_feedback import StateFeedback
from articulus.simulation.loop.components.torque import Torque

if TYPE_CHECKING:
    from articulus.simulation.results.run import Run

SETTLES = 10.0
"""Bandwidth times the duration of the motion: exp(-10) (1 + 10) of a deviation is left, 5e-4."""
SAMPLED = 0.2
"""Largest bandwidth times the period of the controller."""
STEP = 1e-3
"""Longest step of the simulation [s]."""
OVER = 0.02
"""Part of a limit of effort by which it may be exceeded; from there on a followed motion warns."""
LOOKS = 200
"""Least number of steps."""


def default_bandwidth(duration: float, period: float | None) -> float:
    """Return w [rad/s]."""
    w = SETTLES / duration
    return w if period is None else min(w, SAMPLED / period)


def inertia_feedback(
    m: Mechanism,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    joints: tuple[str, ...],
    bandwidth: float,
    period: float | None = None,
) -> StateFeedback:
    """Return feedback with gains in proportion to the inertia along a motion of a mechanism whose degrees of freedom all have motors.

    Parameters
    ----------
    m : Mechanism
    t, q, v : array, (points,), (points, nq), (points, nv)
    joints : tuple of str
        With motors.
    bandwidth : float [rad/s]
    period : float [s]
        Period of the controller; continuous if not given.
    """
    fine, q_fine, v_fine = fine_motion(m, t, q, v)
    motors = [k for j in joints for k in range(m.nv)[m.v_slice(j)]]
    a_fine = np.gradient(v_fine, fine, axis=0)
    M = np.asarray(m.mass_matrix(q_fine))[:, motors]
    stiffness = np.asarray(m.inverse_dynamics_derivatives(q_fine, v_fine, a_fine)[0])[:, motors]
    by_q = bandwidth**2 * M - stiffness
    if (
        m.nq != m.nv
    ):  # small steps from a position to another are the pseudoinverse of dq = T step times their difference
        each = np.broadcast_to(np.eye(m.nv), (len(fine), m.nv, m.nv))
        T = np.asarray(m.position_rate(np.repeat(q_fine[:, None], m.nv, 1), each)).swapaxes(1, 2)
        by_q = by_q @ np.linalg.pinv(T)
    K = np.concatenate([by_q, 2 * bandwidth * M], axis=2)
    target = np.hstack([q_fine, v_fine])
    slopes = np.hstack([np.asarray(m.position_rate(q_fine, v_fine)), a_fine])
    return StateFeedback(
        K=matrix_function(fine, K, range(m.nq + m.nv)),
        x0=Piecewise.cubic(fine, target, slopes).function(),
        joints=joints,
        name="track",
        period=period,
    )


def steps(duration: float, bandwidth: float, period: float | None) -> tuple[float, float]:
    """Return when a simulation of a motion ends and its step [s]: a whole number of both steps and periods."""
    longest = min(STEP, duration / LOOKS, 0.1 / bandwidth)
    if period is None:
        return duration, duration / math.ceil(duration / longest)
    step = period / math.ceil(period / longest)
    return math.ceil(duration / period - 1e-9) * period, step


def within_limits(
    m: Mechanism, feedback: Controller | None, planned: Any, joints: tuple[str, ...]
) -> tuple[StateFeedback, list[Component]]:
    """Return a controller that commands planned forces and feedback together, and actuators that give no more than the efforts of their joints.

    Parameters
    ----------
    m : Mechanism
    feedback : StateFeedback, optional
    planned : casadi.Function
        Of t, the planned forces of the motors.
    joints : tuple of str
        With motors.
    """
    several = [j for j in joints if m.v_slice(j).stop - m.v_slice(j).start != 1]
    if several:
        raise InputError(
            f"run: limits: found a motor in '{several[0]}', which has several degrees of freedom; expected joints of one"
        )
    given = (
        feedback
        if isinstance(feedback, StateFeedback)
        else StateFeedback(K=np.zeros((len(joints), m.nq + m.nv)), joints=joints, name="planned")
    )
    actuators: list[Component] = []
    for joint in joints:
        most = float(m.limits.effort[m.v_slice(joint)][0])
        limited = 0.0 < most < math.inf  # files say 0 of unknown ones
        actuators.append(Saturation(Torque(joint), lower=-most, upper=most) if limited else Torque(joint))
    return dataclasses.replace(given, u0=planned), actuators


def doubt_efforts(m: Mechanism, run: Run, joints: tuple[str, ...]) -> None:
    """Warn of motors that give more in a followed motion than the efforts of their joints."""
    rotational = {c.name: c.joint.rotational for c in m.description.connections}
    fed_back = run.signals.get("u")
    for joint in joints:
        at, planned = m.v_slice(joint), run.signals.get(f"{joint}_prescribed_force.force")
        if planned is None:  # not asked for
            continue
        force = planned.values + (0.0 if fed_back is None else fed_back.values[..., at])
        known = np.where(
            m.limits.effort[at] > 0.0, m.limits.effort[at], np.inf
        )  # files say 0 of unknown ones
        excess = np.abs(force) / known
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if excess[worst] > 1.0 + OVER:
            most = float(m.limits.effort[at][worst[-1]])
            unit = "N m" if rotational[joint][worst[-1]] else "N"
            doubtful(
                f"run: the motor of '{joint}' gives {force[worst]:.4g} {unit} at t = {run.t[worst[-2]]:.4g} s, and its limit is {most:.4g} {unit}: "
                "it could not. limits=True keeps forces within the limits; a plan with less than the limits leaves some for feedback"
            )


def require_times(**given: Any) -> None:
    """Refuse settings that are neither None nor a number above zero."""
    for name, value in given.items():
        if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
            raise InputError(f"follow: {name}: found {value!r}; expected a number above zero")
