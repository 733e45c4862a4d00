"""Regulator equations (Isidori & Byrnes 1990) by a power series, to compare with stable inversion.

An exosystem w' = s(w) with outputs q(w) stands for the desired motion. The states x = pi(w) on which the outputs are right forever satisfy

    d pi/dw s(w) = f(pi) + g(pi) c(w)       h(pi(w)) = q(w)

With the normal form c = beta(pi)^-1 (L_s^r q - alpha(pi)) is no unknown, and pi is found degree by degree: its part of degree k satisfies linear
equations in the coefficients of the monomials of degree k, with outputs and their derivatives as further rows. They are solvable where the zero
dynamics is hyperbolic and the exosystem is on the imaginary axis.

A regulator steers by c(w(t)) alone: where the exosystem is set anew (a motion that begins), the states are off pi and there are transients that
inversion does not have.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.stable.normal_form import NormalForm, normal_form
from articulus.motion.inversion.stable.system import NonlinearSystem, RowFunction


@dataclass(frozen=True, eq=False)
class Regulator:
    """Zero-error manifold of a system and an exosystem.

    Parameters
    ----------
    w : SX, (k,)
        States of the exosystem.
    pi : SX, (n,)
        Polynomials in w.
    c : SX, (m,)
        Inputs in w; not polynomials: exact for pi.
    order : int
        Degree of the polynomials.
    """

    system: NonlinearSystem
    w: SX
    s: SX
    q: SX
    pi: SX
    c: SX
    order: int

    @property
    def state(self) -> ca.Function:
        """w -> x."""
        return ca.Function("state", [self.w], [self.pi])

    @property
    def input(self) -> ca.Function:
        """w -> u."""
        return ca.Function("input", [self.w], [self.c])

    def residual(self, radius: float = 1.0, points: int = 200) -> float:
        """Return the largest residual of both equations at random w with |w_i| up to a radius; of order radius^(order + 1)."""
        S = self.system
        rate = ca.substitute(S.f + ca.mtimes(S.g, self.c), S.x, self.pi)
        off = ca.vertcat(
            ca.mtimes(ca.jacobian(self.pi, self.w), self.s) - rate, ca.substitute(S.h, S.x, self.pi) - self.q
        )
        at = radius * np.random.default_rng(1).uniform(-1.0, 1.0, (points, self.w.numel()))
        return float(np.abs(RowFunction(ca.Function("off", [self.w], [ca.densify(off)]))(at)[0]).max())


def regulator(
    system: NonlinearSystem, w: SX, s: SX, q: SX, order: int = 3, *, x0: np.ndarray | None = None
) -> Regulator:
    """Return the solution of the regulator equations as polynomials about an equilibrium.

    Parameters
    ----------
    system : NonlinearSystem
        At rest at x0 with no input, its outputs being q(0).
    w, s, q : SX
        Exosystem w' = s(w), s(0) = 0, and the outputs wanted, q(w).
    order : int
        Degree of the polynomials.
    x0 : array, (n,)
        Zero if not given.
    """
    at = np.zeros(system.x.numel()) if x0 is None else np.asarray(x0, dtype=float)
    form = normal_form(system, at)
    _require_rest(system, w, s, q, at)
    law, chain = _law(form, w, s, q)
    x = SX(at)
    for degree in range(1, order + 1):
        x = x + _part(form, w, s, x, law, chain, degree)
    c = ca.substitute(law, system.x, x)
    return Regulator(system, w, SX(s), SX(q), x, c, order)


def _require_rest(system: NonlinearSystem, w: SX, s: SX, q: SX, at: np.ndarray) -> None:
    values = ca.Function("rest", [system.x, w], [system.f, ca.vec(SX(s)), system.h - ca.vec(SX(q))])
    for name, value in zip(("f(x0)", "s(0)", "h(x0) - q(0)"), values(at, np.zeros(w.numel()))):
        if np.abs(np.array(value)).max() > 1e-9:
            raise InputError(
                f"regulator: {name} is {np.abs(np.array(value)).max():.3g}; expected 0: an equilibrium without input"
            )


def _law(form: NormalForm, w: SX, s: SX, q: SX) -> tuple[SX, SX]:
    """Return c as an expression of x and w, and the outputs with their derivatives below the r-th in w."""
    chain, top = [], []
    for i, r in enumerate(form.relative_degree):
        value = ca.vec(SX(q))[i]
        for _ in range(r):
            chain.append(value)
            value = ca.mtimes(ca.jacobian(value, w), ca.vec(SX(s)))
        top.append(value)
    return ca.solve(form.beta, ca.vertcat(*top) - form.alpha), ca.vertcat(*chain)


def _part(form: NormalForm, w: SX, s: SX, x: SX, law: SX, chain: SX, degree: int) -> SX:
    """Return the polynomials of one degree; x holds the lower degrees."""
    S, n, k = form.system, form.system.x.numel(), w.numel()
    powers = [e for e in itertools.product(range(degree + 1), repeat=k) if sum(e) == degree]
    monomials = ca.vertcat(*(math_product(w, e) for e in powers))
    # degree-th term of the residuals along a ray eps w
    eps = SX.sym("eps")
    rate = S.f + ca.mtimes(S.g, law)
    off = ca.vertcat(
        ca.mtimes(ca.jacobian(x, w), ca.vec(SX(s))) - ca.substitute(rate, S.x, x),
        ca.substitute(form.xi, S.x, x) - chain,
    )
    ray = ca.substitute(off, w, eps * w)
    for _ in range(degree):
        ray = ca.jacobian(ray, eps)
    term = ca.substitute(ray, eps, 0) / math.factorial(degree)
    points = np.random.default_rng(2).uniform(-1.0, 1.0, (2 * len(powers) + 2, k))
    known, basis = RowFunction(ca.Function("known", [w], [ca.densify(term), monomials]))(points)
    known = np.linalg.lstsq(basis, known, rcond=None)[0]  # (monomials, n + sum r)
    # what the unknown part adds: L_s of its monomials, less A times it; and the gradient of xi times it
    A = _value(S.x, ca.jacobian(ca.substitute(rate, w, SX.zeros(k)), S.x), x, w)
    C = _value(S.x, ca.jacobian(form.xi, S.x), x, w)
    linear = _value(w, ca.jacobian(ca.vec(SX(s)), w), SX(w), w)
    turned = ca.mtimes(ca.jacobian(monomials, w), ca.mtimes(SX(linear), w))
    lie = RowFunction(ca.Function("lie", [w], [ca.densify(turned)]))(points)[0]
    lie = np.linalg.lstsq(basis, lie, rcond=None)[0]  # (monomials, monomials): column j is L of monomial j
    D = len(powers)
    matrix = np.vstack([np.kron(lie, np.eye(n)) - np.kron(np.eye(D), A), np.kron(np.eye(D), C)])
    right = -np.concatenate([known[:, :n].ravel(), known[:, n:].ravel()])
    coefficients, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=1e-11)
    left = np.abs(matrix @ coefficients - right).max()
    if rank < n * D or left > 1e-7 * (1 + np.abs(right).max()):
        raise NumericalError(
            f"regulator: no polynomials of degree {degree}: rank {rank} of {n * D}, residual {left:.3g}; expected zeros of the system and sums of {degree} "
            "eigenvalues of the exosystem to be different"
        )
    rounded = np.where(
        np.abs(coefficients) < 1e-14 * np.abs(coefficients).max(initial=0.0), 0.0, coefficients
    )
    return ca.mtimes(SX(ca.DM(rounded.reshape(D, n).T)), monomials)


def math_product(w: SX, exponents: tuple[int, ...]) -> SX:
    """Return the monomial of w with these exponents."""
    out = SX(1)
    for i, e in enumerate(exponents):
        out = out * w[i] ** e
    return out


def _value(symbols: SX, matrix: SX, at: SX, w: SX) -> np.ndarray:
    """Return a matrix at the origin of w, with the symbols there."""
    inside = ca.substitute(matrix, symbols, ca.substitute(at, w, SX.zeros(w.numel())))
    return np.atleast_2d(np.array(ca.evalf(ca.densify(inside))))
