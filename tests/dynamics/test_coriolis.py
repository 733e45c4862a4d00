"""The Coriolis matrix: its forces are those of inverse dynamics, and dM/dt - 2 C is skew-symmetric."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import coupled_zoo
import flexible_zoo
import zoo
from articulus.dynamics.coriolis import coriolis_matrix_of
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.tree import Tree
from flexible_zoo import stencil
from zoo import ask

NAMES = ("every_joint", "geared_tree", "spacecraft", "balls", "parameters_rpy")


def frictionless(mech: art.Mechanism) -> art.Mechanism:
    bare = [dataclasses.replace(c, damping=(), coulomb=()) for c in mech.description.connections]
    bodies = [
        b
        if b.modes is None
        else dataclasses.replace(b, modes=dataclasses.replace(b.modes, damping=0 * b.modes.ff))
        for b in mech.description.bodies
    ]
    d = dataclasses.replace(mech.description, connections=tuple(bare), bodies=tuple(bodies))
    return art.Mechanism.from_description(d)


def soft() -> art.Mechanism:
    joints = [art.Revolute, art.Spherical, art.Prismatic]
    rigid = zoo.random_mechanism(61, 3, joints, rotors=1.0, armature=True)
    return flexible_zoo.soften(rigid, 62, damped=False)


def mass_rate(mech: art.Mechanism, s: zoo.State) -> np.ndarray:
    """Return dM/dt along the motion, by differences of order four: 1e-12 / 1e-3 of rounding."""
    return stencil(lambda h: ask(mech, "mass_matrix", ask(mech, "integrate_position", s.q, h * s.v)), h=2e-3)


@pytest.mark.parametrize("name", [*NAMES, "flexible"])
def test_the_two_laws_of_the_coriolis_matrix(name: str) -> None:
    mech = soft() if name == "flexible" else frictionless(zoo.get(name))
    s = flexible_zoo.state(mech, 8) if name == "flexible" else zoo.random_state(mech, 8)
    C = ask(mech, "coriolis_matrix", s.q, s.v)
    forces = ask(mech, "bias", s.q, s.v) - ask(mech, "bias", s.q, 0 * s.v)
    size = np.abs(C).max()
    assert_allclose(C @ s.v, forces, atol=1e-11 * max(size, np.abs(forces).max()))
    assert_allclose(C + C.T, mass_rate(mech, s), atol=3e-8 * size)  # the stencil's h^4


@pytest.mark.parametrize("name", ["every_joint", "geared_tree", "balls"])
def test_the_recursion_and_the_derivatives_of_the_mass_matrix_give_the_same_work(name: str) -> None:
    """C is not unique, but its part along v, and its symmetric part, are."""
    mech = frictionless(zoo.get(name))
    tree, s = Tree(mech.description), zoo.random_state(mech, 9)
    expression = coriolis_matrix_of(tree, mass_matrix(tree), tree.v)
    other = np.array(ca.Function("C", [tree.q, tree.v], [expression])(s.q, s.v))
    C = ask(mech, "coriolis_matrix", s.q, s.v)
    assert_allclose(other @ s.v, C @ s.v, atol=1e-11 * np.abs(C).max())
    assert_allclose(other + other.T, C + C.T, atol=1e-11 * np.abs(C).max())


@pytest.mark.parametrize("name", coupled_zoo.ALL)
def test_coupled_joints(name: str) -> None:
    """C, the regressor and the differences of positions of mechanisms with joints that follow others."""
    mech = frictionless(coupled_zoo.get(name).coupled)
    s = (flexible_zoo.state if mech.description.flexible else zoo.random_state)(mech, 10)
    C = ask(mech, "coriolis_matrix", s.q, s.v)
    forces = ask(mech, "bias", s.q, s.v) - ask(mech, "bias", s.q, 0 * s.v)
    size = max(1.0, np.abs(C).max())
    assert_allclose(C @ s.v, forces, atol=1e-11 * max(size, np.abs(forces).max()))
    assert_allclose(C + C.T, mass_rate(mech, s), atol=1e-7 * size)
    end = ask(mech, "integrate_position", s.q, 0.1 * s.v)
    assert_allclose(ask(mech, "position_difference", s.q, end), 0.1 * s.v, atol=1e-13)
    J = ask(mech, "relative_jacobian", s.q, frames=("tool", "ground"))
    assert_allclose(J, ask(mech, "jacobian", s.q, frames=("tool",)), atol=1e-11)
