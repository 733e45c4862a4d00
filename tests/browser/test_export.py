"""Exported pages: packed numbers, one file that loads nothing, texts taken literally, sizes."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import articulus as art
from articulus.browser import export_html, replay_fragment
from articulus.browser.export import page
from articulus.browser.packing import chosen_rows, pack, unpack
from articulus.browser.poses import body_poses
from articulus.browser.recording import lanes, recording
from articulus.errors import InputError
from articulus.simulation.loop.components import Contact, Contacts
from articulus.simulation.loop.contact import Plane, Sphere
from articulus.simulation.results import Run
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import Cause, Failure, Occurrence, RunStatus

from .runs import kinematic_run


@given(arrays(np.float32, st.tuples(st.integers(1, 20), st.integers(1, 5)), elements=st.floats(width=32)))
def test_packing_loses_nothing(table: np.ndarray) -> None:
    back = unpack(pack(table))
    assert back.shape == table.shape
    assert back.tobytes() == table.tobytes() or np.array_equal(back.view(np.int32), table.view(np.int32))


def test_smooth_curves_pack_well() -> None:
    t = np.linspace(0, 10, 5000)
    assert len(pack(np.column_stack([np.sin(t), np.cos(t)]))["data"]) < 0.6 * 5000 * 2 * 4


@given(st.integers(1, 10_000), st.integers(1, 100), st.integers(1, 20_000))
def test_chosen_rows_keep_the_ends_and_the_budget(rows: int, row_bytes: int, budget: int) -> None:
    chosen = chosen_rows(rows, row_bytes, budget)
    assert chosen[0] == 0
    assert chosen[-1] == rows - 1
    assert chosen.size <= max(2, budget / row_bytes)
    gaps = np.diff(chosen)
    assert not gaps.size or gaps.max() - gaps.min() <= 1


class Elements(HTMLParser):
    """Notes start tags, and the text in each script and style."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style", "title", "h1"):
            self.inside.append((self.tags[-1][0], data))


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


@pytest.fixture(scope="module")
def arm() -> Run:
    return kinematic_run(art.load("two_link"))


def test_the_page_loads_nothing_and_allows_only_its_own_scripts(arm: Run) -> None:
    text = page(arm)
    held = Elements(text)
    policies = [a["content"] for tag, a in held.tags if tag == "meta" and "http-equiv" in a]
    assert len(policies) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in str(policies[0]).split(";"))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    hashes = {"script": rules["script-src"].split(), "style": rules["style-src"].split()}
    assert all(h.startswith("'sha256-") for listed in hashes.values() for h in listed)
    shown = re.findall(r"<(script|style)>(.*?)</\1>", text, re.S)
    assert len(shown) == sum(map(len, hashes.values()))
    for tag, content in shown:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in hashes[tag]
    assert not [
        a
        for _, a in held.tags
        for name in a
        if (name in ("src", "href", "style") and a[name] != "data:,") or name.startswith("on")
    ]


def test_texts_are_taken_literally(arm: Run) -> None:
    evil = "</script><script>alert(1)</script><!--"
    signals = arm.signals | {"x": Signal("x", np.zeros((arm.t.size, 1)), (evil,), "-", evil)}
    run = Run(arm.mechanism, arm.t, signals)
    text = page({evil: run}, title=evil)
    assert "alert(1)</script>" not in text
    assert data_of(text)["runs"][0]["name"] == evil
    assert data_of(text)["runs"][0]["signals"][-1]["labels"] == [evil]
    assert html.escape(evil) in text


def test_what_is_in_a_page_is_the_run(arm: Run, tmp_path: Path) -> None:
    export_html(arm, tmp_path / "arm.html")
    (held,) = data_of((tmp_path / "arm.html").read_text())["runs"]
    np.testing.assert_allclose(unpack(held["t"])[:, 0], arm.t, rtol=1e-6)
    poses = body_poses(arm.mechanism, arm.q).reshape(arm.t.size, -1)
    np.testing.assert_allclose(unpack(held["poses"]), poses, atol=1e-6)
    q = next(s for s in held["signals"] if s["name"] == "q")
    np.testing.assert_allclose(unpack(q["values"]), arm.q, rtol=1e-6)
    low, high = np.array(held["bounds"])
    assert (poses[:, [0, 1, 2, 7, 8, 9]].reshape(-1, 3) >= low - 1e-9).all()
    assert (poses[:, [0, 1, 2, 7, 8, 9]].reshape(-1, 3) <= high + 1e-9).all()


def test_ten_seconds_of_a_seven_joint_arm_take_less_than_5_MB(tmp_path: Path) -> None:
    arm = art.load("rrc7")
    run = art.simulate(arm, 10.0, q0=np.full(7, 0.3), step=1e-3)
    assert run.t.size == 10_001
    export_html(run, tmp_path / "arm.html")
    assert (tmp_path / "arm.html").stat().st_size < 5e6


def test_a_run_that_failed_is_shown_as_far_as_it_got(arm: Run) -> None:
    d = arm.mechanism
    failure = Failure(0, 0.5, Cause.DIVERGED, "it flew away", arm.q[5], arm.v[5], np.zeros(4))
    event = Occurrence(time=0.25, name="touch", run=0)
    run = Run(d, arm.t, arm.signals, RunStatus.FAILED, (failure,), (event,))
    (held,) = data_of(page(run))["runs"]
    assert held["status"] == "failed"
    assert unpack(held["t"])[-1, 0] == pytest.approx(0.5)
    assert np.isfinite(unpack(held["poses"])).all()
    assert held["events"] == [{"t": 0.25, "name": "touch"}]


