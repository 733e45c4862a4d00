"""Implicit equations of an n-body pendulum in 14 n absolute variables, and their Newton correction in O(n).

Body i has the position R of its mass centre, its velocity V, Euler parameters p and their rates s. In body axes a leads from
the outboard to the inboard joint and r from the outboard joint to the mass centre. With A(p) the rotation to ground axes:

    G   = R - support - A r + sum of A a up to body i                      positions
    Gd  = V - Adot r + sum of Adot a up to body i                          velocities
    F   = T - r x A' z + a x A' (sum of z from body i on),  z = m (Vdot - g),  T = -(I wdot + w x I w)
    I1  = p.p - 1,   I2 = p.s,   I3 = (s - pdot) of three components

Backward differences make Xdot a function of X, and the corrector solves J dX = E with J = dE/dX + sigma dE/dXdot.

This serves one chain of ball joints without motors only; mechanisms of any kind have their O(n) equations in `dynamics`.
So it stays with its case. Source: Chou 1989, equations 5 to 50; the elimination of J_R, which the paper leaves to a
report, is our own: with sums of m dV as unknowns J_R becomes block tridiagonal, and additions are O(n) as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.spatial import cross, skew


@dataclass(frozen=True)
class Link:
    """Constants of one body: mass [kg], inertia about the mass centre [kg m^2], a and r [m], all in body axes."""

    m: float
    inertia: ca.DM
    a: ca.DM
    r: ca.DM


@dataclass(frozen=True)
class State:
    """Columns of one body: R, V, p, s and the rates of V and s."""

    R: SX
    V: SX
    p: SX
    s: SX
    Vdot: SX
    sdot: SX


@dataclass(frozen=True)
class Residual:
    """E of one body."""

    G: SX
    Gd: SX
    F: SX
    I1: SX
    I2: SX
    I3: SX


def e_matrix(p: SX) -> SX:
    """Return E(p) = [-e, e0 I + e~], (3, 4)."""
    return ca.horzcat(-p[1:], p[0] * SX.eye(3) + skew(p[1:]))


def g_matrix(p: SX) -> SX:
    """Return G(p) = [-e, e0 I - e~], (3, 4)."""
    return ca.horzcat(-p[1:], p[0] * SX.eye(3) - skew(p[1:]))


def rotation(p: SX) -> SX:
    """Return A = E G', body to ground axes."""
    return ca.mtimes(e_matrix(p), g_matrix(p).T)


def rotation_rate(p: SX, s: SX) -> SX:
    """Return Adot = 2 E(s) G(p)'."""
    return 2 * ca.mtimes(e_matrix(s), g_matrix(p).T)


def bar(a: SX) -> SX:
    """Return the matrix with G(p)' a = bar(a) p, (4, 4)."""
    return ca.blockcat([[SX(0), -a.T], [a, -skew(a)]])


def plus(z: SX) -> SX:
    """Return the matrix with E(p)' z = plus(z) p, (4, 4)."""
    return ca.blockcat([[SX(0), -z.T], [z, skew(z)]])


def pulls(links: list[Link], bodies: list[State], g: SX) -> tuple[list[SX], list[SX]]:
    """Return z of every body, and the sums tau from each body to the end."""
    z = [link.m * (b.Vdot - g) for link, b in zip(links, bodies)]
    tau, total = [], SX.zeros(3)
    for own in reversed(z):
        total = total + own
        tau.append(total)
    return z, tau[::-1]


def residuals(links: list[Link], bodies: list[State], pdot: list[SX], support: SX, g: SX) -> list[Residual]:
    """Return E of every body; I3 leaves out the first Euler parameter."""
    z, tau = pulls(links, bodies, g)
    out, lam, lamd = [], SX.zeros(3), SX.zeros(3)
    for k, (link, b) in enumerate(zip(links, bodies)):
        A, Ad = rotation(b.p), rotation_rate(b.p, b.s)
        lam, lamd = lam + ca.mtimes(A, link.a), lamd + ca.mtimes(Ad, link.a)
        w = 2 * ca.mtimes(g_matrix(b.p), b.s)
        T = -(
            2 * ca.mtimes(link.inertia, ca.mtimes(g_matrix(b.p), b.sdot))
            + cross(w, ca.mtimes(link.inertia, w))
        )
        F = T - cross(SX(link.r), ca.mtimes(A.T, z[k])) + cross(SX(link.a), ca.mtimes(A.T, tau[k]))
        out.append(
            Residual(
                b.R - support - ca.mtimes(A, link.r) + lam,
                b.V - ca.mtimes(Ad, link.r) + lamd,
                F,
                ca.dot(b.p, b.p) - 1,
                ca.dot(b.p, b.s),
                (b.s - pdot[k])[1:],
            )
        )
    return out


