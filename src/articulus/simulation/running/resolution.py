"""Vibrations that a method with fixed steps damps, drives or delays by itself, however little energy they have.

About a state, c' = J c: what a method makes of a mode exp(lambda t) in a step is known without a run, R(lambda, h) instead of
exp(lambda h). Over n steps the amplitude is wrong by the factor exp(n (ln |R| - h Re lambda)) and the phase by n (arg R - h Im lambda);
of a mode that dies out by itself only the steps of its life count, and what is left of it then. Whether a mode takes part is told by the rates: its distance from where it would be at rest is l' c' / lambda (l: left
eigenvector), and that moves each coordinate in proportion to its right eigenvector.
"""

from __future__ import annotations

import cmath
import functools
import math

import numpy as np

from articulus.simulation.integrate import (
    AlphaMethod,
    AlphaState,
    Mechanical,
    Method,
    Sdirk,
    SecondOrderMethod,
    SecondOrderProblem,
)
from articulus.simulation.integrate.sdirk import GAMMA
from articulus.simulation.loop.displacement import displacement
from articulus.simulation.loop.outputs import Outputs

Array = np.ndarray

PART = 0.05
"""Motion of a coordinate by a mode, over the range of its joint or flexible body in the run, from which the mode takes part [-]."""
MAIN_PART = 0.3
"""The same for implicit methods [-]: they are there to step over fast vibrations, so that these count where they make much of a joint's motion."""
SMALLEST = 1e-6
"""Motion by a mode, over what is large for the coordinate, below which it is ignored [-]."""
WORTH = 1e-3
"""Error of the fastest mode that there can be below which no mode is examined [-]."""
MOST = 100
"""Degrees of freedom up to which it is looked."""
DIFFERENCE = 1e-6
"""Step of differences, over what is large for the coordinate [-]."""
FIXED_STEPS = (Method, SecondOrderMethod, AlphaMethod, Sdirk)
"""Kinds of methods whose steps are known beforehand."""
ACCELERATION = "vdot"
"""Signal from which the derivatives are taken: of runs that report it, whose code is there already."""


def vibration_errors(
    outputs: Outputs, method: object, state: Array, ranges: Array, p: Array, t: float, h: float, steps: int
) -> tuple[float, float]:
    """Return how a method changes the vibrations that take part, the largest of each: share of the amplitude [-], phase [rad].

    Both are 0 where nothing is known.

    Parameters
    ----------
    outputs : Outputs
        What the run reports, accelerations among it.
    method : Integrator
    state : array, (logged,)
        At which it is looked.
    ranges : array, (nv,)
        Ranges of the displacements of each joint and flexible body in the run.
    p : array
        Parameters.
    t, h : float [s]
        Time of the state, and step.
    steps : int
        Steps of the run.
    """
    d = outputs.system.description
    if not isinstance(method, FIXED_STEPS) or not 0 < d.nv <= MOST:
        return 0.0, 0.0
    scales = d.scales()
    large = scales.displacement
    J, rate = _equations(outputs, state, p, t, h)
    if not np.isfinite(J).all() or _at_most(method, J, h, steps) < WORTH:
        return 0.0, 0.0
    from scipy.linalg import eig  # slow to import

    values, left, right = eig(J, left=True, right=True)
    norms = np.einsum("ik,ik->k", left.conj(), right)
    amplitude = phase = 0.0
    part = MAIN_PART if isinstance(method, (AlphaMethod, Sdirk)) else PART
    for k in np.flatnonzero(values.imag > 0):
        share, delay = _errors(method, complex(values[k]), h, steps)
        if (share <= amplitude and delay <= phase) or abs(norms[k]) < 1e-8:
            continue
        excursion = (left[:, k].conj() @ rate) / (norms[k] * values[k])
        motion = 2 * np.abs(right[d.nv :, k] * excursion) * scales.time**-1 / abs(values[k])
        if ((motion > part * ranges / large) & (motion > SMALLEST)).any():
            amplitude, phase = max(amplitude, share), max(phase, delay)
    return amplitude, phase


