"""Matrices of polynomials with rational coefficients: Hermite and Smith forms, Bezout equations, coprime fractions.

By Euclidean elimination in exact arithmetic (python-flint, extra `exact`), the way of Baras, MacEnany and Munach (3rd Annual Conference on
Aerospace Computational Control, JPL, 1989): residuals of all identities are zero, not small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from articulus.errors import InputError, require_package

Rows = list[list[Any]]


def _flint() -> Any:
    return require_package("flint", "polynomial matrices", "exact")


@dataclass(frozen=True, eq=False)
class PolynomialMatrix:
    """A matrix of polynomials in s with rational coefficients.

    Parameters
    ----------
    rows : sequence of rows
        Entries: integers, fractions, floats (taken for the rational number that they are), strings such as "1/3", coefficient lists with the
        constant first, or flint.fmpq_poly.
    """

    rows: Any

    def __post_init__(self) -> None:
        rows = [[_polynomial(x) for x in row] for row in self.rows]
        if len({len(row) for row in rows}) > 1:
            raise InputError("polynomial matrix: found rows of different lengths; expected equal ones")
        object.__setattr__(self, "rows", rows)

    @staticmethod
    def identity(n: int) -> PolynomialMatrix:
        return PolynomialMatrix([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0]) if self.rows else 0

    def __getitem__(self, at: tuple[int, int]) -> Any:
        return self.rows[at[0]][at[1]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PolynomialMatrix) and self.shape == other.shape and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        return PolynomialMatrix([[a + b for a, b in zip(x, y)] for x, y in zip(self.rows, other.rows)])

    def __sub__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        return PolynomialMatrix([[a - b for a, b in zip(x, y)] for x, y in zip(self.rows, other.rows)])

    def __matmul__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        if self.shape[1] != other.shape[0]:
            raise InputError(f"polynomial matrices: found a product of {self.shape} and {other.shape}")
        columns = list(zip(*other.rows))
        return PolynomialMatrix(
            [[sum((a * b for a, b in zip(row, c)), _polynomial(0)) for c in columns] for row in self.rows]
        )

    @property
    def T(self) -> PolynomialMatrix:
        return PolynomialMatrix([list(column) for column in zip(*self.rows)])

    def block(self, rows: slice, columns: slice) -> PolynomialMatrix:
        return PolynomialMatrix([row[columns] for row in self.rows[rows]])

    def determinant(self) -> Any:
        """Return the determinant, from the Hermite form and the constant determinant of its transformation."""
        H, U = hermite(self)
        value = _polynomial(1)
        for i in range(len(H.rows)):
            value *= H[i, i]
        return value / _constant_determinant(U)

    def __call__(self, s: complex) -> np.ndarray:
        """Return the matrix at a complex number, as floats."""
        return np.array(
            [
                [np.polyval([float(c) for c in reversed(p.coeffs())] or [0.0], s) for p in row]
                for row in self.rows
            ]
        )

    def __str__(self) -> str:
        return "\n".join("[" + ", ".join(str(p) for p in row) + "]" for row in self.rows)


def hermite(P: PolynomialMatrix) -> tuple[PolynomialMatrix, PolynomialMatrix]:
    """Return (H, U) with U P = H: U unimodular, H upper triangular with monic pivots and entries above them of lower degree."""
    rows = [list(row) for row in P.rows]
    m, n = P.shape
    U = [list(row) for row in PolynomialMatrix.identity(m).rows]
    at = 0
    for column in range(n):
        while True:
            filled = [i for i in range(at, m) if rows[i][column] != 0]
            if not filled:
                break
            least = min(filled, key=lambda i: rows[i][column].degree())
            _swap(rows, U, at, least)
            rest = [i for i in range(at + 1, m) if rows[i][column] != 0]
            if not rest:
                break
            for i in rest:
                _subtract(rows, U, i, at, rows[i][column] // rows[at][column])
        if at < m and rows[at][column] != 0:
            _scale(rows, U, at, rows[at][column].leading_coefficient())
            for i in range(at):
                _subtract(rows, U, i, at, rows[i][column] // rows[at][column])
            at += 1
        if at == m:
            break
    return PolynomialMatrix(rows), PolynomialMatrix(U)


def smith(P: PolynomialMatrix) -> tuple[PolynomialMatrix, PolynomialMatrix, PolynomialMatrix]:
    """Return (S, U, V) with U P V = S: U, V unimodular, S diagonal, monic, each entry a divisor of the next."""
    m, n = P.shape
    S, U, V = P, PolynomialMatrix.identity(m), PolynomialMatrix.identity(n)
    while True:
        S, left = hermite(S)
        U = left @ U
        flipped, right = hermite(S.T)
        S, V = flipped.T, V @ right.T
        if any(S[i, j] != 0 for i in range(m) for j in range(n) if i != j):
            continue
        bad = next((i for i in range(min(m, n) - 1) if S[i, i] != 0 and S[i + 1, i + 1] % S[i, i] != 0), None)
        if bad is None:
            return S, U, V
        add = PolynomialMatrix.identity(m)
        add.rows[bad][bad + 1] = _polynomial(1)
        S, U = add @ S, add @ U


@dataclass(frozen=True, eq=False)
class CoprimeFractions:
    """G = N D^-1 = Dl^-1 Nl without common factors, and X D + Y N = I.

    Parameters
    ----------
    N, D : PolynomialMatrix
        Right fraction.
    Nl, Dl : PolynomialMatrix
        Left fraction.
    X, Y : PolynomialMatrix
        Solution of the Bezout equation.
    common : PolynomialMatrix
        Greatest common right divisor that was taken out of the given fraction.
    """

    N: PolynomialMatrix
    D: PolynomialMatrix
    Nl: PolynomialMatrix
    Dl: PolynomialMatrix
    X: PolynomialMatrix
    Y: PolynomialMatrix
    common: PolynomialMatrix


def coprime(N: PolynomialMatrix, D: PolynomialMatrix) -> CoprimeFractions:
    """Return the coprime fractions of G = N D^-1, any right fraction with polynomial matrices N (p, m) and D (m, m)."""
    m = D.shape[0]
    if D.shape != (m, m) or N.shape[1] != m:
        raise InputError(f"coprime: found N {N.shape}, D {D.shape}; expected (p, m) and (m, m)")
    H, U = hermite(PolynomialMatrix(D.rows + N.rows))
    common = H.block(slice(0, m), slice(0, m))
    if any(common[i, i] == 0 for i in range(m)):
        raise InputError(
            "coprime: found a denominator D that is singular for every s; expected one with a determinant"
        )
    # U [D; N] = [R; 0]: [D; N] = U^-1 [R; 0], so the first columns of U^-1 are the coprime fraction, its last rows of U the left one
    inverse = _inverse(U)
    D0, N0 = inverse.block(slice(0, m), slice(0, m)), inverse.block(slice(m, None), slice(0, m))
    X, Y = U.block(slice(0, m), slice(0, m)), U.block(slice(0, m), slice(m, None))
    Nl = PolynomialMatrix([[-x for x in row] for row in U.block(slice(m, None), slice(0, m)).rows])
    return CoprimeFractions(N0, D0, Nl, U.block(slice(m, None), slice(m, None)), X, Y, common)


def right_fraction(
    numerators: Sequence[Sequence[Any]], denominators: Sequence[Sequence[Any]]
) -> tuple[PolynomialMatrix, PolynomialMatrix]:
    """Return (N, D) of a matrix of rational functions, D diagonal with the least common denominator of each column."""
    above, below = PolynomialMatrix(numerators), PolynomialMatrix(denominators)
    if above.shape != below.shape or any(x == 0 for row in below.rows for x in row):
        raise InputError("right_fraction: expected numerators and nonzero denominators of the same shape")
    common = []
    for column in zip(*below.rows):
        product = column[0]
        for p in column[1:]:
            product = product * p / product.gcd(p)
        common.append(product)
    N = [[a * (c // b) for a, b, c in zip(x, y, common)] for x, y in zip(above.rows, below.rows)]
    D = [[common[i] if i == j else 0 for j in range(len(common))] for i in range(len(common))]
    return PolynomialMatrix(N), PolynomialMatrix(D)


def _inverse(U: PolynomialMatrix) -> PolynomialMatrix:
    """Return the inverse of a unimodular matrix, again a polynomial one: its Hermite form is the identity."""
    H, inverse = hermite(U)
    if PolynomialMatrix.identity(len(U.rows)) != H:
        raise InputError(
            "polynomial matrix: found one that is not unimodular; expected a constant determinant"
        )
    return inverse


def _constant_determinant(U: PolynomialMatrix) -> Any:
    """Return the determinant of a unimodular matrix, which is a number, at s = 0."""
    flint = _flint()
    at_zero = flint.fmpq_mat(len(U.rows), len(U.rows), [p[0] for row in U.rows for p in row])
    return at_zero.det()


def _polynomial(x: Any) -> Any:
    flint = _flint()
    if isinstance(x, flint.fmpq_poly):
        return x
    if isinstance(x, list | tuple | np.ndarray):
        return flint.fmpq_poly([_rational(c) for c in x])
    return flint.fmpq_poly([_rational(x)])


def _rational(x: Any) -> Any:
    flint = _flint()
    if isinstance(x, flint.fmpq | flint.fmpz):
        return x
    try:
        exact = Fraction(x) if isinstance(x, str | int | Fraction) else Fraction(float(x))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"polynomial matrix: found the coefficient {x!r}; expected a finite number, a fraction or text such as '1/3'"
        ) from error
    return flint.fmpq(exact.numerator, exact.denominator)


def _swap(rows: Rows, U: Rows, i: int, k: int) -> None:
    for matrix in (rows, U):
        matrix[i], matrix[k] = matrix[k], matrix[i]


def _subtract(rows: Rows, U: Rows, i: int, k: int, factor: Any) -> None:
    for matrix in (rows, U):
        matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k])]


def _scale(rows: Rows, U: Rows, i: int, by: Any) -> None:
    for matrix in (rows, U):
        matrix[i] = [a / by for a in matrix[i]]
