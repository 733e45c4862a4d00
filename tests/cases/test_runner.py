"""The runner: what it accepts, what it reports, how it fails."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from articulus import cases
from articulus.cases.row import agrees
from articulus.errors import InputError

KEYS = [
    "case",
    "source",
    "quantity",
    "expected",
    "computed",
    "tolerance",
    "origin",
    "reason",
    "deviation",
    "same_as",
    "pass",
]
SCRIPT = "def compute():\n    return {quantities}\n"
TOML = """
title = "t"
source = "key"
reference = "Author, Title, 1999"
[[row]]
quantity = "x [m]"
expected = {expected}
tolerance = {tolerance}
origin = "{origin}"
where = "eq. 1"
{more}
reason = "digits"
"""


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes a case of one row."""

    def write(
        computed="{'x [m]': 1.0}", expected="1.0", tolerance="0.1", origin="printed", more="", script=None
    ):
        text = TOML.format(expected=expected, tolerance=tolerance, origin=origin, more=more)
        (tmp_path / "case.toml").write_text(text)
        (tmp_path / "case.py").write_text(script or SCRIPT.format(quantities=computed))
        return str(tmp_path)

    return write


def test_a_row_as_json_has_exactly_these_keys(folder):
    (row,) = cases.run([folder()])
    assert list(row.as_dict()) == KEYS
    assert row.as_dict()["pass"] is True
    assert json.loads(json.dumps(row.as_dict(), allow_nan=False))["source"] == "key, eq. 1"


def test_the_origin_has_a_key_of_its_own(folder):
    (row,) = cases.run([folder(origin="assumed")])
    assert (row.origin, row.reason) == ("assumed", "digits")


@pytest.mark.parametrize(
    ("computed", "passes"), [(1.05, False), (1.2, True), (0.75, True), (1.4, False), ("float('nan')", False)]
)
def test_a_known_deviation_must_stay_one(folder, computed, passes):
    """It fails when the number is reached after all, and when it is missed by more than is known."""
    more = 'deviation = "another model"\ndeviates_by = 0.3'
    (row,) = cases.run([folder(f"{{'x [m]': {computed}}}", more=more)])
    assert row.passed is passes
    assert row.as_dict()["deviation"] == "another model"


@pytest.mark.parametrize(
    ("expected", "computed", "passes"),
    [
        (1.0, 1.09, True),
        (1.0, 1.11, False),
        ([1.0, 2.0], [1.0, 2.2], False),
        ([1.0, 2.0], 1.0, False),
        (1.0, float("nan"), False),
        (0.0, float("inf"), False),
    ],
)
def test_agreement_is_the_largest_difference(expected, computed, passes):
    assert agrees(expected, computed, 0.1) is passes


def test_numbers_that_are_not_finite_are_null_in_json(folder):
    (row,) = cases.run([folder("{'x [m]': float('nan')}")])
    assert row.as_dict()["computed"] is None
    assert not row.passed


def test_arrays_become_lists(folder):
    (row,) = cases.run([folder("{'x [m]': __import__('numpy').array([1.0, 2.0])}", expected="[1, 2]")])
    assert row.computed == [1.0, 2.0]
    assert row.passed


def test_a_case_that_stops_gives_failed_rows(folder):
    script = (
        "from articulus.errors import InputError\ndef compute():\n    raise InputError('no such thing')\n"
    )
    (row,) = cases.run([folder(script=script)])
    assert not row.passed
    assert row.computed is None
    assert "no such thing" in row.reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"origin": "heard"}, "origin 'heard'"),
        ({"tolerance": "-1.0"}, "tolerance"),
        ({"more": 'deviation = "why"'}, "a deviation is a text with deviates_by above the tolerance"),
        ({"more": "deviates_by = 1.0"}, "a deviation is a text with deviates_by above the tolerance"),
        ({"more": "printed = 1.0"}, "unexpected keyword argument 'printed'"),
        ({"expected": "'text'"}, "could not convert"),
        ({"computed": "{'y [m]': 1.0}"}, r"only in one of case.toml and case.py: \['x \[m\]', 'y \[m\]'\]"),
    ],
)
def test_a_malformed_case_is_refused(folder, change, message):
    with pytest.raises(InputError, match=message):
        cases.run([folder(**change)])


def test_a_missing_script_is_refused(folder):
    path = folder()
    (Path(path) / "case.py").unlink()
    (row,) = cases.run([path])
    assert not row.passed
    assert "no such script" in row.reason


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'puma600'"):
        cases.run(["puma60"])


def test_a_changed_digit_is_found(tmp_path):
    broken = tmp_path / "cat215b"
    shutil.copytree(cases.HERE / "cat215b", broken)
    text = (broken / "case.toml").read_text()
    (broken / "case.toml").write_text(text.replace("120131.298", "120131.398"))
    good, bad = cases.run(["cat215b"]), cases.run([str(broken)])
    assert [r.passed for r in good] != [r.passed for r in bad]
    assert np.sum([not r.passed for r in bad]) == 1
