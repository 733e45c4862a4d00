"""Servo constraints in studies: the same forces as from Python, there and back, and messages with lines."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.cases.servo_constraints.case import START, arm
from articulus.errors import ModelError
from articulus.model.mechanism import Polynomial, PrescribedPoint
from articulus.simulation.loop.components import ServoConstraints
from articulus.study import parse_study, read_study, run_only

STUDY = """schema = 1

[study]
name = "line"
model = "arm.toml"

[initial]
q = ["60 deg", "-10 deg", "-90 deg"]
v = [{v[0]!r}, {v[1]!r}, {v[2]!r}]

[[component]]
type = "servo_constraints"
program = [{{type = "prescribed_point", name = "way", frame = "tip", x = {{type = "polynomial", coefficients = [1.9088, -1.0]}}, y = 0.9893}}]
joints = ["j2", "j3"]
frequency = 0

[run]
t_end = 0.2
sample = 0.1
"""
PROGRAM = PrescribedPoint("way", "tip", x=Polynomial((1.9088, -1.0)), y=Polynomial((0.9893,)))


@pytest.fixture
def case(tmp_path):
    """Return folder, mechanism without the line, velocities along it and the text of the study."""
    held = arm(0.0)
    d = held.description
    free = art.Mechanism.from_description(
        type(d).build(d.name, d.bodies, d.connections, d.frames, d.gravity, d.source, ())
    )
    free.save(tmp_path / "arm.toml")
    J = free.jacobian("tip", START)[3:5]
    rates = np.insert(np.linalg.solve(J[:, [0, 2]], [-1.0, 0.0]), 1, 0.0)
    return tmp_path, free, rates, STUDY.format(v=rates.tolist())


def test_a_study_gives_the_motion_of_python(case):
    folder, free, rates, text = case
    found = run_only(parse_study(text, "line.toml", folder)).run
    law = ServoConstraints(PROGRAM, ("j2", "j3"), frequency=0.0)
    run = art.simulate(free, 0.2, START, rates, controller=law, sample=0.1)
    assert np.array_equal(found.q, run.q)
    assert np.array_equal(found["tau"], run["tau"])
    assert free.pose("tip", found.q[-1])[0, 3] == pytest.approx(
        1.9088 - 0.2, abs=1e-4
    )  # START is on the line to five digits


def test_a_loop_with_a_program_is_saved_and_read(case):
    folder, free, _, _ = case
    law = ServoConstraints(PROGRAM, ("j2", "j3"))
    art.Loop(free, controller=law).save_study(folder / "again.toml", 0.1, START)
    assert read_study(folder / "again.toml").components == (law,)


def test_a_constraint_of_the_model_is_taken_by_its_name(case):
    folder, _, _, text = case
    arm(0.0).save(folder / "arm.toml")  # with its line
    study = text.replace(text[text.index("program") : text.index("joints")], 'program = "line"\n')
    assert read_component(study, folder).program == arm(0.0).description.constraints


def read_component(text, folder):
    return parse_study(text, "line.toml", folder).components[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('type = "prescribed_point"', 'type = "prescribed_pont"', "did you mean 'prescribed_point'?"),
        ('name = "way", ', "", "no name"),
        ('frame = "tip"', 'frame = "tp"', "tp"),
        ("y = 0.9893", 'y = "1 s"', "program[0].y"),
        ("y = 0.9893", "z = 0.9893, yy = 1", "unknown key 'yy'"),
        ("program = [{", "program = [3, {", "a table, such as"),
        ("program = [", 'program = ["way", ', "no constraint 'way'"),
        ('joints = ["j2", "j3"]', 'joints = ["j2"]', "one motor for each row"),
    ],
)
def test_wrong_programs_are_told_with_their_line(case, old, new, told):
    folder, _, _, text = case
    assert old in text
    with pytest.raises(ModelError) as error:
        parse_study(text.replace(old, new, 1), "line.toml", folder)
    assert told in str(error.value)
    assert "line.toml:1" in str(error.value)
