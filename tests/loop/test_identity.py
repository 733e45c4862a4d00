"""The text of a loop's equations, and that nothing is derived where the cache holds their code."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System
from articulus.simulation.running.native_engine import NativeEngine


def text(*components, model: str = "two_link", form: str = "regularized", **arguments) -> str | None:
    return System(Network(art.load(model, **arguments).description, components), form).identity


def test_equal_loops_have_one_text_and_others_another():
    texts = [
        text(),
        text(art.components.PD(kp=1.0, kd=0.5)),
        text(art.components.PD(kp=np.nextafter(1.0, 2.0), kd=0.5)),
        text(art.components.PD(kp=1.0, kd=0.5, name="other")),
        text(model="n_four_bar", n=1),
        text(model="n_four_bar", n=1, form="augmented"),
        text(model="n_four_bar", n=2),
    ]
    assert None not in texts
    assert len(set(texts)) == len(texts)
    assert text(art.components.PD(kp=1.0, kd=0.5)) == texts[1]


def test_a_component_of_the_users_own_has_no_text():
    class Own(art.components.PD):
        pass

    assert text(Own(kp=1.0, kd=1.0)) is None


def test_a_second_process_derives_nothing(monkeypatch):
    """As far as one process can tell: with new objects and the same cache, writing equations is an error."""
    v0 = [1.0, -1.0, 1.0]
    first = art.simulate(art.load("n_four_bar", n=1), 0.05, v0=v0)

    def refuse(*_):
        pytest.fail("equations were derived")

    monkeypatch.setattr(NativeEngine, "step_map", refuse)
    monkeypatch.setattr(System, "with_acceleration", refuse)
    second = art.simulate(art.load("n_four_bar", n=1), 0.05, v0=v0)
    np.testing.assert_array_equal(second.q, first.q)
    np.testing.assert_array_equal(second["energy"], first["energy"])
