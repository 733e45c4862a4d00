"""`articulus view` as a user starts and ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import articulus as art
from articulus.cli import main

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

STUDY = """
schema = 1
[study]
name = "hang"
purpose = "does it start?"
model = "two_link"
[run]
t_end = "0.1 s"
step = "1 ms"
"""


def seen(folder: Path, *arguments: str) -> str:
    """Return the page that a command serves; end it with an interrupt."""
    command = [sys.executable, "-m", "articulus", "view", *arguments, "--no-browser"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert running.stdout is not None
    line = running.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", line)
    assert found, line + running.communicate()[1]
    assert "Ctrl+C" in running.stdout.readline()  # before, an interrupt would be one of the start
    with urllib.request.urlopen(found[0], timeout=30) as answer:
        page = answer.read().decode()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 0
    assert "Traceback" not in said
    return page


def test_models_studies_and_results(tmp_path: Path) -> None:
    pytest.importorskip("h5netcdf", reason="needs the extra data")
    assert "<title>two_link</title>" in seen(tmp_path, "two_link")
    (tmp_path / "hang.toml").write_text(STUDY)
    assert "<title>hang</title>" in seen(tmp_path, "hang.toml")
    art.simulate(art.load("two_link"), 0.1, step=1e-3).save(tmp_path / "one.nc")
    art.simulate(art.load("two_link"), 0.2, step=1e-3).save(tmp_path / "other.nc")
    page = seen(tmp_path, "one.nc", "other.nc")
    assert '"name":"one"' in page
    assert '"name":"other"' in page


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["two_link", "cat215b"], "expected one model or study, or results"),
        (["two_lonk"], "did you mean 'two_link'"),
        (["missing.nc"], "missing.nc"),
    ],
)
def test_mistakes(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["view", *arguments, "--no-browser"])
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err
