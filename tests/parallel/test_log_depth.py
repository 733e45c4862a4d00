"""Scans of a chain give what the recursions give, in as many sweeps as the chain can be halved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_machines import random_arm
from test_segments import mixed_chain

import articulus as art
from articulus.errors import InputError
from articulus.parallel import SegmentedChain, log_depth, run_array

LENGTHS = (1, 2, 5, 8, 13)


def chain_of(n: int) -> art.Mechanism:
    return mixed_chain(n, n + 50, passive=False)


def state(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(3, n))


def close(x: np.ndarray) -> dict[str, float]:
    return {"abs": 1e-11 * np.abs(x).max()}


def sweeps(n: int, scans: int) -> int:
    return scans * math.ceil(math.log2(n))


@pytest.mark.parametrize("n", LENGTHS)
def test_inverse_dynamics_and_mass_matrix(n):
    m, (q, v, vdot) = chain_of(n), state(n)
    expected = m.inverse_dynamics(q, v, vdot)
    found, count = log_depth.inverse_dynamics(m, q, v, vdot)
    assert found == pytest.approx(expected, **close(expected))
    assert count == sweeps(n, 4)
    M, count = log_depth.mass_matrix(m, q)
    np.testing.assert_allclose(M, m.mass_matrix(q), rtol=0, atol=close(M)["abs"])
    assert count == sweeps(n, 3)


@pytest.mark.parametrize("n", LENGTHS)
def test_forward_dynamics(n):
    m, (q, v, tau) = chain_of(n), state(n)
    expected = m.forward_dynamics(q, v, tau)
    found, count = log_depth.forward_dynamics(m, q, v, tau)
    assert found == pytest.approx(expected, abs=1e-10 * np.abs(expected).max())
    assert count == sweeps(n, 4)


def test_poses_turn_as_the_last_body_does():
    m = chain_of(6)
    q = np.linspace(-1, 1, 6)
    found, count = log_depth.poses(m, q)
    rest, _ = log_depth.poses(m, np.zeros(6))
    moved, still = (m.pose(m.body_names[-1], x) for x in (q, np.zeros(6)))
    assert found[-1] @ np.linalg.inv(rest[-1]) == pytest.approx(moved @ np.linalg.inv(still), abs=1e-12)
    assert count == 3


def test_parts_of_a_chain_combine_in_any_order():
    m, (q, v, tau) = chain_of(3), state(3)
    chain = log_depth.ChainArrays(m)
    s = chain.state(q, v)
    a, b, c = (
        log_depth.ChainPart.of_body(*x) for x in zip(s.S, s.c, s.inertia, s.force, tau, chain.armature)
    )
    for name in ("inertia", "force", "Phi", "Gamma", "b"):
        one, other = getattr((a @ b) @ c, name), getattr(a @ (b @ c), name)
        assert one == pytest.approx(other, abs=1e-11 * max(1.0, np.abs(one).max()))


@pytest.mark.parametrize("wrong", [np.ones(6), np.ones(4), 0.1, np.array([0, 0, np.nan, 0, 0])], ids=str)
def test_states_of_another_size_are_refused(wrong):
    m, x = chain_of(5), np.zeros(5)
    for call in (
        lambda: log_depth.poses(m, wrong),
        lambda: log_depth.mass_matrix(m, wrong),
        lambda: log_depth.inverse_dynamics(m, x, wrong, x),
        lambda: log_depth.forward_dynamics(m, x, x, wrong),
        lambda: SegmentedChain(m, 2).forward_dynamics(wrong, x, x),
        lambda: run_array(random_arm(5, 5), x, x, wrong),
    ):
        with pytest.raises(InputError, match=r"argument '\w+' (has shape|is nan)"):
            call()
