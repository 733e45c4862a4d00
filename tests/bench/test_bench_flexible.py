"""Rows of flexible bodies: they compare like with like, and say when they do not."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from articulus.bench import exudyn, flexible, flexible_arm, shells
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=2)


def test_points_that_exudyn_gets_are_the_body_that_we_have():
    """Mass, first moments, inertia and momenta of the shapes are sums over the points."""
    link = flexible_arm.link(flexible_arm.PAYLOADS[1])
    x, m, phi = link.position, link.mass, link.shapes.reshape(-1, 3, flexible_arm.MODES)
    modes = link.modes
    np.testing.assert_allclose(m.sum(), modes.rr0[3, 3], rtol=1e-12)
    arms = flexible_arm._skew(x).reshape(-1, 3, 3)
    np.testing.assert_allclose(np.einsum("p,pba,pbc->ac", m, arms, arms), modes.rr0[:3, :3], atol=1e-12)
    np.testing.assert_allclose(np.einsum("p,pak->ak", m, phi), modes.rf0[3:], atol=1e-12)
    np.testing.assert_allclose(np.einsum("p,pab,pbk->ak", m, arms, phi), modes.rf0[:3], atol=1e-12)
    np.testing.assert_allclose(np.einsum("p,pak,pal->kl", m, phi, phi), modes.ff, atol=1e-12)


def test_matrices_of_cross_products():
    a, b = np.random.default_rng(1).normal(size=(2, 3))
    np.testing.assert_allclose(flexible_arm._skew(a[None]) @ b, np.cross(a, b))


@pytest.mark.skipif(not exudyn.is_installed(), reason="Exudyn is not installed")
def test_exudyn_converges_to_the_same_motion():
    """Twice the steps, a quarter of the distance: the rule has order two, and nothing else is between the two."""
    end = 0.5
    exact = flexible._tips(end, flexible.OUR_STEP / 8)
    gaps = [np.abs(flexible_arm.exudyn(end, steps)[0] - exact).max() for steps in (500, 1000)]
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.2)
    assert gaps[1] < 1e-5


@pytest.fixture
def present(monkeypatch):
    monkeypatch.setattr(exudyn, "is_installed", lambda: True)


def test_an_arm_that_is_elsewhere_is_not_timed(monkeypatch, present):
    exact = flexible._tips(1.0, flexible.OUR_STEP)
    monkeypatch.setattr(flexible_arm, "exudyn", lambda end, steps: (exact + 2e-3, 0.1))
    (row,) = flexible.planar_arm(BRIEF)
    assert row.failed
    assert "Exudyn's tip" in row.note
    monkeypatch.setattr(flexible_arm, "exudyn", lambda end, steps: (exact + 5e-4, 0.1))
    (row,) = flexible.planar_arm(BRIEF)
    assert row.value == pytest.approx(1e5 / row.ours_us)


def test_an_exudyn_that_fails_is_named(monkeypatch, present):
    def fails(end, steps):
        raise subprocess.CalledProcessError(1, "python", stderr="no convergence")

    monkeypatch.setattr(flexible_arm, "exudyn", fails)
    (row,) = flexible.planar_arm(BRIEF)
    assert row.ours_us > 0
    assert "no convergence" in row.note


def test_without_exudyn_a_row_has_ours_only(monkeypatch):
    monkeypatch.setattr(exudyn, "is_installed", lambda: False)
    (row,) = flexible.planar_arm(BRIEF)
    assert row.ours_us > 0
    assert "not installed" in row.note


def test_arms_and_hub_that_are_wrong_are_not_timed(monkeypatch):
    monkeypatch.setattr(flexible, "AGREE", 0.0)
    (row,) = flexible.spatial_arms(BRIEF)
    assert row.failed
    monkeypatch.setattr(flexible, "HUB_AGREE", -1.0)
    (row,) = flexible.hub(BRIEF)
    assert row.failed


def test_every_further_link_costs_the_same():
    """Forward dynamics is linear in the links: operations are counted, so nothing disturbs it."""
    _, row = flexible.spatial_arms(BRIEF)
    assert row.value == pytest.approx(1.0, abs=1e-12)


def test_derivatives_are_raced_against_the_differentiated_recursion(monkeypatch):
    plane, space = flexible.derivatives(BRIEF)
    for row in (plane, space):
        assert not row.failed
        assert row.value == pytest.approx(row.peer_us / row.ours_us)
    wrong = flexible._arm("inconsistent", flexible.ARM_MODES)
    monkeypatch.setattr(flexible, "_derivatives_function", lambda m: WRITTEN(wrong))
    monkeypatch.setattr(flexible, "physics_version", lambda: "another model")
    assert next(flexible.derivatives(BRIEF)).failed


WRITTEN = flexible._derivatives_function


def test_shells_are_timed_only_if_their_modes_are_orthonormal(monkeypatch):
    thin, thick = shells.modes(BRIEF)
    for row in (thin, thick):
        assert not row.failed
        assert row.value == pytest.approx(row.ours_us / 1e6)
    monkeypatch.setattr(shells, "ALLOWED", 0.0)
    assert all(row.failed for row in shells.modes(BRIEF))
