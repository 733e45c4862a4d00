"""A flexible arm in a real browser: it is drawn bent, and what was recorded plays as a page of its own."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.browser.drive import servo_machine
from articulus.structure import beam_body

from ..browser import eventually, kept, opened
from .pages import visited
from .support import driving

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

SHOWN = """() => {
    const { machine, view } = drive, frame = drive.frame.slice(), n = machine.header.length + machine.axes.length;
    const q = frame.subarray(n, n + machine.nq);
    view.pose(frame.subarray(n + machine.nq + machine.nv), q);
    return { q: Array.from(q), tip: view.drawn.view.position("tip").toArray() };
}"""
"""Positions of a frame, and where the page draws the tip for it."""


def arm() -> art.Mechanism:
    """Return a beam of 2 m on the hinge of a heavy motor; its weight bends it by some centimetres."""
    made = art.Mechanism("beam")
    made.flexible("beam", beam_body(2.0, EI=100.0, mass_per_length=1.0, modes=2, planes="z", damping=0.05))
    made.joint("hinge", art.Revolute(axis=(0, -1, 0)), parent="ground", child="beam", armature=50.0)
    made.frame("tip", body="beam", node="tip")
    return made


def test_a_flexible_body_is_drawn_bent_and_its_recording_plays(browser, tmp_path) -> None:
    mechanism = arm()
    with driving(servo_machine(mechanism), tmp_path) as driven, visited(browser, driven) as page:
        page.keyboard.press("Enter")
        page.keyboard.press("KeyR")
        assert eventually(lambda: driven.session.recording)
        page.keyboard.down("KeyD")
        assert eventually(lambda: driven.session.plant.q(driven.session.shown.state)[0] > 0.2)
        shown = page.evaluate(SHOWN)
        kept(page, "drive_flexible")
        page.keyboard.up("KeyD")
        page.keyboard.press("KeyR")
        assert eventually(lambda: driven.server.saved)
        q = np.array(shown["q"])
        straight = mechanism.pose("tip", [q[0], 0, 0])[:3, 3]
        bent = mechanism.pose("tip", q)[:3, 3]
        assert np.linalg.norm(bent - straight) > 0.01
        np.testing.assert_allclose(shown["tip"], bent, atol=4e-6)  # float32 on 2 m, a few operations
        saved = driven.server.saved[-1]
    run = art.Run.load(saved)
    with opened(browser, saved.with_suffix(".html")) as page:
        assert "beam" in page.title()
        drawn = page.evaluate("articulus.player.tracks[0].view.position('tip').toArray()")
        np.testing.assert_allclose(drawn, mechanism.pose("tip", run.q[0])[:3, 3], atol=4e-6)
        page.click("#play")
        assert eventually(lambda: float(page.locator("#time").input_value()) > 0)
        kept(page, "drive_recording")
