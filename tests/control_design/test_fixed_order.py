"""Fixed-order design: gradients, limits, several plants; the optimal projection."""

import casadi as ca
import numpy as np
import pytest

from articulus.control import DesignLimits, fixed_order, h2norm, h2syn, hinfnorm, hinfsyn, sample
from articulus.control.plant import PlantPartition, of_matrices
from articulus.control.synthesis import optimal_projection
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.control.synthesis.hinf_problem import without_feedthrough
from articulus.errors import DoubtfulResult, InputError, NumericalError

A = np.array([[0, 1.0, 0, 0], [-1, -0.01, 1, 0.01], [0, 0, 0, 1], [1, 0.01, -2, -0.02]])


def plant(stiffness: float = 1.0):
    """Return two masses on springs: force on the first, position of the second measured; noise on both."""
    D = np.zeros((6, 6))
    D[4, 5] = D[5, 4] = 1.0
    scaled = A.copy()
    scaled[3, :3:2] *= stiffness
    B = np.hstack([np.eye(4), np.zeros((4, 1)), np.eye(4)[:, [1]]])
    return of_matrices(scaled, B, np.vstack([np.eye(4), np.zeros((1, 4)), np.eye(4)[[2]]]), D)


@pytest.mark.parametrize("what", ["square", "peak", "damping"])
def test_gradients_are_exact(what):
    """Against central differences at a stable controller."""
    closed = ClosedLoop(PlantPartition.of(plant(), 1, 1, "test"), 2)
    law = optimal_projection(plant(), 2, commands=1, measured=1).controller
    K = np.block([[law.D, law.C], [law.B, law.A]])
    K[1:, 1:] *= 1.01  # not at the minimum
    call = {
        "square": closed.square,
        "peak": closed.peak,
        "damping": lambda K: closed.pole(
            K, lambda s: s.real / np.abs(s), lambda s: 1j * s.imag * s.conjugate() / abs(s) ** 3
        ),
    }[what]
    slope = call(K)[1]
    for i, j in ((1, 0), (0, 2), (2, 1)):
        dK = np.zeros_like(K)
        dK[i, j] = 1e-5
        by = (call(K + dK)[0] - call(K - dK)[0]) / 2e-5
        np.testing.assert_allclose(slope[i, j], by, rtol=2e-4, atol=1e-5 * np.abs(slope).max())


def test_full_order_is_lqg_and_lower_orders_agree_with_the_projection():
    full = optimal_projection(plant(), 4, commands=1, measured=1)
    np.testing.assert_allclose(full.h2, full.full, rtol=1e-9)
    np.testing.assert_allclose(full.projection, np.eye(4), atol=1e-6)
    two = optimal_projection(plant(), 2, commands=1, measured=1)
    assert two.h2 > two.full
    assert np.linalg.matrix_rank(two.projection, 1e-6) == 2
    other = fixed_order(plant(), 2, commands=1, measured=1, starts=2)
    np.testing.assert_allclose(other.h2[0], two.h2, rtol=1e-5)


def test_limits_are_kept_and_cost_something():
    free = fixed_order(plant(), 2, commands=1, measured=1, starts=1, seed=1)
    least = -np.max(free.poles.real / np.abs(free.poles))
    bound = least + 0.1
    held = fixed_order(
        plant(), 2, commands=1, measured=1, starts=1, seed=1, limits=DesignLimits(damping=bound)
    )
    assert np.min(-held.poles.real / np.abs(held.poles)) >= bound * (1 - 2e-3)
    assert held.objective > free.objective


def test_one_controller_for_two_plants():
    plants = [plant(), plant(1.3)]
    both = fixed_order(plants, 2, commands=1, measured=1, starts=2)
    assert len(both.h2) == 2
    assert np.isfinite(both.h2).all()
    alone = fixed_order(plants[0], 2, commands=1, measured=1, starts=2)
    assert both.h2[0] >= alone.h2[0] * (1 - 1e-6)


