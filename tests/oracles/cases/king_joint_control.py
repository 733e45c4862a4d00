"""King 1988, sections 4.6 and 4.9.1: links under driven joints, one link under a slow and a fast controller."""

import numpy as np
from beam_shapes import clamped_roots, clamped_shape, gauss
from scipy.linalg import expm, solve_continuous_are

DENSITY, YOUNG, L, PAYLOAD = 2.78e3, 6.9e10, 1.22, 0.3
RADII = (0.010, 0.008)


def frequencies(q3):
    """Return the frequencies of the links in their plane when the joints do not move: H22 delta'' + K delta = 0."""
    s, w = gauss(40)
    root = clamped_roots(1)[0]
    psi, tip, slope = clamped_shape(root, s), clamped_shape(root, 1.0), clamped_shape(root, 1.0, 1) / L
    masses = [DENSITY * np.pi * r**2 * L for r in RADII]
    e = np.exp(1j * q3)
    end = np.append(s * L, L)
    first = np.array([1j * psi, 0 * psi])
    second = np.array([1j * tip + 1j * slope * e * end, 1j * e * np.append(psi, tip)])
    grad = np.concatenate([first, second], axis=1)
    m = np.concatenate([w * masses[0], w * masses[1], [PAYLOAD]])
    H = (grad * m @ grad.conj().T).real
    K = np.diag([YOUNG * np.pi * r**4 / 4 * (root / L) ** 4 * L for r in RADII])
    return np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(H, K)).real)) / (2 * np.pi)


def slowest(slow, fast, damping=0.03, part=True, kp=100.0, kd=20.0):
    """Return the size of the slowest pole over a slow period: rigid computed torque, and LQR of the deflection, both held."""
    b = clamped_roots(1, tip=2.0)[0]
    s, w = gauss(60)
    k = (np.cos(b) + np.cosh(b)) / (np.sin(b) + np.sinh(b))
    psi, end = (np.cosh(b * x) - np.cos(b * x) - k * (np.sinh(b * x) - np.sin(b * x)) for x in (s, 1.0))
    m, c, J, omega = w @ psi**2 + 2 * end**2, w @ (s * psi) + 2 * end, 1 / 3 + 2, 2 * np.pi * 10
    K, D = m * omega**2, 2 * damping * omega * m
    W = np.linalg.inv([[J, c], [c, m]])
    A = np.array([[0, 1], [-W[1, 1] * K, -W[1, 1] * D]])
    B = np.array([[0], [W[1, 0]]])
    Q, R = np.diag([K, 1 / W[1, 1]]), np.array([[1 / (J * kp)]])
    G = part * (B.T @ solve_continuous_are(A, B, Q, R) / R).ravel()
    # states q, delta, their rates, and the two held torques
    F = np.zeros((6, 6))
    F[:2, 2:4] = np.eye(2)
    F[2:4] = W @ np.array([[0, 0, 0, 0, 1, 1], [0, -K, 0, -D, 0, 0]])
    # nu of the slow part bends the link by -c nu / K
    rigid = np.eye(6)
    rigid[4] = [-J * kp, 0, -J * kd, 0, 0, 0]
    vibration = np.eye(6)
    held = np.array([0, 0, 0, 0, -c / (J * K), 0])
    vibration[5] = [0, -G[0], 0, -G[1], 0, 0] + G[0] * held
    flow = expm(F * fast)
    whole = np.eye(6)
    for i in range(round(slow / fast)):
        whole = flow @ vibration @ (rigid if i == 0 else np.eye(6)) @ whole
    return np.abs(np.linalg.eigvals(whole)).max()


def expected():
    t = np.array([0.1, 0.2, 0.4])
    return {
        "example 4.6: joints 0.1, 0.2 and 0.4 s after a step of 10 deg [deg]": [
            10 * (1 - (1 + 10 * t) * np.exp(-10 * t))
        ]
        * 3,
        "example 4.6: frequencies of the links in the plane of the arm, joints driven [Hz]": frequencies(
            np.pi / 4
        ),
        "one link, slow part at 20 and 50 Hz, fast part at 100 Hz: size of the slowest pole over a slow period": [
            slowest(0.05, 0.01),
            slowest(0.02, 0.01),
        ],
        "one link without damping, slow part at 20 Hz: size of the slowest pole over a slow period, alone and with the fast part at 500 Hz": [
            slowest(0.05, 0.002, damping=0.0, part=False),
            slowest(0.05, 0.002, damping=0.0),
        ],
    }
