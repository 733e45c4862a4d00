"""C source of a loop's step: the run that `simulate` gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.bridges.compiling import needs_gcc, run

import articulus as art
from articulus.bridges.c import export_loop
from articulus.simulation.loop import components

STEPS = 200


def swinging() -> tuple[np.ndarray, np.ndarray]:
    """Return a state of a four-bar that swings with its loop closed."""
    linkage = art.load("n_four_bar", n=1)
    found = art.assemble(linkage, linkage.neutral, np.array([1.0, 0.0, 0.0]))
    return found.q, found.v


LOOPS = {
    "sampled": (lambda: art.Loop(art.load("two_link"), components=[components.PD(kp=40.0, kd=8.0, period=0.005)]), "rk4", lambda: ([0.3, -0.2], None)),
    "closed": (lambda: art.Loop(art.load("n_four_bar", n=1)), "rk4", swinging),
    "flexible": (lambda: art.Loop(art.load("king_arm")), "rk4", lambda: (None, None)),
    "semi-implicit": (lambda: art.Loop(art.load("two_link")), "semi_implicit_euler", lambda: ([0.3, -0.2], None)),
}  # fmt: skip

MAIN = """
#include "m.h"
#include <stdio.h>
int main(void)
{{
    m_state s;
    m_outputs y;
    {inputs}
    int i, k;
    m_start(&s);
    for (i = 0; i <= {steps}; i++) {{
        m_report(&s{passed}, &y);
        for (k = 0; k < {n}; k++)
            printf("%.17g ", y.q[k]);
        printf("\\n");
        m_step(&s{passed});
    }}
    return 0;
}}
"""


def stepped_in_c(folder: Path, n: int, inputs: str = "m_inputs u = {0};", passed: str = ", &u") -> np.ndarray:
    """Return q at every step, from a main program of its own."""
    (folder / "main.c").write_text(MAIN.format(steps=STEPS, n=n, inputs=inputs, passed=passed))
    return np.array(run([folder / "m.c", folder / "main.c"], folder / "main").split(), float).reshape(
        STEPS + 1, n
    )


@needs_gcc
@pytest.mark.parametrize("name", LOOPS)
def test_every_step_is_that_of_simulate(name: str, tmp_path: Path) -> None:
    make, method, start = LOOPS[name]
    loop, state = make(), start()
    export_loop(loop, tmp_path, *state, name="m", method=method, outputs=[])
    assert run([tmp_path / "m.c", tmp_path / "test_m.c"], tmp_path / "test").endswith("all results agree\n")
    expected = loop.simulate(STEPS * 1e-3, *state, method=method, outputs=[]).q
    found = stepped_in_c(tmp_path, loop.mechanism.nq)
    assert np.abs(expected[-1] - expected[0]).max() > 1e-3
    assert found == pytest.approx(expected, rel=0, abs=1e-11 * np.abs(expected).max())


@needs_gcc
def test_inputs_and_wrenches_act_as_components_do(tmp_path: Path) -> None:
    arm = art.load("two_link")
    frame = arm.body_names[-1]
    export_loop(art.Loop(arm), tmp_path, name="m", wrenches=[frame], outputs=[])
    given = f"m_inputs u = {{0}}; u.command_{arm.v_names[0]} = 0.5; u.external_{frame}_fz = -3.0;"
    found = stepped_in_c(tmp_path, 2, given)
    pushed = art.Loop(
        arm,
        components=[
            components.PrescribedCommand(arm.v_names[0], 0.5),
            components.FrameWrench(frame, (0.0, 0.0, 0.0, 0.0, 0.0, -3.0)),
        ],
    )
    expected = pushed.simulate(STEPS * 1e-3, outputs=[]).q
    assert np.abs(expected[-1]).max() > 1e-4
    assert found == pytest.approx(expected, rel=0, abs=1e-11 * np.abs(expected).max())


def test_what_cannot_be_exported_says_why(tmp_path: Path) -> None:
    arm = art.load("two_link")
    with pytest.raises(art.UnsupportedOperation, match="Python function"):
        export_loop(art.Loop(arm, lambda t, q, v: -q), tmp_path)
    with pytest.raises(art.UnsupportedOperation, match="rk4"):
        export_loop(art.Loop(arm), tmp_path, method="dormand_prince")
    with pytest.raises(art.UnsupportedOperation, match="rk4"):
        export_loop(art.Loop(arm), tmp_path, method="ab2")
    with pytest.raises(art.InputError, match=r"nothing reads 'gyro\.rate'"):
        export_loop(art.Loop(arm), tmp_path, inputs=["gyro.rate"])
    with pytest.raises(art.InputError, match="did you mean 'energy'"):
        export_loop(art.Loop(arm), tmp_path, outputs=["enrgy"])
    with pytest.raises(art.InputError, match="no body or frame 'hand'"):
        export_loop(art.Loop(arm), tmp_path, wrenches=["hand"])
    with pytest.raises(art.InputError, match="whole number of steps"):
        export_loop(art.Loop(arm, components=[components.PD(kp=1.0, kd=1.0, period=0.0025)]), tmp_path)
    with pytest.raises(art.InputError, match="expected a Loop"):
        export_loop(arm, tmp_path)
    assert not list(tmp_path.iterdir())
