"""What counts as stable: poles judged by their own conditioning, not by how fast others are. Laws over scales."""

import control as ct
import numpy as np
import pytest

from articulus.control import gram, h2norm, hinfnorm, lqr, margins, stabsep
from articulus.control.analysis import zero_dynamics
from articulus.control.analysis.stable import at_rest, moving_poles, stable_poles

RATIOS = [1e2, 1e6, 1e9, 1e12]


def lag(slow, fast):
    """1 / (s / slow + 1) + 1 / (s / fast + 1)."""
    return (np.diag([-slow, -fast]), np.array([[slow], [fast]]), np.array([[1.0, 1.0]]), np.zeros((1, 1)))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("ratio", RATIOS)
def test_slow_stable_pole_beside_a_fast_one(ratio, unit):
    """h2^2 = slow/2 + fast/2 + 2 slow fast / (slow + fast); gain 2 at rest; the Gramian of the slow state is slow / 2."""
    slow, fast = unit, unit * ratio
    plant = lag(slow, fast)
    assert hinfnorm(plant) == pytest.approx(2.0, rel=1e-9)
    assert h2norm(plant) ** 2 == pytest.approx(
        slow / 2 + fast / 2 + 2 * slow * fast / (slow + fast), rel=1e-9
    )
    assert gram(plant)[0, 0] == pytest.approx(slow / 2, rel=1e-9)
    assert len(stabsep(plant)[1].A) == 0


@pytest.mark.parametrize("ratio", RATIOS)
def test_crossover_far_below_the_fastest_pole(ratio):
    """w / (s (s / (ratio w) + 1)): phase margin 90 deg - atan(1 / ratio) at w."""
    w = 1e-4
    found = margins(ct.tf([w], [1 / (ratio * w), 1, 0]))
    assert found.stable
    assert found.channels[0].phase == pytest.approx(np.pi / 2 - np.arctan(1 / ratio), rel=1e-4)
    assert found.channels[0].omega_phase == pytest.approx(w, rel=1e-3 if ratio < 1e3 else 1e-9)


@pytest.mark.parametrize("depth", [1e-6, 1e-9, 1e-12])
def test_sampled_pole_near_one(depth):
    plant = ([[1 - depth]], [[1 - (1 - depth)]], [[1.0]], [[0.0]], 1e-6)
    assert hinfnorm(plant) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("period", [None, 0.01])
def test_rigid_motions_and_undamped_modes_are_not_stable_in_any_units(seed, period):
    """A rigid motion, an undamped and a damped mode in random coordinates, states in random units: two poles at zero, two undamped."""
    rng = np.random.default_rng(seed)
    K, C = np.diag([0.0, 4.0, 900.0]), np.diag([0.0, 0.0, 3.0])
    T = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.linalg.solve(T, K @ T), -np.linalg.solve(T, C @ T)]])
    if period is not None:
        import scipy.linalg

        A = scipy.linalg.expm(A * period)
    d = 10.0 ** rng.uniform(-4, 4, 6)
    A = A * d / d[:, None]
    assert np.count_nonzero(stable_poles(A, period)[1]) == 2
    assert len(moving_poles(A, period)) == 4
    assert at_rest(A, period)


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize("period", [None, 0.1])
def test_multiple_poles_far_inside_are_stable(n, period):
    """Equal lags in series and chains of delays: eigenvalues without any digit of their own, far from the boundary."""
    chain = np.eye(n, k=-1)
    assert stable_poles(chain - np.eye(n) if period is None else chain, period)[1].all()


def test_a_real_part_within_rounding_is_none():
    A = np.array([[-1e-16, 1.0], [-1.0, -1e-16]])
    assert not stable_poles(A, None)[1].any()
    assert stable_poles(A - 1e-12 * np.eye(2), None)[1].all()
    assert not stable_poles(A + 1e-12 * np.eye(2), None)[1].any()


def test_design_and_norms_agree_about_slow_poles():
    """One judgement: what a design calls stable has a norm."""
    plant = (np.diag([-1e-4, -1e7]), [[1.0], [1.0]], [[1.0, 0.0]], [[0.0]])
    design = lqr(plant, 1e-12, 1.0)
    assert design.checks[0].passed
    assert np.isfinite(h2norm(design.closed))
    assert np.isfinite(gram(design.closed)).all()


def test_zero_dynamics_of_a_slow_zero():
    plant = ct.tf([1.0, 1e-4], [1.0, 1e6, 1.0, 1e-4])
    found = zero_dynamics(ct.ss(plant))
    assert found.minimum_phase
    assert found.zeros[0] == pytest.approx(-1e-4, rel=1e-6)
