"""Pictures of designs: sections through the design space, fronts of trade-offs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from articulus.design.pareto import Front
    from articulus.design.program import LineSection


def plot_section(section: LineSection) -> Any:
    """Return a figure of objective and limits along a line through the design space."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, layout="constrained")
    unit = section.program.unit
    above.plot(section.places, section.objective)
    above.set_ylabel(f"objective [{unit}]" if unit else "objective")
    for name, values in zip(section.program.limits, section.limits.T):
        below.plot(section.places, 100 * (1 + values), label=name)
    below.axhline(100.0, color="black", linewidth=0.8)
    below.set_ylabel("share of the limit [%]")
    below.set_xlabel("place on the line: 0 and 1 are the two designs")
    if section.program.limits:
        below.legend()
    return figure


def plot_front(front: Front) -> Any:
    """Return a figure of the front of a trade-off, with the weight of the second cost beside each design."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(layout="constrained")
    costs = np.array([d.costs for d in front.designs])
    axes.loglog(costs[:, 0], costs[:, 1], "o-", markersize=4)
    for d, (x, y) in zip(front.designs, costs):
        axes.annotate(f"{d.share:g}", (x, y), textcoords="offset points", xytext=(4, 4), fontsize=7)
    axes.set_xlabel(front.names[0])
    axes.set_ylabel(front.names[1])
    return figure
