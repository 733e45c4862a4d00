"""The viewer in a real browser: sliders, a dragged frame, modes, what happens when the program ends."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import matplotlib.image
import numpy as np
import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import articulus as art
from articulus.browser import Viewing, view
from articulus.browser.viewer import ViewerSession
from articulus.errors import InputError

from ..browser import PATIENCE, eventually, kept
from ..runs import kinematic_run
from .served import LIVE, looked_at

SINGLE = 2e-6
"""What float32 leaves of positions of the order of a metre, a few operations on [m]."""


def place(page: Any, name: str) -> np.ndarray:
    """Return where a body or frame is shown, (3,) [m]."""
    return np.array(page.evaluate("n => articulus.player.tracks[0].view.position(n).toArray()", name))


def position(page: Any) -> np.ndarray:
    return np.array(page.evaluate("articulus.live.q"))


def until(page: Any, condition: str) -> None:
    """Wait for a condition; asked from outside, as the page's policy lets nobody evaluate texts inside."""
    assert eventually(lambda: page.evaluate(condition)), condition


def open_tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def slide(page: Any, name: str, value: float) -> None:
    move = "([name, value]) => { const s = document.querySelector(`.slider input[aria-label='${name}']`);\
      s.value = value; s.dispatchEvent(new Event('input')); }"
    page.evaluate(move, [name, value])


def test_a_slider_moves_a_body(browser: Any) -> None:
    arm = art.load("puma600")
    with looked_at(browser, arm) as (page, _):
        assert page.locator("footer").is_hidden()  # nothing to play
        picture = matplotlib.image.imread(kept(page, "viewer_mechanism"))
        assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 100  # not blank
        open_tab(page, "Pose")
        slide(page, "joint2", -0.7)
        until(page, "Math.abs(articulus.live.q[1] + 0.7) < 1e-9")
        np.testing.assert_allclose(
            place(page, "tool"), arm.pose("tool", [0, -0.7, 0, 0, 0, 0])[:3, 3], atol=SINGLE
        )
        kept(page, "viewer_pose")
        page.get_by_role("button", name="As at the start").click()
        np.testing.assert_allclose(place(page, "tool"), arm.pose("tool", arm.neutral)[:3, 3], atol=SINGLE)


def test_a_frame_is_dragged(browser: Any) -> None:
    """The vertical arrow of the grip is pulled with the mouse: the tool goes up and its joints follow."""
    arm = art.load("puma600")
    with looked_at(browser, arm, q=[0, -0.5, 0.4, 0, 0.5, 0]) as (page, _):
        open_tab(page, "Pose")
        page.select_option("#grip", "tool")
        before = place(page, "tool")
        aim = """() => { const { stage } = articulus.player; const b = stage.renderer.domElement.getBoundingClientRect();
          const at = articulus.player.tracks[0].view.position("tool");
          const size = articulus.live.player.tracks[0].data.scene.size;
          const on = (p) => { const v = p.clone().project(stage.camera); return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height]; };
          return [on(at), on(at.clone().add(new THREE.Vector3(0, 0, 0.1 * size)))]; }"""
        (x, y), (ux, uy) = page.evaluate(aim)
        way = np.array([ux - x, uy - y])
        way *= 55 / np.linalg.norm(way)  # pixels: on the shaft of the arrow
        page.mouse.move(x + way[0], y + way[1])
        page.mouse.down()
        for share in np.linspace(1, 2, 8):
            page.mouse.move(x + share * way[0], y + share * way[1])
        until(page, "articulus.live.posed !== null")
        kept(page, "viewer_drag")
        page.mouse.up()
        until(page, f"articulus.player.tracks[0].view.position('tool').z > {before[2] + 0.02}")
        shift = place(page, "tool") - before
        assert np.abs(shift[:2]).max() < 0.2 * shift[2]  # along the arrow that was pulled
        np.testing.assert_allclose(
            place(page, "tool"), arm.pose("tool", position(page))[:3, 3], atol=SINGLE
        )  # forward kinematics of the joints shown


def test_modes_are_listed_and_played(browser: Any) -> None:
    with looked_at(browser, art.load("king_arm")) as (page, _):
        open_tab(page, "Modes")
        page.get_by_role("button", name="Find modes").click()
        until(page, "document.querySelectorAll('#modes button').length === 2")
        page.locator("#modes button").first.click()
        until(page, "articulus.player.playing")
        start = place(page, "tip2").tolist()
        until(
            page,
            f"articulus.player.tracks[0].view.position('tip2').distanceTo(new THREE.Vector3(...{start})) > 1e-3",
        )
        kept(page, "viewer_mode")
        page.get_by_role("button", name="Back").click()
        until(page, "document.body.classList.contains('still')")


