"""Exported pages in a real browser, from disk, with the network off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

import articulus as art
import flexible_zoo
import zoo
from articulus.browser import export_html
from articulus.simulation.results.signal import Signal

from .browser import READY, eventually, kept, opened
from .runs import kinematic_run

SINGLE = 2e-6
"""What float32 leaves of positions of the order of a metre, a few operations on [m]."""


def positions(page: Any, names: tuple[str, ...]) -> np.ndarray:
    """Return where bodies and frames are shown, (names, 3) [m]."""
    ask = "names => names.map(n => articulus.player.tracks[0].view.position(n).toArray())"
    return np.array(page.evaluate(ask, list(names)))


def view(page: Any, name: str) -> np.ndarray:
    """Return the picture of the mechanism, (height, width, 3)."""
    box = page.locator("#view").bounding_box()
    picture = matplotlib.image.imread(kept(page, name))
    x, y, w, h = (round(box[k]) for k in ("x", "y", "width", "height"))
    return picture[y : y + h, x : x + w, :3]


def seek(page: Any, t: float) -> None:
    """Move the slider and wait until it is drawn."""
    move = "t => { const s = document.getElementById('time'); s.value = t; s.dispatchEvent(new Event('input')); }"
    page.evaluate(move, t)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_it_plays_scrubs_and_shows_the_run(browser: Any, tmp_path: Path) -> None:
    arm = art.load("puma600")
    run = kinematic_run(arm)
    export_html(run, tmp_path / "arm.html")
    with opened(browser, tmp_path / "arm.html") as page:
        start = view(page, "puma600")
        assert start.reshape(-1, 3).std(axis=0).max() > 0.02, "the canvas is blank"
        seek(page, 0.5)
        assert np.abs(view(page, "puma600-later") - start).max() > 0.2, "scrubbing changed no pixel"
        seek(page, 0.7)
        expected = [arm.pose(name, run.q[7])[:3, 3] for name in arm.body_names]
        np.testing.assert_allclose(positions(page, arm.body_names), expected, atol=SINGLE)
        cursor = "articulus.player.panels[0].cursorX"
        x = page.evaluate(cursor)
        before = float(page.input_value("#time"))
        page.select_option("#speed", "0.25")
        page.keyboard.press("Space")
        page.wait_for_function("t => Number(document.getElementById('time').value) > t + 0.02", arg=before)
        page.keyboard.press("Space")
        assert page.get_attribute("#play", "aria-label") == "Play"
        assert page.evaluate(cursor) > x, "the cursor of the plot did not follow"
        _click_at_half(page)
        assert float(page.input_value("#time")) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_page_plays_by_itself_if_its_visitor_likes_motion(
    browser: Any, tmp_path: Path, motion: str
) -> None:
    export_html(kinematic_run(art.load("puma600")), tmp_path / "arm.html", play=True)
    with opened(browser, tmp_path / "arm.html", reduced_motion=motion) as page:
        page.wait_for_function("articulus.player.opened")
        if motion == "reduce":
            assert page.get_attribute("#play", "aria-label") == "Play"
        else:
            page.wait_for_function("Number(document.getElementById('time').value) > 0")


def _click_at_half(page: Any) -> None:
    """Click in the middle of the first plot, between its margins of 54 and 10 pixels."""
    box = page.locator(".panel canvas").first.bounding_box()
    page.mouse.click(box["x"] + 54 + (box["width"] - 64) / 2, box["y"] + box["height"] / 2)


def test_bodies_and_frames_are_where_the_equations_put_them(browser: Any, tmp_path: Path) -> None:
    mech = flexible_zoo.soften(zoo.get("every_joint"), 5)
    q = np.stack([flexible_zoo.state(mech, seed).q for seed in range(3)])
    export_html(kinematic_run(mech, q), tmp_path / "soft.html")
    names = (*mech.body_names, *mech.frame_names)
    bent = q[1].copy()
    for body in mech.description.bodies:
        bent[mech.description.mode_slices(body.name)[1]] *= 10**0.3
    reach = np.abs([mech.pose(n, bent)[:3, 3] for n in names]).max()
    with opened(browser, tmp_path / "soft.html") as page:
        seek(page, 0.5)
        expected = [mech.pose(n, q[1])[:3, 3] for n in names]
        np.testing.assert_allclose(positions(page, names), expected, atol=SINGLE * (1 + reach))
        page.evaluate(
            "() => { const s = document.getElementById('scale'); s.value = 0.3; s.dispatchEvent(new Event('input')); }"
        )
        expected = [mech.pose(n, bent)[:3, 3] for n in names]
        np.testing.assert_allclose(positions(page, names), expected, atol=10 * SINGLE * (1 + reach))
        view(page, "soft")


def test_runs_over_each_other_and_forces(browser: Any, tmp_path: Path) -> None:
    arm = art.load("two_link")
    push = Signal("tip.wrench", np.tile([0.0, 0, 0, 5, 0, 0], (11, 1)), tuple("abcdef"), "N")
    touching = np.arange(11)[:, None] >= 5  # from 0.5 s on
    touch = Signal("foot.force", touching * [0.0, 0, 8], ("x", "y", "z"), "N")
    place_of_touch = Signal("foot.point", np.tile([0.3, -0.2, 0.1], (11, 1)), ("x", "y", "z"), "m")
    first = kinematic_run(arm, more={s.name: s for s in (push, touch, place_of_touch)})
    second = kinematic_run(arm, first.q + 0.4)
    place = tmp_path / "two.html"
    export_html({"nominal": first, "other": second}, place, wrenches={})
    with opened(browser, place, color_scheme="dark") as page:
        both = view(page, "overlay")
        page.get_by_label("other").uncheck()
        seek(page, 0.0)
        assert np.abs(view(page, "overlay-first-only") - both).max() > 0.1, "the ghost was not drawn"
        shown = page.evaluate("articulus.player.tracks.map(t => t.view.position('link2').toArray())")
        expected = [arm.pose("link2", run.q[0])[:3, 3] for run in (first, second)]
        np.testing.assert_allclose(shown, expected, atol=SINGLE)
        assert page.evaluate("document.documentElement.classList.contains('dark')")
    export_html(first, place, wrenches={"tip.wrench": "link2"})
    with opened(browser, place) as page:
        moment, force = page.evaluate(
            "articulus.player.tracks[0].view.arrows[0].parts.map(p => p.group.visible)"
        )
        assert (moment, force) == (False, True)
        contact = "articulus.player.tracks[0].view.arrows[1]"
        shown = f"[{contact}.mark, ...{contact}.parts].map(p => p.group.visible)"
        seek(page, 0.4)
        assert page.evaluate(shown) == [False, False, False]
        seek(page, 0.6)
        assert page.evaluate(shown) == [True, False, True]
        ball = page.evaluate(f"{contact}.mark.group.position.toArray()")
        tip = page.evaluate(f"{contact}.parts[1].head.position.toArray()")
        np.testing.assert_allclose(ball, [0.3, -0.2, 0.1], atol=SINGLE)
        np.testing.assert_allclose(tip[:2], ball[:2], atol=SINGLE)
        assert tip[2] > ball[2] + 0.01


def test_pictures_videos_and_toggles(browser: Any, tmp_path: Path) -> None:
    run = kinematic_run(art.load("cat215b"))
    export_html(run, tmp_path / "cat.html", title="digger")
    with opened(browser, tmp_path / "cat.html") as page:
        plain = view(page, "cat215b")
        for key in "fac":
            page.keyboard.press(key)
        page.select_option("#trail", "bucket_tip")
        seek(page, 0.0)
        assert np.abs(view(page, "cat215b-frames") - plain).max() > 0.2
        with page.expect_download() as picture:
            page.click("#shot")
        assert picture.value.suggested_filename == "digger.png"
        assert matplotlib.image.imread(picture.value.path()).std() > 0.02
        page.select_option("#speed", "2")
        with page.expect_download() as video:
            page.click("#film")
        kind = Path(video.value.suggested_filename).suffix
        head = Path(video.value.path()).read_bytes()[:8]
        assert video.value.suggested_filename == f"digger{kind}"
        assert {".webm": head[:4] == b"\x1aE\xdf\xa3", ".mp4": head[4:] == b"ftyp"}[kind], (
            "no header of its kind"
        )


def test_a_report_plays_its_run(browser: Any, tmp_path: Path) -> None:
    from articulus.study import parse_study, run_study
    from study.support import BASE

    run_study(parse_study(BASE, "arm.toml"), tmp_path)
    with opened(browser, tmp_path / "arm.html", ready="iframe.replay") as page:
        inside = page.frame_locator("iframe.replay")
        inside.locator(READY).wait_for()
        kept(page, "report")
        inside.locator("#play").click()
        assert eventually(lambda: float(inside.locator("#time").input_value()) > 0), (
            "the replay does not advance"
        )


def test_nothing_sticks_out_of_a_window_and_all_has_a_name(browser: Any, tmp_path: Path) -> None:
    export_html(kinematic_run(art.load("two_link")), tmp_path / "arm.html")
    with opened(browser, tmp_path / "arm.html") as page:
        for width in (1100, 800, 420):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        unnamed = """[...document.querySelectorAll('button, select, input')].filter(e =>
            !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)"""
        assert page.evaluate(unnamed) == []
