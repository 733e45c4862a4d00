"""Linear models along a run, about a state of rest, and by parameters: against differences of nonlinear motions and closed forms."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from scipy.linalg import expm
from threadpoolctl import threadpool_limits

import articulus as art
import flexible_zoo
import zoo
from articulus.linear import LinearModel, LinearModels
from articulus.simulation.loop.components import PD, PID

ROD_INERTIA, ROD_WEIGHT = 1 / 3, 9.81 / 2  # slender rod of 1 m and 1 kg about its end; m g l/2


def changing(A: np.ndarray, t: np.ndarray, period: float | None = None) -> LinearModels:
    """Return models with matrices A (times, n, n), an input and an output."""
    n = A.shape[-1]
    models = [
        LinearModel(
            a,
            np.ones((n, 1)),
            np.ones((1, n)),
            np.zeros((1, 1)),
            tuple(f"x.{k}" for k in range(n)),
            ("u",),
            ("y",),
            ("-",),
            ("-",),
            float(time),
            period,
        )
        for a, time in zip(A, t)
    ]
    return LinearModels.of(models)


def test_models_along_a_run_are_those_of_its_states() -> None:
    """A free pendulum: poles^2 = -(m g l/2) cos(a) / I at every angle of its fall; one by one the same."""
    run = art.simulate(art.load("pendulum_chain", n=1), 1.0, q0=[3.0], step=1e-3, sample=0.1)
    models = run.linearize(at=run.t)
    assert isinstance(models, LinearModels)
    assert len(models) == len(run.t)
    np.testing.assert_array_equal(models.t, run.t)
    found = (models.poles**2).mean(axis=1)
    np.testing.assert_allclose(found, -ROD_WEIGHT / ROD_INERTIA * np.cos(run.q[:, 0]), rtol=1e-12)
    assert models[4].t == pytest.approx(0.4)
    assert models[2:5].t.shape == (3,)
    np.testing.assert_allclose(models[4].A, run.linearize(at=0.4).A, atol=1e-12)
    half = models.at(0.45)
    np.testing.assert_allclose(half.A, 0.5 * (models[4].A + models[5].A), atol=1e-12)
    system = models[4].to_control()
    np.testing.assert_array_equal(system.A, models[4].A)
    assert len(models.plot().axes) == 3


@pytest.mark.parametrize("period", [None, 0.02])
def test_the_transition_is_the_derivative_of_the_end_of_a_run(period: float | None) -> None:
    """By its start, from differences of nonlinear runs; A is linear between samples, an error of second order in their distance."""
    loop = art.Loop(art.load("two_link"), PD(kp=3.0, kd=0.4, period=period))
    start, e = np.array([1.0, 0.5, 0.2, -0.3]), 1e-5
    sample = 0.01 if period is None else period
    models = loop.simulate(0.6, start[:2], start[2:], sample=sample).linearize(
        np.arange(0, 0.6 + 1e-9, sample)
    )
    around = start + e * np.vstack([np.eye(4), -np.eye(4)])
    ends = loop.rollout(0.6, around[:, :2], around[:, 2:])
    x = np.hstack([ends.q[:, -1], ends.v[:, -1]])
    expected = (x[:4] - x[4:]).T / (2 * e)
    # the sampled model holds A over a whole period: an error of first order
    tolerance = 1e-4 if period is None else 2e-2
    np.testing.assert_allclose(models.transition(), expected, atol=tolerance * np.abs(expected).max())


def test_transitions_between_given_matrices() -> None:
    """exp of the integral where the matrices commute; an independent integration where not; backwards the inverse."""
    t = np.linspace(0.0, 2.0, 5)
    A = np.array([[0.0, 1.0], [-4.0, -0.3]])
    np.testing.assert_allclose(
        changing((1 + t)[:, None, None] * A, t).transition(), expm(4.0 * A), atol=1e-12
    )
    rng = np.random.default_rng(3)
    models = changing(3 * rng.normal(size=(5, 3, 3)), t)

    def midpoint(count: int) -> np.ndarray:
        h = 1.7 / count
        with threadpool_limits(1):
            steps = [expm(h * models.at(0.2 + h * (k + 0.5)).A) for k in range(count)]
        return functools.reduce(lambda whole, step: step @ whole, steps)

    found = models.transition(0.2, 1.9)
    expected = (
        4 * midpoint(680) - midpoint(340)
    ) / 3  # knots at every 0.5 s lie between steps; fourth order: 1e-8
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(found).max())
    np.testing.assert_allclose(models.transition(1.9, 0.2) @ found, np.eye(3), atol=1e-8)
    sampled = dataclasses.replace(models, period=0.5)
    np.testing.assert_allclose(sampled.transition(0.5, 1.5), models.A[2] @ models.A[1], atol=1e-12)


def test_mistakes_along_a_trajectory_are_named() -> None:
    models = changing(np.zeros((3, 2, 2)), np.arange(3.0))
    with pytest.raises(art.InputError, match=r"found the time 2\.5 s; expected one from 0 to 2 s"):
        models.at(2.5)
    with pytest.raises(art.InputError, match="expected a multiple of the period"):
        dataclasses.replace(models, period=0.4).transition(0.0, 1.0)
    with pytest.raises(art.InputError, match="found one time; expected models along a trajectory"):
        art.load("two_link").linearize(np.zeros((3, 2))).transition()
    with pytest.raises(art.InputError, match="times that do not rise"):
        changing(np.zeros((3, 2, 2)), np.array([0.0, 1.0, 1.0])).at(0.5)
    run = art.simulate(art.load("two_link"), 0.01)
    with pytest.raises(art.InputError, match=r"found times of shape \(0,\)"):
        run.linearize(at=[])


# loops


def four_bar() -> art.Mechanism:
    """Return a four-bar linkage whose coupler has a length that is a parameter, with a mass on it."""
    m, axis = art.Mechanism("four-bar"), (0.0, -1.0, 0.0)
    length = art.Parameter("length", 1.1)
    for name, parent, at, mass in (
        ("crank", "ground", (0, 0, 0), 1.0),
        ("coupler", "crank", (0, 0, 1), art.Parameter("mass", 2.0)),
        ("rocker", "ground", (1, 0, 0), 1.5),
    ):
        m.body(name, mass, (0.5, 0, 0) if name == "coupler" else (0, 0, 0.5), (0.1, 0.1, 0.1))
        m.joint(f"{name}_pin", art.Revolute(axis), parent, name, at=at)
    return m.loop("pin", art.Revolute(axis), "coupler", "rocker", at=(length, 0, 0), child_at=(0, 0, 1))


def closed_state(m: art.Mechanism, z: np.ndarray, i: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return q and v that close the loop with coordinate i and its rate given."""
    params = {"length": length}
    name = m.joint_names[i]
    guess = np.array([0.3, -0.3, 0.3])
    guess[i] = z[0]
    q = art.assemble(m, guess, fixed=[name], params=params).q
    G = m.constraint_jacobian(q, 0.0, params=params)
    others = [k for k in range(3) if k != i]
    v = np.zeros(3)
    v[i] = z[1]
    v[others] = np.linalg.lstsq(G[:, others], -G[:, i] * z[1], rcond=None)[0]
    return q, v


