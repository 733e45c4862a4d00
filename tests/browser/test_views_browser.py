"""Tools of the view: sides, parallel rays, following, measuring, strobe pictures; positions beside those of the equations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus.browser import export_html

from .browser import eventually, opened
from .runs import kinematic_run


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    place = tmp_path_factory.mktemp("views") / "arm.html"
    export_html(kinematic_run(art.load("puma600")), place)
    with opened(browser, place) as page:
        yield page


def direction(page: Any) -> np.ndarray:
    """Return the unit vector from what is looked at to the camera."""
    away = page.evaluate(
        "() => { const { stage } = articulus.player; return stage.camera.position.clone().sub(stage.controls.target).toArray(); }"
    )
    return np.array(away) / np.linalg.norm(away)


@pytest.mark.parametrize(("key", "expected"), [("1", (0, -1, 0)), ("2", (1, 0, 0)), ("3", (0, 0, 1))])
def test_sides(page: Any, key: str, expected: tuple[float, float, float]) -> None:
    page.keyboard.press(key)
    np.testing.assert_allclose(
        direction(page), expected, atol=2e-4
    )  # the top is looked at from a hair beside


def test_everything_is_in_view_from_every_side(page: Any) -> None:
    """The corners of all visuals, pedestal included, lie inside of the picture with both kinds of rays."""
    for parallel in ("true", "false"):
        for key in "1234":
            page.evaluate(f"articulus.player.views.parallel({parallel})")
            page.keyboard.press(key)
            out = page.evaluate("""() => { const { stage, tracks } = articulus.player; stage.render(); let most = 0;
                tracks[0].view.root.traverse((o) => { if (!o.isMesh || !o.visible || !o.userData.body) return;
                    o.geometry.computeBoundingBox(); const { min, max } = o.geometry.boundingBox;
                    for (let k = 0; k < 8; k++) { const p = new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z);
                        p.applyMatrix4(o.matrixWorld).project(stage.camera); most = Math.max(most, Math.abs(p.x), Math.abs(p.y)); } });
                return most; }""")
            # boxes around turned meshes reach a little farther than the meshes
            assert out < 1.1, (parallel, key)


def test_parallel_rays_draw_equal_lengths_alike(page: Any) -> None:
    page.evaluate("articulus.player.views.parallel(true)")
    page.keyboard.press("1")
    spans = page.evaluate("""() => { const { stage } = articulus.player; stage.render();
        const at = (x, y, z) => new THREE.Vector3(x, y, z).project(stage.camera).x;
        return [at(0.1, 0, 0) - at(0, 0, 0), at(0.1, 3, 0) - at(0, 3, 0)]; }""")
    assert spans[0] == pytest.approx(spans[1], rel=1e-5)
    pixels = spans[0] / 2 * page.evaluate("articulus.player.stage.width")
    assert 0.1 / pixels == pytest.approx(page.evaluate("articulus.player.stage.pixel"), rel=1e-4)
    page.evaluate("articulus.player.views.parallel(false)")


def test_the_camera_follows_a_body(page: Any) -> None:
    page.get_by_label("Body that the camera follows").select_option("link4")
    away = direction(page)
    page.evaluate("articulus.player.seek(0.3)")
    target, body = page.evaluate(
        "[articulus.player.stage.controls.target.toArray(), articulus.player.tracks[0].view.position('link4').toArray()]"
    )
    np.testing.assert_allclose(target, body, atol=1e-9)
    np.testing.assert_allclose(direction(page), away, atol=1e-6)
    page.get_by_label("Body that the camera follows").select_option("")


def test_keys_turn_the_view_about_what_is_looked_at(page: Any) -> None:
    page.keyboard.press("1")
    page.locator("#view").focus()
    page.keyboard.press("Shift+ArrowRight")
    turn = np.pi / 24
    np.testing.assert_allclose(direction(page), [np.sin(turn), -np.cos(turn), 0], atol=1e-6)
    page.keyboard.press("Shift+ArrowUp")
    assert direction(page)[2] == pytest.approx(np.sin(turn), abs=1e-6)


def test_distances_and_angles_between_points_of_bodies(page: Any) -> None:
    """Points on three bodies; the distance told follows the motion, and is that of the poses."""
    page.keyboard.press("4")
    page.evaluate("articulus.player.seek(0)")
    page.keyboard.press("m")
    spots = page.evaluate("""() => { const { stage, views } = articulus.player; stage.render();
        const box = stage.renderer.domElement.getBoundingClientRect(), found = {};
        for (let x = 10; x < box.width; x += 12) for (let y = 10; y < box.height; y += 12) {
            const at = { clientX: box.left + x, clientY: box.top + y };
            if (document.elementFromPoint(at.clientX, at.clientY) !== stage.renderer.domElement) continue;
            const hit = views.under(at); if (hit) found[hit.body] ??= [at.clientX, at.clientY]; }
        return found; }""")
    assert {"ground", "link2", "link3"} <= set(spots)
    for name in ("ground", "link2", "link3"):
        page.mouse.click(*spots[name])
    told = page.locator(".measured").inner_text()
    assert told.startswith("ground – link2 – link3")
    before = page.evaluate("articulus.player.views.ruler.values")
    page.evaluate("articulus.player.seek(0.4)")
    after = page.evaluate("articulus.player.views.ruler.values")
    local = [
        np.array(p) for p in page.evaluate("articulus.player.views.ruler.points.map(p => p.local.toArray())")
    ]
    arm = art.load("puma600")
    for t, values in ((0.0, before), (0.4, after)):
        q = arm.neutral + 0.5 * np.sin(2 * np.pi * t + np.arange(arm.nq))
        a, b, c = (
            p if name == "ground" else (arm.pose(name, q) @ [*p, 1])[:3]
            for name, p in zip(("ground", "link2", "link3"), local, strict=True)
        )
        u, w = a - b, c - b
        cosine = u @ w / np.linalg.norm(u) / np.linalg.norm(w)
        np.testing.assert_allclose(values["distances"], [np.linalg.norm(u), np.linalg.norm(w)], rtol=1e-5)
        assert values["angle"] == pytest.approx(np.arccos(cosine), abs=1e-5)
    assert before != after
    page.keyboard.press("m")
    assert page.locator(".measured").is_hidden()


def test_a_strobe_picture_shows_several_positions(page: Any, tmp_path: Path) -> None:
    from PIL import Image

    page.keyboard.press("4")
    page.evaluate("articulus.player.seek(0)")
    with page.expect_download() as strobe:
        page.keyboard.press("k")
    with page.expect_download() as single:
        page.keyboard.press("s")
    many, one = (np.asarray(Image.open(d.value.path()).convert("RGB"), float) for d in (strobe, single))
    assert many.shape == one.shape
    background = one[2, 2]
    drawn = [(np.abs(p - background).max(axis=-1) > 40).mean() for p in (many, one)]
    assert drawn[0] > 1.5 * drawn[1], "eight positions cover more of the picture than one"
    assert eventually(lambda: float(page.input_value("#time")) == 0.0)
