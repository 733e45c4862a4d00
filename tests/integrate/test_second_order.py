"""Laws of the methods for positions and velocities."""

import casadi as ca
import numpy as np
import pytest
from motions import (
    INERTIA,
    ORBIT,
    attraction,
    free_spin,
    independent,
    matrix,
    observed_order,
    orbit,
    quaternion_flow,
    turn,
)

from articulus.errors import InputError
from articulus.model.mechanism import Spherical
from articulus.simulation.integrate import (
    RK4,
    CentralDifference,
    Euler,
    LieRK4,
    Momentum,
    SecondOrderProblem,
    SemiImplicitEuler,
)

methods = pytest.mark.parametrize(
    "method", [SemiImplicitEuler(), CentralDifference(), LieRK4()], ids=lambda m: m.name
)
KEPLER = SecondOrderProblem(attraction)
SPIN = SecondOrderProblem(free_spin, turn)
SPIN_START = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.4, 2.0, -0.3])


@methods
def test_order_on_an_orbit(method):
    q_end, v_end = orbit(2.0)

    def error(steps):
        _, q, v = method.integrate(KEPLER, 0.0, 2.0, *ORBIT, steps)
        return max(np.abs(q[-1] - q_end).max(), np.abs(v[-1] - v_end).max())

    assert abs(observed_order([50, 100, 200, 400, 800], error) - method.order) < 0.2


@methods
def test_order_on_a_spinning_body(method):
    exact = independent(quaternion_flow(free_spin), np.concatenate(SPIN_START), 2.0)

    def error(steps):
        _, q, v = method.integrate(SPIN, 0.0, 2.0, *SPIN_START, steps)
        return np.abs(np.concatenate([q[-1], v[-1]]) - exact).max()

    assert abs(observed_order([20, 40, 80, 160, 320], error) - method.order) < 0.2


@methods
def test_displaced_quaternions_keep_unit_norm(method):
    """Products of unit quaternions: round-off of 1000 products at most."""
    _, q, _ = method.integrate(SPIN, 0.0, 20.0, *SPIN_START, 500)
    assert np.abs(np.linalg.norm(q, axis=-1) - 1).max() < 1000 * 2.3e-16


def test_angular_momentum_in_space_is_kept_with_order_4():
    def drift(steps):
        _, q, v = LieRK4().integrate(SPIN, 0.0, 2.0, *SPIN_START, steps)
        return np.abs(matrix(q[-1]) @ (INERTIA * v[-1]) - INERTIA * SPIN_START[1]).max()

    assert observed_order([20, 40, 80, 160, 320], drift) > 3.8


def test_without_rotations_lie_rk4_is_rk4():
    _, q, v = LieRK4().integrate(KEPLER, 0.0, 1.0, *ORBIT, 20)
    _, x = RK4().integrate(
        lambda t, x: np.concatenate([x[2:], attraction(t, x[:2])]), 0.0, 1.0, [*ORBIT[0], *ORBIT[1]], 20
    )
    np.testing.assert_allclose(np.hstack([q, v]), x, rtol=1e-13, atol=1e-14)


def test_symplectic_euler_does_not_drift_and_euler_does():
    """Pendulum: the swing of the energy is the same after 400 periods; explicit Euler gains without bound."""
    pendulum = SecondOrderProblem(lambda t, q, v: -np.sin(q))
    _, q, v = SemiImplicitEuler().integrate(pendulum, 0.0, 3000.0, [1.0], [0.0], 30_000)
    energy = (v**2 / 2 - np.cos(q)).ravel()
    early, late = energy[:1000], energy[-1000:]
    assert np.ptp(energy) < 0.1 * abs(energy[0])
    assert abs(np.ptp(late) - np.ptp(early)) < 0.01 * np.ptp(early)
    assert abs(late.mean() - early.mean()) < 0.01 * np.ptp(early)
    _, x = Euler().integrate(lambda t, x: np.array([x[1], -np.sin(x[0])]), 0.0, 60.0, [1.0, 0.0], 600)
    assert x[-1, 1] ** 2 / 2 - np.cos(x[-1, 0]) > energy[0] + 1.0


@pytest.mark.parametrize(("wh", "grows"), [(1.99, False), (2.01, True)])
def test_central_differences_are_stable_below_two_over_the_frequency(wh, grows):
    """Park 1993, after equation 9.20: h w < 2, whatever is predicted of velocities that no force depends on."""
    spring = SecondOrderProblem(lambda t, q, v: -q)
    _, q, _ = CentralDifference().integrate(spring, 0.0, 500 * wh, [1.0], [0.0], 500)
    assert (np.abs(q).max() > 100) == grows


def test_balanced_momenta_are_kept_to_rounding_and_the_energy_does_not_drift():
    """A body that spins freely for 200 s: R J w by equation 9.33; the energy swings by (w h)^2 of itself and no more."""
    momentum = Momentum(
        lambda q, v: matrix(q) @ (INERTIA * v),
        lambda q, v, a: matrix(q) @ (INERTIA * a + np.cross(v, INERTIA * v)),
        lambda q, v, pi: (matrix(q).T @ pi) / INERTIA,
    )
    spin, h = SecondOrderProblem(free_spin, turn, momentum), 0.05
    _, q, v = CentralDifference().integrate(spin, 0.0, 200.0, *SPIN_START, 4000)
    pi = np.array([matrix(a) @ (INERTIA * b) for a, b in zip(q, v)])
    assert np.abs(pi - pi[0]).max() < 1e-12 * np.abs(pi[0]).max() * 4000**0.5
    energy = (INERTIA * v**2).sum(axis=1)
    assert np.abs(energy / energy[0] - 1).max() < (np.abs(v).max() * h) ** 2 / 8


@methods
@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_advance_builds_the_same_step_from_symbols(method, kind):
    t, h, q, v = (kind.sym("s", n) for n in [1, 1, 4, 3])
    ball = ca.Function(
        "ball", [a := ca.SX.sym("a", 4), b := ca.SX.sym("b", 3)], [Spherical().integrate(a, b)]
    )
    problem = SecondOrderProblem(
        lambda t, q, v: -ca.cross(v, INERTIA * v) / INERTIA, lambda q, dq: ball(q, dq)
    )
    step = ca.Function("step", [t, h, q, v], method.advance(problem, t, q, v, h))
    got = [np.array(part).ravel() for part in step(0.3, 0.1, *SPIN_START)]
    for ours, want in zip(got, method.advance(SPIN, 0.3, *SPIN_START, 0.1)):
        np.testing.assert_allclose(ours, want, rtol=1e-14, atol=1e-15)


def test_a_batch_goes_in_step():
    rng = np.random.default_rng(3)
    q0, v0 = rng.normal(size=(2, 5, 3))
    problem = SecondOrderProblem(lambda t, q, v: -np.sin(q) + np.cos(t))
    t, q, v = LieRK4().integrate(problem, 0.0, 1.0, q0, v0, 7)
    assert t.shape == (8,)
    assert q.shape == v.shape == (5, 8, 3)
    np.testing.assert_array_equal(q[2], LieRK4().integrate(problem, 0.0, 1.0, q0[2], v0[2], 7)[1])


def test_steps_must_be_a_positive_integer():
    with pytest.raises(InputError, match="steps = 0"):
        LieRK4().integrate(KEPLER, 0.0, 1.0, *ORBIT, 0)
