"""axe-core finds nothing on pages, in light and dark, with their menus open (WCAG 2.2, levels A and AA)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import articulus as art
from articulus.browser import export_html

from .browser import opened
from .runs import kinematic_run

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def violations(page: Any) -> list[tuple[str, str]]:
    """Return the rules that axe-core says are broken, each with the elements."""
    script = (files("axe_playwright_python") / "axe.min.js").read_text()
    page.evaluate(script)
    found = page.evaluate("levels => axe.run({ runOnly: levels })", LEVELS)
    return [(v["id"], "; ".join(n["html"][:120] for n in v["nodes"][:3])) for v in found["violations"]]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_player(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    arm = art.load("puma600")
    run = kinematic_run(arm)
    place = tmp_path / "two.html"
    export_html({"one": run, "other": kinematic_run(arm, run.q + 0.2)}, place)
    with opened(browser, place, color_scheme=scheme) as page:
        page.set_viewport_size({"width": width, "height": 800})
        assert violations(page) == []
        page.evaluate(
            "() => { articulus.player.desk.useCursors(true); articulus.player.desk.see([0.2, 0.6]); articulus.player.views.measure(true); }"
        )
        page.locator(".menu summary").first.click()
        assert violations(page) == []
        page.locator(".menu summary").first.click()
        page.locator("#help").click()
        assert violations(page) == []
