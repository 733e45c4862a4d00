"""Rows of spacecraft: orbits to a millimeter, a hub with wheels under feedback, a hub with hinged panels, many runs.

Basilisk is not installed with the package; its times in the notes were measured apart (2.12.1, one core of an AMD EPYC, 2026-11-18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import articulus as art
from articulus import spacecraft as sc
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, exponent
from articulus.bench.timing import Contender, race
from articulus.cases.orbit_day import case as orbit_day
from articulus.cases.wheel_pointing import case as wheel_pointing
from articulus.simulation.loop import components as c

BASILISK_STEP = 18.3
"""Of `scenarioAttitudeFeedbackRW`, a step of 0.1 s [us]."""
BASILISK_PANELS = {4: 31.6, 16: 149.0, 32: 1459.0}
"""Of chains of hinged panels, a step [us]."""
BATCH, LANES, RUNS = 256, 1024, 1000


def orbits(effort: Effort) -> Iterator[Measurement]:
    """Yield a day under J2 to a millimeter: one orbit, and one of a batch."""
    s, day = orbit_day.ORBIT.state(), 86400.0
    step = 160.0

    def fly(count: int) -> Callable[[], sc.OrbitRun]:
        r, v = np.tile(s.position, (count, 1)), np.tile(s.velocity, (count, 1))
        return lambda: sc.propagate(r, v, day, step=step, field=orbit_day.J2)

    lanes = 64 if effort.quick else LANES
    exact = sc.propagate(s.position, s.velocity, day, step=60.0, field=orbit_day.J2).position[-1]
    miss = float(np.linalg.norm(fly(1)().position[0, -1] - exact))
    one, many = race(
        [Contender("one", fly(1)), Contender("many", fly(lanes), lanes)], effort.seconds, effort.rounds
    )
    note = f"rk8, {step:g} s; {1e3 * miss:.2f} mm from steps of 60 s. heyoka: 0.19 ms, 0.038 ms in lanes of 8"
    for name, time, bar in (("one", one, 200.0), (f"one of {lanes}", many, 30.0)):
        yield Measurement(
            f"J2 orbit of a day, {name}",
            3,
            time,
            value=time,
            unit="us",
            bar=None if effort.quick else FigureLimit(bar, at_least=False, unit="us"),
            failed=miss > 1e-3,
            note=note,
        )


def wheels(effort: Effort) -> Iterator[Measurement]:
    """Yield a step of the hub with three wheels in orbit under feedback, one run and in a batch, and a Monte Carlo."""
    q0, v0 = wheel_pointing.start()
    loop, steps = art.Loop(wheel_pointing.hub(), components=wheel_pointing.parts()), 6000
    settings: dict[str, Any] = {"method": "rk4", "step": 0.1}
    batch = 16 if effort.quick else BATCH
    at = [np.tile(x, (batch, 1)) for x in (q0, v0)]
    one, many = race(
        [
            Contender(
                "one", lambda: loop.simulate(600.0, q0, v0, sample=600.0, outputs=(), **settings), steps
            ),
            Contender("batch", lambda: loop.rollout(600.0, *at, **settings), steps * batch),
        ],
        effort.seconds,
        effort.rounds,
    )
    for name, time, bar in (("one run", one, 50.0), (f"one of {batch}", many, 200.0)):
        yield Measurement(
            f"hub, three wheels, MRP feedback in orbit, a step of 0.1 s, {name}",
            9,
            time,
            value=BASILISK_STEP / time,
            bar=None if effort.quick else FigureLimit(bar),
            note=f"Basilisk {BASILISK_STEP} us, measured apart",
        )
    rng = np.random.default_rng(1)
    count = 32 if effort.quick else RUNS
    q, v = np.tile(q0, (count, 1)), np.tile(v0, (count, 1))
    v[:, :3] += 0.01 * rng.normal(size=(count, 3))
    (run,) = race([Contender("runs", lambda: loop.rollout(600.0, q, v, **settings))], effort.seconds, 2)
    yield Measurement(
        f"Monte Carlo of {count} runs of 10 minutes of it",
        9,
        run,
        value=1e-6 * run,
        unit="s",
        bar=None if effort.quick else FigureLimit(1.0, at_least=False, unit="s"),
        note="processor time of all threads; Basilisk about 250 s, measured apart",
    )


def panels(effort: Effort) -> Iterator[Measurement]:
    """Yield a step of a hub with a chain of hinged panels, in orbit and with feedback of attitude."""
    sizes = [4] if effort.quick else list(BASILISK_PANELS)
    runs = []
    for count in sizes:
        m, parts = craft_with_panels(count)
        loop, state = art.Loop(m, components=parts), sc.Orbit(7.0e6).state()
        q, v = m.neutral.copy(), np.zeros(m.nv)
        q[4:7], v[3:6] = state.position, state.velocity
        v[:3] = 0.002

        def run(loop: art.Loop = loop, q: np.ndarray = q, v: np.ndarray = v) -> art.Run:
            return loop.simulate(100.0, q, v, sample=100.0, outputs=(), step=0.1, method="rk4")

        runs.append(Contender(str(count), run, 1000))
    times = race(runs, effort.seconds, effort.rounds)
    for count, time in zip(sizes, times):
        theirs = BASILISK_PANELS[count]
        bar = {4: 30.0, 16: 70.0, 32: 150.0}[count]
        yield Measurement(
            f"hub with {count} hinged panels in orbit, feedback, a step",
            6 + count,
            time,
            value=theirs / time,
            bar=None if effort.quick else FigureLimit(bar),
            note=f"Basilisk {theirs:g} us without feedback, measured apart",
        )
    if len(sizes) > 1:
        yield Measurement(
            "hub with hinged panels, growth with their number",
            6 + sizes[-1],
            times[-1],
            value=exponent(sizes, times),
            unit="exponent",
            bar=FigureLimit(1.1, at_least=False, unit="exponent"),
        )


def craft_with_panels(count: int) -> tuple[art.Mechanism, list]:
    """Return a hub with a chain of panels on soft springs, its gravity and its feedback, which acts on the hub."""
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", 750.0, (0, 0, 0), (900.0, 800.0, 600.0))
    m.joint("hub", art.Free(), "ground", "hub")
    parent = "hub"
    for k in range(count):
        m.body(f"panel{k}", 2.0, (0, 0.25, 0), (0.05, 0.02, 0.06))
        m.joint(
            f"hinge{k}",
            art.Revolute((1, 0, 0)),
            parent,
            f"panel{k}",
            at=(0, 0.5, 0),
            stiffness=0.02,
            damping=0.002,
        )
        parent = f"panel{k}"
    law = c.spacecraft.MrpFeedback("hub", stiffness=3.5, damping=30.0, period=0.1, name="law")
    axes, names = wheel_pointing.AXES, wheel_pointing.NAMES
    wheels = [c.ReactionWheel("hub", 0.08, axis, name=name) for axis, name in zip(axes, names)]
    return m, [
        c.CentralGravity(),
        c.spacecraft.InertialPointing(),
        law,
        c.spacecraft.TorqueAllocation("law.torque", axes, names),
        *wheels,
    ]
