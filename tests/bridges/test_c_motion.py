"""C source of a planned motion: the course and the forces that a run of the same motion has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.bridges.compiling import needs_gcc, run

import articulus as art
from articulus.bridges.c import export_motion
from articulus.motion.motion import SampledMotion
from articulus.motion.piecewise import Piecewise


def motion() -> SampledMotion:
    """A smooth swing of two links with the forces that it takes."""
    arm = art.load("two_link")
    t = np.linspace(0.0, 2.0, 41)
    s, ds, dds = (
        (1 - np.cos(np.pi * t / 2)) / 2,
        np.pi / 4 * np.sin(np.pi * t / 2),
        np.pi**2 / 8 * np.cos(np.pi * t / 2),
    )
    way = np.array([0.8, -0.5])
    q, v, a = (x[:, None] * way for x in (s, ds, dds))
    tau = arm.inverse_dynamics(q, v, a)
    slopes = np.gradient(tau, t, axis=0)
    return SampledMotion(
        t=t,
        q=q,
        v=v,
        vdot=a,
        vdot_before=a,
        mechanism=arm,
        actuators=("joint1", "joint2"),
        pieces=Piecewise.cubic(t, tau, slopes),
    )


MAIN = """
#include "swing.h"
#include <stdio.h>
int main(void)
{{
    static const double t[] = {{{t}}}, q[][2] = {{{q}}}, v[][2] = {{{v}}};
    double u[2];
    int k;
    for (k = 0; k < {n}; k++) {{
        swing_command(t[k], q[k], v[k], u);
        printf("%.17g %.17g ", u[0], u[1]);
    }}
    return 0;
}}
"""


@needs_gcc
def test_it_commands_what_the_run_commands(tmp_path: Path) -> None:
    """Fed with the states of a run that starts off the motion, 1e-12 of the largest force; float passes its own test program."""
    planned = motion()
    export_motion(planned, tmp_path, name="swing", bandwidth=8.0)
    done = run([tmp_path / "swing.c", tmp_path / "test_swing.c"], tmp_path / "test")
    assert done.endswith("all results agree\n")
    feedback, forces = planned.track(bandwidth=8.0)
    ran = art.Loop(planned.mechanism, feedback, forces).simulate(2.0, [0.05, -0.02], step=1e-3, sample=0.05)
    expected = ran["u"] + np.hstack([ran[f"{f.name}.force"] for f in forces])

    def rows(x: np.ndarray) -> str:
        return ", ".join(f"{{{a!r}, {b!r}}}" for a, b in x.tolist())

    text = MAIN.format(t=", ".join(map(repr, ran.t.tolist())), q=rows(ran.q), v=rows(ran.v), n=len(ran.t))
    (tmp_path / "main.c").write_text(text)
    found = np.array(
        run([tmp_path / "swing.c", tmp_path / "main.c"], tmp_path / "main").split(), float
    ).reshape(-1, 2)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
    assert abs(ran.q[-1] - planned.q[-1]).max() < 2e-3
    other = tmp_path / "float"
    export_motion(planned, other, name="swing", real="float", bandwidth=8.0)
    assert run([other / "swing.c", other / "test_swing.c"], other / "test").endswith("all results agree\n")


def test_what_cannot_go_is_named(tmp_path: Path) -> None:
    with pytest.raises(art.InputError, match="expected a planned motion"):
        export_motion(art.load("two_link"), tmp_path)  # type: ignore[arg-type]
    with pytest.raises(art.InputError, match="found kp and kd"):
        export_motion(motion(), tmp_path, kp=1.0, kd=1.0)
