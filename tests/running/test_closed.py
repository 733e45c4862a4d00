"""Runs of mechanisms with loops, prescribed motions and redundant rows."""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulus as art
from articulus.errors import InputError, MovedStart
from closed_zoo import closed, four_bar

G = 9.81
WAY = np.array([1.0, -1.0, 1.0])
"""A parallelogram moves along this line of crank, coupler and rocker."""
START = np.pi + 0.1
"""The rods hang: it swings without coming near its singular positions."""


@functools.cache
def parallelogram(t_end: float, speed: float) -> np.ndarray:
    """Return crank angle and rate over 201 times from the one equation that is left: WAY' (M WAY a + bias) = 0."""
    m = four_bar()

    def rate(_: float, x: np.ndarray) -> list[float]:
        q, v = WAY * x[0], WAY * x[1]
        return [x[1], -float(WAY @ m.bias(q, v)) / float(WAY @ m.mass_matrix(q) @ WAY)]

    times = np.linspace(0, t_end, 201)
    return solve_ivp(
        rate, (0, t_end), [START, speed], t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12
    ).y.T


@pytest.mark.parametrize(
    ("method", "step", "tolerance"),
    [
        ("rk4", 2e-3, 1e-8),
        ("ab4", 1e-3, 1e-8),
        ("lie_rk4", 2e-3, 1e-8),
        ("central_difference", 2e-3, 1e-4),
        ("dormand_prince", 0.01, 1e-7),
        ("rosenbrock", 0.01, 1e-6),
        ("cvodes", 0.01, 1e-5),
        ("idas", 0.01, 1e-5),
        ("hht", 2e-3, 1e-4),
        ("generalized_alpha", 2e-3, 1e-4),
    ],
)
def test_four_bar_moves_as_one_dof(method: str, step: float, tolerance: float) -> None:
    """A four-bar whose five loop rows have rank two, against scipy on its one equation of motion."""
    expected = parallelogram(1.0, 2.0)
    run = art.simulate(
        four_bar(),
        1.0,
        q0=START * WAY,
        v0=2.0 * WAY,
        method=method,
        step=step,
        sample=0.1,
        rtol=1e-9,
        atol=1e-11,
    )
    assert np.abs(run.q - expected[::20, :1] * WAY).max() < tolerance
    assert np.abs(run.v - expected[::20, 1:] * WAY).max() < 10 * tolerance
    assert np.abs(run["energy.balance"]).max() < 100 * tolerance
    assert run["constraint.position"].max() < 1e-10


def test_four_bar_through_singular_positions() -> None:
    """Ten seconds of full turns: at every half turn all rods lie on one line and the rank of the rows falls.

    The square comes through as a parallelogram; loops stay closed to 1e-10 m and 1e-9 m/s, energy to RK4's error.
    """
    run = art.simulate(four_bar(), 10.0, q0=0.1 * WAY, v0=9.0 * WAY, method="rk4", step=1e-3, sample=0.01)
    assert np.ptp(run.q[:, 0]) > 6 * np.pi
    assert run["constraint.position"].max() < 1e-10
    assert run["constraint.velocity"].max() < 1e-9
    assert np.abs(run["energy.balance"]).max() < 1e-5 * run["energy.kinetic"].max()


@pytest.mark.parametrize("cut", [(art.Revolute,), (art.Spherical,)])
def test_spatial_loops_stay_closed(cut: tuple) -> None:
    """Ten seconds of a tumbling chain of five bodies closed by a joint, and its energy balance."""
    case = closed(31, cut, bodies=5)
    run = art.simulate(case.mechanism, 10.0, q0=case.q, method="rk4", step=2e-3, sample=0.05)
    assert run["constraint.position"].max() < 1e-10
    assert run["constraint.velocity"].max() < 1e-9
    assert run["energy.kinetic"].max() > 0.1
    assert np.abs(run["energy.balance"]).max() < 1e-3 * run["energy.kinetic"].max()


def test_accelerations_and_multipliers_are_those_of_the_kkt_system() -> None:
    """[M G'; G 0] (vdot, lambda) = (f, -gamma), solved by numpy on the samples of a run.

    gamma comes from a difference of the velocity rows along the motion: central, error about 1e-8.
    """
    case = closed(32, (art.Spherical,), bodies=5)
    m = case.mechanism
    run = art.simulate(m, 0.2, q0=case.q, step=1e-3, sample=0.05)
    for k in range(len(run.t)):
        q, v = run.q[k], run.v[k]
        M, J = m.mass_matrix(q), m.constraint_jacobian(q)
        e = 1e-5
        there, back = (m.constraint_rate(m.integrate_position(q, s * e * v), v) for s in (1, -1))
        gamma = (there - back) / (2 * e)
        rows = len(J)
        matrix = np.block([[M, J.T], [J, np.zeros((rows, rows))]])
        solved = np.linalg.solve(matrix, np.concatenate([-m.bias(q, v), -gamma]))
        assert np.allclose(run["vdot"][k], solved[: m.nv], rtol=1e-6, atol=1e-6 * np.abs(solved).max())
        assert np.allclose(run["multipliers"][k], solved[m.nv :], rtol=1e-6, atol=1e-6 * np.abs(solved).max())


