"""Against Pinocchio: reduced and appended models."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import zoo
from zoo import ask

pin = pytest.importorskip("pinocchio")
from pinocchio_twin import SWAP, Twin  # noqa: E402

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
"""Two exact algorithms; entries are of size 1 to 100."""
JOINTS = (art.Revolute, art.Prismatic, art.Spherical)


def upper(M: np.ndarray) -> np.ndarray:
    return np.triu(M) + np.triu(M, 1).T


def with_joint_frames(mech: art.Mechanism) -> Twin:
    """Return the twin with a frame for every joint, and our frames on them: a reduced model needs that."""
    bare = art.Mechanism.from_description(dataclasses.replace(mech.description, frames=()))
    whole, twin = Twin(mech).model, Twin(bare)
    at = {joint: twin.model.addJointFrame(joint) for joint in range(1, twin.model.njoints)}
    for frame in whole.frames:
        if frame.parentJoint:
            twin.model.addFrame(
                pin.Frame(frame.name, frame.parentJoint, at[frame.parentJoint], frame.placement, frame.type)
            )
    return twin


def test_a_reduced_model_is_pinocchios() -> None:
    mech = zoo.random_mechanism(51, 7, JOINTS, floating=True)
    twin, s = with_joint_frames(mech), zoo.random_state(mech, 1)
    held = ("j2", "j5", "j6")
    model = pin.buildReducedModel(
        twin.model, [twin.model.getJointId(f"{name}.0") for name in held], twin.q(s.q)
    )
    small, slices = mech.with_locked(held, s.q), mech.description.v_slices
    gone = {i for name in held for i in range(slices[name].start, slices[name].stop)}
    ours = {k: n for n, k in enumerate(i for i in range(mech.nv) if i not in gone)}
    order = [ours[k] for k in twin.v_map if k in ours]  # Pinocchio's entries in our order
    q_slices = mech.description.q_slices
    lost = {i for name in held for i in range(q_slices[name].start, q_slices[name].stop)}
    q_theirs = np.array([s.q[k] for k in twin.q_map if k not in lost])
    q_ours = np.array([s.q[k] for k in range(mech.nq) if k not in lost])
    v = np.random.default_rng(2).normal(size=small.nv)
    data = model.createData()
    M = upper(pin.crba(model, data, q_theirs))
    assert_allclose(ask(small, "mass_matrix", q_ours)[np.ix_(order, order)], M, **CLOSE)
    bias = pin.nonLinearEffects(model, data, q_theirs, v[order])
    assert_allclose(ask(small, "bias", q_ours, v)[order], bias, **CLOSE)
    pin.framesForwardKinematics(model, data, q_theirs)
    for frame in ("tool", "camera"):
        theirs = data.oMf[model.getFrameId(frame)].homogeneous
        assert_allclose(ask(small, "pose", q_ours, frames=(frame,)), theirs, **CLOSE)


def test_an_appended_model_is_pinocchios() -> None:
    mech = zoo.random_mechanism(52, 4, [art.Revolute, art.Prismatic])
    other = zoo.random_mechanism(53, 3, [art.Revolute, art.Prismatic], branching=0.0)
    at = art.Pose((0.1, -0.2, 0.3), rpy=(0.3, 0.2, -0.5))
    both = mech.with_attached(other, "tool", pose=at, prefix="x_")
    d = other.description
    renamed = dataclasses.replace(
        d, connections=tuple(dataclasses.replace(c, name=f"x_{c.name}") for c in d.connections), frames=()
    )
    first, second = Twin(mech), Twin(art.Mechanism.from_description(renamed))
    model = pin.appendModel(first.model, second.model, first.model.getFrameId("tool"), pin.SE3(at.matrix()))
    model.gravity = first.model.gravity  # which Pinocchio does not take over
    s = zoo.random_state(both, 3)
    order = [both.v_slice(name.removesuffix(".0")).start for name in list(model.names)[1:]]
    data = model.createData()
    M = upper(pin.crba(model, data, s.q[order]))
    assert_allclose(ask(both, "mass_matrix", s.q)[np.ix_(order, order)], M, **CLOSE)
    tau = pin.rnea(model, data, s.q[order], s.v[order], s.vdot[order])
    assert_allclose(ask(both, "inverse_dynamics", s.q, s.v, s.vdot)[order], tau, **CLOSE)


# configurations and quantities


@pytest.fixture(scope="module")
def pair() -> tuple[art.Mechanism, Twin]:
    mech = zoo.random_mechanism(54, 9, floating=True)
    return mech, Twin(mech)


Pair = tuple[art.Mechanism, Twin]


def test_difference_and_interpolation(pair: Pair) -> None:
    mech, twin = pair
    a, b = mech.random_position(1), mech.random_position(2)
    step = pin.difference(twin.model, twin.q(a), twin.q(b))
    assert_allclose(ask(mech, "position_difference", a, b), twin.vector(step), **CLOSE)
    for share in (0.0, 0.3, 1.0):
        theirs = pin.interpolate(twin.model, twin.q(a), twin.q(b), share)
        ours = ask(mech, "integrate_position", a, share * ask(mech, "position_difference", a, b))
        off = pin.difference(twin.model, twin.q(ours), theirs)
        assert_allclose(off, 0, atol=1e-12)


def test_coriolis_matrix(pair: Pair) -> None:
    mech, twin = pair
    s = zoo.random_state(mech, 4)
    C = pin.computeCoriolisMatrix(twin.model, twin.data, twin.q(s.q), twin.v(s.v))
    assert_allclose(ask(mech, "coriolis_matrix", s.q, s.v), twin.matrix(C), **CLOSE)


def test_jacobians(pair: Pair) -> None:
    mech, twin = pair
    s = zoo.random_state(mech, 5)
    J = pin.jacobianCenterOfMass(twin.model, twin.data, twin.q(s.q))
    assert_allclose(ask(mech, "center_of_mass_jacobian", s.q), twin.vector(J), **CLOSE)
    local = pin.computeFrameJacobian(
        twin.model, twin.data, twin.q(s.q), twin.frame("tool"), pin.ReferenceFrame.LOCAL
    )
    assert_allclose(ask(mech, "local_jacobian", s.q, frames=("tool",)), twin.vector(local)[SWAP], **CLOSE)
    assert mech.total_mass() == pytest.approx(pin.computeTotalMass(twin.model), rel=1e-13)


def test_regressor() -> None:
    """One body a joint, frames at the joints: then Pinocchio's parameters are ours but for their order."""
    mech = art.Mechanism("chain")
    rng, links = np.random.default_rng(6), ("ground", "a", "b", "c")
    for parent, name in itertools.pairwise(links):
        mech.body(
            name, rng.uniform(1, 2), tuple(rng.uniform(-0.2, 0.2, 3)), (0.2, 0.3, 0.25, 0.01, 0.02, 0.03)
        )
        pose = art.Pose(tuple(rng.uniform(-0.5, 0.5, 3)), rpy=tuple(rng.uniform(-1, 1, 3)))
        mech.joint(f"to_{name}", art.Revolute((0.0, 0.6, 0.8)), parent, name, at=pose)
    twin, s = Twin(mech), zoo.random_state(mech, 7)
    theirs = pin.computeJointTorqueRegressor(twin.model, twin.data, twin.q(s.q), twin.v(s.v), twin.v(s.vdot))
    order = np.array([0, 1, 2, 3, 4, 7, 5, 8, 9, 6])  # theirs: xx, xy, yy, xz, yz, zz
    ours = ask(mech, "regressor", s.q, s.v, s.vdot).reshape(3, 3, 10)[:, :, order].reshape(3, 30)
    assert_allclose(ours, theirs, **CLOSE)
    phi = mech.inertial_parameters().reshape(3, 10)[:, order]
    for row, joint in zip(phi, range(1, 4)):
        assert_allclose(row, twin.model.inertias[joint].toDynamicParameters(), **CLOSE)
