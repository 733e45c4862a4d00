"""Every mechanism of the library."""

import numpy as np
import pytest

import articulus as art
from articulus import library
from articulus.files import parse_toml, toml_text

models = pytest.mark.parametrize("name", library.names())
trees = pytest.mark.parametrize("name", [n for n in library.names() if not library.read(n).constraints])


@models
def test_reads_and_says_where_it_comes_from(name):
    arm = art.load(name)
    assert arm.name == name
    assert arm.description.source
    assert arm.frame_names


@models
def test_survives_writing_and_reading(name):
    held = art.load(name).description
    assert parse_toml(toml_text(held)) == held


@models
def test_mass_matrix_is_positive_definite_anywhere(name):
    arm = art.load(name)
    q = np.random.default_rng(2).uniform(-np.pi, np.pi, size=(50, arm.nq))
    M = arm.mass_matrix(q)
    np.testing.assert_allclose(M, np.swapaxes(M, -1, -2), rtol=1e-13)
    assert np.linalg.eigvalsh(M).min() > 0


@trees
def test_forward_undoes_inverse(name):
    arm = art.load(name)
    q, v, vdot = np.random.default_rng(3).normal(size=(3, 20, arm.nv))
    tau = arm.inverse_dynamics(q, v, vdot)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, tau), vdot, rtol=1e-9, atol=1e-9)


def test_effort_limits_of_the_excavator_are_there():
    held = art.load("cat215b").description
    assert [c.limits.effort for c in held.connections] == [(107450.0,), (333812.5,), (77000.0,), (87500.0,)]


def test_the_arms_of_the_torso_are_a_mirror_image_in_space():
    torso = art.load("human_torso")
    q = np.array([0.0, 0.0, 0.4, 0.7, 0.4, 0.7])
    right, left = (torso.pose(hand, q)[:3, 3] for hand in ("right_hand", "left_hand"))
    np.testing.assert_allclose(left, right * [-1, -1, 1], atol=1e-12)


def test_positive_boom_angles_raise_the_boom():
    digger = art.load("cat215b")
    low, high = (digger.pose("wrist", [0, angle, 0, 0])[2, 3] for angle in (0.0, 0.3))
    assert high > low + 1


def test_hinge_offsets_of_the_puma_are_the_printed_link_lengths():
    arm = art.load("puma600")
    at = {c.name: c.at.xyz for c in arm.description.connections}
    assert at["joint2"] == pytest.approx((0, 0.149, 0))
    assert at["joint3"] == pytest.approx((0.432, 0, 0))
    assert at["joint4"] == pytest.approx((0.02, -0.432, 0))
    assert at["joint6"] == pytest.approx((0, -0.056, 0))
