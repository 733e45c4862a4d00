"""Plans of mechanisms with named parameters, coupled joints and joints of several degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.trajectory import Ball, Clear, Hull, InBox, plan

GOAL = 0.9


def link(mass, **more) -> art.Mechanism:
    made = art.Mechanism("link", gravity=(0.0, 0.0, -9.81))
    made.body("link", mass=mass, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    made.joint("hinge", art.Revolute(axis=(0, -1, 0)), "ground", "link", **more)
    made.frame("tip", "link", at=(1.0, 0, 0))
    return made


@pytest.mark.parametrize("scheme", ["hermite_simpson", "riccati"])
def test_named_parameters_have_the_values_of_the_model(scheme: str) -> None:
    """The same motion as of a mechanism with the numbers themselves; goals, boxes and obstacles need the parameters, too."""
    named = link(art.Parameter("mass", 2.0))
    box = InBox("tip", (0.5, 0, 0.5), (3.0, 3.0, 3.0))
    post = Clear(Ball((0, 0, 5.0), 0.1), (Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1),))
    more = {"duration": 1.0, "intervals": 16, "keep": [box], "obstacles": [post], "scheme": scheme}
    goal = art.goals.FramePoint("tip", named.pose("tip", [GOAL])[:3, 3])
    found, expected = (plan(m, [0.0], goal, **more) for m in (named, link(2.0)))
    assert found.q == pytest.approx(expected.q, abs=1e-6)
    assert found.u == pytest.approx(expected.u, rel=1e-5)
