"""What the player shows, as pixels: trails, sharp pictures on slow machines, colors of legends, windows of other shapes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import articulus as art
from articulus.browser import export_html
from articulus.simulation.loop.components import PD, Torque

from .browser import eventually, opened
from .runs import kinematic_run

TRAIL = np.array([0xC2, 0x18, 0x5B])
SLOW = """() => { const real = requestAnimationFrame; let now = performance.now();
    window.requestAnimationFrame = (work) => real(() => work((now += 100))); }"""
"""Lets the page believe that it draws ten pictures a second."""
WATCH = """() => { window.blank = 0; window.looked = 0;
    const small = document.createElement('canvas'), pen = small.getContext('2d', { willReadFrequently: true }), channel = new MessageChannel();
    small.width = small.height = 8;
    channel.port1.onmessage = () => {
        pen.clearRect(0, 0, 8, 8);
        pen.drawImage(document.getElementById('view'), 0, 0, 8, 8);
        window.looked++;
        if (pen.getImageData(0, 0, 8, 8).data.every((x) => x === 0)) window.blank++;
        requestAnimationFrame(() => channel.port2.postMessage(0));
    };
    channel.port2.postMessage(0); }"""
"""Looks at the canvas after every frame, when it has been put on the screen."""


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("pictures") / "arm.html"
    export_html(kinematic_run(art.load("two_link")), place, title="arm")
    return place


def seen(page: Any) -> np.ndarray:
    """Return what the canvas of the mechanism shows on the screen, (height, width, 3)."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    data = page.locator("#view").screenshot()
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def shot(page: Any) -> Image.Image:
    """Return the picture that its button saves."""
    with page.expect_download() as download:
        page.click("#shot")
    with Image.open(download.value.path()) as picture:
        return picture.copy()


def canvas(page: Any) -> tuple[int, int]:
    """Return width and height of the canvas on the page, in pixels of the screen."""
    box = page.locator("#view").bounding_box()
    return round(box["width"]), round(box["height"])


def test_the_past_part_of_a_trail_is_a_tube(browser: Any, arm: Path) -> None:
    """Its radius is a 200th of the mechanism's size; at the end all of the way is as thick as that, at the start nothing."""
    with opened(browser, arm) as page:
        page.select_option("#trail", "link2")
        radii, size = page.evaluate(
            """() => { const { trail, track } = articulus.player.trails[0], { position } = trail.past.geometry.attributes;
            const rings = trail.past.geometry.parameters.path.points, out = [];
            rings.forEach((center, k) => { for (let s = 0; s < 6; s++)
                out.push(new THREE.Vector3().fromBufferAttribute(position, 6 * k + s).distanceTo(center)); });
            return [out, track.data.scene.size]; }"""
        )
        np.testing.assert_allclose(radii, 0.005 * size, rtol=1e-4)  # float32
        thick = []
        for share in (0.0, 0.5, 1.0):
            page.evaluate("s => articulus.player.seek(s * articulus.player.span[1])", share)
            thick.append(int((np.abs(seen(page) - TRAIL).max(axis=-1) < 8).sum()))
        assert thick[0] < 0.1 * thick[2]
        assert 0.2 * thick[2] < thick[1] < 0.8 * thick[2]


def test_a_point_that_stands_still_or_turns_back_has_a_trail(browser: Any, tmp_path: Path) -> None:
    mech = art.load("two_link")
    q = np.zeros((21, 2))
    q[5:10, 0] = np.linspace(0, 1, 5)
    q[10:15, 0] = np.linspace(1, 0, 5)  # back on the same way, then at rest
    export_html(kinematic_run(mech, q), tmp_path / "rest.html")
    with opened(browser, tmp_path / "rest.html") as page:
        page.select_option("#trail", "link2")
        finite = "Array.from(articulus.player.trails[0].trail.past.geometry.attributes.position.array).every(Number.isFinite)"
        assert page.evaluate(finite)
        page.select_option("#trail", "link1")  # its origin is on the axis: it never moves
        assert page.evaluate("articulus.player.trails.map(({ trail }) => Boolean(trail.past))") == [False]


