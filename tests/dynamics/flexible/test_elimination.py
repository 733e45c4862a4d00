"""Derivatives of forward dynamics by elimination: those of products with the inverse mass matrix, at less cost."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from test_cost import arm as spatial_arm
from test_one_tree import mixed

import articulus as art
import zoo
from articulus import kernel, structure
from articulus.dynamics.flexible.derivatives import WrittenDerivatives
from articulus.dynamics.quantities import compilable
from articulus.dynamics.tree import tree_of
from flexible_zoo import soften, state


def planar_arm(links: int, modes: int) -> art.Mechanism:
    """Return an arm in a plane, with gravity, springs and friction at its joints."""
    link = structure.beam_body(1.0, EI=100.0, mass_per_length=1.0, modes=modes, elements=6)
    m = art.Mechanism("planar arm", gravity=(0, -9.81, 0))
    for i in range(links):
        m.flexible(f"link{i}", link)
        parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
        joint = art.Revolute(axis=(0, 0, 1))
        m.joint(f"joint{i}", joint, parent, f"link{i}", node=node, stiffness=3.0, damping=0.2)
    return m


MECHANISMS = {
    "planar": planar_arm(2, 4),
    "consistent": mixed("consistent"),
    "ruthless": mixed("ruthless"),
    "parameters": soften(zoo.get("parameters_rpy"), 3),
}


def forms(m: art.Mechanism) -> tuple[ca.Function, ca.Function]:
    """Return derivatives of forward dynamics by elimination, and by products with M^-1."""
    tree, tau = tree_of(m.description, True, True).inertial, ca.SX.sym("tau", m.nv)
    written = WrittenDerivatives(tree, tau)
    by_q, by_v, inverse = written.inverse_dynamics()
    products = -ca.mtimes(inverse, by_q), -ca.mtimes(inverse, by_v), inverse
    symbols = [tree.q, tree.v, tree.p, tau]
    eliminated, multiplied = (
        ca.Function("derivatives", symbols, ca.cse([ca.densify(x) for x in each]))
        for each in (written.forward_dynamics(), products)
    )
    return eliminated, multiplied


@pytest.mark.parametrize("name", MECHANISMS)
def test_elimination_gives_the_numbers_of_products_with_the_inverse(name: str) -> None:
    """Both solve with M: the difference is rounding times its condition."""
    m = MECHANISMS[name]
    s = state(m, 5)
    eliminated, multiplied = forms(m)
    values = [s.q, s.v, [*m.parameters.values()], s.tau]
    condition = np.linalg.cond(m.mass_matrix(s.q))
    for a, b in zip(map(np.array, eliminated.call(values)), map(np.array, multiplied.call(values))):
        assert np.abs(a - b).max() <= 1e-13 * condition * np.abs(b).max()


def test_native_code_of_a_planar_arm_against_differences_of_forward_dynamics() -> None:
    """Accelerations are quadratic in the rates, so that central differences are exact for any step; of positions they are to its square."""
    m = MECHANISMS["planar"]
    s = state(m, 8)
    q, v, tau = (np.array(x, float) for x in (s.q, s.v, s.tau))
    by_q, by_v, inverse = m.derivatives(q, v, tau)
    small, large = 1e-5 * np.eye(m.nv), np.eye(m.nv)
    columns = [
        (m.forward_dynamics(q + small, v, tau) - m.forward_dynamics(q - small, v, tau)) / 2e-5,
        (m.forward_dynamics(q, v + large, tau) - m.forward_dynamics(q, v - large, tau)) / 2,
    ]
    for found, differences in zip((by_q, by_v), columns):
        np.testing.assert_allclose(found, differences.T, rtol=0, atol=1e-6 * np.abs(found).max())
    np.testing.assert_allclose(m.mass_matrix(q) @ inverse, np.eye(m.nv), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("links", "modes", "part"), [(2, 4, 0.92), (4, 4, 0.6)])
def test_planar_arms_take_fewer_operations(links: int, modes: int, part: float) -> None:
    m = planar_arm(links, modes)
    products = kernel.compile(forms(m)[1]).flops
    assert kernel.compile(compilable(m.description, "derivatives")).flops < part * products


def test_short_arms_in_space_keep_the_products() -> None:
    tree = tree_of(spatial_arm(2).description, True, True).inertial
    assert not WrittenDerivatives(tree, ca.SX.sym("tau", 8)).eliminates()


def test_operations_grow_with_the_square_of_the_links() -> None:
    """Products with M^-1 would grow with the cube: eight times for twice the links."""
    few, many = (kernel.compile(compilable(spatial_arm(n).description, "derivatives")).flops for n in (9, 18))
    assert many < 4 * few
