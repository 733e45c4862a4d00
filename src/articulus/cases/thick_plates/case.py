"""Thick plates of four-node Mindlin elements: closed forms at all thicknesses, printed laminates, a sandwich beside elasticity."""

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from articulus.structure import Plate, Statics, Structure, normal_modes, panel
from articulus.structure.plate import Ply
from articulus.structure.ties import Components

ELEMENTS = 16
FLAT: Components = ("x", "y", "rz")
ENDS: Components = ("z", "rx")
SUPPORTED: dict[str, Components] = {"root": ENDS, "tip": ENDS, "right": ("z", "ry"), "left": ("z", "ry")}
CLAMPED: dict[str, Components] = SUPPORTED | {"right": ("z", "rx", "ry"), "left": ("z", "rx", "ry")}
THICKNESSES = (1e-4, 1e-2, 0.1, 0.2)
SKIN, CORE = Ply(0.025, 1000.0, nu12=0.3), Ply(0.95, 1.0, nu12=0.3)


def compute() -> dict:
    plates = [Plate.isotropic(h, 2e11, 0.3, 7800.0) for h in THICKNESSES]
    results = [supported_plate(plate) for plate in plates]
    pressed = [deflections(plate, SUPPORTED) for plate in plates]
    plies = [Ply(0.25, 25.0, 1.0, 0.25, 0.5, 1.0, np.radians(a), G13=0.5, G23=0.2) for a in (0, 90, 90, 0)]
    usual = replace(Plate.laminate(plies), shear=np.diag([0.35, 0.35]) * 5 / 6)
    one = Plate.isotropic(0.02, 2e11, 0.3, 7800.0)
    return {
        "supported square plates, h / a = 1e-4, 0.01, 0.1, 0.2: deflection of the middle over the closed form": [
            w for w, _ in results
        ],
        "supported square plates, h / a = 1e-4, 0.01, 0.1, 0.2: 100 w D / q a^4": [w for w, _ in pressed],
        "the same plates: lowest frequency, omega a^2 sqrt(m / D)": [omega for _, omega in pressed],
        "square plates, two sides supported and two clamped, h / a = 0.01, 0.1, 0.2: 100 w D / q a^4": [
            deflections(plate, CLAMPED)[0] for plate in plates[1:]
        ],
        "the same plates: four frequencies, mean ratio to the closed form": [float(f.mean()) for _, f in results],
        "cross-ply [0/90/90/0], shear factor 5/6, a / h = 4, 10, 100: 100 w E2 h^3 / q a^4": [
            100 / a**4 * sine(usual, a, a, (ELEMENTS, ELEMENTS)) for a in (4.0, 10.0, 100.0)
        ],
        "sandwich strip, length 20, under a sine of pressure: deflection": sine(
            Plate.laminate([SKIN, CORE, SKIN]), 20.0, 1.0, (40, 1), strip=True
        ),
        "one layer: transverse shear stiffness over G h": float(np.asarray(one.shear)[0, 0] / (2e11 / 2.6 * 0.02)),
    }  # fmt: skip


def flat(s: Structure) -> Structure:
    """Return the structure with bending only."""
    return s.fix(dict.fromkeys(s.names, FLAT))


def deflections(plate: Plate, supports: dict[str, Components]) -> tuple[float, float]:
    """Return 100 w D / q a^4 of the middle of a square plate under pressure, and its lowest omega a^2 sqrt(m / D)."""
    s, D = (
        flat(panel(1.0, 1.0, plate, elements=(ELEMENTS, ELEMENTS), supports=supports, thick=True)),
        plate.ABD[3, 3],
    )
    assert s.samples is not None
    load = s.samples.translation.T @ np.outer(s.samples.area, [0.0, 0.0, 1.0]).ravel()
    w = s.rows(f"node{ELEMENTS // 2}_{ELEMENTS // 2}")[2] @ Statics(s).solve(load)
    return 100 * float(w * D), float(normal_modes(s, 1).omega[0] * np.sqrt(plate.mass / D))  # fmt: skip


def supported_plate(plate: Plate) -> tuple[float, np.ndarray]:
    """Return the deflection of a supported plate of side 1 under pressure and four frequencies, over those of Mindlin's theory."""
    s = flat(panel(1.0, 1.0, plate, elements=(ELEMENTS, ELEMENTS), supports=SUPPORTED, thick=True))
    assert s.samples is not None
    assert plate.shear is not None
    load = s.samples.translation.T @ np.outer(s.samples.area, [0.0, 0.0, 1.0]).ravel()
    w = s.rows(f"node{ELEMENTS // 2}_{ELEMENTS // 2}")[2] @ Statics(s).solve(load)
    D, S = plate.ABD[3, 3], plate.shear[0, 0]
    m, n = np.meshgrid(np.arange(1, 120, 2), np.arange(1, 120, 2))
    k2 = np.pi**2 * (m**2 + n**2)
    exact = (16 / (np.pi**2 * m * n) * (-1) ** ((m + n) // 2 - 1) * (1 / (D * k2**2) + 1 / (S * k2))).sum()
    inertia = np.diag([plate.mass, plate.rotary])
    waves = [
        np.sqrt(eigh([[S * k * k, S * k], [S * k, D * k * k + S]], inertia, eigvals_only=True)[0])
        for k in np.pi * np.sqrt([2, 5, 5, 8])
    ]
    return float(w / exact), normal_modes(s, 4).omega / waves


def sine(plate: Plate, length: float, width: float, elements: tuple[int, int], strip: bool = False) -> float:
    """Return the largest deflection under sin(pi x / length), times sin(pi y / width) unless it is a strip."""
    ends, sides = ("z", "rx"), ("rx",) if strip else ("z", "ry")
    s = flat(panel(length, width, plate, elements=elements, supports={"root": ends, "tip": ends, "right": sides, "left": sides}, thick=True))  # fmt: skip
    assert s.samples is not None
    x, y = s.samples.position[:, 0], s.samples.position[:, 1] + width / 2
    load = np.zeros((len(x), 3))
    load[:, 2] = s.samples.area * np.sin(np.pi * x / length) * (1 if strip else np.sin(np.pi * y / width))
    w = Statics(s).solve(s.samples.translation.T @ load.ravel())
    middle = f"node{elements[0] // 2}_{0 if strip else elements[1] // 2}"
    return float(s.rows(middle)[2] @ w)
