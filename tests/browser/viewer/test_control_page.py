"""Controllers designed in a real browser: what stands in the form is designed, drawn, compared, taken back and taken along."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

import articulus as art

from ..browser import kept
from ..test_accessible_browser import violations
from .served import looked_at


def pendulum_run() -> Any:
    rod = art.load("pendulum_chain", n=1)
    law = art.components.PD(art.Parameter("kp", 30.0), art.Parameter("kd", 1.0))
    return art.simulate(rod, 2.0, q0=[1.0], controller=law, step=1e-3, sample=0.01)


def until(page: Any, condition: str, argument: Any = None) -> None:
    page.wait_for_function(condition, arg=argument)


def open_tab(page: Any) -> None:
    page.get_by_role("tab", name="Control").click()
    until(page, "() => articulus.live.control.plant")


def design(page: Any, method: str, **fields: str) -> int:
    """Fill the form as a person would, press the button, and return the number of the design that is then shown."""
    page.select_option("#control-method", method)
    for key, text in fields.items():
        page.locator(f"#control-{key}").fill(text)
    before = page.evaluate("articulus.live.control.now?.answer.number ?? 0")
    page.locator("#control-design").click()
    until(page, "before => (articulus.live.control.shown?.answer.number ?? 0) > before", before)
    return page.evaluate("articulus.live.control.now.answer.number")


def readout(page: Any, chart: str) -> str:
    return page.inner_text(f"#chart-{chart} .readout")


def test_design_compare_undo_and_take_along(browser: Any, tmp_path: Path) -> None:
    with looked_at(browser, pendulum_run(), size=(1600, 1000)) as (page, _):
        open_tab(page)
        assert "2 states" in page.inner_text("#tab-control .why")
        assert page.locator("#chart-pair").is_visible()
        assert page.locator("#control-undo").is_disabled()
        first = design(page, "pidtune", crossover="12", phase_margin="50")
        assert "phase 50°" in readout(page, "loop")
        assert "closed loop stable" in readout(page, "loci")
        assert page.evaluate("articulus.player.tracks.map(t => t.name)") == ["A", "as run"]

        page.locator("#control-keep").click()
        second = design(page, "lqr", R="0.001")
        assert page.evaluate("articulus.player.tracks.map(t => t.name)") == ["A", "B", "as run"]
        assert "B: pidtune, dashed" in page.inner_text("#tab-control .why")
        page.locator("#control-undo").click()
        until(page, "n => articulus.live.control.shown?.answer.number === n", first)
        assert page.input_value("#control-crossover") == "12"
        page.locator("#control-redo").click()
        until(page, "n => articulus.live.control.shown?.answer.number === n", second)
        assert page.input_value("#control-R") == "0.001"
        page.locator("#control-swap").click()
        until(page, "n => articulus.live.control.shown?.answer.number === n", first)
        assert page.evaluate("articulus.live.control.other.answer.number") == second

        page.locator("#control-mu").click()
        until(page, "() => articulus.live.control.now.mu")
        assert "times as large" in page.inner_text("#control-worst")
        for name, ending in (("toml", "toml"), ("python", "py")):
            with page.expect_download() as waiting:
                page.locator(f"#control-{name}").click()
            assert waiting.value.suggested_filename == f"pidtune.controller.{ending}"
            waiting.value.save_as(tmp_path / f"got.{ending}")
        table = tomllib.loads((tmp_path / "got.toml").read_text())
        assert (table["type"], table["measured"]) == ("linear_controller", ["q.hinge1"])
        names = runpy.run_path(str(tmp_path / "got.py"))
        rod = art.load("pendulum_chain", n=1)
        component = names["controller"](art.Loop(rod), np.zeros(1))
        assert component.measured == ("q.hinge1",)
        for chart in ("loop", "loci", "values", "step", "locus", "mu", "pair"):
            with page.expect_download() as waiting:
                page.locator(f"#chart-{chart} .tools button").last.click()
            waiting.value.save_as(tmp_path / "figure.svg")
            figure = (tmp_path / "figure.svg").read_text()
            assert figure.startswith("<svg")
            assert not any(word in figure for word in ("NaN", "undefined", "Infinity")), chart
        kept(page, "control")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_can_be_used_by_everybody(browser: Any, scheme: str, width: int) -> None:
    with looked_at(browser, pendulum_run(), size=(width, 800)) as (page, _):
        page.emulate_media(color_scheme=scheme)
        if width < 1080:
            page.locator("#menu").click()
        open_tab(page)
        assert violations(page) == []
        design(page, "lqg")
        page.locator("#control-mu").click()
        until(page, "() => articulus.live.control.now.mu")
        assert violations(page) == []


def test_a_mistake_stands_at_its_field_and_nothing_is_lost(browser: Any) -> None:
    with looked_at(browser, pendulum_run()) as (page, _):
        open_tab(page)
        number = design(page, "lqr")
        page.locator("#control-Q").fill("{wrong = 1}")
        page.locator("#control-design").click()
        wrong = page.locator("#control-Q-wrong")
        wrong.wait_for(state="visible")
        assert "nothing named 'wrong'" in wrong.inner_text()
        assert page.get_attribute("#control-Q", "aria-invalid") == "true"
        assert page.evaluate("articulus.live.control.now.answer.number") == number
        page.get_by_role("tab", name="Model").click()
        assert page.locator("#control-charts").is_hidden()
        page.get_by_role("tab", name="Control").click()
        assert page.input_value("#control-Q") == "{wrong = 1}"
        page.locator("#control-measured summary").click()
        for box in page.locator("#control-measured input").all():
            box.uncheck()
        page.locator("#control-Q").fill("1")
        page.locator("#control-design").click()
        until(
            page,
            "() => document.querySelector('#tab-control .why').textContent.includes('at least one measured')",
        )
