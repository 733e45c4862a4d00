"""How well the motion keeps the equations between the points of the mesh, and a mesh on which it keeps them better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.problem import Phase

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.scheme import Scheme

MOST = 4
"""Parts into which a refinement cuts an interval at most."""
STIFF = 1.0
"""Error of an interval over the sizes of the states from which on it is looked whether the equations damp it."""


def interval_errors(phase: Phase, layout: Layout, scheme: Scheme, x: np.ndarray) -> np.ndarray:
    """Return the estimated error of the states on each interval, over their sizes, (intervals,).

    Within an interval inputs are the polynomial through its points, and states the polynomials that agree with states and rates at
    its points. Half-way between points the equations give the rates that these states and inputs would have; what they differ by
    from the rates of the polynomials, times the length of the interval, is the error (Betts 2010).
    """
    T = float(x[layout.duration])
    z = _own_values(phase, layout, scheme, x)
    c = scheme.points
    between = (c[1:] + c[:-1]) / 2
    states = phase.states
    rates = np.array([phase.rates[int(k)] for k in states], dtype=int)
    h = layout.lengths[:, None, None] * T
    at = between_points(phase, layout, scheme, x, between, np.arange(phase.size))
    _, slopes = _hermite(c, between)
    moving = np.einsum("gp,ipn->ign", slopes[0], z[:, :, states]) / h + np.einsum(
        "gp,ipn->ign", slopes[1], z[:, :, rates]
    )
    full = _with_rates(phase, at.reshape(-1, phase.size)).reshape(at.shape)
    sizes = state_sizes(phase, x[layout.z])
    wrong = (full[:, :, rates] - moving) * h
    errors = (np.abs(wrong) / sizes).max(axis=(1, 2))
    if (stiff := errors > STIFF).any():
        some = np.abs(_stiff_errors(phase, full[stiff], wrong[stiff], h[stiff])) / sizes
        errors[stiff] = np.minimum(errors[stiff], some.max(axis=(1, 2)))
    return errors


def _stiff_errors(phase: Phase, z: np.ndarray, wrong: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return what remains of errors (intervals, points, states) where the equations damp them within an interval: (I - h J)^-1 of them (Hosea & Shampine 1996).

    A light wrist with dry friction comes to the speed of its force within microseconds: rates that are far off there are not states that are.
    """
    solved, states = determined_places(phase), phase.states
    by_solved, by_states = state_slopes(phase)(z)
    slopes = -np.linalg.solve(by_solved, by_states)
    J = np.zeros((*z.shape[:2], len(states), len(states)))
    for row, k in enumerate(states):
        rate = phase.rates[int(k)]
        if rate in states:
            J[:, :, row, np.flatnonzero(states == rate)[0]] = 1.0
        elif rate in solved:
            J[:, :, row] = slopes[:, :, np.flatnonzero(solved == rate)[0]]
    return np.linalg.solve(np.eye(len(states)) - h[..., None] * J, wrong[..., None])[..., 0]


