"""Rows of control-structure interaction: the partition beside one large system, and its growth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, exponent
from articulus.bench.timing import Contender, race
from articulus.control import lqr
from articulus.control.interaction.partitioned import Partitioned, modal_filter, modal_gains
from articulus.linear import LinearModel, SecondOrder
from articulus.model.library import structure
from articulus.structure import Structure, beam, normal_modes

STEP, STEPS, MODES = 2e-3, 200, 12
ALLOWED = 1e-3
"""Largest difference of the measurements of both, in parts of the largest."""


def partition(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a step of structure, filter and controller: in parts, and as one first-order system."""
    s = long_beam(12) if effort.quick else structure("satellite582")  # slow enough for the step
    parts = design_interaction(s, 0.1 * STEP if effort.quick else STEP)
    whole = Monolithic(SecondOrder.of(s).first_order(), parts)
    kick = s.B[:, 0] / s.M.diagonal().max()
    ours, theirs = parts.run(STEPS * parts.step, None, kick).z, whole.run(kick)
    gap = np.abs(ours - theirs).max() / np.abs(theirs).max()
    label = f"structure of {s.count} degrees of freedom with filter and controller, a step"
    if not gap <= ALLOWED:
        yield Measurement(
            label, s.count, failed=True, note=f"measurements differ by {gap:.1e}, allowed {ALLOWED:.0e}"
        )
    else:
        calls = [
            Contender("articulus", partial(parts.run, STEPS * parts.step, None, kick), STEPS),
            Contender("one system", partial(whole.run, kick), STEPS),
        ]
        with threadpool_limits(1):
            times = race(calls, effort.seconds, effort.rounds)
        bar = None if effort.quick else FigureLimit(5)
        note = f"the same step, one thread each; measurements agree to {gap:.0e}"
        yield Measurement(
            label,
            s.count,
            times[0],
            "one first-order system",
            times[1],
            times[1] / times[0],
            bar=bar,
            note=note,
        )
    sizes = [60] if effort.quick else [416, 833, 1666]
    runs = []
    for elements in sizes:
        design = design_interaction(long_beam(elements))
        runs.append(
            Contender(
                "articulus", partial(design.run, STEPS * design.step, None, design.structure.B[:, 0]), STEPS
            )
        )
    times = race(runs, effort.seconds, effort.rounds)
    dofs = [6 * elements for elements in sizes]
    note = ", ".join(f"{n:,}: {t:.3g} us" for n, t in zip(dofs, times))
    row = partial(
        Measurement,
        "partitioned interaction, growth with degrees of freedom",
        dofs[-1],
        ours_us=times[-1],
        note=note,
    )
    if effort.quick:
        yield row()
    else:
        yield row(
            value=exponent(dofs, times),
            unit="exponent",
            bar=FigureLimit(1.2, at_least=False, unit="exponent"),
        )


def long_beam(elements: int) -> Structure:
    """Return a clamped beam with four actuators and rate sensors beside them."""
    s = beam(30.0, EI=(1e4, 1e4), GJ=1e4, mass_per_length=1.0, rotary_inertia=1e-3, elements=elements)
    s = s.with_rayleigh_damping(0.0, 1e-4)
    for k in (1, 2, 3, 4):
        node = f"node{k * elements // 4}"
        s = s.with_input(f"u{k}", node, {"y": 1.0, "z": 1.0}).with_output(
            f"y{k}", node, {"y": 1.0, "z": 1.0}, rate=True
        )
    return s


def design_interaction(s: Structure, step: float = STEP) -> Partitioned:
    """Return the structure with a regulator and a filter that know its lowest modes."""
    known = normal_modes(s, MODES)
    m = SecondOrder(
        np.eye(MODES),
        known.shapes.T @ (s.D @ known.shapes),
        np.diag(known.omega**2),
        known.shapes.T @ s.B,
        s.H @ known.shapes,
        s.H_rate @ known.shapes,
    ).first_order()
    F = lqr(m, np.concatenate([np.maximum(known.omega, 1.0) ** 2, np.ones(MODES)]), 1e-3).gain
    L = lqr((m.A.T, m.C.T), m.B @ m.B.T + 1e-6 * np.eye(2 * MODES), 1e-3).gain.T
    return Partitioned(s, step, *modal_gains(s, known.shapes, F), *modal_filter(known.shapes, L))


class Monolithic:
    """Structure and filter as one system of first order, by the mid-point rule with a matrix that is made once."""

    def __init__(self, m: LinearModel, parts: Partitioned):
        F, L = np.hstack([parts.F1, parts.F2]), np.vstack([parts.L1, parts.L2])
        whole = np.block([[m.A, -m.B @ F], [L @ m.C, m.A - m.B @ F - L @ m.C]])
        unit = np.eye(len(whole))
        self.step = scipy.linalg.solve(unit - parts.step / 2 * whole, unit + parts.step / 2 * whole)
        self.C = m.C

    def run(self, kick: np.ndarray) -> np.ndarray:
        """Return the measurements at all steps."""
        n = self.C.shape[1]
        x = np.concatenate([np.zeros(n // 2), kick, np.zeros(n)])
        z = [self.C @ x[:n]]
        for _ in range(STEPS):
            x = self.step @ x
            z.append(self.C @ x[:n])
        return np.array(z)
