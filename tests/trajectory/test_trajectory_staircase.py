"""Staircase programs: factors against dense matrices, three methods against HiGHS, what cannot be kept named, sequences against closed forms."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.optimize import linprog

from articulus.errors import InputError, NumericalError
from articulus.motion import trajectory
from articulus.motion.trajectory.staircase import interior
from articulus.motion.trajectory.staircase.stages import block_diagonal, row_matrix, step_matrix


def program(N, nx=3, nu=2, quadratic=False, seed=0):
    """Return a random program that the start can satisfy for most seeds."""
    random = np.random.default_rng(seed)
    F = random.normal(size=(nx, nx))
    step = np.hstack([F * 1.02 / np.abs(np.linalg.eigvals(F)).max(), random.normal(size=(nx, nu))])
    out = []
    for k in range(N + 1):
        last = k == N
        n = nx + (0 if last else nu)
        low = np.concatenate([np.full(nx, -3.0), np.full(n - nx, -1.0)])
        high = -low
        if k == 0:
            low[:nx] = high[:nx] = random.uniform(-1, 1, nx)
        out.append(
            trajectory.staircase.Stage(
                nx,
                random.normal(size=n),
                None if last else step,
                None if last else 0.1 * random.normal(size=nx),
                random.normal(size=(2, n)),
                -2.0,
                2.0,
                low,
                high,
                np.eye(n) if quadratic else None,
            )
        )
    return out


def highs(stages):
    rows = row_matrix(stages)
    lower, upper, low, high = (
        np.concatenate([getattr(s, a) for s in stages]) for a in ("lower", "upper", "low", "high")
    )
    below, above = np.isfinite(lower), np.isfinite(upper)
    answer = linprog(
        np.concatenate([s.c for s in stages]),
        A_ub=sp.vstack([rows[above], -rows[below]]),
        b_ub=np.concatenate([upper[above], -lower[below]]),
        A_eq=step_matrix(stages),
        b_eq=-np.concatenate([s.shift for s in stages[:-1]]),
        bounds=np.column_stack([low, high]),
    )
    assert answer.status == 0
    return answer.fun


@pytest.mark.parametrize("seed", range(4))
def test_all_methods_find_the_optimum_of_a_linear_program(seed):
    stages = program(8, seed=seed)
    truth = highs(stages)
    for method, tolerance in (("active_set", 1e-9), ("interior_point", 1e-8), ("hpipm", 1e-7)):
        assert trajectory.staircase.solve_stages(stages, method).cost == pytest.approx(
            truth, abs=tolerance * (1 + abs(truth))
        ), method


def uneven(seed):
    """Return a program around a known motion: stages of different sizes, equations, rows with one bound, inputs without any."""
    random = np.random.default_rng(seed)
    states, inputs = random.integers(1, 5, 13), random.integers(1, 4, 13)
    out, x = [], random.normal(size=states[0])
    for k, (nx, nu) in enumerate(zip(states, inputs)):
        z = np.concatenate([x, random.uniform(-1, 1, nu)])
        low, high = z - random.exponential(size=nx + nu), z + random.exponential(size=nx + nu)
        rows = random.normal(size=(3, nx + nu))
        rows[2, nx:-1] = 0.0
        lower, upper = rows @ z - [1.0, 1.0, 0.0], rows @ z + [1.0, np.inf, 0.0]
        if k == 0:
            low[:nx] = high[:nx] = x
        if k % 3 == 1:  # the equation holds this one
            low[-1], high[-1] = -np.inf, np.inf
        step = random.normal(size=(states[k + 1], nx + nu)) / 2 if k < 12 else None
        shift = None if step is None else random.normal(size=len(step))
        out.append(
            trajectory.staircase.Stage(
                nx, random.normal(size=nx + nu), step, shift, rows, lower, upper, low, high
            )
        )
        x = None if step is None else step @ z + shift
    return out


@pytest.mark.parametrize("seed", range(4))
def test_stages_of_different_sizes_with_equations(seed):
    stages = uneven(seed)
    truth = highs(stages)
    found = trajectory.staircase.solve_stages(stages)
    assert found.cost == pytest.approx(truth, abs=1e-8 * (1 + abs(truth)))
    for k, s in enumerate(stages):
        assert (s.rows @ found.z[k])[2] == pytest.approx(s.lower[2], abs=1e-9)


def test_many_stages_are_solved_as_well_as_few():
    """The search goes on to rounding, which grows slowly with the number of rows, and agrees with HiGHS to its own tolerance of 1e-7."""
    stages = program(400, 6, 3, seed=1)
    found, truth = trajectory.staircase.solve_stages(stages), highs(stages)
    assert found.residual < 1e-11
    assert found.cost == pytest.approx(truth, rel=1e-7)


def test_blocks_make_a_sparse_matrix_without_zeros():
    random = np.random.default_rng(0)
    blocks = [random.normal(size=shape) for shape in ((2, 3), (0, 2), (3, 1), (1, 0), (2, 2))]
    blocks[0][1, 1] = 0.0
    found = block_diagonal(blocks)
    np.testing.assert_array_equal(found.toarray(), block_diag(*blocks))
    assert found.nnz == 12


def test_matrices_of_all_stages_say_what_the_stages_say():
    stages = uneven(1)
    random = np.random.default_rng(0)
    z = [random.normal(size=s.size) for s in stages]
    steps = [s.step @ a - b[: len(s.step)] for s, a, b in zip(stages, z, z[1:])]
    for found, expected in (
        (step_matrix(stages), steps),
        (row_matrix(stages), [s.rows @ a for s, a in zip(stages, z)]),
    ):
        np.testing.assert_allclose(found @ np.concatenate(z), np.concatenate(expected), atol=1e-14)


def test_the_matrix_of_a_newton_step_is_that_of_the_conditions():
    """[[H + G' W G, E'], [E, 0]] by dense products, in the order of the stages; what it maps back solves the equations."""
    flat = interior._flatten(tuple(replace(s, H=np.eye(s.size)) for s in uneven(0)))
    system = interior._System(flat)
    random = np.random.default_rng(0)
    weights = random.exponential(size=flat.G.shape[0])
    system.factor(weights)
    H, E, G = (M.toarray() for M in (flat.H, flat.E, flat.G))
    dense = np.block([[H + G.T @ (weights[:, None] * G), E.T], [E, np.zeros((len(E), len(E)))]])
    order = np.ix_(flat.order, flat.order)
    np.testing.assert_allclose(system.matrix.toarray(), dense[order], atol=1e-13)
    right = random.normal(size=len(dense))
    n = H.shape[0]
    found = np.concatenate(system.solve(right[:n], right[n:], 4))
    np.testing.assert_allclose(dense @ found, right, atol=1e-10)  # the shift of 1e-10 is refined away


def test_prices_are_derivatives_of_the_cost():
    stages = program(6, seed=2)
    found = trajectory.staircase.solve_stages(stages, "active_set")
    from dataclasses import replace

    small = 1e-6  # the optimal cost is piecewise linear: a difference is exact while no row changes
    moved = [replace(stages[0], shift=stages[0].shift + small * np.array([1, 0, 0])), *stages[1:]]
    assert (
        trajectory.staircase.solve_stages(moved, "active_set").cost - found.cost
    ) / small == pytest.approx(found.prices[0][0], rel=1e-5)
    other = trajectory.staircase.solve_stages(stages)
    for a, b in zip((*found.prices, *found.pressures), (*other.prices, *other.pressures)):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_quadratic_programs_meet_the_conditions_of_optimality_and_agree():
    stages = program(12, quadratic=True)
    own, other = (trajectory.staircase.solve_stages(stages, method) for method in ("interior_point", "hpipm"))
    assert own.cost == pytest.approx(other.cost, rel=1e-8)
    for k, s in enumerate(stages):
        force = s.c + s.H @ own.z[k] + s.rows.T @ own.pressures[k]
        if k < 12:
            force += s.step.T @ own.prices[k]
        if k:
            force[: s.states] -= own.prices[k - 1]
        free = (own.z[k] > s.low + 1e-4) & (own.z[k] < s.high - 1e-4)
        assert np.abs(force[free]).max(initial=0.0) < 1e-6


@pytest.mark.parametrize("method", ["active_set", "interior_point", "hpipm"])
def test_what_cannot_be_kept_is_named(method):
    stages = program(6)
    s = stages[4]
    thrust = np.eye(5)[3]  # u[0], at most 1
    stages[4] = trajectory.staircase.Stage(
        3,
        s.c,
        s.step,
        s.shift,
        np.vstack([s.rows, thrust]),
        [-2, -2, 1.5],
        2.0,
        s.low,
        s.high,
        names=("a", "b", "burn"),
    )
    found = trajectory.staircase.solve_stages(stages, method)
    assert found.status == "infeasible"
    assert found.violations[0].amount == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(NumericalError, match=r"stage 4, ('burn'|bounds of u\[0\])"):
        _ = found.cost


@pytest.mark.parametrize("method", ["active_set", "interior_point"])
def test_a_cost_without_end_is_told(method):
    free = trajectory.staircase.Stage(1, [0.0, -1.0], [[1.0, 1.0]], low=[0, 0], high=[0, np.inf])
    found = trajectory.staircase.solve_stages([free, trajectory.staircase.Stage(1, [0.0])], method)
    with pytest.raises(NumericalError, match="unbounded"):
        _ = found.cost
    assert found.residual > 1e-3  # the conditions of optimality are not met


def test_bad_programs_are_named():
    good = program(3)
    with pytest.raises(InputError, match="stage 1: found a step to 2 states"):
        trajectory.staircase.solve_stages(
            [good[0], trajectory.staircase.Stage(3, np.zeros(5), np.zeros((2, 5)), np.zeros(2)), *good[2:]]
        )
    with pytest.raises(InputError, match=r"stage 0.*positive semidefinite"):
        trajectory.staircase.solve_stages(
            [trajectory.staircase.Stage(1, [0.0], [[1.0]], H=[[-1.0]]), trajectory.staircase.Stage(1, [0.0])]
        )
    with pytest.raises(InputError, match=r"stage 0, bounds of u.0.: found bounds 1 and 0"):
        trajectory.staircase.solve_stages(
            [
                trajectory.staircase.Stage(0, [0.0], [[1.0]], low=1.0, high=0.0),
                trajectory.staircase.Stage(1, [0.0]),
            ]
        )
    with pytest.raises(InputError, match="linear program"):
        trajectory.staircase.solve_stages(program(3, quadratic=True), "active_set")
    with pytest.raises(InputError, match="interior_point"):
        trajectory.staircase.solve_stages(good, "interior-point")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rows": [[1.0, 2.0, 3.0]]}, r"Stage.rows: found shape \(1, 3\); expected \(any, 2\)"),
        ({"rows": "all"}, "Stage.rows: found 'all'; expected numbers"),
        ({"rows": [[1.0, 2.0]], "lower": [0.0, 0.0]}, r"Stage.lower: found shape \(2,\); expected \(1,\)"),
        ({"low": [0.0, 0.0, 0.0]}, "Stage.low: found shape"),
        ({"H": [1.0, 2.0]}, "Stage.H: found shape"),
        ({"step": [[1.0, 2.0, 3.0]]}, "Stage.step: found shape"),
        ({"low": [np.inf, -1.0], "high": np.inf}, "bounds inf and inf"),
    ],
)
def test_stages_that_make_no_sense(change, text):
    given = {"states": 1, "c": [0.0, 1.0], "step": [[1.0, 1.0]], "low": -1.0, "high": 1.0} | change
    with pytest.raises(InputError, match=text):
        trajectory.staircase.solve_stages(
            [trajectory.staircase.Stage(**given), trajectory.staircase.Stage(1, [1.0])]
        )


def test_guesses_that_are_no_numbers_are_told():
    good = program(3)
    with pytest.raises(InputError, match="not finite"):
        trajectory.staircase.solve_stages(good, "active_set", guess=[np.full(s.size, np.nan) for s in good])


def test_factors_touch_few_stages_where_changes_die_out():
    """A row that holds all states of a stage cuts the program in two: an exchange before it does not touch what is after."""
    random = np.random.default_rng(0)
    own = [np.eye(2) if k % 5 else random.normal(size=(2, 2)) for k in range(50)]
    factors = trajectory.staircase.StaircaseQL(own, [np.zeros((2, 2))] * 49)
    assert factors.exchange((40, 0), 40, np.array([2.0, 1.0]), np.array([0.3, 0.1])) <= 2
    assert set(factors.unit(40, 1)) <= {40, 41}


def test_singular_rows_are_told():
    with pytest.raises(NumericalError, match="stage 1"):
        trajectory.staircase.StaircaseQL([np.eye(2), np.ones((2, 2))], [np.zeros((2, 2))])


def test_least_time_of_a_cart_by_a_sequence():
    x, u, T = ca.SX.sym("x", 2), ca.SX.sym("u", 1), ca.SX.sym("T")
    cart = trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], u),
        duration=(0.1, 10.0),
        start=[0, 0],
        end=[1, 0],
        u_bounds=[(-1, 1)],
        final=T,
        time=T,
    )
    motion = trajectory.staircase.solve_staged(trajectory.staircase.to_stages(cart, 10))
    assert motion.cost == pytest.approx(
        2.0, abs=1e-7
    )  # 2 sqrt(distance / acceleration); the switch is between stages
    assert np.abs(motion.u[:, 0] - np.repeat([1, -1], 5)).max() < 1e-5


def test_a_sequence_says_what_cannot_be_reached():
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 1)
    cart = trajectory.ode(
        x, u, ca.vertcat(x[1], u), duration=1.0, start=[0, 0], end=[1, 0], u_bounds=[(-1, 1)], running=u**2
    )
    motion = trajectory.staircase.solve_staged(trajectory.staircase.to_stages(cart, 10))
    # at rest after 1 s with 1 m/s^2 it is 0.25 m away at most
    with pytest.raises(NumericalError, match=r"stage 10, end of x_0: off by 0\.75"):
        _ = motion.cost


def test_stages_of_the_users_own_functions():
    """Newton's square root in disguise: x_1 = x_0 + u, cost (x_1^2 - 2)^2, u the only unknown."""
    x, u = ca.SX.sym("x"), ca.SX.sym("u")
    problem = trajectory.staircase.StagedProblem(
        1,
        ca.Function("step", [x, u], [x + u]),
        [1.0],
        final=ca.Function("final", [x], [(x**2 - 2) ** 2]),
        u_bounds=[(0, 1)],
    )
    assert trajectory.staircase.solve_staged(problem).x[1, 0] == pytest.approx(np.sqrt(2), abs=1e-7)


