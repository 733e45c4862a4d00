"""The report of a campaign: what it says of a table whose content is known."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from articulus.study.campaign.distributions import (
    Correlated,
    Direction,
    Normal,
    Rows,
    Uniform,
    axes_of,
    draw,
)
from articulus.study.campaign.figures import Figure, Requirement, read_requirements
from articulus.study.campaign.report.charts import _edges
from articulus.study.campaign.report.page import Content, page, worst_runs
from articulus.study.campaign.report.sections import percent
from articulus.study.campaign.samplers import sampler_of


class Runs(SimpleNamespace):
    def __len__(self):
        return self.index.size


def content(runs=1200, sampler="monte carlo", limit=1.2, failing=True):
    axes = axes_of(
        {
            "payload": Uniform(0, 5),
            "friction": Normal(0.3, 0.05, 0.1, 0.5),
            ("a", "b"): Correlated((Normal(0, 1), Normal(0, 1)), ((1, 0.5), (0.5, 1))),
            ("x", "y", "z"): Direction(),
            "gear": Rows.of([10, 20]),
        }
    )
    points = sampler_of(sampler, axes, runs, 1)
    x = draw(axes, points.rows(0, runs))
    settling = 0.6 + 0.12 * x["payload"] + 0.05 * x["a"] * x["payload"] + 0.3 * (x["friction"] - 0.3)
    torque = 20 + 3 * x["payload"] + 10 * x["friction"] + x["x"] ** 2
    failed = (x["friction"] < 0.19) & failing
    table = Runs(
        inputs=x,
        figures={
            "settling": np.where(failed, np.nan, settling),
            "peak torque": np.where(failed, np.nan, torque),
        },
        units={"settling": "s", "peak torque": "N m"},
        index=np.arange(runs),
        failed=failed,
        cause=failed.astype(np.int8),
        cause_texts=("", "not finite"),
        end_times=np.where(failed, 0.3, 2.0),
        texts={int(np.flatnonzero(failed)[0]): "at t = 0.3 s (not finite): <b>q</b>"} if failed.any() else {},
    )
    t = np.linspace(0, 2, 50)
    middle = 1 - np.exp(-4 * t) * np.cos(6 * t)
    width = np.array([-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3])[:, None] * np.sin(math.pi * t / 2)
    band = SimpleNamespace(
        name="q.lift",
        unit="rad",
        times=t,
        percentiles=(1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0),
        values=middle + width,
        least=middle - 0.5,
        greatest=middle + 0.5,
    )
    campaign = SimpleNamespace(
        axes=axes, runs=runs, sampler=sampler, seed=1, points=points, name="lift.toml", text="schema = 1 # <lift>", tables={"schema": 1}, figures=(1, 2),
        requirements=(
            Requirement("settling", "less", limit, "s", given=f"settling < {1000 * limit:g} ms"), Requirement("peak torque", "less", 40.0, "N m")
        ),
        study=SimpleNamespace(name="lift", purpose="Does it lift every payload?"), noisy=False,
    )  # fmt: skip
    worst = int(np.nanargmax(table.figures["settling"]))
    shown = {worst: "worst settling"} | (
        {int(np.flatnonzero(failed)[0]): "the first that failed"} if failed.any() else {}
    )
    return Content(campaign, table, {"q.lift": band}, shown, "lift.campaign", {"version of articulus": "1.0"})


@pytest.fixture(scope="module")
def told():
    held = content()
    return held, page(held)


def test_the_page_tells_the_pass_rate_the_worst_case_and_the_command(told):
    held, text = told
    t = held.table
    missed = int((~(t.figures["settling"] < 1.2)).sum())
    assert f'<td class="number">{missed}</td>' in text
    worst = int(np.nanargmax(t.figures["settling"]))
    assert f"articulus campaign show lift.campaign --run {worst}" in text
    assert f'id="run-{worst}"' in text
    joint = int(((t.figures["settling"] < 1.2) & (t.figures["peak torque"] < 40)).sum())
    assert f"{1200 - joint:,} of 1,200 runs miss a requirement" in text
    assert "banner bad" in text


def test_the_page_tells_what_matters_and_what_failed(told):
    _, text = told
    matters = text[text.index('id="effects"') : text.index('id="failures"')]
    first = re.search(r'<caption>Main effects on settling</caption>.*?<th scope="row">(\w+)', matters, re.S)
    assert first[1] == "payload"
    failed = text[text.index('id="failures"') : text.index('id="scatter"')]
    assert "not finite" in failed
    assert re.search(r"What sets the runs apart.*?friction", failed, re.S)
    assert "Sobol" not in text


def test_the_page_is_well_formed_loads_nothing_and_escapes(told):
    _, text = told
    assert "<b>q</b>" not in text
    assert "# &lt;lift&gt;" in text
    assert not re.search(r'(?:src|href)="https?:', text)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for target in re.findall(r'href="#([\w-]+)"', text):
        assert target in ids


def test_a_saltelli_campaign_shows_sobol_indices_and_a_good_one_is_green():
    held = content(runs=64 * 12, sampler="saltelli", limit=9.0, failing=False)
    held.campaign.requirements = held.campaign.requirements[:1]
    text = page(held)
    assert "Sobol indices of settling" in text
    assert "payload and a, b" in text
    assert "banner good" in text
    assert "share coordinates" in text
    assert "in every total index" not in text


def test_noise_that_is_in_every_total_index_is_told():
    held = content(runs=64 * 12, sampler="saltelli", limit=9.0, failing=False)
    held.campaign.noisy = True
    assert "in every total index" in page(held)


def test_the_command_has_what_the_study_does_not_say():
    held = content(sampler="sobol")
    assert held.command(None) == "articulus campaign run lift.toml --runs 1200 --seed 1 --sampler sobol"
    held.campaign.tables = {"campaign": {"seed": 1, "sampler": "sobol"}}
    assert held.command(None) == "articulus campaign run lift.toml --runs 1200"
    held.campaign.sampler = "latin hypercube"
    assert held.command(None).endswith("--runs 1200 --sampler 'latin hypercube'")


def test_figures_that_are_infinite_are_told():
    held = content(failing=False)
    settling = held.table.figures["settling"]
    settling[:700] = np.inf
    text = page(held)
    assert "settling is infinite in 700 runs" in text
    result = SimpleNamespace(campaign=held.campaign, table=held.table, worst=lambda name, count: [])
    (index,) = worst_runs(result)
    assert settling[index] == np.inf  # in most runs it is: so in an ordinary one
    settling[:400] = 0.0
    (index,) = worst_runs(result)
    assert settling[index] == np.quantile(settling, 0.5, method="lower")


def test_percentages_keep_what_tells_them_from_a_whole():
    assert percent(1.0) == "100 %"
    assert percent(0.99937) == "99.937 %"
    assert percent(0.5) == "50.0 %"
    assert percent(0.0000123) == "0.0012 %"


def test_figures_are_shown_in_the_unit_of_their_requirement():
    held = content()
    settling = np.asarray(held.table.figures["settling"])
    text = page(held)
    assert f"{1000 * np.nanmax(settling):.4g} ms" in text  # the worst, beside "settling < 1200 ms"
    assert held.units == {"settling": "ms", "peak torque": "N m"}
    np.testing.assert_array_equal(held.figures["settling"], settling / 0.001)


def test_a_figure_at_the_bound():
    """Strictly below is not the same as at most: settling times lie on the grid of samples."""
    figures = (Figure("settling", "q.lift", "settling", "s"),)
    below, most = read_requirements(
        ["settling < 1.3 s", "settling <= 1.3 s"], figures, lambda given, unit, at: float(given.split()[0])
    )
    values = np.array([1.29, 1.3, 1.31, np.nan])
    assert below.passes(values).tolist() == [True, False, False, False]
    assert most.passes(values).tolist() == [True, True, False, False]
    steps = np.array([940 * 0.002])  # one bit above 1.88
    assert steps > 1.88
    assert Requirement("settling", "less", 1.88, "s").passes(steps).all()


def test_bars_of_values_on_a_grid():
    """Each value has a bar of its own: no comb of full and empty bars."""
    x = 0.01 * np.repeat([108, 109, 110, 111, 114], [3, 5, 9, 4, 1])
    counts, edges = np.histogram(x, _edges(x))
    assert counts.tolist() == [3, 5, 9, 4, 0, 0, 1]
    np.testing.assert_allclose(edges[:2], [1.075, 1.085], rtol=1e-12)
