"""The section of a report on the stability margins of the controller at the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from articulus.simulation.loop.component import Controller
from articulus.study.report.charts import drawing
from articulus.study.report.markup import Markup, element, join, number, readable, section, table
from articulus.study.report.sections import ANCHORS

if TYPE_CHECKING:
    from articulus.control.analysis.margins import Margins
    from articulus.control.proof.run_margins import RunMargins
    from articulus.study.runner import Outcome

LARGEST = 60
"""Velocities of a mechanism up to which a report derives the linear model of its loop: that of larger ones takes seconds."""
TITLE = "Stability margins"
POLES = 8


def margins_section(outcome: Outcome) -> Markup:
    """Return margins, sensitivity peaks, poles and the loop gain; nothing for a batch, a failed run or one without a controller."""
    run = outcome.run
    controlled = any(isinstance(c, Controller) for c in outcome.study.components)
    if not controlled or run.batch is not None or run.failed.size or run.t.size < 2:
        return Markup()
    if run.mechanism.nv > LARGEST:
        text = f"Left out for a mechanism of more than {LARGEST} degrees of freedom: articulus.control.run_margins(run) computes them."
        return section(TITLE, element("p", text), anchor=ANCHORS[TITLE])
    from articulus.control.proof.run_margins import run_margins

    found = run_margins(run)
    parts = [_section_of(found), _poles(found)]
    if found.margins is not None:
        parts[1:1] = [_channels(found.margins), _curves(found.margins)]
    return section(TITLE, *parts, anchor=ANCHORS[TITLE])


def _section_of(found: RunMargins) -> Markup:
    sampled = found.closed is not None and found.closed.period
    period = f", sampled every {found.closed.period:g} s" if found.closed is not None and sampled else ""
    if found.margins is None:
        text = f"Not defined about t = {found.t:g} s{period}: {found.reason}."
    else:
        text = f"Of the linear model about t = {found.t:g} s{period}, the loop cut open at the commands, one at a time with the others closed."
    notes = [element("p", readable(f"Note: {found.note}."))] if found.note else []
    return join([element("p", readable(text)), *notes])


def _channels(margins: Margins) -> Markup:
    rows: list[tuple[str, ...]] = [
        (
            c.channel,
            f"{number(c.gain_down)} to {_limit(c.gain_up)}",
            _limit(float(np.degrees(c.phase))),
            _limit(c.omega_phase if np.isfinite(c.phase) else np.inf),
            _limit(c.delay),
            number(c.disk.size),
            number(c.sensitivity.value),
            number(c.complementary.value),
        )
        for c in margins.channels
    ]
    if len(rows) > 1:
        peaks = (
            number(x) for x in (margins.disk.size, margins.sensitivity.value, margins.complementary.value)
        )
        rows.append(("all at once", "", "", "", "", *peaks))
    columns = (
        "command",
        "gain may change by",
        "phase [deg]",
        "at [rad/s]",
        "delay [s]",
        "disk margin",
        "peak of S",
        "peak of T",
    )
    return table("Margins and peaks of the sensitivities", columns, rows, numbers=range(1, 8))


def _limit(x: float) -> str:
    return number(x) if np.isfinite(x) else "no limit"


def _poles(found: RunMargins) -> Markup:
    rows = []
    for pole in found.least_damped[:POLES]:
        size = abs(pole)
        place = number(pole.real) + (f" ± {number(pole.imag)}j" if pole.imag else "")
        rows.append((place, number(size), number(-pole.real / size) if size else "–"))
    columns = ("pole [rad/s]", "size [rad/s]", "damping ratio")
    return table("Least damped poles of the closed loop", columns, rows, numbers=(1, 2))


def _curves(found: Margins) -> Markup:
    title = "Gain and phase of the loop at each command, and the sensitivities over frequency"
    return element("figure", join([element("figcaption", title), drawing(found.plot, title, "margins")]))
