"""King's arm of three links: zero dynamics of the tip, the composite controller on a fast motion, two sampling rates on one link."""

from typing import Any

import casadi as ca
import numpy as np
from scipy.optimize import brentq

import articulus as art
from articulus.control import tzero
from articulus.model.mechanism.modes import Modes
from articulus.motion.inversion.tracking import PseudolinkDesign, pseudolink
from articulus.simulation.loop.components import PD
from articulus.structure import Structure, beam, beam_body, modes_of, normal_modes

DENSITY, YOUNG, LENGTH, PAYLOAD = 2.78e3, 6.9e10, 1.22, 0.3
RADII, STIFF = (0.010, 0.008), (0.05, 0.05)
START, TURN = np.radians([0.0, -45.0, 45.0]), np.radians([90.0, 90.0, -90.0])
FRAMES = ("tip", "elbow", "tip")
"""Frames that tell the angles of the three pseudolinks."""


def compute() -> dict:
    floating = flexible(gravity=0.0)
    bent = [pseudolink(floating, "tip", at=bent_position(angle), weight=0.01) for angle in (45.0, 80.0)]
    zeros = [one.zeros[0] for one in bent]
    arm = flexible(gravity=9.81)
    along = [dict(zip(("q1", "q2", "q3"), START + share * TURN)) for share in np.linspace(0.0, 1.0, 9)]
    design = pseudolink(arm, FRAMES, at=along, weight=0.01)
    begin = design.angles[0]
    run = art.simulate(
        arm, 3.0, q0=design.positions[0], components=design.components(course(begin)), step=5e-4
    )
    thin, thick = (peaks(radii) for radii in (RADII, STIFF))
    return {
        "masses of links 2 and 3 [kg]": [link(radius, 0.0).rr0[3, 3] for radius in RADII],
        "zero dynamics in the plane of the arm, q3 = 45 and 80 deg [1/s]": in_plane(*zeros),
        "transmission zeros of the linear model over the zero dynamics": off_zeros(floating, zeros[0]),
        "zero dynamics of the tip are not stable (1 = yes)": bool(design.zeros.real.max() > 1),
        "the whole loop is stable (1 = yes)": bool(design.poles.real.max() < 0),
        "slowest pole of the compiled loop over that of the design": off_poles(arm, design),
        "90 deg in 2 s: the tip stays within 60 mm of that of the rigid arm, and is within 0.5 mm 1 s after the end (1 = yes)": tracking(arm, run, begin),
        "peak torques of the rigid arm, thin links [N m]": thin,
        "peak torques of the rigid arm, links of 0.05 m [N m]": thick,
        "peak torques of the run are at least 5 times less than those of links of 0.05 m (1 = yes)": bool((np.abs(run["tau"][:, [0, 1, 4]]).max(0) * 5 < thick).all()),
        **two_rates(),
        **beside_tables(floating, bent[0]),
    }  # fmt: skip


def beside_tables(arm: art.Mechanism, design: PseudolinkDesign) -> dict:
    """Return what tables 4.1 to 4.3 print, at q3 = 45 deg."""
    q, still = np.array(arm.positions(bent_position(45.0)), dtype=float), np.zeros(arm.nv)
    tangent, _, H = arm.inverse_dynamics_derivatives(q, still, still)
    own = [arm.v_names.index(name) for name in ("link2.z1", "link3.z1")]
    inside = design.zeros[0][np.abs(design.zeros[0].imag) < 1e-6 * np.abs(design.zeros[0])]
    across = design.zeros[0][np.abs(design.zeros[0].imag) >= 1e-6 * np.abs(design.zeros[0])]
    decay = np.sort(-design.fast_poles[0].real)
    return {
        "table 4.1: frequencies of links 2 and 3 alone with the payload, q3 = 45 deg [Hz]": np.sqrt(np.diag(tangent)[own] / np.diag(H)[own]) / (2 * np.pi),
        "table 4.1: what the printed masses and lengths give for them [Hz]": np.sqrt(np.diag(tangent)[own] / np.diag(H)[own]) / (2 * np.pi),
        "table 4.2: poles of the flexible subsystem in the plane, largest real and imaginary part [1/s]": [inside.real.max(), inside.imag.max()],
        "table 4.2: poles of the flexible subsystem across it, largest real and imaginary part [1/s]": [across.real.max(), across.imag.max()],
        "table 4.3: slowest and fastest decay of the flexible subsystem with feedback [1/s]": decay[[0, -1]],
    }  # fmt: skip