def between_points(
    phase: Phase, layout: Layout, scheme: Scheme, x: np.ndarray, at: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Return some entries of z at fractions of all intervals, (intervals, fractions, entries).

    States are the cubics that have the states and rates of the points, everything else the polynomials through the points.
    """
    z = _own_values(phase, layout, scheme, x)
    out = np.zeros((len(z), len(at), len(places)))
    is_state = np.isin(places, phase.states)
    states, others = places[is_state], places[~is_state]
    out[:, :, ~is_state] = _lagrange(scheme.points, at) @ z[:, :, others]
    values, _ = _hermite(scheme.points, at)
    rates = [phase.rates[int(k)] for k in states]
    h = layout.lengths[:, None, None] * float(x[layout.duration])
    out[:, :, is_state] = values[0] @ z[:, :, states] + h * (values[1] @ z[:, :, rates])
    return out


def _own_values(phase: Phase, layout: Layout, scheme: Scheme, x: np.ndarray) -> np.ndarray:
    """Return z at the points of all intervals, as each interval has them, (intervals, points, n)."""
    z = x[layout.z][layout.intervals]
    others = np.setdiff1d(np.arange(phase.size), phase.states)
    z[:, :, others] = scheme.interval_values(z[:, :, others])
    return z


def state_sizes(phase: Phase, z: np.ndarray) -> np.ndarray:
    """Return the sizes of the states along a motion z (points, n): their largest values, (states,)."""
    states = phase.states
    return np.maximum(np.abs(z[:, states]).max(0), 1e-3 * phase.scale[states])


def determined_places(phase: Phase) -> np.ndarray:
    """Return the places of z that the equations determine by states and inputs."""
    return np.setdiff1d(np.arange(phase.size), [*phase.states, *phase.inputs])


def residual_and_slope(phase: Phase) -> kernel.Kernel:
    """Return the native function z -> residuals of the equations, and their derivatives by what they determine."""
    z = SX.sym("z", phase.size)
    residual = phase.equations(z)
    slope = ca.jacobian(residual, z)[:, determined_places(phase).tolist()]
    function = ca.Function("rates", [z], [ca.densify(residual), ca.densify(slope)])
    return kernel.compile(function, ranks=((1,), (1, 2)))


def state_slopes(phase: Phase) -> kernel.Kernel:
    """Return the native function z -> derivatives of the equations by what they determine, and by the states."""
    z = SX.sym("z", phase.size)
    slope = ca.jacobian(phase.equations(z), z)
    parts = (slope[:, determined_places(phase).tolist()], slope[:, phase.states.tolist()])
    return kernel.compile(ca.Function("slopes", [z], [ca.densify(x) for x in parts]), ranks=((1,), (2, 2)))


def _with_rates(phase: Phase, z: np.ndarray) -> np.ndarray:
    """Return z with those entries that the equations determine, by one step of Newton's method from what they are."""
    r, matrix = residual_and_slope(phase)(z)
    out = z.copy()
    out[:, determined_places(phase)] -= np.linalg.solve(matrix, r[..., None])[..., 0]
    return out


def _lagrange(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the polynomials that are 1 at one point and 0 at the others, (at, points)."""
    out = np.ones((len(at), len(points)))
    for j in range(len(points)):
        for o in np.delete(points, j):
            out[:, j] *= (at - o) / (points[j] - o)
    return out


def _hermite(
    points: np.ndarray, at: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return values and slopes of the cubics between neighbors that have given values and slopes there; (at, points) each."""
    n = len(points)
    shape = (len(at), n)
    value, value_slope, slope, slope_slope = (np.zeros(shape) for _ in range(4))
    for g, s in enumerate(at):
        j = min(int(np.searchsorted(points, s, side="right")) - 1, n - 2)
        d = points[j + 1] - points[j]
        x = (s - points[j]) / d
        value[g, j], value[g, j + 1] = 1 - 3 * x**2 + 2 * x**3, 3 * x**2 - 2 * x**3
        value_slope[g, j], value_slope[g, j + 1] = d * (x - 2 * x**2 + x**3), d * (x**3 - x**2)
        slope[g, j], slope[g, j + 1] = (6 * x**2 - 6 * x) / d, (6 * x - 6 * x**2) / d
        slope_slope[g, j], slope_slope[g, j + 1] = 1 - 4 * x + 3 * x**2, 3 * x**2 - 2 * x
    return (value, value_slope), (slope, slope_slope)


def refine(mesh: np.ndarray, errors: np.ndarray, error: float) -> np.ndarray:
    """Return a mesh whose intervals are cut where the error is too large: into 2 to 4 parts, by how much it is."""
    parts = np.clip(np.ceil((errors / error) ** 0.25), 1, MOST).astype(int)
    return cut(mesh, parts)


def cut(mesh: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return a mesh whose intervals are cut into so many parts each."""
    pieces = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(mesh, mesh[1:], parts)]
    return np.append(np.concatenate(pieces), mesh[-1])
