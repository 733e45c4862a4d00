"""Contacts on faces in model files: written and read, and what is wrong with them told with its place."""

from __future__ import annotations

import pytest

import articulus as art
from articulus.errors import ModelError

MODEL = """
schema = 1
name = "ball"
[body.ball]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.free]
type = "free"
parent = "ground"
child = "ball"
"""


@pytest.mark.parametrize(
    "contact",
    [
        art.SlidingContact("c", "ground", "ball", 0.1),
        art.SlidingContact("c", "ground", "ball", 0.0, (0.0, 1.0, 0.0)),
        art.RollingContact("c", "ground", "ball", 0.1),
        art.RollingContact("c", "ground", "ball", 0.1, spin=True),
    ],
    ids=repr,
)
def test_there_and_back(contact, tmp_path) -> None:
    model = (
        art.Mechanism("ball").body("ball", 1.0, inertia=(1, 1, 1)).joint("free", art.Free(), "ground", "ball")
    )
    model.constrain(contact).save(tmp_path / "ball.toml")
    assert art.load(tmp_path / "ball.toml").description.constraints == (contact,)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (
            'type = "rolling_contact"\nface = "ground"\nframe = "ball"\nspin = 1',
            r"15: constraint\.c\.spin: found 1; expected true or false",
        ),
        ('type = "sliding_contact"\nface = "grond"\nframe = "ball"', r"constraint\.c\.face: found 'grond'.*"),
        (
            'type = "sliding_contact"\nface = "ground"\nframe = "ball"\nradius = "-1 m"',
            r"radius: found -1 m; expected a radius >= 0",
        ),
        ('type = "sliding_contact"\nface = "ball"\nframe = "ball"', "expected a frame on another body"),
    ],
)
def test_mistakes_are_told_with_their_place(table: str, text: str, tmp_path) -> None:
    path = tmp_path / "ball.toml"
    path.write_text(f"{MODEL}[constraint.c]\n{table}\n")
    with pytest.raises(ModelError, match=text):
        art.load(path)
