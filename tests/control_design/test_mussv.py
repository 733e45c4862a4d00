"""Bounds of the structured singular value: closed forms, invariances, the perturbation itself, SLICOT's AB13MD."""

import numpy as np
import pytest
from scipy.optimize import fsolve

from articulus.control import mussv
from articulus.errors import InputError

RNG = np.random.default_rng(7)
STRUCTURES = {
    "six numbers": [(1, 1)] * 6,
    "full": [(2, 2), (3, 3), (1, 1)],
    "not square": [(2, 3), (3, 2), (1, 1)],
    "repeated": [(3, 0), (2, 2), (1, 1)],
    "mixed": [(-1, 0), (-1, 0), (2, 2), (1, 1), (1, 1)],
    "real repeated": [(-2, 0), (2, 2), (2, 0)],
    "real only": [(-2, 0), (-1, 0), (-1, 0), (-2, 0)],
}
COMPLEX = ["six numbers", "full", "not square", "repeated"]


def random(blocks, count=12):
    rows = sum(abs(r) for r, c in blocks)
    columns = sum(c or abs(r) for r, c in blocks)
    shape = (count, columns, rows)
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


@pytest.fixture(scope="module")
def found():
    matrices = {name: random(blocks) for name, blocks in STRUCTURES.items()}
    return {name: (M, mussv(M, STRUCTURES[name])) for name, M in matrices.items()}


@pytest.mark.parametrize("name", STRUCTURES)
def test_perturbation_has_the_structure_and_makes_singular(found, name):
    """det(I - M Delta) = 0 to rounding with Delta of size 1 / lower, and lower <= upper."""
    M, mu = found[name]
    some = mu.lower > 0
    assert some.mean() > 0.5
    assert (mu.lower <= mu.upper).all()
    least = np.linalg.svd(np.eye(M.shape[1]) - M @ mu.delta, compute_uv=False)[:, -1]
    assert least[some].max() < 1e-10
    np.testing.assert_allclose(
        np.linalg.norm(mu.delta, 2, axis=(1, 2))[some] * mu.lower[some], 1.0, rtol=1e-10
    )
    row = column = 0
    rest = mu.delta.copy()
    for r, c in STRUCTURES[name]:
        r, c, repeated, real = abs(r), c or abs(r), c == 0, r < 0
        block = mu.delta[:, row : row + r, column : column + c]
        rest[:, row : row + r, column : column + c] = 0
        if repeated:
            np.testing.assert_allclose(block, block[:, :1, :1] * np.eye(r), atol=1e-14)
        assert not real or np.abs(block.imag).max() == 0.0
        row, column = row + r, column + c
    assert np.abs(rest).max() == 0.0


@pytest.mark.parametrize("name", STRUCTURES)
def test_upper_bound_is_what_its_scalings_show(found, name):
    """M* D M + j (G M - M* G) <= upper^2 D with D > 0, to rounding of the largest eigenvalue."""
    M, mu = found[name]
    structure = mu.structure
    N = structure.pad(M)
    H = N.conj().swapaxes(1, 2)
    form = mu.upper[:, None, None] ** 2 * mu.D - H @ mu.D @ N - 1j * (mu.G @ N - H @ mu.G)
    size = np.linalg.norm(mu.D, 2, axis=(1, 2)) * np.maximum(np.linalg.norm(N, 2, axis=(1, 2)), 1.0) ** 2
    assert (np.linalg.eigvalsh(form)[:, 0] > -1e-10 * size * (1 + np.abs(mu.G).max(axis=(1, 2)))).all()
    assert (np.linalg.eigvalsh(mu.D)[:, 0] > 0).all()


@pytest.mark.parametrize("name", COMPLEX)
def test_bounds_meet_for_complex_blocks(found, name):
    """Up to three full blocks mu equals the bound (Packard & Doyle 1993); with more, or repeated, random matrices are within 6 %."""
    _, mu = found[name]
    gap = 1.0 - mu.lower / mu.upper
    assert gap.max() < (1e-5 if name in ("full", "not square") else 0.06)
    assert np.median(gap) < 0.01


def test_one_full_block_is_the_largest_singular_value():
    M = random([(3, 4)], 5)
    mu = mussv(M, [(3, 4)])
    exact = np.linalg.norm(M, 2, axis=(1, 2))
    np.testing.assert_allclose(mu.upper, exact, rtol=1e-9)
    np.testing.assert_allclose(mu.lower, exact, rtol=1e-9)


