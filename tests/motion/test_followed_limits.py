"""Motors of followed motions against the efforts of their joints: said where they are exceeded, kept where told to."""

import warnings

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.motion.follow import within_limits
from articulus.motion.trajectory import point_to_point

LIMITS = {"velocity_limit": 2.0, "acceleration_limit": 3.0, "jerk_limit": 20.0}


def arm(effort):
    m = art.Mechanism("arm")
    for name, parent, at in (("upper", "ground", None), ("fore", "upper", (1.0, 0.0, 0.0))):
        m.body(name, mass=2.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.2, 0.2))
        m.joint(
            f"{name}_hinge",
            art.Revolute(axis=(0, 1, 0)),
            parent,
            name,
            at,
            limits=art.Limits(effort=(effort,)),
        )
    return m


def motion(effort):
    return point_to_point([0.3, -0.4], [-0.6, 0.8], mechanism=arm(effort), **LIMITS)


def forces(run, joint):
    return run[f"{joint}_prescribed_force.force"].values[:, 0]


def test_motors_that_could_not_are_named():
    need = np.abs(motion(1000.0).tau).max(axis=0)
    with pytest.warns(
        DoubtfulResult, match=r"motor of 'upper_hinge' gives .* N m at t = .* s, and its limit is"
    ):
        motion(0.9 * need[0]).run(track=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion(1.05 * need[0]).run(track=False)
        motion(1.05 * need[0]).run()
    start = motion(1.05 * need[0]).q[0] + [0.2, 0.0]  # the plan leaves nothing for that much feedback
    with pytest.warns(DoubtfulResult, match=r"motor of 'upper_hinge' gives"):
        motion(1.05 * need[0]).run(q0=start)


@pytest.mark.parametrize("track", [True, False])
def test_forces_are_kept_within_limits_where_told_to(track):
    need = np.abs(motion(1000.0).tau).max()
    tight, wide = motion(1.05 * need), motion(1000.0)
    start = wide.q[0] + [0.2, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = tight.run(q0=start, track=track, limits=True)
        same = wide.run(q0=start, track=track, limits=True)
    free = wide.run(q0=start, track=track)
    assert np.abs(same.q - free.q).max() < 1e-6  # cubics of forces, one function or one of each joint
    power = [s for name, s in kept.signals.items() if name.endswith("_torque.force")]
    assert len(power) == 2
    assert max(np.abs(s.values).max() for s in power) <= 1.05 * need * (1 + 1e-12)
    if track:
        assert np.abs(kept.q - free.q).max() > 1e-3  # the limit was felt
        assert np.abs(kept.q[-1] - wide.q[-1]).max() < 0.02


def test_motors_of_several_degrees_of_freedom_are_refused():
    m = art.Mechanism("wrist")
    m.body("hand", mass=1.0, com=(0.0, 0.0, 0.1), inertia=(0.01, 0.01, 0.01))
    m.joint("ball", art.Spherical(), "ground", "hand")
    with pytest.raises(
        InputError, match="'ball', which has several degrees of freedom; expected joints of one"
    ):
        within_limits(m, None, None, ("ball",))
