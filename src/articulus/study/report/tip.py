"""The section of a report on a tip that follows a path: how near it stays, and the forces, beside simpler feedforward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from articulus.study.report.charts import drawing
from articulus.study.report.markup import Markup, element, number, readable, section, table
from articulus.study.report.sections import ANCHORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.study.runner import Outcome
    from articulus.study.tip import TipRun

TITLE = "Tip motion"


def tip_section(outcome: Outcome, replay: str = "") -> Markup:
    """Return a table and figures of the ways in which the tip was moved; nothing for a study without a path of a tip.

    With a replay, that of a study other than the one of the report, its purpose and its replay come first.
    """
    motion = outcome.study.tip
    if motion is None or not outcome.tips:
        return Markup()
    inversion = motion.inversion
    begin = -float(inversion.t[0])
    end = begin + inversion.t_end
    text = (
        f"The tip '{motion.tip}' moves from t = {begin + inversion.t0:.4g} s to {end:.4g} s. Forces that make it follow the path exactly begin "
        f"{inversion.pre:.3g} s before and end {inversion.post:.3g} s after the motion. Beside them: the forces that an arm of rigid links would need for "
        f"the same path, and for the path after an input shaper ({motion.shaper.upper()}) for the slowest vibration."
    )
    zeros = np.asarray(inversion.figures.get("zeros", ()))
    fastest = sorted({f"{z:.4g}" for z in zeros.real if z > 0}, key=float)[:3]
    note = f" Zeros in the right half-plane at the start: {', '.join(fastest)} 1/s." if fastest else ""
    columns = ["forces", "largest distance from the path [m]", "after the motion [m]"]
    columns += [f"peak {name} [{unit}]" for name, unit in zip(inversion.input_names, inversion.input_units)]
    rows = [
        (
            tip.name,
            number(tip.largest),
            number(tip.after(end)),
            *(number(float(peak)) for peak in np.abs(tip.inversion.inputs).max(0)),
        )
        for tip in outcome.tips
    ]
    summary = table(
        "How near the tip stays to the path, in simulations without feedback",
        tuple(columns),
        rows,
        numbers=tuple(range(1, len(columns))),
    )
    other = [element("p", outcome.study.purpose), Markup(replay)] if replay else []
    return section(
        TITLE,
        *other,
        element("p", readable(text + note)),
        summary,
        drawing(lambda: _errors(outcome.tips, begin, end), "distance from the path over time", "tip-error"),
        drawing(lambda: _forces(outcome.tips, begin, end), "forces over time", "tip-forces"),
        anchor=ANCHORS[TITLE],
    )


def _errors(tips: tuple[TipRun, ...], begin: float, end: float) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    ax = figure.subplots()
    for tip in tips:
        ax.semilogy(tip.t, np.maximum(np.linalg.norm(tip.error, axis=1), 1e-12), label=tip.name)
    ax.axvspan(begin, end, color="0.5", alpha=0.12, lw=0)
    ax.yaxis.set_major_formatter(
        lambda x, _: f"{x:.0e}"
    )  # plain text: pages show no mathematics of matplotlib
    ax.set(xlabel="t [s]", ylabel="distance from the path [m]")
    ax.legend(frameon=False)
    return figure


def _forces(tips: tuple[TipRun, ...], begin: float, end: float) -> Figure:
    from matplotlib.figure import Figure

    names, units = tips[0].inversion.input_names, tips[0].inversion.input_units
    figure = Figure(figsize=(8, 1 + 1.8 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for k, (ax, name, unit) in enumerate(zip(axes, names, units)):
        for tip in tips:
            ax.plot(tip.inversion.t - tip.inversion.t[0], tip.inversion.inputs[:, k], label=tip.name)
        ax.axvspan(begin, end, color="0.5", alpha=0.12, lw=0)
        ax.set_ylabel(f"{name} [{unit}]")
    axes[0].legend(frameon=False)
    axes[-1].set_xlabel("t [s]")
    return figure
