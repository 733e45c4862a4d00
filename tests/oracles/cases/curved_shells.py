"""Cylindrical shells of first-order theory with diaphragms at their ends: a double series and a Ritz method.

With x along the axis and an angle t, u and the rotation of x go with cos(k x), v, w and the rotation of t with sin(k x), k = m pi / L:

    e_x = u_x    e_t = (v_t + w) / R    g_xt = v_x + u_t / R    g_x = w_x + a    g_t = (w_t - v) / R + b
    k_x = a_x    k_t = b_t / R          k_xt = b_x + a_t / R + (v_x - u_t / R) / (2 R)        (Sanders; Naghdi)
"""

import numpy as np


def expected():
    return {
        "pinched cylinder with end diaphragms: deflection under the force [1e-5 in]": 1e5 * pinched(),
        "barrel vault under its weight: deflection of the middle of the free edge [ft]": roof(),
    }


def stiffness(E, nu, h, shear):
    """Return the moduli against e_x, e_t, g_xt, k_x, k_t, k_xt, g_x, g_t; `shear` is the factor of transverse shear, infinity for thin shells."""
    A, D, G = E * h / (1 - nu**2), E * h**3 / 12 / (1 - nu**2), E / (2 + 2 * nu)
    C = np.zeros((8, 8))
    C[:2, :2], C[3:5, 3:5] = A * np.array([[1, nu], [nu, 1]]), D * np.array([[1, nu], [nu, 1]])
    C[2, 2], C[5, 5] = G * h, G * h**3 / 12
    C[6, 6] = C[7, 7] = shear * G * h
    return C


def pinched():
    """Return the deflection under one of two unit forces that pinch a cylinder, L = 600, R = 300, h = 3, E = 3e6, nu = 0.3.

    Navier's double series; the shell is thin (transverse shear a million times too stiff), since under a point force a shell with shear
    moves without bound.
    """
    L, R = 600.0, 300.0
    C = stiffness(3e6, 0.3, 3.0, 1e6)
    m, n = np.meshgrid(np.arange(1, 600, 2), np.arange(0, 1000, 2), indexing="ij")
    k, n = (np.pi / L * m).ravel(), n.ravel().astype(float)
    B = np.zeros(
        (len(k), 8, 5)
    )  # on u, v, w, a, b; u and a go with cos(k x) cos(n t), v and b with sin sin, w with sin cos
    r = n / R
    B[:, 0, 0], B[:, 1, 1], B[:, 1, 2] = -k, r, 1 / R
    B[:, 2, 1], B[:, 2, 0] = k, -r
    B[:, 3, 3], B[:, 4, 4] = -k, r
    B[:, 5, 4], B[:, 5, 3], B[:, 5, 1], B[:, 5, 0] = k, -r, k / (2 * R), r / (2 * R)
    B[:, 6, 2], B[:, 6, 3] = k, 1
    B[:, 7, 2], B[:, 7, 1], B[:, 7, 4] = -r, -1 / R, 1
    K = np.einsum("pia,ij,pjb->pab", B, C, B, optimize=True)
    load = np.zeros((len(k), 5, 1))
    load[:, 2, 0] = 4 / (L * np.pi * R) * np.where(n > 0, 1.0, 0.5)  # two forces; sin(m pi / 2)^2 = 1
    away = n > 0
    w = np.linalg.solve(K[away], load[away])[:, 2, 0].sum()
    round_ = np.ix_(np.flatnonzero(~away), [0, 2, 3], [0, 2, 3])  # n = 0: nothing turns about the axis
    return w + np.linalg.solve(K[round_], load[~away][:, [0, 2, 3]])[:, 1, 0].sum()


def roof():
    """Return how far the middle of a free edge moves down: L = 50, R = 25, 80 degrees, h = 0.25, E = 4.32e8, nu = 0, 90 a unit of area.

    Polynomials in the angle by the energy, so that the free edges need no condition; shear factor 5/6.
    """
    L, R, half = 50.0, 25.0, np.radians(40.0)
    C = stiffness(4.32e8, 0.0, 0.25, 5 / 6)
    z, weight = np.polynomial.legendre.leggauss(60)
    t, weight = half * (z + 1) / 2, half * weight / 2 * R
    even, odd = np.arange(0, 28, 2), np.arange(1, 29, 2)
    size, down = len(even), 0.0

    def shapes(s, degrees):
        P = [np.polynomial.legendre.Legendre.basis(d) for d in degrees]
        return np.array([p(s) for p in P]).T, np.array([p.deriv()(s) for p in P]).T / half

    (fe, de), (fo, do) = shapes(t / half, even), shapes(t / half, odd)
    u, v, w, a, b = (slice(i * size, (i + 1) * size) for i in range(5))
    for m in range(1, 40, 2):
        k = m * np.pi / L
        B = np.zeros((len(t), 8, 5 * size))
        B[:, 0, u], B[:, 1, v], B[:, 1, w] = -k * fe, do / R, fe / R
        B[:, 2, v], B[:, 2, u] = k * fo, de / R
        B[:, 3, a], B[:, 4, b] = -k * fe, do / R
        B[:, 5, b], B[:, 5, a], B[:, 5, v], B[:, 5, u] = k * fo, de / R, k * fo / (2 * R), -de / (2 * R**2)
        B[:, 6, w], B[:, 6, a] = k * fe, fe
        B[:, 7, w], B[:, 7, v], B[:, 7, b] = de / R, -fo / R, fo
        K = np.einsum("p,pia,ij,pjb->ab", weight, B, C, B, optimize=True)
        load = np.zeros(5 * size)
        share = 90.0 * 4 / (m * np.pi) * weight
        load[w], load[v] = -fe.T @ (share * np.cos(t)), fo.T @ (share * np.sin(t))
        x = np.linalg.solve(K, load)
        edge_e, edge_o = (shapes(np.array([1.0]), d)[0][0] for d in (even, odd))
        up = edge_e @ x[w] * np.cos(half) - edge_o @ x[v] * np.sin(half)
        down -= up * (-1) ** (m // 2)
    return down
