"""Units: values, dimensions, refusals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articulus.model.files.units import UNITS, UnitError, convert, parse_quantity, parse_unit


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("20 mm", "m", 0.02),
        ("90 deg", "rad", math.pi / 2),
        ("-3.5e2 g", "kg", -0.35),
        ("1 in", "m", 0.0254),
        ("30 rpm", "rad/s", math.pi),
        ("1 Hz", "rad/s", 2 * math.pi),
        ("5 mm/rev", "m/rad", 0.005 / (2 * math.pi)),
        ("2 kN m", "N m", 2000.0),
        ("2 kNm", "N m", 2000.0),
        ("1 psi", "Pa", 6894.757293168361),
        ("1 lbf", "N", 4.4482216152605),
        ("3 N m s/deg", "N m s/rad", 3 * 180 / math.pi),
        ("4 g cm^2", "kg m^2", 4e-7),
        ("9.81 m/s/s", "m/s^2", 9.81),
        ("9.81 m s^-2", "m/s^2", 9.81),
        ("2 1/s", "s^-1", 2.0),
        (".5*m", "m", None),
    ],
)
def test_value(text: str, unit: str, value: float | None) -> None:
    if value is None:
        with pytest.raises(UnitError):
            convert(text, unit)
    else:
        assert convert(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["20", "mm", "", "1 kgg", "1 m^99", "1 m^", "1e9999 m", "1_0 m", "0x10 m", "1 m)", "nan m"]
)
def test_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_quantity(text)


def test_wrong_dimension_names_both() -> None:
    with pytest.raises(UnitError, match=r"\[kg\], not \[m\]"):
        convert("3 kg", "m")
    with pytest.raises(UnitError, match=r"\[m\], not \[m/rad\]"):
        convert("5 mm", "m/rad")


def test_nearest_unit() -> None:
    with pytest.raises(UnitError, match="did you mean 'rpm'"):
        parse_unit("rpmm")


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_a_refusal(text: str) -> None:
    try:
        value, _ = parse_quantity(text)
    except UnitError:
        return
    assert math.isfinite(value)


@pytest.mark.parametrize("name", sorted(UNITS))
def test_every_unit_divides_itself_away(name: str) -> None:
    assert convert(f"7 {name}/{name}", "-") == 7.0
