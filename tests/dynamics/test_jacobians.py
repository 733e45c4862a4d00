"""Jacobians in a frame's own axes, relative to another frame, of the center of mass; and the regressor."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import flexible_zoo
import zoo
from articulus.errors import UnsupportedOperation
from flexible_zoo import stencil
from zoo import ask

CLOSE = {"rtol": 1e-11, "atol": 1e-11}
"""Exact algorithms; entries are of size 1 to 100."""
NAMES = ("every_joint", "spacecraft", "several_roots", "parameters_quaternion", "flexible")


def soft() -> art.Mechanism:
    return flexible_zoo.soften(zoo.random_mechanism(63, 4, [art.Revolute, art.Spherical, art.Prismatic]), 64)


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[art.Mechanism, zoo.State]:
    if request.param == "flexible":
        mech = soft()
        return mech, flexible_zoo.state(mech, 1)
    return zoo.get(request.param), zoo.random_state(zoo.get(request.param), 1)


Case = tuple[art.Mechanism, zoo.State]


def test_local_jacobian_is_turned_by_the_frame(case: Case) -> None:
    mech, s = case
    R = ask(mech, "pose", s.q, frames=("tool",))[:3, :3]
    V = ask(mech, "velocity", s.q, s.v, frames=("tool",))
    local = ask(mech, "local_jacobian", s.q, frames=("tool",)) @ s.v
    assert_allclose(local, np.r_[R.T @ V[:3], R.T @ V[3:]], **CLOSE)


def test_relative_jacobian_is_the_rate_of_the_relative_pose(case: Case) -> None:
    mech, s = case

    def seen(h: float) -> np.ndarray:
        q = ask(mech, "integrate_position", s.q, h * s.v)
        return np.linalg.inv(ask(mech, "pose", q, frames=("camera",))) @ ask(
            mech, "pose", q, frames=("tool",)
        )

    rate = stencil(seen)
    turning = rate[:3, :3] @ seen(0.0)[:3, :3].T
    J = ask(mech, "relative_jacobian", s.q, frames=("tool", "camera"))
    w = [turning[2, 1], turning[0, 2], turning[1, 0]]
    assert_allclose(J @ s.v, np.r_[w, rate[:3, 3]], atol=1e-7)  # h^4 times fifth derivatives


def test_seen_from_the_ground_it_is_the_jacobian(case: Case) -> None:
    mech, s = case
    J = ask(mech, "relative_jacobian", s.q, frames=("tool", "ground"))
    assert_allclose(J, ask(mech, "jacobian", s.q, frames=("tool",)), **CLOSE)


def test_center_of_mass_jacobian_is_its_rate(case: Case) -> None:
    mech, s = case

    def com(h: float) -> np.ndarray:
        return ask(mech, "center_of_mass", ask(mech, "integrate_position", s.q, h * s.v))

    assert_allclose(ask(mech, "center_of_mass_jacobian", s.q) @ s.v, stencil(com), atol=1e-8)


def test_mass_times_its_velocity_is_the_momentum() -> None:
    mech, s = zoo.get("parameters_quaternion"), zoo.random_state(zoo.get("parameters_quaternion"), 2)
    params = {name: 1.1 * value for name, value in mech.parameters.items()}
    J = ask(mech, "center_of_mass_jacobian", s.q, params=params)
    momentum = ask(mech, "momentum", s.q, s.v, params=params)[3:]
    assert_allclose(mech.total_mass(params=params) * (J @ s.v), momentum, **CLOSE)


@pytest.mark.parametrize("name", ["spacecraft", "several_roots", "parameters_quaternion"])
def test_forces_are_linear_in_the_inertial_parameters(name: str) -> None:
    """Without springs and rotors tau = Y phi; with them what is left does not depend on the bodies."""
    mech = zoo.get(name)
    s, params = (
        zoo.random_state(mech, 3),
        {name: 0.9 * value for name, value in mech.parameters.items()},
    )
    Y = ask(mech, "regressor", s.q, s.v, s.vdot, params=params)
    left = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot, params=params)
    left = left - Y @ mech.inertial_parameters(params=params)
    drives = any(c.rotor or any(c.armature) or any(c.stiffness) for c in mech.description.connections)
    if not drives:
        assert_allclose(left, 0, atol=1e-10)
        return
    other = mech
    for b in mech.description.bodies:
        other = other.with_inertia(b.name, mass=2.0 * b.mass, com=(0.1, 0.2, 0.3))
    rest = ask(other, "inverse_dynamics", s.q, s.v, s.vdot) - Y @ other.inertial_parameters()
    assert_allclose(rest, left, atol=1e-10)


def test_a_flexible_body_has_no_ten_parameters() -> None:
    with pytest.raises(UnsupportedOperation, match="'regressor' of a mechanism with flexible bodies"):
        soft().function("regressor")
    with pytest.raises(UnsupportedOperation, match="inertial_parameters"):
        soft().inertial_parameters()


def test_total_mass_counts_what_moves() -> None:
    m = (
        art.Mechanism("m")
        .body("table", 50.0, inertia=(1, 1, 1))
        .joint("weld", art.Fixed(), "ground", "table")
    )
    m.body("arm", art.Parameter("payload", 3.0), inertia=(1, 1, 1)).joint("j", art.Revolute(), "table", "arm")
    assert m.total_mass() == 3.0
    assert_allclose(m.total_mass(params={"payload": [1.0, 2.0]}), [1.0, 2.0])
    cloud = flexible_zoo.random_cloud(np.random.default_rng(1), 1)
    m.flexible("beam", cloud.modes(np.eye(1), np.zeros((1, 1)), {}))
    m.joint("clamp", art.Fixed(), "table", "beam")
    assert m.total_mass() == pytest.approx(3.0 + cloud.mass.sum(), rel=1e-14)
