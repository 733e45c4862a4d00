"""Every quantity equals the one found by other means (`reference`), on the whole zoo."""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import Reference

import zoo
from articulus.dynamics.passive import dissipated_power
from articulus.dynamics.tree import Tree
from zoo import ask

ROUND_OFF = 1e-11
"""Relative to the largest entry: some 1e4 operations of 1e-16 each on chains of up to 40 bodies."""

pytestmark = pytest.mark.in_turn(3)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = ROUND_OFF) -> None:
    assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


@pytest.fixture(params=zoo.ALL)
def case(request):
    mech = zoo.get(request.param)
    return mech, reference_of(request.param), zoo.random_state(mech, 5)


@functools.cache
def reference_of(name):
    return Reference(zoo.get(name))


def frames_of(mech):
    return ("tool", "bench", mech.body_names[0])


def test_reference_motion_is_the_derivative_of_its_poses(case):
    """The yardstick first: its velocities and accelerations are the rates of its own poses."""
    mech, reference, s = case
    h = 1e-5

    def at(t):
        v = s.v + t * s.vdot
        q = ask(mech, "integrate_position", s.q, t * s.v)
        q = ask(mech, "integrate_position", q, 0.5 * t * t * s.vdot)
        return reference.motion(q, v, s.vdot)[0]["tool"]

    before, now, after = at(-h), at(0.0), at(h)
    # central differences: truncation h^2 = 1e-10 times third rates of up to 1e3, round-off 1e-16 / h^2 = 1e-6
    scale = 1 + np.abs(now.a).max() + np.abs(now.w).max() ** 3
    assert_allclose((after.p - before.p) / (2 * h), now.u, atol=1e-7 * scale)
    W = (after.R - before.R) / (2 * h) @ now.R.T
    assert_allclose([W[2, 1], W[0, 2], W[1, 0]], now.w, atol=1e-7 * scale)
    assert_allclose((after.u - before.u) / (2 * h), now.a, atol=1e-6 * scale)
    assert_allclose((after.w - before.w) / (2 * h), now.alpha, atol=1e-6 * scale)


def test_inverse_dynamics(case):
    mech, reference, s = case
    close(ask(mech, "inverse_dynamics", s.q, s.v, s.vdot), reference.inverse_dynamics(s.q, s.v, s.vdot))


def test_inverse_dynamics_under_wrenches(case):
    mech, reference, s = case
    rng = np.random.default_rng(6)
    wrenches = {f: rng.normal(size=6) for f in ("tool", "camera", "bench", mech.body_names[0])}
    expected = reference.inverse_dynamics(s.q, s.v, s.vdot, wrenches)
    close(ask(mech, "inverse_dynamics", s.q, s.v, s.vdot, wrenches=wrenches), expected)


def test_mass_matrix(case):
    mech, reference, s = case
    close(ask(mech, "mass_matrix", s.q), reference.mass_matrix(s.q))


def test_energy(case):
    mech, reference, s = case
    kinetic, potential = ask(mech, "energy", s.q, s.v)
    close(kinetic, np.array([reference.kinetic(s.q, s.v)]))
    close(potential, np.array([reference.potential(s.q)]))


def test_dissipated_power(case):
    """What the energy balance of a run counts as lost is the power of the friction that the dynamics feel."""
    mech, reference, s = case
    tree = Tree(mech.description)
    power = ca.Function("power", [tree.q, tree.v, tree.p], [dissipated_power(tree, tree.v)])
    found = power(s.q, s.v, list(mech.parameters.values()))
    close(np.array(found).ravel(), np.array([-reference.friction(s.v) @ s.v]))


def test_momentum(case):
    mech, reference, s = case
    parts = reference.body_momentum(s.q, s.v)
    close(ask(mech, "momentum", s.q, s.v), np.sum([np.r_[n, p] for n, p in parts.values()], axis=0))


@pytest.mark.parametrize("name", zoo.SMALL)
def test_kinematics_of_frames(name):
    mech, reference = zoo.get(name), reference_of(name)
    s = zoo.random_state(mech, 5)
    at, _ = reference.motion(s.q, s.v, s.vdot)
    for name in frames_of(mech):
        f = at[name]
        pose = ask(mech, "pose", s.q, frames=(name,))
        close(pose, np.block([[f.R, f.p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]))
        close(ask(mech, "velocity", s.q, s.v, frames=(name,)), np.r_[f.w, f.u])
        close(ask(mech, "acceleration", s.q, s.v, s.vdot, frames=(name,)), np.r_[f.alpha, f.a])


def test_jacobian(case):
    mech, reference, s = case
    for name in ("tool", "camera", "bench"):
        close(ask(mech, "jacobian", s.q, frames=(name,)), reference.jacobian(name, s.q))


def test_gravity_is_the_slope_of_potential_energy(case):
    """The forces that hold the weight do the work that potential energy gains (springs apart)."""
    mech, reference, s = case
    zero = np.zeros(mech.nv)
    expected = reference.inverse_dynamics(s.q, zero, zero) + reference.springs(s.q)
    close(ask(mech, "gravity", s.q), expected)


def test_center_of_mass(case):
    mech, reference, s = case
    at, _ = reference.motion(s.q, s.v, s.vdot)
    moving = [(b.mass, at[b.name].moved(np.array(b.com)).p) for b in reference.moving]
    close(ask(mech, "center_of_mass", s.q), sum(m * p for m, p in moving) / sum(m for m, _ in moving))
