"""All families give the accelerations of the recursions, on random trees."""

from __future__ import annotations

import numpy as np
import pytest
from test_machines import random_arm

import articulus as art
import zoo
from articulus.bench.models import tree
from articulus.errors import InputError, NumericalError
from articulus.parallel import families

NAMES = ("puma600", "cat215b", "human_torso")


def state(n: int, seed: int = 0):
    return np.random.default_rng(seed).normal(size=(3, n))


@pytest.mark.parametrize("seed", range(6))
def test_velocities_of_all_bodies(seed):
    """Hbar v against pose and velocity of every body, with any joints and parameters."""
    arm = zoo.random_mechanism(seed, 5)
    s = zoo.random_state(arm, seed)
    found = (arm.velocity_transformation(s.q) @ s.v).reshape(-1, 6)
    for row, body in zip(found, arm.description.bodies):
        R, velocity = arm.pose(body.name, s.q)[:3, :3], arm.velocity(body.name, s.q, s.v)
        w, com = R.T @ velocity[:3], np.array([art.mechanism.value_of(x) for x in body.com])
        assert row == pytest.approx(np.concatenate([w, R.T @ velocity[3:] + np.cross(w, com)]), abs=1e-12)


def test_velocities_of_all_bodies_of_a_large_tree():
    """Long mechanisms have it by passes and products."""
    m = tree(5, 6).mechanism
    m.body("post", 1.0, inertia=(1, 1, 1)).joint("weld", art.Fixed(), parent="ground", child="post")
    (q,), (v,), _ = tree(5, 6).states(1)
    found = (m.velocity_transformation(q) @ v).reshape(-1, 6)
    for row, body in zip(found, m.description.bodies):
        R, velocity = m.pose(body.name, q)[:3, :3], m.velocity(body.name, q, v)
        w = R.T @ velocity[:3]
        assert row == pytest.approx(
            np.concatenate([w, R.T @ velocity[3:] + np.cross(w, body.com)]), abs=1e-12
        )


@pytest.mark.parametrize("name", NAMES)
def test_projection_is_the_inertia_matrix(name):
    arm = art.load(name)
    q, v, vdot = state(arm.nv)
    M = arm.mass_matrix(q)
    assert families.inertia_matrix_by_projection(arm, q) == pytest.approx(M, rel=1e-12, abs=1e-12 * M.max())
    tau = arm.inverse_dynamics(q, v, vdot)
    found = families.inverse_dynamics_by_projection(arm, q, v, vdot)
    assert found == pytest.approx(tau, rel=1e-12, abs=1e-12 * np.abs(tau).max())


@pytest.mark.parametrize("name", NAMES)
def test_families_give_the_accelerations_of_the_recursion(name):
    arm = art.load(name)
    q, v, tau = state(arm.nv, 1)
    expected = arm.forward_dynamics(q, v, tau)
    close = {"rel": 1e-11, "abs": 1e-11 * np.abs(expected).max()}
    assert families.arrowhead(arm, q, v, tau) == pytest.approx(expected, **close)
    assert families.solve_ldl(arm.mass_matrix(q), tau - arm.bias(q, v)) == pytest.approx(expected, **close)
    found, steps = families.conjugate_gradients(arm, q, v, tau)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
    assert steps <= 3 * arm.nv


@pytest.mark.parametrize("n", [1, 2, 5])
def test_columns_of_random_arms(n):
    arm = random_arm(n, n)
    q = state(n, n)[0]
    M = arm.mass_matrix(q)
    assert families.inertia_matrix_by_columns(arm, q) == pytest.approx(M, rel=1e-12, abs=1e-12 * M.max())


def test_columns_of_axes_that_miss_the_bodies_origins():
    arm = art.Mechanism("arm", gravity=(0, 0, -9.81))
    arm.body("a", 2.0, (0.1, 0.2, 0.3), (1.0, 1.1, 1.2))
    arm.body("b", 1.0, (0.3, 0.1, 0.2), (0.5, 0.6, 0.7))
    arm.joint("one", art.Revolute((0, 0, 1)), "ground", "a", at=(0, 0, 1), child_at=(0.5, 0.2, 0.1))
    arm.joint("two", art.Revolute((0, 1, 0)), "a", "b", at=(1, 0, 0), child_at=(0.0, 0.4, 0.3))
    M = arm.mass_matrix([0.3, -0.7])
    assert families.inertia_matrix_by_columns(arm, [0.3, -0.7]) == pytest.approx(M, rel=1e-12)
    run = art.parallel.run_mesh(arm, [0.3, -0.7], [0.5, 0.9])
    assert pytest.approx(M, rel=1e-12) == run.M
    assert run.bias == pytest.approx(arm.bias([0.3, -0.7], [0.5, 0.9]), rel=1e-11)


@pytest.mark.parametrize("name", ["n_four_bar", "king_arm", "rrc7"])
def test_other_mechanisms_are_refused(name):
    arm = art.load(name)
    with pytest.raises(InputError, match="expected an open tree of rigid bodies"):
        families.body_inertias(arm)
    with pytest.raises(InputError, match="one chain"):
        families.inertia_matrix_by_columns(art.load("human_torso"), np.zeros(6))


def test_flexible_bodies_have_no_velocity_transformation():
    arm = art.load("king_arm")
    with pytest.raises(art.UnsupportedOperation, match="flexible"):
        arm.velocity_transformation(np.zeros(arm.nq))


def test_solver_refuses_what_is_not_definite():
    with pytest.raises(NumericalError, match="pivot 2"):
        families.solve_ldl([[1.0, 2.0], [2.0, 1.0]], [1.0, 1.0])
    with pytest.raises(InputError):
        families.solve_ldl(np.eye(3), [1.0, 1.0])
