"""The page of a campaign: the numbers it gets are those of the results, and they follow a campaign that runs."""

from __future__ import annotations

import dataclasses
import gc
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")
pytest.importorskip("h5py", reason="needs the extra data: pip install 'articulus[data]'")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from articulus.cli.commands import app
from articulus.study.campaign import Campaign, Result, driver, shards, show, work
from articulus.study.campaign.calls import run as run_campaign
from articulus.study.campaign.figures import scales
from articulus.study.campaign.ledger import Ledger
from articulus.study.campaign.local_worker import LocalWorker
from articulus.study.campaign.page import CampaignPage
from articulus.study.campaign.page.cells import CELLS, Cells
from articulus.study.campaign.page.watch import Watch
from articulus.study.campaign.pilot_runs import Pilot
from articulus.study.campaign.statistics import joint_rate, judge, summary
from browser.browser import PATIENCE, chromium, kept
from browser.viewer.served import foreign

STUDY = """
schema = 1
[study]
name = "arm"
model = "two_link"
[[component]]
type = "pd"
name = "servo"
kp = "900 N m/rad"
kd = "400 N m s/rad"
[run]
t_end = "0.1 s"
step = "1 ms"
sample = "10 ms"
[campaign]
runs = 120
seed = 3
requirements = ["turn < 30 deg", "rate < 0.3 rad/s", "settling < 1 s"]
bands = ["q.joint1"]
[campaign.vary]
"q.joint1" = {normal = ["20 deg", "8 deg"]}
[campaign.figures]
turn = {signal = "q.joint1"}
rate = {signal = "v.joint1", at = "peak"}
settling = {signal = "q.joint1", at = "settling", target = 0, band = "16 deg"}
"""


RUNS, PART = 120, 20


def _nobody() -> LocalWorker:
    raise AssertionError("no driver has died")


