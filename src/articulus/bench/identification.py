"""Excitation, subspace identification, one control-structure optimization, one front: times beside bars."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.linalg

from articulus.bench.models import chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.design import (
    ControlStructure,
    MeanSquareLimit,
    RayleighDamping,
    RegulatorCost,
    SizedStructure,
    TradeOff,
    excitation,
)
from articulus.design.modal import subspace_fit
from articulus.model.library.draper_tetrahedron import DENSITY, MEMBERS, NODES, draper_tetrahedron
from articulus.study.records import Record

POUND, INCH = 4.4482216152605, 0.0254
HERTZ, DAMPING = (1.1, 3.2, 7.5), (0.01, 0.02, 0.015)


def identification(effort: Effort) -> Iterator[Measurement]:
    """Yield an exciting motion of 7 joints, and 3 modes from 4000 samples."""
    n = 3 if effort.quick else 7
    arm = chain(n).mechanism
    ranges = dict.fromkeys(arm.description.v_slices, (-1.5, 1.5))
    move = partial(excitation, arm, 5.0, velocity_limit=2.0, acceleration_limit=10.0, ranges=ranges)
    found = move()
    (spent,) = race([Contender("excitation", move)], effort.seconds)
    note = f"condition number {found.condition:.3g}, {found.start_condition:.3g} of the random motion before; combinations {found.gain:.3g} times as well known"
    yield Measurement("exciting motion", n, spent, value=1e-6 * spent, unit="s", bar=FigureLimit(5.0, at_least=False, unit="s"), note=note)  # fmt: skip
    record = beam_record(1000 if effort.quick else 4000)
    fit = partial(subspace_fit, record, "force", "tip", 6, validation=0.0)
    modes = fit()
    away = float(np.abs((modes.hertz - HERTZ) / (modes.frequency_deviations / (2 * np.pi))).max())
    (spent,) = race([Contender("subspace", fit)], effort.seconds)
    bar = FigureLimit(0.08, at_least=False, unit="s")
    note = f"with standard deviations; frequencies within {away:.2g} of them; SIPPY's CVA took 0.08 s on the machine of docs/benchmarks.md"
    yield Measurement(f"3 modes from {len(record)} samples", 6, spent, value=1e-6 * spent, unit="s", bar=bar, failed=away > 5, note=note)  # fmt: skip


def structures(effort: Effort) -> Iterator[Measurement]:
    """Yield the least weight of the tetrahedral truss under two limits, and a front of it with 20 shares."""
    lengths = np.array([np.linalg.norm(NODES[a - 1] - NODES[b - 1]) for a, b in MEMBERS])
    truss = SizedStructure.of(
        lambda areas: draper_tetrahedron(areas.tolist()),
        [f"member {i + 1}" for i in range(12)],
        np.full(12, 0.01),
        controls=[f"leg{i}" for i in range(7, 13)],
        disturbances=["force x", "force y"],
        outputs=["vertex x", "vertex y"],
        weights=DENSITY * lengths,
        damping=RayleighDamping(0.0, 0.002),
    )
    truss = dataclasses.replace(truss, W=truss.W * POUND)
    limits = (MeanSquareLimit("effort", tuple(range(6)), 50 * POUND**2),), (MeanSquareLimit("vertex", (0, 1), 1e-4 * INCH**2),)  # fmt: skip
    problem = ControlStructure(truss, *limits, bounds=(0.1 * INCH**2, 1.0))
    start = problem.scaled_start(np.full(12, 0.01))
    best = problem.minimize(start)
    (spent,) = race([Contender("truss", lambda: problem.minimize(start))], effort.seconds)
    note = f"{best.objective:.4g} kg from {problem.structure.mass(start[:12]):.4g} kg"
    yield Measurement("least weight of DRAPER I", 12, spent, value=1e-6 * spent, unit="s", bar=FigureLimit(5.0, at_least=False, unit="s"), failed=best.point.excess > 1e-5, note=note)  # fmt: skip
    quiet = RegulatorCost(effort=1e-4 * np.eye(6), outputs=1e7 * np.eye(2))
    trade = TradeOff.of(truss, quiet, lower=0.1 * INCH**2)
    shares = np.linspace(0.05, 0.95, 4 if effort.quick else 20).tolist()
    (spent,) = race(
        [Contender("front", lambda: trade.front(shares, start=np.full(12, 0.01)))], effort.seconds
    )
    yield Measurement(f"front of {len(shares)} designs, DRAPER I", 12, spent, value=1e-6 * spent, unit="s", bar=FigureLimit(10.0, at_least=False, unit="s"))  # fmt: skip


def beam_record(samples: int, period: float = 0.01) -> Record:
    """Return a record of three modes under random force, 5 % noise on what is measured."""
    w = 2 * np.pi * np.array(HERTZ)
    A = scipy.linalg.block_diag(*[[[0, 1], [-a * a, -2 * z * a]] for a, z in zip(w, DAMPING)])
    B = np.array([0, 1.0, 0, 0.8, 0, 1.2])
    C = np.array([w[0], 0, 0.7 * w[1], 0, -0.5 * w[2], 0])
    M = scipy.linalg.expm(np.block([[A, B[:, None]], [np.zeros((1, 7))]]) * period)
    random = np.random.default_rng(0)
    force, x, tip = random.normal(size=samples), np.zeros(6), np.zeros(samples)
    for k in range(samples):
        tip[k] = C @ x
        x = M[:6, :6] @ x + M[:6, 6] * force[k]
    noisy = tip + 0.05 * tip.std() * random.normal(size=samples)
    return Record("beam", period * np.arange(samples), {"force": force, "tip": noisy})
