"""Control forces that hold kinematical constraints: servo (program) constraints with directions of one's choice."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.loops.base import Factored, Problem, Solution
from articulus.errors import InputError, did_you_mean
from articulus.mechanism import Description


def servo(problem: Problem, directions: SX) -> Solution:
    """Return vdot and control forces nu of M vdot + Z' nu = f with G vdot + gamma = 0.

    Row i of Z is the direction in which what holds row i of the constraints pulls: a row of G itself where a joint or
    guide reacts (an ideal constraint), a row of one's choice where an actuator does the work. Then

        (G M^-1 Z') nu = G M^-1 f + gamma

    which is `lagrange` for Z = G. The applied joint forces are -Z' nu, as -G' lambda for ideal constraints.

    Parameters
    ----------
    problem : Problem
    directions : SX, (m, nv)
        Z, one row a constraint row.

    Source: Ider 1989, equation 17. The matrix is regular when the actuators can produce the motion (`realisable`).
    """
    c = problem.constraints
    free, pulled = _responses(problem, directions)
    force = ca.solve(ca.mtimes(c.G, pulled), ca.mtimes(c.G, free) + c.gamma)
    return Solution(free - ca.mtimes(pulled, force), force)


def realisable(problem: Problem, directions: SX) -> SX:
    """Return G M^-1 Z', (m, m): singular where the control forces cannot produce the motion (`require_full_rank`)."""
    return ca.mtimes(problem.constraints.G, _responses(problem, directions)[1])


def _responses(problem: Problem, directions: SX) -> tuple[SX, SX]:
    """Return M^-1 f and M^-1 Z'."""
    shape = problem.constraints.G.shape
    if directions.shape != shape:
        raise InputError(
            f"directions: found shape {directions.shape}; expected {shape}, "
            "one direction for each row of the constraints"
        )
    mass = Factored(problem.M)
    return mass.solve(problem.f), mass.solve(directions.T)


def joint_directions(description: Description, joints: Sequence[str]) -> np.ndarray:
    """Return Z of actuators at joints with one freedom, (len(joints), nv)."""
    single = {c.name: description.v_slices[c.name].start for c in description.connections if c.joint.nv == 1}
    for name in joints:
        if name not in single:
            raise InputError(f"no joint '{name}' with one freedom; {did_you_mean(name, single)}")
    return np.eye(description.nv)[[single[name] for name in joints]]