@dataclass(frozen=True)
class Blocks:
    """Blocks of the Jacobian that belong to one body, in the form of the paper."""

    La: SX
    """dG/dp = dGd/ds of later bodies; less Lr for the body itself."""
    Lr: SX
    La_rate: SX
    """dGd/dp, likewise."""
    Lr_rate: SX
    F_a: SX
    """F_V of later bodies over sigma and their mass; less F_r for the body itself."""
    F_r: SX
    F_p: SX
    F_s: SX


def blocks(links: list[Link], bodies: list[State], g: SX, sigma: SX) -> list[Blocks]:
    """Return the analytic Jacobian, equations 10, 17, 20, 27, 31 and 34."""
    out = []
    for link, b, z, tau in zip(links, bodies, *pulls(links, bodies, g)):
        inertia, a, r = SX(link.inertia), SX(link.a), SX(link.r)
        E, Ed, G, Gd = e_matrix(b.p), e_matrix(b.s), g_matrix(b.p), g_matrix(b.s)
        A, psi = rotation(b.p), 2 * ca.mtimes(inertia, ca.mtimes(G, b.s))
        drift = 4 * ca.dot(b.s, b.p)
        out.append(
            Blocks(
                La=2 * ca.mtimes(E, bar(a)),
                Lr=2 * ca.mtimes(E, bar(r)),
                La_rate=2 * ca.mtimes(Ed, bar(a)),
                Lr_rate=2 * ca.mtimes(Ed, bar(r)),
                F_a=ca.mtimes(skew(a), A.T),
                F_r=ca.mtimes(skew(r), A.T),
                F_p=2 * ca.mtimes(inertia, g_matrix(b.sdot))
                + 4 * ca.mtimes(G, ca.mtimes(Gd.T, ca.mtimes(inertia, Gd)))
                - drift * ca.mtimes(inertia, Gd)
                - 2 * ca.mtimes(skew(psi), Gd)
                - 2 * ca.mtimes(skew(r), ca.mtimes(G, plus(z)))
                + 2 * ca.mtimes(skew(a), ca.mtimes(G, plus(tau))),
                F_s=4 * ca.mtimes(Gd, ca.mtimes(G.T, ca.mtimes(inertia, G)))
                - drift * ca.mtimes(inertia, G)
                + 2 * ca.mtimes(skew(psi), G)
                - 2 * sigma * ca.mtimes(inertia, G),
            )
        )
    return out


@dataclass(frozen=True)
class Correction:
    """dX of one body."""

    R: SX
    V: SX
    p: SX
    s: SX


@dataclass(frozen=True)
class Local:
    """One body after its own Euler parameters are eliminated: what remains between it and its neighbours."""

    I: SX
    I_s: SX
    J_inverse: SX
    """J_F^-1."""
    F: SX
    """F - F_P I."""
    e: SX
    """Share in Gd - Gd_P I of the later bodies; less e_r for the body itself."""
    e_r: SX
    a: SX
    """Gd_S - Gd_P I_S, likewise."""
    r: SX


