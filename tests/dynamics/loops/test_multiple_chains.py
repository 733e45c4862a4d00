"""Chains on one member against the whole system of equations in NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import articulus as art
import zoo
from articulus.dynamics.loops.contact import (
    HARD_POINT,
    HINGE,
    RIGID,
    SLIDING_LINE,
    SLIDING_PLANE,
    SLIDING_POINT,
    SOFT_FINGER,
    GeneralJoint,
)
from articulus.dynamics.loops.multiple_chains import Grasp, multiple_chains, require_grasp
from articulus.errors import InputError, NumericalError

ALL_CONTACTS = (RIGID, HINGE, SOFT_FINGER, HARD_POINT, SLIDING_PLANE, SLIDING_LINE, SLIDING_POINT)
OBLIQUE = GeneralJoint("oblique", ((0.6, 0.0, 0.0, 0.0, 0.8, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
GRASPS = {
    "three rigid": [(6, RIGID)] * 3,
    "three hard points": [(6, HARD_POINT)] * 3,
    "mixed lengths": [(7, RIGID), (6, HARD_POINT), (5, HARD_POINT)],
    "short fingers": [(3, HARD_POINT)] * 3,
    "every contact": [(contact.n_c, contact) for contact in ALL_CONTACTS],
    "oblique": [(6, OBLIQUE), (4, SOFT_FINGER)],
}


@functools.cache
def chain(n: int, seed: int) -> art.Mechanism:
    return zoo.random_mechanism(
        seed, bodies=n, joints=(art.Revolute,), branching=0.0, friction=True, name=f"chain {seed}"
    )


@functools.cache
def held() -> art.Mechanism:
    mech = art.Mechanism("object", gravity=(0.7, -1.1, -9.5))
    mech.body("box", mass=5.0, com=(0.1, 0.0, 0.05), inertia=(0.3, 0.4, 0.5))
    return mech.joint("flight", art.Free(), "ground", "box")


def skew(p: np.ndarray) -> np.ndarray:
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def contact_rows(mech: art.Mechanism, contact: GeneralJoint, q0: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the rows phi^c' (velocity of the member at the tip - velocity of the tip) by v_0 and v, with phi below."""
    tip, at = zoo.ask(mech, "pose", q, frames=("tool",)), zoo.ask(held(), "pose", q0, frames=("box",))
    shift = np.eye(6)
    shift[3:, :3] = -skew(tip[:3, 3] - at[:3, 3])
    axes = np.kron(np.eye(2), tip[:3, :3]) @ np.hstack([contact.constraint_space(), contact.motion_space()])
    J0 = shift @ zoo.ask(held(), "jacobian", q0, frames=("box",))
    return axes.T @ np.hstack([J0, -zoo.ask(mech, "jacobian", q, frames=("tool",))])


def whole_system(
    mechs: list[art.Mechanism], contacts: list[GeneralJoint], args: list[np.ndarray]
) -> np.ndarray:
    """Return all accelerations from one dense system; the rates of the rows by central differences."""
    q0, v0, tau0 = args[:3]
    sizes = [6, *(m.nv for m in mechs)]
    at = np.cumsum([0, *sizes])
    n, m = at[-1], sum(c.n_c for c in contacts)
    M, f, G, gamma = np.zeros((n, n)), np.zeros(n), np.zeros((m, n)), np.zeros(m)
    M[:6, :6], f[:6] = zoo.ask(held(), "mass_matrix", q0), tau0 - zoo.ask(held(), "bias", q0, v0)
    row, e = 0, 1e-5
    for k, (mech, contact) in enumerate(zip(mechs, contacts)):
        q, v, tau, h = args[3 + 4 * k : 7 + 4 * k]
        own, rows = np.r_[0:6, at[k + 1] : at[k + 2]], slice(row, row + contact.n_c)
        M[np.ix_(own[6:], own[6:])] = zoo.ask(mech, "mass_matrix", q)
        f[own[6:]] += tau - zoo.ask(mech, "bias", q, v)
        A = contact_rows(mech, contact, q0, q)
        G[rows, own] = A[: contact.n_c]
        f[own] += A[contact.n_c :].T @ h
        there = [
            contact_rows(mech, contact, zoo.ask(held(), "integrate_position", q0, s * v0), q + s * v)
            for s in (e, -e)
        ]
        gamma[rows] = ((there[0] - there[1]) / (2 * e) @ np.concatenate([v0, v]))[: contact.n_c]
        row += contact.n_c
    return np.linalg.solve(np.block([[M, G.T], [G, np.zeros((m, m))]]), np.concatenate([f, -gamma]))[:n]


def random_arguments(mechs: list[art.Mechanism], contacts: list[GeneralJoint]) -> list[np.ndarray]:
    s = zoo.random_state(held(), 1)
    out = [s.q, s.v, s.tau]
    for k, (mech, contact) in enumerate(zip(mechs, contacts)):
        s = zoo.random_state(mech, k)
        out += [s.q, s.v, s.tau, np.random.default_rng(k).normal(size=6 - contact.n_c)]
    return out