def test_of_a_batch_evenly_chosen_runs_are_shown(arm: Run) -> None:
    signals = {n: Signal(n, np.stack([s.values] * 20), s.labels, s.units) for n, s in arm.signals.items()}
    run = Run(arm.mechanism, arm.t, signals)
    shown = lanes({"sweep": run})
    assert [lane.index for lane in shown] == sorted({lane.index for lane in shown})
    assert len(shown) == 8
    assert (shown[0].index, shown[-1].index) == (0, 19)
    assert [r["name"] for r in data_of(page([arm, arm]))["runs"]] == ["run 1", "run 2"]


def test_contacts_are_drawn_at_their_points() -> None:
    """Force and point of a contact are an arrow without a frame; other forces have no point and are none."""
    ball = art.Mechanism("ball").body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    ball.joint("height", art.Prismatic((0, 0, 1)), "ground", "ball")
    floor = Contact(Sphere("ball", 0.1), Plane(), 1e5, name="floor")
    run = art.simulate(ball, 0.1, [0.12], components=[floor], step=1e-3)
    assert recording(lanes(run)[0])["arrows"] == [{"signal": "floor.force", "point": "floor.point"}]
    lone = Run(run.mechanism, run.t, {n: s for n, s in run.signals.items() if n != "floor.point"})
    assert recording(lanes(lone)[0])["arrows"] == []


def test_pairs_of_many_contacts_are_drawn_where_they_touch() -> None:
    """Two balls, one of which reaches the floor: the page holds point and force of that pair alone, an arrow."""
    m = art.Mechanism("balls")
    for k in range(2):
        m.body(f"b{k}", 1.0, inertia=(0.1,) * 3).joint(
            f"j{k}", art.Prismatic((0, 0, 1)), "ground", f"b{k}", at=(k, 0, 0)
        )
    heap = Contacts((Sphere("b0", 0.1), Sphere("b1", 0.1), Plane()), 1e5, name="heap")
    run = art.simulate(m, 0.1, [0.5, 0.12], components=[heap], step=1e-3)
    page = recording(lanes(run)[0])
    assert page["arrows"] == [{"signal": "heap.push", "point": "heap.point", "first": 0}]
    held = {s["name"]: s for s in page["signals"]}
    assert held["heap.point"]["labels"] == ["6", "7", "8"]  # of the pairs (0, 1), (0, 2) and (1, 2)
    last = run["heap.push"].reshape(-1, 3, 3)[-1]
    assert last[2] == pytest.approx(run["heap.force"][-1, 3:6])
    assert not last[:2].any()
    assert run["heap.point"][-1, 6:8] == pytest.approx([1.0, 0.0])
    assert "heap.push" in run.signals  # what touches nothing is left out of the page, not of the run
    still = art.simulate(m, 0.01, [0.5, 0.5], components=[heap], step=1e-3)
    assert recording(lanes(still)[0])["arrows"] == []


def test_mistakes_are_named(arm: Run) -> None:
    with pytest.raises(InputError, match="no run"):
        page([])
    with pytest.raises(InputError, match="expected a Run"):
        page({"a": 3})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="no signal 'push'"):
        page(arm, wrenches={"push": "link2"})
    with pytest.raises(InputError, match="expected six"):
        page(arm, wrenches={"q": "link2"})
    with pytest.raises(InputError, match="no body or frame 'hand'"):
        page(arm, wrenches={"q": "hand"})
    empty = Run(arm.mechanism, arm.t[:0], {n: _cut(s) for n, s in arm.signals.items()})
    with pytest.raises(InputError, match="no sample"):
        page(empty)


def _cut(s: Signal) -> Signal:
    return Signal(s.name, s.values[:0], s.labels, s.units)


def test_the_fragment_is_one_element_that_holds_the_page(arm: Run) -> None:
    text = replay_fragment(arm, title="arm")
    tags = Elements(text).tags
    assert [tag for tag, _ in tags] == ["iframe"]
    assert tags[0][1]["srcdoc"] == page(arm, title="arm")
    assert tags[0][1]["sandbox"] == "allow-scripts allow-downloads"


def test_a_run_is_drawn_with_the_parameters_that_it_was_made_with(tmp_path: Path) -> None:
    """Two rods, the first of a length that is a parameter: the second hangs at its end, and the tube is as long."""
    pytest.importorskip("h5netcdf", reason="needs the extra data")
    length = art.Parameter("length", 1.0)
    m = art.Mechanism("rods")
    for name, parent, at in (("a", "ground", 0.0), ("b", "a", length)):
        m.body(name, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
        m.joint(f"{name}j", art.Revolute((0, 1, 0)), parent, name, at=(at, 0, 0))
    run = art.simulate(m, 0.01, params={"length": 3.0})
    run.save(tmp_path / "run.nc")
    batch = art.rollout(m, 0.01, params={"length": np.array([2.0, 3.0])})
    for made, index in ((run, 0), (art.load_run(tmp_path / "run.nc"), 0), (batch, 1)):
        held = data_of(page(made))["runs"][index]
        poses = unpack(held["poses"]).reshape(-1, 2, 7)
        assert poses[0, 1, 0] == pytest.approx(3.0)
        (tube,) = (
            s for s in held["scene"]["bodies"][0]["shapes"] if s["kind"] == "tube" and s["role"] == "link"
        )
        assert tube["end"][0] == pytest.approx(3.0)
    assert m.with_values({"length": 3.0}).description.fingerprint == m.description.fingerprint
    with pytest.raises(InputError, match="did you mean 'length'"):
        m.with_values({"lenght": 3.0})
