"""Runs of open mechanisms: balances, orders, batches and agreement with independent integrations."""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulus as art
import zoo
from articulus import kernel
from articulus.errors import InputError
from articulus.simulation.integrate import (
    ALL_METHODS,
    EXPLICIT_METHODS,
    Method,
    SecondOrderMethod,
    SecondOrderProblem,
)
from articulus.simulation.integrate.base import Integrator
from articulus.simulation.loop.components import Expression, FrameWrench
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System
from articulus.simulation.running.steppers import Stepper, stepper_of

FIXED = tuple(m for m in ALL_METHODS if isinstance(m, (Method, SecondOrderMethod)))
"""Methods with fixed explicit steps."""


@functools.cache
def tree() -> art.Mechanism:
    """Return a hinge and a ball joint with friction, a spring and armatures."""
    return zoo.random_mechanism(
        21, 2, [art.Revolute, art.Spherical], friction=True, springs=True, armature=True
    )


@functools.cache
def chain() -> art.Mechanism:
    """Return a hinge and a slide with friction, springs and a mass that is a parameter."""
    return zoo.random_mechanism(
        22, 2, [art.Revolute, art.Prismatic], branching=0.0, friction=True, springs=True, parameters=["mass"]
    )


def hinge(mech: art.Mechanism) -> str:
    return next(c.name for c in mech.description.connections if isinstance(c.joint, art.Revolute))


def push() -> FrameWrench:
    """Return a wrench on the tool that changes with time."""
    t = ca.SX.sym("t")
    wrench = 0.1 * ca.vertcat(1.0, ca.sin(3 * t), 0, 1.0, -0.5, ca.cos(2 * t))
    return FrameWrench("tool", ca.Function("push", [t], [wrench]))


def law(mech: art.Mechanism) -> ca.Function:
    """Return feedback on the hinge, u = 20 (0.3 sin 2t - q) + 0.6 cos 2t - v, as a command for every degree of freedom."""
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", mech.nq), ca.SX.sym("v", mech.nv)
    j, k = mech.description.q_slices[hinge(mech)].start, mech.description.v_slices[hinge(mech)].start
    u = ca.SX.zeros(mech.nv)
    u[k] = 20 * (0.3 * ca.sin(2 * t) - q[j]) + (0.6 * ca.cos(2 * t) - v[k])
    return ca.Function("law", [t, q, v], [u], ["t", "q", "v"], ["u"])


def start(mech: art.Mechanism, seed: int = 1) -> dict:
    state = zoo.random_state(mech, seed)
    return {"q0": state.q, "v0": state.v}


def controlled(mech: art.Mechanism, t_end: float, **settings) -> art.Run:
    return art.simulate(mech, t_end, **start(mech), controller=law(mech), components=[push()], **settings)