def test_what_cannot_be_done_is_said():
    with pytest.raises(InputError, match="H2 norm is infinite"):
        fixed_order(
            plant(),
            lambda p: (ca.SX(0, 0), ca.SX(0, 1), ca.SX(1, 0), p[0]),
            [0.01],
            commands=1,
            measured=1,
            starts=1,
        )
    runaway = of_matrices([[1.0, 1], [0, 1]], [[1.0, 0], [0, 1]], [[1.0, 0], [1, 0]], np.diag([1e-3, 0]))
    with pytest.raises(NumericalError, match="no controller of this form"):
        fixed_order(runaway, 0, commands=1, measured=1, h2=0, hinf=1, starts=2)
    with pytest.raises(InputError, match="start"):
        fixed_order(plant(), lambda p: (ca.SX(0, 0), ca.SX(0, 1), ca.SX(1, 0), p[0]), commands=1, measured=1)


def with_feedthrough(model, d=0.3):
    D = model.D.copy()
    D[-1, -1] = d
    return of_matrices(model.A, model.B, model.C, D, model.period)


@pytest.mark.parametrize("period", [None, 0.4])
@pytest.mark.parametrize("what", ["square", "peak", "decay", "damping"])
def test_gradients_with_feedthrough_and_sampled(what, period):
    """Against central differences, around a plant that passes commands on to the measured output at once."""
    model = plant() if period is None else sample(plant(), period)
    closed = ClosedLoop(PlantPartition.of(with_feedthrough(model), 1, 1, "test"), 2)
    rng = np.random.default_rng(1)
    K = np.block([[0.0, 0.05 * rng.normal(size=(1, 2))], [0.05 * rng.normal(size=(2, 1)), -0.3 * np.eye(2)]])
    assert closed.outside(K) < 0
    call = {
        "square": closed.square,
        "peak": closed.peak,
        "decay": lambda K: closed.pole(K, np.real, lambda s: 1.0),
        "damping": lambda K: closed.pole(
            K, lambda s: s.real / np.abs(s), lambda s: 1j * s.imag * s.conjugate() / abs(s) ** 3
        ),
    }[what]
    slope = call(K)[1]
    for i, j in ((1, 0), (0, 2), (2, 1)):
        dK = np.zeros_like(K)
        dK[i, j] = 1e-5
        by = (call(K + dK)[0] - call(K - dK)[0]) / 2e-5
        np.testing.assert_allclose(slope[i, j], by, rtol=1e-3, atol=1e-4 * np.abs(slope).max())


def small(period=None, d=0.0):
    """Return a mass on a spring with noise of force and sensor; position and command are errors."""
    model = of_matrices(
        [[0, 1.0], [-1, -0.2]],
        [[0, 0, 0], [1.0, 0, 1.0]],
        [[1.0, 0], [0, 0], [1.0, 0]],
        [[0, 0, 0], [0, 0, 0.5], [0, 0.3, 0.0]],
    )
    return with_feedthrough(model if period is None else sample(model, period), d)


@pytest.mark.parametrize("d", [0.0, 0.4])
def test_full_order_of_a_sampled_plant_is_the_h2_optimum(d):
    found = fixed_order(small(0.3, d), 2, commands=1, measured=1, starts=3, iterations=600)
    best = h2syn(small(0.3, d), measured=1, commands=1)
    np.testing.assert_allclose(
        found.h2[0], best.norm, rtol=1e-4
    )  # the search ends where its gain is 1e-9 of the objective
    assert found.controller.period == 0.3


@pytest.mark.parametrize("period", [None, 0.3])
def test_feedthrough_changes_nothing_that_can_be_reached(period):
    """K (I + D22 K)^-1 around the plant with D22 is K around the plant without: the same norms."""
    A, B, C, D = (np.array([[x]]) for x in (-0.5, 0.2, -0.3, 0.1 if period else 0.0))
    there = without_feedthrough(A, B, C, D, np.array([[0.4]]))
    plain, passing = (ClosedLoop(PlantPartition.of(small(period, d), 1, 1, "test"), 1) for d in (0.0, 0.4))
    K, other = np.block([[D, C], [B, A]]), np.block([[there[3], there[2]], [there[1], there[0]]])
    for name in ("square", "peak"):
        np.testing.assert_allclose(getattr(passing, name)(other)[0], getattr(plain, name)(K)[0], rtol=1e-7)


def test_searches_that_end_early_are_told():
    with pytest.warns(DoubtfulResult, match="still decreasing after 3 iterations"):
        found = fixed_order(plant(), 2, commands=1, measured=1, starts=1, iterations=3)
    assert found.finished == [False]
    assert found.objective > 0


