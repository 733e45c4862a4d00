"""A front on the design desk in a real browser: a person chooses points and sees their designs."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

from ..browser import kept
from .served import looked_at
from .test_desk_page import KD, KP, angle, open_desk, pd_run, settled, tip, tip_at, write

POINT = 5e-6
"""Positions in float32, over the error of the run's steps of 1 ms [m]."""
GAINS = (10.0, 40.0, 90.0)
DESIGNS = [{"stiffness": k, "effort": k**2, "kp": k, "kd": KD} for k in GAINS]


def value(page: Any, name: str) -> float:
    return float(page.input_value(f"[aria-label='Value of {name}']"))


def test_choosing_a_point_loads_its_design(browser: Any) -> None:
    with looked_at(browser, pd_run(), designs=DESIGNS) as (page, _):
        open_desk(page)
        points = page.get_by_role("radio")
        assert points.count() == 3
        assert value(page, "kp") == KP
        page.get_by_role("radio", name="Design 3: stiffness 90, effort 8100").click()
        settled(page)
        assert value(page, "kp") == 90.0
        assert page.get_by_text("Design 3 of 3: stiffness 90, effort 8100").is_visible()
        assert tip_at(page, 1.0) == pytest.approx(tip(angle(90.0, 1.0)), abs=POINT)
        page.keyboard.press("ArrowLeft")
        settled(page)
        assert value(page, "kp") == 40.0
        assert tip_at(page, 1.0) == pytest.approx(tip(angle(40.0, 1.0)), abs=POINT)
        assert points.nth(1).get_attribute("aria-checked") == "true"
        kept(page, "desk_front")
        write(page, "kp", "41")
        settled(page)
        assert page.get_by_text("those of no design of the front").is_visible()
        assert page.locator("circle[aria-checked=true]").count() == 0
        page.get_by_role("button", name="As run").click()
        settled(page)
        assert value(page, "kp") == KP
