"""Vibrations that a method with fixed steps damps or drives by itself, however little energy they have.

About a state, c' = J c: what a method makes of a mode exp(lambda t) in a step is known without a run, R(lambda, h) instead of
exp(lambda h). Over n steps the amplitude is wrong by the factor exp(n (ln |R| - h Re lambda)); of a mode that dies out by itself only the
steps of its life count. Whether a mode takes part is told by the rates: its distance from where it would be at rest is l' c' / lambda (l: left
eigenvector), and that moves each coordinate in proportion to its right eigenvector.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from articulus.model.mechanism import Description
from articulus.simulation.integrate import Method, SecondOrder, SecondOrderMethod
from articulus.simulation.loop.outputs import Outputs

Array = np.ndarray

PART = 0.05
"""Motion of a coordinate by a mode, over the range of its joint or flexible body in the run, from which the mode takes part [-]."""
SMALLEST = 1e-6
"""Motion by a mode, over what is large for the coordinate, below which it is not looked at [-]."""
WORTH = 1e-3
"""Error of the fastest mode that there can be below which no mode is looked at [-]."""
MOST = 100
"""Degrees of freedom up to which it is looked."""
DIFFERENCE = 1e-6
"""Step of differences, over what is large for the coordinate [-]."""
ACCELERATION = "vdot"
"""Signal from which the derivatives are taken: of runs that report it, whose code is there already."""


def lost(
    outputs: Outputs, method: object, state: Array, ranges: Array, p: Array, t: float, h: float, steps: int
) -> float:
    """Return the largest share of its amplitude by which the method changes a vibration that takes part [-]; 0 where nothing is known.

    Rotations of ball and free joints count as free of springs.

    Parameters
    ----------
    outputs : Outputs
        What the run reports, accelerations among it.
    method : Integrator
    state : array, (logged,)
        At which it is looked.
    ranges : array, (nv,)
        Of the displacements of each joint and flexible body in the run.
    p : array
        Parameters.
    t, h : float [s]
        Time of the state, and step.
    steps : int
        Of the run.
    """
    d = outputs.system.description
    if not isinstance(method, (Method, SecondOrderMethod)) or not 0 < d.nv <= MOST:
        return 0.0
    scales = d.scales()
    large = scales.displacement
    J, rate = _equations(outputs, state, p, t, h)
    if not np.isfinite(J).all() or _at_most(method, J, h, steps) < WORTH:
        return 0.0
    from scipy.linalg import eig  # slow to import

    values, left, right = eig(J, left=True, right=True)
    norms = np.einsum("ik,ik->k", left.conj(), right)
    worst = 0.0
    for k in np.flatnonzero(values.imag > 0):
        error = _error(method, complex(values[k]), h, steps)
        if error <= worst or abs(norms[k]) < 1e-8:
            continue
        excursion = (left[:, k].conj() @ rate) / (norms[k] * values[k])
        motion = 2 * np.abs(right[d.nv :, k] * excursion) * scales.time**-1 / abs(values[k])
        if ((motion > PART * ranges / large) & (motion > SMALLEST)).any():
            worst = error
    return worst


def _equations(outputs: Outputs, state: Array, p: Array, t: float, h: float) -> tuple[Array, Array]:
    """Return J and x' of x' = J x about a state, x small displacements and velocities over what is large for them."""
    system, d = outputs.system, outputs.system.description
    scales = d.scales()
    large, fast = scales.displacement, scales.displacement / scales.time
    place_of = _positions(d)
    at_q, at_v = system.places["q"].start, system.places["v"].start
    shifted = np.tile(state, (1 + 2 * d.nv, 1))
    for k, place in enumerate(place_of):
        if place is not None:
            shifted[1 + k, at_q + place] += DIFFERENCE * large[k]
        shifted[1 + d.nv + k, at_v + k] += DIFFERENCE * fast[k]
    n = len(shifted)
    found = outputs.values(shifted[None], p[None], np.zeros((1, n, system.nw)), np.full(n, t), h)[
        ACCELERATION
    ][0]
    slopes = (found[1:] - found[0]).T / DIFFERENCE / fast[:, None]
    J = np.vstack([np.hstack([np.zeros((d.nv, d.nv)), np.eye(d.nv) / scales.time]), slopes])
    return J, np.concatenate([state[system.places["v"]] / large, found[0] / fast])


def _positions(d: Description) -> list[int | None]:
    """Return the place in q of each entry of v; None for those of joints with quaternions."""
    out: list[int | None] = []
    for c in d.connections:
        q, v = d.q_slices[c.name], d.v_slices[c.name]
        plain = c.joint.nq == c.joint.nv
        out += [*range(q.start, q.stop)] if plain else [None] * (v.stop - v.start)
        modes = d.mode_slices(c.child)[1]
        out += range(modes.start, modes.stop)
    return out


def _at_most(method: object, J: Array, h: float, steps: int) -> float:
    """Return about the error of the fastest mode that J can have, were it undamped."""
    power, exponent = J, 1
    for _ in range(3):
        power, exponent = power @ power, 2 * exponent
    rate = float(np.linalg.norm(power)) ** (1 / exponent)
    return _error(method, 1j * rate, h, steps) if rate * h < 10 else 1.0


def _error(method: object, mode: complex, h: float, steps: int) -> float:
    """Return the share of its amplitude by which a mode is wrong after the steps of its life, at most all of it."""
    made = _made(method, mode.real * h, mode.imag * h)
    if made <= 0:
        return 1.0
    life = min(steps, 1 / (h * abs(mode.real))) if mode.real else steps
    return -math.expm1(-abs(life * (math.log(made) - mode.real * h)))


@functools.lru_cache(maxsize=4096)
def _made(method: object, a: float, b: float) -> float:
    """Return |R| of a step of one second for the mode exp((a + i b) t)."""
    z = complex(a, b)
    if isinstance(method, Method):
        n = method.past + 1
        columns = []
        for k in range(n):
            x, *slopes = (np.array([1.0 + 0j if i == k else 0j]) for i in range(n))
            after, kept = method.advance(lambda _, y: z * y, 0.0, x, tuple(slopes), 1.0)
            columns.append([complex(y[0]) for y in (after, *kept[: method.past])])
        roots = np.linalg.eigvals(np.array(columns).T)
    else:
        problem = SecondOrder(lambda _, q, v: 2 * a * v - (a * a + b * b) * q)
        moved = [
            np.concatenate(method.advance(problem, 0.0, *start, 1.0))  # type: ignore[attr-defined]
            for start in np.eye(2).reshape(2, 2, 1)
        ]
        roots = np.linalg.eigvals(np.array(moved).T)
        z = complex(a, abs(b))
    return float(np.abs(roots[np.abs(roots - np.exp(z)).argmin()]))