@functools.cache
def reference(t_end: float) -> np.ndarray:
    """Return q and v of the tree at the end by scipy's DOP853 at 1e-12; law and wrench written out once more."""
    mech = tree()
    d, begin = mech.description, start(mech)
    j, k = d.q_slices[hinge(mech)].start, d.v_slices[hinge(mech)].start

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, v = x[: mech.nq], x[mech.nq :]
        tau = mech.jacobian("tool", q).T @ np.array([1.0, np.sin(3 * t), 0, 1.0, -0.5, np.cos(2 * t)]) / 10
        tau[k] += 20 * (0.3 * np.sin(2 * t) - q[j]) + (0.6 * np.cos(2 * t) - v[k])
        return np.concatenate([mech.position_rate(q, v), mech.forward_dynamics(q, v, tau)])

    x0 = np.concatenate([begin["q0"], begin["v0"]])
    return solve_ivp(rate, (0, t_end), x0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


def last(run: art.Run) -> np.ndarray:
    return np.concatenate([run.q[-1], run.v[-1]])


# accuracy


@pytest.mark.parametrize("method", [m for m in FIXED if m.order <= 4], ids=lambda m: m.name)
def test_order_of_motion_and_of_energy_balance(method) -> None:
    """Halving the step divides the error against scipy by 2^order (am4 gives 3.7), and what the energy balance misses by no less.

    The balance holds stored energy, friction and the work of a controller and of a wrench, on a tree with a quaternion.
    """
    h = {1: 1e-3, 2: 2e-3, 3: 1e-3, 4: 1e-3}[method.order]
    runs = [controlled(tree(), 0.2, method=method.name, step=s, sample=0.2) for s in (h, h / 2)]
    errors = [np.abs(last(run) - reference(0.2)).max() for run in runs]
    misses = [abs(run["energy.balance"][-1]) for run in runs]
    assert errors[0] < 0.05
    assert np.log2(errors[0] / errors[1]) == pytest.approx(method.order, abs=0.4)
    assert np.log2(misses[0] / misses[1]) > method.order - 0.4
    assert min(runs[1]["energy.dissipated"][-1], abs(runs[1]["energy.input"][-1])) > 0.01


@pytest.mark.parametrize(
    ("method", "step", "tolerance"),
    [
        ("rk8", 0.01, 1e-8),
        ("am10", 0.002, 1e-8),
        ("dormand_prince", 0.05, 1e-8),
        ("rosenbrock", 0.05, 1e-7),
        ("cvodes", 0.05, 1e-6),
        ("idas", 0.05, 1e-6),
        ("newmark", 1e-3, 4e-4),
        ("hht", 1e-3, 4e-4),
        ("generalized_alpha", 1e-3, 4e-4),
    ],
)
def test_agrees_with_scipy(method: str, step: float, tolerance: float) -> None:
    """Adaptive methods at rtol 1e-9; the implicit ones have order 2, error constants of about 100 and steps of 1 ms."""
    run = controlled(tree(), 0.2, method=method, step=step, rtol=1e-9, atol=1e-11)
    assert np.abs(last(run) - reference(0.2)).max() < tolerance
    assert np.abs(run["energy.balance"]).max() < 10 * tolerance


@pytest.mark.parametrize("method", ["rk4", "ab4", "lie_rk4", "dormand_prince", "generalized_alpha"])
def test_quaternions_keep_unit_norm(method: str) -> None:
    run = controlled(tree(), 0.2, method=method, step=0.01)
    d = tree().description
    ball = next(c for c in d.connections if isinstance(c.joint, art.Spherical))
    norm = np.linalg.norm(run.q[:, d.q_slices[ball.name]], axis=1)
    assert np.abs(norm - 1).max() < 1e-14


def test_momentum_of_a_free_floating_tree() -> None:
    """Without gravity and with forces inside only, momentum stays: RK4's error at 1 ms is below 1e-9; the forces matter."""
    mech = zoo.random_mechanism(23, 3, [art.Revolute, art.Spherical], floating=True, gravity=(0, 0, 0))
    t = ca.SX.sym("t")
    u = 0.1 * ca.sin(3 * t) * ca.SX.ones(mech.nv)
    u[mech.description.v_slices["j0"]] = 0
    inside = ca.Function("inside", [t], [u], ["t"], ["u"])
    state = zoo.random_state(mech, 3)
    run = art.simulate(
        mech, 0.5, state.q, state.v, controller=inside, method="lie_rk4", step=1e-3, sample=0.1
    )
    assert np.abs(run["momentum"] - run["momentum"][0]).max() < 1e-9
    assert np.abs(run["energy.input"][-1]) > 0.01


# the same numbers by other ways


@pytest.mark.parametrize("method", EXPLICIT_METHODS, ids=lambda m: m.name)
@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # Euler at 10 ms: the same steps, not good ones
def test_native_steps_are_those_of_integrate(method: Method) -> None:
    """The native loop repeats `integrate` on the same right-hand side, Adams start included, to rounding."""
    mech = chain()
    run = controlled(mech, 0.3, method=method.name, step=0.01)
    system = System(Network(mech.description, [Expression(law(mech)), push()]))
    p = np.array(list(mech.parameters.values()))

    def f(t: float, c: np.ndarray) -> np.ndarray:
        return np.array(system.rhs(c, system.d0, p, [], t, 0.01)).ravel()

    begin = start(mech)
    c0 = np.concatenate([begin["q0"], begin["v0"], [0.0, 0.0]])
    _, x = method.integrate(f, 0.0, 0.3, c0, 30)
    assert np.allclose(np.hstack([run.q, run.v]), x[:, : mech.nq + mech.nv], rtol=1e-12, atol=1e-12)
    assert np.allclose(run["energy.input"], x[:, -2], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "method", [m for m in FIXED if isinstance(m, SecondOrderMethod)], ids=lambda m: m.name
)
@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # Euler at 10 ms: the same steps, not good ones
def test_native_second_order_steps_are_those_of_integrate(method: SecondOrderMethod) -> None:
    mech = tree()
    begin = start(mech)
    run = art.simulate(mech, 0.3, **begin, method=method.name, step=0.01)
    problem = SecondOrderProblem(
        lambda t, q, v: mech.forward_dynamics(q, v, np.zeros(mech.nv)), mech.integrate_position
    )
    _, q, v = method.integrate(problem, 0.0, 0.3, begin["q0"], begin["v0"], 30)
    assert np.allclose(run.q, q, rtol=1e-12, atol=1e-12)
    assert np.allclose(run.v, v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "ab4", "dormand_prince"])
