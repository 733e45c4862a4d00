"""Files that hold the sticks: what they say happens, and what is wrong in them is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from articulus.browser.drive import machine_for
from articulus.browser.drive.commands import read_commands, replay
from articulus.cli import app
from articulus.errors import ModelError

from .support import two_link

DATA = Path(__file__).parents[3] / "examples" / "data"


def written(folder: Path, text: str) -> Path:
    path = folder / "sticks.csv"
    path.write_text(text)
    return path


def test_sticks_are_linear_between_rows_and_jump_where_a_time_stands_twice(tmp_path: Path) -> None:
    second = two_link().axes[1].name
    commands = read_commands(written(tmp_path, f"# ours\nt,{second}\n0,0\n1,1\n1,-1\n3,-0.5\n"), two_link())
    assert commands.at(0.25) == ((0.0, 0.25), 0, False)
    assert commands.at(1.0) == ((0.0, -1.0), 0, False)
    assert commands.at(2.0) == ((0.0, -0.75), 0, False)
    assert commands.at(9.0) == ((0.0, -0.5), 0, False)


def test_the_resolved_experiment_goes_as_the_source_tells() -> None:
    """Wong 1991, section 5.5.2: the cab lags, Z sags first, the wrist goes out, and everything rests in the dead band at the end. The file
    of the experiment; the law lets the machine rest where it is when the sticks are released, so that it does not catch up."""
    machine = machine_for("cat215b")
    run = replay(machine, read_commands(DATA / "cat215b_resolved.csv", machine)).run
    wrist = machine.mechanism.pose("wrist", run.q)[:, :3, 3]
    radius, height = np.hypot(*wrist[:, :2].T), wrist[:, 2]
    before, moving, end = 490, slice(500, 1000), -1
    assert np.abs(run.q[before] - run.q[0]).max() < 1e-3
    assert 0.6 * 15 > np.degrees(run.q[750, 0]) * 2 > 3, "half of the way is 7.5 degrees: the cab lags"
    assert (np.diff(radius[moving]) > -1e-4).all()
    assert 0.9 < radius[end] - radius[0] < 1.6  # 1.5 m asked
    assert height[moving].min() < height[0] - 0.02, "Z sags first"
    assert np.abs(height - height[0]).max() < 0.15  # the source's figures show as much
    assert np.abs(run.v[end, 1:]).max() < 1e-3
    assert abs(run.v[end, 0]) < 0.01  # the cab swings for long, as in the source
    spools = [run[f"{name}.spool"][end] for name in ("swing", "boom", "stick", "bucket")]
    assert np.abs(spools).max() < 0.005, "within the dead band"


def test_the_command_writes_a_recording_and_a_page(tmp_path: Path) -> None:
    file = written(tmp_path, "t,joint1\n0,0.5\n0.5,0.5\n".replace("joint1", two_link().axes[0].name))
    done = CliRunner().invoke(app, ["drive", "two_link", "--commands", str(file), "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "0.49 s driven by sticks.csv" in done.output
    assert (tmp_path / "two_link-sticks.html").stat().st_size > 1e5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "columns t"),
        ("x,y\n1,2\n", "columns t"),
        ("t,nonsense\n0,0\n", "column 'nonsense'"),
        ("t,AXIS,AXIS\n0,0,0\n", "twice"),
        ("t,AXIS\n", "no rows"),
        ("t,AXIS\n0,2\n", "from -1 to 1"),
        ("t,AXIS\n0,nan\n", "a finite number"),
        ("t,AXIS\n0\n", "as many as there are columns"),
        ("t,AXIS\n1,0\n0,0\n", "that do not fall"),
        ("t,AXIS\n0,0\n99999,0\n", "up to 3600 s"),
        ("t,mode\n0,FLY\n", "'FLY'; expected JOINT"),
        ("t,soil\n0,2\n", "0 or 1"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ModelError, match=r"sticks\.csv") as error:
        read_commands(written(tmp_path, text.replace("AXIS", two_link().axes[0].name)), two_link())
    assert told in str(error.value)
