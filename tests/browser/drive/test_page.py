"""The page in a real browser: it loads, shows the machine, obeys the keyboard, and its end stops the machine."""

from __future__ import annotations

import pytest

from articulus.browser.drive.session import DrivePhase
from slowness import slowness

from ..browser import eventually, kept
from ..test_accessible_browser import violations
from .pages import BLIND, READY, joint, speed, visited

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")


@pytest.fixture
def page(driven, browser):
    """Return the page, ready to drive with both sticks."""
    with visited(browser, driven) as found:
        assert eventually(lambda: found.evaluate("drive.status?.yours.length === 2"))
        yield found


def colors(page) -> int:
    """Return how many different colors the canvas shows."""
    return page.evaluate(
        """() => { drive.view.draw(performance.now(), 0, () => {}); const gl = drive.view.renderer.getContext();
        const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, all = new Uint8Array(4 * w * h);
        gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, all);
        const seen = new Set(); for (let i = 0; i < all.length; i += 4) seen.add(all[i] << 16 | all[i + 1] << 8 | all[i + 2]);
        return seen.size; }"""
    )


def test_page_shows_the_machine(page) -> None:
    assert page.locator("#welcome").inner_text() == "Caterpillar 215B"
    assert colors(page) > 100
    kept(page, "drive_help")
    page.keyboard.press("Enter")
    assert page.locator("#cover").is_hidden()
    kept(page, "drive")


def test_page_is_ready_within_three_seconds(browser, driven) -> None:
    """The best of six, in seconds of a processor that does nothing else: tests share theirs."""
    seen = []
    for _ in range(6):
        before = slowness()
        with visited(
            browser,
            driven,
            script=f"const wait = () => ({READY} ? (window.readyAt = performance.now()) : setTimeout(wait, 10)); wait();",
        ) as page:
            seen.append(page.evaluate("readyAt") / 1000 / max(before, slowness()))
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
    page.locator("#modes button", has_text="RESOLVED").click()
    assert eventually(lambda: session.mode == 1)
    page.keyboard.press("KeyR")
    assert eventually(lambda: session.recording)
    begun = session.shown.t
    assert eventually(lambda: session.shown.t > begun + 0.5)
    assert eventually(lambda: page.evaluate("drive.status.recording"))
    page.keyboard.press("KeyR")
    assert eventually(lambda: session.last is not None and not session.recording)
    assert eventually(lambda: page.evaluate("drive.status.replay > 0"))
    page.keyboard.press("KeyT")
    # a replay of half a second, which ends in a pause, may pass between two looks on a busy machine
    assert eventually(lambda: session.phase in (DrivePhase.REPLAY, DrivePhase.PAUSED))
    assert eventually(lambda: session.phase is DrivePhase.PAUSED)
    assert eventually(lambda: page.evaluate("drive.status.phase === 'paused'"))
    page.keyboard.press("KeyP")
    assert eventually(lambda: session.phase is DrivePhase.RUNNING)
    page.locator("#modes button", has_text="JOINT").click()
    assert eventually(lambda: session.mode == 0)


def test_closing_the_page_stops_the_machine(driven, page) -> None:
    session = driven.session
    page.keyboard.down("KeyA")
    assert eventually(lambda: any(session.shown.axes))
    page.close()
    assert eventually(lambda: session.phase is DrivePhase.PAUSED)
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
        const shown = () => ["link", "phase", "role", "f-on-time", "f-latency"].map((id) => document.getElementById(id).textContent);
        drive.socket.addEventListener("close", () => done([...shown(), document.getElementById("pause").disabled]));
        drive.socket.close();
    })"""
    assert page.evaluate(told) == ["no connection", "unknown", "unknown", "–", "–", True]
    assert eventually(lambda: speed(driven) < 0.02)
    assert eventually(lambda: page.evaluate("drive.status?.yours.length === 2"))
    assert eventually(lambda: pills(page) == {"link": "connected", "phase": "running", "role": "you drive"})
    assert page.locator("#pause").is_enabled()


def pills(page) -> dict[str, str]:
    """Return what the page says of its connection, of the machine and of its role."""
    return {name: page.locator(f"#{name}").inner_text() for name in ("link", "phase", "role")}


def test_a_page_that_hears_nothing_says_so(driven, page) -> None:
    """A broken line ends no connection: the browser would wait for minutes."""
    page.evaluate("() => { window.hearing = drive.socket.onmessage; drive.socket.onmessage = null; }")
    assert eventually(lambda: pills(page) == {"link": "no answer", "phase": "unknown", "role": "unknown"})
    assert "does not answer" in page.locator("#banner").inner_text()
    page.evaluate("() => { drive.socket.onmessage = hearing; }")
    assert eventually(lambda: pills(page) == {"link": "connected", "phase": "running", "role": "you drive"})


LATE = """() => { const gl = drive.view.renderer.getContext(), begun = new Map();
    const begin = gl.fenceSync.bind(gl), ask = gl.getSyncParameter.bind(gl);
    gl.fenceSync = (...given) => { const sync = begin(...given); begun.set(sync, performance.now()); return sync; };
    gl.getSyncParameter = (sync, what) => (performance.now() - begun.get(sync) < 400 ? gl.UNSIGNALED : ask(sync, what)); }"""
"""A graphics card that takes 0.4 s for a picture."""


def test_stick_to_screen_ends_when_the_picture_is_finished(page) -> None:
    """With pictures of 0.4 s no stick message can be answered on the screen before 0.4 s have passed."""
    page.evaluate(LATE)
    figure = "parseFloat(document.getElementById('f-latency').textContent)"
    assert eventually(lambda: page.evaluate(figure) >= 400)
    page.evaluate("drive.latency = []; document.getElementById('f-latency').textContent = '–'")
    assert eventually(lambda: page.evaluate(figure) > 0)
    assert page.evaluate(figure) >= 400
    assert page.evaluate("parseFloat(document.getElementById('f-fps').textContent)") <= 3


def test_numbers_that_are_rounded_to_zero_have_no_sign(page) -> None:
    text = page.evaluate(
        """() => { const still = new Float32Array(8).fill(-1e-5); joints(still, still); return document.getElementById('joints').textContent; }"""
    )
    assert "0.0°" in text
    assert "-0" not in text


HIDDEN = """() => [...document.querySelectorAll('button, .stick, .pill, #clock')].filter((e) => e.offsetParent !== null).flatMap((e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight ? [e.id || e.className || e.textContent] : []; })"""
"""What is not wholly on the screen."""
OVERLAPS = """() => { const all = [...document.querySelectorAll('header button, footer button, .stick, .pill, #clock, #note')];
    const boxes = all.filter((e) => e.offsetParent !== null && !e.closest('.stick button')).map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect()]);
    return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) =>
        p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1).map(([b]) => [a, b])); }"""
"""Pairs of things that are in each other's way."""


