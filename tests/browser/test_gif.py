"""Animated GIFs out of the player, read by Pillow, which shares nothing with our encoder."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

import articulus as art
from articulus.browser import export_html

from .browser import opened
from .runs import kinematic_run

CELL = 4
"""Width of the cells in which the encoder tells colors apart, in levels of 256."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = tmp_path_factory.mktemp("gif") / "arm.html"
    export_html(kinematic_run(art.load("two_link")), found, title="arm")
    return found


def frames(picture: Image.Image) -> tuple[np.ndarray, list[int]]:
    """Return the frames (frames, height, width, 3) and how long each is shown [ms]."""
    shown = [(np.asarray(f.convert("RGB")), f.info["duration"]) for f in ImageSequence.Iterator(picture)]
    return np.stack([s[0] for s in shown]).astype(int), [s[1] for s in shown]


def canvas_at(page: Any, time: float) -> np.ndarray:
    """Return what the canvas shows at a time, (height, width, 3)."""
    ask = """time => new Promise(done => { articulus.player.seek(time);
        requestAnimationFrame(() => done(document.getElementById('view').toDataURL())); })"""
    data = base64.b64decode(page.evaluate(ask, time).partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_every_frame_is_what_the_canvas_shows(browser: Any, place: Path) -> None:
    with opened(browser, place) as page:
        with page.expect_download() as download:
            page.click("#gif")
        assert download.value.suggested_filename == "arm.gif"
        with Image.open(download.value.path()) as gif:
            shown, durations = frames(gif)
            assert gif.info["loop"] == 0
        assert durations == [50] * 21, "one second, 20 frames each second, both ends"
        assert (shown[1:] != shown[:-1]).any(axis=(1, 2, 3)).all(), "the mechanism stands still"
        for k in (0, 7, 20):
            error = np.abs(shown[k] - canvas_at(page, k / 20)).max(axis=-1)
            # 255 colors for all shades: only pixels at edges, few and all different, may miss their cell
            assert np.mean(error >= CELL) < 0.01
            assert error.max() < 32, "a pixel of another color"
        assert page.inner_text("#gif-text") == "GIF"
        assert page.evaluate("articulus.player.recorder") is None


def test_large_and_long_ones_are_made_smaller_and_end_on_request(browser: Any, place: Path) -> None:
    with opened(browser, place, color_scheme="dark") as page:
        page.set_viewport_size({"width": 1600, "height": 900})
        page.select_option("#speed", "0.05")
        page.wait_for_function("() => document.getElementById('view').width > 720")  # the window has grown
        width, height = page.evaluate(
            "[document.getElementById('view').width, document.getElementById('view').height]"
        )
        page.keyboard.press("i")
        page.wait_for_function("() => parseInt(document.getElementById('gif-text').textContent) >= 2")
        with page.expect_download() as download:
            page.keyboard.press("i")
        with Image.open(download.value.path()) as gif:
            assert gif.size == (720, round(720 * height / width))
            shown, durations = frames(gif)
        assert 3 <= len(durations) < 200
        # one second at × 0.05 is 20 s: 199 steps of it, each rounded to hundredths of a second
        assert sum(durations) == pytest.approx(1e3 * len(durations) * 20 / 199, abs=10)
        assert shown.mean() < 64, "the dark theme"


def test_pictures_of_few_colors_come_back_as_they_were(browser: Any, place: Path) -> None:
    rng = np.random.default_rng(1)
    cells = rng.choice(64**3, 255, replace=False)
    colors = CELL * np.stack([cells >> 12, (cells >> 6) & 63, cells & 63], axis=-1)
    noise = colors[rng.integers(255, size=(120, 161))]
    patch = noise.copy()
    patch[40:43, 100:161] = colors[rng.integers(255, size=(3, 61))]
    flat = np.broadcast_to(colors[7], noise.shape)
    pictures = [noise, patch, patch, flat]
    encode = """async texts => {
        const pictures = texts.map(t => Uint8Array.from(atob(t), c => c.charCodeAt(0)));
        const gif = new articulus.Gif(161, 120, pictures);
        pictures.forEach((p, k) => gif.add(p, 3 + k));
        return btoa(Array.from(new Uint8Array(await gif.blob().arrayBuffer()), b => String.fromCharCode(b)).join('')); }"""
    opaque = [np.dstack([p, np.full(p.shape[:2], 255)]).astype(np.uint8) for p in pictures]
    with opened(browser, place) as page:
        data = base64.b64decode(
            page.evaluate(encode, [base64.b64encode(p.tobytes()).decode() for p in opaque])
        )
    with Image.open(io.BytesIO(data)) as gif:
        shown, durations = frames(gif)
    assert durations == [30, 40, 50, 60]
    np.testing.assert_array_equal(shown, pictures)
