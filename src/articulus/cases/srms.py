"""The shuttle's arm as Park 1993 has it: printed lengths, masses, moduli and sections; radii of gyration of joints and end effector are assumed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import articulus as art
from articulus.model.mechanism.pose import Pose
from articulus.simulation.results.run import Run
from articulus.structure import beam_body

LENGTHS = {"upper": 6.38, "lower": 7.06, "effector": 1.82}  # m
MASSES = {
    "shoulder": 117.13,
    "upper": 24.97,
    "elbow": 53.12,
    "lower": 24.06,
    "wrist": 84.44,
    "effector": 107.14,
}
SECTIONS = {
    "upper": (1.27e11, 0.0022, 3.16e-5),
    "lower": (1.09e11, 0.0015, 2.19e-5),
}  # E [Pa], A [m^2], I [m^4]
REACH = sum(LENGTHS.values())
ARM = sum(MASSES.values())
GYRATION = 0.2  # m
SHUTTLE, INERTIA, SHOULDER = 8.0e4, (1.2e6, 9.0e6, 9.3e6), (6.0, 2.0, 0.0)  # kg, kg m^2, m


@dataclass(frozen=True)
class ArmPlace:
    """Where an arm is: the body that carries it, the pose of its shoulder there, what its names begin with."""

    parent: str = "shuttle"
    at: Pose = Pose(SHOULDER)
    prefix: str = ""


ON_SHUTTLE = ArmPlace()


def shuttle() -> art.Mechanism:
    """Return the shuttle, which floats."""
    m = art.Mechanism("srms", gravity=(0, 0, 0))
    return m.body("shuttle", SHUTTLE, (0, 0, 0), INERTIA).joint("flight", art.Free(), "ground", "shuttle")


def add_arm(m: art.Mechanism, place: ArmPlace = ON_SHUTTLE, flexible: bool = False) -> art.Mechanism:
    """Return the mechanism with an arm along x: shoulder universal (z, then y), elbow revolute (y), wrist spherical, "tip" at its end."""
    p = place.prefix
    for name in ("shoulder", "elbow", "wrist"):
        m.body(p + name, MASSES[name], (0, 0, 0), (MASSES[name] * GYRATION**2,) * 3)
    m.joint(f"{p}shoulder", art.Universal((0, 0, 1), (0, 1, 0)), place.parent, f"{p}shoulder", place.at)
    before = "shoulder"
    for name, joint, after in (
        ("upper", art.Revolute((0, 1, 0)), "elbow"),
        ("lower", art.Spherical(), "wrist"),
    ):
        _link(m, name, p, flexible)
        m.joint(f"{p}{name}_root", art.Fixed(), p + before, p + name)
        end = {"node": "tip"} if flexible else {"at": (LENGTHS[name], 0, 0)}
        m.joint(p + after, joint, p + name, p + after, **end)
        before = after
    L, mass = LENGTHS["effector"], MASSES["effector"]
    m.body(f"{p}effector", mass, (L / 2, 0, 0), (mass * GYRATION**2, *(mass * L**2 / 12,) * 2))
    m.joint(f"{p}effector", art.Fixed(), f"{p}wrist", f"{p}effector")
    return m.frame(f"{p}tip", f"{p}effector", (L, 0, 0))


def _link(m: art.Mechanism, name: str, prefix: str, flexible: bool) -> None:
    L, mass = LENGTHS[name], MASSES[name]
    if not flexible:
        m.body(prefix + name, mass, (L / 2, 0, 0), (mass * 1e-4, mass * L**2 / 12, mass * L**2 / 12))
        return
    E, A, second = SECTIONS[name]
    beam = beam_body(
        L,
        EI=E * second,
        EA=E * A,
        mass_per_length=mass / L,
        modes=2,
        planes="both",
        elements=2,
        damping=0.005,
    )
    m.flexible(prefix + name, beam)


def drift(run: Run, mass: float = ARM, speed: float = 0.3) -> list[float]:
    """Return the largest change of angular and linear momentum over what a mass at a speed, half an arm away, has of each."""
    change = np.abs(run["momentum"] - run["momentum"][0])
    scale = mass * speed * REACH, mass * speed
    return [float(change[:, :3].max() / scale[0]), float(change[:, 3:].max() / scale[1])]
