"""Every form of closed loops against the whole system of equations in NumPy, on random closed mechanisms."""

from __future__ import annotations

import casadi as ca
import closed
import numpy as np
import pytest
from casadi import SX

from articulus.dynamics import energy
from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops import (
    augmented,
    generic_penalty,
    lagrange,
    regularized_dynamics,
    suggested_penalty,
)
from articulus.dynamics.loops.absolute import absolute
from articulus.dynamics.loops.base import ConstraintProblem
from articulus.dynamics.loops.null_space import independent_rows, null_space, partition, partitioned_basis
from articulus.dynamics.loops.pivoted import independent, pivoted_elimination
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.errors import InputError, UnsupportedOperation

everywhere = pytest.mark.parametrize("name", closed.NAMES)
ROUNDING = 1e-10
"""Relative: condition of the equations (up to some 1e4) times rounding."""


def agree(found: np.ndarray, expected: np.ndarray, tolerance: float = ROUNDING) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


def penalty(c: closed.Closed, number: float) -> ca.DM:
    return ca.DM(suggested_penalty(*c.numbers(c.problem.M, c.problem.constraints.G), number))


@everywhere
def test_multipliers(name):
    c = closed.get(name)
    vdot, multipliers = closed.reference(c)
    found = c.numbers(*_both(lagrange(c.problem)))
    agree(found[0], vdot)
    agree(found[1], multipliers)


@everywhere
def test_augmented_iterations_reach_the_multipliers(name):
    """Tolerance: 1e-16 times the penalty number is what rounding leaves in the primal form."""
    c = closed.get(name)
    vdot, multipliers = closed.reference(c)
    found = c.numbers(*_both(augmented(c.problem, penalty(c, 1e5), iterations=6)))
    agree(found[0], vdot, 1e-8)
    agree(found[1], multipliers, 1e-8)


@everywhere
def test_regularized_iterations_reach_the_multipliers(name):
    c = closed.get(name)
    vdot, multipliers = closed.reference(c)
    found = c.numbers(*_both(regularized_dynamics(c.problem, penalty(c, 1e10), iterations=2)))
    agree(found[0], vdot)
    agree(found[1], multipliers)


@everywhere
@pytest.mark.parametrize("iterations", [1, 2])
def test_augmented_and_regularized_are_the_same_iterates(name, iterations):
    """A small penalty keeps the iterates away from their limit and rounding small."""
    c = closed.get(name)
    one, other = (
        c.numbers(*_both(form(c.problem, 30.0, 2.0, 0.7, iterations)))
        for form in (augmented, regularized_dynamics)
    )
    agree(one[0], other[0])
    agree(one[1], other[1])


def test_the_violation_of_the_penalty_method_falls_with_the_penalty():
    c = closed.get("hinge_chain")
    rows = c.problem.constraints

    def violation(a: float) -> float:
        (rest,) = c.numbers(ca.mtimes(rows.G, generic_penalty(c.problem, a).vdot) + rows.gamma)
        return float(np.abs(rest).max())

    assert violation(1e5) / violation(1e6) == pytest.approx(10, rel=0.05)


@everywhere
def test_null_spaces(name):
    c = closed.get(name)
    vdot, multipliers = closed.reference(c)
    (G,) = c.numbers(c.problem.constraints.G)
    split = partition(G)
    R, *found = c.numbers(
        partitioned_basis(c.problem.constraints.G, split), *_both(null_space(c.problem, split))
    )
    agree(G @ R, np.zeros((3, len(vdot) - 3)))
    agree(found[0], vdot)
    agree(found[1], multipliers)


@everywhere
def test_partitions_chosen_anew_at_every_evaluation(name):
    """The same expressions serve positions with different partitions; G N = 0, N N = N."""
    c = closed.get(name)
    vdot, multipliers = closed.reference(c)
    split = pivoted_elimination(c.problem.M, c.problem.constraints.G)
    G, N, F, *found = c.numbers(c.problem.constraints.G, split.basis, split.F, *_both(independent(c.problem)))
    agree(G @ N, np.zeros((3, len(vdot))))
    agree(N @ N, N)
    assert (F.sum(axis=0) == 1).all()  # a velocity for each of the three rows, and none twice
    assert (F.sum(axis=1) <= 1).all()
    agree(found[0], vdot)
    agree(found[1], multipliers)


def test_a_partition_chosen_anew_goes_through_every_toggle():
    """Slider-crank all around: somewhere every single partition is bad, the pivots never; dead points are singular."""
    problem, at = closed.slider_crank()
    f = ca.Function(
        "f", [at.q, at.v], [independent(problem).vdot, regularized_dynamics(problem, 1e10, iterations=3).vdot]
    )
    for angle in np.linspace(0.01, 2 * np.pi + 0.01, 50):
        s, c = np.sin(angle), np.cos(angle)
        found, expected = (np.array(x) for x in f([c, s, 2 * c], [-s, c, -2 * s]))
        agree(found, expected, 1e-8)


