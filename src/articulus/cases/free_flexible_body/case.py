"""A tumbling beam, and a hub with two booms and a body at the tip of one: what free flight must keep."""

import functools

import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.model.mechanism.modes import Modes
from articulus.simulation.results import Run
from articulus.structure import beam_body
from articulus.structure.beams import Support

LENGTH, DENSITY = 2.0, 1.5
END = 10.0  # s


def compute() -> dict:
    tumbling = alone()
    coarse, fine = (flight(tumbling, step) for step in (1e-3, 5e-4))
    joined = assembly(2, None)
    whole, damped = flight(joined, 5e-4), flight(assembly(2, 0.02), 5e-4)
    path = np.array([tumbling.center_of_mass(q) for q in fine.q])
    line = np.linspace(
        path[0], path[0] + tumbling.momentum(fine.q[0], fine.v[0])[3:] / (DENSITY * LENGTH) * END, len(path)
    )
    return {
        "A: change of the energy, relative": energy_change(tumbling, fine),
        "A: change of linear and angular momentum, relative": momentum_change(tumbling, fine),
        "A: order of the change of energy in the step": np.log2(
            energy_change(tumbling, coarse) / energy_change(tumbling, fine)
        ),
        "A: path of the centre of mass from a straight line [m]": np.abs(path - line).max(),
        "B: change of the energy, relative": energy_change(joined, whole),
        "B: change of linear and angular momentum, relative": momentum_change(joined, whole),
        "B without modes and the same hub, booms and tip as rigid bodies: accelerations, relative": rigid_limit(),
        "B with damping 0.02: energy never rises by more than [J]": max(
            0.0, np.diff(np.sum(assembly(2, 0.02).energy(damped.q, damped.v), axis=0)).max()
        ),
    }


@functools.cache
def boom(modes: int, damping: float | None, root: Support) -> Modes:
    return beam_body(
        LENGTH, EI=(40.0, 60.0), mass_per_length=DENSITY, modes=modes, planes="both", torsion=min(modes, 1), GJ=30.0,
        rotary_inertia=2e-3, elements=16, damping=damping, root=root,
    )  # fmt: skip


def alone() -> art.Mechanism:
    held = boom(2, None, "free")
    return (
        art.Mechanism("beam", gravity=(0, 0, 0))
        .flexible("beam", held)
        .joint("flight", art.Free(), "ground", "beam")
    )


def assembly(modes: int, damping: float | None, rigid: bool = False) -> art.Mechanism:
    """Return hub, booms and tip body; as rigid bodies if asked."""
    m = art.Mechanism("hub", gravity=(0, 0, 0)).body(
        "hub", mass=4.0, com=(0.1, 0.0, -0.05), inertia=(1.0, 1.2, 1.5)
    )
    m.joint("flight", art.Free(), "ground", "hub")
    for name, place, turn in (("right", 0.3, 0.0), ("left", -0.3, np.pi)):
        if rigid:
            across = DENSITY * LENGTH**3 / 12 + 2e-3 * LENGTH
            m.body(
                name, mass=DENSITY * LENGTH, com=(LENGTH / 2, 0, 0), inertia=(4e-3 * LENGTH, across, across)
            )
        else:
            m.flexible(name, boom(modes, damping, "clamped"))
        m.joint(f"{name}_root", art.Fixed(), "hub", name, at=art.Pose((place, 0.0, 0.1), (0.0, 0.0, turn)))
    m.body("load", mass=0.5, com=(0.2, 0.0, 0.1), inertia=(0.02, 0.03, 0.025))
    at = (LENGTH, 0.0, 0.0) if rigid else None
    return m.joint("wrist", art.Spherical(), "right", "load", at=at, node="" if rigid else "tip")


def flight(mechanism: art.Mechanism, step: float) -> Run:
    """Return a run from a start with all rates."""
    v0 = 0.1 * np.sin(1.0 + np.arange(mechanism.nv))
    v0[:3] = (0.5, 0.3, -0.4)
    return art.simulate(mechanism, END, v0=v0, step=step, outputs=[])


def energy_change(mechanism: art.Mechanism, run: Run) -> float:
    energy = np.sum(mechanism.energy(run.q, run.v), axis=0)
    return float(np.abs(energy / energy[0] - 1).max())


def momentum_change(mechanism: art.Mechanism, run: Run) -> float:
    """Return the largest change over the whole momentum, for the angular and the linear part."""
    parts = np.split(mechanism.momentum(run.q, run.v), 2, axis=-1)
    return float(max(np.abs(p - p[0]).max() / np.linalg.norm(p[0]) for p in parts))


def rigid_limit() -> float:
    stiff, rigid = assembly(0, None), assembly(0, None, rigid=True)
    v, tau = np.random.default_rng(8).normal(size=(2, rigid.nv))
    q = rigid.integrate_position(rigid.neutral, 0.5 * v)
    return relative(stiff.forward_dynamics(q, v, tau), rigid.forward_dynamics(q, v, tau))
