"""Quantities as functions of JAX: equal to ours, exact derivatives, under its transformations."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError

jax = pytest.importorskip("jax")
from jax.test_util import check_grads  # noqa: E402

from articulus.bridges.jax import wrap, wrap_run  # noqa: E402

RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True, scope="module")
def double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@functools.cache
def arm() -> art.Mechanism:
    return art.load("two_link")


def floating() -> art.Mechanism:
    m = art.Mechanism("floating")
    m.body("base", art.Parameter("mass", 2.0), inertia=(0.1, 0.2, 0.3))
    m.body("link", 1.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 0.01))
    m.joint("free", art.Free(), "ground", "base")
    m.joint("hinge", art.Revolute(axis=(0, 1, 0)), "base", "link", (0.1, 0, 0))
    return m


@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_dynamics", "mass_matrix", "gravity"])
def test_values_are_ours_and_gradients_exact(quantity: str) -> None:
    called = wrap(arm(), quantity)
    count = len(arm().kernel(quantity).input_names)
    given = RNG.uniform(-1, 1, (count, 5, 3, 2))
    expected = getattr(arm(), quantity)(*given)
    assert np.array_equal(called(*given), expected)
    assert np.array_equal(jax.jit(called)(*given), expected)
    check_grads(called, tuple(x[0, 0] for x in given), order=1, modes=("fwd", "rev"), rtol=1e-6, atol=1e-6)


def test_poses_have_frames() -> None:
    pose = wrap(arm(), "pose", ["tip"])
    q = RNG.uniform(-1, 1, (4, 2))
    assert np.array_equal(pose(q), arm().pose("tip", q))
    J = jax.vmap(jax.jacfwd(pose))(q)
    assert J.shape == (4, 4, 4, 2)
    assert np.allclose(J[:, :3, 3], arm().jacobian("tip", q)[:, 3:], atol=1e-14)


def test_analytic_derivatives_come_out() -> None:
    called = wrap(arm(), "forward_dynamics")
    q, v, tau = RNG.uniform(-1, 1, (3, 2))
    for k, expected in enumerate(arm().derivatives(q, v, tau)):
        for way in (jax.jacfwd, jax.jacrev):
            assert np.allclose(way(called, argnums=k)(q, v, tau), expected, rtol=1e-11, atol=1e-11)


def test_parameters_and_quaternions() -> None:
    m = floating()
    called = wrap(m, "forward_dynamics")
    q = m.random_position(3)
    v, tau, p = RNG.uniform(-1, 1, 7), RNG.uniform(-1, 1, 7), np.array([2.5])
    assert np.allclose(called(q, v, tau, p), m.forward_dynamics(q, v, tau, params={"mass": 2.5}), rtol=1e-13)
    by_p = jax.jacrev(called, argnums=3)(q, v, tau, p)
    assert np.allclose(by_p, m.parameter_derivatives(q, v, tau, params={"mass": 2.5}), rtol=1e-10, atol=1e-10)
    check_grads(
        lambda v, tau: called(q, v, tau, p), (v, tau), order=1, modes=("fwd", "rev"), rtol=1e-6, atol=1e-6
    )


def test_vmap_over_some_arguments_and_broadcasting() -> None:
    called = wrap(arm(), "forward_dynamics")
    q, v, tau = RNG.uniform(-1, 1, (3, 9, 2))
    expected = arm().forward_dynamics(q, v[0], tau[0])
    assert np.array_equal(jax.vmap(called, (0, None, None))(q, v[0], tau[0]), expected)
    assert np.array_equal(called(q, v[0], tau[0]), expected)
    nested = jax.vmap(jax.vmap(called, (None, 0, None)), (0, None, None))(q, v, tau[0])
    assert np.array_equal(nested, arm().forward_dynamics(q[:, None], v, tau[0]))
    assert called(q[:0], v[:0], tau[:0]).shape == (0, 2)


def test_gradients_through_a_loop_of_jax() -> None:
    """Ten steps of `lax.scan`, differentiated backward, against differences of our own calls."""
    called, h = wrap(arm(), "forward_dynamics"), 0.01

    def end(tau, forward, scan):
        def step(state, _):
            q, v = state
            v = v + h * forward(q, v, tau)
            return (q + h * v, v), None

        (q, _), _ = scan(step, (np.full(2, 0.3), np.zeros(2)), None, length=10)
        return (q**2).sum()

    def plain(step, state, _, length):
        for _ in range(length):
            state, _ = step(state, None)
        return state, None

    tau = RNG.uniform(-5, 5, 2)
    slope = jax.jit(jax.grad(lambda u: end(u, called, jax.lax.scan)))(tau)
    d = 1e-5
    differences = [
        (end(tau + d * e, arm().forward_dynamics, plain) - end(tau - d * e, arm().forward_dynamics, plain))
        / (2 * d)
        for e in np.eye(2)
    ]
    assert np.allclose(slope, differences, rtol=1e-6, atol=1e-9)


def test_figures_of_runs_have_the_gradients_of_the_loop() -> None:
    """Values are those of `simulate`, gradients those of `Loop.gradient` and of differences to 1e-6; batches, `jit` and a chain rule around it."""
    m = art.Mechanism("pendulum")
    m.body("bob", art.Parameter("mass", 2.0), com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    m.joint("hinge", art.Revolute(axis=(0, 1, 0)), "ground", "bob", damping=art.Parameter("loss", 0.3))
    loop = art.Loop(m)
    swing = wrap_run(loop, "q.hinge", 0.5, [0.4], by=["loss", "mass"], step=5e-3)
    at = np.array([0.3, 2.0])
    run = loop.simulate(0.5, [0.4], params={"loss": 0.3, "mass": 2.0}, step=5e-3)
    assert float(swing(at)) == pytest.approx(run.q[-1, 0], rel=1e-12)
    slope = jax.jit(jax.grad(lambda p: 3 * swing(p) ** 2))(at)
    found = loop.gradient("q.hinge", 0.5, [0.4], by=["loss", "mass"], step=5e-3)
    assert np.allclose(slope, 6 * found.value * found.gradient, rtol=1e-12)
    check_grads(swing, (at,), order=1, modes=("rev",), rtol=1e-6, atol=1e-8)
    many = np.stack([at, 1.1 * at, 0.9 * at])
    assert np.allclose(jax.vmap(swing)(many), [float(swing(row)) for row in many], rtol=1e-15)
    assert np.allclose(swing(many), jax.vmap(swing)(many), rtol=1e-15)
    assert jax.vmap(jax.grad(swing))(many).shape == (3, 2)
    with pytest.raises(InputError, match="no parameter 'mas'"):
        wrap_run(loop, "q.hinge", 0.5, by=["mas"])
    with pytest.raises(TypeError, match="expected"):
        swing(np.zeros(3))


def test_bad_input() -> None:
    called = wrap(arm(), "forward_dynamics")
    with pytest.raises(TypeError, match="found 2 arguments; expected q, v, tau"):
        called(np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match=r"'v' of shape \(5,\)"):
        called(np.zeros(2), np.zeros(5), np.zeros(2))
    with pytest.raises(InputError, match="no quantity"):
        wrap(arm(), "forward_dynamic")
    with pytest.raises(InputError, match="3 results"):
        wrap(arm(), "derivatives")
    with pytest.raises(InputError, match="constraints"):
        wrap(art.load("stewart_platform"), "forward_dynamics")
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(InputError, match="double"):
        wrap(arm(), "forward_dynamics")
    jax.config.update("jax_enable_x64", True)
