"""Row of contact: a robot on four feet beside MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

import articulus as art
from articulus.bench import peers
from articulus.bench.models import Array
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, race_row
from articulus.bench.timing import Contender, race
from articulus.simulation.loop.components import Contact
from articulus.simulation.loop.contact import Plane, Sphere
from articulus.simulation.results.run import Run

STEP = 1e-3
RUNS, PEER_RUNS = 256, 8
LEGS = {"fl": (0.18, 0.05), "fr": (0.18, -0.05), "hl": (-0.18, 0.05), "hr": (-0.18, -0.05)}
"""Where the legs are on the trunk [m]."""
STIFFNESS, DAMPING = 60.0, 2.0
"""Of the springs that hold the joints [N m/rad, N m s/rad]."""
REST = (0.0, 0.7, -1.4)
"""Angles of roll, pitch and knee without load [rad]."""
MASSES = ((9.0, (0.0, 0.0, 0.0), (0.06, 0.25, 0.28)), (0.7, (0.0, 0.03, 0.0), (6e-4, 8e-4, 6e-4)),
          (1.0, (0.0, 0.0, -0.08), (5e-3, 5e-3, 1e-3)), (0.2, (0.0, 0.0, -0.1), (1.5e-3, 1.5e-3, 5e-5)))  # fmt: skip
"""Mass [kg], center of mass [m] and moments of inertia [kg m^2] of trunk, hip, thigh and shank."""
FOOT, FRICTION = 0.02, 0.8
HEIGHTS = 5e-3
"""Largest difference of the heights at which the trunk stands in both engines [m]: their contacts yield differently."""


def quadruped(effort: Effort) -> Iterator[Measurement]:
    """Yield a robot with 18 degrees of freedom that drops on four feet, RK4 at 1 ms, against MuJoCo's step on one thread."""
    steps = 200 if effort.quick else 1000
    q, v = _start()
    call = partial(art.rollout, robot(), steps * STEP, q, v, components=feet(), step=STEP)
    ours = Contender("articulus", call, RUNS * steps)
    row = partial(Measurement, "quadruped on four feet, one step of 1 ms", robot().nv, bar=FigureLimit(8))
    if not peers.mujoco():
        yield row(
            ours_us=race([ours], effort.seconds, effort.rounds)[0],
            note="MuJoCo is not installed (extra `bench`)",
        )
        return
    rival, heights = _mujoco(q[:PEER_RUNS], v[:PEER_RUNS], steps)
    run: Run = ours.call()
    gap = float(np.abs(run.q[:PEER_RUNS, -1, 6] - heights).max())
    if steps == 1000 and not gap <= HEIGHTS:
        yield row(failed=True, note=f"heights of the trunk differ by {gap:.1e} m")
        return
    yield race_row(
        row,
        ours,
        [rival],
        effort,
        f"{RUNS} runs of {steps} steps; heights at the end agree to {1e3 * gap:.1f} mm",
    )


@cache
def robot() -> art.Mechanism:
    """Return a trunk with four legs of three joints."""
    trunk, hip, thigh, shank = MASSES
    m = art.Mechanism("quadruped").body("trunk", trunk[0], trunk[1], trunk[2])
    m.joint("base", art.Free(), "ground", "trunk")
    for leg, (x, y) in LEGS.items():
        side = float(np.sign(y))
        places = ((x, y, 0.0), (0.0, 0.08 * side, 0.0), (0.0, 0.0, -0.2))
        parent = "trunk"
        for kind, axis, at, rest, (mass, com, inertia) in zip(
            ("roll", "pitch", "knee"), ((1, 0, 0), (0, 1, 0), (0, 1, 0)), places, REST, (hip, thigh, shank)
        ):
            m.body(f"{leg}_{kind}", mass, (com[0], side * com[1], com[2]), inertia)
            m.joint(f"{leg}_{kind}", art.Revolute(axis), parent, f"{leg}_{kind}", at, stiffness=STIFFNESS, damping=DAMPING, rest=rest)  # fmt: skip
            parent = f"{leg}_{kind}"
        m.frame(f"{leg}_foot", f"{leg}_knee", (0, 0, -0.2))
    return m


def feet() -> list[Contact]:
    """Return the contacts of the feet with the ground."""
    return [
        Contact(
            Sphere(f"{leg}_foot", FOOT),
            Plane(),
            3e5,
            dissipation=1.0,
            friction=FRICTION,
            shear=1e4,
            shear_damping=2e-3,
        )
        for leg in LEGS
    ]


def _start() -> tuple[Array, Array]:
    """Return states above the ground, legs as without load, with speeds along it."""
    m, rng = robot(), np.random.default_rng(0)
    q, v = np.tile(m.neutral, (RUNS, 1)), np.zeros((RUNS, m.nv))
    q[:, 6], v[:, 3:5] = 0.34 + rng.uniform(0, 0.03, RUNS), rng.uniform(-0.1, 0.1, (RUNS, 2))
    for leg in LEGS:
        for kind, rest in zip(("roll", "pitch", "knee"), REST):
            q[:, m.description.q_slices[f"{leg}_{kind}"]] = rest
    return q, v


def _mujoco(q: Array, v: Array, steps: int) -> tuple[Contender, Array]:
    """Return MuJoCo's own step, with its own contacts and integrator, and the heights at which the trunk ends."""
    engine: Any = peers.mujoco()
    batch = import_module("mujoco.batch").Batch(
        engine.MjModel.from_xml_string(_mjcf()), nsim=len(q), nthread=1
    )
    position, velocity = batch.bind("qpos"), batch.bind("qvel")
    start = np.hstack([q[:, 4:7], q[:, :4], np.tile(REST, (len(q), len(LEGS)))])

    def run() -> None:
        position[:], velocity[:] = start, 0
        velocity[:, :3] = v[:, 3:6]
        batch.step(nstep=steps)

    run()
    return Contender("MuJoCo Batch.step", run, len(q) * steps), np.array(position)[:, 2]


def _mjcf() -> str:
    """Return the robot as MJCF text."""
    trunk, *links = MASSES
    ground = f'<geom type="plane" size="9 9 1" friction="{FRICTION} 0 0"/>'
    legs = ""
    for x, y in LEGS.values():
        side = float(np.sign(y))
        places = ((x, y, 0.0), (0.0, 0.08 * side, 0.0), (0.0, 0.0, -0.2))
        for at, axis, rest, link in zip(places, ("1 0 0", "0 1 0", "0 1 0"), REST, links):
            spring = f'stiffness="{STIFFNESS}" damping="{DAMPING}" springref="{np.degrees(rest)}"'
            legs += f'<body pos="{_words(at)}"><joint axis="{axis}" {spring}/>{_inertial(link, side)}'
        legs += f'<geom type="sphere" size="{FOOT}" pos="0 0 -0.2" friction="{FRICTION} 0 0"/></body></body></body>'
    return (
        f'<mujoco><option timestep="{STEP}"/><worldbody>{ground}<body><freejoint/>{_inertial(trunk)}{legs}</body>'
        "</worldbody></mujoco>"
    )


def _inertial(link: tuple, side: float = 1.0) -> str:
    mass, (x, y, z), inertia = link
    return f'<inertial pos="{_words((x, side * y, z))}" mass="{mass}" diaginertia="{_words(inertia)}"/>'


def _words(numbers: tuple) -> str:
    return " ".join(map(str, numbers))
