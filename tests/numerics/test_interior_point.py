"""Linear and quadratic programs: conditions of optimality, HiGHS, and other linear algebra for the same loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from articulus.numerics.interior_point import QuadraticProgram, solve_quadratic


class DenseEquations:
    """The equations of a Newton step as full matrices, or as sparse ones."""

    def __init__(self, program: QuadraticProgram, sparse: bool = False):
        self.program, self.sparse = program, sparse

    def factor(self, weights: np.ndarray) -> None:
        p = self.program
        K = sp.bmat([[p.H + p.G.T @ sp.diags(weights) @ p.G, p.E.T], [p.E, None]], format="csc")
        self._solve = sp.linalg.splu(K).solve if self.sparse else np.linalg.inv(K.toarray()).__matmul__

    def solve(self, top: np.ndarray, bottom: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        x = self._solve(np.concatenate([top, bottom]))
        return x[: len(top)], x[len(top) :]


def program(seed: int, curved: bool) -> QuadraticProgram:
    """A program of 12 unknowns, 4 equations and 20 bounded rows, some of one side alone; zero keeps all of them."""
    random = np.random.default_rng(seed)
    root = random.standard_normal((12, 12)) if curved else np.zeros((12, 12))
    lower, upper = -random.uniform(0.1, 2.0, 20), random.uniform(0.1, 2.0, 20)
    lower[12:16], upper[16:] = -np.inf, np.inf
    G = np.vstack([np.eye(12), random.standard_normal((8, 12))])
    E, c = random.standard_normal((4, 12)), random.standard_normal(12)
    return QuadraticProgram(
        sp.csr_matrix(root.T @ root), c, sp.csr_matrix(E), np.zeros(4), sp.csr_matrix(G), lower, upper
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("curved", [False, True])
def test_conditions_of_optimality(seed: int, curved: bool) -> None:
    p = program(seed, curved)
    found = solve_quadratic(p, DenseEquations(p))
    assert found.ok
    rows = p.G @ found.z
    # residuals end at 1e-13 of their sizes; gaps times multipliers there too, so one of both is below 1e-6
    assert np.allclose(
        p.H @ found.z + p.c + p.E.T @ found.multipliers + p.G.T @ found.pressures, 0, atol=1e-9
    )
    assert np.allclose(p.E @ found.z, 0, atol=1e-9)
    assert (rows >= p.lower - 1e-9).all()
    assert (rows <= p.upper + 1e-9).all()
    assert (rows[found.pressures > 1e-5] > p.upper[found.pressures > 1e-5] - 1e-6).all()
    assert (rows[found.pressures < -1e-5] < p.lower[found.pressures < -1e-5] + 1e-6).all()
    assert (np.abs(found.pressures) > 1e-5).any()


@pytest.mark.parametrize("seed", range(3))
def test_linear_programs_beside_highs(seed: int) -> None:
    p = program(seed, curved=False)
    low, high = np.isfinite(p.lower), np.isfinite(p.upper)
    other = linprog(
        p.c,
        np.vstack([p.G.toarray()[high], -p.G.toarray()[low]]),
        np.concatenate([p.upper[high], -p.lower[low]]),
        p.E.toarray(),
        p.e,
        bounds=(None, None),
    )
    assert p.c @ solve_quadratic(p, DenseEquations(p)).z == pytest.approx(other.fun, rel=1e-7)


def test_linear_algebra_is_an_argument() -> None:
    p = program(0, curved=True)
    one, other = (solve_quadratic(p, DenseEquations(p, sparse)) for sparse in (False, True))
    assert np.allclose(one.z, other.z, atol=1e-9)


def test_program_without_a_solution_is_told() -> None:
    p = program(0, curved=False)
    G = sp.vstack([p.G, p.G[:1]]).tocsr()
    apart = QuadraticProgram(
        p.H, p.c, p.E, p.e, G, np.append(p.lower, 3.0), np.append(p.upper, 4.0)
    )  # the first unknown is at most 2
    assert not solve_quadratic(apart, DenseEquations(apart)).ok
    free = QuadraticProgram(p.H, p.c, p.E, p.e, p.G, np.full(20, -np.inf), np.full(20, np.inf))
    assert not solve_quadratic(free, DenseEquations(free)).ok