def test_loops_are_closed_before_the_run() -> None:
    """A start off the loops is moved by the least change onto them; one that fits is not touched."""
    with pytest.warns(MovedStart):
        run = art.simulate(four_bar(), 0.01, q0=[0.1, -0.1, 0.12], v0=[1.0, 0.0, 0.0], step=0.01)
    assert run["constraint"][0].max() < 1e-9
    assert 0 < np.abs(run.q[0] - [0.1, -0.1, 0.12]).max() < 0.02
    fits = art.simulate(four_bar(), 0.01, q0=0.1 * WAY, step=0.01)
    assert np.array_equal(fits.q[0], 0.1 * WAY)


def test_rollout_of_a_loop_equals_single_runs() -> None:
    angles = np.linspace(-0.5, 0.5, 5)
    batch = art.rollout(
        four_bar(), 0.5, q0=angles[:, None] * WAY, step=5e-3, sample=0.1, outputs=["multipliers"]
    )
    for i in (0, 3):
        run = art.simulate(four_bar(), 0.5, q0=angles[i] * WAY, step=5e-3, sample=0.1)
        for name in ("q", "v", "multipliers"):
            assert np.array_equal(batch[name][i], run[name])


# prescribed motion


def driven(amplitude: float = 0.2, frequency: float = 3.0) -> art.Mechanism:
    """Return a pendulum of length 1 on a cart that moves as a + sin(w t); the cart has mass and friction."""
    m = art.Mechanism("driven")
    m.body("cart", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("slide", art.Prismatic((1, 0, 0)), "ground", "cart", damping=0.7)
    m.body("bob", 1.0, (0, 0, -1), (1e-9, 1e-9, 1e-9))
    m.joint("hinge", art.Revolute((0, 1, 0)), "cart", "bob")
    m.constrain(art.Prescribed("drive", "slide", art.Harmonic(amplitude, frequency)))
    return m


@functools.cache
def swing(t_end: float) -> np.ndarray:
    """Return angle, rate and work of the drive: th'' = -g sin th + A w^2 sin(wt) cos th, power = force of the drive x cart speed."""
    A, w = 0.2, 3.0

    def rate(t: float, x: np.ndarray) -> list[float]:
        speed, acceleration = A * w * np.cos(w * t), -A * w * w * np.sin(w * t)
        # x of the bob = cart - sin(th) for a turn about y
        thdd = -G * np.sin(x[0]) + acceleration * np.cos(x[0])
        bob = acceleration - thdd * np.cos(x[0]) + x[1] ** 2 * np.sin(x[0])
        return [x[1], thdd, (2.0 * acceleration + bob + 0.7 * speed) * speed]

    times = np.linspace(0, t_end, 21)
    return solve_ivp(
        rate, (0, t_end), [0.3, 0.0, 0.0], t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12
    ).y.T


@pytest.mark.parametrize(
    ("method", "step", "tolerance"),
    [
        ("rk4", 2e-3, 1e-8),
        ("dormand_prince", 0.02, 1e-7),
        ("cvodes", 0.02, 1e-5),
        ("generalized_alpha", 1e-3, 1e-4),
    ],
)
def test_prescribed_motion(method: str, step: float, tolerance: float) -> None:
    """The pendulum follows scipy's; the drive's work is the input, friction the loss, and the balance closes."""
    expected = swing(2.0)
    run = art.simulate(
        driven(),
        2.0,
        q0=[0.0, 0.3],
        v0=[0.6, 0.0],
        method=method,
        step=step,
        sample=0.1,
        rtol=1e-9,
        atol=1e-11,
    )
    assert np.allclose(run.q[:, 0], 0.2 * np.sin(3 * run.t), atol=1e-9)
    assert np.allclose(run.q[:, 1:], expected[:, :1], atol=tolerance)
    assert np.allclose(run.v[:, 1:], expected[:, 1:2], atol=10 * tolerance)
    assert np.allclose(run["energy.input"], expected[:, 2], atol=100 * tolerance)
    assert np.abs(run["energy.balance"]).max() < 100 * tolerance
    assert np.ptp(run["energy.input"]) > 0.1


def test_implicit_methods_refuse_rows_on_velocities() -> None:
    """Newmark and its kin solve g(q) = 0: a blade that must not slip sideways has no g."""
    m = art.Mechanism("sledge")
    m.body("sledge", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("plane", art.Planar(), "ground", "sledge")
    q, v, t = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("t")
    m.constrain(
        art.CustomVelocityConstraint("blade", ca.Function("blade", [q, v, t], [v[2]], ["q", "v", "t"], ["r"]))
    )
    with pytest.raises(InputError, match=r"'hht' is for constraints on positions; found 'blade'"):
        art.simulate(m, 0.1, step=0.1, method="hht")