class Growing:
    """A campaign whose shards are written one by one, each with one run that killed its worker.

    Parameters
    ----------
    place : Path
        Of the new folder.
    """

    def __init__(self, place: Path):
        self.place = place
        self.campaign = Campaign.read(STUDY)
        held = driver.Folder(place)
        held.claim(self.campaign)
        self.ledger: Ledger = held.ledger()
        pilot = Pilot(self.campaign, held, self.ledger)
        self._scale = held.scale(lambda: pilot.scale(lambda: LocalWorker(self.campaign, None), _nobody))
        self._digest, self._next, self._held = held.digest, 0, held

    def grow(self) -> None:
        """Write the next shard."""
        rows = work.run_rows(self.campaign, self._next, PART, self._scale)
        rows.status[3], rows.cause[3], rows.figures[3] = work.SET_ASIDE, work.CAUSES.index("killed"), np.nan
        rows = dataclasses.replace(rows, texts={self._next + 3: "killed: signal 9"})
        self.ledger.add(
            shards.write(self.place, self.ledger.next_file(), [rows], self._digest), {"UserWarning": "a note"}
        )
        self._next += PART
        self._held.note_pace(self._next, 2.0 * self._next)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign of six shards."""
    growing = Growing(tmp_path_factory.mktemp("page") / "arm.campaign")
    for _ in range(RUNS // PART):
        growing.grow()
    growing.ledger.close()
    return growing.place


def agrees(state: dict[str, Any], result: Result) -> bool:
    """Whether what a page gets says the same as the results; raises where it does not."""
    c, t = result.campaign, result.table
    assert state["done"] == len(t)
    assert state["failed"] == int(t.failed.sum())
    found = {(x["cause"], x["runs"], x["first"], x["text"]) for x in state["causes"]}
    codes = np.unique(t.cause[t.failed])
    rows = {k: t.index[t.failed & (t.cause == k)] for k in codes}
    assert found == {(work.CAUSES[k], r.size, r[0], t.texts[r[0]]) for k, r in rows.items()}
    wanted = [(j.rate.passed, j.rate.low, j.rate.high) for j in judge(c.requirements, t.figures)]
    assert [(r["passed"], r["low"], r["high"]) for r in state["requirements"]] == wanted
    assert [r["run"] for r in state["requirements"]] == [result.worst(r.figure)[0] for r in c.requirements]
    every = joint_rate(c.requirements, t.figures, len(t))
    assert (state["all"]["passed"], state["all"]["low"], state["all"]["high"]) == (
        every.passed,
        every.low,
        every.high,
    )
    for f in state["figures"]:
        unit, size = scales(c.requirements, c.units)[f["name"]]
        assert f["unit"] == unit
        x = t.figures[f["name"]] / size
        s = summary(f["name"], x)
        assert (f["count"], f["missing"]) == (s.count, s.missing)
        finite = x[np.isfinite(x)]
        assert (f["least"], f["greatest"]) == (finite.min(), finite.max())
        if f["infinite"]:
            assert f["mean"] is None
        else:
            assert f["mean"] == pytest.approx(s.mean, rel=1e-13)  # sums in another order
        b = f["bins"]
        edges = b["start"] + b["width"] * np.arange(len(b["counts"]) + 1)
        assert b["counts"] == np.histogram(finite, edges)[0].tolist()
        assert sum(b["counts"]) + b["below"] + b["above"] == finite.size
    for shown in state["bands"]:
        band = result.bands()[shown["name"]]
        assert shown["unit"] == band.unit == "rad"
        assert shown["values"] == band.values.tolist()
        assert (shown["least"], shown["greatest"]) == (band.least.tolist(), band.greatest.tolist())
    return True


def test_a_finished_campaign_says_what_its_results_say(folder: Path) -> None:
    state = Watch(folder).look()
    assert (state["phase"], state["title"], state["total"], state["notes"]) == (
        "complete",
        "arm",
        RUNS,
        ["a note"],
    )
    assert state["rate"] is None
    assert len(state["bands"]) == 1
    assert next(f for f in state["figures"] if f["name"] == "settling")["infinite"] > 0
    assert agrees(state, show(folder))


def test_looking_writes_nothing(folder: Path) -> None:
    before = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()}
    assert "ledger.sqlite-wal" not in before
    Watch(folder).look()
    assert {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()} == before


def test_a_running_campaign_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only new shards are read; runs that shall go again are taken back."""
    place = tmp_path / "new"
    watch, read = Watch(place), []
    take = Watch._take
    monkeypatch.setattr(Watch, "_take", lambda self, c, t, file, parts: (read.append(file), take(self, c, t, file, parts)))  # fmt: skip
    assert watch.look()["phase"] == "starting"
    growing = Growing(place)
    assert watch.look()["phase"] == "stopped"
    with driver.Folder(place).lock():
        state = watch.look()
        assert (state["phase"], state["done"], state["rate"], state["requirements"][0]["rate"]) == (
            "running",
            0,
            None,
            None,
        )
        for k in range(1, 4):
            growing.grow()
            state = watch.look(state["version"])
            assert (state["phase"], state["done"], len(read)) == ("running", k * PART, k)
            assert agrees(state, show(place))
        assert state["rate"] == 0.5
        assert state["remaining"] == pytest.approx((RUNS - 3 * PART) / 0.5, abs=5.0)  # counts down
        monkeypatch.setattr("time.time", lambda: 0.0)  # a clock that jumps back by years
        assert (watch.look()["rate"], watch.look()["remaining"] > 0) == (0.5, True)
        assert "figures" not in watch.look(state["version"])  # nothing is new
        assert len(read) == 3
        growing.ledger.forget([23])
        assert agrees(watch.look(), show(place))
    growing.ledger.close()


def test_a_damaged_ledger_is_told(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "torn")
    growing.ledger.close()
    (tmp_path / "torn" / "ledger.sqlite").write_bytes(b"no database, but long enough to be looked at" * 100)
    state = Watch(tmp_path / "torn").look()
    assert state["phase"] == "unreadable"
    assert "not a database" in state["why"]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_counts_do_not_depend_on_parts(scale: float) -> None:
    """In parts, in another order or at once, negative and tiny values among them: bins are those of numpy."""
    x = scale * np.concatenate([np.random.default_rng(1).standard_normal(5000), [0.0, 1e-9, -1e-9, 40.0]])
    whole, parts = Cells(), Cells()
    whole.add(x)
    for part in np.array_split(x[::-1], 37):
        parts.add(part)
    one, other = whole.bins(), parts.bins()
    assert (one.start, one.width, one.below, one.above) == (
        other.start,
        other.width,
        other.below,
        other.above,
    )
    assert (one.counts == other.counts).all()
    edges = one.start + one.width * np.arange(one.counts.size + 1)
    assert (one.counts == np.histogram(x, edges)[0]).all()
    assert one.below == (x < edges[0]).sum()
    assert one.above == (x >= edges[-1]).sum() > 0  # the one that is far away
    assert 10 <= one.counts.size <= 40
    assert whole._counts.size <= CELLS


