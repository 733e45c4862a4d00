"""Figures of runs: what stands in them, without a window and without the state of pyplot."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from synthetic import made_up

import articulus as art
from articulus.errors import InputError
from articulus.simulation.results.plots import EVENTS, LANES, POINTS, _thin, plot
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal, position_signal, velocity_signal
from articulus.simulation.results.status import Occurrence


def drawn(figure: Figure) -> Figure:
    """Draw it for good: mistakes of layout show only then."""
    figure.savefig(io.BytesIO(), dpi=40)
    return figure


def crosses(axes: object) -> list:
    return [line for line in axes.lines if line.get_marker() == "x"]  # type: ignore[attr-defined]


def curves(axes: object) -> list:
    return [line for line in axes.lines if len(line.get_xdata()) > 2]  # type: ignore[attr-defined]


def test_panel_for_each_unit() -> None:
    figure = drawn(made_up().plot("q", "gyro.rate"))
    assert [a.get_ylabel().splitlines()[-1] for a in figure.axes] == [
        "q [-]",
        "q [m]",
        "q.lift [rad]",
        "gyro.rate [rad/s]",
    ]
    assert [len(curves(a)) for a in figure.axes] == [4, 4, 1, 3]
    assert [t.get_text() for t in figure.axes[1].get_legend().get_texts()] == [
        "base.x",
        "base.y",
        "base.z",
        "reach",
    ]
    assert figure.axes[2].get_legend() is None
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert figure.get_suptitle() == "mixed: rk4, step 0.001 s"


def test_lines_are_the_values() -> None:
    run = made_up()
    (axes,) = drawn(run.plot("q.lift")).axes
    (line,) = curves(axes)
    assert np.array_equal(line.get_xdata(), run.t)
    assert np.array_equal(line.get_ydata(), run["q.lift"])


def test_same_unit_shares_a_panel() -> None:
    (axes,) = drawn(made_up().plot("v.lift", "gyro.rate")).axes
    assert [t.get_text() for t in axes.get_legend().get_texts()][:2] == ["v.lift", "gyro.rate.x"]
    assert len(curves(axes)) == 4


def test_batch_has_a_median_and_crosses() -> None:
    run = made_up(LANES + 40, fail=7)
    figure = drawn(run.plot("q.lift"))
    (axes,) = figure.axes
    bold = max(curves(axes), key=lambda line: line.get_linewidth())
    assert np.array_equal(bold.get_ydata(), np.nanmedian(run["q.lift"], axis=0))
    assert LANES <= len(curves(axes)) - 1 <= LANES + 1
    (cross,) = crosses(axes)
    last = np.flatnonzero(run.t <= 1.0)[-1]
    assert (cross.get_xdata()[0], cross.get_ydata()[0]) == (run.t[last], run["q.lift"][7, last])
    assert "median of 100 runs, 60 faint, 1 failed" in figure.get_suptitle()


def test_all_failed_batch_draws() -> None:
    """No warning about empty medians (warnings are errors here)."""
    drawn(made_up(1, fail=0).plot("q.lift"))


def test_overlay_of_runs() -> None:
    figure = drawn(plot({"fine": made_up(seed=1), "coarse": made_up(seed=2)}, "q.lift"))
    (axes,) = figure.axes
    a, b = curves(axes)
    assert a.get_color() == b.get_color()
    assert a.get_linestyle() != b.get_linestyle()
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["fine", "coarse"]


def test_many_joints_and_events() -> None:
    """A long chain has a legend of bounded length; so many events are drawn and no more."""
    m, t = art.load("pendulum_chain", n=40), np.linspace(0, 1, 11)
    values = np.outer(np.sin(t), np.arange(40.0))
    signals = [position_signal(m.description, values), velocity_signal(m.description, values)]
    events = tuple(Occurrence(k / 20, f"event {k}") for k in range(20))
    figure = drawn(Run(m, t, {s.name: s for s in signals}, events=events).plot())
    assert len(figure.axes) == 2
    assert len(figure.axes[0].get_legend().get_texts()) == 16
    assert figure.axes[1].get_legend() is None
    assert len(figure.axes[0].texts) == EVENTS


def test_long_runs_keep_their_extremes() -> None:
    t = np.linspace(0, 1, 20 * POINTS + 17)
    y = np.sin(40 * t)
    y[31_234], y[77_777] = 9.0, -9.0
    short_t, short_y = _thin(t, y)
    assert short_t.size < 4 * POINTS
    assert (short_y.max(), short_y.min()) == (9.0, -9.0)
    assert (np.diff(short_t) > 0).all()
    assert (short_t[0], short_t[-1]) == (0.0, 1.0)
    assert np.abs(np.interp(t, short_t, short_y) - y)[5000:30_000].max() < 0.02


def test_pyplot_is_not_touched() -> None:
    already = "matplotlib.pyplot" in sys.modules
    drawn(made_up().plot())
    assert ("matplotlib.pyplot" in sys.modules) == already


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"no signal 'q\.lit'.*did you mean 'q\.lift'"):
        made_up().plot("q.lit")
    with pytest.raises(InputError, match="found no run"):
        plot({})
    none = Signal("u", np.zeros((41, 0)), ())
    run = made_up()
    with pytest.raises(InputError, match="found no entries in u"):
        Run(run.mechanism, run.t, {**run.signals, "u": none}).plot("u")


def test_one_row_draws() -> None:
    """A run without duration has no span of time (warnings are errors here)."""
    drawn(made_up(rows=1).plot("q.lift"))
