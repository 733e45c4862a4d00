"""Programs behind the expected numbers of the cases: each computes them from the source's data, without articulus.

A program is a file with the name of its case and a function `expected`, which returns numbers by the names of the rows, and
perhaps `slowly` for those that take more than a few seconds: `make oracles` (ARTICULUS_ORACLES=all, nightly) runs these as well.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import tomllib
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
CASES = HERE.parents[2] / "src" / "articulus" / "cases"
HELPERS = {"rigid_arms", "beam_shapes", "convected"}
"""Files that several programs use."""
ALLOWED = {"numpy", "scipy", "mpmath", "functools", "itertools", "math", "collections", "__future__"}
PROGRAMS = sorted(
    p.stem for p in HERE.glob("*.py") if p.stem not in HELPERS and not p.stem.startswith("test_")
)
ALL = os.environ.get("ARTICULUS_ORACLES") == "all"


def rows(case):
    return tomllib.loads((CASES / case / "case.toml").read_text(encoding="utf-8"))["row"]


@functools.cache
def program(name):
    spec = importlib.util.spec_from_file_location(f"oracle_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def numbers(name):
    """Return the numbers of a program by quantity."""
    module = program(name)
    return module.expected() | (module.slowly() if ALL and hasattr(module, "slowly") else {})


@pytest.fixture(autouse=True)
def helpers(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_gives_the_expected_numbers(name):
    """Within the tolerance of every row that is not an identity; a known deviation is one of articulus, not of the program."""
    held = rows(name)
    for quantity, value in numbers(name).items():
        mine = [r for r in held if r["quantity"] == quantity and r["origin"] != "identity"]
        assert mine, f"{name}: no row '{quantity}'"
        for row in mine:
            found, expected = np.asarray(value, dtype=float), np.asarray(row["expected"], dtype=float)
            assert found.shape == expected.shape, quantity
            worst = np.abs(found - expected).max(initial=0.0)
            assert worst <= row["tolerance"], f"{quantity}: {found} against {expected}"


@pytest.mark.parametrize("name", sorted({*PROGRAMS, *HELPERS}))
def test_program_shares_no_code_with_the_package(name):
    tree = ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))
    used = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    used |= {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    assert used <= ALLOWED | HELPERS | set(PROGRAMS), used


@pytest.mark.parametrize("case", sorted(p.parent.name for p in CASES.glob("*/case.toml")))
def test_recomputed_rows_have_a_program(case):
    """`recomputed` promises a program; rows without one are `recomputed elsewhere`, `closed form` or of another origin."""
    asked = {r["quantity"] for r in rows(case) if r["origin"] == "recomputed"}
    if not asked:
        return
    assert case in PROGRAMS, f"{case}: no program for {sorted(asked)}"
    missing = asked - set(numbers(case))
    assert not missing or (not ALL and hasattr(program(case), "slowly")), (
        f"{case}: no number for {sorted(missing)}"
    )
