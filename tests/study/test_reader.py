"""Good studies become what they say; every mistake in a bad one is told with its line."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from articulus.declared import fields_of
from articulus.errors import ModelError
from articulus.simulation.loop.components import (
    HydraulicRotary,
    Measured,
    RateGyro,
    Saturation,
    StateFeedback,
    Torque,
)
from articulus.simulation.loop.events import Bounce, Crossing
from articulus.study import parse_study
from articulus.study.campaign.design import Campaign
from articulus.study.fields import TYPES

from .support import BASE, changed, line_of


def findings(text: str, folder: Path = Path()) -> list[str]:
    with pytest.raises(ModelError) as caught:
        parse_study(text, "arm.toml", folder)
    return [str(f) for f in caught.value.findings]


def test_numbers_and_units_arrive() -> None:
    study = parse_study(BASE)
    assert study.q0 == pytest.approx([np.pi / 6, -0.2], rel=1e-15)
    assert study.v0 == pytest.approx([0, np.pi / 18], rel=1e-15)
    servo = study.components[0]
    assert servo.kp == (300.0,)  # type: ignore[attr-defined]
    assert servo.kd == (60.0, 60.0)  # type: ignore[attr-defined]
    assert servo.target.times == (0.0, 0.5)  # type: ignore[attr-defined]
    assert study.settings.sample == 0.01
    assert set(study.settings.outputs) == {"gyro.rate", "energy", "momentum"}


MACHINE = """schema = 1
[study]
name = "digger"
model = "cat215b"
[[component]]
type = "measured"
sensor = {type = "rate_gyro", frame = "boom", name = "gyro"}
noise = "0.5 deg/s"
period = "10 ms"
[[component]]
type = "state_feedback"
K = [[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]]
[[component]]
type = "saturation"
actuator = {type = "hydraulic_rotary", joint = "swing", supply = "27.579029172673444 MPa", gear = 307, damping = 1e5}
lower = -1
upper = 1
[[component]]
type = "saturation"
actuator = "boom"
lower = "-2 kN"
upper = "2 kN"
[run]
t_end = 1
step = 0.01
"""


BETWEEN = """schema = 1
[study]
name = "between"
model = "cat215b"
[[component]]
type = "spring_damper"
first = "cab"
second = "boom"
forces = [["900 mm", "-2 kN"], [1.0, 0], [1.2, "3 kN"]]
[[component]]
type = "cable"
frames = ["cab", "stick", "bucket_tip"]
tension = "2 kN"
[[component]]
type = "bushing"
first = "cab"
second = "boom"
stiffness = [1, 1, "1 kN m/rad", "2 kN/m", 1, 1]
[run]
t_end = 1
step = 0.01
"""


def test_rows_of_numbers_with_a_unit_for_each_column() -> None:
    spring, cable, bushing = parse_study(BETWEEN).components
    assert np.array(spring.forces) == pytest.approx(np.array([[0.9, -2000], [1, 0], [1.2, 3000]]))
    assert (cable.frames, cable.tension) == (("cab", "stick", "bucket_tip"), 2000.0)
    assert np.diag(bushing.stiffness) == pytest.approx([1, 1, 1000, 2000, 1, 1])
    wrong = findings(BETWEEN.replace('"-2 kN"', '"-2 mm"'))
    assert "component[0].forces[0][1]" in wrong[0]


def test_nested_components_and_units_other_than_si() -> None:
    gyro, feedback, swing, boom = parse_study(MACHINE).components
    assert isinstance(gyro, Measured)
    assert isinstance(gyro.sensor, RateGyro)
    assert gyro.noise == pytest.approx((np.radians(0.5),), rel=1e-15)
    assert isinstance(feedback, StateFeedback)
    assert np.shape(feedback.K) == (2, 8)
    assert isinstance(swing, Saturation)
    assert isinstance(swing.actuator, HydraulicRotary)
    assert swing.actuator.supply == pytest.approx(4000.0, rel=1e-12)  # 1 psi = 6894.757293168 Pa
    assert isinstance(boom, Saturation)
    assert isinstance(boom.actuator, Torque)
    assert boom.upper == 2000.0


def test_table_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "course.csv").write_text("t [ms],second [deg],first [deg]\n0,0,10\n500,90,20\n")
    inline = '{times = [0.0, 0.5], values = [[0.0, 0.0], ["5 deg", 0.0]]}'
    study = parse_study(
        changed((inline, '{csv = "course.csv", columns = ["first", "second"]}')), folder=tmp_path
    )
    table = study.components[0].target  # type: ignore[attr-defined]
    assert table.times == pytest.approx((0.0, 0.5))
    assert np.degrees(table.values) == pytest.approx(np.array([[10, 0], [20, 90]]))


def test_function_of_time() -> None:
    inline = '{times = [0.0, 0.5], values = [[0.0, 0.0], ["5 deg", 0.0]]}'
    wave = '[{type = "harmonic", amplitude = "10 deg", frequency = "2 Hz"}, "3 deg"]'
    target = parse_study(changed((inline, wave))).components[0].target  # type: ignore[attr-defined]
    assert np.array(ca.DM(target.at(ca.SX(0.125)))).ravel() == pytest.approx(np.radians([10.0, 3.0]))


SWEEP = """
[parameters]
stiffness = 10
[sweep]
runs = 2
seed = 5
[sweep.values]
stiffness = {from = 100, to = 300, count = 3}
"q.joint1" = {normal = ["10 deg", "1 deg"]}
"v.joint2" = [0, "1 rad/s"]
"""
GRID = SWEEP.replace("[sweep]\nruns = 2", '[campaign]\nsampler = "grid"\nruns = 12').replace(
    "[sweep.values]", "[campaign.vary]"
)


def test_a_sweep_is_refused_with_what_to_write_instead() -> None:
    """What the message says is what GRID does, and that is every combination with fresh random numbers."""
    text = changed(("kp = 300", 'kp = {parameter = "stiffness"}'))
    found = findings(text + SWEEP)
    assert len(found) == 1
    for part in ("sweep: found the table [sweep]", "[campaign]", '"grid"', "[campaign.vary]"):
        assert part in found[0]
    drawn = Campaign.read(text + GRID).inputs(0, 12)
    pairs = {(k, v) for k, v in zip(drawn["stiffness"], drawn["v.joint2"])}
    assert pairs == {(k, v) for k in (100.0, 200.0, 300.0) for v in (0.0, 1.0)}
    turned = drawn["q.joint1"]
    assert len(set(turned)) == 12
    assert abs(turned.mean() - np.radians(10)) < 5 * np.radians(1) / np.sqrt(12)  # five standard errors
    again = Campaign.read(text + GRID).inputs(0, 12)["q.joint1"]
    other = Campaign.read(text + GRID.replace("seed = 5", "seed = 6")).inputs(0, 12)["q.joint1"]
    assert np.array_equal(again, turned)
    assert not np.array_equal(other, turned)


MISTAKES = {
    "component type": ('type = "pd"', 'type = "pdd"', "component[0].type", "did you mean 'pd'?"),
    "type with code": ('type = "pd"', 'type = "expression"', "component[0].type", "from Python"),
    "component key": ("kp = 300", "kpp = 300", "component[0].kpp", "did you mean 'kp'?"),
    "missing key": ("kp = 300\n", "", "component[0]", "kp [N m/rad or N/m]"),
    "unit kind": ("kp = 300", 'kp = "300 N/m"', "component[0].kp", "'300 N/m' measures"),
    "unit name": ("kp = 300", 'kp = "300 Nmm/rad"', "component[0].kp", "there is no unit"),
    "unit in a list": ('"60 N m s/rad"', '"60 N m"', "component[0].kd[0]", "'60 N m' measures"),
    "count of numbers": ("kp = 300", "kp = [300, 300, 300]", "component[0].kp", "found 3 numbers; expected 1 or 2"),
    "text for a number": ("kp = 300", "kp = true", "component[0].kp", "found True"),
    "table key": ("times = [0.0, 0.5]", "tims = [0.0, 0.5]", "component[0].target.tims", "did you mean 'times'?"),
    "table order": ("times = [0.0, 0.5]", "times = [0.5, 0.5]", "component[0].target.times", "ascending"),
    "frame": ('frame = "link2"', 'frame = "link3"', "component[1].frame", "did you mean 'link2'?"),
    "same name": ('name = "gyro"', 'name = "servo"', "component[1]", "a second time"),
    "joint of the state": ("joint1 = \"30 deg\"", 'joint3 = "30 deg"', "initial.q.joint3", "did you mean 'joint"),
    "unit of the state": ('"30 deg"', '"30 mm"', "initial.q.joint1", "measures [m], not [rad]"),
    "method": ('step = "1 ms"', 'step = "1 ms"\nmethod = "rk44"', "run.method", "did you mean 'rk4'?"),
    "steps": ('t_end = "0.5 s"', 't_end = "0.5004 s"', "run.t_end", "500.4 steps"),
    "samples": ('sample = "10 ms"', 'sample = "1.5 ms"', "run.sample", "a whole number of steps"),
    "endless steps": ('step = "1 ms"', "step = 1e-320", "run.t_end", "inf steps"),
    "interval": ('step = "1 ms"', 'step = "1 ms"\ncheckpoint_interval = -5', "run.checkpoint_interval", "not below 0"),
    "seed": ('step = "1 ms"', 'step = "1 ms"\nseed = 1.5', "run.seed", "a whole number"),
    "no end": ('t_end = "0.5 s"\n', "", "run", "t_end [s]"),
    "signal": ('signals = ["gyro.rate"]', 'signals = ["gyro.rat"]', "outputs.signals[0]", "did you mean 'gyro.rate'?"),
    "plot": ('["q.joint1", "q.joint2"]', '["q.joint1", "q.jint2"]', "outputs.plots[0][1]", "did you mean 'q.joint2'?"),
    "figure": ('figure = "energy balance"', 'figure = "energy balanc"', "check[0].figure", "did you mean 'energy balance'?"),
    "figure of loops": ('figure = "energy balance"', 'figure = "constraint residual"', "check[0].figure", "no constraints"),
    "unit of a check": ('less = "0.001 J"', 'less = "0.001 N"', "check[0].less", "measures"),
    "two bounds": ('less = "0.001 J"', "less = 1\ngreater = 0", "check[0]", "one of equals, less and greater"),
    "section": ("[run]", "[rnu]", "rnu", "did you mean 'run'?"),
    "brackets": ("[[check]]", "[check]", "check", "Write [[check]]"),
    "library model": ('model = "two_link"', 'model = "two_lnk"', "study.model", "did you mean 'two_link'?"),
    "model file": ('model = "two_link"', 'model = "two_link.toml"', "study.model", "no file 'two_link.toml'"),
    "file name": ('name = "arm"', 'name = "../arm"', "study.name", "letters, digits"),
    "schema": ("schema = 1", "schema = 2", "schema", "schema = 1"),
    "csv file": ("{times = [0.0, 0.5], values = [[0.0, 0.0], [\"5 deg\", 0.0]]}", '{csv = "no.csv"}', "component[0].target.csv", "no such file"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_told_with_its_line(mistake: str) -> None:
    old, new, path, told = MISTAKES[mistake]
    text = changed((old, new))
    found = [f for f in findings(text) if f": {path}: " in f]
    assert found, findings(text)
    assert any(told in f for f in found), found
    line = int(found[0].split(":")[1])
    context = text.splitlines()[line - 1]
    word = path.rpartition(".")[2].partition("[")[0]
    assert word in context, (line, context)


EXTRA = {
    "event type": ('type = "crosing"\nsignal = "t"', "event[0].type", "did you mean 'crossing'?"),
    "event signal": ('type = "crossing"\nsignal = "q.joint9"', "event[0].signal", "did you mean 'q.joint"),
    "event level": (
        'type = "crossing"\nsignal = "q.joint1"\nlevel = "3 m"',
        "event[0].level",
        "measures [m]",
    ),
    "event direction": (
        'type = "crossing"\nsignal = "t"\ndirection = "up"',
        "event[0].direction",
        '"rising"',
    ),
    "event stop": ('type = "crossing"\nsignal = "t"\nstop = 1', "event[0].stop", "true or false"),
    "event without its number": ('type = "bounce"\njoint = "joint1"', "event[0]", "at [rad], the position"),
    "event side": ('type = "bounce"\njoint = "joint1"\nat = 0\nside = "top"', "event[0].side", '"upper"'),
    "event key": ('type = "bounce"\njoint = "joint1"\nat = 0\nstop = true', "event[0].stop", "unknown key"),
    "event joint": ('type = "bounce"\njoint = "joint3"\nat = 0.1', "event[0].joint", "did you mean"),
    "event restitution": (
        'type = "bounce"\njoint = "joint1"\nat = 1\nrestitution = 2',
        "event[0]",
        "expected 0 to 1",
    ),
    "event constraint": (
        'type = "switch"\nsignal = "t"\nconstraint = "x"',
        "event[0].constraint",
        "there are none",
    ),
}


@pytest.mark.parametrize("mistake", EXTRA)
def test_mistakes_of_events(mistake: str) -> None:
    body, path, told = EXTRA[mistake]
    text = f"{BASE}\n[[event]]\n{body}\n"
    assert any(f": {path}" in f and told in f for f in findings(text)), findings(text)


EVENTS = """
[[event]]
type = "crossing"
name = "half"
signal = "q.joint1"
level = "90 deg"
direction = "falling"
stop = true
[[event]]
type = "bounce"
joint = "joint2"
at = "-60 deg"
side = "lower"
restitution = 0.5
"""


def test_events_hold_what_their_tables_say() -> None:
    half, stop = parse_study(BASE + EVENTS).settings.events
    assert isinstance(half, Crossing)
    assert (half.name, half.direction, half.stop, half.function) == ("half", -1, True, "q.joint1")
    assert half.level == pytest.approx(np.pi / 2, rel=1e-15)
    assert stop == Bounce("joint2", pytest.approx(-np.pi / 3, rel=1e-15), -1, 0.5, name="bounce 1")


def test_all_mistakes_at_once_in_the_order_of_their_lines() -> None:
    text = changed(
        ('"30 deg"', '"30 mm"'),
        ("kp = 300", 'kp = "1 kg"'),
        ('frame = "link2"', 'frme = "link2"'),
        ('t_end = "0.5 s"', 't_end = "half"'),
        ("less =", "les ="),
    )
    found = findings(text)
    lines = [int(f.split(":")[1]) for f in found]
    assert lines == sorted(lines)
    for part in ('"30 mm"', '"1 kg"', "frme", '"half"', "les ="):
        assert line_of(text, part) in lines


def test_two_components_that_do_not_fit_are_both_told() -> None:
    text = changed(('frame = "link2"', 'frame = "lnk2"'), ("kp = 300", "kp = [1, 2, 3]"))
    found = findings(text)
    assert len(found) == 2
    assert all("component[" in f for f in found)


def test_what_follows_from_a_wrong_component_is_not_told() -> None:
    text = changed(
        ("kp = 300", 'measured = ["gyro.rate", "gyro.rate"]\nkp = 300'), ('frame = "link2"', 'frame = "lnk2"')
    )
    assert len(findings(text)) == 1


def test_what_is_wrong_inside_a_nested_component_has_its_line() -> None:
    nested = 'type = "measured"\nname = "gyro"\n[component.sensor]\ntype = "rate_gyro"\nframe = "lnk2"\n'
    text = changed(('type = "rate_gyro"\nname = "gyro"\nframe = "link2"\n', nested))
    (found,) = findings(text)
    assert found.startswith(
        f"arm.toml:{line_of(text, 'lnk2')}: component[1].sensor.frame: found no body or frame"
    )
    assert found.endswith("did you mean 'link2'?")


def test_unused_and_unknown_parameters() -> None:
    found = findings(BASE + "[parameters]\nstiffnes = 3\n")
    assert any("parameters.stiffnes" in f and "nothing uses" in f for f in found)


@pytest.mark.parametrize(
    ("content", "told"), [("t,a\n0,1\n1,x\n", "data.csv:3"), ("", "no numbers"), ("0,1\n1\n", "1 columns")]
)
def test_bad_csv_is_told_with_its_line(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "data.csv").write_text(content)
    inline = '{times = [0.0, 0.5], values = [[0.0, 0.0], ["5 deg", 0.0]]}'
    found = findings(changed((inline, '{csv = "data.csv"}')), tmp_path)
    assert len(found) == 1
    assert "component[0].target.csv" in found[0]
    assert told in found[0]


def test_syntax_error_has_its_line() -> None:
    assert findings(changed(("kp = 300", "kp = = 300")))[0].startswith("arm.toml:15: found a syntax error")


def test_mistakes_of_the_model_file_are_told_with_their_own_lines(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('schema = 1\nname = "bad"\n[body.a]\nmas = 1\n')
    found = findings(changed(('model = "two_link"', 'model = "bad.toml"')), tmp_path)
    assert any(f.startswith("bad.toml:4: body.a.mas") for f in found)


def test_every_component_without_code_can_be_written() -> None:
    kinds = {f.kind for cls in TYPES.values() for f in fields_of(cls)}
    assert kinds <= {
        "number",
        "vector",
        "integer",
        "flag",
        "text",
        "names",
        "component",
        "record",
        "model",
        "shape",
        "constraint",
    }
    assert len(TYPES) >= 27
