"""Schedules: which processor does which task when; their pictures and their proof."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from articulus.errors import InputError
from articulus.model.files.storage import write_text
from articulus.parallel.graph import TaskGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#fc9272", "#d9d9d9", "#c6dbef", "#fee391")


@dataclass(frozen=True, eq=False)
class Schedule:
    """Start and processor of every task.

    Attributes
    ----------
    graph : TaskGraph
    processors : int
    start_times : tuple of float
        Start of each task.
    processor : tuple of int
        Processor of each task, from 0.
    transfer : float
        Time from the end of a task until its result is on another processor.
    bound : float
        A time that no schedule on so many processors undercuts, transfers left out.
    method : str
        How it was found.
    """

    graph: TaskGraph
    processors: int
    start_times: tuple[float, ...]
    processor: tuple[int, ...]
    transfer: float = 0.0
    bound: float = 0.0
    method: str = ""

    @cached_property
    def finish_times(self) -> tuple[float, ...]:
        """End of each task."""
        return tuple(s + t for s, t in zip(self.start_times, self.graph.times))

    @property
    def makespan(self) -> float:
        """End of the last task: the predicted time of the step."""
        return max(self.finish_times, default=0.0)

    @property
    def speedup(self) -> float:
        """Time on one processor over the makespan."""
        return self.graph.work / self.makespan if self.makespan else 1.0

    @property
    def error(self) -> float:
        """How far above the optimum the makespan is at most, as a part of the bound."""
        return self.makespan / self.bound - 1.0 if self.bound else 0.0

    @cached_property
    def lanes(self) -> tuple[tuple[int, ...], ...]:
        """Tasks of each processor, in the order in which they run."""
        found: list[list[int]] = [[] for _ in range(self.processors)]
        for k in sorted(range(len(self.graph)), key=lambda k: (self.start_times[k], self.finish_times[k], k)):
            found[self.processor[k]].append(k)
        return tuple(map(tuple, found))

    def findings(self) -> list[str]:
        """Return what is wrong: tasks that overlap on a processor or start before what they need is there; empty if nothing is."""
        slack = 1e-9 * max(1.0, self.makespan)
        out = []
        for a, b in self.graph.edges:
            there = self.finish_times[a] + (self.transfer if self.processor[a] != self.processor[b] else 0.0)
            if self.start_times[b] < there - slack:
                out.append(
                    f"'{self.graph.names[b]}' starts at {self.start_times[b]:g}, before '{self.graph.names[a]}' is there at {there:g}"
                )
        for lane in self.lanes:
            for a, b in itertools.pairwise(lane):
                if self.start_times[b] < self.finish_times[a] - slack:
                    out.append(
                        f"'{self.graph.names[b]}' starts at {self.start_times[b]:g} while '{self.graph.names[a]}' runs until {self.finish_times[a]:g}"
                    )
        return out

    def svg(self, width: int = 800) -> str:
        """Return the Gantt chart as an SVG picture.

        Parameters
        ----------
        width : int
            Width of the picture [pixels].
        """
        row, left, top = 34, 50, 10
        scale = (width - left - 10) / (self.makespan or 1.0)
        height = top + row * self.processors + 30
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]
        for p in range(self.processors):
            y = top + row * p
            parts.append(f'<text x="8" y="{y + 21}" font-size="13">P{p + 1}</text>')
            parts.append(
                f'<line x1="{left}" y1="{y + row - 2}" x2="{width - 10}" y2="{y + row - 2}" stroke="#dddddd"/>'
            )
        for k, name in enumerate(self.graph.names):
            x, w = left + scale * self.start_times[k], scale * self.graph.times[k]
            y = top + row * self.processor[k]
            told = escape(f"{name}: {self.start_times[k]:g} to {self.finish_times[k]:g}")
            parts.append(
                f'<g><title>{told}</title><rect x="{x:.2f}" y="{y + 3}" width="{w:.2f}" height="{row - 8}" '
                f'fill="{COLORS[k % len(COLORS)]}" stroke="#333333" stroke-width="0.6"/>'
            )
            if w > 7 * len(name) + 4:
                parts.append(
                    f'<text x="{x + w / 2:.2f}" y="{y + 20}" font-size="12" text-anchor="middle">{escape(name)}</text>'
                )
            parts.append("</g>")
        y = top + row * self.processors + 18
        parts.append(f'<text x="{left}" y="{y}" font-size="12">0</text>')
        parts.append(
            f'<text x="{width - 10}" y="{y}" font-size="12" text-anchor="end">{self.makespan:g}</text></svg>'
        )
        return "\n".join(parts) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the Gantt chart as an SVG file, whole or not at all, and return its path.

        Parameters
        ----------
        path : str or Path
            Ends in .svg.
        """
        place = Path(path)
        if place.suffix != ".svg":
            raise InputError(f"chart '{place}': found the ending '{place.suffix}'; expected .svg")
        write_text(place, self.svg())
        return place

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the Gantt chart with matplotlib (extra `plot`) and return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(9, 0.6 + 0.5 * self.processors))[1]
        for k, name in enumerate(self.graph.names):
            ax.barh(
                self.processor[k] + 1, self.graph.times[k], left=self.start_times[k], height=0.7,
                color=COLORS[k % len(COLORS)], edgecolor="#333333", linewidth=0.5,
            )  # fmt: skip
            if self.graph.times[k] > 0.03 * self.makespan:
                ax.text(
                    self.start_times[k] + self.graph.times[k] / 2,
                    self.processor[k] + 1,
                    name,
                    ha="center",
                    va="center",
                    fontsize=8,
                )
        ax.set(
            xlabel="time",
            ylabel="processor",
            xlim=(0, self.makespan or 1.0),
            yticks=range(1, self.processors + 1),
        )
        ax.invert_yaxis()
        return ax

    def __repr__(self) -> str:
        return (
            f"Schedule({len(self.graph)} tasks on {self.processors} processors by {self.method}: {self.makespan:g}, "
            f"{self.speedup:.3g} times as fast as one, at most {100 * self.error:.3g} % above the optimum)"
        )


def waits(schedule: Schedule, all_of_them: bool = False) -> list[tuple[int, int]]:
    """Return the pairs (producer, consumer) on different processors at which the consumer has to check that the producer is done.

    Left out are those that need no check: one processor learns how far another one has come from every check that it makes, and from
    what that other one had learned before. Each shared result carries the number of the step that wrote it, so that nothing is reset
    (Kasahara, Honda & Narita 1989).

    Parameters
    ----------
    schedule : Schedule
    all_of_them : bool
        Also those that need no check.

    Returns
    -------
    list of (int, int)
        In the order in which consumers start.
    """
    graph, where = schedule.graph, schedule.processor
    place = {k: i for lane in schedule.lanes for i, k in enumerate(lane)}
    rank = {k: i for i, k in enumerate(graph.order)}
    known: list[list[int]] = [[-1] * schedule.processors for _ in range(schedule.processors)]
    at_end: dict[int, list[int]] = {}
    out = []
    for k in sorted(range(len(graph)), key=lambda k: (schedule.start_times[k], rank[k])):
        own = known[where[k]]
        crossing = [p for p in graph.predecessors[k] if where[p] != where[k]]
        asked = [p for p in crossing if own[where[p]] < place[p]]
        kept = [p for p in asked if not any(at_end[o][where[p]] >= place[p] for o in asked if o != p)]
        out += [(p, k) for p in (crossing if all_of_them else kept)]
        for p in kept:
            own[:] = map(max, own, at_end[p])
        own[where[k]] = place[k]
        at_end[k] = list(own)
    return out
