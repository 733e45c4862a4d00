"""Link 2 of Ledesma & Bayo 1993 alone: six Hermite elements on a hinge, no hub, no tip mass."""

import numpy as np
from beam_shapes import hermite
from scipy.linalg import eig, eigh

L, AREA, SECOND, YOUNG, DENSITY = 0.66, 4.0e-5, 8.5e-12, 14e9, 2715.0


def link():
    """Return stiffness and mass of the pinned link; the torque acts on entry 0, the tip is the last but one."""
    K, M = hermite(L, YOUNG * SECOND, DENSITY * AREA, 6)
    return K[1:, 1:], M[1:, 1:]


def acceleration(s, period, turn=0.7):
    """Return the angular acceleration of the profile A sin(2 pi s) (1 - cos(2 pi s)), s = t / T."""
    inside = (s >= 0) & (s <= 1)
    return (
        inside * turn * 2 * np.pi / (0.75 * period**2) * np.sin(2 * np.pi * s) * (1 - np.cos(2 * np.pi * s))
    )


def zeros():
    K, M = link()
    n = len(K)
    left, right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    left[:n, :n], right[:n, :n] = -K, M
    left[0, n] = left[n, n - 2] = 1.0
    found = eig(left, right, right=False)
    found = found[np.isfinite(found) & (np.abs(found) < 1e9)].real
    return np.sort(found[found > 0])


def inverse(period):
    """Return times and the torque that moves the tip along L times the profile, by 8192 frequencies over 16 periods."""
    K, M = link()
    count, span = 8192, 16 * period
    t = (np.arange(count) - 3840) * span / count
    wanted = np.fft.fft(L * acceleration(t / period, period))
    omega = 2 * np.pi * np.fft.fftfreq(count, span / count)
    tau = np.zeros(count, complex)
    unit = np.eye(len(K))[0]
    for k in range(1, count // 2):
        tau[k] = wanted[k] / (-(omega[k] ** 2) * np.linalg.solve(K - omega[k] ** 2 * M, unit)[-2])
        tau[-k] = tau[k].conj()
    return t, np.fft.ifft(tau).real


def rigid_peak(period):
    return DENSITY * AREA * L**3 / 3 * np.abs(acceleration(np.linspace(0, 1, 100001), period)).max()


def expected():
    K, M = link()
    hertz = np.sqrt(np.abs(eigh(K, M, eigvals_only=True)[:4])) / (2 * np.pi)
    return {
        "pinned-free beam of six elements: frequencies [Hz]": hertz,
        "link on a hinge, functions of the nodes as modes: first frequency [Hz]": hertz[1],
        "zeros from torque to tip: s^2 [1/s^2]": zeros()[:3],
        "rigid torque: peak [N m]": rigid_peak(0.5),
    }
