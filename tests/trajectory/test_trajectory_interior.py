"""The interior point on Hermite-Simpson meshes: its systems beside a sparse factorization, its solutions beside ipopt's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import articulus as art
from articulus.motion.trajectory import Ball, Clear, Hull, OnLine, Plan, mesh_search, plan
from articulus.motion.trajectory.condensed import SIDES, Condensed, SaddleSystem
from articulus.motion.trajectory.interior import solve_condensed
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.schemes import hermite_simpson

IPOPT = {"ipopt.print_level": 0}
"""Options of ipopt, with which plans go to ipopt."""
TIP = Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1)
POST = Clear(Ball((0.9, 0.6, 0.0), 0.1), (TIP,))


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link").with_gravity((0.0, 0.0, 0.0))


def planned(arm: art.Mechanism, **more) -> Plan:
    given = {"duration": 1.0, "torque_limit": 2500.0, "intervals": 12} | more
    return plan(arm, [-0.4, 0.3], [0.9, -0.5], **given)


def derivatives(program: NonlinearProgram, x: np.ndarray, multipliers: np.ndarray) -> tuple[list, list]:
    """Return first derivatives of all constraints and second ones of all blocks, by x over its sizes."""
    first, second = [], []
    for block in (*program.costs, *program.constraints):
        i, j = block.hessian_pattern
        sizes = program.scale[block.index[:, i]] * program.scale[block.index[:, j]]
        if block in program.costs:
            own = np.ones((len(block.index), 1))
        else:
            begin = program.first_rows[program.constraints.index(block)]
            own = multipliers[begin : begin + block.rows].reshape(len(block.index), -1)
            first.append(block.jacobian(x) * program.scale[block.index[:, block.jacobian_pattern[1]]])
        second.append(block.hessian(x, own) * sizes)
    return first, second


def sparse_system(
    program: NonlinearProgram, system: SaddleSystem, compliance: np.ndarray
) -> tuple[sp.csc_matrix, sp.csc_matrix]:
    """Return [W J'; J -compliance] by the program's own tables of places, and W."""
    n, m = program.size, int(program.first_rows[-1])
    pattern, order = program.jacobian_places
    values = np.concatenate([f.ravel() for f in system.first])[order]
    J = sp.csc_matrix((values, pattern.row(), pattern.colind()), (m, n))
    pattern, places = program.hessian_places
    values = np.bincount(places, np.concatenate([s.ravel() for s in system.second]), pattern.nnz())
    U = sp.csc_matrix((values, pattern.row(), pattern.colind()), (n, n))
    W = U + sp.triu(U, 1).T + sp.diags(system.diagonal)
    return sp.bmat([[W, J.T], [J, -sp.diags(compliance)]]).tocsc(), W.tocsc()


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
@pytest.mark.filterwarnings("ignore:plan. the inputs alone lead elsewhere")  # meshes are coarse on purpose
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"obstacles": [POST]},
        {"goal": True},
        {"duration": (0.3, 3.0), "cost": {"time": 1.0, "effort": 0.1}},
    ],
    ids=["bounds", "obstacle", "goal", "duration"],
)
def test_systems_agree_with_a_sparse_factorization(arm: art.Mechanism, more: dict) -> None:
    """On a mesh of unequal intervals, with random right-hand sides: the same changes and the same multipliers, to rounding."""
    goal = art.goals.FramePoint("tip", arm.pose("tip", [0.9, -0.5])[:3, 3])
    made = (
        plan(arm, [-0.4, 0.3], goal, duration=1.0, torque_limit=2500.0, intervals=3)
        if "goal" in more
        else planned(arm, intervals=3, **more)
    )
    random = np.random.default_rng(3)
    mesh = np.array([0.0, 0.1, 0.25, 0.3, 0.7, 1.0])
    program, layouts = hermite_simpson().transcribe(made.problem, [mesh])
    structure = Condensed.of(made.problem, layouts, program)
    assert structure is not None
    n, (m, begin) = program.size, (int(program.first_rows[k]) for k in (-1, 2))
    x = program.scale * random.normal(0, 0.3, n)
    x[layouts[0].duration] = T = 0.8 if "duration" in more else 1.0
    first, second = derivatives(program, x, random.normal(0, 1e-3, m))
    weights = random.uniform(0.5, 2.0, m - begin)
    system = SaddleSystem(first, second, random.uniform(2.0, 4.0, n), weights, T)
    g, r, held = random.normal(size=(SIDES, n)), random.normal(size=(SIDES, m)), np.zeros((SIDES, m - begin))
    held[:] = random.normal(size=held.shape)
    if "duration" not in more:
        g[:, layouts[0].duration] = 0.0
    found = structure.solve(system, g, r, held)
    assert found is not None
    # lambda = D (C dx + r) + l is the row C dx - lambda / D = -r - l / D
    compliance = np.concatenate([np.zeros(begin), 1 / weights])
    shifted = r + np.hstack([np.zeros((SIDES, begin)), held / weights])
    right = splu(sparse_system(program, system, compliance)[0]).solve(-np.hstack([g, shifted]).T).T
    for ours, theirs in zip(found, (right[:, :n], right[:, n:])):
        assert ours == pytest.approx(theirs, abs=1e-9 * np.abs(theirs).max())


@pytest.mark.filterwarnings("ignore:plan. the inputs alone lead elsewhere")  # meshes are coarse on purpose
def test_a_reduced_matrix_that_is_not_positive_definite_is_told(arm: art.Mechanism) -> None:
    """By eigenvalues of W on the null space of J, for diagonals from far below zero to far above: the answer changes where they do."""
    made = planned(arm, intervals=2)
    program, layouts = hermite_simpson().transcribe(made.problem, [np.array([0.0, 0.4, 1.0])])
    structure = Condensed.of(made.problem, layouts, program)
    assert structure is not None
    n, m = program.size, int(program.first_rows[-1])
    first, second = derivatives(program, 0.1 * program.scale, np.full(m, 1e-3))
    told = []
    for size in (-1.0, -1e-2, 1e-2, 1.0):
        diagonal = np.full(n, size)
        diagonal[layouts[0].duration] = 1.0
        system = SaddleSystem(first, second, diagonal, np.zeros(0), 1.0)
        whole, W = sparse_system(program, system, np.zeros(m))
        J = whole[n:, :n].toarray()
        J = J[:, np.arange(n) != layouts[0].duration]
        _, s, Z = np.linalg.svd(J)
        assert s.min() > 1e-8 * s.max()
        free = np.delete(np.delete(W.toarray(), layouts[0].duration, 0), layouts[0].duration, 1)
        lowest = np.linalg.eigvalsh(Z[len(s) :] @ free @ Z[len(s) :].T).min()
        sides = np.ones((SIDES, n)), np.zeros((SIDES, m)), np.zeros((SIDES, 0))
        assert (structure.solve(system, *sides) is not None) == (lowest > 0)
        told.append(lowest > 0)
    assert any(told)
    assert not all(told)


def cases(arm: art.Mechanism) -> dict[str, Callable[..., Plan]]:
    goal = art.goals.FramePoint("tip", arm.pose("tip", [0.9, -0.5])[:3, 3])
    limited = {"velocity_limit": 1.8}
    line = OnLine("tip", arm.pose("tip", [-0.4, 0.8])[:3, 3], arm.pose("tip", [0.2, 0.9])[:3, 3])

    def on_line(**more):
        return plan(
            arm, [-0.4, 0.8], [0.2, 0.9], duration=1.0, torque_limit=4e3, intervals=12, keep=[line], **more
        )

    return {
        "forces at their limits": lambda **more: planned(arm, **more),
        "speeds at their limits": lambda **more: planned(arm, **limited, **more),
        "without limits": lambda **more: planned(arm, torque_limit=None, **more),
        "around a post": lambda **more: planned(arm, torque_limit=5e3, obstacles=[POST], **more),
        "to a point": lambda **more: plan(
            arm, [-0.4, 0.3], goal, duration=1.0, torque_limit=2500.0, intervals=12, **more
        ),
        "least acceleration": lambda **more: planned(
            arm, cost={"acceleration": 1.0}, torque_limit=5e3, **more
        ),
        "in the least time": lambda **more: planned(
            arm, duration=(0.3, 3.0), cost={"time": 1.0, "effort": 1e-2}, **more
        ),
        "refined": lambda **more: planned(arm, error=1e-5, **more),
        "on a line": on_line,
    }


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
@pytest.mark.parametrize("name", cases(art.load("two_link")))
def test_solutions_are_those_of_ipopt(arm: art.Mechanism, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One program, two solvers: cost to 1e-6, which the barrier of either may change, motion and forces to what that means."""
    made = []
    monkeypatch.setattr(
        mesh_search, "solve_condensed", lambda *a, **k: made.append(solve_condensed(*a, **k)) or made[-1]
    )
    ours = cases(arm)[name]()
    assert made
    assert all(solution is not None and solution.converged for solution in made)
    theirs = cases(arm)[name](options=IPOPT)
    assert len(ours.t) == len(theirs.t)
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-6)
    assert ours.q == pytest.approx(theirs.q, abs=1e-4)
    most = np.abs(theirs.u).max()
    assert ours.u == pytest.approx(theirs.u, abs=5e-3 * most)
    own, other = ours.costates[0], theirs.costates[0]
    assert own == pytest.approx(other, abs=1e-3 * np.abs(other).max())


