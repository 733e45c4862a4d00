"""Closed loops on flexible bodies against the equations solved as one dense system."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.components import ForceSensor
from articulus.structure import beam_body
from flexible_zoo import random_modes, state, stencil
from zoo import ask


def closed(level: str = "consistent") -> art.Mechanism:
    """Return two flexible branches on a flexible trunk whose ends are pinned together, and a rod to the ground."""
    rng = np.random.default_rng(9)
    m = art.Mechanism("closed")
    for name in ("trunk", "left", "right"):
        m.flexible(name, random_modes(rng, 2, level))
    m.joint("root", art.Universal(), parent="ground", child="trunk")
    m.joint("a", art.Spherical(), parent="trunk", child="left", node="s0", at=(0.1, 0, 0))
    m.joint(
        "b", art.Cylindrical(axis=(0, 1, 0)), parent="trunk", child="right", node="s1", child_at=(0, 0.2, 0)
    )
    m.frame("end_left", "left", at=(0.1, 0, 0), node="s0").frame("end_right", "right", node="s1")
    m.loop("pin", art.Universal(), parent="end_left", child="end_right")
    m.constrain(art.Distance("rod", "end_right", "ground", length=0.3))
    return m


@pytest.mark.parametrize("level", ["consistent", "ruthless"])
def test_accelerations_are_those_of_the_dense_system(level: str) -> None:
    """M vdot + G' lambda = tau - bias, G vdot + gamma = 0, solved by NumPy; G and gamma are differences of the residual.

    Differences of order four with steps of 1e-3 err by 1e-10 here, their second use by 1e-7 of what they differ.
    """
    m = closed(level)
    s = state(m, 3, bend=0.1)
    residual = lambda d: ask(m, "constraint_residual", ask(m, "integrate_position", s.q, d), 0.0).ravel()  # noqa: E731
    G = ask(m, "constraint_jacobian", s.q, 0.0)
    expected = np.array([stencil(lambda t, e=e: residual(t * e)) for e in np.eye(m.nv)]).T
    np.testing.assert_allclose(G, expected, atol=1e-8)
    moved = lambda t: ask(m, "integrate_position", s.q, t * s.v)  # noqa: E731
    np.testing.assert_allclose(ask(m, "constraint_rate", s.q, s.v, 0.0).ravel(), G @ s.v, atol=1e-12)
    gamma = stencil(lambda t: ask(m, "constraint_jacobian", moved(t), 0.0) @ s.v)
    rows = np.zeros((len(G), len(G)))
    M, bias = ask(m, "mass_matrix", s.q), ask(m, "bias", s.q, s.v)
    solution = np.linalg.solve(np.block([[M, G.T], [G, rows]]), np.r_[s.tau - bias, -gamma])
    vdot, multipliers = (np.ravel(x) for x in ask(m, "closed_dynamics", s.q, s.v, s.tau, 0.0))
    np.testing.assert_allclose(np.r_[vdot, multipliers], solution, atol=1e-7 * np.abs(solution).max())


def test_reactions_do_the_work_of_the_joint_forces() -> None:
    """In every joint the wrench on the child, times the motion that the joint allows, is the power of its force.

    The joints' own free directions do not enter: both sides of a joint are frames, one on a station that moves with the
    modes. Loops and the rod load their bodies at stations, too. All but rounding of some 30 numbers is exact.
    """
    m = closed()
    for c in m.description.connections:
        m.frame(f"{c.name} in front", c.parent, at=c.at, node=c.node).frame(
            f"{c.name} behind", c.child, at=c.child_at
        )
    s = state(m, 3, bend=0.1)
    vdot, multipliers = (np.ravel(x) for x in ask(m, "closed_dynamics", s.q, s.v, s.tau, 0.0))
    rows = ask(m, "closed_reactions", s.q, s.v, vdot, multipliers, 0.0)
    for c, row in zip(m.description.connections, rows):
        (X, Y), (V, U) = (
            [np.squeeze(ask(m, name, *at, frames=(f"{c.name} {side}",))) for side in ("in front", "behind")]
            for name, at in (("pose", (s.q,)), ("velocity", (s.q, s.v)))
        )
        spin, shift = U[:3] - V[:3], U[3:] - V[3:] - np.cross(V[:3], Y[:3, 3] - X[:3, 3])
        power = (Y[:3, :3] @ row[:3]) @ spin + (Y[:3, :3] @ row[3:]) @ shift
        at = m.description.v_slices[c.name]
        assert power == pytest.approx(s.tau[at] @ s.v[at], abs=1e-8 * np.abs(rows).max())


def bridge() -> art.Mechanism:
    """Return a four-bar whose coupler is a flexible beam, stood on two elastic hinges."""
    m = art.Mechanism("bridge")
    m.body("crank", 2.0, (0, 0, 0.5), (0.2, 0.2, 0.02)).body("rocker", 3.0, (0, 0, 0.5), (0.2, 0.2, 0.02))
    m.flexible("beam", beam_body(1.0, EI=500.0, mass_per_length=4.0, modes=2))
    hinge = art.Revolute((0, 1, 0))
    m.joint("left", hinge, "ground", "crank", stiffness=200.0, damping=20.0)
    m.joint("right", hinge, "ground", "rocker", at=(1, 0, 0), stiffness=200.0, damping=20.0)
    m.joint("knee", hinge, "crank", "beam", at=(0, 0, 1), child_at=art.Pose(rpy=(np.pi / 2, 0, 0)))
    m.frame("tip", "beam", node="tip")
    return m.constrain(art.PointOnPoint("pin", "tip", "top")).frame("top", "rocker", at=(0, 0, 1))


def test_force_sensors_of_a_flexible_bridge_carry_its_weight() -> None:
    """At rest the two bearings push up with the weight of everything: 2 + 3 + 4 kg."""
    m = bridge()
    rest = art.equilibrium(m, art.assemble(m, [0.02, 0.02, -0.02, 0, 0]).q)
    sensors = [ForceSensor(j) for j in ("left", "right")]
    run = art.simulate(m, 0.01, q0=rest.q, components=sensors, step=0.001)
    forces = [run[f"{j}_force_sensor.force"][0] for j in ("left", "right")]
    turned = [m.pose(body, rest.q)[:3, :3] @ f for body, f in zip(("crank", "rocker"), forces)]
    weight = 9.0 * -m.gravity_vector
    assert np.abs(turned[0][2]) > 0.2 * weight[2]
    np.testing.assert_allclose(turned[0] + turned[1], weight, atol=1e-5 * weight[2])
