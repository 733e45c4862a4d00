"""Three forms of forward dynamics, two of inverse dynamics and of the derivatives, from one set of equations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import zoo
from articulus.dynamics import composite, forward, function
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.passes import Inline
from articulus.dynamics.rolled import ROLL_FROM, rolled
from articulus.dynamics.tree import Tree

PLAIN = [name for name in zoo.ALL if not zoo.get(name).parameters]


def states(mech):
    s = zoo.random_state(mech, np.random.default_rng(5))
    return s.q, s.v, s.vdot


def numbers(expression: ca.SX, symbols: list[ca.SX], values: list) -> np.ndarray:
    return np.array(ca.Function("f", symbols, [expression])(*values))


@pytest.mark.parametrize("name", PLAIN)
def test_articulated_bodies_and_factored_mass_matrix_agree(name):
    """Tolerance: both solve with M, so the difference grows with its condition."""
    mech = zoo.get(name)
    tree = Tree(mech.description, regroup=True)
    tau = ca.SX.sym("tau", mech.nv)
    run, zero = Inline(tree), ca.SX.zeros(mech.nv)
    M = mass_matrix(tree)
    ways = [
        forward.forward_dynamics(run, tree.v, tau),
        composite.solve_factored(tree, M, tau - newton_euler(run, tree.v, zero).tau),
    ]
    values = list(states(mech))
    symbols = [tree.q, tree.v, tau]
    one, other = (numbers(way, symbols, values) for way in ways)
    condition = np.linalg.cond(numbers(M, symbols, values))
    assert np.abs(one - other).max() <= 1e-14 * condition * max(1.0, np.abs(one).max())


@pytest.mark.parametrize("quantity", ROLL_FROM)
@pytest.mark.parametrize("name", PLAIN)
def test_calls_and_written_out_passes_agree(name, quantity):
    """The same passes in two arrangements; sums associate differently, so the difference is rounding."""
    mech = zoo.get(name)
    if mech.nv == 0:
        pytest.skip("nothing moves")
    called = rolled(Tree(mech.description, regroup=True), quantity)
    written = function(mech.description, quantity)
    values = states(mech)[: written.n_in()]
    condition = np.linalg.cond(np.array(function(mech.description, "mass_matrix")(values[0])))
    for a, b in zip(called.call(list(values)), written.call(list(values))):
        scale = max(1.0, np.abs(np.array(b)).max())
        assert np.abs(np.array(a) - np.array(b)).max() <= 1e-13 * condition * scale
