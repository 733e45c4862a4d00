"""Runs as figures: one panel for each unit, one color for each entry, one line style for each run or signal."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import RunStatus

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = (
    "#1f5fa8",
    "#d9772b",
    "#2a8c5a",
    "#b5342f",
    "#7b56a6",
    "#1b9aaa",
    "#c9a227",
    "#c2528b",
    "#5c4a3d",
    "#7d8a97",
)
STYLES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1, 2)))
MARK = "#111111"
"""Color of the cross at which a run failed."""
LANES = 60
"""Most runs of a batch that are drawn one by one."""
LEGEND = 16
"""Most entries of a legend; of more, evenly chosen ones are named."""
POINTS = 5000
"""More points than twice this are drawn as least and greatest values of this many short spans."""
AXIS_TEXT = 34
"""Most letters of the names beside an axis; of more, only the first and the last name are shown."""
EVENTS = 12
"""Most events that are drawn as lines."""


@dataclass(frozen=True)
class Curve:
    """One entry of one signal of one run."""

    run: Run
    values: np.ndarray
    label: str
    style: Any


def plot(runs: Mapping[str, Run], *names: str) -> Figure:
    """Return a figure of signals of one run, or of several over each other.

    Parameters
    ----------
    runs : dict of str to Run
        What the legend calls each run.
    *names : str
        Signals, such as "q", or single entries, such as "q.lift"; positions, velocities and joint forces if none is
        named. Entries with the same unit share a panel.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window. A batch is drawn as faint lines with its median; a cross marks where a run failed.
    """

    if not runs:
        raise InputError("plot: found no run; expected at least one")
    panels = _panels(runs, names or _usual(runs))
    if not panels:
        raise InputError(
            f"plot: found no entries in {', '.join(names or _usual(runs))}; expected at least one"
        )
    height = 2.4 if len(panels) <= 4 else 1.9
    figure: Figure = _shown_figure()(figsize=(9.6, 0.9 + height * len(panels)), dpi=120, layout="constrained")
    column = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    shown: tuple[str, ...] = ()
    for axes, (unit, signals) in zip(column, panels.items()):
        curves = list(_curves(runs, unit, signals))
        labels = tuple(dict.fromkeys(c.label for c in curves))
        _draw(axes, curves, labels)
        axes.set_ylabel(_axis_text(runs, signals, unit))
        if labels != shown:
            _color_legend(axes, labels)
        shown = labels
    _finish(figure, column, runs)
    return figure


# what is shown in which panel


@functools.cache
def _shown_figure() -> Any:
    """Return a kind of figure that a notebook shows without being told to."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure without a window that knows how to show itself."""

        def __init__(self, *args: Any, **options: Any):
            super().__init__(*args, **options)
            FigureCanvasAgg(self)

        def _repr_png_(self) -> bytes:
            out = io.BytesIO()
            self.savefig(out, format="png")
            return out.getvalue()

    return ShownFigure


def _usual(runs: Mapping[str, Run]) -> tuple[str, ...]:
    held = next(iter(runs.values())).signals
    return tuple(name for name in ("q", "v", "tau") if name in held)