def test_multipliers_keep_the_conditions_of_optimality(arm: art.Mechanism) -> None:
    """Cost, constraints and bounds balance in every unknown; no bound pulls where it is not reached."""
    made = planned(arm)
    program, found = made.program, made.solution
    first, _ = derivatives(program, found.x, found.multipliers)
    slope = program.gradient(found.x) * program.scale
    for block, values, begin in zip(program.constraints, first, program.first_rows):
        i, j = block.jacobian_pattern
        own = found.multipliers[begin : begin + block.rows].reshape(len(block.index), -1)
        slope += np.bincount(block.index[:, j].ravel(), (values * own[:, i]).ravel(), program.size)
    assert slope + found.bound_multipliers * program.scale == pytest.approx(0, abs=1e-7)
    gaps = np.minimum(found.x - program.lower, program.upper - found.x)
    loose = (program.lower < program.upper) & np.isfinite(gaps)
    assert np.abs(gaps[loose] * found.bound_multipliers[loose]).max() < 1e-7


def test_what_it_cannot_solve_goes_to_ipopt(arm: art.Mechanism) -> None:
    """Too little time: the answer is ipopt's, with the constraint that is not kept by name."""
    made = planned(arm, duration=0.2)
    assert not made.converged
    assert made.solution.status == "Infeasible_Problem_Detected"
    assert made.violations()