def test_equal_values_have_one_bin() -> None:
    for value in (0.0, -3.7, 1e308, 5e-324):
        cells = Cells()
        cells.add(np.full(9, value))
        assert cells.bins().counts.tolist() == [9]


def test_the_page_sends_states_and_a_last_one(folder: Path) -> None:
    with show(folder).view(browser=False, wait=False) as page:
        assert urlsplit(page.url).hostname == "127.0.0.1"
        place, origin = page.url.replace("http", "ws", 1) + "socket", page.url.rsplit("/", 2)[0]
        with pytest.raises(InvalidStatus):  # another page of the same browser
            connect(place, origin="http://elsewhere")
        with connect(place, origin=origin) as socket:
            state = json.loads(socket.recv())
            assert agrees(state, show(folder))
            page.close()
            last = [json.loads(m) for m in _rest(socket)][-1]
    assert last["requirements"] == state["requirements"]


def test_the_page_keeps_a_campaign_that_leaves_nothing_behind() -> None:
    """Nobody but the page holds the results, whose folder goes with them."""
    page = run_campaign(STUDY).view(browser=False, wait=False)
    gc.collect()
    place = page.watch.folder
    state = page.watch.look()
    assert (state["phase"], state["done"]) == ("complete", RUNS)
    page.close()
    del page
    gc.collect()
    assert not place.exists()


def _rest(socket: Any) -> list[Any]:
    out = []
    try:
        while True:
            out.append(socket.recv(timeout=30))
    except ConnectionClosed:
        return out


def test_commands(folder: Path, tmp_path: Path) -> None:
    """A campaign with its page; and what has no page."""
    study = tmp_path / "arm.toml"
    study.write_text(STUDY)
    made = CliRunner().invoke(app, ["campaign", "run", str(study), "--page", "--no-browser", "--no-report"])
    assert made.exit_code == 0, made.output
    assert re.search(r"look here: http://127\.0\.0\.1:\d+/[\w-]{32}/", made.stderr)
    assert "120 of 120 runs done" in made.stdout
    again = CliRunner().invoke(app, ["campaign", "run", str(study), "--page", "--no-browser"])
    assert f"articulus view {tmp_path / 'arm.campaign'}" in again.stdout.replace("\n", "")
    for arguments in (["show", str(folder)], ["status", str(folder)], ["rare", str(study), "turn < 1"]):
        refused = CliRunner().invoke(app, ["campaign", *arguments, "--page"])
        assert refused.exit_code == 2
        assert "No such option" in refused.stderr


def test_in_a_browser(folder: Path) -> None:
    with chromium() as browser, CampaignPage(folder) as served:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        ours = urlsplit(served.url).netloc
        page.on("request", lambda asked: said.append(asked.url) if foreign(asked.url, ours) else None)
        page.goto(served.url)
        page.wait_for_selector("body[data-phase=complete]")
        assert page.locator("#requirements tbody tr").count() == 4
        assert "∞" in page.locator("#requirements tbody tr").nth(2).inner_text()
        assert page.locator("#failures tbody tr").inner_text().split("\t") == [
            "killed",
            "6",
            "3",
            "killed: signal 9",
        ]
        assert page.locator("#figures svg").count() == 3
        assert page.locator("#bands svg").count() == 1
        kept(page, "campaign_page")
        served.close()
        page.wait_for_selector("body[data-gone=yes]")
        assert "120 of 120 runs; the program has ended" in page.locator("#told").inner_text()
        assert said == []
