"""Made-up runs: the arrays need not be a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulus as art
from articulus.numerics.streams import stream_state
from articulus.simulation.results.provenance import provenance
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal, force_signal, position_signal, velocity_signal
from articulus.simulation.results.status import Cause, Failure, FinalState, Occurrence, RunStatus


def mixed() -> art.Mechanism:
    """Return a mechanism with quaternion, angle and length among its coordinates, and a named parameter."""
    solid: dict[str, Any] = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    m = art.Mechanism("mixed", source="made up, für Tests")
    m.body("hull", mass=art.Parameter("hull_mass", 5.0), inertia=(1.0, 1.0, 1.0)).body("arm", **solid)
    m.body("slide", **solid)
    m.joint("base", art.Free(), parent="ground", child="hull")
    m.joint("lift", art.Revolute(axis=(0, 1, 0)), parent="hull", child="arm")
    return m.joint("reach", art.Prismatic(axis=(1, 0, 0)), parent="arm", child="slide")


def made_up(batch: int | None = None, rows: int = 41, seed: int = 0, fail: int | None = None) -> Run:
    """Return a run with every kind of content; run `fail` fails half way."""
    m, rng = mixed(), np.random.default_rng(seed)
    d, lead = m.description, () if batch is None else (batch,)
    t = np.linspace(0.0, 2.0, rows)
    shape = (*lead, rows)
    wave = lambda n: np.sin(t[:, None] * (1 + np.arange(n)) + rng.normal(size=(*lead, 1, n)))  # noqa: E731
    energy = rng.normal(size=(*shape, 5)) * [1, 1, 1, 1, 1e-9]
    signals = [
        position_signal(d, wave(m.nq)),
        velocity_signal(d, wave(m.nv)),
        force_signal(d, wave(m.nv)),
        Signal("energy", energy, ("kinetic", "potential", "input", "dissipated", "balance"), "J", "energy"),
        Signal("gyro.rate", wave(3), ("x", "y", "z"), "rad/s", "measured rate"),
        Signal("height", wave(1), ("",), "m", "height of the tool"),
    ]
    failures, status = [], np.full(lead, RunStatus.COMPLETE)
    if fail is not None:
        x = rng.normal(size=m.nq + m.nv)
        failures = [Failure(fail, 1.0, Cause.NOT_FINITE, "joint 'lift' ran away", x[: m.nq], x[m.nq :], x)]
        status[() if batch is None else fail] = RunStatus.FAILED
    return Run(
        mechanism=m,
        t=t,
        signals={s.name: s for s in signals},
        status=status,
        failures=tuple(failures),
        events=(Occurrence(0.25, "touch", 0), Occurrence(0.5, "lift-off", 0)),
        statistics={
            "steps": 2000,
            "evaluations": 8000,
            "rejected": 0,
            "wall_seconds": 0.01,
            "real_time_ratio": 200.0,
        },
        meta=provenance(m, method="rk4", step=1e-3, seed=seed, settings={"t_end": 2.0, "log": ["q", "v"]}),
        final=FinalState(2000, 2.0, rng.normal(size=(*lead, 20)), stream_state(rng)),
    )