def flexible(gravity: float) -> art.Mechanism:
    """Return the arm with one mode of each link in each direction."""
    arm = art.Mechanism("king_pseudolink", gravity=(0.0, 0.0, -gravity))
    arm.body("link1", mass=0.79, com=(0, 0, 0.05), inertia=(1e-3, 1e-3, 3.5e-4))
    for name, radius, payload in zip(("link2", "link3"), RADII, (0.0, PAYLOAD)):
        arm.flexible(name, link(radius, payload))
    return join_links(arm, node="tip")


def link(radius: float, payload: float) -> Modes:
    """Return a link with the first clamped-free mode in each direction; the shapes are those without the payload."""

    def whole(tip_mass: float) -> Structure:
        EI, line = YOUNG * np.pi * radius**4 / 4, DENSITY * np.pi * radius**2
        return beam(LENGTH, EI=EI, mass_per_length=line, elements=16, tip_mass=tip_mass)

    bare = whole(0.0)
    basis = np.zeros((bare.count, 2))
    for k, family in enumerate(((1, 5), (2, 4))):
        mine = np.flatnonzero(np.isin(bare.dofs[:, 1], family))
        basis[mine, k] = normal_modes(bare.keep(mine), 1).shapes[:, 0]
    return modes_of(whole(payload), basis, stations={"root": 0, "tip": 16}, damping=0.0, names=["y1", "z1"])


def rigid(radii: tuple[float, float]) -> art.Mechanism:
    """Return the arm with rigid links."""
    arm = art.Mechanism("rigid", gravity=(0.0, 0.0, -9.81))
    arm.body("link1", mass=0.79, com=(0, 0, 0.05), inertia=(1e-3, 1e-3, 3.5e-4))
    for name, radius, payload in zip(("link2", "link3"), radii, (0.0, PAYLOAD)):
        mass = DENSITY * np.pi * radius**2 * LENGTH
        total, about = mass + payload, (mass / 2 + payload) * LENGTH
        across = mass * LENGTH**2 / 3 + payload * LENGTH**2 - about**2 / total + mass * radius**2 / 4
        arm.body(name, mass=total, com=(about / total, 0, 0), inertia=(mass * radius**2 / 2, across, across))
    return join_links(arm, at=(LENGTH, 0.0, 0.0))


def join_links(arm: art.Mechanism, **end: Any) -> art.Mechanism:
    arm.joint("q1", art.Revolute((0, 0, 1)), "ground", "link1")
    arm.joint("q2", art.Revolute((0, -1, 0)), "link1", "link2", at=(0, 0, 0.1))
    arm.joint("q3", art.Revolute((0, -1, 0)), "link2", "link3", **end)
    arm.frame("elbow", "link2", **end)
    return arm.frame("tip", "link3", **end)


def bent_position(angle: float) -> dict[str, float]:
    return {"q2": np.radians(-45.0), "q3": np.radians(angle)}


def course(begin: np.ndarray) -> ca.Function:
    """Return the angles over time: a constant acceleration for 1 s, the opposite for 1 s, rest."""
    t = ca.SX.sym("t")
    way = ca.if_else(t < 1, t**2 / 2, ca.if_else(t < 2, 1 - (2 - t) ** 2 / 2, 1))
    return ca.Function("course", [t], [ca.DM(begin) + ca.DM(TURN) * way])


