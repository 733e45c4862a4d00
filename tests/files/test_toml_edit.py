"""Texts of models that are changed by a program keep all else that a person has written."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import articulus as art
from articulus.errors import ModelError
from articulus.model.files.toml.edit import (
    add_table,
    remove_table,
    remove_value,
    rename_part,
    set_numbers,
    set_value,
)
from articulus.model.files.toml.lines import places
from articulus.model.files.toml.reader import parse_toml
from articulus.model.files.toml.writer import attached_files, toml_text

TEXT = """# the arm of the lab
schema = 1
name = "rod" # also the name of a body

[body.rod]
mass = "2 kg"     # weighed
inertia = [ 0.2,
            0.2,  # guessed
            0.01 ]

# measured on Monday
[joint.hinge]
type = "revolute"
parent = "ground"
child = "rod"
axis = [0, 1, 0]
at = {xyz = [0, 0, 1], rpy = [0, "10 deg", 0]}

[joint.hinge.limits]
lower = -1

[frame.tip]
body = "rod"
at = [0, 0, 1]
"""


def difference(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that went and those that came."""
    a, b = before.splitlines(), after.splitlines()
    return [x for x in a if x not in b], [x for x in b if x not in a]


def test_a_value_changes_and_its_comment_stays() -> None:
    assert difference(TEXT, set_value(TEXT, "body.rod", "mass", '"3 kg"')) == (
        ['mass = "2 kg"     # weighed'],
        ['mass = "3 kg"     # weighed'],
    )
    assert difference(TEXT, set_value(TEXT, "joint.hinge", "at.xyz", "[0, 0, 2]"))[1] == [
        'at = {xyz = [0, 0, 2], rpy = [0, "10 deg", 0]}'
    ]
    assert difference(TEXT, set_value(TEXT, "", "schema", "2")) == (["schema = 1"], ["schema = 2"])


def test_a_new_key_stands_at_the_end_of_its_table() -> None:
    lines = set_value(TEXT, "body.rod", "com", "[0, 0, 0.5]").splitlines()
    k = lines.index("com = [0, 0, 0.5]")
    assert lines[k - 1] == "            0.01 ]"
    assert lines[k + 1 : k + 3] == ["", "# measured on Monday"] or lines[k + 1] == "# measured on Monday"
    assert tomllib.loads(set_value(TEXT, "", "gravity", "[0, 0, 0]"))["gravity"] == [0, 0, 0]
    with pytest.raises(ModelError, match=r"body\.rood: found no such table.*did you mean 'body\.rod'"):
        set_value(TEXT, "body.rood", "mass", "1")


def test_tables_come_and_go() -> None:
    """A table that is added and removed leaves the text as it was, wherever it stands."""
    for table in ("body.a b", "joint.second", "frame.f", "loop.l"):
        more = add_table(TEXT, table, {"type": '"x"'})
        kind, name = table.split(".", 1)
        assert tomllib.loads(more)[kind][name] == {"type": "x"}
        assert remove_table(more, table) == TEXT
    less = remove_table(TEXT, "joint.hinge")
    assert "joint" not in tomllib.loads(less)
    assert "Monday" not in less  # the comment was of the joint
    assert "# guessed" in less


def test_a_part_gets_another_name_everywhere() -> None:
    new = rename_part(TEXT, "body", "rod", "long rod")
    data = tomllib.loads(new)
    assert data["name"] == "rod"
    assert data["joint"]["hinge"]["child"] == data["frame"]["tip"]["body"] == "long rod"
    assert set(data["body"]) == {"long rod"}
    assert rename_part(new, "body", "long rod", "rod") == TEXT
    new = rename_part(TEXT, "joint", "hinge", "j")
    assert set(tomllib.loads(new)["joint"]) == {"j"}
    assert tomllib.loads(new)["joint"]["j"]["limits"] == {"lower": -1}


@pytest.mark.parametrize("model", ["puma600", "n_four_bar", "cat215b"])
def test_models_of_the_library(model: str) -> None:
    """Every body and joint is renamed, and the model is the same but for names."""
    arm = art.load(model)
    text = toml_text(arm.description)
    for body in arm.body_names:
        text = rename_part(text, "body", body, f"{body} x")
    for joint in arm.joint_names:
        text = rename_part(text, "joint", joint, f"{joint}-y")
    other = parse_toml(text, attached=attached_files(arm.description).__getitem__)
    assert [b.name for b in other.bodies] == [f"{b.name} x" for b in arm.description.bodies]
    assert [c.name for c in other.connections] == [f"{c.name}-y" for c in arm.description.connections]
    assert [c.joint for c in other.connections] == [c.joint for c in arm.description.connections]