def _equations(outputs: Outputs, state: Array, p: Array, t: float, h: float) -> tuple[Array, Array]:
    """Return J and x' of x' = J x about a state, x small displacements and velocities over what is large for them."""
    system, d = outputs.system, outputs.system.description
    scales = d.scales()
    large, fast = scales.displacement, scales.displacement / scales.time
    at_q, at_v = system.places["q"], system.places["v"].start
    shifted = np.tile(state, (1 + 2 * d.nv, 1))
    displace = displacement(d) if d.nq != d.nv else np.add
    for k, small in enumerate(np.diag(DIFFERENCE * large)):
        shifted[1 + k, at_q] = np.array(displace(state[at_q], small)).ravel()
        shifted[1 + d.nv + k, at_v + k] += DIFFERENCE * fast[k]
    n = len(shifted)
    vdot = outputs.values(shifted[None], p[None], np.zeros((1, n, system.nw)), np.full(n, t), h)[
        ACCELERATION
    ][0]
    slopes = (vdot[1:] - vdot[0]).T / DIFFERENCE / fast[:, None]
    J = np.vstack([np.hstack([np.zeros((d.nv, d.nv)), np.eye(d.nv) / scales.time]), slopes])
    return J, np.concatenate([state[system.places["v"]] / large, vdot[0] / fast])


def _at_most(method: object, J: Array, h: float, steps: int) -> float:
    """Return about the larger error of the fastest mode that J can have, were it undamped."""
    power, exponent = J, 1
    for _ in range(3):
        power, exponent = power @ power, 2 * exponent
    rate = float(np.linalg.norm(power)) ** (1 / exponent)
    return max(_errors(method, 1j * rate, h, steps)) if rate * h < 10 else 1.0


def _errors(method: object, mode: complex, h: float, steps: int) -> tuple[float, float]:
    """Return by how much a mode is wrong after the steps of its life: share of the amplitude, at most all of it, and phase [rad].

    Both count with what is then left of a mode that dies out: with 1/e at most.
    """
    factor = _amplification(method, mode.real * h, mode.imag * h)
    life = min(steps, 1 / (h * abs(mode.real))) if mode.real else steps
    left = math.exp(min(0.0, mode.real * h * life))
    if factor == 0:
        return left, 0.0
    off = cmath.log(factor * cmath.exp(-mode * h))
    return -left * math.expm1(-abs(life * off.real)), left * abs(life * off.imag)


@functools.lru_cache(maxsize=4096)
def _amplification(method: Sdirk | Method | AlphaMethod | SecondOrderMethod, a: float, b: float) -> complex:
    """Return R of a step of one second for the mode exp((a + i b) t)."""
    z = complex(a, b)
    if isinstance(method, Sdirk):
        return (1 + (1 - 2 * GAMMA) * z) / (1 - GAMMA * z) ** 2
    if isinstance(method, Method):
        roots = np.linalg.eigvals(_first_order_step(method, z))
    elif isinstance(method, AlphaMethod):
        roots = np.linalg.eigvals(_alpha_step(method, 2 * a, a * a + b * b))
    else:
        roots = np.linalg.eigvals(_second_order_step(method, 2 * a, a * a + b * b))
    return complex(roots[np.abs(roots - cmath.exp(z)).argmin()])


def _first_order_step(method: Method, z: complex) -> Array:
    """Return the matrix of a step for x' = z x, from x and earlier slopes to the same, (n, n)."""
    n = method.past + 1
    columns = []
    for k in range(n):
        x, *slopes = (np.array([1.0 + 0j if i == k else 0j]) for i in range(n))
        after, history = method.advance(lambda _, y: z * y, 0.0, x, tuple(slopes), 1.0)
        columns.append([complex(y[0]) for y in (after, *history[: method.past])])
    return np.array(columns).T


def _second_order_step(method: SecondOrderMethod, damping: float, stiffness: float) -> Array:
    """Return the matrix of a step for v' = damping v - stiffness q, from q and v to the same, (2, 2)."""
    problem = SecondOrderProblem(lambda _, q, v: damping * v - stiffness * q)
    after = [method.advance(problem, 0.0, q, v, 1.0) for q, v in np.eye(2).reshape(2, 2, 1)]
    return np.array([np.concatenate(each) for each in after]).T


def _alpha_step(method: AlphaMethod, damping: float, stiffness: float) -> Array:
    """Return the matrix of a step for v' = damping v - stiffness q, from q, v, v' and the auxiliary a to the same, (4, 4)."""
    problem = Mechanical(
        mass=lambda t, q: np.eye(1),
        force=lambda t, q, v: damping * v - stiffness * q,
        stiffness=lambda *_: np.array([[stiffness]]),
        damping=lambda *_: np.array([[-damping]]),
    )
    columns = []
    for q, v, vdot, auxiliary in np.eye(4).reshape(4, 4, 1):
        end = method.step(problem, AlphaState(0.0, q, v, vdot, auxiliary, np.zeros(0)), 1.0)
        columns.append(np.concatenate([end.q, end.v, end.vdot, end.a]))
    return np.array(columns).T
