"""Linear models of studies as files, and what reduction, design and inversion make of them, there and back."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus import cli
from articulus.errors import ModelError, NumericalError
from articulus.study import parse_study, read_study, run_only
from articulus.study.linear import (
    PlantSource,
    read_design,
    read_inversion,
    read_linear_model,
    run_design,
    run_inversion,
    run_reduction,
    write_linear_model,
)
from articulus.study.linear.methods import METHODS, DesignMethod

CART = """schema = 1
name = "cart"
gravity = [0, 0, -9.81]

[body.cart]
mass = 2.0
inertia = [1, 1, 1]

[joint.lift]
type = "prismatic"
axis = [0, 0, 1]
parent = "ground"
child = "cart"
"""
STUDY = """schema = 1

[study]
name = "cart"
model = "cart.model.toml"

[initial]
q = {{lift = {height}}}

[[component]]
type = "torque"
joint = "lift"
name = "motor"
{more}
[run]
t_end = "{end} s"
step = "1 ms"
sample = "10 ms"
"""
DESIGN = """schema = 1

[design]
name = "lift"
model = "cart.toml"
trim = true
method = "lqr"

[arguments]
Q = {q = 100, v.lift = 1}
R = {"u.motor" = 0.01}
"""
PATH = """schema = 1

[inversion]
name = "up"
model = "cart.toml"
trim = true
outputs = ["q.lift"]
path = {type = "line", start = [0], end = ["20 cm"], duration = "1 s", order = 3}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cart.model.toml").write_text(CART)
    (tmp_path / "cart.toml").write_text(STUDY.format(height=0.5, more="", end=0.01))
    return tmp_path


def closed(folder, component, height, end):
    text = STUDY.format(height=height, more=component, end=end)
    return run_only(parse_study(text, "closed.toml", folder)).run


def test_a_file_gives_the_same_numbers(folder):
    found = PlantSource("cart.toml", folder, trim=True).load()
    assert found.inputs == pytest.approx([2.0 * 9.81])  # what holds the weight
    for ending in ("toml", "json"):
        write_linear_model(found, folder / f"m.{ending}")
        again = read_linear_model(folder / f"m.{ending}")
        for name in "ABCD":
            assert np.array_equal(getattr(again.model, name), getattr(found.model, name))
        assert (again.model.states, again.model.outputs) == (found.model.states, found.model.outputs)
        assert np.array_equal(again.outputs, found.outputs)
        assert np.array_equal(again.q, found.q)
        part = PlantSource(f"m.{ending}", folder, outputs=("v",)).load()
        assert part.model.outputs == ("v.lift",)
        assert part.inputs == found.inputs


@pytest.mark.parametrize("kind", ["toml", "json"])
def test_a_designed_controller_holds_the_cart_about_its_operating_point(folder, kind):
    outcome = run_design(read_design_text(folder, DESIGN), folder, format=kind, report=kind == "toml")
    assert outcome.ok
    # double integrator of mass m: k = [sqrt(q/r), sqrt(v/r + 2 m sqrt(q/r))]
    gain = outcome.found.gain[0]
    k = np.sqrt(100 / 0.01)
    assert gain == pytest.approx([k, np.sqrt(1 / 0.01 + 2 * 2.0 * k)], rel=1e-9)
    run = closed(folder, f'[[component]]\nfile = "lift.controller.{kind}"\n', 0.6, 6)
    assert abs(run.q[-1, 0] - 0.5) < 1e-6  # back where it was designed for, with the weight carried
    if kind == "toml":
        page = (folder / "lift.controller.html").read_text()
        assert "could not be written" not in page
        assert all(word in page for word in ("Gains, sign included", "peak of S", "u.motor", "v.lift"))


def test_keys_of_the_study_stand_in_for_those_of_the_file(folder):
    run_design(read_design_text(folder, DESIGN), folder, report=False)
    run = closed(folder, '[[component]]\nfile = "lift.controller.toml"\ny0 = [0.7, 0.0]\n', 0.5, 6)
    assert abs(run.q[-1, 0] - 0.7) < 1e-6


def test_inputs_of_an_inversion_move_the_cart_from_its_operating_point(folder):
    (folder / "path.toml").write_text(PATH)
    outcome = run_inversion(read_inversion(folder / "path.toml"), folder)
    assert outcome.ok
    assert "could not be written" not in (folder / "up.inversion.html").read_text()
    run = closed(folder, '[[component]]\nfile = "up.u.motor.toml"\n', 0.5, 1)
    found = outcome.found
    s = np.clip((run.t + found.t[0]) / 1.0, 0, 1)
    smooth = 0.5 + 0.2 * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
    assert np.abs(run.q[:, 0] - smooth).max() < 1e-6


