"""Low-rank regulators, filters and norms of sparse structures beside dense ones; laws over units; refusals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from articulus import control
from articulus.control import sparse
from articulus.errors import InputError, NumericalError
from articulus.numerics.low_rank import SecondOrderPencil, low_rank_care
from articulus.structure import Structure


def plate(nx: int, ny: int, *, length: float = 1.0, mass: float = 1.0, time: float = 1.0) -> Structure:
    """Return a simply supported plate by central differences: two forces, a displacement and a rate as outputs.

    The units of length, mass and time are those given, so that its numbers change and its physics do not.
    """

    def second(n: int) -> sp.sparray:
        return (
            sp.diags_array([np.full(n, -2.0), np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1, -1])
            * (n + 1) ** 2
        )

    n = nx * ny
    L = sp.kron(second(nx), sp.eye_array(ny)) + sp.kron(sp.eye_array(nx), second(ny))
    M, K = sp.eye_array(n) / n, L @ L / n
    first = 2 * np.pi**2
    beta = 2 * 0.01 / (11 * first)
    D = 10 * first**2 * beta * M + beta * K  # a percent at the first frequency and at ten times it
    B, H, H_rate = np.zeros((n, 2)), np.zeros((2, n)), np.zeros((2, n))
    for column, (x, y) in enumerate(((0.3, 0.4), (0.7, 0.2))):
        B[int(x * nx) * ny + int(y * ny), column] = 1.0
    H[0, int(0.5 * nx) * ny + int(0.55 * ny)] = 100.0
    H_rate[1, int(0.8 * nx) * ny + int(0.7 * ny)] = 1.0
    force = mass * length / time**2
    return Structure(
        names=tuple(f"n{i}" for i in range(n)),
        positions=np.zeros((n, 3)),
        dofs=np.stack([np.arange(n), np.full(n, 2)], axis=1),
        M=sp.csr_array(M * mass),
        K=sp.csr_array(K * mass / time**2),
        D=sp.csr_array(D * mass / time),
        B=B * force,
        H=H / length,
        H_rate=H_rate * time / length,
        inputs=("left", "right"),
        outputs=("place", "speed"),
    )


def dense(s: Structure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = s.count
    inverse = np.linalg.inv(s.M.toarray())
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ s.K.toarray(), -inverse @ s.D.toarray()]])
    return A, np.concatenate([np.zeros((n, 2)), inverse @ s.B]), np.concatenate([s.H, s.H_rate], axis=1)


R = np.array([[2.0, 0.3], [0.3, 0.5]])


def test_regulator_of_400_states_equals_the_dense_one() -> None:
    """To 1e-6, the bar; the residual of 1e-9 leaves some 1e-8."""
    s = plate(14, 14)
    A, B, C = dense(s)
    X = scipy.linalg.solve_continuous_are(A, B, C.T @ C, R)
    K = np.linalg.solve(R, B.T @ X)
    design = sparse.lqr(s, R)
    assert abs(design.gain - K).max() < 1e-6 * abs(K).max()
    x = np.random.default_rng(0).standard_normal((3, len(A))) / np.sqrt(np.diag(s.K.toarray())).repeat(2)
    np.testing.assert_allclose(design.cost(x), np.einsum("ki,ij,kj->k", x, X, x), rtol=1e-6)
    assert np.linalg.eigvals(A - B @ design.gain).real.max() < 0


def test_filter_equals_the_dense_one() -> None:
    s = plate(8, 7)
    A, B, C = dense(s)
    V = np.diag([1e-3, 2e-2])
    P = scipy.linalg.solve_continuous_are(A.T, C.T, B @ B.T, V)
    L = P @ C.T @ np.linalg.inv(V)
    filtered = sparse.kalman(s, [1e-3, 2e-2])
    n = s.count
    for part in (slice(0, n), slice(n, 2 * n)):  # metres and metres per second, each by its own size
        assert abs(filtered.gain[part] - L[part]).max() < 1e-6 * abs(L[part]).max()


def test_norm_equals_that_of_the_linear_model() -> None:
    s = plate(8, 7)
    A, B, C = dense(s)
    Q = scipy.linalg.solve_continuous_lyapunov(A.T, -C.T @ C)
    np.testing.assert_allclose(sparse.h2norm(s), np.sqrt(np.trace(B.T @ Q @ B)), rtol=1e-8)
    np.testing.assert_allclose(
        sparse.h2norm(s), float(control.h2norm((A, B, C, np.zeros((2, 2))))), rtol=1e-7
    )


@pytest.mark.parametrize(("length", "mass", "time"), [(1e-6, 1e-9, 1e-4), (1e3, 1e9, 1e2), (1.0, 1e-6, 1.0)])
def test_units_do_not_matter(length: float, mass: float, time: float) -> None:
    """Commands and outputs are plain numbers: gains change as 1 / length and time / length."""
    own, other = (
        sparse.lqr(plate(6, 6)).gain,
        sparse.lqr(plate(6, 6, length=length, mass=mass, time=time)).gain,
    )
    other = other * np.repeat([length, length / time], 36)
    np.testing.assert_allclose(other, own, atol=1e-6 * abs(own).max())


def test_refusals_say_what_is_missing() -> None:
    s = plate(4, 4)
    with pytest.raises(InputError, match=r"a Structure.*control.lqr"):
        sparse.lqr(control)
    with pytest.raises(InputError, match="not positive definite"):
        sparse.lqr(s, -1.0)
    with pytest.raises(InputError, match=r"R: found shape \(3,\); expected a number, \(2,\) or \(2, 2\)"):
        sparse.lqr(s, [1.0, 1.0, 1.0])
    with pytest.raises(InputError, match="no damping"):
        sparse.lqr(dataclasses.replace(s, D=None))
    with pytest.raises(InputError, match="inputs: found none"):
        sparse.h2norm(dataclasses.replace(s, B=np.zeros((16, 0)), inputs=()))
    pencil = SecondOrderPencil(s.M, s.D, s.K)
    with pytest.raises(
        NumericalError, match=r"after 3 shifts; expected 1e-09. Where many modes are hardly damped"
    ):
        low_rank_care(pencil, np.zeros((32, 0)), np.ones((1, 32)), most=3)