@pytest.mark.parametrize("size", [(390, 844), (360, 640), (844, 390), (820, 1180), (1280, 800)])
def test_everything_is_on_the_screen_and_nothing_in_the_way(browser, driven, size) -> None:
    """Phones upright and lying, a tablet, a laptop. Without pictures: they change nothing here."""
    viewport = dict(zip(("width", "height"), size))
    with visited(browser, driven, BLIND, viewport=viewport, has_touch=size[0] < 1000) as page:
        assert eventually(lambda: page.evaluate("drive.status?.yours.length === 2"))
        assert page.evaluate(HIDDEN) == []
        page.locator("#start").click()
        assert page.locator("#cover").is_hidden()
        kept(page, f"drive_{size[0]}x{size[1]}")
        assert page.evaluate(HIDDEN) == []
        assert page.evaluate(OVERLAPS) == []


def test_digging_shows_on_the_panel_and_in_the_ground(page, driven) -> None:
    session = driven.session
    page.keyboard.press("Enter")
    page.locator("#reset").click()
    page.keyboard.press("KeyG")
    assert eventually(lambda: page.evaluate("drive.view.field?.visible"))
    # what the machine does is told by other tests: here the ground is dug beside it
    page.keyboard.press("KeyP")
    assert eventually(lambda: session.phase is DrivePhase.PAUSED)
    terrain = session.terrain
    session.ask(lambda: session.plant.bear(0.0, 6800.0))
    terrain.heights[70, 40] -= 0.3
    terrain.heights[71, 40] += 0.2
    drawn = """([i, j]) => { const n = drive.machine.field.cells, { position } = drive.view.field.geometry.attributes;
        const k = (n - 1 - j) * n + i; return [position.array[3 * k], position.array[3 * k + 1], position.array[3 * k + 2]]; }"""
    middle, cell = (terrain.n - 1) / 2, page.evaluate("drive.machine.field.cell")
    assert eventually(lambda: abs(page.evaluate(drawn, [70, 40])[2] + 0.3) < 1e-3)
    assert page.evaluate(drawn, [71, 40]) == pytest.approx(
        [(71 - middle) * cell, (40 - middle) * cell, 0.2], abs=1e-3
    )
    assert eventually(lambda: "0.40 m³" in page.inner_text("#soil-gauges"))
    assert eventually(lambda: "6.8 kN" in page.inner_text("#soil-gauges"))
    assert eventually(lambda: page.evaluate("drive.view.held.visible"))
    assert "MPa" in page.inner_text("#hydraulic-gauges")
    assert "on time" not in page.locator("#panel").inner_text(), "the computer stands folded below"
    kept(page, "drive_digging")
    page.keyboard.press("KeyP")
    page.keyboard.press("KeyG")
    assert eventually(lambda: not session.soil and session.plant.load(session.ahead.state) == 0.0)


def test_a_delay_shows_the_past_and_a_ghost_of_now(page, driven) -> None:
    session = driven.session
    page.keyboard.press("Enter")
    page.select_option("#delay", "0.5")
    assert eventually(lambda: session.delay == 0.5)
    page.keyboard.down("KeyA")
    assert eventually(
        lambda: session.plant.q(session.ahead.state)[0] > session.plant.q(session.shown.state)[0] + 0.01
    )
    assert eventually(lambda: page.evaluate("drive.view.ghost?.root.visible"))
    page.locator("#ghost").uncheck()
    page.keyboard.up("KeyA")
    assert eventually(lambda: page.evaluate("!drive.view.ghost.root.visible"))
    page.select_option("#delay", "0")
    assert eventually(lambda: session.delay == 0.0)
    page.locator("#ghost").check()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_can_be_used_by_everybody(browser, driven, width) -> None:
    with visited(browser, driven, BLIND, viewport={"width": width, "height": 844}) as page:
        assert eventually(lambda: page.evaluate("drive.status?.yours.length === 2"))
        assert violations(page) == []
        page.locator("#start").click()
        assert violations(page) == []
        assert page.locator("#digging").is_visible()
