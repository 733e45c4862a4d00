"""Matrices of the joint-coordinate method on a slider with a four-bar linkage; three forms of the same equations."""

from collections.abc import Callable

import casadi as ca
import numpy as np
from casadi import DM, SX

from articulus.cases.rectangle_four_bar.mechanism import HINGE, rectangle_four_bar
from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops import ConstraintProblem, lagrange
from articulus.dynamics.loops.absolute import Absolute, absolute
from articulus.dynamics.loops.joint_form import joint_form
from articulus.dynamics.loops.null_space import (
    VelocityPartition,
    closing_step,
    minimal_form,
    null_space,
    partition,
    partitioned_basis,
)
from articulus.dynamics.tree import Tree
from articulus.spatial import frame_with_z

PRINTED = VelocityPartition(rows=(0, 2), dependent=(2, 3), independent=(0, 1))
"""Rows 1 and 3 of D*B, with the slide and the first hinge independent."""
REST, RATE, FORCE = np.zeros(4), np.array([0.3, 0.8, -0.8, 0.8]), np.array([1.0, -2.0, 0.5, 0.7])
TURN = np.eye(5)
TURN[:3, :3] = -frame_with_z(HINGE.axis)
"""From the rows of a cut hinge (child minus parent, the third along the axis) to the paper's: parent minus child in ground
axes, which are also those of body 1."""

Ask = Callable[..., list[np.ndarray]]


def compute() -> dict:
    tree = Tree(rectangle_four_bar())
    tau, t = SX.sym("tau", 4), SX.sym("t")
    whole, joints = absolute(tree, tree.v, tau, t), in_ground_axes(joint_form(tree, tree.v, tau, t))

    def at(*expressions: SX, q: np.ndarray = REST) -> list[np.ndarray]:
        found = ca.Function("f", [tree.q, tree.v, tau, t], list(expressions)).call([q, RATE, FORCE, 0.0])
        return [np.array(ca.densify(x)) for x in found]

    norms, closed = newton(joints, at)
    return matrices(whole, joints, at) | {
        **{f"Newton: residual norm before step {k + 1} [m]": norm for k, norm in enumerate(norms)},
        "Newton: (th3, th4) at th2 = 0.5 [rad]": closed[2:],
        "three forms: difference of the accelerations": three_forms(whole, joints, at),
    }


def matrices(whole: Absolute, joints: ConstraintProblem, at: Ask) -> dict:
    D, B, C = at(whole.problem.constraints.G, whole.B, joints.constraints.G)
    cut = TURN @ D[whole.tree_rows :]
    found = partition(C)
    E, E_found = (at(partitioned_basis(joints.constraints.G, p))[0] for p in (PRINTED, found))
    M, minimal = at(whole.joint_form().M, minimal_form(joints, PRINTED)[0])
    return {
        "size of D*": cut.shape,
        "D B of the joints that are not cut": np.abs(D[: whole.tree_rows] @ B).max(),
        "D* B": cut @ B,
        "C": (cut @ B)[list(found.rows)],
        "D* B - G of the joint form": np.abs(cut @ B - C).max(),
        "E": E,
        "E, partition by pivoting": E_found,
        "C E": np.abs(C @ E).max(),
        "Mbar = B' M B [kg, kg m, kg m^2]": M,
        "Mbar' = E' Mbar E [kg, kg m, kg m^2]": minimal,
    }


def newton(joints: ConstraintProblem, at: Ask) -> tuple[list[float], np.ndarray]:
    """Return residual norms and the closed position from th2 = 0.5, th3 = -0.3, th4 = 0.3 (eq. 26)."""
    q, norms = np.array([0.0, 0.5, -0.3, 0.3]), []
    for _ in range(5):
        residual, step = at(joints.constraints.g[:3], closing_step(joints.constraints, PRINTED), q=q)
        norms.append(float(np.linalg.norm(residual)))
        q = q + step.ravel()
    return norms, q


def three_forms(whole: Absolute, joints: ConstraintProblem, at: Ask) -> float:
    """Return the largest difference between absolute, joint and minimal forms at one moving state [m/s^2, rad/s^2]."""
    rows = [0, 2]
    reduced = ConstraintProblem(joints.M, joints.f, joints.constraints.rows(rows))
    p = whole.problem
    kept = p.constraints.rows(range(whole.tree_rows))
    D_cut = ca.mtimes(DM(TURN[rows]), p.constraints.G[whole.tree_rows :, :])
    gamma_cut = ca.mtimes(DM(TURN[rows]), p.constraints.gamma[whole.tree_rows :])
    M, h, D, gamma, B, carried, joint, minimal = at(
        p.M,
        p.f,
        ca.vertcat(kept.G, D_cut),
        ca.vertcat(kept.gamma, gamma_cut),
        whole.B,
        whole.carried,
        lagrange(reduced).vdot,
        null_space(joints, PRINTED).vdot,
    )
    matrix = np.block([[M, D.T], [D, np.zeros((len(D), len(D)))]])
    bodies = np.linalg.lstsq(matrix, np.vstack([h, -gamma]), rcond=None)[0][: len(M)]
    return float(max(np.abs(joint - minimal).max(), np.abs(bodies - B @ joint - carried).max()))


def in_ground_axes(problem: ConstraintProblem) -> ConstraintProblem:
    c, T = problem.constraints, DM(TURN)
    turned = (ca.mtimes(T, x) for x in (c.g, c.G, c.rate, c.gamma))
    return ConstraintProblem(problem.M, problem.f, Constraints(*turned))