def test_parameters_of_a_closed_mechanism_move_its_dependent_coordinates() -> None:
    """Rates of the free coordinate, and all coordinates, by the length and the mass of the coupler: against differences."""
    m = four_bar()
    q, v = closed_state(m, np.array([0.3, 0.9]), 0, 1.1)
    model = art.Loop(m).linearize(q, v, inputs=["tau", "p.length", "p.mass"])
    i = m.joint_names.index(model.states[0].removeprefix("q."))
    z = np.array([q[i], v[i]])

    def answer(z: np.ndarray, length: float, mass: float) -> np.ndarray:
        q, v = closed_state(m, z, i, length)
        vdot, _ = m.closed_dynamics(q, v, np.zeros(3), 0.0, params={"length": length, "mass": mass})
        return np.array([v[i], vdot[i], *q, *v])

    def difference(k: int) -> np.ndarray:
        e = 1e-5 * np.eye(4)[k]
        above, below = (answer(z + s * e[:2], 1.1 + s * e[2], 2.0 + s * e[3]) for s in (1, -1))
        return (above - below) / 2e-5

    whole = np.vstack([np.hstack([model.A, model.B]), np.hstack([model.C, model.D])[:6]])[:, [0, 1, 5, 6]]
    # second differences of order one: 1e-10, over a closing to 1e-12 divided by the step
    np.testing.assert_allclose(whole, np.stack([difference(k) for k in range(4)], axis=1), atol=2e-6)
    assert np.abs(whole[1, 2]) > 0.1
    assert np.abs(whole[1, 3]) > 0.1


