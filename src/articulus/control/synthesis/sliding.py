"""Sliding-mode control of a mechanism along a motion, with gains from bounds on the error of its model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.simulation.running.loop import Loop

TIMES = 101
"""Times of the motion at which the error of the model is bounded."""
SCATTER = 4
"""States around the motion, within the boundary layer, at each of them."""
MOST_CORNERS = 64


@dataclass(frozen=True, eq=False)
class SlidingDesign:
    """A sliding-mode controller and how it was checked.

    Parameters
    ----------
    controller : casadi.Function of t, q, v
        For `simulate(mechanism, ..., controller=design.controller)`: inverse dynamics of the nominal model, and the correction.
    bound : array, (nv,) [N m or N]
        Largest error of the joint forces of the nominal model over ranges, times and the boundary layer.
    gain : array, (nv,) [N m or N]
        Gain of the correction.
    layer : array, (nv,) [rad/s or m/s]
        Half the thickness of the boundary layer: |s| stays below, s = v - v_d + slope (q - q_d).
    slope : float [1/s]
    checks : tuple of Check
        Checks of runs with the parameters at corners of their ranges.
    """

    controller: ca.Function
    bound: np.ndarray
    gain: np.ndarray
    layer: np.ndarray
    slope: float
    checks: tuple[Check, ...]

    @property
    def accuracy(self) -> np.ndarray:
        """Largest |q - q_d| while |s| is below the layer, layer / slope [rad or m]."""
        return self.layer / self.slope

    def __str__(self) -> str:
        lines = [
            f"sliding mode: gains {np.array2string(self.gain, precision=4)}, errors up to {np.array2string(self.accuracy, precision=3)}"
        ]
        return "\n".join(lines + [f"  {check}" for check in self.checks])


def sliding_mode(
    mechanism: Mechanism,
    ranges: Mapping[str, tuple[float, float]],
    target: ca.Function,
    t_end: float,
    *,
    slope: float,
    layer: Any,
    margin: float = 0.2,
    step: float = 1e-3,
) -> SlidingDesign:
    """Return a controller that keeps a mechanism with uncertain parameters on a motion.

    tau = M (a_d - slope (v - v_d)) + bias - gain sat(s / layer), s = v - v_d + slope (q - q_d), M and bias of the nominal model.
    With gain above the error of the model's joint forces, |s| stays below the layer, and the position within
    layer / slope of the motion (Slotine & Li 1991, section 7.2; bounds of model errors as in Dwyer, Karray & Kim 1989).
    The bounds are sampled over corners of the ranges, times and the layer, and the controller is checked by runs with
    the parameters at the corners.

    Parameters
    ----------
    mechanism : Mechanism
        Without constraints, and with velocities that are the rates of its coordinates. Its default parameters are the model.
    ranges : dict of parameter name to (low, high)
    target : casadi.Function of t
        q_d, (nv,) [rad or m].
    t_end : float [s]
        End of the motion.
    slope : float [1/s]
        Rate at which errors vanish on the sliding surface.
    layer : number or (nv,) [rad/s or m/s]
        Half the thickness of the boundary layer; the thinner, the faster the correction: gain / (inertia layer) [1/s] is the
        rate that actuators and sampling have to follow.
    margin : float [-]
        By which the gain exceeds the bound.
    step : float [s]
        Step of the runs that check.
    """
    _require(mechanism, ranges, slope, layer)
    nv = mechanism.nv
    width = np.broadcast_to(np.asarray(layer, dtype=float), (nv,)).copy()
    motion = _motion(target, nv)
    bound = _bound(mechanism, ranges, motion, t_end, slope, width)
    gain = (1.0 + margin) * bound
    controller = _controller(mechanism, target, slope, gain, width)
    worst = _worst(mechanism, ranges, controller, motion, t_end, slope, width, step)
    check = Check("largest |s| over the layer, of runs at corners of the ranges", worst, 1.0, worst <= 1.0)
    design = SlidingDesign(controller, bound, gain, width, float(slope), (check,))
    if not check.passed:
        raise NumericalError(
            f"sliding_mode: the controller was computed, but a run fails: {check}; likely the layer is too thin for the step, or a "
            "joint is lighter than its model says",
            result=design,
        )
    return design


def _require(
    mechanism: Mechanism, ranges: Mapping[str, tuple[float, float]], slope: float, layer: Any
) -> None:
    if mechanism.constraint_names or mechanism.nq != mechanism.nv:
        raise UnsupportedOperation(
            f"sliding_mode: '{mechanism.name}' has constraints or coordinates whose rates are not its velocities; expected joints "
            "with one coordinate for each velocity"
        )
    for name, given in ranges.items():
        if name not in mechanism.parameters:
            raise InputError(
                f"sliding_mode: no parameter '{name}'; {did_you_mean(name, list(mechanism.parameters))}"
            )
        if not given[0] < given[1]:
            raise InputError(f"sliding_mode: parameter '{name}': found {given}; expected low < high")
    if not (slope > 0 and (np.asarray(layer) > 0).all()):
        raise InputError(f"sliding_mode: found slope {slope} and layer {layer}; expected positive numbers")


def _motion(target: ca.Function, nv: int) -> ca.Function:
    """Return position, velocity and acceleration of the motion as one function of t."""
    if not isinstance(target, ca.Function) or target.n_in() != 1 or target.numel_out(0) != nv:
        raise InputError(
            f"sliding_mode: found the target {target!r}; expected a casadi.Function from t to {nv} coordinates"
        )
    t = ca.SX.sym("t")
    q = target(t)
    v = ca.jacobian(q, t)
    return ca.Function("motion", [t], [q, v, ca.jacobian(v, t)])


def _controller(
    mechanism: Mechanism, target: ca.Function, slope: float, gain: np.ndarray, width: np.ndarray
) -> ca.Function:
    """Return the law as a function of t, q, v, with the default values of the parameters in its model."""
    nv = mechanism.nv
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", nv), ca.SX.sym("v", nv)
    wanted = target(t)
    rate = ca.jacobian(wanted, t)
    s = v - rate + slope * (q - wanted)
    acceleration = ca.jacobian(rate, t) - slope * (v - rate)
    model = mechanism.function("inverse_dynamics")
    given = [list(mechanism.parameters.values())] if model.n_in() > 3 else []
    tau = model(q, v, acceleration, *given) - gain * ca.fmin(ca.fmax(s / width, -1.0), 1.0)
    return ca.Function("sliding_mode", [t, q, v], [tau], ["t", "q", "v"], ["u"])


def _values(ranges: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """Return corners of the box of parameters, all or a choice, and its middle, (k, parameters)."""
    box = np.array(list(ranges.values()), dtype=float).reshape(-1, 2)
    if 2 ** len(box) <= MOST_CORNERS:
        corners = np.array(list(itertools.product((0, 1), repeat=len(box))), dtype=int)
    else:
        corners = np.random.default_rng(0).integers(0, 2, (MOST_CORNERS, len(box)))
    return np.vstack([box[np.arange(len(box)), corners], box.mean(axis=1)])


def _bound(
    mechanism: Mechanism,
    ranges: Mapping[str, tuple[float, float]],
    motion: ca.Function,
    t_end: float,
    slope: float,
    width: np.ndarray,
) -> np.ndarray:
    """Return the largest differences of joint forces between the model and the mechanism in the layer around the motion."""
    rng = np.random.default_rng(0)
    rows = []
    for t in np.linspace(0.0, t_end, TIMES):
        q, v, a = (np.asarray(x).ravel() for x in motion(t))
        for off in (np.zeros((2, len(q))), *rng.uniform(-1, 1, (SCATTER, 2, len(q)))):
            position, surface = off[0] * width / slope, off[1] * width
            rate = surface - slope * position
            rows.append((q + position, v + rate, a - slope * rate))
    q, v, a = (np.array(x) for x in zip(*rows))
    nominal = mechanism.inverse_dynamics(q, v, a)
    found = [
        np.abs(mechanism.inverse_dynamics(q, v, a, params=dict(zip(ranges, map(float, p)))) - nominal).max(
            axis=0
        )
        for p in _values(ranges)
    ]
    return np.max(found, axis=0)


def _worst(
    mechanism: Mechanism,
    ranges: Mapping[str, tuple[float, float]],
    controller: ca.Function,
    motion: ca.Function,
    t_end: float,
    slope: float,
    width: np.ndarray,
    step: float,
) -> float:
    """Return the largest |s| / layer of runs from the start of the motion with the parameters at corners."""
    q0, v0, _ = (np.asarray(x).ravel() for x in motion(0.0))
    values = _values(ranges)
    params = {name: values[:, i] for i, name in enumerate(ranges)}
    start = (np.tile(q0, (len(values), 1)), np.tile(v0, (len(values), 1)))
    loop = Loop(mechanism, controller)
    run = loop.rollout(
        t_end, *start, params=params, step=step, sample=max(step, t_end / 200), outputs=("q", "v")
    )
    wanted = [[np.asarray(x).ravel() for x in motion(t)] for t in run.t]
    q_d, v_d = np.array([w[0] for w in wanted]), np.array([w[1] for w in wanted])
    q, v = np.asarray(run["q"]), np.asarray(run["v"])
    return float(np.abs((v - v_d + slope * (q - q_d)) / width).max())
