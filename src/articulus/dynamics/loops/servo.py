"""Control forces that hold kinematical constraints: servo (program) constraints with directions of one's choice."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.base import Problem, Solution, stabilized
from articulus.dynamics.loops.schur import Schur
from articulus.errors import InputError, did_you_mean
from articulus.mechanism import Description


def servo(
    problem: Problem,
    directions: SX,
    loops: Constraints | None = None,
    frequency: SX | float = 0.0,
    damping: SX | float = 1.0,
) -> Solution:
    """Return vdot and control forces nu of M vdot + Z' nu = f with G vdot + gamma = 0.

    Row i of Z is the direction in which what holds row i of the constraints pulls: a row of G itself where a joint or
    guide reacts (an ideal constraint), a row of one's choice where an actuator does the work. Then

        (G M^-1 Z') nu = G M^-1 f + gamma

    which is `lagrange` for Z = G. The applied joint forces are -Z' nu, as -G' lambda for ideal constraints. In a
    mechanism with loops M^-1 stands for the response under them.

    Parameters
    ----------
    problem : Problem
        With the servo constraints.
    directions : SX, (m, nv)
        Z, one row for each constraint row.
    loops : Constraints, optional
        Ideal constraints that hold as well.
    frequency, damping : numbers or (m,)
        w [rad/s] and mu [-] of the stabilized servo constraints: how fast a motion that is off them comes back.

    Source: Ider 1989, equation 17. The matrix G M^-1 Z' is regular when the actuators can produce the motion.
    """
    c, shape = problem.constraints, problem.constraints.G.shape
    if directions.shape != shape:
        raise InputError(
            f"directions: found shape {directions.shape}; expected {shape}, "
            "one direction for each row of the constraints"
        )
    inside = _no_rows(shape[1]) if loops is None else loops
    schur = Schur(problem.M, inside.G)

    def response(force: SX, wanted: SX) -> SX:
        free = schur.free(force)
        return free - schur.response(schur.multipliers(ca.mtimes(inside.G, free) + wanted))

    free = response(problem.f, inside.gamma)
    pulled = response(directions.T, SX.zeros(inside.g.numel(), shape[0]))
    force = ca.solve(ca.mtimes(c.G, pulled), ca.mtimes(c.G, free) + stabilized(c, frequency, damping))
    return Solution(free - ca.mtimes(pulled, force), force)


def _no_rows(nv: int) -> Constraints:
    return Constraints(SX(0, 1), SX(0, nv), SX(0, 1), SX(0, 1))


def joint_directions(description: Description, joints: Sequence[str]) -> np.ndarray:
    """Return Z of actuators at joints with one freedom, (len(joints), nv)."""
    single = {c.name: description.v_slices[c.name].start for c in description.independent if c.joint.nv == 1}
    for name in joints:
        if name not in single:
            raise InputError(f"no joint '{name}' with one freedom; {did_you_mean(name, single)}")
    return np.eye(description.nv)[[single[name] for name in joints]]
