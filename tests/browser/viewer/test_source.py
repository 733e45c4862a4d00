"""Files that change while they are looked at, and files that are dropped onto the page."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

from articulus.browser.viewer import Viewing
from articulus.browser.viewer.source import Source
from articulus.browser.web import Access
from articulus.cli.browser import _page_of
from articulus.errors import InputError, ModelError
from articulus.model.files.storage import write_text

from ..browser import eventually, kept
from .served import LIVE, looked_at

PENDULUM = """schema = 1
name = "pendulum"

[body.rod] # of aluminum
mass = 2.0
com = [0, 0, -0.5]
inertia = [0.2, 0.2, 0.01]

[joint.hinge]
type = "revolute"
parent = "ground"
child = "rod"
axis = [0, 1, 0]
"""
STUDY = """schema = 1
[study]
name = "hang"
purpose = "does it run?"
model = "two_link"
[run]
t_end = "0.1 s"
step = "1 ms"
"""
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def served(*what: Path) -> Viewing:
    page = _page_of([str(w) for w in what], {}, Access(), 0)
    assert isinstance(page, Viewing)
    return page


def names(page: Any) -> list[str]:
    """Return the names of the bodies on a page; none while it loads."""
    from playwright.sync_api import Error

    try:
        found: list[str] = page.evaluate(
            "document.body?.dataset.live ? articulus.player.tracks[0].data.scene.bodies.map((b) => b.name) : []"
        )
    except Error:  # it has just gone
        return []
    return found


def banner(page: Any) -> str:
    return str(page.locator("#banner").text_content())


def test_a_file_that_is_edited_is_shown_again(browser: Any, tmp_path: Path) -> None:
    """The view stays, a mistake is told with its line while the model stays, and its cure is shown."""
    place = tmp_path / "pendulum.toml"
    place.write_text(PENDULUM)
    with looked_at(browser, functools.partial(served, place)) as (page, _):
        page.keyboard.press("3")  # from the top
        camera = page.evaluate("JSON.stringify(articulus.player.views.state)")
        write_text(place, PENDULUM.replace("mass = 2.0", "mass = -2.0"))
        assert eventually(lambda: "rod" in banner(page) and "-2" in banner(page))
        assert ":5" in banner(page)  # the line
        assert names(page) == ["rod"]
        kept(page, "viewer_mistake")
        write_text(place, PENDULUM.replace("rod", "stick"))
        assert eventually(lambda: names(page) == ["stick"])
        assert page.locator("#banner").is_hidden()
        assert page.evaluate("JSON.stringify(articulus.player.views.state)") == camera


def test_files_are_dropped_onto_the_page(browser: Any, tmp_path: Path) -> None:
    place = tmp_path / "pendulum.toml"
    place.write_text(PENDULUM)
    urdf = '<robot name="beam"><link name="base"/></robot>'
    with looked_at(browser, functools.partial(served, place)) as (page, _):
        page.evaluate(DROP, ["robot.xacro", urdf])
        assert eventually(lambda: "expand it first" in banner(page))
        page.evaluate(DROP, ["robot.urdf", urdf.replace("link", "lonk")])
        assert eventually(lambda: "robot.urdf" in banner(page) and "lonk" in banner(page))
        assert names(page) == ["rod"]
        page.evaluate(DROP, ["other.toml", PENDULUM.replace("rod", "stick")])
        assert eventually(lambda: names(page) == ["stick"])
        page.evaluate(DROP, ["hang.toml", STUDY])
        assert eventually(lambda: len(names(page)) == 2)
        page.wait_for_selector(LIVE)
        assert page.locator("h1").text_content() == "hang"
        assert page.locator("footer").is_visible()  # a run to play


def test_a_study_is_watched_with_its_model(tmp_path: Path) -> None:
    from articulus.cli.browser import _watched

    model, study = tmp_path / "pendulum.toml", tmp_path / "hang.toml"
    model.write_text(PENDULUM)
    study.write_text(STUDY.replace('"two_link"', '"pendulum.toml"'))
    assert _watched([str(study)]) == (study, model)
    assert _watched(["two_link"]) == ()
    source = Source(None, _watched([str(study)]))
    before = source.stamp()
    model.unlink()
    assert source.stamp() == (before[0], None)


@pytest.mark.parametrize("name", ["model.py", "model", "arm.xacro", "x" * 5000])
def test_other_files_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"expected a file of \.toml, \.urdf"):
        Source().open(name, "print()")


def test_a_dropped_text_cannot_read_files(tmp_path: Path) -> None:
    """A URDF without a folder finds no meshes, wherever they are."""
    mesh = tmp_path / "secret.obj"
    mesh.write_text("v 0 0 0\n")
    text = f'<robot name="r"><link name="base"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="{mesh}"/></geometry></visual></link><joint name="j" type="continuous"><parent link="base"/><child link="b"/></joint></robot>'
    with pytest.warns(match="foreign path"):
        session = Source().open("../r.urdf", text)
    assert session.mechanism.findings[0].kind == "foreign path"
    with pytest.raises(ModelError):
        Source().open("r.urdf", "<robot")
