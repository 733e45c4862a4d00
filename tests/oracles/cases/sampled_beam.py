"""Beam of Bennett 1989: eq. 4.2, and spectral factors by logarithms and Fourier sums on w = tan(theta / 2)."""

import numpy as np
import scipy.linalg

L, ZETA, PLACE, MU = 10.0, 0.01, 7.0, 0.1


def beam(w):
    """Return eq. 4.2 with decaying exponentials only."""
    s = 1j * np.asarray(w, dtype=float)
    l1 = np.sqrt((-ZETA + 1j * np.sqrt(1 - ZETA**2)) * s * L**2)
    l2 = np.sqrt((ZETA + 1j * np.sqrt(1 - ZETA**2)) * s * L**2)
    r = PLACE / L

    def ratio(x):
        """Return sinh(x r) / sinh(x) for either sign of the real part of x."""
        x = np.where(x.real < 0, -x, x)
        return (np.exp(x * (r - 1)) - np.exp(-x * (r + 1))) / (1 - np.exp(-2 * x))

    return L**2 * (ratio(l2) - ratio(1j * l1)) / (l1**2 + l2**2)


def factor(spectrum, omega, count=2**14):
    """Return the stable factor of a scalar spectrum at some frequencies."""
    theta = 2 * np.pi * (np.arange(count) + 0.5) / count - np.pi
    logs = np.log(spectrum(np.tan(theta / 2)))
    k = np.arange(1, count // 2)
    # log H = sum c_k z^-k with z = exp(j theta); c_-k is its conjugate
    c0 = logs.mean()
    sums = np.fft.ifft(logs) * np.exp(1j * np.arange(count) * theta[0])
    at = 2 * np.arctan(omega)
    return np.array([np.exp(c0 / 2 + (sums[k] * np.exp(-1j * k * a)).sum()) for a in at])


def expected():
    w = np.array([0.02, 0.05, 0.2, 0.3948, 1, 2, 5, 10, 20])
    found = factor(lambda w: np.abs(beam(w)) ** 2 + MU, w)
    residuals = matrix_iteration()
    return {
        "unstable plant 1 / (s - 1): least mean square": least_mean_square(
            [[1.0]], [[1.0]], [[1.0]], 1.0, 0.1
        ),
        "beam beside a divergence at 0.2 rad/s: least mean square": least_mean_square(
            *unstable_beam(), 0.05, 0.01
        ),
        "matrix spectrum: residuals of the first three iterations": residuals[:3],
        "matrix spectrum: iterations to 1e-12": next(i for i, r in enumerate(residuals) if r < 1e-12),
        "response at 0.05, 0.0987, 1, 5, 20, 77 rad/s [-]": np.abs(beam([0.05, 0.0987, 1, 5, 20, 77])),
        "spectral factor at 0.02, 0.05, 0.2, 0.3948, 1, 2, 5, 10, 20 rad/s: size": np.abs(found),
        "spectral factor: phase there [deg]": np.degrees(np.angle(found)),
    }


def projected(values, theta0):
    """Return the causal part of matrices on the circle: powers of 1 / z, and half of the constant."""
    count = len(values)
    shift = np.exp(1j * np.arange(count) * theta0)[:, None, None]
    c = np.fft.ifft(values, axis=0) * shift
    c[0] /= 2
    c[count // 2 :] = 0
    return np.fft.fft(c / shift, axis=0)


def matrix_iteration(count=512, scale=2.0):
    """Return the residuals of eq. 3.4 for H = F* F of a known F."""
    theta = 2 * np.pi * (np.arange(count) + 0.5) / count - np.pi
    s = 1j * scale * np.tan(theta / 2)
    F = np.moveaxis(np.array([[(s + 2) / (s + 1), 1 / (s + 3)], [0.5 / (s + 1), (s + 4) / (s + 2)]]), 2, 0)
    H = F.conj().swapaxes(1, 2) @ F
    diagonal = [factor_on_circle(H[:, i, i].real, theta) for i in range(2)]
    inverse = np.zeros_like(H)
    for i in range(2):
        inverse[:, i, i] = 1 / diagonal[i]
    residuals = []
    for _ in range(6):
        X = inverse.conj().swapaxes(1, 2) @ H @ inverse - np.eye(2)
        residuals.append(np.abs(X).max())
        inverse = inverse @ np.linalg.inv(np.eye(2) + projected(X, theta[0]))
    return residuals


def factor_on_circle(values, theta):
    return np.exp(projected(np.log(values).astype(complex)[:, None, None], theta[0])[:, 0, 0])


def unstable_beam(modes=60):
    """Return (A, B, C) of the beam by its modes beside 0.5 / (s - 0.2)."""
    k = np.arange(1, modes + 1) * np.pi / L
    gains = 2 / L * k * (-1.0) ** np.arange(1, modes + 1) * np.sin(k * PLACE)
    blocks = [[[0, 1], [-(x**4), -2 * ZETA * x**2]] for x in k]
    B = np.concatenate([np.tile([0.0, 1.0], modes), [1.0]])[:, None]
    C = np.concatenate([np.ravel([[g, 0.0] for g in gains]), [0.5]])[None]
    return scipy.linalg.block_diag(*blocks, 0.2), B, C


def least_mean_square(A, B, C, rate, noise):
    """Return the least mean square of d - C x and sqrt(mu) u for y = d - C x + n; d' = -rate d + white noise, n white."""
    n = len(A)
    A = scipy.linalg.block_diag(A, -rate)
    B = np.vstack([B, [[0.0]]])
    H = np.hstack([-np.asarray(C), [[1.0]]])
    V = np.zeros((n + 1, n + 1))
    V[n, n] = 1.0
    # the cost does not see states apart from H, nor do disturbances reach them: the stabilizing solutions are those of the extended pencil
    X = scipy.linalg.solve_continuous_are(A, B, H.T @ H, MU * np.eye(1))
    Y = scipy.linalg.solve_continuous_are(A.T, H.T, V, noise * np.eye(1))
    K = B.T @ X / MU
    return float(np.trace(X @ V) + MU * (K @ Y @ K.T)[0, 0])