def _panels(runs: Mapping[str, Run], names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the names of signals or entries in each panel, by unit."""
    panels: dict[str, list[str]] = {}
    for name in names:
        for run in runs.values():
            for unit in run.select(name).units:
                if name not in panels.setdefault(unit, []):
                    panels[unit].append(name)
    return panels


def _curves(runs: Mapping[str, Run], unit: str, names: list[str]) -> Iterator[Curve]:
    for i, run in enumerate(runs.values()):
        found = list(dict.fromkeys(run.select(name).name for name in names))
        for name in names:
            signal = run.select(name)
            j = found.index(signal.name)
            for k, label in enumerate(_labels(signal, len(names) > 1)):
                if signal.units[k] == unit:
                    style = STYLES[(i if len(runs) > 1 else j) % len(STYLES)]
                    yield Curve(run, signal.values[..., k], label, style)


def _labels(signal: Signal, full: bool) -> tuple[str, ...]:
    return signal.columns if full else tuple(label or signal.name for label in signal.labels)


# drawing


def _draw(axes: Axes, curves: list[Curve], labels: tuple[str, ...]) -> None:
    colors = dict(zip(labels, _palette(len(labels))))
    for curve in curves:
        if curve.values.ndim == 1:
            axes.plot(*_thin(curve.run.t, curve.values), color=colors[curve.label], ls=curve.style, lw=1.6)
            _mark_failures(axes, curve.run.t, curve.values[None], curve.run.failed)
        else:
            _draw_batch(axes, curve, colors[curve.label])
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_batch(axes: Axes, curve: Curve, color: Any) -> None:
    t, values, failed = curve.run.t, curve.values, curve.run.failed[:LANES]
    some = np.linspace(0, len(values) - 1, min(LANES, len(values))).astype(int)
    alpha = max(0.08, 0.5 / np.sqrt(max(len(some), 1)))
    for lane in np.union1d(some, failed):
        axes.plot(*_thin(t, values[lane]), color=color, lw=0.7, alpha=alpha)
    axes.plot(*_thin(t, _median(values)), color=color, lw=1.9, ls=curve.style)
    _mark_failures(axes, t, values[failed], np.arange(len(failed)))


def _median(values: np.ndarray) -> np.ndarray:
    """Return the median over the runs that have not ended, (time,); NaN where there is none."""
    out = np.full(values.shape[1], np.nan)
    alive = ~np.isnan(values).all(axis=0)
    out[alive] = np.nanmedian(values[:, alive], axis=0)
    return out


def _mark_failures(axes: Axes, t: np.ndarray, values: np.ndarray, failed: np.ndarray) -> None:
    for lane in failed:
        good = np.flatnonzero(np.isfinite(values[lane]))
        if good.size:
            at = good[-1]
            axes.plot(t[at], values[lane, at], "x", color=MARK, ms=6, mew=1.6, zorder=3, clip_on=False)


def _thin(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return fewer points that draw the same line: the least and the greatest value of each of many short spans."""
    if t.size <= 2 * POINTS:
        return t, y
    span = t.size // POINTS
    cut = span * POINTS
    blocks = np.where(np.isnan(y[:cut]), 0.0, y[:cut]).reshape(POINTS, span)
    first = np.arange(0, cut, span)
    picked = [[0], first + blocks.argmin(axis=1), first + blocks.argmax(axis=1), np.arange(cut, t.size)]
    at = np.unique(np.concatenate(picked))
    return t[at], y[at]


def _palette(count: int) -> list[Any]:
    if count <= len(COLORS):
        return list(COLORS[:count])
    from matplotlib import colormaps

    return [colormaps["viridis"](x) for x in np.linspace(0.0, 0.92, count)]


# texts


def _axis_text(runs: Mapping[str, Run], names: list[str], unit: str) -> str:
    signals = [next(iter(runs.values())).select(name) for name in names]
    text = ", ".join(names)
    if len(text) > AXIS_TEXT:
        text = f"{names[0]}, ..., {names[-1]}"
    if len(signals) == 1:
        columns = [c for c, u in zip(signals[0].columns, signals[0].units) if u == unit]
        text = columns[0] if len(columns) == 1 else text
    meaning = ", ".join(dict.fromkeys(s.meaning for s in signals if s.meaning))
    return f"{meaning}\n{text} [{unit}]" if meaning else f"{text} [{unit}]"


def _title(runs: Mapping[str, Run]) -> str:
    parts = list(dict.fromkeys(_run_text(run) for run in runs.values()))
    models = list(dict.fromkeys(run.mechanism.name for run in runs.values()))
    return f"{', '.join(models)}: {' / '.join(parts)}" if any(parts) else ", ".join(models)


def _run_text(run: Run) -> str:
    words = [str(run.meta[key]) for key in ("method",) if key in run.meta]
    if run.meta.get("step") is not None:
        words.append(f"step {run.meta['step']:g} s")
    if run.batch is not None:
        faint = "all" if run.batch <= LANES else str(LANES)
        words.append(f"median of {run.batch} runs, {faint} faint")
    failed = len(run.failed)
    if failed:
        words.append("failed" if run.batch is None else f"{failed} failed")
    elif run.batch is None and run.status == RunStatus.STOPPED:
        words.append("stopped by an event")
    return ", ".join(words)


def _color_legend(axes: Axes, labels: tuple[str, ...]) -> None:
    from matplotlib.lines import Line2D

    if len(labels) < 2:
        return
    colors = _palette(len(labels))
    named = np.unique(np.linspace(0, len(labels) - 1, min(LEGEND, len(labels))).astype(int))
    lines = [Line2D([], [], color=colors[k], lw=2.0, label=labels[k]) for k in named]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0.0}
    axes.legend(handles=lines, frameon=False, fontsize=8, handlelength=1.4, labelspacing=0.3, **place)


def _finish(figure: Figure, column: np.ndarray, runs: Mapping[str, Run]) -> None:
    """Put what belongs to all panels: time axis, title, events, and which line style is which run."""
    from matplotlib.lines import Line2D

    times = np.concatenate([run.t for run in runs.values()])
    if times.size and times.min() < times.max():
        column[-1].set_xlim(times.min(), times.max())
    column[-1].set_xlabel("time [s]")
    figure.align_ylabels()
    figure.suptitle(_title(runs), x=0.01, ha="left", fontsize=12, weight="bold")
    events = dict.fromkeys((e.time, e.name) for r in runs.values() if r.batch is None for e in r.events)
    for time, name in list(events)[:EVENTS]:
        for axes in column:
            axes.axvline(time, color="0.45", lw=0.9, ls=":", zorder=1.5)
        corner = {"xycoords": column[0].get_xaxis_transform(), "textcoords": "offset points"}
        note = {"rotation": 90, "va": "top", "ha": "left", "fontsize": 7, "color": "0.35"}
        column[0].annotate(name, (time, 1.0), (2, -2), **corner, **note)
    if len(runs) > 1:
        lines = [
            Line2D([], [], color="0.25", ls=STYLES[k % len(STYLES)], label=name)
            for k, name in enumerate(runs)
        ]
        figure.legend(handles=lines, frameon=False, fontsize=9, loc="outside lower center", ncols=len(lines))
