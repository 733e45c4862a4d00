"""The second-order form of mechanisms against their first-order linear models."""

import numpy as np
import pytest

import articulus as art
from articulus.control import second_order
from articulus.errors import InputError


@pytest.mark.parametrize("name", ["two_link", "bayo_link"])
def test_first_order_form_is_linearize(name):
    arm = art.load(name)
    q = np.zeros(arm.nq)
    q[0] = 0.4
    ours, theirs = second_order(arm, q).first_order(), arm.linearize(q=q)
    for matrix in "ABCD":
        a, b = getattr(ours, matrix), getattr(theirs, matrix)
        np.testing.assert_allclose(a, b, atol=1e-9 * max(np.abs(b).max(), 1.0))
    assert ours.inputs == theirs.inputs
    assert ours.outputs == theirs.outputs


HANGING = np.array([np.pi, -np.pi, np.pi])
"""Both bars of the linkage down, the connector level."""


def test_closed_loops_are_reduced_to_their_degrees_of_freedom():
    """The first-order form is `linearize`; a four-bar of three rods swings as (2/3 + 1) phi'' = -2 g phi."""
    linkage = art.load("n_four_bar", n=1)
    small = second_order(linkage, HANGING)
    assert small.count == 1
    np.testing.assert_allclose(small.K[0, 0] / small.M[0, 0], 9.81 * 2 / (2 / 3 + 1), rtol=1e-10)
    ours, theirs = small.first_order(), linkage.linearize(q=HANGING)
    for matrix in "ABC":
        a, b = getattr(ours, matrix), getattr(theirs, matrix)
        np.testing.assert_allclose(a, b, atol=1e-9 * max(np.abs(b).max(), 1.0))
    assert ours.inputs == theirs.inputs
    assert ours.outputs == theirs.outputs


def test_partition_of_a_closed_linkage_is_the_limit_of_small_motions():
    """Under the same feedback of two joints the partition and `simulate` differ by the square of the amplitude, over it."""
    linkage = art.load("n_four_bar", n=1)
    loop = art.Loop(linkage, components=[art.components.Torque("hinge0")])
    small = second_order(loop, HANGING, outputs=("q.hinge0",))
    assert small.inputs == ("u.hinge0_torque",)
    assert small.outputs == ("q.hinge0",)
    model = small.first_order()
    F = art.control.lqr((model.A, model.B), 1.0, 0.01).gain
    gaps = []
    for size in (0.08, 0.04):
        part = art.control.interaction.Partitioned(small, 1e-3, F[:, :1], F[:, 1:]).run(1.0, [size])
        sign = np.array([1.0, -1.0, 1.0])  # of a rise of the first degree of freedom
        K = np.zeros((1, 6))
        K[0, 0], K[0, 3] = F[0]
        law = art.components.StateFeedback(K, x0=(*HANGING, 0.0, 0.0, 0.0))
        run = art.simulate(
            linkage, 1.0, q0=HANGING + size * sign, components=[art.components.Torque("hinge0"), law]
        )
        gaps.append(np.abs(part.z[:, 0] - (run.q[:, 0] - np.pi)).max() / size)
    assert gaps[0] < 0.01
    assert 3.5 < gaps[0] / gaps[1] < 4.5


def test_what_has_no_second_order_form_is_told():
    arm = art.load("two_link")
    q = art.equilibrium(arm).q
    motor = art.components.FirstOrderActuator("joint1", bandwidth=30.0)
    with pytest.raises(InputError, match="second_order: found the state 'joint1"):
        second_order(art.Loop(arm, components=[motor]), q)
    torque = art.Loop(arm, components=[art.components.Torque("joint1")])
    with pytest.raises(InputError, match="follows an input at once"):
        second_order(torque, q, outputs=("vdot",))
    sampled = art.components.PD(1.0, 0.1, period=0.01)
    with pytest.raises(InputError, match="without sampling"):
        second_order(art.Loop(arm, sampled), q, inputs=("tau",))