@pytest.mark.parametrize("name", GRASPS)
def test_accelerations_are_those_of_the_whole_system(name: str) -> None:
    mechs = [chain(n, seed) for seed, (n, _) in enumerate(GRASPS[name])]
    contacts = [contact for _, contact in GRASPS[name]]
    grasps = [Grasp(m.description, "tool", c) for m, c in zip(mechs, contacts)]
    args = random_arguments(mechs, contacts)
    function = multiple_chains(held().description, "box", grasps)
    found = dict(zip(function.name_out(), function.call(args)))
    vdot = np.concatenate([np.array(found[f"vdot_{k}"]).ravel() for k in range(len(mechs) + 1)])
    expected = whole_system(mechs, contacts, args)
    # the rates of the rows come from differences over 1e-5 s: about 1e-9 of their size
    np.testing.assert_allclose(vdot, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_contact_forces_move_the_member() -> None:
    contacts = [RIGID, SOFT_FINGER]
    mechs = [chain(6, 0), chain(6, 1)]
    args = random_arguments(mechs, contacts)
    function = multiple_chains(
        held().description, "box", [Grasp(m.description, "tool", c) for m, c in zip(mechs, contacts)]
    )
    found = dict(zip(function.name_out(), (np.array(x).ravel() for x in function.call(args))))
    wrenches = {}
    for k, mech in enumerate(mechs, 1):
        tip = zoo.ask(mech, "pose", args[4 * k - 1], frames=("tool",))[:3, 3]
        f = found[f"f_{k}"]
        r = tip - args[0][4:]
        wrenches[k] = np.concatenate([f[:3] + np.cross(r, f[3:]), f[3:]])
    total = {"box": wrenches[1] + wrenches[2]}
    expected = zoo.ask(held(), "forward_dynamics", *args[:3], wrenches=total)
    np.testing.assert_allclose(found["vdot_0"], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_cost_is_linear_in_chains_and_in_their_length() -> None:
    def operations(m: int, n: int) -> int:
        grasps = [Grasp(chain(n, 0).description, "tool", HARD_POINT)] * m
        return multiple_chains(held().description, "box", grasps).n_instructions()

    by_chains = np.diff([operations(m, 4) for m in (1, 2, 3)])
    assert by_chains.max() - by_chains.min() <= 2  # the same work again for every further chain
    by_length = np.diff([operations(1, n) for n in (6, 12, 18)])
    assert by_length.max() < 1.1 * by_length.min()  # bodies differ in how many numbers cancel


def test_a_chain_with_too_few_dofs_is_told_when_it_is_built() -> None:
    text = r"chain 'chain 0': 3 degrees of freedom behind tip 'tool' for the rigid contact, which stops 6 motions"
    with pytest.raises(InputError, match=text):
        Grasp(chain(3, 0).description, "tool", RIGID)


def test_chains_share_the_gravity_of_what_they_hold() -> None:
    other = art.load("puma600")
    with pytest.raises(
        InputError, match=r"chain 1, 'puma600': gravity .*; expected that of the member 'object'"
    ):
        multiple_chains(held().description, "box", [Grasp(other.description, "tool", HARD_POINT)])


def test_a_chain_at_a_singular_position_is_told() -> None:
    arm = art.Mechanism("planar arm")
    parent = "ground"
    for i in range(3):
        arm.body(f"b{i}", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        arm.joint(f"j{i}", art.Revolute((0, 0, 1)), parent, f"b{i}", at=(1.0 if i else 0.0, 0, 0))
        parent = f"b{i}"
    in_plane = GeneralJoint("in-plane point", ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 1, 0)))
    grasp = Grasp(arm.frame("tip", "b2", at=(1.0, 0, 0)).description, "tip", in_plane)
    require_grasp(grasp, np.array([0.1, 0.5, -0.3]))
    with pytest.raises(
        NumericalError, match="rank 1 of 2 rows: chain 'planar arm' has too few degrees of freedom here"
    ):
        require_grasp(grasp, np.zeros(3))
    with pytest.raises(NumericalError, match="direction 3 of the hard point contact"):
        require_grasp(Grasp(arm.description, "tip", HARD_POINT), np.array([0.1, 0.5, -0.3]))


def test_contacts_split_the_six_motions() -> None:
    for contact in (*ALL_CONTACTS, OBLIQUE):
        both = np.hstack([contact.constraint_space(), contact.motion_space()])
        np.testing.assert_allclose(both.T @ both, np.eye(6), atol=1e-15)
    assert {c.n_c for c in ALL_CONTACTS} == {1, 2, 3, 4, 5, 6}
    assert SLIDING_POINT.motion_space().shape == (6, 5)


@pytest.mark.parametrize("rows", [(), ((1.0, 0, 0),), ((2.0, 0, 0, 0, 0, 0),), np.ones((7, 6)) / 6])
def test_a_contact_that_is_none_is_refused(rows: tuple) -> None:
    with pytest.raises(InputError, match="contact 'odd'"):
        GeneralJoint("odd", tuple(map(tuple, rows)))
