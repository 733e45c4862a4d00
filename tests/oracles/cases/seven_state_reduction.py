"""Printed polynomials of Chiang & Safonov 1989: residues in 60 digits; truncations and their errors in double precision."""

import mpmath as mp
import numpy as np
from scipy.linalg import solve_continuous_lyapunov, svd

mp.mp.dps = 60
N = [mp.mpf(x) / 20 for x in ("1", "801", "1024", "599", "451", "119", "49", "5.55")]
D = [mp.mpf(x) for x in ("1", "12.6", "53.48", "90.94", "71.83", "27.22", "4.75", "0.3")]


def value(coefficients, x):
    """Return a polynomial by Horner's rule, highest power first."""
    out = mp.mpf(0)
    for c in coefficients:
        out = out * x + c
    return out


def hankel(residues, poles):
    """Return Hankel singular values of sum of residues / (s - poles)."""
    n = len(poles)
    P, Q = mp.matrix(n, n), mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            P[i, j] = -1 / (poles[i] + mp.conj(poles[j]))
            Q[i, j] = -mp.conj(residues[i]) * residues[j] / (mp.conj(poles[i]) + poles[j])
    values = mp.eig(P * Q, left=False, right=False)
    return sorted((mp.sqrt(abs(v)) for v in values), reverse=True)


def both():
    """Return singular values of the plant and of its phase function d(-s) n(s) / (m(-s) d(s)), m with zeros on the left."""
    poles = mp.polyroots(D[::-1], maxsteps=500, extraprec=400, asc=True)
    zeros = mp.polyroots(N[::-1], maxsteps=500, extraprec=400, asc=True)
    left = [z if z.real < 0 else -mp.conj(z) for z in zeros]
    slope = [value([c * (7 - k) for k, c in enumerate(D[:-1])], p) for p in poles]

    def product(points, at):
        out = mp.mpf(1)
        for x in points:
            out *= at - x
        return out

    plain = [value(N, p) / d for p, d in zip(poles, slope)]
    phase = [r * value(D, -p) / (N[0] * product(left, -p)) for r, p in zip(plain, poles)]
    return hankel(plain, poles), hankel(phase, poles)


def realization():
    """Return the plant with real blocks, scaled for double precision: controller form balanced by powers of two."""
    n, d = np.array([float(x) for x in N]), np.array([float(x) for x in D])
    A = np.vstack([-d[1:], np.eye(7)[:-1]])
    return A, np.eye(7)[:, :1], (n - n[0] * d)[None, 1:], n[0]


def truncated(P, Q, order):
    """Return the truncation by the square roots of two Gramians."""
    A, B, C, D0 = realization()
    S, R = root(P), root(Q)
    U, values, Vt = svd(R.T @ S)
    T = S @ Vt[:order].T / np.sqrt(values[:order])
    W = R @ U[:, :order] / np.sqrt(values[:order])
    return W.T @ A @ T, W.T @ B, C @ T, D0


def root(P):
    values, vectors = np.linalg.eigh((P + P.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0))


def response(model, omega):
    A, B, C, D0 = model
    return np.array([(C @ np.linalg.solve(1j * w * np.eye(len(A)) - A, B))[0, 0] + D0 for w in omega])


def expected():
    values, phase = (np.array([float(v) for v in x]) for x in both())
    A, B, C, D0 = realization()
    P, Q = solve_continuous_lyapunov(A, -B @ B.T), solve_continuous_lyapunov(A.T, -C.T @ C)
    omega = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 6001)])
    G = response((A, B, C, D0), omega)
    errors = {k: np.abs(G - response(truncated(P, Q, k), omega)) for k in (3, 4, 5)}
    return {
        "singular values of the phase matrix, 1-6, to 60 digits": phase[:6],
        "singular value 7 of the phase matrix, times 1e6": 1e6 * phase[6],
        "Hankel singular values 1-6": values[:6],
        "Hankel singular value 7, times 1e6": 1e6 * values[6],
        "BT to 3, 4, 5 states: additive error": [errors[k].max() for k in (3, 4, 5)],
        "BT to 3, 4, 5 states: bound": [2 * values[k:].sum() for k in (3, 4, 5)],
        "BT to 3 states: relative error": (errors[3] / np.abs(G)).max(),
        **stochastic(P, omega, G),
    }


def stochastic(P, omega, G):
    """Return relative errors of balanced stochastic truncation: Q of A'Q + QA + (C - Bw'Q)' (C - Bw'Q) / D^2 = 0."""
    A, B, C, D0 = realization()
    Bw = P @ C.T + B * D0
    low = A - Bw @ C / D0**2
    H = np.block([[low, Bw @ Bw.T / D0**2], [-C.T @ C / D0**2, -low.T]])
    values, vectors = np.linalg.eig(H)
    stable = vectors[:, values.real < 0]
    Q = np.real(stable[7:] @ np.linalg.inv(stable[:7]))
    errors = [(np.abs(G - response(truncated(P, Q, k), omega)) / np.abs(G)).max() for k in (3, 4, 5)]
    return {"BST to 3, 4 states: relative error": errors[:2], "BST to 5 states: relative error": errors[2]}
