"""Three forms of forward dynamics, two of inverse dynamics and of the derivatives, from one set of equations."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest

import articulus as art
import zoo
from articulus.dynamics import composite, forward
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.quantities import QUANTITIES, RECURSIVE_FROM, compilable, form, function
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import Tree
from selection import EVERYTHING, in_turn

ROLLED = [name for name, row in QUANTITIES.items() if row.rolled]
PLAIN = [name for name in zoo.ALL if not zoo.get(name).parameters]
GENERAL = ("every_joint", "several_roots", "parameters_quaternion")
"""Mechanisms for every quantity. All quantities are made of the same passes: of the other mechanisms each has two, in turn."""
OTHERS = [name for name in zoo.ALL if name not in GENERAL]
ARRANGED = [
    pytest.param(name, quantity, id=f"{name}-{quantity}")
    for turn, quantity in enumerate(ROLLED)
    for name in (*GENERAL, *in_turn(OTHERS, turn, 2))
]


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


def arguments(mech, f: ca.Function, q, v, rates) -> list:
    """Return values for every input; parameters are not those that the mechanism starts from."""
    rng = np.random.default_rng(6)
    known = {"q": q, "v": v, "p": np.array(list(mech.parameters.values())) * 1.03}
    given = [known.get(f.name_in(i), rates) for i in range(f.n_in()) if not f.name_in(i).startswith("wrench")]
    return [*given, *(rng.normal(size=6) for _ in range(f.n_in() - len(given)))]


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(("name", "quantity"), ARRANGED)
def test_calls_and_written_out_passes_agree(name, quantity):
    """The same passes in two arrangements, with parameters and wrenches where there are any.

    Sums associate differently, so the difference is rounding.
    """
    mech, row = zoo.get(name), QUANTITIES[quantity]
    if mech.nv == 0:
        pytest.skip("nothing moves")
    wrenches = ("tool", "bench", "b0", "camera") if row.external else ()
    frames = ("tool", "b0")[: row.frames]
    tree = Tree(mech.description, row.merge_fixed, row.regroup)
    called = form(tree, quantity, frames, wrenches, calls=True)
    written = function(mech.description, quantity, frames, wrenches)
    assert called.name_in() == written.name_in()
    values = arguments(mech, written, *states(mech))
    condition = np.linalg.cond(zoo.ask(mech, "mass_matrix", values[0]))
    for a, b in zip(called.call(values), written.call(values)):
        scale = np.abs(np.array(b)).max(initial=1.0)
        assert np.abs(np.array(a) - np.array(b)).max(initial=0.0) <= 1e-13 * condition * scale


@pytest.mark.parametrize("name", zoo.ALL if EVERYTHING else zoo.SMALL)
def test_derivatives_by_recursion_are_those_written_out(name, monkeypatch):
    """The matrices of long mechanisms, on trees with branches, several roots, rotors and parameters."""
    monkeypatch.setitem(
        QUANTITIES, "derivatives", dataclasses.replace(QUANTITIES["derivatives"], recursive_from=0)
    )
    test_calls_and_written_out_passes_agree(name, "derivatives")


def long_chain(parameters: bool, links: int = 30) -> art.Mechanism:
    mech, rng = art.Mechanism("chain"), np.random.default_rng(7)
    for i in range(links):
        axis = rng.normal(size=3)
        mass, damping, x = rng.uniform(0.5, 1.5, 3)
        if parameters and i % 10 == 3:
            mass, damping, x = (
                art.Parameter(f"{kind}{i}", number)
                for kind, number in (("mass", mass), ("damping", damping), ("x", x))
            )
        mech.body(f"b{i}", mass, (0.1, 0.2, 0.0), (0.2, 0.3, 0.25))
        joint = art.Revolute(axis=tuple(axis / np.linalg.norm(axis)))
        mech.joint(f"j{i}", joint, f"b{i - 1}" if i else "ground", f"b{i}", at=(x, 0, 0.1), damping=damping)
    return mech


@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_dynamics", "reactions"])
def test_long_chains_with_parameters_and_wrenches_in_native_code(quantity):
    """The code of calls gives the results of the same chain with its numbers written in; a batch has the bits of its rows.

    Tolerance of forward dynamics: the residual of the equations of motion is rounding, 1e-10 of the largest joint force.
    """
    mech, plain = long_chain(True), long_chain(False)
    q, v, x = np.random.default_rng(8).normal(size=(3, 5, 30)) * 0.3
    wrenches = {"b12": np.arange(6.0), "b29": np.ones(6)}
    found = getattr(mech, quantity)(q, v, x, wrenches=wrenches)
    rows = [getattr(mech, quantity)(*row, wrenches=wrenches) for row in zip(q, v, x)]
    assert np.array_equal(found, rows)
    for k in range(5):
        vdot = found[k] if quantity == "forward_dynamics" else x[k]
        asked = "inverse_dynamics" if quantity == "forward_dynamics" else quantity
        expected = zoo.ask(plain, asked, q[k], v[k], vdot, wrenches=wrenches)
        got = x[k] if quantity == "forward_dynamics" else found[k]
        scale = np.abs(zoo.ask(plain, "inverse_dynamics", q[k], v[k], vdot)).max()
        assert np.abs(got - expected).max() <= 1e-10 * max(1.0, scale)


def test_matrices_of_long_chains_in_native_code():
    """M is symmetric, v' M v is twice the kinetic energy, M^-1 is its inverse; a batch has the bits of its rows.

    Tolerances: energies and matrices are sums in two orders; M M^-1 is off by rounding times the condition of M.
    """
    links = max(QUANTITIES[name].roll_from for name in ("mass_matrix", "mass_matrix_inverse"))
    mech = long_chain(True, links)
    q, v = np.random.default_rng(9).normal(size=(2, 3, links)) * 0.3
    M, inverse = mech.mass_matrix(q), mech.mass_matrix_inverse(q)
    assert np.array_equal(M, np.swapaxes(M, 1, 2))
    assert np.array_equal(inverse, np.swapaxes(inverse, 1, 2))
    for k in range(3):
        kinetic, _ = zoo.ask(mech, "energy", q[k], v[k])
        assert v[k] @ M[k] @ v[k] == pytest.approx(2 * kinetic.item(), rel=1e-12)
        error = np.abs(M[k] @ inverse[k] - np.eye(links)).max()
        assert error <= 1e-14 * np.linalg.cond(M[k])
        assert np.array_equal(M[k], mech.mass_matrix(q[k]))
        assert np.array_equal(inverse[k], mech.mass_matrix_inverse(q[k]))


def test_derivatives_of_a_long_tree_in_native_code():
    """Those written out, on a chain with a branch and parameters; M^-1 is symmetric to the bit, a batch has the bits of its rows.

    Tolerance as for the two forms: both solve with M.
    """
    mech = long_chain(True, RECURSIVE_FROM - 3)
    for i, parent in enumerate(("b9", "limb0", "limb1")):
        mech.body(f"limb{i}", 0.7, (0.1, 0.0, 0.2), (0.2, 0.3, 0.25))
        mech.joint(f"knee{i}", art.Revolute(axis=(0, 1, 0)), parent, f"limb{i}", at=(0.2, 0.1, 0))
    assert compilable(mech.description, "derivatives").is_a("MXFunction")
    q, v, tau = np.random.default_rng(10).normal(size=(3, 3, mech.nv)) * 0.3
    found = mech.derivatives(q, v, tau)
    assert np.array_equal(found[2], np.swapaxes(found[2], 1, 2))
    condition = np.linalg.cond(mech.mass_matrix(q[1]))
    for x, one, written in zip(
        found, mech.derivatives(q[1], v[1], tau[1]), zoo.ask(mech, "derivatives", q[1], v[1], tau[1])
    ):
        assert np.array_equal(x[1], one)
        assert np.abs(one - written).max() <= 1e-13 * condition * np.abs(written).max()


def test_long_chains_with_parameters_share_code():
    """Native code of a long chain is calls, with parameters and wrenches too."""
    plain, named = (compilable(long_chain(p).description, "forward_dynamics") for p in (False, True))
    pushed = compilable(long_chain(True).description, "forward_dynamics", (), ("b12", "b29"))
    assert all(f.is_a("MXFunction") for f in (plain, named, pushed))
