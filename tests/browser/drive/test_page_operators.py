"""Who drives, in real browsers: a gamepad, two operators with a stick each, spectators who take what is free.

The pages have no WebGL, so that this is also the test of driving without a picture.
"""

from __future__ import annotations

import contextlib

import pytest

from ..browser import eventually
from .pages import BLIND, joint, speed, visited

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

GAMEPAD = (
    "window.pad = [0, 0, 0, 0]; navigator.getGamepads = () => [null, { connected: true, axes: window.pad }];"
)
SWING, BOOM = 0, 1


@pytest.fixture
def pair(browser, driven):
    """Return the pages of an operator and of a spectator."""
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(visited(browser, driven, BLIND)) for _ in range(2)]
        for page in pages:
            page.keyboard.press("Enter")
        assert holds(pages[0], "left", "right")
        assert holds(pages[1])
        yield pages


def holds(page, *sticks: str) -> bool:
    """Whether a page comes to hold exactly these sticks."""
    return eventually(lambda: page.evaluate("drive.status?.yours") == list(sticks))


def press(page, stick: str, text: str) -> None:
    """Press the button of a stick."""
    button = page.locator(f".stick[data-stick={stick}] button")
    assert eventually(lambda: button.is_visible() and button.inner_text() == text)
    button.click()


def sent_and_obeyed(page) -> None:
    """Wait until ten more stick messages of a page have been sent and the machine has obeyed them."""
    last = page.evaluate("drive.number")
    assert eventually(lambda: page.evaluate("drive.frame[4]") >= last + 10)


def role(page, text: str) -> bool:
    """Whether a page comes to say this of its role."""
    return eventually(lambda: page.locator("#role").inner_text() == text)


def test_a_gamepad_moves_joints_beyond_its_dead_zone(browser, driven) -> None:
    with visited(browser, driven, BLIND + GAMEPAD) as page:
        assert holds(page, "left", "right")
        assert "can be driven, but not seen" in page.locator("#banner").inner_text()
        page.evaluate("pad[0] = 0.1")
        sent_and_obeyed(page)
        assert not any(driven.session.shown.axes)
        start = joint(driven, SWING), joint(driven, BOOM)
        page.evaluate("pad[0] = 1; pad[3] = 1")  # to the right; back, as gamepads count
        assert eventually(lambda: joint(driven, SWING) < start[0] - 0.05)
        assert eventually(lambda: joint(driven, BOOM) > start[1] + 0.05)
        page.evaluate("pad.fill(0)")
        assert eventually(lambda: speed(driven) < 0.02)


def test_two_operators_hold_a_stick_each(pair, driven) -> None:
    first, second = pair
    press(first, "right", "hand over")
    press(second, "right", "take this stick")
    assert holds(first, "left")
    assert holds(second, "right")
    assert role(first, "you drive: left stick")
    assert role(second, "you drive: right stick")
    start = joint(driven, SWING), joint(driven, BOOM)
    first.keyboard.down("KeyD")
    second.keyboard.down("ArrowDown")
    assert eventually(lambda: joint(driven, SWING) < start[0] - 0.05)
    assert eventually(lambda: joint(driven, BOOM) > start[1] + 0.05)
    knob = second.locator(".stick[data-stick=left] .knob")
    assert eventually(lambda: "translate(0px" not in knob.get_attribute("style")), (
        "the other's stick does not move"
    )
    first.keyboard.up("KeyD")
    second.keyboard.up("ArrowDown")
    first.keyboard.down("ArrowUp")  # not its stick
    assert eventually(lambda: speed(driven) < 0.02)
    assert not any(driven.session.shown.axes)


def test_a_spectator_moves_nothing_and_takes_what_is_free(pair, driven) -> None:
    first, second = pair
    assert role(second, "you watch")
    second.keyboard.down("KeyD")
    sent_and_obeyed(first)  # messages of the other would have come by then
    assert not any(driven.session.shown.axes)
    second.keyboard.up("KeyD")
    first.close()
    for stick in ("left", "right"):
        press(second, stick, "take this stick")
    assert holds(second, "left", "right")
    assert role(second, "you drive")
    start = joint(driven, SWING)
    second.keyboard.down("KeyD")
    assert eventually(lambda: joint(driven, SWING) < start - 0.05)


def test_an_operator_who_leaves_stops_only_his_stick(pair, driven) -> None:
    first, second = pair
    press(first, "right", "hand over")
    press(second, "right", "take this stick")
    assert holds(second, "right")
    first.keyboard.down("KeyD")
    second.keyboard.down("ArrowDown")
    assert eventually(lambda: driven.session.shown.axes[SWING] and driven.session.shown.axes[BOOM])
    first.close()
    assert eventually(lambda: not driven.session.shown.axes[SWING])
    assert driven.session.shown.axes[BOOM]
