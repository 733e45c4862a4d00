"""Records of cases: computed histories are compared with measured ones over their band."""

from __future__ import annotations

from pathlib import Path

import pytest

from articulus import cases
from articulus.errors import InputError

TOML = """
title = "t"
source = "key"
reference = "Author, Title, 1999"
[[row]]
quantity = "x [m]"
expected = 1.0
tolerance = 0.1
origin = "printed"
reason = "digits"
[[record]]
name = "fall"
file = "fall.csv"
test = "a stone in a tube, high-speed film"
reason = "one picture"
signals = {height = "z"}
bands = {height = BAND}
"""
SCRIPT = """import numpy as np


def compute():
    t = np.linspace(0, LAST, 101)
    return {"x [m]": 1.0, "fall": {"t": t, "z": 10 - 4.9 * t**2}}
"""
CSV = "t [s],height [cm]\n0.0,1000\n0.5,878\n1.0,520\n"


def folder(tmp_path: Path, band: str = "0.101", last: str = "1.0") -> Path:
    (tmp_path / "case.toml").write_text(TOML.replace("BAND", band), encoding="utf-8")
    (tmp_path / "case.py").write_text(SCRIPT.replace("LAST", last), encoding="utf-8")
    (tmp_path / "fall.csv").write_text(CSV, encoding="utf-8")
    return tmp_path


def test_largest_difference_is_a_row(tmp_path: Path) -> None:
    (case,) = cases.find([str(folder(tmp_path))])
    rows = case.rows()
    assert [r.passed for r in rows] == [True, True]
    assert rows[1].computed == pytest.approx(0.1, abs=0.001)  # 510 cm against 520, in meters
    assert rows[1].origin == "measured"
    assert "high-speed film" in rows[1].source


def test_a_narrower_band_fails(tmp_path: Path) -> None:
    (case,) = cases.find([str(folder(tmp_path, band="0.05"))])
    assert [r.passed for r in case.rows()] == [True, False]


def test_records_that_are_not_covered(tmp_path: Path) -> None:
    (case,) = cases.find([str(folder(tmp_path, last="0.8"))])
    with pytest.raises(InputError, match="expected all of 0 to 1 s"):
        case.rows()
    (tmp_path / "case.toml").write_text(TOML.replace("BAND", "-1.0"), encoding="utf-8")
    with pytest.raises(InputError, match="bands above zero"):
        cases.find([str(tmp_path)])
