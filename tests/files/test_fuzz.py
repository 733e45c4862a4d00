"""Broken texts give a Description, a Study or a refusal with the file's name, nothing else, and soon."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articulus.errors import ModelError
from articulus.model.files import parse_toml, parse_urdf

from .mutate import READERS, check

COUNTS = {"toml": 1500, "urdf": 1500, "mjcf": 500, "study": 150}
"""Mutations of a reader; 200 where nothing else is said."""


@pytest.mark.parametrize("kind", READERS)
def test_mutations(kind: str) -> None:
    outcomes = set()
    for seed in range(COUNTS.get(kind, 200)):
        start = time.process_time()
        outcomes.add(check(kind, seed))
        assert time.process_time() - start < 5
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("read", [parse_toml, parse_urdf])
@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=st.text(max_size=200))
def test_any_text(read: object, text: str) -> None:
    with pytest.raises(ModelError):
        read(text)  # type: ignore[operator]
