"""A model is built on the page as a person would: by forms, by hand in the picture, as text."""

from __future__ import annotations

import contextlib
import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

import articulus as art
from articulus.browser.building import Building, BuildSession
from articulus.browser.web import Access
from articulus.cli.build import build_schema

from ..browser import eventually, kept
from ..test_accessible_browser import violations
from ..viewer.served import LIVE, looked_at

CRANE = """# the crane of the yard
schema = 1
name = "crane"

[body.boom] # weighed
mass = "2 kg"     # on Monday
com = [0, 0, 0.5]
inertia = [ 0.2,
            0.2,  # guessed
            0.01 ]

# the slewing ring
[joint.slew]
type = "revolute"
parent = "ground"
child = "boom"
at = ["100 mm", 0, 1]
axis = [0, 0, 1]
"""
SCHEMA = functools.cache(build_schema)


@contextlib.contextmanager
def built(browser: Any, place: Path | None, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Give the page of a model, and what serves it."""
    with looked_at(browser, lambda: Building(BuildSession(place, SCHEMA())), **options) as (page, building):
        yield page, building


def text_of(page: Any) -> str:
    return str(page.locator("#toml").input_value())


def until(page: Any, words: str) -> None:
    """Wait until words stand in the text."""
    assert eventually(lambda: words in text_of(page)), (words, text_of(page))


def choose(page: Any, name: str) -> None:
    page.locator("#parts").get_by_role("button", name=name, exact=True).click()


def fill(page: Any, key: str, value: str, entry: int = 0) -> None:
    """Type the value of a key, or of one of its entries, and press Enter."""
    box = page.locator(f"#f-{key}-{entry}" if entry else f"#f-{key}")
    box.fill(value)
    box.press("Enter")


def lines_between(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that went and those that came."""
    a, b = before.splitlines(), after.splitlines()
    return [x for x in a if x not in b], [x for x in b if x not in a]


def test_a_model_is_built_and_saved(browser: Any, tmp_path: Path) -> None:
    """From nothing to a double pendulum with a motor, without a word of TOML; the file holds it."""
    place = tmp_path / "double.toml"
    with built(browser, place) as (page, _):
        choose(page, "arm")
        page.get_by_role("button", name="Add a body with its joint").click()
        dialog = page.locator("#adding")
        dialog.get_by_label("name").fill("fore arm")
        assert dialog.get_by_label("hangs on").input_value() == "arm"
        dialog.get_by_label("joint at x, y, z [m]").fill("0 0 0.5")
        dialog.get_by_label("mass [kg]").fill("0.5")
        kept(page, "build_adding")
        dialog.get_by_role("button", name="Add", exact=True).click()
        until(page, '[body."fore arm"]')
        fill(page, "mass", "600 g")
        until(page, 'mass = "600 g"')
        page.get_by_role("button", name="Add a component").click()
        dialog.get_by_label("name").fill("drive")
        dialog.get_by_label("type").select_option("torque")
        dialog.get_by_role("button", name="Add", exact=True).click()
        page.locator("#form").get_by_role("alert").first.wait_for()  # it has no joint yet
        page.locator("#f-joint").select_option("hinge")
        until(page, 'joint = "hinge"')
        assert eventually(lambda: page.locator("#form .wrong").count() == 0)
        page.get_by_role("tab", name="Pose").click()
        page.evaluate(
            "() => { const s = document.querySelector('.slider input'); s.value = 1; s.dispatchEvent(new Event('input')); }"
        )
        assert eventually(lambda: page.evaluate("Math.abs(articulus.live.q[0] - 1) < 1e-9"))
        page.locator("#seconds").fill("0.5")
        page.locator("#run").click()  # it falls, from where it was posed
        assert eventually(
            lambda: page.evaluate("articulus.player.playing && articulus.player.span[1] === 0.5")
        )
        page.wait_for_selector("#plots .panel")
        kept(page, "build_run")
        assert violations(page) == []
        assert (
            page.evaluate("articulus.player.tracks[0].data.signals.map((s) => s.name)").count("drive.force")
            == 1
        )
        page.get_by_role("button", name="Back to building").click()
        choose(page, "hinge")
        page.locator("#form summary").click()
        fill(page, "damping", "0.05")
        until(page, "damping = 0.05")
        page.locator("#run").click()
        assert eventually(lambda: page.evaluate("articulus.player.span[1] === 0.5"))
        choose(page, "arm")  # leads back to the forms
        assert eventually(lambda: page.evaluate("articulus.player.span[1] === 0"))
        page.keyboard.press("Control+s")
        assert eventually(lambda: page.locator("#saved").text_content() == "saved")
    arm = art.load(place)
    assert list(arm.body_names) == ["arm", "fore arm"]
    assert arm.total_mass() == pytest.approx(1.6, rel=1e-12)
    assert len(arm.components()) == 1
    np.testing.assert_allclose(arm.pose("fore arm", arm.neutral)[:3, 3], [0, 0, 0.5], atol=1e-15)


def test_lines_that_nobody_touched_stay(browser: Any, tmp_path: Path) -> None:
    """Comments, order and ways to write a number outlive changes by forms; each is taken back by Ctrl+Z."""
    place = tmp_path / "crane.toml"
    place.write_text(CRANE)
    with built(browser, place) as (page, _):
        choose(page, "boom")
        fill(page, "inertia", "0.25", entry=1)
        until(page, "0.25,  # guessed")
        assert lines_between(CRANE, text_of(page)) == (
            ["            0.2,  # guessed"],
            ["            0.25,  # guessed"],
        )
        choose(page, "slew")
        page.locator("#part-name").select_text()
        dark = page.evaluate("document.documentElement.className")
        page.keyboard.type("ring d")  # the letters are none of the player's keys
        page.locator("#part-name").press("Enter")
        assert page.evaluate("document.documentElement.className") == dark
        until(page, '[joint."ring d"]')
        page.locator("#form summary").click()
        fill(page, "damping", "3")
        until(page, "damping = 3")
        page.locator("#f-damping").fill("")
        page.locator("#f-damping").press("Enter")
        assert eventually(lambda: "damping" not in text_of(page))
        page.locator("#view").focus()
        for _ in range(4):
            page.keyboard.press("Control+z")
        assert eventually(lambda: text_of(page) == CRANE)
        assert page.locator("#undo").is_disabled()
        page.locator("#redo").click()
        until(page, "0.25,  # guessed")
        kept(page, "build_crane")
    assert place.read_text() == CRANE  # nobody has saved


def test_what_is_impossible_is_said_where_it_is_and_nothing_is_lost(browser: Any, tmp_path: Path) -> None:
    place = tmp_path / "crane.toml"
    place.write_text(CRANE)
    with built(browser, place) as (page, _):
        choose(page, "boom")
        fill(page, "mass", "-2")
        wrong = page.locator("[data-key=mass] .wrong")
        wrong.wait_for()
        assert "Found -2 kg; expected mass > 0" in wrong.inner_text()
        assert page.locator("#f-mass").get_attribute("aria-invalid") == "true"
        assert "1 mistake" in page.locator("#banner").inner_text()
        assert (
            page.evaluate("articulus.player.tracks[0].data.scene.bodies.length") == 1
        )  # the last good picture
        assert page.locator("#gutter .bad").inner_text() == "6"
        kept(page, "build_mistake")
        page.locator("#remove").click()  # the joint goes with its body, and there is no model left
        assert eventually(lambda: "[body" not in text_of(page) and "[joint" not in text_of(page))
        assert "no body at all" in page.locator("#build").inner_text()
        page.locator("#undo").click()
        page.locator("#undo").click()
        assert eventually(lambda: text_of(page) == CRANE)
        assert page.locator("#banner").is_hidden()
        page.locator("#toml").fill(CRANE.replace("axis = [", "axis = {"))
        page.locator("#remarks .wrong").wait_for()
        assert "line 18" in page.locator("#remarks").inner_text()
        assert page.locator("#form-box").get_attribute("inert") is not None
        markup = "<img src=x onerror=document.title=1>"
        page.locator("#toml").fill(
            CRANE.replace('"boom"', f'"{markup}"').replace("body.boom", f"body.'{markup}'")
        )
        assert eventually(
            lambda: page.locator("#parts").get_by_role("button", name=markup, exact=True).count()
        )
        assert page.locator("#parts img, #tree img").count() == 0  # a name is taken literally
        page.locator("#toml").fill(CRANE.replace("boom", "jib"))
        assert eventually(
            lambda: page.locator("#parts").get_by_role("button", name="jib", exact=True).count()
        )
        assert page.locator("#remarks .wrong").count() == 0


def test_a_joint_is_dragged(browser: Any, tmp_path: Path) -> None:
    """The vertical arrow is pulled: of the three numbers one changes, the one in millimetres keeps its unit."""
    place = tmp_path / "crane.toml"
    place.write_text(CRANE)
    with built(browser, place) as (page, _):
        choose(page, "slew")
        page.get_by_role("button", name="Place").click()
        pull(page, (0, 0, 0.1))
        assert eventually(lambda: text_of(page) != CRANE)
        joint = tomllib.loads(text_of(page))["joint"]["slew"]
        assert joint["at"][:2] == ["100 mm", 0]
        assert 1.02 < joint["at"][2] < 2
        assert eventually(
            lambda: (
                page.evaluate("articulus.player.tracks[0].view.position('boom').z")
                == pytest.approx(joint["at"][2], abs=1e-6)
            )
        )
        gone, come = lines_between(CRANE, text_of(page))
        assert len(gone) == len(come) == 1
        page.get_by_role("button", name="Axis").click()
        kept(page, "build_axis")


def pull(page: Any, way: tuple[float, float, float]) -> None:
    """Pull the arrow of the handle that points a way, twice as far as it is long."""
    aim = """way => { const { stage } = articulus.player; const b = stage.renderer.domElement.getBoundingClientRect();
      const at = articulus.build.handles.target.position;
      const on = (p) => { const v = p.clone().project(stage.camera); return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height]; };
      return [on(at), on(at.clone().add(new THREE.Vector3(...way)))]; }"""
    (x, y), (ux, uy) = page.evaluate(aim, list(way))
    step = np.array([ux - x, uy - y])
    step *= 55 / np.linalg.norm(step)  # pixels: on the shaft of the arrow
    page.mouse.move(x + step[0], y + step[1])
    page.mouse.down()
    for share in np.linspace(1, 2, 8):
        page.mouse.move(x + share * step[0], y + share * step[1])
    page.mouse.up()


def test_a_draft_outlives_the_program(browser: Any, tmp_path: Path) -> None:
    """The connection breaks while somebody types; the next page of the same address offers the text."""
    place = tmp_path / "crane.toml"
    place.write_text(CRANE)
    typed = CRANE.replace("[0, 0, 1]", "[0, 1, 0]")
    with built(browser, place) as (page, building):
        port = int(building.url.split(":")[2].split("/")[0])
        building.close(within=20)
        page.wait_for_selector("body.parted")
        page.locator("#toml").fill(typed)
        assert text_of(page) == typed
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        assert Path(download.value.path()).read_text() == typed
        with Building(BuildSession(place, SCHEMA()), Access(), port) as again:
            page.goto(again.url)
            page.wait_for_selector(LIVE)
            assert text_of(page) == CRANE
            page.get_by_role("button", name="Restore").click()
            until(page, "axis = [0, 1, 0]")
            assert text_of(page) == typed
            page.locator("#save").click()
            assert eventually(lambda: place.read_text() == typed)
            page.reload()
            page.wait_for_selector(LIVE)
            assert page.locator("#offer").is_hidden()


def test_an_editor_and_the_page_share_the_file(browser: Any, tmp_path: Path) -> None:
    """What an editor writes is taken over; a file that has changed under unsaved work is not written over unasked."""
    place = tmp_path / "crane.toml"
    place.write_text(CRANE)
    with built(browser, place) as (page, _):
        place.write_text(CRANE.replace("2 kg", "3 kg"))
        until(page, "3 kg")
        assert page.locator("#saved").text_content() == "saved"
        choose(page, "boom")
        fill(page, "mass", "4 kg")
        until(page, "4 kg")
        place.write_text(CRANE.replace("2 kg", "5 kg"))
        page.locator("#save").click()
        page.locator("#fault").get_by_role("button", name="Load the file").wait_for()
        assert "4 kg" in text_of(page)
        assert "5 kg" in place.read_text()
        kept(page, "build_shared")
        page.get_by_role("button", name="Load the file").click()
        until(page, "5 kg")
        page.locator("#undo").click()
        until(page, "4 kg")
        page.locator("#save").click()
        assert eventually(lambda: "4 kg" in place.read_text())


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_accessible(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    """axe-core finds nothing: a form, a mistake, the dialog; and all of it is reached by the keyboard."""
    place = tmp_path / "crane.toml"
    place.write_text(CRANE)
    with built(browser, place, size=(width, 800)) as (page, _):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        page.wait_for_selector(LIVE)
        if width < 1000:
            page.locator("#menu").click()
        choose(page, "slew")
        page.locator("#form summary").click()
        assert violations(page) == []
        fill(page, "axis", "0.3", entry=1)
        page.locator("[data-key=axis] .wrong").wait_for()
        assert violations(page) == []
        kept(page, f"build_{scheme}_{width}")
        if width < 1000:
            page.locator("#menu").click()
        page.get_by_role("button", name="Add a loop").press("Enter")
        assert violations(page) == []
        page.keyboard.press("Escape")
        assert "loop" not in text_of(page)
