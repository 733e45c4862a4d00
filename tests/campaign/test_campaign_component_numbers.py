"""Numbers of components and events that vary: found by name, read in the unit of their field, refused with the nearest name."""

import functools
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, ModelError
from articulus.study.campaign.design import Campaign

ARM = """
schema = 1
[study]
name = "arm"
model = "two_link"
[[component]]
type = "pd"
name = "servo"
kp = ["900 N m/rad", "700 N m/rad"]
kd = "40 N m s/rad"
period = "2 ms"
[[event]]
type = "crossing"
name = "latch"
signal = "t"
level = "50 ms"
stop = true
[run]
t_end = "0.1 s"
step = "1 ms"
[campaign]
runs = 4
figures = {turn = "q.joint1"}
"""
DRIVE = """
schema = 1
[study]
name = "drive"
model = "pendulum_chain"
options = {n = 1}
[[component]]
type = "hydraulic_rotary"
name = "drive"
joint = "hinge1"
supply = SUPPLY
gear = 10
damping = 5
[[component]]
type = "joint_rate"
command = 0.5
kp = 100
kd = 1
period = "1 ms"
[run]
t_end = "20 ms"
step = "0.1 ms"
[campaign]
runs = 2
sampler = "grid"
figures = {turn = "q.hinge1"}
"""


def _read(name: str, given: object, text: str = ARM) -> Campaign:
    return Campaign.read(text, vary={name: given})


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("servo.kdd", "servo.kd"),
        ("serv.kd", "servo.kd"),
        ("servo.kpp[0]", "servo.kp[0]"),
        ("latch.levle", "latch.level"),
    ],
)
def test_the_nearest_number_of_a_component_is_named(name: str, nearest: str) -> None:
    with pytest.raises(
        InputError, match=rf"no parameter.*did you mean '{nearest.replace('[', '.').replace(']', '.')}'"
    ):
        _read(name, {"uniform": [1, 2]})


@pytest.mark.parametrize(
    ("name", "wrong", "unit"),
    [
        ("servo.kd", "5 m", "kg m"),
        ("servo.kp[1]", "5 kg", "kg m"),
        ("latch.level", "20 deg", "s"),
        ("seed", "7 m", ""),
    ],
)
@pytest.mark.parametrize("form", ["uniform", "values", "lognormal"])
def test_a_wrong_unit_is_refused(name: str, wrong: str, unit: str, form: str) -> None:
    given = {"uniform": [wrong, wrong], "values": [wrong], "lognormal": [wrong, 0.1]}[form]
    with pytest.raises(ModelError, match=r"measures \[.*\], not \["):
        _read(name, {form: given})


def test_numbers_with_units_are_those_without() -> None:
    plain = _read("servo.kd", [40.0, 50.0]).inputs(0, 4)["servo.kd"]
    given = _read("servo.kd", ["40 N m s/rad", "0.05 kN m s/rad"]).inputs(0, 4)["servo.kd"]
    assert np.allclose(plain, given, rtol=1e-15, atol=0)
    times = art.campaign.run(ARM, vary={"latch.level": ["20 ms", "0.03 s"]}, sampler="grid").table.end_times
    assert np.allclose(times, [0.02, 0.03, 0.02, 0.03], rtol=0, atol=1e-9)  # where the event is found


@pytest.mark.parametrize("written", ["2000", '"2000 psi"', '"13.789514586336722 MPa"'])
@pytest.mark.parametrize(
    "given", [[2000, 3000], ["2000 psi", "3000 psi"], ["2000 psi", "20.684271879505083 MPa"]]
)
def test_a_field_that_is_not_in_si_units_takes_numbers_in_its_own(written: str, given: list) -> None:  # type: ignore[type-arg]
    """A pound-force per square inch is 4.4482216152605 N / (25.4 mm)^2 = 6894.757293168361 Pa."""
    result = art.campaign.run(DRIVE.replace("SUPPLY", written), vary={"drive.supply": given})
    alone = [
        art.campaign.run(DRIVE.replace("SUPPLY", str(x)), runs=1, vary={"q.hinge1": [0.0]}).table.figures[
            "turn"
        ][0]
        for x in (2000, 3000)
    ]
    assert np.allclose(result.table.inputs["drive.supply"], [2000, 3000], rtol=1e-14, atol=0)
    assert abs(alone[0] - alone[1]) > 1e-6  # the supply matters
    assert np.allclose(result.table.figures["turn"], alone, rtol=1e-9, atol=0)  # conversion of units rounds


def test_columns_of_a_table_are_read_in_the_unit_of_what_they_are_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("turn [deg],supply [psi],plain,weight\n90,2000,2000,1\n180,3000,3000,1\n")
    read = functools.partial(Campaign.read, DRIVE.replace("SUPPLY", "2000"), folder=tmp_path)
    for column in ("supply", "plain"):
        vary = {"drive.supply": {"table": "t.csv", "column": column, "weights": "weight"}}
        assert np.allclose(read(vary=vary).inputs(0, 2)["drive.supply"], [2000, 3000], rtol=1e-14, atol=0)
    group = {"names": ["q.hinge1", "drive.supply"], "table": "t.csv", "columns": ["turn", "supply"]}
    found = read(group=[group]).inputs(0, 2)
    assert np.allclose(found["q.hinge1"], [np.pi / 2, np.pi], rtol=1e-15, atol=0)
    assert np.allclose(found["drive.supply"], [2000, 3000], rtol=1e-14, atol=0)
    with pytest.raises(ModelError, match=r"'1 psi' measures .*, not \[rad\]"):
        read(vary={"q.hinge1": {"table": "t.csv", "column": "supply"}})
    with pytest.raises(ModelError, match=r"'1 deg' measures"):
        read(group=[group | {"names": ["drive.supply", "q.hinge1"]}])
    with pytest.raises(ModelError, match=r"expected 2 names of columns"):
        read(group=[group | {"columns": ["turn"]}])


def test_a_name_that_two_components_have_is_refused() -> None:
    two = ARM.replace("[[event]]", '[[component]]\ntype = "torque"\njoint = "joint1"\nlimit = 5\n[[event]]')
    two = two.replace("[[event]]", '[[component]]\ntype = "torque"\njoint = "joint2"\nlimit = 5\n[[event]]')
    with pytest.raises(InputError, match=r"found 2 components or events 'torque'; expected one"):
        _read("torque.limit", {"uniform": [4, 6]}, two)
