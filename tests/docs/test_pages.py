"""The code on the pages runs, in order, with the extras that they name and no others, and prints what stands below it."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import extras

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "docs/start.md",
    "docs/gallery.md",
    "docs/tutorial_flexible.md",
    "docs/tutorial_satellite.md",
    "docs/choose.md",
    "docs/models.md",
    "docs/simulate.md",
    "docs/results.md",
    "docs/browser.md",
    "docs/parallel.md",
    "docs/control/analysis.md",
    "docs/control/filters.md",
    "docs/control/fixed_order.md",
    "docs/control/interaction.md",
    "docs/tutorial_control.md",
    "docs/tutorial_codesign.md",
    "docs/tutorial_tip.md",
    "docs/tutorial_fastest_line.md",
    "docs/inversion/linear.md",
    "docs/inversion/tracking.md",
    "docs/tutorial_pointing.md",
    "docs/control/poles.md",
    "docs/design/gradients.md",
    "docs/design/fits.md",
    "docs/design/rigid.md",
    "docs/design/modal.md",
    "docs/design/calibration.md",
    "docs/design/write_back.md",
    "docs/control/sampled_response.md",
    "docs/control/reduction.md",
    "docs/control/synthesis.md",
    "docs/control/robustness.md",
    "docs/inversion/servo.md",
    "docs/inversion/stable.md",
    "docs/inversion/arms.md",
    "docs/inversion/links.md",
    "docs/inversion/piezo.md",
    "docs/trajectory/index.md",
    "docs/trajectory/problems.md",
    "docs/trajectory/ur5.md",
    "docs/trajectory/methods.md",
    "docs/trajectory/paths.md",
    "docs/trajectory/flexible.md",
    "docs/codesign.md",
    "docs/campaign/index.md",
    "docs/campaign/running.md",
    "docs/campaign/distributions.md",
    "docs/campaign/results.md",
    "docs/campaign/search.md",
    "docs/spacecraft.md",
    "docs/executive.md",
    "docs/tutorial_small_satellite.md",
    "docs/tutorial_campaign.md",
    "docs/trajectory/time_elements.md",
    "docs/trajectory/riccati.md",
    "docs/trajectory/online.md",
    "docs/trajectory/stochastic.md",
    "docs/trajectory/staircase.md",
    "docs/trajectory/truss.md",
    "docs/inversion/pseudolink.md",
    "docs/theory/constraints.md",
    "docs/theory/closed_chains.md",
    "docs/theory/events.md",
    "docs/theory/flexible.md",
    "docs/theory/large_deflection.md",
    "docs/theory/loop_linear.md",
    "docs/theory/noise.md",
    "docs/theory/structures.md",
    "docs/bridges/c.md",
    "docs/bridges/fmi.md",
    "docs/bridges/logs.md",
    "docs/bridges/gymnasium.md",
    "docs/bridges/jax.md",
    "docs/bridges/serve.md",
    "docs/extending/case.md",
    "docs/extending/component.md",
    "docs/extending/constraint.md",
    "docs/extending/event.md",
    "docs/extending/joint.md",
    "docs/extending/library_model.md",
    "docs/extending/method.md",
    "docs/extending/quantity.md",
    "docs/extending/reader.md",
]
LONG = ("docs/trajectory/ur5.md", "docs/tutorial_pointing.md")
"""Pages that take more than 10 s of processor time; `make nightly` runs them."""
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.S | re.M)


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Return the Python blocks of a page as (place, code, text): text is that of the block right below, if it is one."""
    content = (ROOT / page).read_text()
    found = list(FENCE.finditer(content))
    out = []
    for block, below in zip(found, [*found[1:], None]):
        if block[1] != "python":
            continue
        printed = ""
        if below is not None and below[1] == "text" and not content[block.end() : below.start()].strip():
            printed = below[2]
        out.append((f"{page}:{content[: block.start()].count(chr(10)) + 1}", block[2], printed))
    return out


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.nightly] if page in LONG else []) for page in PAGES]
)
def test_code_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    scope: dict[str, Any] = {"__name__": "page"}
    found = blocks(page)
    assert found
    if page == "docs/trajectory/ur5.md" and not any((Path(p) / "cmeel.prefix").exists() for p in sys.path):
        pytest.skip("example-robot-data is not there")
    names = extras.named((ROOT / page).read_text())
    for place, code, printed in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), extras.only(names):
            exec(compile(code, place, "exec", dont_inherit=True), scope)  # noqa: S102 (a page of this repository)
        if printed:
            assert out.getvalue() == printed, place


def test_packages_that_a_page_does_not_name_are_hidden() -> None:
    """As in an installation without them; those of a named extra are there."""
    assert extras.named("`pip install 'articulus[view,data]'`, and the extras `mesh` and `exact`") == {
        "view", "data", "mesh", "exact",
    }  # fmt: skip
    assert {"slycot", "pinocchio", "mujoco", "hypothesis", "xarray"} <= extras.hidden(())
    assert not {"numpy", "scipy", "casadi", "control", "matplotlib", "pytest"} & extras.hidden(())
    assert "slycot" not in extras.hidden({"slycot"})
    import xarray

    with extras.only(()), pytest.raises(ImportError):
        importlib.import_module("xarray.core")
    assert importlib.import_module("xarray") is xarray
