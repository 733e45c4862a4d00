"""The triangular array of Fijany & Bejczy finds inertia matrix and accelerations in the printed number of operations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_machines import random_arm
from test_segments import mixed_chain

import articulus as art
from articulus.errors import InputError
from articulus.parallel import run_array


@pytest.mark.parametrize("n", [1, 2, 3, 6, 8, 11])
def test_it_computes_the_dynamics(n):
    arm = random_arm(n, n)
    q, v, tau = np.random.default_rng(n).normal(size=(3, n))
    run = run_array(arm, q, v, tau)
    M, vdot = arm.mass_matrix(q), arm.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(run.M, M, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(run.vdot, vdot, atol=1e-10 * np.abs(vdot).max())


@pytest.mark.parametrize("n", [2, 3, 6, 8, 11])
def test_its_operations_are_the_printed_ones(n):
    """Sec. 4 of the source: steps 1 to 3 of the inertia matrix, and the linear equations."""
    run = run_array(random_arm(n, n), *np.zeros((3, n)))
    k = math.ceil(math.log2(n))
    assert run.operations("orientation", "distance", "first", "second")[0] == 27 * k + 76
    assert run.operations("orientation", "first", "second") == (27 * k + 67, 18 * k + 42)
    matrix = [s for s in run.steps if s.name not in ("factor", "division", "substitution")]
    assert (sum(s.multiplications for s in matrix), sum(s.additions for s in matrix)) == (
        33 * k + 109,
        33 * k + 71,
    )
    assert run.operations("factor", "division", "substitution") == (3 * (n - 1) + 1, 2 * (n - 1))
    assert max(s.processors for s in run.steps) == n * (n + 1) // 2


def test_hinges_only():
    with pytest.raises(InputError, match="has slides or armature"):
        run_array(mixed_chain(3, 0, passive=False), *np.zeros((3, 3)))
    with pytest.raises(InputError, match="expected a chain"):
        run_array(art.load("human_torso"), *np.zeros((3, art.load("human_torso").nv)))
