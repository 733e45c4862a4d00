"""Against Pinocchio: the same random mechanisms built by hand in both."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import articulus as art
import zoo
from articulus.model.mechanism import ALL_JOINTS
from zoo import ask

pin = pytest.importorskip("pinocchio")
from pinocchio_twin import SWAP, Twin  # noqa: E402

pytestmark = pytest.mark.in_turn(2)
LWA = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
AGREEMENT = 1e-10
"""Relative to the largest entry: two exact algorithms whose roundings grow with cond(M), which is below 1e4 here."""

CASES = {
    "one_of_each": (1, len(ALL_JOINTS), {}),
    "one_of_each_again": (2, len(ALL_JOINTS), {"roots": 2}),
    "floating_mix": (3, 8, {"floating": True, "armature": True}),
    "arm7": (4, 7, {"joints": [art.Revolute], "branching": 0.0, "armature": True}),
    "humanoid": (5, 24, {"joints": [art.Revolute], "floating": True, "branching": 0.2}),
    "twenty": (6, 20, {"joints": [art.Revolute, art.Prismatic], "branching": 0.1}),
    "balls": (7, 5, {"joints": [art.Spherical, art.Free], "roots": 2}),
}


@functools.cache
def pair(name):
    seed, bodies, options = CASES[name]
    mech = zoo.random_mechanism(seed, bodies, **options)
    return mech, Twin(mech)


@pytest.fixture(params=CASES)
def case(request):
    mech, twin = pair(request.param)
    return mech, twin, zoo.random_state(mech, 71)


def agree(ours, theirs, tolerance=AGREEMENT):
    size = max(1.0, np.abs(theirs).max(initial=0))
    assert np.shape(ours) == np.shape(theirs)
    assert np.abs(ours - theirs).max(initial=0) <= tolerance * size


def upper(M):
    """Return the symmetric matrix of which Pinocchio fills the upper triangle."""
    return np.triu(M) + np.triu(M, 1).T


def test_mass_matrix(case):
    mech, twin, s = case
    M = pin.crba(twin.model, twin.data, twin.q(s.q))
    agree(ask(mech, "mass_matrix", s.q), twin.matrix(upper(M)))


def test_bias(case):
    mech, twin, s = case
    agree(
        ask(mech, "bias", s.q, s.v),
        twin.vector(pin.nonLinearEffects(twin.model, twin.data, twin.q(s.q), twin.v(s.v))),
    )


def test_gravity(case):
    mech, twin, s = case
    agree(
        ask(mech, "gravity", s.q),
        twin.vector(pin.computeGeneralizedGravity(twin.model, twin.data, twin.q(s.q))),
    )


def test_inverse_dynamics(case):
    mech, twin, s = case
    tau = pin.rnea(twin.model, twin.data, twin.q(s.q), twin.v(s.v), twin.v(s.vdot))
    agree(ask(mech, "inverse_dynamics", s.q, s.v, s.vdot), twin.vector(tau))


def test_forward_dynamics(case):
    mech, twin, s = case
    vdot = pin.aba(twin.model, twin.data, twin.q(s.q), twin.v(s.v), twin.v(s.tau))
    agree(ask(mech, "forward_dynamics", s.q, s.v, s.tau), twin.vector(vdot))


def test_kinematics(case):
    mech, twin, s = case
    frame = "tool"
    model, data, at = twin.model, twin.data, twin.frame(frame)
    pin.forwardKinematics(model, data, twin.q(s.q), twin.v(s.v), twin.v(s.vdot))
    pin.computeJointJacobiansTimeVariation(model, data, twin.q(s.q), twin.v(s.v))
    pin.updateFramePlacements(model, data)
    agree(ask(mech, "pose", s.q, frames=(frame,)), data.oMf[at].homogeneous)
    agree(
        ask(mech, "velocity", s.q, s.v, frames=(frame,)),
        pin.getFrameVelocity(model, data, at, LWA).vector[SWAP],
    )
    acceleration = pin.getFrameClassicalAcceleration(model, data, at, LWA).vector[SWAP]
    agree(ask(mech, "acceleration", s.q, s.v, s.vdot, frames=(frame,)), acceleration)
    J = pin.getFrameJacobian(model, data, at, LWA)
    agree(ask(mech, "jacobian", s.q, frames=(frame,)), twin.vector(J)[SWAP])
    rate = pin.getFrameJacobianTimeVariation(model, data, at, LWA)
    agree(ask(mech, "jacobian_rate", s.q, s.v, frames=(frame,)), twin.vector(rate)[SWAP])


def test_derivatives(case):
    mech, twin, s = case
    by_q, by_v, inverse = pin.computeABADerivatives(
        twin.model, twin.data, twin.q(s.q), twin.v(s.v), twin.v(s.tau)
    )
    found = ask(mech, "derivatives", s.q, s.v, s.tau)
    agree(found[0], twin.matrix(by_q))
    agree(found[1], twin.matrix(by_v))
    agree(found[2], twin.matrix(upper(inverse)))


def test_inverse_dynamics_derivatives(case):
    mech, twin, s = case
    by_q, by_v, M = pin.computeRNEADerivatives(
        twin.model, twin.data, twin.q(s.q), twin.v(s.v), twin.v(s.vdot)
    )
    found = ask(mech, "inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    agree(found[0], twin.matrix(by_q))
    agree(found[1], twin.matrix(by_v))
    agree(found[2], twin.matrix(upper(M)))


def test_momentum_and_center_of_mass(case):
    mech, twin, s = case
    model, data = twin.model, twin.data
    A = pin.computeCentroidalMap(model, data, twin.q(s.q))
    h = pin.computeCentroidalMomentum(model, data, twin.q(s.q), twin.v(s.v)).vector
    agree(ask(mech, "centroidal_momentum", s.q, s.v), h[SWAP])
    agree(ask(mech, "centroidal_momentum_matrix", s.q), twin.vector(A)[SWAP])
    agree(ask(mech, "center_of_mass", s.q), pin.centerOfMass(model, data, twin.q(s.q)))


def test_energy(case):
    mech, twin, s = case
    kinetic, potential = ask(mech, "energy", s.q, s.v)
    if not twin.model.armature.any():  # which Pinocchio does not count for every joint type
        agree(kinetic[0], pin.computeKineticEnergy(twin.model, twin.data, twin.q(s.q), twin.v(s.v)))
    agree(potential[0], pin.computePotentialEnergy(twin.model, twin.data, twin.q(s.q)))


def test_external_wrench(case):
    mech, twin, s = case
    w = np.random.default_rng(72).normal(size=6)
    J = pin.computeFrameJacobian(twin.model, twin.data, twin.q(s.q), twin.frame("tool"), LWA)
    vdot = pin.aba(twin.model, twin.data, twin.q(s.q), twin.v(s.v), twin.v(s.tau) + J.T @ w[SWAP])
    agree(ask(mech, "forward_dynamics", s.q, s.v, s.tau, wrenches={"tool": w}), twin.vector(vdot))
