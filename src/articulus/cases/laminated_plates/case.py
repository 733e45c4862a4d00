"""Laminates with and without coupling of stretch and bending: stiffness, and plates against Navier's closed forms."""

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from articulus.structure import Plate, Statics, normal_modes, panel
from articulus.structure.plate import Ply
from articulus.structure.ties import Components

GRAPHITE = Ply(5e-3, 181e9, 10.3e9, 0.28, 7.17e9, 1600.0)
LENGTH, WIDTH, PRESSURE = 6.0, 4.0, 1e3
ELEMENTS = 16


def compute() -> dict:
    ABD = laminate((0, 30, -45)).ABD
    layers = Plate.laminate([Ply(1e-3, 7e10, nu12=0.3, density=2700.0)] * 4)
    whole = Plate.isotropic(4e-3, 7e10, 0.3, 2700.0)
    return {
        "[0/30/-45], 5 mm each: A11, A12, A22, A16, A26, A66 [GN/m]": upper(ABD[:3, :3]) / 1e9,
        "the same: B11, B12, B22, B16, B26, B66 [MN]": upper(ABD[:3, 3:]) / 1e6,
        "the same: D11, D12, D22, D16, D26, D66 [kN m]": upper(ABD[3:, 3:]) / 1e3,
        "supported cross-ply plate [0/90]: first frequency over Navier's": frequency((0, 90), False),
        "supported angle-ply plate [45/-45]: first frequency over Navier's": frequency((45, -45), True),
        "supported cross-ply plate [0/90/90/0]: deflection of its middle over Navier's": deflection(),
        "four equal isotropic layers: largest difference of ABD from one of their sum, over D": np.abs(
            layers.ABD[3:, 3:] - whole.ABD[3:, 3:]
        ).max()
        / whole.ABD[3, 3],
    }


def laminate(angles: tuple[int, ...]) -> Plate:
    return Plate.laminate([replace(GRAPHITE, angle=np.radians(a)) for a in angles])


def upper(A: np.ndarray) -> np.ndarray:
    return np.array([A[0, 0], A[0, 1], A[1, 1], A[0, 2], A[1, 2], A[2, 2]])


def navier(plate: Plate, m: int, n: int, angle_ply: bool = False) -> np.ndarray:
    """Return the stiffness against the amplitudes (U, V, W) of waves m, n over a supported plate, (3, 3)."""
    A, B, D = plate.ABD[:3, :3], plate.ABD[:3, 3:], plate.ABD[3:, 3:]
    p, q = m * np.pi / LENGTH, n * np.pi / WIDTH
    s13 = -B[0, 0] * p**3 - (B[0, 1] + 2 * B[2, 2]) * p * q**2
    s23 = -(B[0, 1] + 2 * B[2, 2]) * p**2 * q - B[1, 1] * q**3
    if angle_ply:
        s13 = -(3 * B[0, 2] * p**2 * q + B[1, 2] * q**3)
        s23 = -(B[0, 2] * p**3 + 3 * B[1, 2] * p * q**2)
    s12 = (A[0, 1] + A[2, 2]) * p * q
    s33 = D[0, 0] * p**4 + 2 * (D[0, 1] + 2 * D[2, 2]) * p**2 * q**2 + D[1, 1] * q**4
    s11, s22 = A[0, 0] * p**2 + A[2, 2] * q**2, A[2, 2] * p**2 + A[1, 1] * q**2
    return np.array([[s11, s12, s13], [s12, s22, s23], [s13, s23, s33]])


def supports(slides: bool) -> dict[str, Components]:
    """Return supports of Navier's solutions: edges slide along themselves (angle-ply), or across (cross-ply)."""
    ends, sides = ("x", "y") if slides else ("y", "x")
    at_ends, at_sides = ("z", "rx", ends), ("z", "ry", sides)
    return {"root": at_ends, "tip": at_ends, "right": at_sides, "left": at_sides}


def frequency(angles: tuple[int, ...], angle_ply: bool) -> float:
    plate = laminate(angles)
    s = panel(LENGTH, WIDTH, plate, elements=(ELEMENTS, ELEMENTS), supports=supports(angle_ply))
    omega = normal_modes(s, 6).omega
    turning = plate.rotary * np.pi**2 * (LENGTH**-2 + WIDTH**-2)
    exact = eigh(
        navier(plate, 1, 1, angle_ply), np.diag([plate.mass, plate.mass, plate.mass + turning]), eigvals_only=True
    )  # fmt: skip
    return float(omega[omega > 0][0] / np.sqrt(exact[0]))


def deflection() -> float:
    plate = laminate((0, 90, 90, 0))
    s = panel(LENGTH, WIDTH, plate, elements=(ELEMENTS, ELEMENTS), supports=supports(False))
    assert s.samples is not None
    load = s.samples.translation.T @ np.outer(s.samples.area, [0.0, 0.0, PRESSURE]).ravel()
    middle = s.rows(f"node{ELEMENTS // 2}_{ELEMENTS // 2}")[2]
    odd = range(1, 60, 2)
    exact = sum(
        16 * PRESSURE / (np.pi**2 * m * n) * (-1) ** ((m + n) // 2 - 1) / navier(plate, m, n)[2, 2]
        for m in odd
        for n in odd
    )
    return float(middle @ Statics(s).solve(load) / exact)
