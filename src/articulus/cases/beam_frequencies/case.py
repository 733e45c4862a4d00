"""Frequencies of uniform beams of Euler-Bernoulli and Timoshenko elements against those of the differential equations."""

import numpy as np

from articulus.structure import EulerBernoulli, Section, Structure, Timoshenko, beam, normal_modes
from articulus.structure.beams import Support

LENGTH, MASS, EI, RATIO = 1.3, 0.7, 2.0, 2.25
GJ, EA, POLAR = 3.0, 5e4, 1e-3
SUPPORTS: tuple[tuple[Support, Support], ...] = (
    ("clamped", "free"),
    ("clamped", "pinned"),
    ("clamped", "clamped"),
    ("pinned", "pinned"),
    ("free", "free"),
)


def compute() -> dict:
    out: dict = {f"{root}-{tip}: beta L, modes 1-4": wave_numbers(root, tip)[:4] for root, tip in SUPPORTS}
    free = normal_modes(uniform("free", "free"), 12)
    about_y, about_z = (bending("clamped", "free", plane) for plane in "zy")
    unit = np.pi / (2 * LENGTH)
    return out | {
        "free-free: rigid motions": np.count_nonzero(free.omega == 0),
        "deflection along y over that along z, clamped-free, modes 1-4": about_z[:4] / about_y[:4],
        "clamped-free torsion: omega over pi / 2 L sqrt(GJ / J), modes 1-3": family("rx")[:3]
        / (unit * np.sqrt(GJ / POLAR)),
        "clamped-free stretch: omega over pi / 2 L sqrt(EA / m), modes 1-3": family("x")[:3]
        / (unit * np.sqrt(EA / MASS)),
        "order of convergence of the third bending frequency": order(),
        **timoshenko(),
        "beam along (1, 2, 2): frequencies over those along x, modes 1-8, less 1": askew_change(),
    }


def uniform(root: Support, tip: Support, elements: int = 48) -> Structure:
    return beam(
        LENGTH, EI=(EI, RATIO * EI), mass_per_length=MASS, EA=EA, GJ=GJ, rotary_inertia=0.0, elements=elements,
        root=root, tip=tip,
    )  # fmt: skip


def bending(root: Support, tip: Support, plane: str, elements: int = 48) -> np.ndarray:
    """Return the elastic bending frequencies in one plane [rad/s]."""
    s = uniform(root, tip, elements)
    mine = np.flatnonzero(np.isin(s.dofs[:, 1], (1, 5) if plane == "y" else (2, 4)))
    omega = normal_modes(s.keep(mine)).omega
    return omega[omega > 0]


def wave_numbers(root: Support, tip: Support) -> np.ndarray:
    return LENGTH * (bending(root, tip, "z") ** 2 * MASS / EI) ** 0.25


def family(component: str) -> np.ndarray:
    """Return the frequencies of a clamped beam that only twists or only stretches [rad/s]."""
    section = Section(MASS, EA, EI, EI, GJ, rotary=(POLAR, 0.0, 0.0))
    s = straight((1.0, 0.0, 0.0), section, EulerBernoulli, 48, {0: "all"})
    number = ("x", "y", "z", "rx", "ry", "rz").index(component)
    return normal_modes(s.keep(np.flatnonzero(s.dofs[:, 1] == number))).omega


def straight(
    along: tuple, section: Section, kind: type[EulerBernoulli] | type[Timoshenko], elements: int, fixed: dict
) -> Structure:
    """Return a beam from the origin in a direction."""
    x = np.linspace(0, LENGTH, elements + 1)
    direction = np.asarray(along) / np.linalg.norm(along)
    return Structure.assemble(
        np.outer(x, direction), [kind(i, i + 1, section) for i in range(elements)], fixed=fixed
    )


def order() -> float:
    """Return the order of the error of beta L of the third clamped-free mode."""
    counts = np.array([8, 16, 32])
    found = [LENGTH * (bending("clamped", "free", "z", n)[2] ** 2 * MASS / EI) ** 0.25 for n in counts]
    return float(-np.polyfit(np.log(counts), np.log(np.array(found) - 7.854757438237613), 1)[0])


def timoshenko() -> dict:
    """Return frequencies of a pinned beam over the roots w of EI k^4 - (m + (J + EI m / GA) k^2) w^2 + J m / GA w^4 = 0."""
    GA, J = EI / (3 * (0.03 * LENGTH) ** 2), MASS * (0.03 * LENGTH) ** 2
    section = Section(MASS, EA, EI, EI, GJ, GA, GA, (2 * J, J, J))
    k = np.arange(1, 5) * np.pi / LENGTH
    a, b, c = J * MASS / GA, MASS + (J + EI * MASS / GA) * k**2, EI * k**4
    exact = np.sqrt((b - np.sqrt(b**2 - 4 * a * c)) / (2 * a))

    def over(elements: int) -> np.ndarray:
        ends = {0: ("x", "y", "z", "rx"), elements: ("y", "z")}
        s = straight((1.0, 0.0, 0.0), section, Timoshenko, elements, ends)
        mine = np.flatnonzero(np.isin(s.dofs[:, 1], (1, 5)))
        return normal_modes(s.keep(mine)).omega[:4] / exact

    coarse, fine = over(32), over(64)
    return {
        "pinned-pinned Timoshenko beam over the exact frequencies, modes 1-4, extrapolated from 32 and 64 elements": (
            4 * fine - coarse
        )
        / 3,
        "order of convergence of a Timoshenko beam, mode 4": np.log2((coarse[3] - 1) / (fine[3] - 1)),
    }


def askew_change() -> float:
    """Return the largest relative change of the frequencies of a clamped beam when it lies askew."""
    section = Section(MASS, EA, EI, RATIO * EI, GJ, rotary=(POLAR, 0.0, 0.0))
    omega = [
        normal_modes(straight(d, section, EulerBernoulli, 8, {0: "all"})).omega[:8]
        for d in ((1.0, 0.0, 0.0), (1.0, 2.0, 2.0))
    ]
    return float(np.abs(omega[1] / omega[0] - 1).max())