def test_one_repeated_number_is_the_spectral_radius():
    M = random([(4, 0)], 8)
    mu = mussv(M, [(4, 0)])
    exact = np.abs(np.linalg.eigvals(M)).max(axis=1)
    np.testing.assert_allclose(mu.upper, exact, rtol=1e-3)  # approached as scalings grow
    np.testing.assert_allclose(mu.lower, exact, rtol=1e-9)


def test_rank_one_is_the_sum_of_products():
    """mu(u v*) = sum |u_i v_i| over blocks (Tekawy, Safonov & Chiang 1989), also with numbers that repeat."""
    u, v = RNG.normal(size=(2, 5)) + 1j * RNG.normal(size=(2, 5))
    M = np.outer(u, v.conj())
    mu = mussv(M, [(1, 1)] * 5)
    np.testing.assert_allclose([mu.upper, mu.lower], np.abs(u * v).sum(), rtol=1e-7)
    repeated = mussv(M, [(2, 0), (3, 0)])
    exact = abs(u[:2] @ v[:2].conj()) + abs(u[2:] @ v[2:].conj())
    np.testing.assert_allclose([repeated.upper, repeated.lower], exact, rtol=1e-3)


@pytest.mark.parametrize(
    ("M", "exact"),
    [
        ([[1, 10], [0, 1]], 1.0),
        ([[0, 100], [0.01, 0]], 1.0),
        ([[1, 100, 100], [0, 2, 100], [0, 0, 0.5]], 2.0),
        ([[0, 1], [0, 0]], 0.0),
        ([[0, 0], [0, 0]], 0.0),
    ],
)
def test_reducible_and_badly_scaled(M, exact):
    """The bound of reducible matrices is approached with scalings without limit; balancing stops at 1e-9 of the entries."""
    mu = mussv(M, [(1, 1)] * len(M))
    assert abs(mu.upper - exact) < 1e-6
    assert abs(mu.lower - exact) < 1e-6


def test_real_corners():
    """Of a real matrix and numbers that appear once, the corners of the box decide: 1.052788 (digits of the source's check)."""
    M = np.array([[0.2, -1, 0.5], [0.8, 0.3, -0.4], [-0.6, 0.7, 0.1]])
    assert mussv(M, [(-1, 0)] * 3).lower == pytest.approx(1.052788, abs=5e-7)
    assert mussv(M, [(1, 1)] * 3).upper == pytest.approx(1.201519, abs=2e-6)
    assert mussv([[1j]], [(-1, 0)]).upper < 1e-6  # no real number makes 1 - j d zero
    assert mussv([[-2.0]], [(-1, 0)]).delta == pytest.approx(-0.5)


def test_two_real_numbers_are_the_solution_of_a_quadratic_equation():
    """1 - a x - b y + det(M) x y = 0 for real x, y: the least max(|x|, |y|) of at most two solutions, where it is in reach."""
    rng = np.random.default_rng(1)
    M = rng.normal(size=(200, 2, 2)) + 1j * rng.normal(size=(200, 2, 2))
    found = mussv(M, [(-1, 0), (-1, 0)])
    exact = np.zeros(len(M))
    for k, m in enumerate(M):
        a, b, d = m[0, 0], m[1, 1], np.linalg.det(m)
        roots = np.roots([(a * d.conj()).imag, -(a * b.conj() + d.conj()).imag, b.conj().imag])
        for x in roots[np.abs(roots.imag) < 1e-9].real:
            exact[k] = max(exact[k], 1 / max(abs(x), abs((1 - a * x) / (b - d * x))))
    np.testing.assert_allclose(
        found.lower, exact, rtol=1e-8, atol=1e-5
    )  # sizes above 1e5 are as good as none


def brute_force(M, first, second):
    """Return the largest 1 / max(|x|, |y|) of real x, y that make I - M diag(x I, y I) singular.

    On rays (x, y) = (cos a, sin a) / z, z is an eigenvalue of M diag(cos a I, sin a I) and must be real: sign changes of imaginary parts
    over 3000 angles, each solved by SciPy's hybrid Powell method and checked.
    """
    sizes, best = [first, second], 0.0

    def residual(q):
        z = np.linalg.eigvals(M * np.repeat(q, sizes))
        z = z[np.argmin(np.abs(z - 1.0))] - 1.0
        return [z.real, z.imag]

    angles = np.linspace(0.0, np.pi, 3001)
    paths = np.linalg.eigvals(M * np.repeat([np.cos(angles), np.sin(angles)], sizes, axis=0).T[:, None, :])
    for angle, before, after in zip(angles, paths, paths[1:]):
        nearest = after[np.argmin(np.abs(before[:, None] - after), axis=1)]
        for z in before[(before.imag * nearest.imag < 0) & (np.abs(before) > 1e-6)]:
            q, _, status, _ = fsolve(
                residual, np.array([np.cos(angle), np.sin(angle)]) / z.real, full_output=True
            )
            if status == 1 and np.hypot(*residual(q)) < 1e-9:
                best = max(best, 1.0 / np.abs(q).max())
    return best


