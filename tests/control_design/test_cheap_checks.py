"""What is computed once, and what not at all: checks that cost little say the same as those that cost much."""

import numpy as np
import pytest

from articulus.bench.equations import chain
from articulus.bench.hinf import beam
from articulus.control import care, hinfnorm, hinfsyn, lqg, lqr
from articulus.control.analysis import norms
from articulus.control.analysis.stable import Eigensystem, _bound_eigenvalues, _clearly_stable, stable_poles
from articulus.control.connect import select
from articulus.errors import InputError
from articulus.numerics import riccati
from articulus.numerics.lyapunov import Lyapunov


def refuse(*_args, **_names):
    raise AssertionError("this is not needed")


def random_plant(n, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) / np.sqrt(n) - rng.uniform(0.0, 1.5) * np.eye(n)
    return A, rng.normal(size=(n, 2)), rng.normal(size=(2, n))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [3, 30])
def test_doubling_and_the_schur_form_solve_the_same_equation(n, seed, monkeypatch):
    A, B, C = random_plant(n, seed)
    Q, R = C.T @ C, np.eye(2)
    S = 0.2 * C.T
    quick = care(A, B, Q, R, S)
    monkeypatch.setattr(riccati, "_by_doubling", lambda *_: None)
    slow = care(A, B, Q, R, S)
    assert np.abs(quick.X - slow.X).max() <= 1e-8 * np.abs(slow.X).max()
    assert quick.poles.real.max() < 0.0


def test_equations_of_damped_plants_need_no_schur_form_of_twice_the_size(monkeypatch):
    monkeypatch.setattr(riccati, "stable_subspace", refuse)
    plant = chain(40)
    lqg(plant, 1.0, 1e-4, 1.0, 1e-4)


def test_equations_without_a_solution_are_left_to_the_schur_form():
    A = np.array([[0.0, 1.0], [-1.0, 0.0]])  # an oscillator that the weight does not see
    with pytest.raises(InputError, match="no weight Q sees it"):
        care(A, np.array([[0.0], [1.0]]), np.zeros((2, 2)), np.eye(1))
    with pytest.raises(InputError, match="moves it"):
        lqr((np.diag([1.0, -1.0]), np.array([[0.0], [1.0]]), np.eye(2), np.zeros((2, 1))), 1.0, 1.0)


def test_one_loop_of_lqg_needs_one_schur_form_of_each_half(monkeypatch):
    sizes = []
    schur = Lyapunov.__init__
    monkeypatch.setattr(
        Lyapunov, "__init__", lambda self, A, *more: (sizes.append(len(A)), schur(self, A, *more))[1]
    )
    n = 80
    design = lqg(chain(n), 1.0, 1e-4, 1.0, 1e-4)
    assert max(sizes) == n  # the closed loop has twice as many states
    assert all(check.passed for check in design.checks)
    both = np.concatenate([design.regulator_poles, design.filter_poles])
    assert np.sort_complex(both) == pytest.approx(np.sort_complex(design.poles), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_clearly_stable_is_stable(seed, sampled):
    A = np.random.default_rng(seed).normal(size=(70, 70)) / np.sqrt(70)
    A = 0.7 * A if sampled else A - 1.3 * np.eye(70)
    values = _clearly_stable(A, sampled, None)
    exact = np.linalg.eigvals(A)
    assert np.sort_complex(values) == pytest.approx(np.sort_complex(exact), abs=1e-10)
    worst = np.abs(exact).max() if sampled else exact.real.max()
    moved = A / worst if sampled else A - worst * np.eye(70)  # a pole on the boundary
    assert _clearly_stable(moved * (1 + 1e-15), sampled, None) is None
    assert not stable_poles(moved, 0.1 if sampled else None)[1].all()
    assert _clearly_stable(1.2 * moved if sampled else moved + 0.1 * np.eye(70), sampled, None) is None


def test_a_foreign_flow_proves_nothing():
    A = np.diag([1.0, -1.0])
    assert _clearly_stable(A, False, Lyapunov(-np.eye(2))) is None


def test_poles_of_states_that_feel_no_others_are_exact(monkeypatch):
    """A rigid motion, and a chain of lags in any order: one eigensystem at most, and its own poles to the last digit."""
    count = []
    of = Eigensystem.of
    monkeypatch.setattr(Eigensystem, "of", staticmethod(lambda A: (count.append(len(A)), of(A))[1]))
    A = beam(60)[0].copy()
    A[30, 0] = A[30, 30] = 0.0
    values, errors = _bound_eigenvalues(A)
    assert count == [58]
    assert (np.sort(np.abs(values))[:2] == 0.0).all()
    assert errors[np.abs(values) == 0.0].max() == 0.0
    lags = np.diag(-(10.0 ** np.arange(-4.0, 8.0))) + np.diag(np.ones(11), 1)
    order = np.random.default_rng(0).permutation(12)
    values, errors = _bound_eigenvalues(lags[np.ix_(order, order)])
    assert len(count) == 1
    assert (values == np.sort(np.diag(lags))).all()
    assert (errors <= 1e-13 * np.abs(values)).all()
    assert stable_poles(lags[np.ix_(order, order)], None)[1].all()


def test_wide_loops_are_looked_at_in_modal_coordinates(monkeypatch):
    """Poles from 1 to 1e5 rad/s: rounding moves none by much of its damping, and the net costs next to nothing."""
    design = hinfsyn(beam(100), measured=2, commands=2)
    loop = select(design.closed, range(3), range(4))
    wide = np.linalg.norm(loop.A) / np.abs(loop.poles).min()
    exact = norms.Gains(loop)(np.array([hinfnorm(loop).omega]))[0]
    monkeypatch.setattr(norms, "ALIKE", wide / 1e3)
    monkeypatch.setattr(norms, "_peak_of_slow_and_fast", refuse)
    assert hinfnorm(loop) == pytest.approx(exact, rel=1e-9)
