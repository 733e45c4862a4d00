"""A mechanism written to a TOML text and read back is the same mechanism."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
import zoo
from articulus.model.files import parse_toml, toml_text


@pytest.mark.parametrize("name", zoo.ALL)
def test_text_and_back(name):
    description = zoo.get(name).description
    assert parse_toml(toml_text(description)) == description


def test_file_and_back(tmp_path):
    mech = zoo.get("parameters_quaternion")
    mech.save(tmp_path / "m.toml")
    again = art.load(tmp_path / "m.toml")
    s = zoo.random_state(mech, 95)
    assert again.parameters == mech.parameters
    assert np.array_equal(
        zoo.ask(again, "forward_dynamics", s.q, s.v, s.tau),
        zoo.ask(mech, "forward_dynamics", s.q, s.v, s.tau),
    )