def test_rows_of_zeros_have_no_multiplier():
    c = closed.get("several_roots")
    rows, on = c.problem.constraints, SX([0, 1, 0])
    one = Constraints(on * rows.g, ca.mtimes(ca.diag(on), rows.G), on * rows.rate, on * rows.gamma)
    M, f, G, gamma = c.numbers(c.problem.M, c.problem.f, rows.G, rows.gamma)
    expected = closed.kkt(M, G[1:2], f, gamma[1:2])[0]
    for form in (lagrange, independent):
        found, multipliers = c.numbers(*_both(form(ConstraintProblem(c.problem.M, c.problem.f, one))))
        agree(found, expected)
        assert (multipliers[[0, 2]] == 0.0).all()


@everywhere
def test_absolute_coordinates_lead_back_to_joint_coordinates(name):
    c = closed.get(name)
    whole = absolute(c.tree, c.tree.v, c.tau, c.t)
    back, own = whole.joint_form(), c.problem
    D, B = c.numbers(whole.problem.constraints.G, whole.B)
    agree((D @ B)[: whole.tree_rows], np.zeros((whole.tree_rows, B.shape[1])))
    assert np.linalg.matrix_rank(D[: whole.tree_rows]) == whole.tree_rows == len(B) - B.shape[1]
    pairs = [(back.M, own.M), (back.M, mass_matrix(c.tree)), (back.f, own.f)]
    pairs += [
        (getattr(back.constraints, k), getattr(own.constraints, k)) for k in ("g", "G", "rate", "gamma")
    ]
    for one, other in pairs:
        agree(*c.numbers(one, other))


@everywhere
def test_absolute_accelerations_are_those_of_the_joints(name):
    c = closed.get(name)
    vdot, _ = closed.reference(c)
    whole = absolute(c.tree, c.tree.v, c.tau, c.t)
    p = whole.problem
    M, D, h, gamma, expected = c.numbers(
        p.M, p.constraints.G, p.f, p.constraints.gamma, ca.mtimes(whole.B, SX(ca.DM(vdot))) + whole.carried
    )
    agree(closed.kkt(M, D, h, gamma)[0], expected)


def test_the_augmented_form_bears_bodies_without_mass():
    """Absolute coordinates of a universal joint have one inside, so that M has no inverse."""
    c = closed.get("crosses")
    whole = absolute(c.tree, c.tree.v, c.tau, c.t)
    vdot, _ = closed.reference(c)
    (M,) = c.numbers(whole.problem.M)
    assert np.linalg.matrix_rank(M) < len(M)
    found, expected = c.numbers(
        augmented(whole.problem, 1e4, iterations=6).vdot,
        ca.mtimes(whole.B, SX(ca.DM(vdot))) + whole.carried,
    )
    agree(found, expected, 1e-8)


def test_loop_joints_in_absolute_coordinates():
    c = closed.hinged("spacecraft")
    back = absolute(c.tree, c.tree.v, c.tau, c.t).joint_form().constraints
    for k in ("g", "G", "rate", "gamma"):
        agree(*c.numbers(getattr(back, k), getattr(c.problem.constraints, k)))


def test_armature_has_no_place_in_absolute_coordinates():
    import zoo
    from articulus.dynamics.tree import Tree

    tree = Tree(zoo.get("geared_tree").description)
    with pytest.raises(UnsupportedOperation, match="joint 'j0' has armature or a rotor"):
        absolute(tree, tree.v, tree.v, SX.sym("t"))


@everywhere
def test_redundant_rows(name):
    """The same pin twice: six rows of rank three. Multipliers share the load, accelerations are the same."""
    single, double = closed.get(name), closed.get(name, twice=True)
    vdot, multipliers = closed.reference(single)
    (G,) = double.numbers(double.problem.constraints.G)
    split = partition(G)
    assert len(split.rows) == len(split.dependent) == 3
    big = penalty(double, 1e8)
    forms = [
        regularized_dynamics(double.problem, big, iterations=2),
        augmented(double.problem, penalty(double, 1e5), iterations=6),
        null_space(double.problem, split),
        lagrange(double.problem),
        independent(double.problem),
    ]
    for form, tolerance in zip(forms, (1e-9, 1e-8, ROUNDING, ROUNDING, ROUNDING)):
        found, force = double.numbers(form.vdot, ca.mtimes(double.problem.constraints.G.T, form.multipliers))
        agree(found, vdot, tolerance)
        agree(force, G[:3].T @ multipliers, tolerance)