def test_limits_of_the_whole_way_hold_at_the_end_too():
    """As far as possible in a second with 1 m/s^2, but no farther than 0.3 m: the last stage is part of the way."""
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 1)
    cart = trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], u),
        duration=1.0,
        start=[0, 0],
        u_bounds=[(-1, 1)],
        path={"wall": (x[0], -np.inf, 0.3)},
        final=-x[0],
        running=1e-3 * u**2,
    )
    motion = trajectory.staircase.solve_staged(trajectory.staircase.to_stages(cart, 10))
    assert motion.cost > -0.3
    assert motion.x[-1, 0] == pytest.approx(0.3, abs=1e-6)


def test_what_stages_cannot_keep_is_refused():
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 1)
    cart = trajectory.ode(x, u, ca.vertcat(x[1], u), duration=1.0, start=[0, 0], end=[1, 0], running=u**2)
    z = ca.SX.sym("z", cart.size)
    zero = np.zeros(1)
    of_input = trajectory.PhaseConstraint("no push", ca.Function("c", [z], [z[cart.inputs[0]]]), zero, zero)
    rate = cart.rates[0]
    held = cart.upper.copy()
    held[rate] = 1.0
    for change, text in (
        ({"at_end": (of_input,)}, "constraint 'no push' at the end depends on u"),
        ({"at_start": (of_input,)}, "constraint 'no push' at the start"),
        ({"final": ca.Function("f", [z, ca.SX.sym("T")], [z[rate]])}, "cost at the end depends on"),
        ({"upper": held}, "found limits of .*; expected"),
        ({"end": (cart.end[0], held)}, "found limits of .* at the end; expected"),
    ):
        with pytest.raises(InputError, match=text):
            trajectory.staircase.to_stages(replace(cart, **change), 5)
