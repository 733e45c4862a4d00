"""The manual in the page: every control and every signal has its sentence, the one of the documentation."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

import articulus as art
from articulus.browser import export_html
from articulus.browser.manual import BUILD, CONTROLS, LIVE, PLAYER, control_table
from articulus.simulation.loop.components import ALL_COMPONENTS
from articulus.simulation.loop.signal_meanings import meaning_of

from .browser import opened
from .runs import kinematic_run
from .test_accessible_browser import violations

ROOT = Path(__file__).resolve().parents[2]
UNTOLD = """() => {
  const all = [...document.querySelectorAll("button, select, input, textarea, summary, canvas")];
  const untold = (e) => !articulus.player.manual.entry(e) && !e.title && !e.closest("[title]") && !e.getAttribute("aria-describedby");
  return all.filter((e) => e.checkVisibility() && !e.closest("dialog") && untold(e)).map((e) => e.outerHTML.slice(0, 120));
}"""
"""Controls that are seen and have no sentence."""


@pytest.mark.parametrize(("page", "controls"), [("browser", PLAYER), ("browser", LIVE), ("build", BUILD)])
def test_the_documentation_has_the_same_sentences(page: str, controls: Any) -> None:
    assert control_table(controls) in (ROOT / "docs" / f"{page}.md").read_text()


def test_sentences() -> None:
    for control in CONTROLS:
        assert control.text[0].isupper()
        assert control.text.endswith(".")
        assert (ROOT / "src/articulus/browser/assets" / control.page).is_file()


@pytest.mark.parametrize("kind", ALL_COMPONENTS, ids=lambda kind: kind.type_name)
def test_every_signal_of_a_component_has_a_meaning(kind: Any) -> None:
    assert [name for name in kind.signals if not meaning_of(name, kind)] == []


def test_signals_of_a_run_have_meanings() -> None:
    arm = art.load("two_link")
    sensor = art.components.JointSensor()
    run = art.simulate(arm, 0.01, components=[sensor], step=1e-3)
    assert all(s.meaning for s in run.signals.values())
    assert any(s.meaning == "measured position" for s in run.signals.values())


def test_the_manual_of_a_run(browser: Any, tmp_path: Path) -> None:
    arm = art.load("puma600")
    run = kinematic_run(arm)
    export_html({"one": run, "other": kinematic_run(arm, run.q + 0.2)}, tmp_path / "two.html")
    with opened(browser, tmp_path / "two.html") as page:
        page.locator(".menu summary").first.click()
        page.locator("#signals summary").first.click()
        assert page.evaluate(UNTOLD) == []
        page.locator(".menu summary").first.click()
        page.locator("#speed").focus()
        assert page.locator("#speed").get_attribute("title") == "Sets how fast it plays; × 1 is real time."
        page.keyboard.press("F1")
        dialog = page.get_by_role("dialog", name="Manual")
        assert dialog.locator(".own").inner_text() == "Speed"
        assert violations(page) == []
        words = dialog.inner_text()
        for s in run.signals.values():
            assert f"{s.meaning[0].upper()}{s.meaning[1:]}" in words
        assert "Joints" not in words  # an exported file has no such panel
        page.get_by_label("Search the manual").fill("trail of")
        assert dialog.locator("dt:visible").all_inner_texts() == ["Trail of"]
        page.get_by_role("button", name="Close").click()
        page.locator("#view").focus()
        page.keyboard.press("?")
        assert dialog.locator("dt:visible").count() > 30


def test_the_manual_of_pages_with_a_program(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")
    from articulus.browser.building import Building, BuildSession
    from articulus.cli.build import build_schema

    from .viewer.served import looked_at

    with looked_at(browser, art.load("king_arm")) as (page, _):
        for tab in ("Pose", "Modes"):
            page.get_by_role("tab", name=tab).click()
            assert page.evaluate(UNTOLD) == []
    with looked_at(
        browser, functools.partial(Building, BuildSession(tmp_path / "x.toml", build_schema()))
    ) as (page, _):
        for part in ("Model", "arm", "hinge"):
            page.locator("#parts").get_by_role("button", name=part, exact=True).click()
            assert page.evaluate(UNTOLD) == []


def test_the_manual_of_the_design_desk(browser: Any) -> None:
    pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")
    from .viewer.served import looked_at

    law = art.components.ComputedTorque(kp=art.Parameter("kp", 100.0), kd=8.0, target=[1, -0.6])
    run = art.simulate(art.load("two_link"), 0.1, q0=[0, -0.8], controller=law, step=1e-3)
    with looked_at(browser, run) as (page, _):
        for tab in page.get_by_role("tab").all():
            tab.click()
            assert page.evaluate(UNTOLD) == []
