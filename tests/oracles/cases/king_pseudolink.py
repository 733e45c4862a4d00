"""King 1988, chapter 4: zero dynamics of two links in their plane, torques of the rigid arm, one link under sampled joint control."""

import numpy as np
from beam_shapes import clamped_roots, clamped_shape, gauss
from rigid_arms import Arm
from scipy.linalg import expm
from scipy.optimize import brentq

DENSITY, YOUNG, L, PAYLOAD = 2.78e3, 6.9e10, 1.22, 0.3
THIN, THICK = (0.010, 0.008), (0.05, 0.05)
START, TURN = np.radians([0, -45, 45]), np.radians([90, 90, -90])


def zero_dynamics(q3):
    """Return the zeros on the right: gamma = q + F delta is held, H21 gamma'' + (H22 - H21 F) delta'' + K delta = 0."""
    s, w = gauss(40)
    root = clamped_roots(1)[0]
    psi, tip, slope = clamped_shape(root, s), clamped_shape(root, 1.0), clamped_shape(root, 1.0, 1) / L
    masses = [DENSITY * np.pi * r**2 * L for r in THIN]
    e = np.exp(1j * q3)
    x, y, end = s * L, np.append(psi, tip), np.append(s * L, L)
    # derivatives of points by q2, q3, d2, d3 at rest, link 2 along the real axis
    first = np.array([1j * x, 0 * x, 1j * psi, 0 * x])
    second = np.array([1j * L + 1j * e * end, 1j * e * end, 1j * tip + 1j * slope * e * end, 1j * e * y])
    grad = np.concatenate([first, second], axis=1)
    m = np.concatenate([w * masses[0], w * masses[1], [PAYLOAD]])
    H = (grad * m @ grad.conj().T).real
    K = np.diag([YOUNG * np.pi * r**4 / 4 * (root / L) ** 4 * L for r in THIN])
    F = np.array(
        [[tip / L, 0], [slope - tip / L, tip / L]]
    )  # gamma2 = q2 + beta2, gamma3 = q3 + beta3 + phi2 - beta2
    squares = np.linalg.eigvals(np.linalg.solve(H[2:, 2:] - H[2:, :2] @ F, -K))
    return np.sort(np.sqrt(squares[squares.real > 0].real))


def alone(q3):
    """Return the frequencies of each link with the other one stiff and the joints held [Hz]."""
    s, w = gauss(40)
    root = clamped_roots(1)[0]
    psi, tip, slope = clamped_shape(root, s), clamped_shape(root, 1.0), clamped_shape(root, 1.0, 1) / L
    masses = [DENSITY * np.pi * r**2 * L for r in THIN]
    beyond = tip + slope * np.exp(1j * q3) * np.append(s * L, L)
    m = np.append(w * masses[1], PAYLOAD)
    H = [w @ psi**2 * masses[0] + m @ np.abs(beyond) ** 2, m @ np.append(psi, tip) ** 2]
    K = [YOUNG * np.pi * r**4 / 4 * (root / L) ** 4 * L for r in THIN]
    return np.sqrt(np.divide(K, H)) / (2 * np.pi)


def peaks(radii):
    """Return the largest torques of rigid links on the course of section 4.8."""
    masses = [DENSITY * np.pi * r**2 * L for r in radii]
    loads = [0.0, PAYLOAD]
    total = [m + p for m, p in zip(masses, loads)]
    com = [(m / 2 + p) * L / t for m, p, t in zip(masses, loads, total)]
    about = [m * r**2 / 2 for m, r in zip(masses, radii)]
    across = [
        m * L**2 / 3 + p * L**2 - t * c**2 + m * r**2 / 4
        for m, p, t, c, r in zip(masses, loads, total, com, radii)
    ]
    arm = Arm(
        twist=[0, 90, 0],
        mass=[0.79, *total],
        inertia=[[1e-3, 1e-3, 3.5e-4], *([a, b, b] for a, b in zip(about, across))],
        k=[[0, 0, -0.05], [-com[0], 0, 0], [-com[1], 0, 0]],
        hinge=[[0, 0, 0], [0, 0, 0.05], [L - com[0], 0, 0]],
        parent=[-1, 0, 1],
    )
    found = []
    for t in np.linspace(0, 2, 401):
        for push in (1.0, -1.0) if t == 1 else ((1.0,) if t < 1 else (-1.0,)):
            way, speed = (t * t / 2, t) if t <= 1 else (1 - (2 - t) ** 2 / 2, 2 - t)
            found.append(arm.torques(START + TURN * way, TURN * speed, TURN * push))
    return np.abs(found).max(0)


def radius(rate):
    """Return the spectral radius of a period: 1 m, 1 kg, 2 kg at the tip, 10 Hz locked, 3 %; rigid computed torque, held."""
    b = clamped_roots(1, tip=2.0)[0]
    s, w = gauss(60)
    k = (np.cos(b) + np.cosh(b)) / (np.sin(b) + np.sinh(b))
    psi, end = (np.cosh(b * x) - np.cos(b * x) - k * (np.sinh(b * x) - np.sin(b * x)) for x in (s, 1.0))
    m, c, J, omega = w @ psi**2 + 2 * end**2, w @ (s * psi) + 2 * end, 1 / 3 + 2, 2 * np.pi * 10
    inverse = np.linalg.inv([[J, c], [c, m]])
    A = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-inverse @ np.diag([0, m * omega**2]), -inverse @ np.diag([0, 0.06 * omega * m])],
        ]
    )
    B = np.concatenate([np.zeros(2), inverse[:, 0]])[:, None]
    E = expm(np.block([[A, B], [np.zeros((1, 5))]]) / rate)
    return np.abs(np.linalg.eigvals(E[:4, :4] - E[:4, 4:] @ (J * np.array([[100, 0, 20, 0]])))).max()


def expected():
    lost = brentq(lambda f: radius(f) - 1, 9, 12)
    assert abs(lost - 10.258) < 1e-3  # not the 25 Hz of the thesis: a known deviation
    return {
        "masses of links 2 and 3 [kg]": [DENSITY * np.pi * r**2 * L for r in THIN],
        "zero dynamics in the plane of the arm, q3 = 45 and 80 deg [1/s]": [
            zero_dynamics(np.radians(a)) for a in (45, 80)
        ],
        "table 4.1: what the printed masses and lengths give for them [Hz]": alone(np.pi / 4),
        "peak torques of the rigid arm, thin links [N m]": peaks(THIN),
        "peak torques of the rigid arm, links of 0.05 m [N m]": peaks(THICK),
        "one link, computed torque of its joint at 50 Hz is stable (1 = yes)": radius(50) < 1,
        "one link, computed torque of its joint: spectral radius at 50, 25, 10 Hz": [
            radius(f) for f in (50, 25, 10)
        ],
    }
