"""Flexible bodies are nodes of the tree of the rigid ones: rigid links cost the same, and derivatives are recursive."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_cost import arm

import articulus as art
import zoo
from articulus.dynamics.constraints import by_displacement
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import Tree
from articulus.model.mechanism.modes import LEVELS
from flexible_zoo import random_modes, soften, state


def mixed(level: str) -> art.Mechanism:
    """Return a tree with rotors on stations and on frames, bodies fixed to both, and flexible bodies behind fixed joints."""
    rng, m = np.random.default_rng(8), art.Mechanism("mixed")
    rigid = {"mass": 1.3, "com": (0.2, 0.1, -0.1), "inertia": (0.2, 0.3, 0.25, 0.02, 0.01, 0.03)}
    place = art.Pose((0.1, 0.2, -0.1), rpy=(0.4, -0.3, 0.8))
    for name in ("trunk", "boom", "mast"):
        m.flexible(name, random_modes(rng, 2, level))
    for name in ("load", "hook", "wrist"):
        m.body(name, **rigid)
    m.joint("base", art.Free(), "ground", "trunk", child_at=place)
    m.joint("weld", art.Fixed(), "trunk", "boom", node="s0", at=place)
    m.joint("hold", art.Fixed(), "boom", "load", node="s1", at=place)
    m.joint("keep", art.Fixed(), "trunk", "hook", at=place)
    m.joint(
        "turn", art.Universal(), "trunk", "mast", node="s1", at=place, child_at=place, armature=(0.1, 0.2)
    )
    m.joint(
        "drive",
        art.Revolute(axis=(0, 1, 0)),
        "mast",
        "wrist",
        node="s0",
        at=place,
        rotor=art.Rotor(0.01, 9.0),
    )
    return m


@pytest.mark.parametrize("level", LEVELS)
def test_derivatives_are_those_of_the_recursion(level: str) -> None:
    """Columns and pairs give what CasADi finds by differentiation of inverse dynamics, to rounding."""
    mech = mixed(level)
    tree, nv = Tree(mech.description, regroup=True), mech.nv
    vdot = ca.SX.sym("vdot", nv)
    tau = newton_euler(Inline(tree.inertial), tree.v, vdot).tau - passive_forces(tree, tree.v)
    slopes = [by_displacement(tree, tau), ca.jacobian(tau, tree.v), ca.jacobian(tau, vdot)]
    expected = ca.Function("slopes", [tree.q, tree.v, vdot], slopes)
    s = state(mech, 5)
    found = mech.function("inverse_dynamics_derivatives")(s.q, s.v, s.vdot)
    for a, b in zip(found, expected(s.q, s.v, s.vdot)):
        assert_allclose(np.array(a), np.array(b), rtol=0, atol=1e-12 * np.abs(np.array(b)).max())


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "energy"])
def test_a_further_rigid_link_costs_what_it_costs_on_a_rigid_arm(name: str) -> None:
    """With eight and nine links; those far from the flexible one, which is the first, are the same expressions.

    The mass matrix has an entry more for each mode in front of the new link: the force on the station times its direction.
    """
    costs = []
    for soft in (False, True):
        counts = []
        for links in (8, 9):
            mech = zoo.random_mechanism(6, links, [art.Revolute], branching=0.0)
            if soft:
                d = mech.description
                first = art.mechanism.Body(d.bodies[0].name, modes=random_modes(np.random.default_rng(1), 2))
                joints = (
                    d.connections[0],
                    dataclasses.replace(d.connections[1], node="s0"),
                    *d.connections[2:],
                )
                mech = art.Mechanism.from_description(
                    dataclasses.replace(d, bodies=(first, *d.bodies[1:]), connections=joints)
                )
            counts.append(mech.function(name).n_instructions())
        costs.append(counts[1] - counts[0])
    allowed = 100 if name == "mass_matrix" else 0
    assert costs[1] <= costs[0] + allowed


def test_derivatives_grow_with_the_pairs_of_links() -> None:
    """Entries between pairs of links: the operations are a quadratic polynomial of the number of links."""
    counts = [arm(n).function("inverse_dynamics_derivatives").n_instructions() for n in (3, 6, 9, 12)]
    first = np.diff(counts)
    second = np.diff(first)
    assert second[1] <= 1.05 * second[0]


def test_differentiation_of_the_recursion_would_cost_more() -> None:
    tree = Tree(arm(6).description, regroup=True)
    vdot = ca.SX.sym("vdot", tree.description.nv)
    tau = newton_euler(Inline(tree), tree.v, vdot).tau
    slopes = [by_displacement(tree, tau), ca.jacobian(tau, tree.v), mass_matrix(tree)]
    plain = ca.Function("slopes", [tree.q, tree.v, vdot], slopes).n_instructions()
    assert 2 * arm(6).function("inverse_dynamics_derivatives").n_instructions() < plain


def test_bodies_fixed_to_a_station_are_part_of_its_node() -> None:
    tree = Tree(mixed("consistent").description)
    carried = {name: tree.frame(name)[0] for name in ("trunk", "boom", "load", "hook")}
    assert carried["hook"] == carried["trunk"]
    assert tree.stations[carried["load"]]
    assert tree.parents[carried["load"]] == carried["boom"]


def test_softened_trees_have_no_node_for_stations_that_carry_nothing() -> None:
    mech = soften(zoo.random_mechanism(21, 3, [art.Revolute], branching=0.0), 5)
    used = {(c.parent, c.node) for c in mech.description.connections if c.node}
    used |= {(f.body, f.node) for f in mech.description.frames if f.node}
    assert sum(Tree(mech.description).stations) == len(used)
