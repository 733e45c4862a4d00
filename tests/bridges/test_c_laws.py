"""C source of one sampled component: the commands that the same component gives in a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.bridges.compiling import needs_gcc, run

import articulus as art
from articulus.bridges.c import export_law
from articulus.simulation.loop import components

MAIN = """
#include "pid.h"
#include <stdio.h>
int main(void)
{{
    static const double q[][2] = {{{q}}}, v[][2] = {{{v}}};
    double memory[2] = {{pid_memory_start[0], pid_memory_start[1]}}, integral[2], u[2];
    int k;
    for (k = 0; k < {n}; k++) {{
        pid_step({period} * k, memory, q[k], v[k], memory, integral, u);
        printf("%.17g %.17g ", u[0], u[1]);
    }}
    return 0;
}}
"""


def pid(**given: object) -> art.Loop:
    """A PID controller that reads the signals of a sensor."""
    law = components.PID(
        kp=30.0, ki=10.0, kd=5.0, target=(0.2, -0.1), name="pid", measured=("joints.q", "joints.v"), **given
    )
    return art.Loop(art.load("two_link"), components=[components.JointSensor(name="joints"), law])


@needs_gcc
def test_fed_with_the_signals_of_a_run_it_gives_its_commands(tmp_path: Path) -> None:
    loop = pid(period=0.005)
    export_law(loop, "pid", tmp_path)
    assert run([tmp_path / "pid.c", tmp_path / "test_pid.c"], tmp_path / "test").endswith(
        "all results agree\n"
    )
    ran = loop.simulate(0.5, [0.3, -0.2], sample=0.005)

    def rows(name: str) -> str:
        return ", ".join(f"{{{a!r}, {b!r}}}" for a, b in ran[name].tolist())

    text = MAIN.format(q=rows("joints.q"), v=rows("joints.v"), n=len(ran.t), period=0.005)
    (tmp_path / "main.c").write_text(text)
    found = np.array(run([tmp_path / "pid.c", tmp_path / "main.c"], tmp_path / "main").split(), float)
    expected = ran["u"]
    assert np.ptp(expected, axis=0).min() > 0.1
    assert found.reshape(-1, 2) == pytest.approx(expected, rel=0, abs=1e-13 * np.abs(expected).max())


def test_the_header_names_the_signals(tmp_path: Path) -> None:
    export_law(pid(period=0.005), "pid", tmp_path, name="law")
    header = (tmp_path / "law.h").read_text()
    assert "const double joints_q[2], const double joints_v[2]" in header
    assert "const double q[2]" not in header


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(art.InputError, match="Give it a `period`"):
        export_law(pid(), "pid", tmp_path)
    with pytest.raises(art.InputError, match="did you mean 'pid'"):
        export_law(pid(period=0.005), "pdi", tmp_path)
    with pytest.raises(art.InputError, match="expected a Loop"):
        export_law(art.load("two_link"), "pid", tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_command_line_writes_what_a_study_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from articulus import cli

    study = str(Path(__file__).parents[2] / "examples" / "studies" / "puma_servo.toml")

    def status(*given: str) -> object:
        with pytest.raises(SystemExit) as end:
            cli.main(["export", *given])
        return end.value.code

    assert status("two_link", "--c", "bias,gravity", "--output", str(tmp_path / "q")) == 0
    assert status(study, "--c", "law:servo", "--output", str(tmp_path / "law")) == 0
    assert (tmp_path / "q" / "two_link.c").is_file()
    assert "puma" not in (tmp_path / "law" / "servo.h").read_text()
    capsys.readouterr()
    assert status("two_link", "--output", str(tmp_path)) == 2
    assert "expected --c QUANTITY" in capsys.readouterr().err
    assert status("two_link", "--fmu", "--output", str(tmp_path)) == 2
    assert "path of a study" in capsys.readouterr().err
    assert status(study, "--c", "step,bias", "--output", str(tmp_path)) == 2
