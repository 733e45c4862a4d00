"""A four-bar linkage whose coupler bends: geometrically exact beam beside a flexible body of four modes.

The linkage starts with the coupler in pure translation and runs free; its inertia bends the coupler. Small deflections are the same in
both; where they grow to a tenth of the length, the body, whose points move on straight lines across the undeformed axis, is wrong by a
tenth of them.
"""

import numpy as np

import articulus as art
from articulus.cases.flexible import beyond_modes
from articulus.model.mechanism import PointOnPoint
from articulus.simulation.exact_beams import Beam, Section
from articulus.simulation.loop.components import BeamForces
from articulus.structure import beam_body

CRANK, COUPLER, ROCKER = 0.2, 0.6, 0.5  # m
MASS, EI = 0.5, 0.3  # kg/m, N m^2, of the coupler
RATES = (2.0, 8.0)  # rad/s, of the crank at the start
END, STEP = 0.3, 2.5e-4  # s


def compute() -> dict:
    fine, coarse, body = exact(12), exact(8), reduced()
    beams = [deflection(fine, rate, "coupler_0", "coupler_12", "coupler_6") for rate in RATES]
    bodies = [deflection(body, rate, "root", "tip", "middle") for rate in RATES]
    size = [np.abs(beam).max() for beam, _ in beams]
    gap = [np.abs(a - b).max() / c for (a, _), (b, _), c in zip(beams, bodies, size)]
    rough = deflection(coarse, RATES[-1], "coupler_0", "coupler_8", "coupler_4")[0]
    own = np.abs(rough - beams[-1][0]).max() / size[-1]
    return {
        "slow: beam and body differ by, over the largest deflection": gap[0],
        "fast: beam of 8 and of 12 elements differ by, over the largest deflection": own,
        "fast: beam and body differ by ten times that or more (1 if so)": float(gap[-1] >= 10 * own),
        "fast: the largest deflection is more than a tenth of the length (1 if so)": float(size[-1] > 0.1),
        "change of the energy over it, beam and body": [_drift(run) for _, run in (beams[-1], bodies[-1])],
    }


def linkage() -> art.Mechanism:
    """Return crank and rocker, both upright; the coupler is level."""
    m, y = art.Mechanism("four-bar", gravity=(0, 0, 0)), (0, 1, 0)
    m.body("crank", mass=0.3, com=(0, 0, CRANK / 2), inertia=(1e-3,) * 3)
    m.joint("drive", art.Revolute(axis=y), "ground", "crank")
    m.body("rocker", mass=0.5, com=(0, 0, ROCKER / 2), inertia=(1e-2,) * 3)
    m.joint("pivot", art.Revolute(axis=y), "ground", "rocker", at=(COUPLER, 0, CRANK - ROCKER))
    return m.frame("end", "rocker", (0, 0, ROCKER))


def exact(elements: int) -> tuple[art.Loop, str]:
    """Return the linkage with a geometrically exact coupler, and the method of its runs."""
    m = linkage()
    section = Section(MASS, 1e6, EI, EI, EI, np.inf, np.inf, rotary=(2e-6, 1e-6, 1e-6))
    forces = BeamForces.link(m, "coupler", Beam.straight(COUPLER, elements, section))
    m.joint("knee", art.Revolute(axis=(0, 1, 0)), "crank", "coupler_0", at=(0, 0, CRANK))
    m.constrain(PointOnPoint("pin", f"coupler_{elements}", "end"))
    return art.Loop(m, components=[forces]), "generalized_alpha"


def reduced() -> tuple[art.Loop, str]:
    """Return the linkage with a flexible body as coupler, and the method of its runs."""
    m = linkage()
    ends: dict = {"root": "pinned", "tip": "pinned", "damping": None}
    m.flexible("coupler", beam_body(COUPLER, EI=EI, mass_per_length=MASS, modes=4, planes="z", **ends))
    m.joint("knee", art.Revolute(axis=(0, 1, 0)), "crank", "coupler", at=(0, 0, CRANK))
    for name in ("root", "middle", "tip"):
        m.frame(name, "coupler", node=name)
    m.constrain(PointOnPoint("pin", "tip", "end"))
    return art.Loop(m), "rk4"


@beyond_modes()  # how wrong the body is there is what is measured
def deflection(
    made: tuple[art.Loop, str], rate: float, first: str, last: str, middle: str
) -> tuple[np.ndarray, art.Run]:
    """Return the distance of the middle from the line between both ends, over the length, at every sample, and the run."""
    loop, method = made
    v0 = {"drive": rate, "knee": -rate, "pivot": rate * CRANK / ROCKER}
    run = loop.simulate(END, v0=v0, method=method, step=STEP, sample=0.01, outputs=("energy",))
    A, B, C = (loop.mechanism.pose(name, run.q)[:, :3, 3][:, [0, 2]] for name in (first, last, middle))
    along, off = B - A, C - A
    across = along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]
    return across / np.linalg.norm(along, axis=1) / COUPLER, run


def _drift(run: art.Run) -> float:
    """Return the largest change of the energy over the energy."""
    total = run["energy.kinetic"] + run["energy.potential"]
    return np.abs(total - total[0]).max() / total[0]
