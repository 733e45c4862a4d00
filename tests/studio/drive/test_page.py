"""The page in a real browser: it loads, shows the machine, obeys the keyboard, and its end stops the machine."""

from __future__ import annotations

import pytest

from articulus.studio.drive.session import Phase

from ..browser import eventually, kept
from .pages import READY, joint, speed, visited

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")


@pytest.fixture
def page(driven, browser):
    """Return the page, ready to drive with both sticks."""
    with visited(browser, driven) as found:
        assert eventually(lambda: found.evaluate("drive.status?.yours.length === 2"))
        yield found


def colours(page) -> int:
    """Return how many different colours the canvas shows."""
    return page.evaluate(
        """() => { drive.view.draw(0); const gl = drive.view.renderer.getContext();
        const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, all = new Uint8Array(4 * w * h);
        gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, all);
        const seen = new Set(); for (let i = 0; i < all.length; i += 4) seen.add(all[i] << 16 | all[i + 1] << 8 | all[i + 2]);
        return seen.size; }"""
    )


def test_page_shows_the_machine(page) -> None:
    assert page.locator("#welcome").inner_text() == "Caterpillar 215B"
    assert colours(page) > 100
    kept(page, "drive_help")
    page.keyboard.press("Enter")
    assert page.locator("#cover").is_hidden()
    kept(page, "drive")


def test_page_is_ready_within_three_seconds(browser, driven) -> None:
    """The best of six, as tests share the processor."""
    seen = []
    for _ in range(6):
        with visited(
            browser,
            driven,
            script=f"const wait = () => ({READY} ? (window.readyAt = performance.now()) : setTimeout(wait, 10)); wait();",
        ) as page:
            seen.append(page.evaluate("readyAt") / 1000)
        if seen[-1] < 3.0:
            return
    pytest.fail(f"ready after {seen} s; expected 3 s at most")


def test_keyboard_moves_a_joint_and_release_stops_it(page, driven) -> None:
    start = joint(driven, 0)
    page.keyboard.down("KeyD")
    assert eventually(lambda: joint(driven, 0) < start - 0.05)
    page.keyboard.up("KeyD")
    assert eventually(lambda: not any(driven.session.shown.axes))
    assert eventually(lambda: speed(driven) < 0.02)


def test_stick_on_the_screen_moves_a_joint(page, driven) -> None:
    page.keyboard.press("Enter")
    start, box = joint(driven, 1), page.locator(".stick[data-stick=right] .pad").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 60)
    assert eventually(lambda: joint(driven, 1) > start + 0.05)
    page.mouse.up()
    assert eventually(lambda: not any(driven.session.shown.axes))


def test_mode_pause_record_and_replay(page, driven) -> None:
    session = driven.session
    page.keyboard.press("Enter")
    page.locator("#modes button", has_text="RESOLVED").click(timeout=60_000)
    assert eventually(lambda: session.mode == 1)
    page.keyboard.press("KeyR")
    assert eventually(lambda: session.recording)
    page.wait_for_timeout(500)
    assert eventually(lambda: page.evaluate("drive.status.recording"))
    page.keyboard.press("KeyR")
    assert eventually(lambda: session.last is not None and not session.recording)
    assert eventually(lambda: page.evaluate("drive.status.replay > 0"))
    page.keyboard.press("KeyT")
    assert eventually(lambda: session.phase is Phase.REPLAY)
    assert eventually(lambda: session.phase is Phase.PAUSED, 20)
    assert eventually(lambda: page.evaluate("drive.status.phase === 'paused'"))
    page.keyboard.press("KeyP")
    assert eventually(lambda: session.phase is Phase.RUNNING)
    page.locator("#modes button", has_text="JOINT").click(timeout=60_000)
    assert eventually(lambda: session.mode == 0)


def test_closing_the_page_stops_the_machine(driven, page) -> None:
    session = driven.session
    page.keyboard.down("KeyA")
    assert eventually(lambda: any(session.shown.axes))
    page.close()
    assert eventually(lambda: session.phase is Phase.PAUSED)
    assert not any(session.shown.axes)
    assert speed(driven) < 0.05


def test_a_page_that_goes_silent_stops_the_machine_and_says_so(driven, page) -> None:
    page.keyboard.down("KeyA")
    assert eventually(lambda: speed(driven) > 0.05)
    page.evaluate("drive.socket.send = () => {}")
    assert eventually(lambda: driven.session.shown.stopped)
    assert eventually(lambda: speed(driven) < 0.02)
    assert eventually(lambda: "No fresh stick signal" in page.locator("#banner").inner_text())
    page.evaluate("delete drive.socket.send")
    assert eventually(lambda: speed(driven) > 0.05)


def test_a_page_whose_connection_breaks_connects_again(driven, page) -> None:
    page.keyboard.down("KeyA")
    assert eventually(lambda: speed(driven) > 0.05)
    page.keyboard.up("KeyA")
    told = """() => new Promise((done) => {
        drive.socket.addEventListener("close", () => done(document.getElementById("link").textContent));
        drive.socket.close();
    })"""
    assert page.evaluate(told) == "no connection"
    assert eventually(lambda: speed(driven) < 0.02)
    assert eventually(lambda: page.evaluate("drive.status?.yours.length === 2"))
    assert eventually(lambda: page.locator("#link").inner_text() == "connected")