def eliminated(b: State, E: Residual, k: Blocks, sigma: SX) -> Local:
    """Return the body with I_P made the identity and (F, -2 sigma I2) as four rows (scheme D)."""
    kept = SX(ca.DM.eye(4))[1:, :]
    P_inverse = ca.inv(ca.vertcat(2 * b.p.T, -sigma * kept))
    I = ca.mtimes(P_inverse, ca.vertcat(E.I1, E.I3))
    I_s = ca.mtimes(P_inverse, ca.vertcat(SX.zeros(1, 4), kept))
    F_p, F_s = ca.vertcat(k.F_p, -2 * sigma * b.s.T), ca.vertcat(k.F_s, -2 * sigma * b.p.T)
    return Local(
        I=I,
        I_s=I_s,
        J_inverse=ca.inv(F_s - ca.mtimes(F_p, I_s)),
        F=ca.vertcat(E.F, -2 * sigma * E.I2) - ca.mtimes(F_p, I),
        e=ca.mtimes(k.La_rate, I),
        e_r=ca.mtimes(k.Lr_rate, I),
        a=k.La - ca.mtimes(k.La_rate, I_s),
        r=k.Lr - ca.mtimes(k.Lr_rate, I_s),
    )


def correction(
    links: list[Link], bodies: list[State], pdot: list[SX], support: SX, g: SX, sigma: SX
) -> list[Correction]:
    """Return dX of J dX = E in O(n).

    The differences of consecutive velocity rows, in the unknowns T_i = sum of m dV from body i on, hold three neighbours
    each: a block tridiagonal system that is eliminated from body 1 to n.
    """
    n = len(links)
    E, K = residuals(links, bodies, pdot, support, g), blocks(links, bodies, g, sigma)
    L = [eliminated(b, e, k, sigma) for b, e, k in zip(bodies, E, K)]
    zero = SX.zeros(1, 3)
    onto_a = [sigma * ca.vertcat(k.F_a, zero) for k in K]
    onto_r = [sigma * ca.vertcat(k.F_r, zero) for k in K]
    one = SX.eye(3)
    diagonal, upper, lower, right = [], [], [], []
    for j in range(n):
        own = ca.mtimes(L[j].a - L[j].r, L[j].J_inverse)
        D = one / links[j].m - ca.mtimes(own, onto_a[j] - onto_r[j])
        U = -one / links[j].m - ca.mtimes(own, onto_r[j])
        b = E[j].Gd - (L[j].e - L[j].e_r) - ca.mtimes(own, L[j].F)
        if j:
            front = ca.mtimes(L[j - 1].r, L[j - 1].J_inverse)
            D += one / links[j - 1].m - ca.mtimes(front, onto_r[j - 1])
            lower.append(-one / links[j - 1].m - ca.mtimes(front, onto_a[j - 1] - onto_r[j - 1]))
            b += -E[j - 1].Gd - L[j - 1].e_r - ca.mtimes(front, L[j - 1].F)
        diagonal.append(D)
        upper.append(U)
        right.append(b)
    T = [*tridiagonal(lower, diagonal, upper[:-1], right), SX.zeros(3)]
    out, shift = [], SX.zeros(3)
    for i in range(n):
        V = (T[i] - T[i + 1]) / links[i].m
        pull = ca.mtimes(onto_a[i], T[i]) - ca.mtimes(onto_r[i], T[i] - T[i + 1])
        s = ca.mtimes(L[i].J_inverse, L[i].F - pull)
        p = L[i].I - ca.mtimes(L[i].I_s, s)
        shift = shift + ca.mtimes(K[i].La, p)
        out.append(Correction(E[i].G - shift + ca.mtimes(K[i].Lr, p), V, p, s))
    return out


def tridiagonal(lower: list[SX], diagonal: list[SX], upper: list[SX], right: list[SX]) -> list[SX]:
    """Return the solution of a block tridiagonal system (Thomas)."""
    inverses, b = [ca.inv(diagonal[0])], [right[0]]
    for j in range(1, len(diagonal)):
        gain = ca.mtimes(lower[j - 1], inverses[-1])
        b.append(right[j] - ca.mtimes(gain, b[-1]))
        inverses.append(ca.inv(diagonal[j] - ca.mtimes(gain, upper[j - 1])))
    x = [ca.mtimes(inverses[-1], b[-1])]
    for j in reversed(range(len(diagonal) - 1)):
        x.insert(0, ca.mtimes(inverses[j], b[j] - ca.mtimes(upper[j], x[0])))
    return x
