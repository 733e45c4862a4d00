"""Every URDF file of the package example-robot-data: loaded and written without loss; every robot equal to Pinocchio's reading of it."""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from articulus.errors import ModelError
from articulus.model.files import parse_urdf
from articulus.model.files.urdf.writer import urdf_text
from articulus.model.mechanism import Description

from .packages import ROBOTS, files_of, missing
from .urdf_twin import Twin, pinocchio_model, read_quietly

AGREEMENT = 1e-9
"""Relative; found: at most 1e-10, by the condition of the mass matrices of hands."""
EMPTY = "ur3.urdf"
"""A robot without a link."""
FILES = files_of(ROBOTS, ".urdf")
EVERYTHING = os.environ.get("ARTICULUS_MODELS") == "all"
LARGE = 20
"""Degrees of freedom from which a robot is read and written, but compared only with a free base, unless everything is run."""
READ = [
    pytest.param(file, base, id=f"{file.parent.parent.name}-{file.stem}-{base}")
    for i, file in enumerate(FILES)
    for base in ("free", "fixed")
    if base == "free" or i % 5 == 0 or file.name == EMPTY or EVERYTHING
]
"""All with a free base, which shows the inertia of the first link as well; a fifth with a fixed one, all of them by `make models`."""
LONGEST = {file.parent.parent: file for file in sorted(FILES, key=lambda file: file.stat().st_size)}
"""Of the files in a robot's folder, as with and without hands, that with most in it; of large robots the others are compared by `make models` only."""
pytestmark = pytest.mark.skipif(not FILES, reason=missing(ROBOTS))


@functools.cache
def loaded(file: Path, base: str) -> Description:
    """Return the mechanism of a file without its pictures, which take longest."""
    return read_quietly(file.read_text(), base=base).description


def same(d: Description) -> Description:
    """Return a mechanism without the words for missing masses and without the shapes that may touch, whose turns have other last digits."""
    bodies = tuple(replace(b, massless=b.massless and "no mass") for b in d.bodies)
    return replace(d, bodies=bodies, source="", equipment=replace(d.equipment, collisions=()))


def require_same_shapes(one: Description, other: Description) -> None:
    """Raise unless two mechanisms have the same shapes that may touch, in any order of their bodies."""
    mine, others = ({dict(c.values)["name"]: c for c in d.equipment.collisions} for d in (one, other))
    assert mine.keys() == others.keys()
    for name, device in mine.items():
        a, b = dict(device.values), dict(others[name].values)
        assert (device.type, a.keys(), a["frame"]) == (others[name].type, b.keys(), b["frame"])
        turns = np.array(a.pop("quaternion")), np.array(b.pop("quaternion"))
        assert abs(turns[0] @ turns[1]) == pytest.approx(1.0, abs=1e-14)
        assert a == b


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(("file", "base"), READ)
def test_robot_is_that_of_pinocchio(file: Path, base: str) -> None:
    if file.name == EMPTY:
        with pytest.raises(ModelError, match="no link at all"):
            loaded(file, base)
        return
    d = loaded(file, base)
    again = read_quietly(urdf_text(d)).description
    assert same(again) == same(d)
    require_same_shapes(again, d)
    if EVERYTHING or d.nv < LARGE or (base == "free" and file in LONGEST.values()):
        difference = Twin(file, d, pinocchio_model(file, base == "free")).difference()
        assert difference.worst < AGREEMENT, difference


def test_all_but_the_empty_one_are_loaded() -> None:
    assert len(FILES) == 69
    assert [f.name for f in FILES if "<link" not in f.read_text()] == [EMPTY]


def test_findings_of_a_vendors_file() -> None:
    """PR2: two sensor mounts with moments (0.001, 0.001, 0.01), which no rigid body has."""
    file = next(f for f in FILES if f.name == "pr2.urdf")
    found = [f for f in loaded(file, "fixed").findings if f.kind == "doubtful inertia"]
    lines = file.read_text().splitlines()
    assert len(found) == 2
    for f in found:
        line, link = int(f.where.split(":")[1]), f.where.split(".")[-2]
        assert "inertia" in lines[line - 1] or link in lines[line - 1]
        assert f.found == "principal moments 0.001, 0.001, 0.01 kg m^2"
    with pytest.raises(ModelError):
        parse_urdf(file.read_text(), strict=True)
