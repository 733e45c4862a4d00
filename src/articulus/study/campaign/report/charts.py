"""Figures of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.simulation.results.plots import COLORS
from articulus.study.report.charts import drawing
from articulus.study.report.markup import Markup, element, join

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from articulus.study.campaign.result import Band
    from articulus.study.campaign.sensitivity import Effect, Indices

BLUE, ORANGE, RED = COLORS[0], COLORS[1], COLORS[3]
SOFT = "#595959"
POINTS = 1500
"""Points of one panel of the scatter matrix."""
WIDE = 8.6
MOST_BARS = 60
"""Bars of a histogram."""


def figure_html(draw: Callable[[], Figure], caption: str, prefix: str) -> Markup:
    """Return a figure with its caption."""
    return element("figure", join([element("figcaption", caption), drawing(draw, caption, prefix)]))


def label(name: str, unit: str) -> str:
    """Return a name with its unit."""
    return name if unit in ("-", "") else f"{name} [{unit}]"


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _clean(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#e6e6e6", lw=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8)


def histograms(
    figures: Mapping[str, np.ndarray], units: Mapping[str, str], bounds: Mapping[str, Sequence[float]]
) -> Figure:
    """Draw the distribution of each figure, with the bounds of the requirements on it."""
    names = list(figures)
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = _figure(WIDE, 0.3 + 2.2 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, name in zip(axes, names):
        x = np.asarray(figures[name], dtype=float)
        x = x[np.isfinite(x)]
        if x.size:
            ax.stairs(*np.histogram(x, _edges(x)), fill=True, color=BLUE, alpha=0.75, lw=0)
        for value in bounds.get(name, ()):
            ax.axvline(value, color=RED, lw=1.3)
            _keep_in_view(ax, x, value)
        ax.set_xlabel(label(name, units.get(name, "-")), fontsize=9)
        _clean(ax)
        ax.grid(visible=False, axis="x")
    axes[0].set_ylabel("runs", fontsize=9)
    for ax in axes[len(names) :]:
        ax.set_visible(False)
    return figure


def _edges(x: np.ndarray) -> np.ndarray:
    """Return the limits of the bars: one for each value where all are multiples of something, such as a time between samples."""
    different = np.unique(x)
    if 2 < different.size <= MOST_BARS:
        gaps = np.diff(different)
        step = float(gaps.min())
        counts = np.rint(gaps / step)
        if counts.sum() <= MOST_BARS and np.allclose(gaps, counts * step, rtol=0, atol=1e-3 * step):
            return different[0] + step * (np.arange(int(counts.sum()) + 2) - 0.5)
    low, high = np.quantile(x, [0.001, 0.999]) if x.size > 2000 else (x.min(), x.max())
    if not high > low:
        size = abs(float(low)) or 1.0
        low, high = low - 0.05 * size, high + 0.05 * size
    return np.linspace(low, high, int(np.clip(np.sqrt(x.size), 10, MOST_BARS)) + 1)


def _keep_in_view(ax: Axes, x: np.ndarray, value: float) -> None:
    """Leave out a bound that is far away: the distribution is what is shown."""
    if x.size and np.ptp(x) > 0 and not x.min() - 2 * np.ptp(x) <= value <= x.max() + 2 * np.ptp(x):
        ax.set_xlim(*np.quantile(x, [0, 1]))


def scatter_matrix(columns: Mapping[str, np.ndarray], units: Mapping[str, str], good: np.ndarray) -> Figure:
    """Draw every number over every other, runs that miss a requirement in another color on top."""
    from matplotlib.figure import Figure

    names = list(columns)
    n = len(names)
    picked = (np.flatnonzero(good)[:POINTS], np.flatnonzero(~good)[:POINTS])
    size = min(WIDE, 1.0 + 1.35 * n)
    figure = Figure(figsize=(size, size), dpi=110)
    edge = 0.75 / size
    grid = figure.add_gridspec(
        n, n, left=edge, right=0.995, bottom=edge * 0.8, top=0.995, wspace=0.12, hspace=0.12
    )
    for i, j in ((row, column) for row in range(n) for column in range(row + 1)):
        ax = figure.add_subplot(grid[i, j])
        x, y = columns[names[j]], columns[names[i]]
        if i == j:
            _stack(ax, x, good)
        else:
            for rows, color, alpha in zip(picked, (BLUE, RED), (0.35, 0.6)):
                ax.plot(x[rows], y[rows], ".", ms=2.2, mew=0, color=color, alpha=alpha, rasterized=True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=6, length=2, labelbottom=i == n - 1, labelleft=j == 0 < i)
        ax.locator_params(nbins=3)
        if i == n - 1:
            ax.set_xlabel(_broken(label(names[j], units.get(names[j], "-"))), fontsize=7.5)
        if j == 0:
            ax.set_ylabel(_broken(label(names[i], units.get(names[i], "-"))), fontsize=7.5)
            ax.yaxis.set_label_coords(-0.42, 0.5)
    return figure


def _stack(ax: Axes, x: np.ndarray, good: np.ndarray) -> None:
    """Draw the distribution of all runs, with those that miss a requirement on top."""
    finite = np.isfinite(x)
    if not finite.any():
        return
    edges = _edges(x[finite])[::2]
    low, high = (np.histogram(x[finite & rows], edges)[0] for rows in (good, ~good))
    ax.stairs(low, edges, fill=True, color=BLUE, alpha=0.75, lw=0)
    ax.stairs(low + high, edges, baseline=low, fill=True, color=RED, alpha=0.85, lw=0)


def _broken(text: str) -> str:
    """Return a text on two lines where it is long."""
    if len(text) <= 14:
        return text
    at = min((k for k, c in enumerate(text) if c in " ._"), key=lambda k: abs(k - len(text) // 2), default=0)
    return f"{text[: at + 1].rstrip()}\n{text[at + 1 :]}" if at else text


def bands(found: Sequence[Band]) -> Figure:
    """Draw percentiles over time: pairs of percentiles as areas, the median as a line, extremes dotted."""
    figure = _figure(WIDE, 0.4 + 1.9 * len(found))
    axes = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
    for ax, band in zip(axes, found):
        count = len(band.percentiles)
        for k in range(count // 2):
            low, high = band.values[k], band.values[count - 1 - k]
            text = f"{band.percentiles[k]:g} to {band.percentiles[count - 1 - k]:g} %"
            ax.fill_between(band.times, low, high, color=BLUE, alpha=0.14 + 0.1 * k, lw=0, label=text)
        if count % 2:
            ax.plot(band.times, band.values[count // 2], color=BLUE, lw=1.5, label="median")
        for k, edge in enumerate((band.least, band.greatest)):
            ax.plot(
                band.times, edge, color=SOFT, lw=0.8, ls=":", label="least and greatest" if not k else None
            )
        ax.set_ylabel(label(band.name, band.unit), fontsize=9)
        _clean(ax)
    axes[0].legend(frameon=False, fontsize=8, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    axes[-1].set_xlabel("t [s]", fontsize=9)
    return figure


def tornado(effects: Sequence[Effect], label: str, mean: float) -> Figure:
    """Draw the mean of a figure where each input is in its lowest and in its highest tenth."""
    figure = _figure(WIDE, 1.05 + 0.34 * len(effects))
    ax = figure.subplots()
    for k, e in enumerate(reversed(effects)):
        for value, color, text in ((e.means[0], ORANGE, "low"), (e.means[-1], BLUE, "high")):
            ax.barh(
                k,
                value - mean,
                left=mean,
                color=color,
                height=0.62,
                label=f"input {text}" if not k else None,
            )
    ax.axvline(mean, color=SOFT, lw=1)
    ax.set_yticks(range(len(effects)), [e.name for e in reversed(effects)])
    ax.set_xlabel(f"mean of {label}", fontsize=9)
    figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=2)
    _clean(ax)
    ax.grid(visible=False, axis="y")
    return figure


def effects_over(effects: Sequence[Effect], label: str) -> Figure:
    """Draw the mean of a figure over each input, with two standard errors."""
    columns = min(4, len(effects))
    rows = -(-len(effects) // columns)
    figure = _figure(WIDE, 0.3 + 1.9 * rows)
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for ax, e in zip(axes, effects):
        ax.errorbar(
            e.centers,
            e.means,
            2 * np.nan_to_num(e.errors),
            color=BLUE,
            lw=1.3,
            marker="o",
            ms=3,
            elinewidth=0.8,
        )
        ax.set_xlabel(e.name, fontsize=9)
        ax.locator_params(axis="x", nbins=4)
        _clean(ax)
    for ax in axes[::columns]:
        ax.set_ylabel(_broken(f"mean of {label}"), fontsize=8.5)
    for ax in axes[len(effects) :]:
        ax.set_visible(False)
    return figure


def index_bars(found: Indices) -> Figure:
    """Draw first and total Sobol indices with their bounds."""
    order = np.argsort(-found.total)[:12]
    figure = _figure(WIDE, 2.6)
    ax = figure.subplots()
    for k, (values, bounds, color, text) in enumerate(
        (
            (found.first, found.first_bounds, BLUE, "first: alone"),
            (found.total, found.total_bounds, ORANGE, "total: with interactions"),
        )
    ):
        x = np.arange(order.size) + (k - 0.5) * 0.36
        ax.bar(x, values[order], 0.34, color=color, label=text)
        spread: Any = np.abs(bounds[:, order] - values[order])
        ax.errorbar(x, values[order], spread, fmt="none", ecolor=SOFT, elinewidth=1, capsize=2)
    ax.set_xticks(range(order.size), [_broken(found.names[k]) for k in order])
    ax.set_ylabel("share of the variance", fontsize=9)
    ax.legend(frameon=False, fontsize=8)
    _clean(ax)
    ax.grid(visible=False, axis="x")
    return figure
