"""Row of many contacts: balls in a box, growth with the pairs that touch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import articulus as art
from articulus.bench.models import Array
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, exponent
from articulus.bench.timing import Contender, race
from articulus.simulation.loop.components import Contacts
from articulus.simulation.loop.contact import Plane, Sphere

RADIUS, MASS = 0.05, 1.0
GAP = 2.4 * RADIUS
"""Distance of the centers at the start; walls are half of it from the outer ones [m]."""
STEP, SETTLING, TIMED, SAMPLE = 2.5e-4, 0.5, 0.25, 0.01
"""Step, time until most balls lie, time of the run that is measured, distance of its samples [s]."""
ALLOWED = 1e-5
"""Largest error of the energy balance in parts of the energy that the fall sets free."""
WALLS = {"left": (0, 1), "right": (0, -1), "front": (1, 1), "back": (1, -1)}
"""Axis and direction into the box."""


def growth(effort: Effort) -> Iterator[Measurement]:
    """Yield the exponent with which a step grows with the pairs that touch; they are those that the broad phase leaves."""
    sizes = [4] if effort.quick else [12, 25, 50]
    bar = None if effort.quick else FigureLimit(1.3, at_least=False, unit="exponent")
    row = partial(Measurement, f"{sizes[-1]} spheres in a box, one step", 6 * sizes[-1], bar=bar)
    contenders, pairs, gaps = [], [], []
    for n in sizes:
        m, contacts, q = box_of_balls(n)
        run = partial(art.simulate, m, components=[contacts], step=STEP, sample=SAMPLE)
        fallen = run(SETTLING, q)
        lying = run(TIMED, fallen.q[-1], fallen.v[-1])
        gaps.append(np.abs(fallen["energy.balance"]).max() / fallen["energy"][0, 1])
        pairs.append(float(lying["contacts.touching"].mean()))
        call = partial(run, TIMED, fallen.q[-1], fallen.v[-1])
        contenders.append(Contender("articulus", call, round(TIMED / STEP)))
    if not max(gaps) <= ALLOWED:
        yield row(
            failed=True, note=f"energy off by {max(gaps):.1e} of that of the fall, allowed {ALLOWED:.0e}"
        )
        return
    times = race(contenders, 2 * effort.seconds, effort.rounds)
    note = ", ".join(f"{n} balls, {k:.0f} pairs: {t:.3g} us" for n, k, t in zip(sizes, pairs, times))
    if effort.quick:
        yield row(ours_us=times[-1], note=note)
        return
    last, balls = exponent(pairs[-2:], times[-2:]), exponent(sizes, times)
    note += f"; from {sizes[-2]} to {sizes[-1]} balls {last:.2f}, against the number of balls {balls:.2f}"
    yield row(ours_us=times[-1], value=exponent(pairs, times), unit="exponent", note=note)


def box_of_balls(n: int) -> tuple[art.Mechanism, Contacts, Array]:
    """Return balls above each other in a box without a lid, their contacts, and where they are let go."""
    m = art.Mechanism("balls")
    for i in range(n):
        m.body(f"ball{i}", MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3)
        m.joint(f"free{i}", art.Free(), "ground", f"ball{i}")
    side = int(np.ceil(n ** (1 / 3)))
    for name, (axis, inwards) in WALLS.items():
        at = np.eye(4)
        normal = inwards * np.eye(3)[axis]
        at[:3, :3] = np.column_stack([(0, 0, 1), np.cross(normal, (0, 0, 1)), normal])
        at[:3, 3] = -side * GAP / 2 * normal
        m.frame(name, "ground", at)
    shapes = (*(Sphere(f"ball{i}", RADIUS) for i in range(n)), Plane(), *map(Plane, WALLS))
    rng, q = np.random.default_rng(0), m.neutral.reshape(n, 7).copy()
    for i in range(n):
        place = np.array([i % side, i // side % side, i // side**2]) - [(side - 1) / 2, (side - 1) / 2, -0.5]
        q[i, 4:] = GAP * place + rng.uniform(-0.05, 0.05, 3) * RADIUS
    return m, Contacts(shapes, 1e5, 1.0, 0.2, slip_speed=0.05), q.ravel()
