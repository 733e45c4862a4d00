"""Every example runs, in a process of its own, with the extras that it names and no others, and its assertions hold."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import extras

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("[0-9][0-9]_*.py"))
SCRIPT = f"""
import runpy, sys
sys.path.insert(0, {str(Path(extras.__file__).parent)!r})
import extras
path, *names = sys.argv[1:]
sys.argv = [path]
with extras.only(names):
    runpy.run_path(path, run_name="__main__")
"""
"""Runs an example with the extras that it names, and no others."""
LONGEST = 80
"""Lines of an example."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "Agg", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(path), *sorted(extras.named(path.read_text()))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_form(path: Path) -> None:
    text = path.read_text()
    script = ast.parse(text)
    assert ast.get_docstring(script)
    assert text.count("# %%") >= 2
    assert len(text.splitlines()) <= LONGEST
    assert isinstance(script.body[-1], ast.Assert)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 10
