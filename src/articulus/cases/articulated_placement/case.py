"""The best bay of a two-link truss with locked joints over elbow angles, and its modes as joint masses grow."""

import numpy as np
import scipy.linalg

import articulus as art
from articulus.model.mechanism.modes import Modes
from articulus.motion.inversion.piezo import StackBay, bays, locked_modes, mode_invariance, placement
from articulus.structure import EulerBernoulli, Lumped, Section, Structure, beam, modes_of, normal_modes
from articulus.structure.element import Element

LENGTHS, SPANS, LINK, TIPS = (1.8, 1.1), (10, 6), 2.0, (3.5, 1.0)
"""Lengths [m], spans, lumped mass of a link [kg], tip loads [kg]."""
BAY = StackBay(area=7.3e-6, strain_per_volt=0.731e-6, young=73e9, lever=1.27e-2)
ANGLES = np.radians([0.0, 30.0, 60.0, 90.0])
FEEDBACK = 1e3
"""Passive gain [V^2 s/J] that is small against the frequencies."""


def compute() -> dict:
    EI = stiffness(0.6)
    arm = truss(EI)
    configurations = [{"elbow": angle} for angle in ANGLES]
    candidates = [*bays(arm, "link1", BAY.gain), *bays(arm, "link2", BAY.gain)]
    passive = placement(arm, candidates, configurations=configurations, feedback=FEEDBACK)
    lqr = placement(arm, candidates, configurations=configurations, criterion="lqr", R=1e-6, modes=2)
    root = candidates[0].name
    fixed = ["elbow_place", "tip"]
    ends = [configurations[0], configurations[-1]]
    far, farther = (mode_invariance(truss(EI, eps), ends, modes=4, fixed=fixed) for eps in (1e-2, 1e-3))
    first = [locked_modes(arm, q, 2).modal.omega for q in ends]
    return {
        "moment of the bay by voltage [N m/V]": BAY.gain,
        "two lowest frequencies, 0 and 90 deg, over those of a frame of elements": np.array(first) / [frame(EI, a) for a in ANGLES[[0, -1]]],
        "first frequency rises with the elbow angle (1 = yes)": bool((np.diff(passive.omega[:, 0]) > 0).all()),
        "first frequency at 90 deg over that at 0 deg": first[1][0] / first[0][0],
        "passive: best at every angle is the root of link 1 (1 = yes)": all(name == root for name in passive.best_at),
        "passive: worst case over the angles, the same (1 = yes)": passive.safest == root,
        "regulator at 0 deg: best is the root of link 1 (1 = yes)": lqr.best_at[0] == root,
        "regulator averaged over the angles: best is the root of link 2 (1 = yes)": lqr.best == candidates[SPANS[0]].name,
        "modes 1 and 2 turn alike at 0 and 90 deg (1 = yes)": mode_invariance(arm, ends, modes=2).invariant(),
        "modes with held joints: frequencies at 90 deg over those at 0 deg": far.held_omega[1, :3] / far.held_omega[0, :3],
        "joint masses 100 times: modes 3 and 4 over the lowest with held joints": far.omega[0, 2:] / far.held_omega[0, :2],
        "part of the joints in modes 3 and 4 falls as 1 / mass": far.moving[0, 2:] / farther.moving[0, 2:],
    }  # fmt: skip


def stiffness(hertz: float) -> float:
    """Return EI with which link 1, clamped at its root, has a frequency [N m^2]."""
    unit = beam(
        LENGTHS[0], EI=1.0, mass_per_length=LINK / LENGTHS[0], elements=10, planes="y", tip_mass=TIPS[0]
    )
    return float((2 * np.pi * hertz / normal_modes(unit, 1).omega[0]) ** 2)


def truss(EI: float, eps: float = 1.0) -> art.Mechanism:
    """Return the two links, free of gravity, with tip loads over eps."""
    arm = art.Mechanism("truss", gravity=(0.0, 0.0, 0.0))
    for k, (length, spans, tip) in enumerate(zip(LENGTHS, SPANS, TIPS), 1):
        arm.flexible(f"link{k}", link(EI, length, spans, tip / eps))
    arm.joint("base", art.Revolute((0, 0, 1)), "ground", "link1")
    arm.joint("elbow", art.Revolute((0, 0, 1)), "link1", "link2", node="tip")
    arm.frame("elbow_place", "link1", node="tip")
    arm.frame("tip", "link2", node="tip")
    return arm


def link(EI: float, length: float, spans: int, tip: float) -> Modes:
    """Return one link: the deflections by a force and by a moment at its tip, and three modes with its tip held."""
    whole = beam(length, EI=EI, mass_per_length=LINK / length, elements=spans, planes="y", tip_mass=tip)
    across = np.flatnonzero(whole.dofs[:, 1] != 0)
    bending = whole.keep(across)
    K, M = bending.K.toarray(), bending.M.toarray()
    static = np.linalg.solve(K, bending.rows(spans)[[1, 5]].T)
    inside = np.flatnonzero(bending.dofs[:, 0] != spans)
    basis = np.hstack(
        [static, np.eye(bending.count)[:, inside] @ normal_modes(bending.keep(inside), 3).shapes]
    )
    turn = scipy.linalg.eigh(basis.T @ K @ basis, basis.T @ M @ basis)[1]
    shapes = np.zeros((whole.count, 5))
    shapes[across] = basis @ turn
    stations = {"tip": spans} | {f"node{i}": i for i in range(spans)}
    return modes_of(whole, shapes, stations=stations, damping=0.001).at_level("ruthless")


def frame(EI: float, angle: float) -> np.ndarray:
    """Return the two lowest frequencies of a frame of beam elements, clamped at its root [rad/s]."""
    ends = np.array([LENGTHS[0], 0.0, 0.0]), LENGTHS[1] * np.array([np.cos(angle), np.sin(angle), 0.0])
    nodes = [t * ends[0] for t in np.linspace(0, 1, SPANS[0] + 1)]
    nodes += [ends[0] + t * ends[1] for t in np.linspace(0, 1, SPANS[1] + 1)[1:]]
    parts: list[Element] = []
    for k, (length, spans, start) in enumerate(zip(LENGTHS, SPANS, (0, SPANS[0]))):
        section = Section(LINK / length, 1e6 * EI / length**2, EI, EI, 0.0, np.inf, np.inf, (0.0, 0.0, 0.0))
        parts += [EulerBernoulli(i, i + 1, section) for i in range(start, start + spans)]
        parts.append(Lumped(start + spans, TIPS[k], (0.0, 0.0, 0.0)))
    whole = Structure.assemble(nodes, parts, fixed={0: "all"}, plane="xy")
    return normal_modes(whole, 2).omega