@everywhere
def test_baumgarte_terms(name):
    c = closed.get(name)
    rows = c.problem.constraints
    for form in (
        lagrange(c.problem, 5.0, 0.7),
        regularized_dynamics(c.problem, penalty(c, 1e10), 5.0, 0.7, 2),
    ):
        wanted = rows.gamma + 2 * 5.0 * 0.7 * rows.rate + 25.0 * rows.g
        rest, size = c.numbers(ca.mtimes(rows.G, form.vdot) + wanted, wanted)
        agree(rest / np.abs(size).max(), np.zeros(3))


@pytest.mark.parametrize("form", [augmented, regularized_dynamics])
def test_rows_that_are_switched_off_do_nothing(form):
    c = closed.get("several_roots")
    (M, f), rows = c.numbers(c.problem.M, c.problem.f), c.problem.constraints
    free, off = c.numbers(*_both(form(c.problem, 1e6, active=0.0)))
    agree(free, np.linalg.solve(M, f))
    agree(off, np.zeros(3))
    one, gamma, G = c.numbers(
        form(c.problem, 1e6, iterations=4, active=SX([0, 1, 0])).vdot, rows.gamma, rows.G
    )
    agree(one, closed.kkt(M, G[1:2], f, gamma[1:2])[0], 1e-8)


@everywhere
def test_energy_changes_by_the_power_of_the_joint_forces(name):
    """On velocities that the constraints allow; friction counts as a joint force."""
    c = closed.get(name)
    from articulus.dynamics.passive import passive_forces, spring_energy

    q, v = c.tree.q, c.tree.v
    G, stored = c.numbers(c.problem.constraints.G, c.tree.v)
    allowed = stored - np.linalg.pinv(G) @ (G @ stored)
    total = energy.kinetic_energy(c.tree, v) + energy.potential_energy(c.tree) - spring_energy(c.tree)
    vdot = lagrange(c.problem).vdot
    rate = ca.jtimes(total, q, c.point.qdot) + ca.jtimes(total, v, vdot)
    power = ca.dot(c.tau + passive_forces(c.tree, v), v)
    f = ca.Function("f", [q, v, c.tau, c.t], [rate, power])
    found, expected = (float(x) for x in f(c.q, allowed, c.force, 0.0))
    assert found == pytest.approx(expected, abs=1e-9 * max(1.0, abs(expected)))


@pytest.mark.parametrize("form", [augmented, regularized_dynamics])
def test_acceleration_at_a_singular_position(form):
    """Slider-crank with the crank upright (Bayo & Avello 1994): (0, -1, 0), where the whole system has no inverse."""
    problem, at = closed.slider_crank()
    f = ca.Function("f", [at.q, at.v], [form(problem, 1e4, iterations=4).vdot, problem.constraints.G])
    vdot, G = (np.array(x) for x in f([0, 1, 0], [-1, 0, -2]))
    assert np.linalg.matrix_rank(G) == 1
    np.testing.assert_allclose(vdot.ravel(), [0, -1, 0], atol=1e-11)


def test_a_partition_goes_bad_at_its_toggle_and_a_new_one_does_not():
    """Slider-crank with the slider as independent coordinate: its outer dead point at x2 = 2."""
    problem, at = closed.slider_crank()
    jacobian = ca.Function("G", [at.q], [problem.constraints.G])

    def G(angle: float) -> np.ndarray:
        return np.array(jacobian([np.cos(angle), np.sin(angle), 2 * np.cos(angle)]))

    split = partition(G(1.0))
    assert split.condition(G(1.0)) < 10
    other = partition(G(1e-4))
    assert other.condition(G(1e-4)) < 10
    worst = max(split.condition(G(1e-4)), other.condition(G(np.pi / 2 - 1e-4)))
    assert worst > 1e3


def test_a_jacobian_that_is_not_finite_is_refused():
    with pytest.raises(InputError, match="not finite"):
        partition(np.array([[np.nan, 1.0]]))


def _both(solution) -> tuple[SX, SX]:
    return solution.vdot, solution.multipliers


def test_rows_that_need_no_pivoting_are_those_that_pivoting_keeps() -> None:
    """Clearly independent rows are all kept and zero rows are not; nearly dependent ones are left to the pivots."""
    rng = np.random.default_rng(3)
    G = rng.normal(size=(5, 7))
    G[2] = 0.0
    assert independent_rows(G) == (0, 1, 3, 4) == partition(G).rows
    for off, rank in ((1e-7, 4), (1e-11, 3)):  # on either side of RANK_TOLERANCE, by pivots
        G[4] = G[0] + off * rng.normal(size=7)
        assert len(independent_rows(G)) == rank
    assert independent_rows(np.zeros((2, 3))) == ()
