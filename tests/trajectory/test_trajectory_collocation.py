"""Collocation: closed forms, orders of convergence, derivatives of the program, phases, what is said of bad problems."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from articulus.errors import InputError, NumericalError
from articulus.motion.trajectory import Phase, Problem, ode, solve_problem
from articulus.motion.trajectory.collocation import first_guess
from articulus.motion.trajectory.program import FunctionBlock
from articulus.motion.trajectory.schemes import lobatto, radau, scheme

SCHEMES = ("hermite_simpson", "radau 3", "lobatto 4", "shooting")


def cart(**more) -> Phase:
    """Return a mass of 1 that a force moves by 1 from rest to rest."""
    x, u = SX.sym("x", 2), SX.sym("u", 1)
    given = {"duration": 1.0, "start": [0, 0], "end": [1, 0]} | more
    if given.pop("fast", False):
        T = SX.sym("T")
        given |= {"final": T, "time": T, "duration": (0.1, 10.0), "u_bounds": [(-1, 1)]}
    elif "running" not in given:
        given["running"] = u**2
    return ode(x, u, ca.vertcat(x[1], u), **given)


@pytest.mark.parametrize("name", SCHEMES)
def test_least_effort_is_a_cubic(name: str) -> None:
    """u = 6 - 12 t and cost 12, exactly in the space of every scheme here: rounding and the solver's tolerance."""
    plan = solve_problem(cart(), scheme=name, intervals=7)
    assert plan.cost == pytest.approx(12, abs=1e-8)
    assert plan["u"] == pytest.approx(6 - 12 * plan.t, abs=1e-6)
    assert plan["x_0"] == pytest.approx(3 * plan.t**2 - 2 * plan.t**3, abs=1e-8)
    assert plan.error < 1e-9


@pytest.mark.parametrize("name", SCHEMES[:3])
def test_least_time_is_bang_bang(name: str) -> None:
    """T = 2 sqrt(distance / force); the switch lies on the mesh of an even number of intervals."""
    plan = solve_problem(cart(fast=True), scheme=name, intervals=20)
    assert plan.duration == pytest.approx(2, abs=1e-6)
    inner = np.abs(plan.t - 1) > 0.11
    assert plan["u"][inner] == pytest.approx(np.sign(1 - plan.t[inner]), abs=1e-4)


def test_brachistochrone_is_the_cycloid() -> None:
    """x = r (p - sin p), y = r (1 - cos p), T = p sqrt(r / g) through (2, 1)."""
    from scipy.optimize import brentq

    p = brentq(lambda p: (p - np.sin(p)) / (1 - np.cos(p)) - 2, 1, 6)
    exact = p * np.sqrt(1 / (1 - np.cos(p)) / 9.81)
    x, u, T = SX.sym("x", 3), SX.sym("u", 1), SX.sym("T")
    phase = ode(
        x,
        u,
        ca.vertcat(x[2] * ca.sin(u), x[2] * ca.cos(u), 9.81 * ca.cos(u)),
        duration=(0.1, 5.0),
        start=[0, 0, 0],
        end=[2, 1, None],
        u_bounds=[(0, np.pi)],
        final=T,
        time=T,
        guess=([[0, 0, 0], [2, 1, 4.4]], [[1.0]]),
    )
    for name in SCHEMES:
        assert solve_problem(phase, scheme=name, intervals=25).duration == pytest.approx(exact, rel=1e-5)


def pendulum(end: float = 1.0) -> Phase:
    x, u = SX.sym("x", 2), SX.sym("u", 1)
    return ode(
        x, u, ca.vertcat(x[1], u - ca.sin(x[0])), duration=2.0, start=[0, 0], end=[end, 0], running=u**2
    )


