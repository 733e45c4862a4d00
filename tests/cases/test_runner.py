"""The runner: what it accepts, what it reports, how it fails."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from articulus import cases
from articulus.cases.row import agrees
from articulus.errors import InputError

KEYS = ["case", "source", "quantity", "printed", "computed", "tolerance", "reason", "pass"]
SCRIPT = "def compute():\n    return {quantities}\n"
TOML = """
title = "t"
source = "key"
reference = "Author, Title, 1999"
[[row]]
quantity = "x [m]"
printed = {printed}
tolerance = {tolerance}
origin = "{origin}"
where = "eq. 1"
reason = "digits"
"""


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes a case of one row."""

    def write(computed="{'x [m]': 1.0}", printed="1.0", tolerance="0.1", origin="printed", script=None):
        (tmp_path / "case.toml").write_text(TOML.format(printed=printed, tolerance=tolerance, origin=origin))
        (tmp_path / "case.py").write_text(script or SCRIPT.format(quantities=computed))
        return str(tmp_path)

    return write


def test_a_row_as_json_has_exactly_these_keys(folder):
    (row,) = cases.run([folder()])
    assert list(row.as_dict()) == KEYS
    assert row.as_dict()["pass"] is True
    assert json.loads(json.dumps(row.as_dict(), allow_nan=False))["source"] == "key, eq. 1"


def test_the_origin_stands_before_the_reason(folder):
    (row,) = cases.run([folder(origin="assumed")])
    assert row.reason == "assumed: digits"


@pytest.mark.parametrize(
    ("printed", "computed", "passes"),
    [
        (1.0, 1.09, True),
        (1.0, 1.11, False),
        ([1.0, 2.0], [1.0, 2.2], False),
        ([1.0, 2.0], 1.0, False),
        (1.0, float("nan"), False),
        (0.0, float("inf"), False),
    ],
)
def test_agreement_is_the_largest_difference(printed, computed, passes):
    assert agrees(printed, computed, 0.1) is passes


def test_numbers_that_are_not_finite_are_null_in_json(folder):
    (row,) = cases.run([folder("{'x [m]': float('nan')}")])
    assert row.as_dict()["computed"] is None
    assert not row.passed


def test_arrays_become_lists(folder):
    (row,) = cases.run([folder("{'x [m]': __import__('numpy').array([1.0, 2.0])}", printed="[1, 2]")])
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
        ({"printed": "'text'"}, "could not convert"),
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
