"""The demo is the machine of the library, its figures follow from the run, and its report opens beside its study."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.model.library.cat215b_drives import BUCKET_FEEDBACK, JOINTS, START, actuators
from articulus.simulation.results.diagnostics import energy_error
from articulus.study import read_study
from articulus.study.demo import by_joint, overall, run_demo, tip_rows


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    told: list[str] = []
    found = run_demo(tmp_path_factory.mktemp("demo") / "of" / "it", told.append)
    assert len(told) > 1, "nobody is told what takes so long"
    return found


@pytest.fixture(scope="module")
def rows(made):
    return {name: [float(x) for x in values] for name, *values in by_joint(made.outcome.run)}


def test_its_drives_and_start_are_those_of_the_library(made):
    study = read_study(made.study)
    found = {c.name: c for c in study.components}
    *arm, bucket = actuators()
    damped = dataclasses.replace(bucket, pressure_feedback=BUCKET_FEEDBACK)
    assert [found[joint] for joint in JOINTS] == [*arm, damped]
    np.testing.assert_allclose(study.q0, START, atol=math.radians(5e-4))  # printed to 0.001 deg


def test_all_checks_pass_and_energy_is_accounted_for(made):
    assert made.outcome.ok
    error, moved = energy_error(made.outcome.run)
    assert (
        error < 1e-6 * moved
    )  # RK4 at 214 rad/s and 0.25 ms: (omega h)^4 = 8e-6, over a run that hardly swings


def test_the_bucket_does_not_chatter(made):
    """At rest after the motion nothing of its resonance (34 Hz) is left; undamped it swings by 0.57 deg/s (and 4 peak to peak)."""
    run = made.outcome.run
    last = np.degrees(run.v[run.t > 13.0])
    lines = np.fft.rfft((last - last.mean(axis=0)) * np.hanning(len(last))[:, None], axis=0)
    hertz = np.fft.rfftfreq(len(last), run.t[1] - run.t[0])
    assert 4 / len(last) * np.abs(lines[(hertz > 20) & (hertz < 80)]).max() < 0.05


def test_the_wrist_is_asked_for_what_the_study_says(made):
    run = made.outcome.run
    wanted = run.mechanism.pose("wrist", run["operator.wanted"][[0, -1]])[:, :3, 3]
    radius, angle = np.hypot(wanted[:, 0], wanted[:, 1]), np.arctan2(wanted[:, 1], wanted[:, 0])
    # two ramps of 10 ms add 10 ms of motion to the 5 s
    np.testing.assert_allclose(np.diff(radius), 1.5, atol=0.0031)
    np.testing.assert_allclose(np.degrees(np.diff(angle)), 15.0, atol=0.031)
    np.testing.assert_allclose(np.diff(wanted[:, 2]), 0.0, atol=1e-6)


def test_figures_keep_to_the_laws_of_the_drives(made, rows):
    """Pressures between exhaust and supply, torques and flows below what these allow (Wong 1991, table 5.2)."""
    for k, drive in enumerate(actuators()):
        torque = drive.supply * 0.7 / 8 * drive.gear / 1e3
        flow = 26 * 0.05 * math.sqrt(drive.supply) * 0.0254**3 * 6e4
        assert 0 < rows["peak pressure [MPa]"][k] <= rows["supply pressure [MPa]"][k]
        assert 0 < rows["peak torque [kN m]"][k] < torque
        assert 0 < rows["peak flow [l/min]"][k] < flow
        assert 0 < rows["widest spool [%]"][k] <= 100
        lag = rows["asked for [deg]"][k] - rows["done [deg]"][k]
        assert lag == pytest.approx(rows["error at the end [deg]"][k], abs=0.15)  # three roundings to 0.1
    assert rows["supply pressure [MPa]"][0] == pytest.approx(27.6)  # 4000 psi


def test_figures_tell_radius_and_speed(made):
    texts = dict(overall(made.outcome.run))
    assert texts["radius of the bucket hinge"].startswith(
        "5.00 m to 6.4"
    )  # 6.43 m: Wong 1991, as recomputed in its case
    assert "times real time" in texts["wall-clock time"]


def test_its_folder_holds_study_and_report_with_a_replay(made):
    assert {p.name for p in made.report.parent.iterdir()} == {
        made.report.name,
        made.study.name,
        made.tip_study.name,
    }
    text = made.report.read_text(encoding="utf-8")
    assert "All 3 checks pass" in text
    assert '<iframe class="replay"' in text


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: cannot be made"):
        run_demo(tmp_path / "file", lambda _: None)


def test_the_tip_of_the_light_arm_follows_its_line_and_rigid_torques_leave_vibration(made):
    """The torques are exact to the order of their grid; those for rigid links are off by millimetres (0.5 m in 1.2 s)."""
    found = {name: (float(a), float(b)) for name, a, b in tip_rows(made.tip)}
    assert found["non-causal"][0] < 1e-6
    assert found["rigid"][0] > 5e-3
    assert found["rigid"][1] > 1e-3
    text = made.report.read_text()
    assert "Tip motion" in text
    assert text.count("<iframe") == 2
    assert "&quot;trail&quot;: &quot;tip&quot;" in text or "&quot;trail&quot;:&quot;tip&quot;" in text
    assert made.tip_study.exists()