@pytest.mark.parametrize(
    ("name", "order"), [("hermite_simpson", 4), ("lobatto 3", 4), ("radau 2", 3), ("shooting", 4)]
)
def test_cost_converges_with_the_order_of_the_scheme(name: str, order: int) -> None:
    """Halving the intervals divides the error of the cost by 2^order, within half an order; radau's even faster."""
    exact = solve_problem(pendulum(), scheme="lobatto 6", intervals=40, tolerance=1e-12).cost
    errors = [
        abs(solve_problem(pendulum(), scheme=name, intervals=n, tolerance=1e-12).cost - exact) for n in (4, 8)
    ]
    assert np.log2(errors[0] / errors[1]) > order - 0.5


def test_refinement_reaches_the_error_and_tells_when_it_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = solve_problem(pendulum(3.0), intervals=4)
    fine = solve_problem(pendulum(3.0), intervals=4, error=1e-6)
    assert coarse.error > 1e-5
    assert fine.error <= 1e-6
    monkeypatch.setattr("articulus.motion.trajectory.mesh_search.ROUNDS", 1)
    with pytest.warns(UserWarning, match="inputs that jump"):
        solve_problem(cart(fast=True), intervals=5, error=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_derivatives_of_the_program(name: str) -> None:
    """Against differences of values and of gradients, on a point where nothing is zero; step 1e-6, so 1e-7 of the sizes here."""
    x, u, T = SX.sym("x", 2), SX.sym("u", 1), SX.sym("T")
    phase = ode(
        x,
        u,
        ca.vertcat(x[1] * ca.cos(u), u - ca.sin(x[0]) * x[1] ** 2),
        duration=(0.5, 3.0),
        start=[0, 0],
        end=[1, None],
        running=u**2 * x[0] + x[1] ** 2,
        final=T**2 + x[1] ** 3,
        time=T,
        path={"disc": (ca.sumsqr(x) * u, -1, 9)},
    )
    free = np.full(phase.size, np.inf)
    problem = Problem((phase, replace(phase, start=(-free, free))))
    program, layouts = scheme(name).transcribe(problem, [np.linspace(0, 1, 4), np.array([0, 0.3, 1.0])])
    rng = np.random.default_rng(3)
    at = first_guess(problem, layouts) + rng.normal(size=program.size)
    multipliers, h = rng.normal(size=int(program.first_rows[-1])), 1e-6

    def lagrangian_gradient(y: np.ndarray) -> np.ndarray:
        pattern, _ = program.jacobian_places
        rows, columns = map(np.array, pattern.get_triplet())
        J = np.zeros(pattern.shape)
        J[rows, columns] = program.jacobian(y)
        return 0.7 * program.gradient(y) + J.T @ multipliers

    values = [
        [
            0.7 * program.cost(at + s * h * e) + program.residuals(at + s * h * e) @ multipliers
            for s in (1, -1)
        ]
        for e in np.eye(program.size)
    ]
    difference = np.array([(a - b) / (2 * h) for a, b in values])
    assert lagrangian_gradient(at) == pytest.approx(difference, abs=1e-6)
    pattern, _ = program.hessian_places
    rows, columns = map(np.array, pattern.get_triplet())
    H = np.zeros(pattern.shape)
    H[rows, columns] = program.hessian(at, 0.7, multipliers)
    H = H + np.triu(H, 1).T
    columns_of = [
        (lagrangian_gradient(at + h * e) - lagrangian_gradient(at - h * e)) / (2 * h)
        for e in np.eye(program.size)
    ]
    assert pytest.approx(np.array(columns_of).T, abs=1e-6) == H


def test_two_phases_are_one_motion() -> None:
    """Cut at half the time, where the cart may be anywhere: the same least effort."""
    first = cart(duration=0.5, end=[None, None], name="first")
    second = cart(duration=0.5, start=[None, None], name="second")
    plan = solve_problem(Problem((first, second)), intervals=[3, 5])
    assert plan.cost == pytest.approx(12, abs=1e-7)
    assert plan.duration == 1.0
    jump = Problem(
        (first, second),
        links=(
            type(plan.problem.links[0])(
                ca.Function(
                    "shove",
                    [a := SX.sym("a", 5), b := SX.sym("b", 5)],
                    [ca.vertcat(b[0] - a[0], b[1] - a[1] - 3.0)],
                )
            ),
        ),
    )
    # v jumps by 3 half-way: with w = v - 3 [t > 1/2] it is the cart that has to go 1 - 1.5 and end at -3: the same family, cost by
    # the closed form 4 (3 d^2 - 3 d e + e^2) of a move d with end speed e in unit time
    d, e = -0.5, -3.0
    assert solve_problem(jump, intervals=4).cost == pytest.approx(4 * (3 * d**2 - 3 * d * e + e**2), abs=1e-6)


def test_infeasible_problems_say_which_constraint_and_keep_the_motion() -> None:
    plan = solve_problem(cart(u_bounds=[(-3, 3)]), intervals=10, iterations=200)
    assert not plan.converged
    with pytest.raises(
        NumericalError, match=r"not kept, first .* at t = .* off by .*; at a limit for much of the time: u"
    ):
        _ = plan.cost
    assert np.isfinite(plan.courses[0].z).all()


def test_contradictions_are_found_before_solving() -> None:
    with pytest.raises(InputError, match=r"x_0 at the start is to lie between 0 and -1"):
        cart(x_bounds=[(-9, -1), (-9, 9)])
    with pytest.raises(InputError, match=r"duration between 0 and inf.*positive, finite"):
        cart(duration=(0.0, np.inf))
    with pytest.raises(InputError, match=r'"spectral"; expected "hermite_simpson"'):
        solve_problem(cart(), scheme="spectral")
    with pytest.raises(InputError, match=r"one per state, 2"):
        cart(start=[0])


@pytest.mark.parametrize("points", [1, 2, 3, 5, 8])
def test_points_and_weights_integrate_polynomials(points: int) -> None:
    """Radau with s points integrates degree 2 s - 2 exactly, Lobatto with s + 1 degree 2 s - 1."""
    for made, degree in ((radau(points), 2 * points - 2), (lobatto(points + 1), 2 * points - 1)):
        for k in range(degree + 1):
            assert made.weights @ made.points**k == pytest.approx(1 / (k + 1), abs=1e-13)


def test_derivatives_of_a_single_number_by_all_unknowns():
    """A dense row of derivatives, whose nonzeros CasADi gives as a row."""
    z, d = ca.SX.sym("z", 3), ca.SX.sym("d", 1)
    function = ca.Function("cost", [z, d], [d * ca.dot(z, z)])
    index, none = np.array([[0, 1, 2], [2, 1, 0]]), np.zeros((2, 1))
    block = FunctionBlock("cost", function, index, np.array([[1.0], [2.0]]), none, none)
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(block.jacobian(x), [[2.0, 4.0, 6.0], [12.0, 8.0, 4.0]])


@pytest.mark.parametrize("weight", [1e-9, 1e-5, 1.0, 1e6])
def test_the_unit_of_the_cost_does_not_matter(weight: float) -> None:
    """A cost in another unit has the same motion, and its multipliers are in that unit; ipopt's tolerance is absolute."""
    x, u = SX.sym("x", 2), SX.sym("u", 1)
    phase = ode(
        x,
        u,
        ca.vertcat(x[1], u - ca.sin(x[0])),
        duration=2.0,
        start=[0, 0],
        end=[1, 0],
        running=weight * u**2,
        guess=([[0, 0], [1, 0]], [[1.0]]),
    )
    plan, plain = solve_problem(phase, intervals=10), solve_problem(pendulum(), intervals=10)
    assert plan.cost / weight == pytest.approx(plain.cost, rel=1e-7)
    assert plan.solution.multipliers / weight == pytest.approx(plain.solution.multipliers, abs=1e-4)