def test_reduction_keeps_names_point_and_bound(folder):
    source = PlantSource(
        "bayo_link", options={"modes": 4, "damping": 0.01}, inputs=("tau",), outputs=("q.hinge",)
    )
    outcome = run_reduction(source, folder, order=6)
    assert "could not be written" not in (folder / "bayo_link.reduced.html").read_text()
    found = read_linear_model(folder / "bayo_link.reduced.toml").model
    assert (len(found.A), found.inputs, found.outputs) == (6, ("tau.hinge",), ("q.hinge",))
    assert outcome.found.error.value <= outcome.found.bound * (1 + 1e-6)
    whole = source.load().model
    w = np.geomspace(1, 1e3, 200)
    off = np.abs(whole.response(w) - found.response(w)).max()
    assert off <= outcome.found.bound * (1 + 1e-6)


def test_a_model_along_a_study_is_that_of_its_run(folder):
    text = STUDY.format(height=0.5, more="", end=0.1).replace("[run]", "[outputs]\nsignals = []\n\n[run]")
    (folder / "fall.toml").write_text(text)
    found = PlantSource("fall.toml", folder, at=0.1, outputs=("q", "v", "momentum.linear z")).load()
    run = run_only(read_study(folder / "fall.toml")).run
    assert found.outputs[:2] == pytest.approx([run.q[-1, 0], -9.81 * 0.1])
    assert found.outputs[2] == pytest.approx(-2.0 * 9.81 * 0.1)  # a signal that the study does not keep


def test_methods_over_frequency_and_by_poles(folder):
    text = DESIGN[: DESIGN.index("[arguments]")]
    for method, arguments in {
        "place": "poles = [[-3, 4]]",
        "mixsyn": "W1 = {num = [0.5, 2.0], den = [1, 0.02]}\nW2 = 0.01\nmeasured = 'q.lift'\ncommands = 'u'",
    }.items():
        whole = text.replace('"lqr"', f'"{method}"').replace(
            "trim = true", "trim = true\noutputs = ['q', 'v']"
        )
        outcome = run_design(
            read_design_text(folder, f"{whole}[arguments]\n{arguments}\n"), folder, report=False
        )
        assert outcome.ok or method == "mixsyn", outcome.failure
        if method == "place":
            values = outcome.found.poles
            assert sorted(values.imag) == pytest.approx([-4, 4])


def test_commands_write_their_files(folder, capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main([str(x) for x in arguments])
        return end.value.code, capsys.readouterr()

    study = folder / "cart.toml"
    code, said = run(
        "linearize", study, "--signal", "q", "--trim", "--output", folder, "--no-report", "--json"
    )
    assert code == 0
    assert read_linear_model(folder / "cart.linear.json").model.outputs == ("q.lift",)
    assert "cart.linear.json" in said.out
    (folder / "d.toml").write_text(DESIGN)
    assert run("design-controller", folder / "d.toml", "--no-report")[0] == 0
    assert (folder / "lift.controller.toml").exists()
    code, said = run("linearize", study, "--at", 5, "--output", folder)
    assert code == 2
    assert "from 0 to 0.01 s" in said.err
    code, said = run("reduce", folder / "cart.linear.json", "--order", 7, "--output", folder)
    assert code == 2
    assert "expected 2 to 2" in said.err


def read_design_text(folder, text):
    (folder / "design.toml").write_text(text)
    return read_design(folder / "design.toml")


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ('method = "lqr"', 'method = "lqrr"', 7, "did you mean 'lqr'?"),
        ("R = ", "S = ", 9, "no R"),
        ("v.lift = 1", "v.lft = 1", 10, "nothing named 'v.lft'"),
        ("{q = 100, v.lift = 1}", '"much"', 10, "a finite number, a list of numbers or a matrix"),
        ("trim = true", "trim = 1", 6, "true or false"),
        ("cart.toml", "cart.tom", 5, "cart.tom"),
        ('"u.motor" = 0.01', '"u.motor" = nan', 11, "a finite number"),
        ("trim = true", 'trim = true\nperiod = "-1 s"', 7, "above 0"),
    ],
)
def test_a_wrong_design_names_its_line(folder, old, new, line, told):
    with pytest.raises(ModelError) as error:
        read_design_text(folder, DESIGN.replace(old, new, 1))
    assert f"design.toml:{line}" in str(error.value)
    assert told in str(error.value)


