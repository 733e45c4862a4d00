"""The page in a real browser: it loads, shows the machine, obeys the keyboard, and its end stops the machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from articulus.studio.drive import machine_for
from articulus.studio.drive.session import Phase

from .support import driving, eventually

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs playwright: pip install 'articulus[test]'"
)

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--mute-audio",
]
PICTURES = Path(__file__).resolve().parents[3] / "build" / "screenshots"

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs a browser: apt install chromium")


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    with driving(machine_for("cat215b"), tmp_path_factory.mktemp("recordings")) as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        found = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(driven, browser):
    """Return the page, ready to drive, and demand at the end that its console stayed silent."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    found = context.new_page()
    said: list[str] = []
    found.on(
        "console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None
    )
    found.on("pageerror", lambda error: said.append(str(error)))
    found.goto(driven.url)
    ready = "Boolean(window.drive && drive.frame && drive.view && drive.status?.yours.length === 2)"
    assert eventually(lambda: found.evaluate(ready), 60)
    yield found
    context.close()
    assert not [text for text in said if "GPU stall" not in text and "WebGL" not in text]
    assert eventually(lambda: not driven.server.clients)


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
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / "drive_help.png", timeout=60_000)
    page.keyboard.press("Enter")
    assert page.locator("#cover").is_hidden()
    page.screenshot(path=PICTURES / "drive.png", timeout=60_000)


def test_keyboard_moves_a_joint_and_release_stops_it(page, driven) -> None:
    plant, session = driven.session.plant, driven.session
    swing = lambda: float(plant.q(session.shown.state)[0])  # noqa: E731
    start = swing()
    page.keyboard.down("KeyD")
    assert eventually(lambda: swing() < start - 0.05)
    page.keyboard.up("KeyD")
    assert eventually(lambda: not any(session.shown.axes))
    assert eventually(lambda: abs(plant.v(session.shown.state)).max() < 0.02)


def test_stick_on_the_screen_moves_a_joint(page, driven) -> None:
    plant, session = driven.session.plant, driven.session
    page.keyboard.press("Enter")
    boom = lambda: float(plant.q(session.shown.state)[1])  # noqa: E731
    start, box = boom(), page.locator(".stick[data-stick=right] .pad").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 60)
    assert eventually(lambda: boom() > start + 0.05)
    page.mouse.up()
    assert eventually(lambda: not any(session.shown.axes))


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
    assert abs(session.plant.v(session.shown.state)).max() < 0.05