def test_pictures_made_while_it_plays_slowly_are_sharp_and_nothing_goes_blank(
    browser: Any, arm: Path
) -> None:
    with opened(browser, arm) as page:
        page.select_option("#speed", "0.05")
        page.evaluate(WATCH)
        page.evaluate(SLOW)
        page.keyboard.press("Space")
        sharpness = "articulus.player.stage.sharpness"
        assert eventually(lambda: page.evaluate(sharpness) < 0.5), "a slow machine draws fewer points"
        assert page.evaluate("document.getElementById('view').width") < 0.5 * canvas(page)[0]
        assert shot(page).size == canvas(page)
        assert page.evaluate(sharpness) < 0.5, "it goes on as fast as before"
        assert page.evaluate("articulus.player.playing")
        looked = page.evaluate("looked")
        assert eventually(lambda: page.evaluate("looked") > looked + 3)
        page.keyboard.press("i")
        assert eventually(
            lambda: page.evaluate("parseInt(document.getElementById('gif-text').textContent) >= 2")
        )
        with page.expect_download() as download:
            page.keyboard.press("i")
        with Image.open(download.value.path()) as gif:
            assert gif.size == canvas(page)
        page.set_viewport_size({"width": 900, "height": 600})
        assert eventually(lambda: page.evaluate("document.getElementById('view').width") == canvas(page)[0])
        looked = page.evaluate("looked")
        assert eventually(lambda: page.evaluate("looked") > looked + 3)
        assert page.evaluate("blank") == 0, "the canvas was put on the screen empty"


def test_legends_have_the_colors_of_their_curves_in_light_and_dark(browser: Any, arm: Path) -> None:
    """The color beside each name is found in the plot above it, and after a change the old ones are found no more."""
    found = """() => { const { canvas, legend } = articulus.player.panels[0], copy = document.createElement('canvas');
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const pen = copy.getContext('2d', { willReadFrequently: true });
        pen.drawImage(canvas, 0, 0);
        const { data } = pen.getImageData(0, 0, copy.width, copy.height);
        return [...legend.querySelectorAll('i')].map((mark) => {
            const color = getComputedStyle(mark).backgroundColor.match(/\\d+/g).map(Number);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) count += color.every((x, k) => Math.abs(x - data[i + k]) < 6);
            return [color.join(), count];
        }); }"""
    with opened(browser, arm, color_scheme="light") as page:
        assert eventually(lambda: len(page.evaluate(found)) == 2)
        light = dict(page.evaluate(found))
        assert min(light.values()) > 50
        page.keyboard.press("d")
        dark = dict(page.evaluate(found))
        assert min(dark.values()) > 50
        assert not set(light) & set(dark)


@pytest.mark.parametrize("name", ["two_link", "puma600"])
def test_the_whole_motion_stays_in_view_in_windows_of_any_shape(
    browser: Any, tmp_path: Path, name: str
) -> None:
    """The corners of the box of the motion, in coordinates that go from -1 to 1 over the picture."""
    corners = """() => { const { camera, corners } = articulus.player.stage;
        camera.updateMatrixWorld();
        return corners.map((corner) => corner.clone().project(camera).toArray()); }"""
    export_html(kinematic_run(art.load(name)), tmp_path / "arm.html")
    with opened(browser, tmp_path / "arm.html") as page:
        for size in ((1100, 640), (720, 900), (390, 844), (1900, 420), (1100, 640)):
            page.set_viewport_size(dict(zip(("width", "height"), size)))
            page.wait_for_function(
                "() => { const s = document.getElementById('stage'), { width, height } = articulus.player.stage;"
                "return s.clientWidth === width && s.clientHeight === height; }"
            )
            reach = np.abs(page.evaluate(corners))[:, :2].max()
            assert 0.6 < reach < 1.0, (size, reach)
        page.evaluate(
            "articulus.player.stage.camera.position.lerp(articulus.player.stage.controls.target, 0.5)"
        )
        near = np.abs(page.evaluate(corners))[:, :2].max()
        page.set_viewport_size({"width": 390, "height": 844})
        page.set_viewport_size({"width": 1100, "height": 640})
        page.wait_for_function(
            "() => document.getElementById('stage').clientWidth === articulus.player.stage.width"
        )
        again = np.abs(page.evaluate(corners))[:, :2].max()
        assert again == pytest.approx(near, rel=1e-6), "what somebody looks at from near stays as near"


def test_numbers_that_are_rounded_to_zero_have_no_sign(browser: Any, arm: Path) -> None:
    with opened(browser, arm) as page:
        shown = page.evaluate("[-0.04, -1e-17, -0, 0.04, -0.06, 12.34].map((x) => articulus.fixed(x, 1))")
        assert shown == ["0.0", "0.0", "0.0", "0.0", "-0.1", "12.3"]
        assert page.evaluate("[articulus.text(-0), articulus.tickText(-1e-17, 0.1)]") == ["0", "0.0"]


def test_commands_of_actuators_have_units(browser: Any, tmp_path: Path) -> None:
    arm = art.load("two_link")
    joints = [c.name for c in arm.description.connections]
    run = art.simulate(arm, 0.01, components=[PD(10.0, 1.0), *map(Torque, joints)], q0=[0.5, 0.5], step=1e-3)
    export_html(run, tmp_path / "driven.html")
    with opened(browser, tmp_path / "driven.html") as page:
        head = page.locator(".panel-head", has=page.locator("select").filter(has_text="u")).nth(1)
        assert head.get_by_label("Signal of this plot").input_value().startswith("u|")
        assert eventually(lambda: head.locator(".unit").inner_text() == "N m")
