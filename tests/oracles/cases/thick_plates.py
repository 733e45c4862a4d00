"""Thick plates: series of Navier and Levy for first-order theory, and three-dimensional elasticity of a sandwich strip (Pagano 1969).

The strip by transfer matrices through its layers, plane strain across: with u = U cos(p x), w = W sin(p x), sigma_zz = Z sin(p x), tau_xz = X cos(p x),
p = pi / length, the state (U, W, Z, X) obeys a linear equation in z in each layer; the faces have no stress but Z = 1 on top. Layers are stiff
across (E3 = 1e4, no contraction by it).
"""

import mpmath as mp
import numpy as np
from scipy.linalg import eigh, expm

LAYERS = ((0.025, 1000.0), (0.95, 1.0), (0.025, 1000.0))
NU, E3, LENGTH = 0.3, 1e4, 20.0


def expected():
    return {
        "sandwich strip, length 20, under a sine of pressure: deflection": strip(),
        "cross-ply [0/90/90/0], shear factor 5/6, a / h = 4, 10, 100: 100 w E2 h^3 / q a^4": [
            cross_ply(a) for a in (4.0, 10.0, 100.0)
        ],
        "supported square plates, h / a = 1e-4, 0.01, 0.1, 0.2: 100 w D / q a^4": [
            100 * supported(h) for h in (1e-4, 0.01, 0.1, 0.2)
        ],
        "the same plates: lowest frequency, omega a^2 sqrt(m / D)": [
            lowest(h) for h in (1e-4, 0.01, 0.1, 0.2)
        ],
        "square plates, two sides supported and two clamped, h / a = 0.01, 0.1, 0.2: 100 w D / q a^4": [
            100 * levy(h) for h in (0.01, 0.1, 0.2)
        ],
    }


def strip():
    p, T, middle = np.pi / LENGTH, np.eye(4), None
    for thickness, E in LAYERS:
        c11, c33, G = E / (1 - NU**2), E3, E / (2 + 2 * NU)
        A = np.array([[0, -p, 0, 1 / G], [0, 0, 1 / c33, 0], [0, 0, 0, p], [c11 * p * p, 0, 0, 0]])
        if thickness == max(t for t, _ in LAYERS):
            middle = expm(A * thickness / 2) @ T
        T = expm(A * thickness) @ T
    start = np.linalg.solve(T[2:, :2], [1.0, 0.0])
    return (middle[:, :2] @ start)[1]


def cross_ply(a):
    """Return 100 w E2 h^3 / q a^4 under q sin(pi x / a) sin(pi y / a), h = 1: one term of Navier's series in w and two rotations."""
    E1, E2, G12, G13, G23, nu = 25.0, 1.0, 0.5, 0.5, 0.2, 0.25
    share = 1 - nu * nu * E2 / E1
    D, S = np.zeros((3, 3)), np.zeros(2)
    for low, high, across in ((-0.5, -0.25, 0), (-0.25, 0.25, 1), (0.25, 0.5, 0)):
        along = [E2, E1] if across else [E1, E2]
        Q = np.diag([*along, G12 * share]) / share
        Q[0, 1] = Q[1, 0] = nu * E2 / share
        D += Q * (high**3 - low**3) / 3
        S += 5 / 6 * np.array([G23, G13] if across else [G13, G23]) * (high - low)
    k = np.pi / a
    K = np.diag(
        [k * k * S.sum(), D[0, 0] * k * k + D[2, 2] * k * k + S[0], D[2, 2] * k * k + D[1, 1] * k * k + S[1]]
    )
    K[0, 1:] = K[1:, 0] = k * S
    K[1, 2] = K[2, 1] = k * k * (D[0, 1] + D[2, 2])
    return 100 / a**4 * np.linalg.solve(K, [1.0, 0.0, 0.0])[0]


def shear_over_bending(h):
    """Return S / D of an isotropic plate of side 1, nu = 0.3, shear factor 5/6."""
    return 5 * (1 - mp.mpf("0.3")) / mp.mpf(h) ** 2


def supported(h):
    """Return w D / q a^4 in the middle of a square plate under pressure, all sides supported: Kirchhoff's plus M / S, lap M = -q (Levy's sums)."""
    s, total = shear_over_bending(h), mp.mpf(0)
    for m in range(1, 60, 2):
        k = m * mp.pi
        y, c = k / 2, mp.cosh(k / 2)
        thin, shear = 1 - (1 + y * mp.tanh(y) / 2) / c, 1 - 1 / c
        total += (-1) ** (m // 2) * 4 / k * (thin / k**4 + shear / (s * k**2))
    return float(total)


def levy(h):
    """Return w D / q a^4 in the middle; sides x = 0 and 1 are supported, y = +-1/2 clamped.

    w = W(y) sin(k x), beta_x = X(y) cos(k x), beta_y = Y(y) sin(k x): (W, W', X, X', Y, Y', 1) has constant coefficients; W and X are even.
    """
    mp.mp.dps = 120 if h < 0.05 else 60  # terms of exp(k / 2) and exp(sqrt(S / D)) are subtracted
    nu, s, total = mp.mpf("0.3"), shear_over_bending(h), mp.mpf(0)
    for m in range(1, 24, 2):
        k, A = m * mp.pi, mp.zeros(7)
        A[0, 1] = A[2, 3] = A[4, 5] = 1
        A[1, 0], A[1, 2], A[1, 5], A[1, 6] = k**2, k, -1, -4 / k / s
        A[3, 0], A[3, 2], A[3, 5] = (2 / (1 - nu) * x for x in (k * s, s + k**2, -(1 + nu) / 2 * k))
        A[5, 4], A[5, 1], A[5, 3] = s + (1 - nu) / 2 * k**2, s, (1 + nu) / 2 * k
        T = mp.expm(A / 2)
        ends, free = (0, 2, 4), (0, 2, 5)  # W, X, Y vanish at y = 1/2; W, X and Y' at y = 0 are not known
        a = mp.matrix([[T[e, f] for f in free] for e in ends])
        total += (-1) ** (m // 2) * mp.lu_solve(a, mp.matrix([-T[e, 6] for e in ends]))[0]
    return float(total)


def lowest(h):
    """Return omega a^2 sqrt(m / D): w and the rotation of a wave with k = sqrt(2) pi, with rotary inertia."""
    s, k = float(shear_over_bending(h)), np.sqrt(2) * np.pi
    return float(
        np.sqrt(
            eigh([[s * k * k, s * k], [s * k, k * k + s]], np.diag([1.0, h * h / 12]), eigvals_only=True)[0]
        )
    )