def test_square_that_rounding_has_broken_is_not_taken():
    """Gains of 1e8 beside a pole at -1e-9: the two Lyapunov equations no longer agree, and a negative square must not win."""
    closed = ClosedLoop(PlantPartition.of(plant(), 1, 1, "test"), 2)
    rng = np.random.default_rng(3)
    for _ in range(200):
        K = 10.0 ** rng.uniform(-1, 9, size=(3, 3)) * rng.choice([-1, 1], size=(3, 3))
        K[0, 0] = 0.0
        value = closed.square(K)[0]
        assert value > 0
        if np.isfinite(value) and closed.outside(K) < 0:
            np.testing.assert_allclose(value, float(h2norm(closed.model(K))) ** 2, rtol=1e-2)


def test_objective_is_that_of_the_norms():
    found = fixed_order(small(), 1, commands=1, measured=1, h2=0.5, hinf=2.0, starts=2)
    square = 0.5 * found.h2[0] ** 2 + 2.0 * found.hinf[0] ** 2
    np.testing.assert_allclose([found.objective, min(found.searches)], square, rtol=1e-6)
    assert found.hinf[0] >= hinfsyn(small(), measured=1, commands=1).gamma * (1 - 1e-6)
    np.testing.assert_allclose(
        found.hinf[0], float(hinfnorm(found.closed.select(["u.0", "u.1"], ["y.0", "y.1"])))
    )


def test_start_that_is_not_finite_is_refused():
    with pytest.raises(InputError, match="not finite"):
        fixed_order(small(), 0, [np.nan], commands=1, measured=1, h2=0, hinf=1)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_of_the_errors_do_not_matter(unit):
    """The norm is in these units, and white noise that passes straight through is found in any of them."""
    model = small()
    scale = np.array([[unit], [unit], [1.0]])
    passed = np.zeros((3, 3))
    passed[0, 0] = 1e-3
    plain = fixed_order(model, 1, commands=1, measured=1, starts=1)
    other = fixed_order(
        (model.A, model.B, scale * model.C, scale * model.D), 1, commands=1, measured=1, starts=1
    )
    assert other.h2[0] == pytest.approx(unit * plain.h2[0], rel=1e-5)
    with pytest.raises(InputError, match="white noise of the disturbances passes straight through"):
        fixed_order(
            (model.A, model.B, scale * model.C, scale * (model.D + passed)),
            1,
            commands=1,
            measured=1,
            starts=1,
        )


@pytest.mark.parametrize(("time", "command"), [(1e-2, 1.0), (1e2, 1.0), (1e4, 1.0), (1.0, 1e5), (1e3, 1e-5)])
def test_designs_are_the_same_in_any_units_of_time_and_commands(time, command):
    """The H2 norm grows with the root of the speed. Random starts of one size left 100 times the norm at 100 rad/s."""
    A = np.array([[0, 1, 0, 0], [-1, -0.02, 1, 0], [0, 0, 0, 1], [1, 0, -1, -0.02]])
    B = np.array([[0, 0, 0], [1, 0, command], [0, 0, 0], [0.5, 0, 0]])
    C, D = np.array([[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]), np.zeros((3, 3))
    D[1, 2], D[2, 1] = 0.3 * command, 0.1
    plant = of_matrices(A * time, B * time, C, D)
    found = fixed_order(plant, 2, commands=1, measured=1, starts=3)
    best = fixed_order(
        of_matrices(A, B / [1, 1, command], C, D / [[1], [command], [1]]), 2, commands=1, measured=1, starts=3
    )
    assert found.h2[0] == pytest.approx(best.h2[0] * time**0.5, rel=1e-6)
    again = fixed_order(plant, 2, found.parameters, commands=1, measured=1, starts=1)
    assert again.h2[0] == pytest.approx(found.h2[0], rel=1e-6)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"controller": -1}, "found the controller -1"),
        ({"controller": 2.5}, r"found the controller 2\.5"),
        ({"limits": 3}, r"limits: found 3; expected DesignLimits"),
        ({"finite_time": 20.0}, r"finite_time: found 20\.0; expected FiniteTime"),
        ({"h2": [1, 2, 3]}, "h2: found 3 weights"),
        ({"plants": []}, "found no plants"),
    ],
)
def test_wrong_arguments_are_named(given, text):
    with pytest.raises(InputError, match=text):
        fixed_order(**({"plants": small(), "controller": 2, "commands": 1, "measured": 1} | given))
