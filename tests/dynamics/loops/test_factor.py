"""Sparse L D L' and what it costs on chains of loops."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from articulus.dynamics.loops import augmented, lagrange, regularized_dynamics
from articulus.dynamics.loops.factor import Factorization, solve
from articulus.dynamics.loops.joint_form import joint_form
from articulus.dynamics.tree import Tree
from articulus.errors import InputError
from articulus.model import library


def on_numbers(expression: SX) -> np.ndarray:
    return np.array(ca.densify(ca.DM(expression)))


def sparse_matrix(seed: int, n: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.2)
    return half @ half.T + np.diag(rng.uniform(1, 2, n))


@pytest.mark.parametrize("seed", range(5))
def test_solves(seed):
    A, b = sparse_matrix(seed), np.random.default_rng(seed).normal(size=(12, 3))
    found = on_numbers(solve(SX(ca.DM(A)), SX(ca.DM(b))))
    np.testing.assert_allclose(found, np.linalg.solve(A, b), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_half_substitutions_make_the_inverse(seed):
    """Y' D^-1 Y = G A^-1 G' with Y = L^-1 G'."""
    A, G = sparse_matrix(seed), np.random.default_rng(seed).normal(size=(4, 12))
    factored = Factorization(SX(ca.DM(A)))
    Y = factored.forward(SX(ca.DM(G.T)))
    found = on_numbers(ca.mtimes(Y.T, factored.divide_by_pivots(Y)))
    np.testing.assert_allclose(found, G @ np.linalg.solve(A, G.T), rtol=1e-11, atol=1e-11)


def test_an_arrow_does_not_fill():
    """An arrow matrix eliminated tip first needs n - 1 quotients; head first it would need n (n - 1) / 2."""
    n = 30
    x, b = SX.sym("x", 2 * n - 1), SX.sym("b", n)
    A = ca.diag(x[:n])
    A[0, 1:], A[1:, 0] = x[n:].T, x[n:]
    f = ca.Function("f", [x, b], [solve(A, b)])
    assert f.n_instructions() < 20 * n


FORMS = {
    "lagrange": lambda p: lagrange(p),
    "regularized": lambda p: regularized_dynamics(p, 1e10),
    "augmented": lambda p: augmented(p, 1e6),
}


def operations(n: int) -> dict[str, int]:
    tree = Tree(library.read("n_four_bar", n=n), regroup=True)
    problem = joint_form(tree, tree.v, SX.zeros(tree.description.nv), SX.sym("t"))
    moving = [i for i in range(problem.constraints.g.numel()) if problem.constraints.G[i, :].nnz()]
    assert len(moving) == 2 * n
    out = {}
    for name, form in FORMS.items():
        kept = problem.constraints.rows(moving) if name == "lagrange" else problem.constraints
        (vdot,) = ca.cse([form(type(problem)(problem.M, problem.f, kept)).vdot])
        out[name] = ca.Function("f", [tree.q, tree.v], [vdot]).n_instructions()
    return out


def test_cost_grows_with_the_number_of_loops():
    """Exponent of the operation count over 5 to 40 loops; dense elimination would come near 3."""
    sizes = (5, 10, 20, 40)
    counts = [operations(n) for n in sizes]
    for name in FORMS:
        exponent = np.polyfit(np.log(sizes), np.log([c[name] for c in counts]), 1)[0]
        assert exponent == pytest.approx(1.0, abs=0.05), name


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_a_row_of_no_linkages_is_refused(n):
    with pytest.raises(InputError, match="expected an integer of at least 1"):
        library.read("n_four_bar", n=n)
