"""Plots as a person uses them: windows, cursors, spectra, one signal against another, dragging, files; numbers beside NumPy's."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus.browser import export_html
from articulus.simulation.results import Run
from articulus.simulation.results.signal import Signal

from .browser import eventually, opened
from .runs import kinematic_run

SINGLE = 2e-6
"""Samples are kept as float32; numbers of tables have four digits, of CSV all that float32 has."""
DIGITS = 6e-4
"""Half of the last of four digits, relative, at worst."""


def waves() -> tuple[np.ndarray, np.ndarray]:
    """Return times and two waves of known amplitude and frequency: 2 at 5 Hz about 0.5, and 3 at 12.5 Hz."""
    t = np.arange(4096) / 1024.0
    return t, np.stack([0.5 + 2 * np.sin(10 * np.pi * t), 3 * np.cos(25 * np.pi * t)], axis=1)


@pytest.fixture(scope="module")
def run() -> Run:
    t, values = waves()
    arm = art.load("two_link")
    q = np.stack([np.sin(t), 0.3 * t], axis=1)
    still = kinematic_run(arm, q)
    signals = {**still.signals, "wave": Signal("wave", values, ("slow", "fast"), "N")}
    return Run(arm, t, signals)


@pytest.fixture(scope="module")
def page(browser: Any, run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    place = tmp_path_factory.mktemp("plots") / "waves.html"
    export_html(run, place)
    with opened(browser, place, permissions=["clipboard-read", "clipboard-write"]) as page:
        yield page


@pytest.fixture(autouse=True)
def fresh(page: Any) -> None:
    """Begin every test with one plot of the waves, the whole time and no cursors."""
    page.evaluate("""async () => { const { desk } = articulus.player;
        for (const panel of [...desk.panels]) desk.remove(panel);
        desk.useCursors(false); desk.reset(); articulus.player.seek(0);
        await desk.add('wave|*|N').ready; }""")


def desk(page: Any, what: str) -> Any:
    return page.evaluate(f"articulus.player.desk.{what}")


def table(page: Any) -> dict[str, list[str]]:
    """Return the numbers below the first plot by curve, once they are told."""
    page.evaluate("articulus.player.panels[0].tell()")
    rows = page.evaluate(
        "[...articulus.player.panels[0].legend.querySelectorAll('tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    return {row[0]: row[1:] for row in rows}


def numbers(cells: list[str]) -> np.ndarray:
    return np.array([float(cell) for cell in cells])


def test_wheel_buttons_and_double_click_change_the_window_of_all_plots(page: Any) -> None:
    page.evaluate("articulus.player.desk.add('q|0').ready")
    box = page.locator(".panel canvas").first.bounding_box()
    page.mouse.move(
        box["x"] + 54 + 0.25 * (box["width"] - 64), box["y"] + box["height"] / 2
    )  # a quarter of the time
    page.mouse.wheel(0, -400)
    assert eventually(lambda: desk(page, "window")[1] < 3.9)
    low, high = desk(page, "window")
    end = waves()[0][-1]
    assert 0.25 * end == pytest.approx(low + 0.25 * (high - low), abs=0.01), "the time at the pointer stays"
    axes = page.evaluate("articulus.player.panels.map(p => [p.axes.across.low, p.axes.across.high])")
    assert eventually(lambda: page.evaluate("articulus.player.panels[1].axes.across.low") == low)
    assert len(axes) == 2
    page.get_by_label("Later").click()
    assert desk(page, "window")[0] > low
    page.locator(".panel canvas").first.dblclick()
    assert eventually(lambda: desk(page, "window") == [0, end])
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 54 + 0.5 * (box["width"] - 64), box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 54 + 0.75 * (box["width"] - 64), box["y"] + 50, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert desk(page, "window") == pytest.approx([0.5 * end, 0.75 * end], abs=0.02)
    assert page.locator("#seen").is_visible()


def test_a_window_follows_the_replay(page: Any) -> None:
    page.evaluate("articulus.player.desk.see([1, 1.5])")
    page.evaluate("articulus.player.seek(3)")
    low, high = desk(page, "window")
    assert low < 3 < high
    assert high - low == pytest.approx(0.5)


def test_numbers_of_the_table_are_those_of_the_samples(page: Any) -> None:
    t, values = waves()
    page.evaluate("articulus.player.desk.see([0.31, 0.62])")
    page.evaluate("articulus.player.seek(0.5001)")
    inside = slice(np.searchsorted(t, 0.31, "right") - 1, np.searchsorted(t, 0.62, "right") + 1)
    for k, name in enumerate(("slow", "fast")):
        expected = [np.interp(0.5001, t, values[:, k]), values[inside, k].min(), values[inside, k].max()]
        np.testing.assert_allclose(numbers(table(page)[name]), expected, rtol=DIGITS, atol=1e-5)


def test_two_cursors_tell_differences_slope_mean_and_integral(page: Any) -> None:
    t, values = waves()
    page.get_by_label("Two cursors").click()
    page.evaluate(
        "() => { const d = articulus.player.desk; d.moveCursor('a', 0.2003); d.moveCursor('b', 0.7506); }"
    )
    fine = np.unique(np.concatenate([t[(t > 0.2003) & (t < 0.7506)], [0.2003, 0.7506]]))
    for k, name in enumerate(("slow", "fast")):
        y = np.interp(fine, t, values[:, k])
        integral = np.trapezoid(y, fine)
        a, b = y[0], y[-1]
        expected = [a, b, b - a, (b - a) / 0.5503, integral / 0.5503, integral]
        np.testing.assert_allclose(numbers(table(page)[name])[1:], expected, rtol=DIGITS, atol=2e-5)
    box = page.locator(".panel canvas").first.bounding_box()
    x = page.evaluate("articulus.player.panels[0].axes.across.at(articulus.player.desk.cursors.b)")
    page.mouse.move(box["x"] + x, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + x + 40, box["y"] + 40, steps=3)
    page.mouse.up()
    assert desk(page, "cursors.b") > 0.8
    assert float(page.input_value("#time")) == 0.0, "a cursor was taken, not the time"


def test_the_spectrum_shows_amplitude_and_frequency(page: Any) -> None:
    page.locator(".menu summary").first.click()
    page.get_by_label("What this plot shows").select_option("spectrum")
    peaks = page.evaluate("""articulus.player.panels[0].curves.map(c => { const s = articulus.player.panels[0].spectrumOf(c);
        const k = s.amplitude.indexOf(Math.max(...s.amplitude)); return [s.frequency[k], s.amplitude[k]]; })""")
    # 4095 intervals make 2048 points of a Hann window over a whole number of periods, nearly: its loss is below a percent
    np.testing.assert_allclose(peaks, [[5, 2], [12.5, 3]], rtol=0.01)


def test_one_signal_against_another_and_files(page: Any) -> None:
    t, values = waves()
    page.evaluate("articulus.player.panels[0].show('cross:q|1')")
    page.evaluate("articulus.player.desk.see([1, 2])")
    assert eventually(lambda: page.evaluate("articulus.player.panels[0].axes.across.high") < 0.62)
    page.locator(".menu summary").first.click()
    with page.expect_download() as download:
        page.get_by_text("Save as CSV").first.click()
    head, *rows = csv.reader(io.StringIO(Path(download.value.path()).read_text()))
    assert head == ["time [s]", "q.joint2 [rad]", "wave.slow [N]", "wave.fast [N]"]
    inside = (t >= 1) & (t <= 2)
    expected = np.column_stack([t, 0.3 * t, values])[inside]
    np.testing.assert_allclose(np.array(rows, float), expected, rtol=SINGLE, atol=SINGLE)
    page.evaluate("articulus.player.panels[0].show('time')")
    svg = ElementTree.fromstring(page.evaluate("articulus.player.panels[0].svg()"))
    words = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"time [s]", "[N]", "slow", "fast"} <= set(words)
    page.evaluate("articulus.player.panels[0].hide('wave|0', true)")
    copied = page.evaluate(
        "async () => { await articulus.copy(articulus.player.panels[0].csv()); return navigator.clipboard.readText(); }"
    )
    assert copied.splitlines()[0] == "time [s],wave.fast [N]"


def test_signals_are_dragged_into_plots_and_a_third_unit_is_refused(page: Any) -> None:
    page.locator("#signals summary", has_text="q:").click()
    source = page.locator("#signals .entry", has_text="q.joint1")
    source.drag_to(page.locator(".panel canvas").first)
    assert eventually(lambda: page.evaluate("articulus.player.panels[0].units") == ["N", "rad"])
    assert set(table(page)) == {"slow", "fast", "q.joint1"}
    source.click()
    assert page.locator(".panel").count() == 2, "pressed, it has a plot of its own"
    page.evaluate("articulus.player.panels[0].add('v|0')")
    assert "give it a plot of its own" in page.locator(".plot-note").first.inner_text()
    page.locator("#signals summary", has_text="q:").click()


def test_dense_curves_keep_their_extremes_and_logarithmic_axes_their_numbers(page: Any) -> None:
    """One sample of 2^20 that stands out is still drawn; ranges of any stretch equal those of the samples."""
    found = page.evaluate("""() => { const n = 2 ** 20, v = new Float32Array(n); let s = 1;
        for (let i = 0; i < n; i++) { s = (1103515245 * s + 12345) % 2147483648; v[i] = s / 2147483648; }
        v[777777] = 9; v[123] = NaN; const e = new articulus.Extremes(v); const wrong = [];
        for (const [i, j] of [[0, n], [5, 6], [100, 130], [777000, 778000], [777778, n], [3, 999999], [122, 124]]) {
            let low = Infinity, high = -Infinity;
            for (let k = i; k < j; k++) { if (v[k] < low) low = v[k]; if (v[k] > high) high = v[k]; }
            const [a, b] = e.range(i, j); if (a !== low || b !== high) wrong.push([i, j, a, low, b, high]); }
        return [wrong, Math.max(...e.high.at(-1))]; }""")
    assert found[0] == []
    assert found[1] == 9
    page.evaluate("articulus.player.panels[0].scale(true)")
    low, high = page.evaluate("articulus.player.panels[0].range")
    assert 0 < low < high


def test_an_address_brings_back_what_was_shown(browser: Any, run: Run, tmp_path: Path) -> None:
    place = tmp_path / "kept.html"
    export_html(run, place)
    with opened(browser, place) as page:
        page.evaluate("""async () => { const { player } = articulus, { desk } = player;
            for (const panel of [...desk.panels]) desk.remove(panel);
            await desk.add('wave|1').ready; await desk.panels[0].add('q|0'); await desk.panels[0].show('spectrum');
            desk.see([1, 2]); desk.useCursors(true); desk.moveCursor('a', 1.25);
            player.views.parallel(true); player.views.look('side'); player.show('frame', true); player.seek(1.5); player.keep(); }""")
        assert eventually(lambda: "#view=" in page.evaluate("location.hash"))
        page.wait_for_timeout(400)
        address = page.evaluate("location.href")
        state = page.evaluate("articulus.player.state")
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector("body[data-ready=yes]")
        assert page.evaluate("articulus.player.state") == state
        page.goto("about:blank")
        page.goto(address[:-9])  # cut off
        page.wait_for_selector("body[data-ready=yes]")
        assert page.locator("#failure").is_hidden()
