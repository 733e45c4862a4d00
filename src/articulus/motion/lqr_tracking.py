"""A controller that keeps a mechanism on a planned motion: linear-quadratic feedback along it.

About the motion small deviations follow x' = A(t) x + B(t) u. The feedback u = -R^-1 B' P x makes the integral of x'Qx + u'Ru least, where P
goes backward in time from the solution of the algebraic Riccati equation at the end:

    -P' = A'P + P A - P B R^-1 B' P + Q.

Between two points of the motion A and B are constant, and P goes by the exponential of the Hamiltonian matrix. Closed loops have the
deviations of their independent coordinates as states. Source: Anderson & Moore 1990.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.motion.piecewise import Piecewise
from articulus.numerics.differential_riccati import riccati_along
from articulus.numerics.riccati import care
from articulus.simulation.loop.components.state_feedback import StateFeedback
from articulus.simulation.solve.assembly import assemble

POINTS = 200
"""Times at which gains are known, at least."""
LITTLE = 0.1
"""Part of the largest movement that also counts for what moves less."""


def feedback_along(
    mechanism: Mechanism,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    joints: Sequence[str],
    sizes: np.ndarray,
    deviation: float,
    period: float | None = None,
) -> StateFeedback:
    """Return the feedback that keeps a mechanism on a motion.

    Parameters
    ----------
    mechanism : Mechanism
    t : array, (points,) [s]
    q, v, tau : array, (points, nq), (points, nv), (points, nv)
        Positions, velocities and generalized forces of the motion.
    joints : sequence of str
        With motors.
    sizes : array, (motors,) [N m or N]
        Force that each motor may spend.
    deviation : float
        Part of the extent of the motion at which the feedback may spend it.
    period : float [s]
        Period of the controller; continuous if not given.
    """
    if mechanism.nq != mechanism.nv:
        raise InputError(
            "track: found joints whose velocities are not the rates of their coordinates; expected kp and kd for the others, or a "
            "controller of your own"
        )
    if not 0 < deviation < np.inf:
        raise InputError(
            f"track: found deviation = {deviation!r}; expected a part of the motion above zero, such as 0.05"
        )
    fine, q_fine, v_fine = fine_motion(mechanism, t, q, v)
    motors = [k for j in joints for k in range(mechanism.nv)[mechanism.v_slice(j)]]
    forces = np.column_stack([np.interp(fine, t, column) for column in tau.T])
    models = mechanism.linearize(*_on_loops(mechanism, q_fine, v_fine), forces)
    A, B = models.A, models.B[:, :, _columns(mechanism, models.inputs, motors)]
    names = [f"q.{n}" for n in mechanism.v_names] + [f"v.{n}" for n in mechanism.v_names]
    places = [names.index(s) for s in models.states]
    extent = np.concatenate([_extent(mechanism, np.ptp(q, axis=0)), _extent(mechanism, np.abs(v).max(0))])
    Q = np.diag(1 / (deviation * extent[places]) ** 2)
    R = np.diag(1 / sizes**2)
    P = riccati_along(fine, A, B, Q, R, _last(A[-1], B[-1], Q, R, fine[-1] - fine[0]))
    K = np.zeros((len(fine), len(motors), 2 * mechanism.nv))
    K[:, :, places] = np.linalg.inv(R) @ B.swapaxes(1, 2) @ P
    target = np.hstack([q_fine, v_fine])
    slopes = np.hstack([v_fine, np.gradient(v_fine, fine, axis=0)])
    return StateFeedback(
        K=matrix_function(fine, K, places),
        x0=Piecewise.cubic(fine, target, slopes).function(),
        joints=tuple(joints),
        name="track",
        period=period,
    )


def fine_motion(
    m: Mechanism, t: np.ndarray, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times at which gains are known, and positions and velocities of a motion there."""
    fine = np.unique(np.concatenate([t, np.linspace(t[0], t[-1], POINTS)]))
    slope = np.gradient(v, t, axis=0)
    rate = np.asarray(m.position_rate(q, v))
    return fine, Piecewise.cubic(t, q, rate)(fine), Piecewise.cubic(t, v, slope)(fine)


def _extent(mechanism: Mechanism, moved: np.ndarray) -> np.ndarray:
    """Return how far each coordinate moves, (nv,); at least a part of what the farthest joint, or the farthest mode, moves."""
    d = mechanism.description
    modes = np.zeros(mechanism.nv, dtype=bool)
    for body in d.bodies:
        if body.modes is not None:
            modes[d.mode_slices(body.name)[0]] = True
    extent = moved.copy()
    for group in (modes, ~modes):
        most = moved[group].max(initial=0.0)
        extent[group] = np.maximum(moved[group], LITTLE * most if most > 0 else 1.0)
    return extent


def _on_loops(m: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return states with closed loops: interpolation between points opens them a little."""
    if not m.constraint_names:
        return q, v
    found = [assemble(m, each, rate) for each, rate in zip(q, v)]
    return np.array([f.q for f in found]), np.array([f.v for f in found])


def _columns(m: Mechanism, inputs: Sequence[str], motors: Sequence[int]) -> list[int]:
    return [inputs.index(f"tau.{m.v_names[k]}") for k in motors]


def _last(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, duration: float) -> np.ndarray:
    """Return P at the end: the steady one, or the cost of a deviation that stays for the duration where there is no steady one."""
    try:
        return care(A, B, Q, R).X
    except InputError:
        return Q * duration


def matrix_function(t: np.ndarray, K: np.ndarray, places: Sequence[int]) -> ca.Function:
    """Return gains, linear between points and constant outside, as a function of time; columns besides `places` are zero."""
    now, (_, m, n) = SX.sym("t"), K.shape
    values = Piecewise.linear(t, K[:, :, places].reshape(len(t), -1)).at(now)
    whole = SX(m, n)
    for i in range(m):
        for j, place in enumerate(places):
            whole[i, place] = values[i * len(places) + j]
    return ca.Function("gains", [now], [whole])
