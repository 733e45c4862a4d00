"""Forward simulation of a mechanism under the forces of an inversion, by an integrator that shares nothing with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.arms.rest import rest
from articulus.motion.inversion.arms.servo import PathPoint, Servo
from articulus.motion.inversion.result import Inversion
from articulus.simulation.solve.assembly import assemble

Array = np.ndarray

RTOL, ATOL = 1e-9, 1e-11
"""Tolerances of the steps."""


@dataclass(frozen=True)
class Forward:
    """A simulated motion at the times of an inversion: outputs (N, p), positions and velocities (N, nv)."""

    t: Array
    outputs: Array
    q: Array
    v: Array


def forward(
    mechanism: Mechanism,
    inversion: Inversion,
    *,
    inputs: Any = None,
    guess: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Forward:
    """Return the motion of a mechanism under the forces of an inversion, without any feedback.

    Parameters
    ----------
    mechanism : Mechanism
        The one of the inversion, or another one with the same joints and frames: more modes, another payload.
    inversion : Inversion
        Of `tip_torques`.
    inputs : array, (N, m)
        In place of those of the inversion, for example `inversion.figures["rigid_inputs"]`.
    guess : array (nq,) or dict of names
        Estimate of the first pose of another mechanism, which starts at rest with its outputs where the path begins; its joints start
        near those of the inversion if not given.
    params : dict of parameter name to number

    Explicit Runge-Kutta steps of order 8 (DOP853 of SciPy), tolerance 1e-9.
    """
    servo = servo_of(mechanism, inversion, params)
    start = _start(servo, inversion, guess)
    force = CubicSpline(inversion.t, inversion.inputs if inputs is None else np.asarray(inputs, dtype=float))
    n, tau = servo.nv, np.zeros(servo.nv)

    def slope(t: float, x: Array) -> Array:
        tau[servo.driven] = force(t)
        return np.concatenate([x[n:], mechanism.forward_dynamics(x[:n], x[n:], tau, t, params=params)])

    ends = inversion.t[0], inversion.t[-1]
    found = solve_ivp(slope, ends, start, method="DOP853", t_eval=inversion.t, rtol=RTOL, atol=ATOL)
    if not found.success:
        raise NumericalError(f"forward simulation: {found.message}")
    motion = found.y.T
    return Forward(inversion.t, _outputs(servo, inversion.t, motion[:, :n]), motion[:, :n], motion[:, n:])


def outputs_of(
    mechanism: Mechanism, inversion: Inversion, t: Array, q: Array, params: Mapping[str, Any] | None = None
) -> Array:
    """Return the outputs of an inversion at positions (N, nq) at times (N,) of a motion, (N, p)."""
    servo = servo_of(mechanism, inversion, params)
    servo.keep_independent_rows(q[0], float(t[0]))
    return _outputs(servo, t, q)


def _outputs(servo: Servo, t: Array, q: Array) -> Array:
    still = np.zeros((len(t), len(servo.outputs)))
    return servo.residual(q, PathPoint(t, still, still, still))[:, -still.shape[1] :]


def prove(
    mechanism: Mechanism,
    inversion: Inversion,
    *,
    tolerance: float = 1e-5,
    guess: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Inversion:
    """Return the inversion with one more check: how far the outputs are off the path in a forward simulation (see `forward`).

    Parameters
    ----------
    mechanism, inversion, guess, params
        As for `forward`.
    tolerance : float [m, rad]
        Largest distance that passes.

    The figures get "tip_error" [m, rad], the largest distance, and "tip_error_after", that after the end of the path.
    """
    ran = forward(mechanism, inversion, guess=guess, params=params)
    off = np.abs(ran.outputs - inversion.outputs).max(1)
    largest, after = float(off.max()), float(off[inversion.t >= inversion.t_end].max(initial=0.0))
    check = Check(
        "forward simulation: outputs off the path by [m, rad]", largest, tolerance, largest <= tolerance
    )
    return replace(
        inversion,
        figures={**inversion.figures, "tip_error": largest, "tip_error_after": after},
        checks=(*inversion.checks, check),
    )


def servo_of(mechanism: Mechanism, inversion: Inversion, params: Mapping[str, Any] | None) -> Servo:
    """Return the servo of the same inputs and outputs."""
    volts = [name for name in inversion.input_names if name.startswith("u.")]
    if volts or not all("." in name for name in inversion.output_names):
        found = f"the input '{volts[0]}'" if volts else f"the output '{inversion.output_names[0]}', a joint"
        raise InputError(
            f"{inversion.method}: found {found}; expected joint forces that move frames. Play other inversions with simulate, "
            "components=[*inversion.components(), *actuators], and compare the coordinates with `states`"
        )
    outputs = [name.rpartition(".") for name in inversion.output_names]
    joints = [name.removeprefix("tau.") for name in inversion.input_names]
    unknown = [joint for joint in joints if joint not in mechanism.v_names]
    if unknown:
        raise InputError(f"'{mechanism.name}' has no joint '{unknown[0]}', which the inversion drives")
    return Servo(mechanism, [(frame, what) for frame, _, what in outputs], joints, params)


def _start(servo: Servo, inversion: Inversion, guess: Any) -> Array:
    """Return the first state: that of the inversion, or a pose of rest of another mechanism."""
    names = tuple(f"{kind}.{name}" for kind in "qv" for name in servo.mechanism.v_names)
    if inversion.states is None:
        raise InputError(f"{inversion.method}: this inversion holds no states to start from")
    if guess is None and names == inversion.state_names:
        return inversion.states[0]
    held = dict(zip(inversion.state_names, inversion.states[0]))
    first = np.array([held.get(f"q.{name}", 0.0) for name in servo.mechanism.v_names])
    first = first if guess is None else servo.mechanism.positions(guess)
    t = float(inversion.t[0])
    if servo.mechanism.description.constraints:
        first = assemble(servo.mechanism, first, t=t, params=servo.params).q
    servo.keep_independent_rows(first, t)
    still = np.zeros((1, inversion.outputs.shape[1]))
    found = rest(servo, first, PathPoint(inversion.t[:1], inversion.outputs[:1], still, still), "start")
    return np.concatenate([found.q, np.zeros(servo.nv)])
