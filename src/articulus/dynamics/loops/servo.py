"""Control forces that hold kinematical constraints: servo (program) constraints with directions of one's choice."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.base import (
    ConstraintProblem,
    ConstraintSolution,
    floor_mobilities,
    stabilized_residual,
)
from articulus.dynamics.loops.schur import Schur
from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import Description

FORMS = ("mobility", "augmented", "null_space")
"""Ways in which `servo` solves its equations."""
COMPLIANCE = 1e-13
"""Of rows of loops in the augmented forms, over the mobility of the row: rows that depend on others do no harm."""


def servo(
    problem: ConstraintProblem,
    directions: SX,
    loops: Constraints | None = None,
    frequency: SX | float = 0.0,
    damping: SX | float = 1.0,
    form: str = "mobility",
) -> ConstraintSolution:
    """Return vdot and control forces nu of M vdot + Z' nu = f with G vdot + gamma = 0.

    Row i of Z is the direction in which what holds row i of the constraints pulls: a row of G itself where a joint or
    guide reacts (an ideal constraint), a row of one's choice where an actuator does the work. The applied joint forces are -Z' nu, as
    -G' lambda for ideal constraints. Three forms give the same::

        mobility     (G M^-1 Z') nu = G M^-1 f + gamma, which is `lagrange` for Z = G; in a mechanism with loops M^-1
                     stands for the response under them
        augmented    [M Z'; G 0] [vdot; nu] = [f; -gamma], with the loops as further rows                     (equation 17)
        null_space   [C' M; G] vdot = [C' f; -gamma] with Z C = 0, then nu = (Z Z')^-1 Z (f - M vdot)    (equations 18, 19)

    Parameters
    ----------
    problem : Problem
        With the servo constraints.
    directions : SX, (m, nv)
        Z, one row for each constraint row; numbers for the form "null_space".
    loops : Constraints, optional
        Ideal constraints that hold as well.
    frequency, damping : numbers or (m,)
        w [rad/s] and mu [-] of the stabilized servo constraints: how fast a motion that is off them comes back.
    form : str
        "mobility", the fastest; "augmented" or "null_space".

    Source: Ider 1989, equations 17 to 19. The matrix G M^-1 Z' is regular when the actuators can produce the motion.
    """
    c, shape = problem.constraints, problem.constraints.G.shape
    if directions.shape != shape:
        raise InputError(
            f"directions: found shape {directions.shape}; expected {shape}, "
            "one direction for each row of the constraints"
        )
    if form not in FORMS:
        raise InputError(f"servo: no form '{form}'; {did_you_mean(str(form), FORMS)}")
    inside = _no_rows(shape[1]) if loops is None else loops
    wanted = stabilized_residual(c, frequency, damping)
    if form == "mobility":
        free, pulled, matrix = _mobility(problem, directions, inside)
        force = ca.solve(matrix, ca.mtimes(c.G, free) + wanted)
        return ConstraintSolution(free - ca.mtimes(pulled, force), force)
    if form == "augmented":
        return _augmented(problem, directions, inside, wanted)
    return _null_space(problem, directions, inside, wanted)


def mobility(problem: ConstraintProblem, directions: SX, loops: Constraints | None = None) -> SX:
    """Return G M^-1 Z' (m, m): how the control forces accelerate the constrained quantities; regular where the motion can be produced."""
    inside = _no_rows(directions.shape[1]) if loops is None else loops
    return _mobility(problem, directions, inside)[2]


def _mobility(problem: ConstraintProblem, directions: SX, inside: Constraints) -> tuple[SX, SX, SX]:
    """Return the free acceleration, the accelerations by unit control forces, and G times these."""
    schur = Schur(problem.M, inside.G)

    def response(force: SX, wanted: SX) -> SX:
        free = schur.free(force)
        return free - schur.response(schur.multipliers(ca.mtimes(inside.G, free) + wanted))

    pulled = response(directions.T, SX.zeros(inside.g.numel(), directions.shape[0]))
    return response(problem.f, inside.gamma), pulled, ca.mtimes(problem.constraints.G, pulled)


def _augmented(problem: ConstraintProblem, Z: SX, inside: Constraints, wanted: SX) -> ConstraintSolution:
    m, nv, held = *Z.shape, inside.g.numel()
    G = problem.constraints.G
    matrix = ca.vertcat(
        ca.horzcat(problem.M, inside.G.T, Z.T),
        ca.horzcat(inside.G, -_compliance(problem.M, inside.G), SX(held, m)),
        ca.horzcat(G, SX(m, held + m)),
    )
    found = ca.solve(ca.densify(matrix), ca.vertcat(problem.f, -inside.gamma, -wanted))
    return ConstraintSolution(found[:nv], found[nv + held :])


def _null_space(problem: ConstraintProblem, Z: SX, inside: Constraints, wanted: SX) -> ConstraintSolution:
    if not Z.is_constant():
        raise InputError(
            "servo: the form 'null_space' takes directions that are numbers, such as those of joints; found expressions. Take 'augmented'"
        )
    m, nv, held = *Z.shape, inside.g.numel()
    numbers = np.array(ca.DM(Z))
    free = SX(ca.sparsify(ca.DM(_complement(numbers)), 1e-14))
    matrix = ca.vertcat(
        ca.horzcat(ca.mtimes(free.T, problem.M), ca.mtimes(free.T, inside.G.T)),
        ca.horzcat(inside.G, -_compliance(problem.M, inside.G)),
        ca.horzcat(problem.constraints.G, SX(m, held)),
    )
    right = ca.vertcat(ca.mtimes(free.T, problem.f), -inside.gamma, -wanted)
    found = ca.solve(ca.densify(matrix), right)
    vdot, reactions = found[:nv], found[nv:]
    rest = problem.f - ca.mtimes(problem.M, vdot) - ca.mtimes(inside.G.T, reactions)
    return ConstraintSolution(vdot, ca.mtimes(SX(np.linalg.solve(numbers @ numbers.T, numbers)), rest))


def _complement(Z: np.ndarray) -> np.ndarray:
    """Return C (nv, nv - rank) with Z C = 0: the other coordinates where every row of Z is one coordinate."""
    if np.linalg.matrix_rank(Z) < len(Z):
        raise InputError(
            "servo: the directions of the actuators depend on each other; expected independent ones, such as different joints"
        )
    if ((Z != 0).sum(axis=1) == 1).all():
        return np.eye(Z.shape[1])[:, ~(Z != 0).any(axis=0)]
    return np.linalg.svd(Z)[2][len(Z) :].T


def _compliance(M: SX, G: SX) -> SX:
    """Return a small diagonal for rows of loops, by the mobility that each has on its own."""
    if not G.shape[0]:
        return SX(0, 0)
    return COMPLIANCE * ca.diag(floor_mobilities(ca.sum2(G**2 / ca.repmat(ca.diag(M).T, G.shape[0], 1))))


def _no_rows(nv: int) -> Constraints:
    return Constraints(SX(0, 1), SX(0, nv), SX(0, 1), SX(0, 1))


def joint_directions(description: Description, joints: Sequence[str]) -> np.ndarray:
    """Return Z of actuators at joints with one degree of freedom, (len(joints), nv)."""
    single = {c.name: description.v_slices[c.name].start for c in description.independent if c.joint.nv == 1}
    for name in joints:
        if name not in single:
            raise InputError(f"no joint '{name}' with one degree of freedom; {did_you_mean(name, single)}")
    return np.eye(description.nv)[[single[name] for name in joints]]