@pytest.mark.parametrize(("sizes", "seed"), [((2, 2), 1), ((1, 3), 6), ((3, 2), 6)])
def test_two_repeated_real_numbers_beside_brute_force(sizes, seed):
    """Both numbers are the solution of two real equations, all of which are found, however far (a search of edges missed some of these)."""
    rng = np.random.default_rng(seed)
    shape = (12, sum(sizes), sum(sizes))
    M = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    found = mussv(M, [(-sizes[0], 0), (-sizes[1], 0)])
    exact = np.array([brute_force(m, *sizes) for m in M])
    assert (exact > 0).sum() >= 6
    assert (found.lower >= exact * (1.0 - 1e-7)).all()
    assert (exact <= found.upper * (1.0 + 1e-7)).all()


def test_real_matrix_and_repeated_real_numbers():
    """det(I - M diag(x I, y I)) is one real equation: on a net of the square no smaller singular perturbation than the one found."""
    rng = np.random.default_rng(3)
    matrices = rng.normal(size=(20, 4, 4))
    found = mussv(matrices, [(-2, 0), (-2, 0)])
    assert (found.lower > 0).sum() > 10  # the others have no real eigenvalue in any direction
    for M, lower in zip(matrices, found.lower):
        steps = np.linspace(-1.0, 1.0, 161) * (1.0 - 1e-3) / (lower or 0.02)
        x, y = (a.ravel() for a in np.meshgrid(steps, steps))
        deltas = np.stack([x, x, y, y], axis=-1)
        assert (np.linalg.det(np.eye(4) - M * deltas[:, None, :]) > 0).all()


def test_real_block_that_is_worst_alone():
    """Of a triangular matrix the larger block decides: here a real number, exactly singular at 1 / upper."""
    for M in ([[2.0, 0.0], [0.5, 1.0]], [[2.0, 1e-3], [0.0, 1.0j]]):
        mu = mussv(M, [(-1, 0), (1, 1)])
        np.testing.assert_allclose([mu.lower, mu.upper], 2.0, rtol=1e-5)
        assert np.linalg.svd(np.eye(2) - M @ mu.delta, compute_uv=False)[-1] < 1e-8


def test_invariances(found):
    """mu does not change with scalings that commute with Delta, a common unit factor, or blocks in another order."""
    blocks = STRUCTURES["repeated"]
    M, mu = found["repeated"]
    T = np.zeros((6, 6), dtype=complex)
    T[:3, :3] = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
    T[3:5, 3:5], T[5, 5] = 4.0 * np.eye(2), 0.2
    np.testing.assert_allclose(mussv(T @ M @ np.linalg.inv(T), blocks).upper, mu.upper, rtol=1e-4)
    np.testing.assert_allclose(mussv(2.5j * M, blocks).upper, 2.5 * mu.upper, rtol=1e-5)
    order = [3, 4, 5, 0, 1, 2]
    turned = mussv(M[:, order][:, :, order], [blocks[1], blocks[2], blocks[0]])
    np.testing.assert_allclose(turned.upper, mu.upper, rtol=1e-4)


def test_upper_bound_is_that_of_slicot():
    slycot = pytest.importorskip("slycot")
    for blocks in ([(1, 1)] * 6, [(-1, 0), (1, 1), (-1, 0), (2, 2), (3, 3)]):
        M = random(blocks, 8)
        sizes, kinds = np.array([abs(r) for r, _ in blocks]), np.array([1 if r < 0 else 2 for r, _ in blocks])
        theirs = [slycot.ab13md(m, sizes, kinds)[0] for m in M]
        np.testing.assert_allclose(mussv(M, blocks).upper, theirs, rtol=1e-4)


def test_wrong_input():
    with pytest.raises(InputError, match=r"M of shape \(2, 2\); expected .*3, 3"):
        mussv(np.eye(2), [(1, 1), (2, 2)])
    with pytest.raises(InputError, match="real repeated"):
        mussv(np.eye(2), [(-2, 2)])
    with pytest.raises(InputError, match="likely a pole"):
        mussv([[np.inf]], [(1, 1)])
