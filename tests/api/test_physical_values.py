"""Values of parameters that no body can have, and quaternions of zeros, are told as such in every call that takes them."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism.physical import is_inertia

P = art.Parameter


def arm() -> art.Mechanism:
    m = art.Mechanism("arm")
    m.body(
        "upper", P("m", 1.0), (0, 0, -0.5), (P("i", 0.1), P("i", 0.1), P("iz", 0.05), P("ixy", 0.0), 0.0, 0.0)
    )
    m.body("lower", 2.0, (0, 0, -0.5), (0.1, 0.1, 0.01))
    hinge = art.Revolute((0, 1, 0))
    m.joint(
        "shoulder", hinge, "ground", "upper", damping=P("c", 0.1), coulomb=0.1, coulomb_speed=P("speed", 1e-2)
    )
    rotor = art.Rotor(inertia=P("rotor", 1e-3), ratio=10.0, axis=(0, 1, 0))
    return m.joint("elbow", hinge, "upper", "lower", at=(0, 0, -1.0), armature=P("extra", 0.0), rotor=rotor)


BAD = {
    "m": (-1.0, r"parameter 'm' = -1.*the mass of body 'upper' would be -1 kg; expected at least 0"),
    "c": (-0.5, "the damping of joint 'shoulder' would be -0.5"),
    "speed": (0.0, "the coulomb_speed of joint 'shoulder' would be 0 .*more than 0"),
    "extra": (-1e-3, "the armature of joint 'elbow' would be -0.001"),
    "rotor": (-1.0, "the rotor inertia of joint 'elbow' would be -1"),
    "i": (-0.1, "parameter 'i' = -0.1.*body 'upper' would have the principal moments of inertia -0.1"),
    "iz": (0.3, "parameter 'iz' = 0.3.*principal moments of inertia 0.1, 0.1, 0.3 .*sum of the other two"),
    "ixy": (0.2, "parameter 'ixy' = 0.2.*principal moments of inertia -0.1, 0.05, 0.3"),
}


@pytest.mark.parametrize("name", BAD)
def test_single_and_batched_questions(name):
    m, (bad, text), z = arm(), BAD[name], np.zeros(2)
    own = m.parameters[name]
    with pytest.raises(art.InputError, match=text):
        m.forward_dynamics(z, z, z, params={name: bad})
    values = np.full((3, 4), own)
    values[2, 1] = bad
    with pytest.raises(art.InputError, match=r"row \(2, 1\) of the batch"):
        m.gravity(z, params={name: values})
    with pytest.raises(art.InputError, match=text):
        m.with_values({name: bad})


def test_runs_and_solvers():
    m, bad = arm(), {"m": -1.0}
    for call in (
        lambda: art.simulate(m, 0.01, params=bad),
        lambda: art.rollout(m, 0.01, params={"m": np.array([1.0, 2.0, -1.0])}),
        lambda: art.simulate(m, 0.01).again(bad),
        lambda: art.equilibrium(m, params=bad),
        lambda: m.linearize(params=bad),
        lambda: m.mass_matrix([0, 0], params=bad),
        lambda: m.energy([0, 0], [0, 0], params=bad),
        lambda: m.pose("lower", [0, 0], params=bad),
    ):
        with pytest.raises(art.InputError, match="the mass of body 'upper' would be -1 kg"):
            call()
    with pytest.raises(art.InputError, match=r"row \(2,\) of the batch"):
        art.rollout(m, 0.01, params={"m": np.array([1.0, 2.0, -1.0])})


def test_good_values_pass():
    """No payload, flat bodies, empty batches, and boxes of values whose corners are bad but whose rows are not."""
    m, z = arm(), np.zeros(2)
    m.gravity(z, params={"m": 0.0})
    m.gravity(z, params={"iz": 0.2})  # a flat plate: the largest moment is the sum of the others
    assert m.gravity(z, params={"m": np.zeros(0)}).shape == (0, 2)
    i, iz = np.array([0.1, 1.0]), np.array([0.2, 2.0])
    assert m.gravity(z, params={"i": i, "iz": iz}).shape == (2, 2)
    with pytest.raises(art.InputError, match=r"'i' = 0.1, 'iz' = 2 \(row \(1,\)"):
        m.gravity(z, params={"i": i[[0, 0]], "iz": iz})


def test_inertias_are_those_of_masses():
    """Clouds of points always pass; matrices with a negative moment or a moment above the sum of the others never do."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        r = rng.normal(size=(5, 3)) * rng.uniform(0, 1, 3)
        r -= r.mean(axis=0)
        J = np.einsum("pi,pi->", r, r) * np.eye(3) - r.T @ r
        spin = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        for moments, good in (
            (None, True),
            ((1, 1, 2.1), False),
            ((-0.01, 1, 1), False),
            ((1, 2, 2.5), True),
        ):
            I = J if moments is None else spin @ np.diag(moments) @ spin.T
            assert is_inertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]) == good


def floating() -> art.Mechanism:
    m = art.Mechanism("floating").body("hull", 1.0, (0, 0, 0.1), (0.1, 0.1, 0.1))
    m.joint("base", art.Free(), "ground", "hull").body("ball", 1.0, (0, 0, 0.1), (0.1, 0.1, 0.1))
    return m.joint("socket", art.Spherical(), "hull", "ball")


def test_quaternions_of_zeros():
    m = floating()
    q, v = m.neutral, np.zeros(m.nv)
    q[7:11] = 0.0
    text = "joint 'socket' has a quaternion of zeros"
    for call in (
        lambda: m.forward_dynamics(q, v, v),
        lambda: m.pose("ball", q),
        lambda: m.gravity(q),
        lambda: m.energy(q, v),
        lambda: m.mass_matrix(q),
        lambda: m.integrate_position(q, v),
        lambda: m.position_rate(q, v),
        lambda: m.derivatives(q, v, v),
        lambda: art.simulate(m, 0.01, q0=q),
        lambda: art.equilibrium(m, q),
    ):
        with pytest.raises(art.InputError, match=text):
            call()
    with pytest.raises(art.InputError, match=r"'base' has a quaternion of zeros \(row \(1,\) of the batch\)"):
        art.rollout(m, 0.01, q0=np.stack([m.neutral, 0 * q]))
    with pytest.raises(
        art.InputError, match=r"'socket' has a quaternion of zeros \(row \(2,\) of the batch\)"
    ):
        m.gravity(np.stack([m.neutral, m.neutral, q]))
    turned = m.neutral
    turned[:4] = (0, 1, 0, 0)  # half a turn has w = 0
    assert np.isfinite(m.gravity(turned)).all()
