"""Closing of loops from estimates, and static equilibrium."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
from articulus.simulation.solve.assembly import independent_rows
from closed_zoo import closed, four_bar


@pytest.mark.parametrize("kind", [art.Revolute, art.Prismatic, art.Universal], ids=lambda k: k.type_name)
def test_closing_converges_quadratically(kind):
    c = closed(50, [kind], bodies=5)
    m = c.mechanism
    rng = np.random.default_rng(0)
    estimate = m.integrate_position(c.q, 0.05 * rng.normal(size=m.nv))
    found = art.assemble(m, estimate, rng.normal(size=m.nv))
    assert_allclose(m.constraint_residual(found.q), 0, atol=1e-12)
    assert_allclose(m.constraint_rate(found.q, found.v), 0, atol=1e-11)
    errors = [r for r in found.residuals if r > 1e-13]
    orders = np.diff(np.log(errors))[1:] / np.diff(np.log(errors))[:-1]
    assert len(errors) >= 3
    assert orders[-1] > 1.6  # two, but for the constant and rounding in the last figure
    assert found.rank == 6 - kind.nv
    assert found.redundant == ()
    assert found.dofs == m.nv - found.rank


def test_minimum_change():
    """An admissible estimate stays; of all velocities the nearest admissible one is taken."""
    c = closed(51, [art.Revolute], bodies=4)
    m = c.mechanism
    v = np.random.default_rng(1).normal(size=m.nv)
    found = art.assemble(m, c.q, v)
    assert_allclose(found.q, c.q, atol=1e-12)
    G = m.constraint_jacobian(c.q)
    change = found.v - v
    assert_allclose(G @ found.v, 0, atol=1e-12)
    assert_allclose(change, np.linalg.pinv(G) @ (G @ change), atol=1e-11)  # no part along what is free


def test_redundant_rows_are_reported():
    m = four_bar()
    found = art.assemble(m, [0.5, -0.2, 0.1], [1.0, 0, 0], fixed=["crank_pin"])
    assert_allclose(found.q, [0.5, -0.5, 0.5], atol=1e-12)
    assert_allclose(found.v, [1, -1, 1], atol=1e-12)
    assert (found.rank, found.dofs) == (2, 1)
    assert set(found.redundant) == {"pin.z", "pin.tilt_x", "pin.tilt_y"}
    assert independent_rows(m, found.q) == ("pin.x", "pin.y")


def test_quaternions_stay_unit():
    c = closed(52, [art.Fixed], bodies=4, joints=[art.Spherical])
    found = art.assemble(c.mechanism, c.mechanism.integrate_position(c.q, np.full(12, 0.1)))
    assert_allclose(np.linalg.norm(found.q.reshape(4, 4), axis=1), 1, atol=1e-12)


def test_prescribed_motion_at_a_time():
    m = four_bar().constrain(art.Prescribed("drive", "crank_pin", art.Polynomial((0.1, 2.0))))
    found = art.assemble(m, t=0.25)
    assert_allclose(found.q, [0.6, -0.6, 0.6], atol=1e-12)
    assert_allclose(found.v, [2, -2, 2], atol=1e-12)
    assert found.dofs == 0


def test_without_constraints_nothing_moves():
    m = art.load("two_link")
    found = art.assemble(m, [0.1, 0.2], [1.0, 2.0])
    assert (found.q.tolist(), found.v.tolist(), found.rank, found.dofs) == ([0.1, 0.2], [1.0, 2.0], 0, 2)


def test_what_cannot_be_closed_says_so():
    far = (
        four_bar()
        .constrain(art.PointOnPoint("reach", "coupler", "ground"))
        .frame("far", "ground", at=(9, 0, 0))
    )
    far.constrain(art.Distance("rod", "far", "crank", 2.0))
    with pytest.raises(art.NumericalError, match=r"constraint '\w+(\.\w)?' stays open by \d"):
        art.assemble(far)
    with pytest.raises(art.NumericalError, match="with 'crank_pin', 'rocker_pin' held"):
        art.assemble(four_bar(), [0.5, 0, 0], fixed=["crank_pin", "rocker_pin"])
    with pytest.raises(art.InputError, match="did you mean 'crank_pin'"):
        art.assemble(four_bar(), fixed=["crank"])
    with pytest.raises(art.InputError, match=r"shape \(2,\); expected \(3,\)"):
        art.assemble(four_bar(), [0, 0])


# equilibrium


def test_pendulum_hangs_or_stands():
    m = art.Mechanism("p").body("rod", 2.0, (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")
    below, above = art.equilibrium(m, [0.4]), art.equilibrium(m, [3.0])
    assert below.stable
    assert not above.stable
    assert_allclose(below.q, 0, atol=1e-9)
    assert_allclose(above.q, np.pi, atol=1e-9)
    assert_allclose(below.stiffness, 2.0 * 9.81 * 0.5, rtol=1e-9)
    assert "unstable" in str(above)
    held = art.equilibrium(m, [0.1], tau=[2.0])
    assert_allclose(2.0 * 9.81 * 0.5 * np.sin(held.q), 2.0, rtol=1e-9)
    with pytest.raises(art.NumericalError, match=r"out of balance by .* 'hinge'"):
        art.equilibrium(m, [0.1], tau=[20.0])


def test_closed_mechanism_balances():
    """A spring at the rocker holds the four-bar: all forces balance, and motion would start nowhere."""
    m = four_bar()
    c = m.description.connections[2]
    sprung = art.Mechanism("sprung")
    sprung._bodies = m._bodies
    for joint in m.description.connections:
        stiffness = 60.0 if joint.name == c.name else ()
        rest = 0.3 if joint.name == c.name else ()
        sprung.joint(
            joint.name,
            joint.joint,
            joint.parent,
            joint.child,
            joint.at,
            joint.child_at,
            stiffness=stiffness,
            rest=rest,
        )
    sprung.constrain(m.description.constraints[0])
    found = art.equilibrium(sprung, [0.2, -0.2, 0.2])
    assert found.stable
    assert_allclose(sprung.constraint_residual(found.q), 0, atol=1e-11)
    assert_allclose(sprung.forward_dynamics(found.q, np.zeros(3), np.zeros(3)), 0, atol=1e-8)
    # virtual work: 60 (q - 0.3) = 9.81 (2.5 / 2 + 2) sin q
    q = found.q[2]
    assert_allclose(60 * (q - 0.3), 9.81 * 3.25 * np.sin(q), rtol=1e-8)
    poles = sprung.linearize(found.q).poles
    assert_allclose(poles.real, 0, atol=1e-9)
