"""A backhoe's boom up and down, as in two experiments: friction from simulated noisy records, and what a model without dry friction does.

A demonstration: motions, noise and smoothing were chosen with results in view, so that the numbers say what the method can do, not what it will do.
"""

import dataclasses
import warnings
from typing import Any

import numpy as np

import articulus as art
from articulus.design.validation import Validation, validate
from articulus.errors import DoubtfulResult
from articulus.model.mechanism import Lock
from articulus.model.mechanism.edit import rebuilt
from articulus.simulation.loop.components import PD
from articulus.simulation.loop.components.prescribed import PrescribedForce
from articulus.simulation.loop.table import Table
from articulus.simulation.solve.assembly import assemble
from articulus.study.records import Record

COULOMB = 2000.0
"""Dry friction of the boom's hinge, assumed [N m]."""
NOISE = {"slide": 2e-4, "force": 100.0}
"""Of the simulated records, assumed [m, N]."""
EXPERIMENTS = {
    "I": (
        {"dipper_rod": -0.35, "bucket_rod": 0.3},
        ((2.0, 1), (12.0, 3), (18.0, 1), (28.0, 3), (30.0, 1)),
        (0.2, -0.35),
    ),
    "II": (
        {"dipper_rod": 0.1, "bucket_rod": 0.0},
        ((1.0, 1), (3.8, 3), (4.2, 1), (7.0, 3), (8.0, 1)),
        (-0.3, 0.1),
    ),
}
"""Slides that are held (folded, stretched out), ends of the pieces of the motion [s] with their degrees, and slides of the boom [m]: assumed but for the
durations, and up, pause, back."""


def backhoe(held: dict[str, float], viscous: float, coulomb: float) -> art.Mechanism:
    """Return the backhoe whose boom alone moves, with friction as parameters."""
    d = art.load("backhoe").description
    more: dict[str, dict[str, Any]] = {
        "boom_rod": {"damping": (art.Parameter("viscous", viscous),)},
        "boom": {"coulomb": (art.Parameter("coulomb", coulomb),), "coulomb_speed": 5e-3},
    }
    connections = tuple(dataclasses.replace(c, **more.get(c.name, {})) for c in d.connections)
    m = art.Mechanism.from_description(rebuilt(d, connections=connections))
    for joint, place in {"swing": 0.0, **held}.items():
        m.constrain(Lock(f"hold {joint}", joint, (place,)))
    return m


def measure(name: str, viscous: float, seed: int) -> Record:
    """Return the record of an experiment with a controlled machine that has dry friction, with noise."""
    held, pieces, (low, high) = EXPERIMENTS[name]
    m = backhoe(held, viscous, COULOMB)
    ends = [0.0, *(end for end, _ in pieces)]
    t = np.linspace(0, ends[-1], round(100 * ends[-1]) + 1)
    up = np.interp(t, ends, [0, 0, 1, 1, 0, 0])
    target = low + (high - low) * up**2 * (3 - 2 * up)
    q0 = assemble(m, m.q(boom_rod=low, **held), fixed=("swing", "boom_rod", "dipper_rod", "bucket_rod")).q
    hold = m.inverse_dynamics(q0, np.zeros(m.nv), np.zeros(m.nv), actuators=["boom_rod"])[
        m.v_names.index("boom_rod")
    ]
    pd = PD(
        kp=3e6, kd=3e5, target=_table(t, target), rate=_table(t, np.gradient(target, t)), joints=("boom_rod",)
    )
    run = art.Loop(m, pd, [PrescribedForce("boom_rod", float(hold))]).simulate(
        ends[-1], q0=q0, step=2e-3, sample=0.02
    )
    random = np.random.default_rng(seed)
    columns = {
        "slide": run["q"][:, m.q_slice("boom_rod").start],
        "force": run["tau"][:, m.v_names.index("boom_rod")],
    }
    noisy = {n: x + NOISE[n] * random.standard_normal(len(x)) for n, x in columns.items()}
    return Record(f"experiment {name}", run.t, noisy, {"slide": "m", "force": "N"}, "simulated")


def judge(
    name: str, record: Record, friction: tuple[str, ...], viscous: float = 0.0, smooth: bool = False
) -> Validation:
    held, pieces, _ = EXPERIMENTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        return validate(
            backhoe(held, viscous, 0.0), record, {"boom_rod": "slide"}, {"boom_rod": "force"}, friction=friction, pieces=pieces if smooth else ()
        )  # fmt: skip


def compute() -> dict:
    out: dict = {}
    for name in EXPERIMENTS:
        found = [
            judge(name, measure(name, viscous, k), ("viscous", "coulomb"))
            for k, viscous in enumerate((10e3, 15e3))
        ]
        estimates = np.array([v.friction["viscous"] for v in found])
        spread = np.array([v.deviations["viscous"] for v in found])
        out[f"experiment {name}: 15 less 10 kN s/m, estimated from the forces [N s/m]"] = (
            estimates[1] - estimates[0]
        )
        out[f"experiment {name}: they are apart by 3 standard deviations or more (1 = yes)"] = estimates[
            1
        ] - estimates[0] > 3 * np.hypot(*spread)
        out[f"experiment {name}: viscous friction where it is 10 kN s/m [N s/m]"] = estimates[0]
        out[
            f"experiment {name}: force from the measured motion is within 20 % of its spread, rms (1 = yes)"
        ] = found[0].inverse[0].relative < 0.2
        out[f"experiment {name}: position from measured forces, rms over its spread"] = (
            found[0].forward[0].relative
        )
    out["experiment I: dry friction of the hinge [N m]"] = judge(
        "I", measure("I", 10e3, 0), ("viscous", "coulomb")
    ).friction["coulomb"]
    out[
        "a slide pushed to and fro by measured forces: drift of the model without dry friction, with it [m]"
    ] = drift()
    return out


def drift() -> np.ndarray:
    """Return where a slide with dry friction, pushed by more one way than the other but below its friction, is after 5 s."""
    ends = []
    for coulomb in (0.0, 30.0):
        slide = art.Mechanism("slide", gravity=(0, 0, 0)).body("block", mass=10.0, inertia=(1.0, 1.0, 1.0))
        slide.joint(
            "push",
            art.Prismatic((1, 0, 0)),
            "ground",
            "block",
            coulomb=coulomb,
            coulomb_speed=1e-3,
            damping=20.0,
        )
        t = np.linspace(0, 5, 501)
        force = _table(t, 5.0 + 10.0 * np.sin(2 * np.pi * t))
        ends.append(
            art.Loop(slide, None, [PrescribedForce("push", force)]).simulate(5.0, step=5e-4)["q"][-1, 0]
        )
    return np.array(ends)


def _table(t: np.ndarray, values: np.ndarray) -> Table:
    return Table(tuple(t), tuple((x,) for x in values))