def test_rows_of_a_rollout_are_single_runs(method: str) -> None:
    """To the last bit, for any size of batch and number of threads; a swept parameter goes along."""
    mech = chain()
    states = [zoo.random_state(mech, seed) for seed in range(9)]
    q, v = (np.array([getattr(s, name) for s in states]) for name in "qv")
    name = next(iter(mech.parameters))
    mass = np.linspace(0.5, 2.0, 9)
    common = {"controller": law(mech), "method": method, "step": 0.01, "sample": 0.1}
    signals = ("energy", "tau", "vdot")
    batches = []
    for rows, count in ((9, 2), (3, 1), (1, 1)):
        with kernel.threads(count):
            batches.append(
                art.rollout(
                    mech, 0.5, q[:rows], v[:rows], params={name: mass[:rows]}, outputs=signals, **common
                )
            )
    for i in (0, 8):
        run = art.simulate(mech, 0.5, q[i], v[i], params={name: float(mass[i])}, **common)
        for batch in batches:
            if i < batch.batch:
                for signal in ("q", "v", *signals):
                    assert np.array_equal(batch[signal][i], run[signal]), (signal, i)


def test_sweep_equals_separate_models() -> None:
    """A parameter given in a sweep, and the same number written into the model: rounding only (constants fold)."""
    mech = chain()
    name = next(iter(mech.parameters))
    masses = [0.7, 1.9]
    begin = start(mech)
    sweep = art.rollout(mech, 0.3, **begin, params={name: masses}, step=0.01, sample=0.1)
    for i, mass in enumerate(masses):
        plain = art.Mechanism.from_description(zoo.with_numbers(mech.description, {name: mass}))
        run = art.simulate(plain, 0.3, **begin, step=0.01, sample=0.1)
        assert np.allclose(sweep.q[i], run.q, rtol=1e-11, atol=1e-12)
    assert np.abs(sweep.q[0, -1] - sweep.q[1, -1]).max() > 1e-4


def test_start_time_and_samples() -> None:
    """A run from t0 on is the run of a system whose clock was set forward; samples are every so many steps and the end."""
    mech = chain()
    late = art.simulate(mech, 1.35, **start(mech), controller=law(mech), t0=1.0, step=0.01, sample=0.1)
    assert np.allclose(late.t, [1.0, 1.1, 1.2, 1.3, 1.35], atol=1e-15)
    t = ca.SX.sym("t")
    q, v = ca.SX.sym("q", mech.nq), ca.SX.sym("v", mech.nv)
    shifted = ca.Function("law", [t, q, v], [law(mech)(t + 1.0, q, v)], ["t", "q", "v"], ["u"])
    early = art.simulate(mech, 0.35, **start(mech), controller=shifted, step=0.01, sample=0.1)
    assert np.allclose(late.q, early.q, rtol=1e-12, atol=1e-13)
    other = art.simulate(mech, 0.35, **start(mech), controller=law(mech), step=0.01)
    assert np.abs(late.q[-1] - other.q[-1]).max() > 1e-4


def test_every_method_has_what_runs_it_and_a_stranger_is_refused() -> None:
    class Stranger(Integrator):
        name, kind, order = "stranger", "strange", 1

    assert all(issubclass(stepper_of(m), Stepper) for m in ALL_METHODS)
    with pytest.raises(InputError, match="'stranger' cannot run a mechanism"):
        stepper_of(Stranger())
