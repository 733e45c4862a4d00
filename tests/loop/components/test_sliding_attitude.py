"""Sliding mode on attitude: its bound from the modes of the craft, its guidance, its error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import articulus as art
from articulus import components as c
from articulus import spacecraft as sc
from articulus.structure import beam_body


def craft(stiffness: float = 1.0) -> art.Mechanism:
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", 500.0, inertia=(200.0, 200.0, 200.0)).joint("flight", art.Free(), "ground", "hub")
    m.flexible(
        "boom", beam_body(10.0, EI=800.0 * stiffness, mass_per_length=0.5, modes=1, planes="y", damping=0.0)
    )
    return m.joint("root", art.Fixed(), "hub", "boom", at=(0.5, 0, 0))


def test_the_reaction_of_one_mode_is_the_closed_form() -> None:
    """A step of acceleration a on x'' + w^2 x = -b a: the reaction beside J a is b^2 a cos(w t), at most b^2 |a|."""
    m = craft()
    M = np.asarray(m.mass_matrix(m.neutral))
    kept, sliding = [0, 1, 2, 6], [3, 4, 5]
    M = M[np.ix_(kept, kept)] - M[np.ix_(kept, sliding)] @ np.linalg.solve(
        M[np.ix_(sliding, sliding)], M[np.ix_(sliding, kept)]
    )
    a = np.tile([0.0, 0.0, 0.01], (20001, 1))
    found = sc.reaction_bound(m, "flight", a, 1e-3, spread=0.0)
    assert found.bound[2] == pytest.approx(M[2, 3] ** 2 / M[3, 3] * 0.01, rel=1e-5)
    np.testing.assert_allclose(found.inertia, M[:3, :3], rtol=1e-12)
    wide = sc.reaction_bound(m, "flight", np.diff(a, axis=0, prepend=0), 1e-3, spread=0.2)
    assert wide.bound[2] > 0


def test_a_slew_begins_and_ends_at_rest_and_its_rates_are_consistent() -> None:
    half = math.sqrt(0.5)
    guide = c.spacecraft.AxisSlew((0, half, half), 1.2, 2.0, start=0.5, attitude=(half, half, 0, 0))
    m = art.Mechanism("hub").body("hub", 1.0, inertia=(1, 1, 1)).joint("flight", art.Free(), "ground", "hub")
    run = art.simulate(m, 3.0, components=[guide], step=1e-3)
    rate, acceleration = run["guidance.rate"], run["guidance.acceleration"]
    np.testing.assert_allclose(
        np.gradient(rate, run.t, axis=0)[5:-5], acceleration[5:-5], atol=2e-3
    )  # a bend at both ends, 9 rad/s^3
    assert np.trapezoid(rate @ [0, half, half], run.t) == pytest.approx(1.2, abs=1e-6)
    np.testing.assert_allclose(run["guidance.attitude"][0], (half, half, 0, 0), atol=1e-12)
    turned = 2 * math.acos(min(1.0, abs(run["guidance.attitude"][-1] @ run["guidance.attitude"][0])))
    assert turned == pytest.approx(1.2, abs=1e-9)


@pytest.mark.parametrize("torque", [-0.9, 0.9])
def test_disturbances_below_the_bound_leave_the_error_within_layer_over_slope(torque: float) -> None:
    m = art.Mechanism("hub", gravity=(0, 0, 0)).body("hub", 100.0, inertia=(20.0, 30.0, 25.0))
    m.joint("flight", art.Free(), "ground", "hub")
    slope, layer = 0.5, 2e-3
    law = c.spacecraft.SlidingAttitude(
        "hub", inertia=(20.0, 30.0, 25.0), slope=slope, layer=layer, disturbance=1.0, name="law"
    )
    names = ("a", "b", "w")
    parts = [
        c.spacecraft.AxisSlew((0, 0, 1), 1.0, 10.0),
        law,
        c.spacecraft.TorqueAllocation("law.torque", np.eye(3), names),
        *(c.ReactionWheel("hub", 0.01, axis, name=name) for name, axis in zip(names, np.eye(3))),
        c.FrameWrench("hub", (0, 0, torque, 0, 0, 0)),
    ]
    run = art.simulate(m, 30.0, components=parts, step=0.01)
    assert run["law.error"].max() < layer / slope
    assert run["law.error"][-1, 0] == pytest.approx(0.9 * layer / slope, rel=1e-2)


def test_wrong_numbers_are_told() -> None:
    with pytest.raises(art.InputError, match="inertia: found none"):
        c.spacecraft.SlidingAttitude("hub")
    with pytest.raises(art.InputError, match="layer"):
        c.spacecraft.SlidingAttitude("hub", inertia=(1, 1, 1), layer=0.0)
    with pytest.raises(art.InputError, match="a unit vector"):
        c.spacecraft.AxisSlew((0, 0, 2), 1.0, 1.0)
    good = np.zeros((5, 3))
    for call, words in (
        (lambda: sc.reaction_bound(craft(), "root", good, 0.1), "a free joint"),
        (lambda: sc.reaction_bound(craft(), "flight", good[:, :2], 0.1), r"\(n, 3\)"),
        (lambda: sc.reaction_bound(craft(), "flight", good, 0.1, spread=1.0), "below 1"),
    ):
        with pytest.raises(art.InputError, match=words):
            call()