@pytest.mark.parametrize("options", [None, IPOPT], ids=["own", "ipopt"])
def test_arms_of_all_sizes_have_similar_motions(options: dict | None) -> None:
    """Lengths L: masses L^3, inertias and forces without gravity L^5, so that the least sum of their squares goes with L^10, 1e-23 at a
    millimetre. To 1e-6, what the tolerance of either solver leaves of the cost."""
    found = []
    for L in (1.0, 1e-3):
        arm = art.Mechanism("arm")
        for k, parent in ((1, "ground"), (2, "link1")):
            inertia = (10 * L**5, 90 * L**5, 90 * L**5)
            arm.body(f"link{k}", mass=1e3 * L**3, com=(L / 2, 0, 0), inertia=inertia)
            at = (0.0, 0.0, 0.0) if k == 1 else (L, 0.0, 0.0)
            arm.joint(f"joint{k}", art.Revolute(axis=(0, 0, 1)), parent=parent, child=f"link{k}", at=at)
        still = arm.with_gravity((0.0, 0.0, 0.0))
        found.append(plan(still, [0, 0], [1.0, -0.7], duration=1.0, intervals=12, options=options))
    large, small = found
    assert small.cost / 1e-30 == pytest.approx(large.cost, rel=1e-6)
    assert small.q == pytest.approx(large.q, abs=1e-5)


@pytest.mark.parametrize("scheme", ["radau 3", "lobatto 4", "shooting"])
def test_other_meshes_go_to_ipopt(arm: art.Mechanism, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        mesh_search, "solve_condensed", lambda *a, **k: pytest.fail("not a mesh of this kind")
    )
    assert planned(arm, scheme=scheme, intervals=6).converged