def test_sliders_follow_a_run_and_it_plays(browser: Any) -> None:
    arm = art.load("puma600")
    run = kinematic_run(arm)
    with looked_at(browser, run) as (page, _):
        open_tab(page, "Pose")
        middle = float(run.t[run.t.size // 2])
        page.evaluate("t => articulus.player.seek(t)", middle)
        shown = float(
            page.evaluate("Number(document.querySelector('.slider input[aria-label=joint3]').value)")
        )
        assert shown == pytest.approx(run.q[run.t.size // 2, 2], abs=1e-6)
        page.locator("#view").focus()
        page.keyboard.press("Space")
        until(page, f"Math.abs(articulus.player.time - {middle!r}) > 0.01")


def test_the_page_says_when_the_program_has_ended(browser: Any) -> None:
    arm = art.load("two_link")
    viewing = view(arm, browser=False, wait=False)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(viewing.url)
    page.wait_for_selector(LIVE)
    viewing.close()
    page.wait_for_selector("body.parted")
    assert "has ended" in page.locator("#banner").inner_text()
    page.close()


# who may look


@pytest.fixture(scope="module")
def served() -> Iterator[Any]:
    with view(art.load("two_link"), browser=False, wait=False) as viewing:
        yield viewing


def get(viewing: Any, path: str, **headers: str) -> tuple[int, bytes]:
    parts = urlsplit(viewing.url)
    assert parts.hostname == "127.0.0.1"
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_only_its_own_page_may_talk_to_it(served: Any) -> None:
    parts = urlsplit(served.url)
    socket = served.url.replace("http", "ws") + "socket"
    assert get(served, parts.path)[0] == 200
    assert get(served, "/")[0] == 403  # no token
    assert get(served, parts.path + "../../etc/passwd")[0] == 404
    assert get(served, parts.path, Host="evil.example")[0] == 421
    for origin in ("http://evil.example", None):
        with pytest.raises(InvalidStatus) as refused:
            connect(socket, origin=origin)
        assert refused.value.response.status_code == 403
    with connect(socket, origin=f"http://{parts.netloc}") as line:
        line.send("no JSON")  # dropped
        line.send(json.dumps({"id": 1, "do": "fly"}))
        assert "unknown message" in json.loads(line.recv(timeout=60))["error"]
        line.send(json.dumps({"id": 2, "do": "move", "q": [0.0, 0.0], "freedom": 0, "by": 0.5}))
        answer = json.loads(line.recv(timeout=60))
        assert answer["id"] == 2
        assert answer["q"] == [0.5, 0.0]


def test_a_defect_is_told_and_the_page_stays_connected(
    served: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise the page would say that the program has ended."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("nothing to divide by")

    asked = {"do": "move", "q": [0.0, 0.0], "freedom": 0, "by": 0.5}
    parts = urlsplit(served.url)
    with connect(served.url.replace("http", "ws") + "socket", origin=f"http://{parts.netloc}") as line:
        with monkeypatch.context() as patch:
            patch.setattr("articulus.browser.viewer.posing.Posing.move", broken)
            line.send(json.dumps({"id": 1} | asked))
            answer = json.loads(line.recv(timeout=60))
        assert answer == {"kind": "answer", "error": "ZeroDivisionError: nothing to divide by", "id": 1}
        assert "no answer to 'move'" in caplog.text
        line.send(json.dumps({"id": 2} | asked))
        assert json.loads(line.recv(timeout=60))["q"] == [0.5, 0.0]


def test_messages_of_long_chains_are_looked_at(served: Any) -> None:
    """1500 coordinates of 18 digits; the mechanism has two, and the answer says so."""
    parts = urlsplit(served.url)
    with connect(served.url.replace("http", "ws") + "socket", origin=f"http://{parts.netloc}") as line:
        line.send(json.dumps({"id": 1, "do": "modes", "q": [0.1234567890123456] * 1500, "locked": False}))
        assert "expected 2 finite number(s)" in json.loads(line.recv(timeout=60))["error"]


def test_a_port_that_cannot_be() -> None:
    with pytest.raises(InputError, match=r"cannot listen on .*:70000"):
        Viewing(ViewerSession(art.load("two_link")), port=70_000)