@given(
    st.recursive(st.integers() | st.booleans() | st.text(), lambda x: st.lists(x, max_size=3), max_leaves=5)
)
def test_places_are_those_of_the_values(value: object) -> None:
    def written(x: object) -> str:
        if isinstance(x, list):
            return "[" + ", ".join(map(written, x)) + "]"
        from articulus.model.files.toml.texts import quote

        return quote(x) if isinstance(x, str) else str(x).lower()

    text = f"# k = 1\n[t]\na = {written(value)} # x\nb = 2\n"
    start, end = places(text).values["t.a"]
    assert text[start:end] == written(value)
    assert tomllib.loads(set_value(text, "t", "a", "5")) == {"t": {"a": 5, "b": 2}}


def test_a_key_goes_with_its_comment_and_nothing_else() -> None:
    assert difference(TEXT, remove_value(TEXT, "body.rod", "mass")) == (['mass = "2 kg"     # weighed'], [])
    assert difference(TEXT, remove_value(TEXT, "joint.hinge", "at.rpy"))[1] == ["at = {xyz = [0, 0, 1]}"]
    assert difference(TEXT, remove_value(TEXT, "joint.hinge", "at.xyz"))[1] == [
        'at = {rpy = [0, "10 deg", 0]}'
    ]
    assert tomllib.loads(remove_value(TEXT, "joint.hinge", "limits"))["joint"]["hinge"].get("limits") is None
    assert "inertia" not in tomllib.loads(remove_value(TEXT, "body.rod", "inertia"))["body"]["rod"]
    assert remove_value(TEXT, "body.rod", "com") == TEXT


def test_a_key_inside_a_table_that_is_written_in_any_way() -> None:
    """[joint.hinge.limits], braces, dotted keys, or not there yet."""
    apart = set_value(TEXT, "joint.hinge", "limits.upper", "1")
    assert tomllib.loads(apart)["joint"]["hinge"]["limits"] == {"lower": -1, "upper": 1}
    inline = set_value(set_value(TEXT, "body.rod", "k.a", "1"), "body.rod", "k.b", "2")
    assert "k = {a = 1, b = 2}" in inline
    dotted = set_value(set_value(TEXT, "body.rod", "mass", "1\nk.a = 1"), "body.rod", "k.b", "2")
    assert tomllib.loads(dotted)["body"]["rod"]["k"] == {"a": 1, "b": 2}
    with pytest.raises(ModelError, match="a table in braces"):
        set_value(TEXT, "body.rod", "inertia.x", "1")


def test_numbers_change_in_their_units() -> None:
    text = TEXT.replace("xyz = [0, 0, 1]", 'xyz = ["10 mm", 0, 1.0]')
    assert set_numbers(text, "joint.hinge", "at", [0.01, 0, 1]) == text  # as they were written
    assert difference(text, set_numbers(text, "joint.hinge", "at", [0.025, 0, 1]))[1] == [
        'at = {xyz = ["25 mm", 0, 1.0], rpy = [0, "10 deg", 0]}'
    ]
    assert difference(text, set_numbers(text, "frame.tip", "at", [0, 0.5, 1]))[1] == ["at = [0, 0.5, 1]"]
    assert "com = [0, 0, 0.5]" in set_numbers(text, "body.rod", "com", [0, 0, 0.5])
    with pytest.raises(ModelError, match=r"follows the parameter 'l'.*Change the parameter"):
        set_numbers(text.replace("1.0]", '{parameter = "l"}]'), "joint.hinge", "at", [0.01, 0, 2])


@pytest.mark.parametrize("model", ["puma600", "cat215b"])
def test_every_key_comes_and_goes(model: str) -> None:
    """Every key of every joint is taken out and put back: the tables hold what they held, and no other line has changed."""
    text = toml_text(art.load(model).description)
    data = tomllib.loads(text)
    found = places(text)
    for name, table in data["joint"].items():
        for word, held in table.items():
            less = remove_value(text, f"joint.{name}", word)
            assert tomllib.loads(less)["joint"][name] == {k: x for k, x in table.items() if k != word}
            start, end = found.values[f"joint.{name}.{word}"]
            more = tomllib.loads(set_value(less, f"joint.{name}", word, text[start:end]))
            assert more["joint"][name] == table
            assert more == data, held
