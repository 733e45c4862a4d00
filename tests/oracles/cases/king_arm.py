"""Two equal links of King 1988: points of the plane as complex numbers, exact clamped mode, tip turned by its slope."""

import numpy as np
from beam_shapes import clamped_roots, clamped_shape, gauss, hermite
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

LENGTH, RADIUS, DENSITY, YOUNG, G = 1.22, 0.006, 2.78e3, 6.9e10, 9.81
MASS = DENSITY * np.pi * RADIUS**2 * LENGTH
ROUND, SQUARE = YOUNG * np.pi * RADIUS**4 / 4, YOUNG * (2 * RADIUS) ** 4 / 12
ROOT = clamped_roots(1)[0]
S, W = gauss(24)
PSI, TIP, SLOPE = clamped_shape(ROOT, S), clamped_shape(ROOT, 1.0), clamped_shape(ROOT, 1.0, 1) / LENGTH
STIFFNESS = ROUND * (ROOT / LENGTH) ** 4 * LENGTH


def points(z, zd, payload):
    """Return places, their derivatives by z (4, points), accelerations without z'', masses."""
    q1, d1, q2, d2 = z
    e1, e2 = np.exp(1j * q1), np.exp(1j * (q1 + SLOPE * d1 + q2))
    own = zd[0], zd[0] + SLOPE * zd[1] + zd[2]
    first = e1 * (S * LENGTH + 1j * PSI * d1)
    elbow, at_tip = e1 * (LENGTH + 1j * TIP * d1), e1 * 1j * TIP
    x, psi = np.append(S * LENGTH, LENGTH), np.append(PSI, TIP)
    second = e2 * (x + 1j * psi * d2)
    zero, one = np.zeros_like(first), np.ones_like(second)
    grad1 = np.array([1j * first, e1 * 1j * PSI, zero, zero])
    grad2 = np.array([1j * elbow + 1j * second, at_tip + 1j * SLOPE * second, 1j * second, e2 * 1j * psi])
    bend1 = -(own[0] ** 2) * first + 2j * own[0] * e1 * 1j * PSI * zd[1]
    bend_elbow = -(own[0] ** 2) * elbow + 2j * own[0] * at_tip * zd[1]
    bend2 = bend_elbow * one - own[1] ** 2 * second + 2j * own[1] * e2 * 1j * psi * zd[3]
    masses = np.concatenate([W * MASS, W * MASS, [payload]])
    return np.concatenate([grad1, grad2], axis=1), np.concatenate([bend1, bend2]), masses


def equations(z, zd, payload):
    grad, bend, masses = points(z, zd, payload)
    H = (grad * masses @ grad.conj().T).real
    bias = (grad.conj() * masses @ (bend + 1j * G)).real
    return H, bias + STIFFNESS * np.array([0, z[1], 0, z[3]])


def first(payload=0.0, angle=0.0):
    """Return the first frequency of link 1 of 8 elements, clamped, with link 2 as a rigid rod at an angle on its tip [Hz]."""
    K, M = hermite(LENGTH, SQUARE, MASS / LENGTH, 8)
    away = np.cos(np.radians(angle))
    total, moment = MASS + payload, MASS * LENGTH / 2 + payload * LENGTH
    M[-2:, -2:] += [[total, moment * away], [moment * away, MASS * LENGTH**2 / 3 + payload * LENGTH**2]]
    return np.sqrt(eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True)[0]) / (2 * np.pi)


def swing():
    def rate(_, x):
        H, bias = equations(x[:4], x[4:], 0.0)
        return np.concatenate([x[4:], -np.linalg.solve(H, bias)])

    start = [-np.pi / 2, 0, np.radians(10), 0, 0, 0, 0, 0]
    t = np.linspace(0, 5, 10001)
    return 1e3 * np.abs(TIP * solve_ivp(rate, (0, 5), start, "DOP853", rtol=1e-9, atol=1e-12, t_eval=t).y[1])


def expected():
    z, zd, zdd = np.array([[0.3, 0.02, -0.7, 0.015], [1.0, 0.3, -0.5, 0.2], [0.5, -1.0, 2.0, 0.7]])
    H, bias = equations(z, zd, 0.2)
    FE = [first(payload=m) for m in (0, 0.2, 0.4, 0.6, 0.8)] + [first(angle=a) for a in (90, 180)]
    tau = H @ zdd + bias
    return {
        "FE, payload 0 to 0.8 kg, then q2 = 90, 180 deg [Hz]": FE,
        "mass of a link [kg]": MASS,
        "modal stiffness for a tip deflection of 2 [N/m], slope at the tip [1/m]": [STIFFNESS, SLOPE],
        "inverse dynamics, one mode a link, payload 0.2 kg [N m, N]": tau,
        "bias, the same [N m, N]": bias,
        "H, the same": H,
        "Lagrange's equations of the case, tip rotation as in the thesis: torques [N m, N]": tau,
        "Lagrange's equations of the case, tip rotation as in the thesis: bias [N m, N]": bias,
        "Lagrange's equations of the case, tip rotation as in the thesis: H": H,
    }


def slowly():
    bend = swing()
    return {
        "free swing from (-90, 10) deg for 5 s: largest deflection of link 1, one mode [mm]": bend.max(),
        "the same, looked at every 50 ms only [mm]": bend[::100].max(),
    }