def test_a_linkage_has_one_set_of_states_along_its_swing() -> None:
    """The best coordinate differs along the way; those of the first sample are the states at all of them."""
    m = four_bar()
    q, v = closed_state(m, np.array([0.3, 0.9]), 0, 1.1)
    loop = art.Loop(m)
    models = loop.simulate(0.5, q, v, sample=0.002).linearize(at=np.arange(0, 0.5 + 1e-9, 0.002))
    # A is linear between samples: the error is of second order in their distance, and is taken away by that of twice the distance
    found = (4 * models.transition() - models[::2].transition()) / 3
    i, e, ends = m.joint_names.index(models.states[0].removeprefix("q.")), 1e-5, []
    for k in range(2):
        for sign in (1, -1):
            start = closed_state(m, np.array([q[i], v[i]]) + sign * e * np.eye(2)[k], i, 1.1)
            end = loop.simulate(0.5, *start, sample=0.5)
            ends.append([end.q[-1, i], end.v[-1, i]])
    expected = (np.array(ends)[::2] - np.array(ends)[1::2]).T / (2 * e)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_parameters_of_a_flexible_arm_and_of_its_controller() -> None:
    """Accelerations of a loop with a flexible body by damping, masses and a gain, against differences of the rates."""
    rigid = zoo.random_mechanism(5, 2, [art.Revolute], friction=True, parameters=["damping", "mass"])
    m = flexible_zoo.soften(rigid, 2, share=0.0)
    state = flexible_zoo.state(m, 4, bend=0.01)
    held = [f"p.{name}" for name in m.parameters]
    loop = art.Loop(m, PD(kp=art.Parameter("kp", 30.0), kd=2.0))
    model = loop.linearize(state.q, state.v, inputs=[*held, "p.kp"], outputs=["u"])
    rhs, places, c = loop.function("rhs"), loop.system.places, loop.system.c0.copy()
    c[places["q"]], c[places["v"]] = state.q, state.v
    p, e = np.array([*m.parameters.values(), 30.0]), 1e-4
    for k in range(len(p)):
        above, below = (
            np.array(rhs(c, [], p + sign * e * np.eye(len(p))[k], [], 0.0, 1e-3)).ravel() for sign in (1, -1)
        )
        expected = ((above - below) / (2 * e))[places["v"]]
        np.testing.assert_allclose(model.B[m.nv :, k], expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
    assert len(held) > 1
    assert np.abs(model.B[m.nv :, : len(held)]).max(axis=0).min() > 0


def test_trimmed_models_are_about_the_state_of_rest() -> None:
    """A PID holds a pendulum at 0.7 rad: its integrator carries the weight. Poles by hand; without the trim it is not at rest."""
    kp, ki, kd, target = 30.0, 12.0, 4.0, 0.7
    loop = art.Loop(art.load("pendulum_chain", n=1), PID(kp=kp, ki=ki, kd=kd, target=target))
    model = loop.linearize([0.2], trimmed=True)
    expected = np.roots([ROD_INERTIA, kd, kp + ROD_WEIGHT * np.cos(target), ki])
    np.testing.assert_allclose(np.sort_complex(model.poles), np.sort_complex(expected), rtol=1e-9)
    gain = loop.linearize([0.2], trimmed=True, inputs=["u"], outputs=["u"], opened=["u"])
    s = 2.0j
    by_hand = -(kp + ki / s + kd * s) / (ROD_INERTIA * s**2 + ROD_WEIGHT * np.cos(target))
    np.testing.assert_allclose(gain.response([2.0])[0, -1, 0], by_hand, rtol=1e-9)
    with pytest.raises(art.InputError, match="expected one estimate q of a state of rest"):
        loop.linearize([0.2], [1.0], trimmed=True)
