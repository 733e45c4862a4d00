"""Mechanisms without degrees of freedom: single states and batches have answers, of size zero where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art


def post(closed: bool = False) -> art.Mechanism:
    m = art.Mechanism("post", gravity=(0, 0, -10.0)).body("post", 2.0, (0, 0, 0.5), (0.1, 0.1, 0.1))
    m.joint("weld", art.Fixed(), "ground", "post", at=(1.0, 0, 0)).frame("top", "post", at=(0, 0, 1.0))
    m.frame("hook", "ground", at=(1.0, 0, 1.0))
    return m.constrain(art.PointOnPoint("rope", "top", "hook")) if closed else m


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("lead", [(), (1,), (3,), (2, 3), (0,)], ids=str)
def test_questions(lead, closed):
    m, none = post(closed), np.zeros((*lead, 0))
    assert m.gravity(none).shape == (*lead, 0)
    assert m.mass_matrix(none).shape == (*lead, 0, 0)
    assert m.mass_matrix_inverse(none).shape == (*lead, 0, 0)
    assert m.forward_dynamics(none, none, none).shape == (*lead, 0)
    assert m.inverse_dynamics(none, none, none).shape == (*lead, 0)
    assert m.solve_mass_matrix(none, none).shape == (*lead, 0)
    assert [x.shape for x in m.derivatives(none, none, none)] == [(*lead, 0, 0)] * 3
    assert m.jacobian("top", none).shape == (*lead, 6, 0)
    assert m.position_rate(none, none).shape == (*lead, 0)
    np.testing.assert_allclose(m.operational_inertia("top", none), np.zeros((*lead, 6, 6)))
    np.testing.assert_allclose(m.pose("top", none)[..., :3, 3], np.broadcast_to([1, 0, 1], (*lead, 3)))
    if not closed:
        force = m.reactions(none, none, none)[..., 0, 3:]
        np.testing.assert_allclose(force, np.broadcast_to([0, 0, 20.0], (*lead, 3)))


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_runs(closed):
    m = post(closed)
    assert art.simulate(m, 0.01).q.shape == (11, 0)
    assert art.rollout(m, 0.01, q0=np.zeros((4, 0))).q.shape == (4, 2, 0)  # a rollout keeps start and end
    assert art.equilibrium(m).q.shape == (0,)
