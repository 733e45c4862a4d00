"""The pages say what the code does: every field, every joint type, every unit; the example is read."""

import re
from pathlib import Path

import pytest

from articulus.errors import InputError, ModelError
from articulus.files import parse_toml, toml_text
from articulus.files.report import Report
from articulus.files.toml_tables import TABLES, field_table, joint_table, unit_table
from articulus.mechanism import GROUND, Body, Connection, Description, Free
from articulus.mechanism.numbers import as_vector

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "toml.md").read_text()


@pytest.mark.parametrize("kind", TABLES)
def test_fields(kind: str) -> None:
    assert field_table(TABLES[kind]) in PAGE


def test_joint_types_and_units() -> None:
    assert joint_table() in PAGE
    assert unit_table() in PAGE


def test_example() -> None:
    example = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert example is not None
    crane = parse_toml(example[1], "crane.toml")
    assert crane.nv == 5
    assert parse_toml(toml_text(crane)) == crane


def test_reader_of_the_extending_page() -> None:
    code = re.search(r"```python\n(.*?)```", (DOCS / "extending" / "reader.md").read_text(), re.S)
    assert code is not None
    scope = {
        "Report": Report, "Description": Description, "Body": Body, "Connection": Connection, "Free": Free,
        "GROUND": GROUND, "InputError": InputError, "as_vector": as_vector,
    }  # fmt: skip
    exec(code[1], scope)  # noqa: S102 (a page of this repository)
    parse = scope["parse_points"]
    assert parse("a 1 0 0 0\nb 2 1 1 1\n").nv == 12  # type: ignore[operator]
    with pytest.raises(ModelError, match=r"model\.points:2: body\.b"):
        parse("a 1 0 0 0\nb x\n")  # type: ignore[operator]