def in_plane(one: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    """Return the zeros on the right that two bends of the elbow share: those in the plane of the arm do not know q3."""

    def common_zeros(zeros: np.ndarray, others: np.ndarray) -> np.ndarray:
        right = np.sort(zeros[(zeros.real > 1) & (np.abs(zeros.imag) < 1e-6)].real)
        return right[[np.abs(others / z - 1).min() < 1e-6 for z in right]]

    return [common_zeros(one, other), common_zeros(other, one)]


def off_zeros(arm: art.Mechanism, zeros: np.ndarray) -> list[float]:
    """Return the transmission zeros between joint forces and tip over the zero dynamics."""
    q = arm.positions(bent_position(45.0))
    model, J = arm.linearize(q), arm.jacobian("tip", q)[3:]
    C = np.hstack([J, np.zeros_like(J)])
    found = tzero((model.A, model.B[:, [0, 1, 4]], C, np.zeros((3, 3)))).transmission
    return [float(np.abs(found[np.abs(found - z).argmin()] / z)) for z in zeros]


def off_poles(arm: art.Mechanism, design: PseudolinkDesign) -> float:
    """Return the slowest pole of the equations of the loop, at the start, over that of the design."""
    loop = art.Loop(arm, components=design.components(tuple(design.angles[0])))
    return float(loop.linearize(design.positions[0]).poles.real.max() / design.poles[0].real.max())


def tracking(arm: art.Mechanism, run: art.Run, begin: np.ndarray) -> tuple[bool, bool]:
    """Return whether the tip stays within 60 mm of that of the rigid arm, whose acceleration jumps, and ends within 0.5 mm."""
    wanted = np.array([np.array(course(begin)(t)).ravel() for t in run.t[::20]])
    off = arm.pose("tip", run.q[::20])[:, :3, 3] - rigid(RADII).pose("tip", wanted)[:, :3, 3]
    size = np.linalg.norm(off, axis=1)
    return bool(size.max() < 0.06), bool(size[-1] < 5e-4)


def peaks(radii: tuple[float, float]) -> np.ndarray:
    """Return the largest torques on the course by inverse dynamics of the rigid arm."""
    t = np.linspace(0.0, 2.0, 4001)[:-1]
    way = np.where(t < 1, t**2 / 2, 1 - (2 - t) ** 2 / 2)
    speed, push = np.where(t < 1, t, 2 - t), np.where(t < 1, 1.0, -1.0)
    arm = rigid(radii)
    return np.abs(arm.inverse_dynamics(START + np.outer(way, TURN), np.outer(speed, TURN), np.outer(push, TURN))).max(0)  # fmt: skip


def two_rates() -> dict:
    """Return what sampling does to one link of 1 m, 1 kg and 2 kg payload, 10 Hz with its joint locked, 3 % damping."""
    unit = beam(1.0, EI=1.0, mass_per_length=1.0, tip_mass=2.0, planes="y")
    EI = (2 * np.pi * 10.0 / normal_modes(unit, 1).omega[0]) ** 2
    arm = art.Mechanism("link", gravity=(0, 0, 0))
    arm.flexible("link", beam_body(1.0, EI=EI, mass_per_length=1.0, modes=1, tip_mass=2.0, damping=0.03))
    arm.joint("q", art.Revolute((0, 0, 1)), "ground", "link")
    arm.frame("tip", "link", node="tip")
    design = pseudolink(arm, "tip", at=np.zeros(2))
    slow = [art.Loop(arm, components=design.components((0.0,), slow=T)[:1]) for T in (0.02, 0.05)]
    alone = [loop.linearize(np.zeros(2), step=T).poles.real.max() for loop, T in zip(slow, (0.02, 0.05))]
    return {
        "one link, computed torque of its joint at 50 Hz is stable (1 = yes)": radius(arm, 50.0) < 1,
        "one link, computed torque of its joint: spectral radius at 50, 25, 10 Hz": [radius(arm, f) for f in (50.0, 25.0, 10.0)],
        "one link, computed torque of its joint: rate at which stability is lost [Hz]": brentq(lambda f: radius(arm, f) - 1, 9.0, 12.0, xtol=1e-3),
        "one link, slow part of the pseudolink of the tip alone at 50 and 20 Hz is not stable (1 = yes)": np.array(alone) > 0,
        "one link, slow part at 20 Hz with the fast part at 100 Hz is stable (1 = yes)": bool(design.sampled_poles(0.05, 0.01).real.max() < 0),
    }  # fmt: skip


def radius(arm: art.Mechanism, rate: float) -> float:
    """Return the spectral radius of a period: computed torque of the rigid link, kp = 100 and kd = 20, held between instants."""
    inertia = 1.0 / 3.0 + 2.0
    law = PD(100.0 * inertia, 20.0 * inertia, joints=("q",), period=1 / rate)
    model = art.Loop(arm, components=[law]).linearize(np.zeros(2), step=1 / rate)
    return float(np.abs(np.linalg.eigvals(model.A)).max())
