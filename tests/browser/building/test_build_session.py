"""What a page may ask of the program behind it, and what comes of odd questions."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import articulus as art
from articulus.browser.building import BuildSession, Document
from articulus.browser.web import MessageError
from articulus.cli.build import build_schema
from articulus.errors import InputError, ModelError
from articulus.model.files.toml.writer import write_toml
from articulus.model.files.urdf.writer import write_urdf

SCHEMA = functools.cache(build_schema)
WORDS = st.sampled_from(
    [
        "body.arm",
        "joint.hinge",
        "body",
        "",
        "mass",
        "at",
        "at.xyz",
        "1",
        "[0, 0, 1]",
        '"x"',
        "{a = 1}",
        "]",
        "a\nb = 1",
        "é\u2028",
        "frame.tip",
    ]
)
EDITS = st.dictionaries(
    st.sampled_from(["op", "table", "key", "value", "kind", "old", "new", "entries"]),
    st.one_of(
        WORDS,
        st.sampled_from(["set", "clear", "add", "remove", "rename", "numbers"]),
        st.lists(st.floats()),
        st.dictionaries(WORDS, WORDS, max_size=2),
    ),
)


def session(tmp_path: Path, name: str = "new.toml") -> BuildSession:
    return BuildSession(tmp_path / name, SCHEMA())


def ask(page: BuildSession, **message: Any) -> dict[str, Any]:
    """Return the answer, which must be JSON."""
    answer = page.answer(message)
    json.dumps(answer, allow_nan=False)
    return answer


def edit(page: BuildSession, *edits: dict[str, Any]) -> dict[str, Any]:
    return ask(page, do="edit", edits=list(edits), what="a test")


@pytest.mark.parametrize("model", ["puma600", "cat215b", "backhoe", "stewart_platform", "king_arm"])
def test_models_of_the_library_open_without_a_remark(model: str, tmp_path: Path) -> None:
    """Each has a form for every part, a handle for every joint, and a picture in which its loops are closed."""
    arm = art.load(model)
    write_toml(arm.description, tmp_path / "model.toml")
    state = ask(session(tmp_path, "model.toml"), do="state")
    assert [r for r in state["remarks"] if r["serious"]] == []
    assert state["run"]["scene"]["bodies"]
    assert {f"joint.{name}" for name in arm.joint_names} <= set(state["handles"])
    assert state["saved"]
    assert {f"body.{name}" for name in arm.body_names} <= set(state["parts"])


def test_steps_are_taken_back_and_done_again(tmp_path: Path) -> None:
    page = session(tmp_path)
    texts = [page.document.text]
    for mass in ("2", '"3 kg"', "4"):
        texts.append(edit(page, {"op": "set", "table": "body.arm", "key": "mass", "value": mass})["text"])
    assert [ask(page, do="undo")["text"] for _ in range(3)] == texts[-2::-1]
    assert ask(page, do="undo")["text"] == texts[0]
    assert [ask(page, do="redo")["text"] for _ in range(3)] == texts[1:]
    ask(page, do="undo")
    assert edit(page, {"op": "clear", "table": "body.arm", "key": "com"})["redo"] == ""


def test_typing_is_one_step() -> None:
    document = Document("a")
    for text in ("ab", "abc"):
        document.replace(text, "typing")
    document.undo()
    assert document.text == "a"


def test_several_edits_are_one_or_none(tmp_path: Path) -> None:
    page = session(tmp_path)
    before = page.document.text
    good = {"op": "set", "table": "body.arm", "key": "mass", "value": "2"}
    answer = edit(page, good, {"op": "set", "table": "body.hand", "key": "mass", "value": "2"})
    assert "body.hand: found no such table" in answer["error"]
    assert page.document.text == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"op": "set", "table": "body.arm", "key": "mass", "value": "2 # heavy"}, "expected a value"),
        (
            {"op": "set", "table": "body.arm", "key": "mass", "value": "2\ncom = [0, 0, 0]"},
            "expected a value",
        ),
        ({"op": "set", "table": "body.arm", "key": "mass", "value": ""}, "found nothing"),
        ({"op": "add", "table": "body.arm", "entries": {}}, "a name that is taken"),
        ({"op": "add", "table": "body. ", "entries": {}}, "expected a name"),
        ({"op": "add", "table": "thing.x", "entries": {}}, "expected a name"),
        ({"op": "rename", "kind": "body", "old": "arm", "new": "arm\n[x]"}, ""),
        (
            {"op": "numbers", "table": "joint.hinge", "key": "at", "value": [0, float("nan"), 1]},
            "a known edit",
        ),
        ({"op": "fly"}, "a known edit"),
    ],
)
def test_edits_that_cannot_be(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    page = session(tmp_path)
    before = page.document.text
    answer = edit(page, change)
    if words:
        assert words in answer["error"]
        assert page.document.text == before
    else:  # odd names are quoted
        assert "error" not in answer
        assert "body.arm\n[x]" in answer["parts"]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"do": "edit"},
        {"do": "edit", "edits": [1], "what": ""},
        {"do": "text", "text": 3},
        {"do": "save"},
        {"do": "read", "path": "/etc/passwd"},
    ],
)
def test_messages_without_sense(message: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(MessageError, match="unknown message"):
        session(tmp_path).answer(message)


@settings(max_examples=60, deadline=None)
@given(st.lists(EDITS, max_size=3))
def test_no_edit_breaks_the_text(edits: list[dict[str, Any]]) -> None:
    """Whatever is asked, the text stays TOML."""
    document = Document('name = "x"\n[body.arm]\nmass = 1\n[joint.hinge]\nat = [0, 0, 1]\n')
    with contextlib.suppress(ModelError):
        document.edit(edits, "x")
    tomllib.loads(document.text)


def test_mistakes_stand_at_their_parts(tmp_path: Path) -> None:
    page = session(tmp_path)
    state = edit(
        page,
        {"op": "set", "table": "joint.hinge", "key": "axis", "value": "[0, 2, 0]"},
        {"op": "add", "table": "body.loose", "entries": {"mass": "1", "inertia": "[1, 1, 1]"}},
        {"op": "add", "table": "component.m", "entries": {"type": '"motor"', "joint": '"hinch"'}},
    )
    found = {(r["part"], r["key"]) for r in state["remarks"]}
    assert ("joint.hinge", "axis") in found
    assert ("body.loose", "") in found
    assert state["run"] is None
    state = edit(
        page,
        {"op": "set", "table": "joint.hinge", "key": "axis", "value": "[0, 1, 0]"},
        {"op": "remove", "table": "body.loose"},
    )
    remarks = {(r["part"], r["key"]): r for r in state["remarks"]}
    assert {key for part, key in remarks if part == "component.m"} == {
        "joint",
        "ratio",
        "torque_constant",
        "resistance",
    }
    assert "did you mean 'hinge'" in remarks["component.m", "joint"]["hint"]
    assert state["run"] is not None  # the mechanism itself is whole


def test_a_loop_that_cannot_close_is_told(tmp_path: Path) -> None:
    page = session(tmp_path)
    loop = {
        "type": '"spherical"',
        "parent": '"arm"',
        "child": '"ground"',
        "at": "[0, 0, 0.5]",
        "child_at": "[0.3, 0, 0.4]",
    }
    state = edit(page, {"op": "add", "table": "loop.hook", "entries": loop})
    assert state["remarks"] == []
    assert abs(abs(state["q"][0]) - math.atan2(0.3, 0.4)) < 1e-6  # it is shown closed
    state = edit(page, {"op": "numbers", "table": "loop.hook", "key": "at", "value": [0, 0, 0.7]})
    assert [(r["part"], r["serious"]) for r in state["remarks"]] == [("loop.hook", False)]
    assert state["run"] is not None  # and shown open


def test_a_text_cannot_read_other_files(tmp_path: Path) -> None:
    """What is typed may name files beside the model alone."""
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret.npz").write_text("secret")
    page = session(folder)
    state = ask(page, do="text", text=page.document.text.replace("mass = 1.0", 'flexible = "../secret.npz"'))
    assert any("not read" in r["found"] for r in state["remarks"])
    nowhere = BuildSession(None, SCHEMA())
    state = ask(
        nowhere,
        do="text",
        text=nowhere.document.text.replace("mass = 1.0", f'flexible = "{tmp_path}/secret.npz"'),
    )
    assert any(r["serious"] for r in state["remarks"])
    assert "no file to write to" in ask(nowhere, do="save", force=False)["error"]


def test_the_file(tmp_path: Path) -> None:
    """It is written by save alone, never over the work of others unasked, and only a TOML file is taken."""
    page = session(tmp_path)
    place = tmp_path / "new.toml"
    assert not place.exists()
    assert ask(page, do="save", force=False)["saved"]
    assert place.read_text() == page.document.text
    place.write_text(place.read_text() + "# by hand\n")
    assert page.look_at_file()
    assert not page.look_at_file()
    assert "# by hand" in page.document.text
    edit(page, {"op": "set", "table": "body.arm", "key": "mass", "value": "7"})
    place.write_text("# another\n")
    assert not page.look_at_file()
    assert "mass = 7" in page.document.text  # unsaved work stays
    assert "changed by another program" in ask(page, do="save", force=False)["error"]
    assert place.read_text() == "# another\n"
    assert ask(page, do="save", force=True)["saved"]
    assert "mass = 7" in place.read_text()
    dropped = ask(page, do="open", name="../other.toml", text=page.document.text.replace("7", "8"))
    assert "mass = 8" in dropped["text"]
    assert dropped["undo"] == "opening other.toml"
    assert "expected a file of .toml" in ask(page, do="open", name="x.py", text="print()")["error"]
    with pytest.raises(InputError, match=r"expected a \.toml file"):
        session(tmp_path, "robot.urdf")


def test_a_run_is_that_of_simulate(tmp_path: Path) -> None:
    """Energy is kept, the start is the position that is asked for, and what cannot be run is told."""
    page = session(tmp_path)
    found = ask(page, do="run", q=[1.0], seconds=0.5)["run"]
    assert found["status"] == "complete"
    assert {"q", "v", "energy"} <= {s["name"] for s in found["signals"]}
    for seconds, q, words in (
        (0, [1.0], "at most 60 s"),
        (1e9, [1.0], "at most 60 s"),
        (1.0, [1.0, 2.0], "q0"),
        (1.0, ["x"], "q0"),
    ):
        assert words in ask(page, do="run", q=q, seconds=seconds)["error"]
    edit(page, {"op": "set", "table": "body.arm", "key": "mass", "value": "-1"})
    assert "mend what is wrong" in ask(page, do="run", q=[1.0], seconds=1.0)["error"]


def test_a_dropped_urdf_becomes_toml(tmp_path: Path) -> None:
    """It is the same mechanism; a broken one changes nothing, and Undo brings back what was there."""
    arm = art.load("two_link")
    write_urdf(dataclasses.replace(arm.description, gravity=(0.0, 0.0, -9.81)), tmp_path / "arm.urdf")
    urdf = (tmp_path / "arm.urdf").read_text()
    page = session(tmp_path)
    before = page.document.text
    assert "lonk" in ask(page, do="open", name="a.urdf", text=urdf.replace("link", "lonk"))["error"]
    assert page.document.text == before
    state = ask(page, do="open", name="a.urdf", text=urdf)
    assert [r for r in state["remarks"] if r["serious"]] == []
    other = art.load(tmp_path / "arm.urdf")
    q = np.linspace(0.1, 0.5, arm.nq)
    new = art.load(state["text"])
    np.testing.assert_allclose(new.mass_matrix(q), other.mass_matrix(q), rtol=1e-14, atol=1e-14)
    assert ask(page, do="undo")["text"] == before


def test_ends_of_lines_stay(tmp_path: Path) -> None:
    """A file of Windows keeps its line ends; the text that is typed has plain ones."""
    place = tmp_path / "new.toml"
    page = session(tmp_path)
    lines = page.document.text.replace("\n", "\r\n").encode()
    place.write_bytes(lines)
    page = session(tmp_path)
    assert ask(page, do="state")["saved"]
    assert "\r" not in page.document.text
    edit(page, {"op": "set", "table": "body.arm", "key": "mass", "value": "2.0"})
    ask(page, do="save", force=False)
    assert place.read_bytes() == lines.replace(b"mass = 1.0", b"mass = 2.0")


def test_odd_texts(tmp_path: Path) -> None:
    """Half a character is refused; an enormous text is told as its reader tells it."""
    page = session(tmp_path)
    before = page.document.text
    assert "half a character" in ask(page, do="text", text="\ud800")["error"]
    assert page.document.text == before
    state = ask(page, do="text", text="a = [" + "1," * 1_100_000 + "]")
    assert "lines and list entries" in state["remarks"][0]["found"]
    assert state["parts"] is None
    assert ask(page, do="undo")["text"] == before
    assert (
        "mass"
        in edit(page, {"op": "rename", "kind": "body", "old": "arm", "new": "<b>arm</b>"})["parts"][
            "body.<b>arm</b>"
        ]["keys"]
    )
