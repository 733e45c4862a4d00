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

from articulus.simulation.integrate import Method, SecondOrder, SecondOrderMethod
from articulus.simulation.loop.functions import System

Array = np.ndarray

PART = 0.05
"""Motion of a coordinate by a mode, over the range of its joint or flexible body in the run, from which the mode takes part [-]."""
SMALLEST = 1e-6
"""Motion by a mode, over what is large for the coordinate, below which it is not looked at [-]."""
VIBRATES = 0.1
"""Velocity over frequency and displacement of a mode from which it is a motion, not turning axes alone [-]."""
MOST_WORK = 3_000_000
"""Operations for the derivatives of the rates beyond which nothing is looked at: some 10 ms."""
DIFFERENCE = 1e-6
"""Step of differences, over the size of a state [-]."""


def lost(
    system: System, method: object, states: Array, ranges: Array, p: Array, t: float, h: float, steps: int
) -> float:
    """Return the largest share of its amplitude by which the method changes a vibration that takes part [-]; 0 where nothing is known.

    Parameters
    ----------
    system : System
    method : Integrator
    states : array, (n, logged)
        At which it is looked.
    ranges : array, (nv,)
        Of the displacements of each joint and flexible body in the run.
    p : array
        Parameters.
    t, h : float [s]
        Time of the states, and step.
    steps : int
        Of the run.
    """
    if not isinstance(method, (Method, SecondOrderMethod)):
        return 0.0
    sizes = state_sizes(system)
    work = system.rhs.n_instructions() if system.rhs.is_a("SXFunction") else MOST_WORK
    if work * (1 + system.nc) > MOST_WORK:
        return 0.0
    return max((_lost(system, method, x, ranges, sizes, p, t, h, steps) for x in states), default=0.0)


def state_sizes(system: System) -> Array:
    """Return what is a large change of each continuous state, (nc,); 1 for those of components."""
    d, out = system.description, np.ones(system.nc)
    scales = d.scales()
    out[system.places["q"]] = d.position_sizes(scales)
    out[system.places["v"]] = scales.displacement / scales.time
    return out


def _lost(
    system: System,
    method: object,
    x: Array,
    ranges: Array,
    sizes: Array,
    p: Array,
    t: float,
    h: float,
    steps: int,
) -> float:
    """Return the same at one state."""
    c, d = np.split(x, [system.nc])
    step = DIFFERENCE * np.maximum(np.abs(c), sizes)
    columns = np.column_stack([c, c[:, None] + np.diag(step)])
    found = np.array(system.rhs(columns, d, p, np.zeros(system.nw), t, h))
    rate, J = found[:, 0], (found[:, 1:] - found[:, :1]) / step
    kept = [k for name in ("q", "v") for k in range(system.places[name].start, system.places[name].stop)]
    J = J[np.ix_(kept, kept)] * sizes[kept] / sizes[kept][:, None]
    if not np.isfinite(J).all() or _at_most(method, J, h, steps) < 1e-3:
        return 0.0
    from scipy.linalg import eig  # slow to import

    values, left, right = eig(J, left=True, right=True)
    norms = np.einsum("ik,ik->k", left.conj(), right)
    worst, nq, nv = 0.0, system.description.nq, system.description.nv
    position = _displacements(system)
    for k in np.flatnonzero(values.imag > 0):
        error = _error(method, complex(values[k]), h, steps)
        if error <= worst or abs(norms[k]) < 1e-8:
            continue
        excursion = (left[:, k].conj() @ (rate[kept] / sizes[kept])) / (norms[k] * values[k])
        motion = 2 * np.abs(right[:, k] * excursion) * sizes[kept]
        by_v = motion[nq:] / abs(values[k])
        displaced = position @ motion[:nq]
        large = system.description.scales().displacement
        takes_part = (by_v > PART * ranges) & (by_v > SMALLEST * large) & (by_v > VIBRATES * displaced)
        if takes_part.any():
            worst = error
    return worst


def _displacements(system: System) -> Array:
    """Return which entries of q belong to each entry of v, (nv, nq); none for joints with quaternions."""
    d = system.description
    out = np.zeros((d.nv, d.nq))
    for connection in d.connections:
        q, v = d.q_slices[connection.name], d.v_slices[connection.name]
        if connection.joint.nq == connection.joint.nv:
            out[range(v.start, v.stop), range(q.start, q.stop)] = 1.0
        modes_v, modes_q = d.mode_slices(connection.child)
        out[range(modes_v.start, modes_v.stop), range(modes_q.start, modes_q.stop)] = 1.0
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
        columns = [
            np.concatenate(method.advance(problem, 0.0, *start, 1.0)) for start in np.eye(2).reshape(2, 2, 1)
        ]  # type: ignore[attr-defined]
        roots = np.linalg.eigvals(np.array(columns).T)
        z = complex(a, abs(b))
    return float(np.abs(roots[np.abs(roots - np.exp(z)).argmin()]))
