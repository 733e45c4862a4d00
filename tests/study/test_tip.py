"""Studies of a tip that follows a path: what is run and written, and what is said of mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from articulus.errors import InputError, ModelError
from articulus.motion.inversion import Line, Profile
from articulus.motion.inversion.arms import rigid_feedforward
from articulus.study import read_study, run_study
from articulus.study.reader import parse_study

pytestmark = pytest.mark.filterwarnings(
    "ignore:(?s).*over its length"
)  # a short motion that bends its links far

TEXT = """
schema = 1

[study]
name = "tip"
model = "ledesma_arm"
options = {modes = 1, damping = 0.01}

[initial.q]
shoulder = "-34 deg"
elbow = "126 deg"

[run]
step = "2 ms"

[inversion]
tip = "tip"
actuators = ["shoulder", "elbow"]
path = {type = "line", start = ["40 cm", 0.4], end = [0.9, 0.4], duration = "0.8 s"}
"""


@pytest.fixture(scope="module")
def study():
    return parse_study(TEXT)


@pytest.fixture(scope="module")
def outcome(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tip")
    return run_study(study, folder), folder


def test_the_run_lasts_as_long_as_the_forces_act(study):
    found = study.tip.inversion
    assert study.settings.t_end == pytest.approx(found.t[-1] - found.t[0])
    assert found.t0 == 0.0
    assert found.t_end == 0.8
    assert np.array_equal(study.q0, found.states[0, :4])


def test_torques_predicted_motion_and_comparison_are_written(outcome):
    """The run is the predicted motion to the error of RK4 at 2 ms; rigid torques are off by far more, with and without shaper."""
    ran, folder = outcome
    exact, rigid, shaped = ran.tips
    assert (exact.name, rigid.name, shaped.name) == ("non-causal", "rigid", "rigid, shaped")
    assert exact.largest < 1e-5
    assert rigid.largest > 1e3 * exact.largest
    assert shaped.after(ran.run.t[-1] - 0.05) < rigid.after(ran.run.t[-1] - 0.05)
    table = np.loadtxt(folder / "tip.forces.csv", delimiter=",", skiprows=1)
    assert table[:, 0] == pytest.approx(ran.study.tip.inversion.t)
    states = ran.study.tip.inversion.states
    assert np.abs(ran.run.q - states[:, :4]).max() < 1e-5
    report = (folder / "tip.html").read_text()
    assert "Tip motion" in report
    assert "begin" in report


def test_a_saved_run_knows_its_loop_again(outcome):
    import articulus as art

    ran, folder = outcome
    again = art.load_run(folder / "tip.nc").again()
    assert np.array_equal(again.q, ran.run.q)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('tip = "tip"', 'tip = "tipp"', "tip"),
        ('type = "line"', 'type = "lime"', r"path.type: found .lime.; expected one of line, circle, spline, csv.*line"),
        (', duration = "0.8 s"', "", r"inversion.path: found no duration"),
        ('"0.8 s"', '"-1 s"', r"positive duration"),
        ('duration = "0.8 s"', 'duration = "0.8 s", order = 1', r"acceleration of tip.x jumps"),
        ("end = [0.9, 0.4]", "end = [9.0, 0.4]", r"within reach"),
        ("end = [0.9, 0.4]", 'end = ["3 kg", 0.4]', r"tip.toml:\d+: inversion.path.end"),
        ('actuators = ["shoulder", "elbow"]', 'actuators = "shoulder"', r"inversion.actuators: found .*; expected actuators, a list"),
        ('step = "2 ms"', 'step = "2 ms"\nt_end = 3', r"run.t_end: found given with \[inversion\]"),
        ("duration = \"0.8 s\"}", 'duration = "0.8 s"}\ncolor = 3', r"color"),
    ],
)  # fmt: skip
def test_mistakes_are_named(old, new, found):
    assert old in TEXT
    with pytest.raises(ModelError, match=found):
        parse_study(TEXT.replace(old, new), "tip.toml")


def test_circles_splines_and_files_are_paths(tmp_path):
    t = np.linspace(0, 0.8, 81)
    law = Profile(0.8, order=4).position(t)[:, 0]
    rows = "\n".join(f"{a},{0.4 + 0.3 * s},{0.4}" for a, s in zip(t, law))
    (tmp_path / "way.csv").write_text(f"t [s],x [m],y [m]\n{rows}\n")
    line = 'path = {type = "line", start = ["40 cm", 0.4], end = [0.9, 0.4], duration = "0.8 s"}'
    for other in (
        'path = {type = "circle", center = [0.5, 0.4], start = [0.4, 0.4], sweep = "90 deg", duration = "0.9 s"}',
        'path = {type = "spline", points = [[0.4, 0.4], [0.5, 0.45], [0.6, 0.4]], duration = "0.9 s"}',
        'path = {type = "csv", file = "way.csv"}',
    ):
        (tmp_path / "tip.toml").write_text(TEXT.replace(line, other))
        found = read_study(tmp_path / "tip.toml").tip
        assert found.inversion.ok, other


def test_unknown_shapers_are_refused(study):
    motion = study.tip
    with pytest.raises(InputError, match=r"shaper: found 'zvv'; expected one of zv, zvd"):
        rigid_feedforward(study.mechanism, motion.inversion, motion.path, shaper="zvv")
    assert isinstance(motion.path, Line)
