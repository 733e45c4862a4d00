"""Designs of a front for the design desk, as plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import articulus as art
from articulus.browser.desk import Desk
from articulus.browser.desk_front import front_for_page
from articulus.browser.viewer.session import ViewerSession
from articulus.design import Front, FrontDesign
from articulus.errors import InputError

ROWS = [{"kp": 10.0, "error": 0.3, "effort": 1.0}, {"kp": 40.0, "error": 0.1, "effort": 4.0}]


def run() -> art.Run:
    return art.simulate(
        art.load("pendulum_chain", n=1), 0.1, controller=art.components.PD(art.Parameter("kp", 10.0), 1.0), step=0.01
    )  # fmt: skip


def test_rows_become_points_with_values() -> None:
    told = Desk(run(), designs=ROWS).describe()["front"]
    json.dumps(told, allow_nan=False)
    assert told["axes"] == ["error", "effort"]
    assert told["designs"][1] == {"x": 0.1, "y": 4.0, "values": {"kp": 40.0}, "rest": {}}
    assert Desk(run()).describe()["front"] is None


def test_a_front_brings_its_costs_and_shares() -> None:
    designs = tuple(FrontDesign(s, np.array([10 * s, 1.0]), (s, 1 / s)) for s in (0.5, 0.8))
    told = front_for_page(Front(("mass", "control"), ("kp", "size"), designs), ["kp"])
    assert told["axes"] == ["mass", "control"]
    assert told["designs"][0] == {
        "x": 0.5,
        "y": 2.0,
        "values": {"kp": 5.0},
        "rest": {"share": 0.5, "size": 1.0},
    }


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([], "found 0 designs"),
        ([{"kp": 1.0, "a": 2.0, "b": float("nan")}], "design 0, 'b': found nan"),
        ([{"kp": 1.0, "a": 2.0, "b": "x"}], "'b': found 'x'"),
        ([{"a": 1.0, "b": 2.0}], "expected a parameter of the run among them, kp"),
        ([{"kp": 1.0, "a": 2.0}], "expected two numbers to draw them by"),
        ([ROWS[0], {"kp": 1.0, "error": 2.0}], "design 1 has kp, error; expected those of the first one"),
    ],
)
def test_designs_that_cannot_be_shown(given, text) -> None:
    with pytest.raises(InputError, match=text):
        Desk(run(), designs=given)


def test_designs_need_a_desk() -> None:
    with pytest.raises(InputError, match="found designs; expected none"):
        ViewerSession(art.load("pendulum_chain", n=1), designs=ROWS)
