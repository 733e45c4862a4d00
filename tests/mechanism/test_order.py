"""The order of joints, coordinates and names."""

from __future__ import annotations

import itertools

import casadi as ca
import numpy as np
import pytest

import articulus as art
import zoo
from articulus.model.mechanism import ALL_JOINTS, Body, Connection, Description
from zoo import ask


def tree(order, parents):
    """Return a mechanism whose joints are declared in the given order."""
    m = art.Mechanism("tree")
    for name in order:
        k = 1 + ord(name) - ord("a")
        m.body(name, float(k), (0.1 * k, 0.0, 0.1), (0.2 * k,) * 3)
        m.joint(f"j{name}", art.Revolute((0, 1, 0)), parents[name], name, at=(0.0, 0.1 * k, 0.2))
    return m


PARENTS = {"a": "ground", "b": "a", "c": "a", "d": "b", "e": "ground"}


def test_declaration_order_is_kept_where_it_can_be():
    assert tree("abcde", PARENTS).joint_names == ("ja", "jb", "jc", "jd", "je")
    assert tree("eabcd", PARENTS).joint_names == ("je", "ja", "jb", "jc", "jd")
    assert tree("acbed", PARENTS).joint_names == ("ja", "jc", "jb", "je", "jd")


@pytest.mark.parametrize("order", list(itertools.permutations("abcde"))[::7])
def test_any_order_of_declaration_gives_the_same_dynamics(order):
    """Parents may be declared after their children; results are those of the names, not of the order."""
    m, plain = tree(order, PARENTS), tree("abcde", PARENTS)
    names = m.joint_names
    assert sorted(names) == sorted(plain.joint_names)
    for name, parent in PARENTS.items():
        if parent != "ground":
            assert names.index(f"j{parent}") < names.index(f"j{name}")
    s = zoo.random_state(plain, 81)
    at = [plain.joint_names.index(n) for n in names]
    expected = ask(plain, "inverse_dynamics", s.q, s.v, s.vdot)
    np.testing.assert_allclose(
        ask(m, "inverse_dynamics", s.q[at], s.v[at], s.vdot[at]), expected[at], rtol=1e-12
    )


def test_several_roots_do_not_feel_each_other():
    m = zoo.get("several_roots")
    assert sum(c.parent == "ground" for c in m.description.connections) == 3
    owner = {}
    for c in m.description.connections:
        owner[c.child] = c.child if c.parent == "ground" else owner[c.parent]
    M = ask(m, "mass_matrix", zoo.random_state(m, 82).q)
    root = [owner[c.child] for c in m.description.connections for _ in range(c.joint.nv)]
    apart = np.array([[a != b for b in root] for a in root])
    assert apart.any()
    assert np.array_equal(M[apart], np.zeros(apart.sum()))


def test_names_of_coordinates():
    m = zoo.get("every_joint")
    assert len(m.q_names) == m.nq == len(m.neutral)
    assert len(m.v_names) == m.nv
    assert len(set(m.q_names)) == m.nq
    assert len(set(m.v_names)) == m.nv
    free = next(c.name for c in m.description.connections if isinstance(c.joint, art.Free))
    at = m.description.q_slices[free]
    assert m.q_names[at] == tuple(f"{free}.{k}" for k in ("qw", "qx", "qy", "qz", "x", "y", "z"))
    at = m.description.v_slices[free]
    assert m.v_names[at] == tuple(f"{free}.{k}" for k in ("wx", "wy", "wz", "vx", "vy", "vz"))


@pytest.mark.parametrize("kind", ALL_JOINTS, ids=lambda k: k.type_name)
def test_joint_types_are_consistent(kind):
    joint = kind()
    assert len(joint.coordinate_names) == joint.nq
    assert len(joint.velocity_names) == len(joint.rotational) == joint.nv
    assert joint.neutral().shape == (joint.nq,)
    assert sum(part.nv for part in joint.elementary()) == joint.nv
    assert sum(part.nq for part in joint.elementary()) == joint.nq
    pose = np.array(ca.DM(joint.transform(ca.SX(joint.neutral())).matrix()))
    assert np.array_equal(pose, np.eye(4))


def test_type_names_are_unique():
    names = [kind.type_name for kind in ALL_JOINTS]
    assert len(set(names)) == len(names)


def test_fingerprint_tells_dynamics_apart():
    one, same, other = (zoo.random_mechanism(seed, 3) for seed in (1, 1, 2))
    assert one.description.fingerprint == same.description.fingerprint
    assert one.description.fingerprint != other.description.fingerprint


def test_neutral_is_a_copy():
    m = zoo.get("balls")
    m.neutral[:] = 7.0
    assert m.neutral[0] == 1.0


def test_long_chain_is_sorted_in_reasonable_time():
    """Ten thousand bodies, declared from the tip to the root: the sort is not quadratic."""
    n = 10_000
    inboard_last = list(reversed(range(n)))
    bodies = tuple(Body(f"b{i}", 1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0)) for i in inboard_last)
    joints = tuple(
        Connection(f"j{i}", art.Revolute(), f"b{i - 1}" if i else "ground", f"b{i}") for i in inboard_last
    )
    d = Description.build("long", bodies, joints)
    assert d.connections[0].name == "j0"
    assert d.connections[-1].name == f"j{n - 1}"