def test_a_design_whose_loop_fails_leaves_a_report_and_no_controller(folder, monkeypatch):
    task = read_design_text(folder, DESIGN)
    assert run_design(task, folder, report=False).ok

    def failing(plant, **arguments):
        raise NumericalError("lqr: its closed loop fails", result=art.control.lqr(plant, **arguments))

    monkeypatch.setitem(METHODS, "lqr", DesignMethod(failing, METHODS["lqr"].required, {}))
    outcome = run_design(task, folder)
    assert not outcome.ok
    assert not (folder / "lift.controller.toml").exists()
    assert "its closed loop fails" in (folder / "lift.controller.html").read_text()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: t.replace("schema = 1", "schema = 2"), "schema"),
        (lambda t: t.replace('states = ["q.lift", "v.lift"]', 'states = ["q.lift"]'), "A"),
        (lambda t: t.replace("t = 0.0", "t = nan"), "a time"),
        (lambda t: t.replace("t = 0.0", "period = 0"), "above zero"),
        (lambda t: t.replace("A = [", "A = [[1], "), "a matrix of 2 x 2"),
        (lambda t: t.replace("[operating_point]", "[operating_pint]"), ""),
        (lambda t: t[: t.index("B = ")], "linear_model.B"),
        (lambda t: "nonsense", "syntax error"),
    ],
)
def test_a_damaged_linear_model_is_refused(folder, change, told):
    write_linear_model(PlantSource("cart.toml", folder, trim=True).load(), folder / "m.toml")
    text = change((folder / "m.toml").read_text())
    (folder / "m.toml").write_text(text)
    if "operating_pint" in text:
        assert not read_linear_model(folder / "m.toml").inputs.any()
        return
    with pytest.raises(ModelError, match=told):
        read_linear_model(folder / "m.toml")


@pytest.mark.parametrize(
    "held", ["[1, 2]", "{", '{"type": "linear_controller", "file": "c.json"}', '{"typo": 1}']
)
def test_a_wrong_component_file_is_told_with_the_line_of_the_study(folder, held):
    (folder / "c.json").write_text(held)
    text = STUDY.format(height=0.5, more='[[component]]\nfile = "c.json"\n', end=1)
    with pytest.raises(ModelError, match=r"study.toml:1\d: component\[1\]"):
        parse_study(text, "study.toml", folder)


def test_a_missing_component_file_is_told(folder):
    text = STUDY.format(height=0.5, more='[[component]]\nfile = "none.toml"\n', end=1)
    with pytest.raises(ModelError, match="no such file"):
        parse_study(text, "study.toml", folder)


def test_states_that_no_signal_shows_are_doubted(folder):
    plant = PlantSource("bayo_link", options={"modes": 2, "damping": 0.01}, outputs=("q.hinge",)).load()
    reduced = art.control.balred(plant.model, 4)
    write_linear_model(dataclasses.replace(plant, model=reduced.model), folder / "small.toml")
    text = DESIGN.replace("cart.toml", "small.toml").replace("trim = true\n", "")
    text = text.replace("{q = 100, v.lift = 1}", "1").replace('{"u.motor" = 0.01}', "1")
    outcome = run_design(read_design_text(folder, text), folder, report=False)
    assert any("not signals of a loop" in note for note in outcome.notes)


def test_the_page_names_every_method_and_key_and_its_tasks_are_read(folder):
    page = (Path(__file__).resolve().parents[2] / "docs" / "control" / "command_line.md").read_text()
    for name, method in METHODS.items():
        row = next(
            line for line in page.splitlines() if line.startswith("| `") and f"`{name}`" in line.split("|")[1]
        )
        assert [key for key in method.kinds if f"`{key}`" not in row] == [], name
    blocks = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    sensor = '[[component]]\ntype = "joint_sensor"\nname = "encoder"\njoints = ["lift"]\n'
    (folder / "cart.toml").write_text(STUDY.format(height=0.5, more=sensor, end=0.01))
    assert run_design(read_design_text(folder, blocks[0]), folder, report=False).ok
    (folder / "path.toml").write_text(blocks[2])
    assert run_inversion(read_inversion(folder / "path.toml"), folder, report=False).ok


def test_generalized_lqg_from_a_file_is_that_of_python(folder):
    """A plant with disturbances and errors of its own as a linear model; a sector and an Hinf bound as plain keys."""
    found = PlantSource("cart.toml", folder, trim=True).load()
    D = np.zeros((4, 4))
    D[2, 3] = D[3, 2] = 1.0
    plant = dataclasses.replace(
        found.model,
        A=np.array([[0.0, 1.0], [-1.0, -0.1]]),
        B=np.array([[1.0, 0, 0, 0], [0, 1, 0, 1]]),
        C=np.array([[1.0, 0], [0, 1], [0, 0], [1, 0]]),
        D=D,
        inputs=("push", "shake", "noise", "u"),
        outputs=("place", "speed", "effort", "y"),
        states=("x", "v"),
        input_units=("",) * 4,
        output_units=("",) * 4,
    )
    write_linear_model(
        dataclasses.replace(found, model=plant, inputs=np.zeros(4), outputs=np.zeros(4)),
        folder / "plant.toml",
    )
    text = """schema = 1
[design]
name = "wide"
model = "plant.toml"
method = "glqg"
[arguments]
commands = "u"
measured = "y"
order = 2
gamma = 4.0
sector = [0.7, 1.5]
"""
    outcome = run_design(read_design_text(folder, text), folder, report=False)
    assert outcome.ok, outcome.failure
    own = art.control.synthesis.glqg(plant, 2, commands="u", measured="y", gamma=4.0, sector=(0.7, 1.5))
    assert outcome.found.bound == pytest.approx(own.bound, rel=1e-12)
