"""Structure and controller together: derivatives against differences, optima, limits that contradict each other."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

from articulus.design import (
    Continuation,
    ControlStructure,
    MeanSquareLimit,
    ModalRatio,
    QuadraticSteps,
    RayleighDamping,
    RegulatorCost,
    SequentialApproximations,
    SizedStructure,
    Terms,
    TradeOff,
    measure,
)
from articulus.design.methods import ALL_METHODS
from articulus.errors import DoubtfulResult, InputError
from articulus.numerics.lyapunov import Lyapunov

RNG = np.random.default_rng(5)
DAMPINGS = (RayleighDamping(0.1, 0.002), ModalRatio(0.01))


def chain(count: int = 4, damping=DAMPINGS[0]) -> SizedStructure:
    """Return masses between springs; both grow with the sizes, the springs with their squares."""
    unit = np.eye(count)
    springs = [
        np.outer(unit[j], unit[j]) if j == 0 else np.outer(unit[j] - unit[j - 1], unit[j] - unit[j - 1])
        for j in range(count)
    ]
    M = Terms(
        np.array([np.diag(u) for u in unit] + [0.1 * np.eye(count)]), np.vstack([unit, np.zeros(count)])
    )
    K = Terms(np.array([100 * s for s in springs]), 2 * unit)
    names = tuple(f"size {j}" for j in range(count))
    return SizedStructure(
        names, M, K, np.linspace(1, 2, count), unit[:, [0, -1]], unit[:, [1]], unit[[-1]], damping=damping
    )


def problem(
    output: bool = False, damping=DAMPINGS[0], effort: float = 0.02, response: float = 1e-2
) -> ControlStructure:
    s = chain(damping=damping)
    efforts = (MeanSquareLimit("effort", (0, 1), effort),)
    responses = (MeanSquareLimit("response", (0,), response),)
    return ControlStructure(
        s, efforts, responses, (1e-2, 1e2), measure(s, "rates at the controls") if output else None
    )


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("output", [False, True])
def test_derivatives_are_those_of_central_differences(output, damping):
    p = problem(output, damping)
    count = len(p.program.names) - 4
    feedback = (
        np.exp(RNG.uniform(-1, 1, count))
        if not output
        else np.eye(2).ravel() + 0.1 * RNG.standard_normal(count)
    )
    x = np.append(RNG.uniform(0.5, 2, 4), feedback)
    point = p.evaluate(x)
    h = 1e-5
    for j in range(x.size):
        d = h * np.eye(x.size)[j]
        difference = (p.evaluate(x + d).limits - p.evaluate(x - d).limits) / (2 * h)
        # central differences: h^2 of the third derivative, and rounding 1e-12 / h
        assert difference == pytest.approx(
            point.slopes[:, j], rel=1e-6, abs=1e-6 * np.abs(point.slopes).max()
        )


def test_mean_squares_are_those_of_scipy():
    p = problem()
    x = np.append(RNG.uniform(0.5, 2, 4), 0.7)
    plant = p.structure.plant(x[:4])
    Q, R = plant.C.T @ plant.C / 1e-2, 0.7 / 0.02 * np.eye(2)
    K = np.linalg.solve(R, plant.B.T @ solve_continuous_are(plant.A, plant.B, Q, R))
    X = solve_continuous_lyapunov(plant.A - plant.B @ K, -plant.E @ plant.E.T)
    assert p.mean_squares(x).values == pytest.approx(
        [np.trace(K @ X @ K.T), (plant.C @ X @ plant.C.T)[0, 0]], rel=1e-9
    )


def test_transposed_lyapunov_equation():
    A = RNG.standard_normal((7, 7)) - 5 * np.eye(7)
    Q = RNG.standard_normal((7, 7))
    Q = Q + Q.T
    Y = Lyapunov(A).solve_transposed(Q)
    assert pytest.approx(-Q, abs=1e-12 * np.abs(Q).max() * np.linalg.norm(A) * 10) == A.T @ Y + Y @ A


@pytest.mark.parametrize("method", ALL_METHODS)
@pytest.mark.parametrize("output", [False, True])
def test_every_method_ends_at_a_design_that_keeps_its_limits(method, output):
    p = problem(output)
    start = (
        p.scaled_start(np.ones(4))
        if not output
        else p.start(1.0, None if method is Continuation else np.eye(2).ravel() * 0.3)
    )
    found = p.minimize(start, method())
    if not output:
        assert found.objective < p.structure.mass(start[:4])


def test_optimum_meets_the_conditions_of_kuhn_and_tucker():
    p = problem()
    values = p.mean_squares(p.start([1.0, 0.8, 0.6, 0.4])).values
    p = dataclasses.replace(p.with_limits(effort=values[0], response=values[1]), bounds=(0.2, 10.0))
    o = p.minimize(p.start([1.0, 0.8, 0.6, 0.4]))
    assert o.active
    assert o.objective < p.structure.mass(np.array([1.0, 0.8, 0.6, 0.4]))
    free = (o.x > p.program.lower * (1 + 1e-9)) & (o.x < p.program.upper * (1 - 1e-9))
    slope = o.point.slope * p.program.rates(o.x)
    slopes = (o.point.slopes * p.program.rates(o.x))[o.point.limits > -1e-3]
    duals = np.linalg.lstsq(slopes[:, free].T, -slope[free], rcond=None)[0]
    assert (duals > 0).all()
    rest = slope + duals @ slopes
    assert rest[free] == pytest.approx(
        0, abs=2e-3 * np.abs(slope).max()
    )  # tolerance 1e-9 of the objective: its root
    assert (rest[~free] > -2e-3 * np.abs(slope).max()).all()


def test_scaled_start_meets_both_limits():
    p = problem()
    point = p.evaluate(p.scaled_start(np.ones(4)))
    assert point.limits == pytest.approx(0, abs=1e-7)


def test_limits_that_contradict_each_other_are_named():
    p = dataclasses.replace(problem(effort=1e-6, response=1e-6), bounds=(0.5, 2.0))
    with pytest.warns(DoubtfulResult, match="no design was found that keeps all limits.*response"):
        p.minimize(p.start(1.0))


def test_starts_that_disagree_are_told():
    def evaluate(x):
        from articulus.design import Point

        return Point(
            float(np.cos(3 * x[0]) + 0.1 * x[0] + 3),
            np.array([-3 * np.sin(3 * x[0]) + 0.1]),
            np.zeros(0),
            np.zeros((0, 1)),
        )

    from articulus.design import DesignProgram
    from articulus.design.restarts import best_of

    program = DesignProgram(
        ("x",), np.array([-4.0]), np.array([4.0]), evaluate, (), np.array([False]), np.ones(1)
    )
    with pytest.warns(DoubtfulResult, match="starts end at different optima"):
        best = best_of(program, np.array([[1.0], [3.0], [-1.0]]), QuadraticSteps())
    assert len(best.others) == 2
    assert best.objective <= min(o.objective for o in best.others)


def test_section_between_two_designs():
    p = problem()
    o = p.minimize(p.scaled_start(np.ones(4)))
    line = o.section(p.scaled_start(np.ones(4)), count=11, beyond=0.0)
    assert line.objective[0] == pytest.approx(o.objective)
    assert line.places[-1] == 1.0
    assert len(line.plot().axes) == 2


def test_bad_input_is_named():
    s = chain()
    effort, response = (MeanSquareLimit("effort", (0, 1), 1.0),), (MeanSquareLimit("response", (0,), 1.0),)
    with pytest.raises(InputError, match="no limit on the effort"):
        ControlStructure(s, (), response)
    with pytest.raises(InputError, match="each of 0 to 1 once"):
        ControlStructure(s, (MeanSquareLimit("effort", (0,), 1.0),), response)
    with pytest.raises(InputError, match="expected a positive limit"):
        ControlStructure(s, effort, (MeanSquareLimit("response", (0,), -1.0),))
    with pytest.raises(InputError, match="found no limit 'speed'"):
        ControlStructure(s, effort, response).with_limits(speed=1.0)
    with pytest.raises(InputError, match="finite numbers"):
        ControlStructure(s, effort, response).minimize(np.ones(3))
    with pytest.raises(InputError, match="positive numbers"):
        s.plant(np.array([1.0, 1.0, -1.0, 1.0]))
    with pytest.raises(InputError, match="belong together"):
        RegulatorCost(np.eye(2), sensors=np.eye(8))


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("estimated", [False, True])
def test_derivatives_of_the_regulator_cost(damping, estimated):
    s, n = chain(damping=damping), 8
    sensors = {"sensors": np.eye(n)[:2], "sensor_noise": 0.3 * np.eye(2)} if estimated else {}
    cost = RegulatorCost(
        np.diag([0.5, 2.0]), np.eye(1), energy=0.2, state=0.1 * np.eye(n), noise=0.05 * np.eye(n), **sensors
    )
    x = RNG.uniform(0.5, 2, 4)
    h = 1e-5
    differences = [(cost.at(s, x + h * e)[0] - cost.at(s, x - h * e)[0]) / (2 * h) for e in np.eye(4)]
    assert cost.at(s, x)[1] == pytest.approx(differences, rel=1e-6)


def test_lqg_cost_is_the_covariance_of_the_closed_loop():
    s = chain()
    cost = RegulatorCost(
        np.eye(2), np.eye(1), noise=0.1 * np.eye(8), sensors=np.eye(8)[:2], sensor_noise=0.3 * np.eye(2)
    )
    x = np.ones(4)
    plant = s.plant(x)
    W, Q = plant.E @ plant.E.T + 0.1 * np.eye(8), cost.weight(plant)
    K = plant.B.T @ solve_continuous_are(plant.A, plant.B, Q, np.eye(2))
    L = solve_continuous_are(plant.A.T, cost.sensors.T, W, cost.sensor_noise) @ cost.sensors.T / 0.3
    closed = np.block([[plant.A, -plant.B @ K], [L @ cost.sensors, plant.A - L @ cost.sensors - plant.B @ K]])
    noise = np.block([[W, np.zeros((8, 8))], [np.zeros((8, 8)), 0.3 * L @ L.T]])
    X = solve_continuous_lyapunov(closed, -noise)
    assert cost.at(s, x)[0] == pytest.approx(
        np.trace(Q @ X[:8, :8]) + np.trace(K @ X[8:, 8:] @ K.T), rel=1e-9
    )


def test_front_has_no_design_that_another_beats():
    front = TradeOff.of(chain(), RegulatorCost(np.eye(2), np.eye(1)), 1e-2).front(
        (0.1, 0.5, 0.9, 0.99), start=np.ones(4)
    )
    assert (np.diff(front.costs[:, 0]) > 0).all()
    assert (np.diff(front.costs[:, 1]) < 0).all()
    middle = front.designs[1]
    assert front.pick(first=middle.costs[0]) is middle
    assert len(front.table()) == 4
    assert front.plot().axes
    with pytest.raises(InputError, match="no design of the front"):
        front.pick(second=0.0)
    with pytest.raises(InputError, match="below 1"):
        TradeOff.of(chain(), RegulatorCost(np.eye(2), np.eye(1)), 1e-2).front((1.0,))


def test_matrices_that_are_not_affine_are_refused():
    from articulus.structure import beam

    def build(x):
        return (
            beam(1.0, EI=float(x[0]) ** 2, mass_per_length=1.0, elements=2)
            .with_input("f", "node2", {"y": 1.0})
            .with_output("tip", "node2", {"y": 1.0})
        )

    given = {
        "controls": ["f"],
        "disturbances": ["f"],
        "outputs": ["tip"],
        "weights": [1.0],
        "damping": DAMPINGS[0],
    }
    with pytest.raises(InputError, match="not affine"):
        SizedStructure.of(build, ["depth"], [1.0], **given)
    with pytest.raises(InputError, match="found no 'g'"):
        SizedStructure.of(build, ["depth"], [1.0], **{**given, "controls": ["g"]})


def test_approximations_are_no_worse_than_their_start():
    p = problem()
    start = p.scaled_start(np.ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert p.minimize(start, SequentialApproximations()).objective <= p.structure.mass(start[:4])


def test_sweeps_of_limits_and_disturbances():
    """Mean squares grow with the square of the disturbance: twice as much of it is a quarter of every limit."""
    p = problem()
    start = p.scaled_start(np.ones(4))
    pushed = p.sweep("disturbance", [1.0, 2.0], start)
    limits = p.with_limits(effort=0.005, response=2.5e-3)
    alone = limits.minimize(pushed[0].x)
    assert pushed[1].objective == pytest.approx(alone.objective, rel=1e-6)
    assert pushed[0].objective < pushed[1].objective
    loose = p.sweep("response", [1e-2, 2e-2], start)
    assert loose[1].objective < loose[0].objective == pytest.approx(pushed[0].objective, rel=1e-6)
    with pytest.raises(InputError, match="found no limit 'respons'"):
        p.sweep("respons", [1.0], start)
