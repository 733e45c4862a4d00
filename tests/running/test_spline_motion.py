"""A joint that follows a spline: position, rate and acceleration are those of scipy's spline through the same points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.errors import InputError
from articulus.model.mechanism import Prescribed, Spline

TIMES, VALUES = (0.1, 0.3, 0.6, 0.8), (0.0, 0.5, -0.2, 0.3)


def test_a_joint_follows_the_spline_in_position_rate_and_acceleration() -> None:
    m = art.Mechanism("slider")
    m.body("payload", 2.0, (0, 0, 0), (1, 1, 1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "payload")
    m.constrain(Prescribed("path", "x", Spline(TIMES, VALUES)))
    run = art.simulate(m, 1.0, step=0.01)
    wanted = CubicSpline(TIMES, VALUES, bc_type="clamped")
    inside = (run.t > 0.105) & (run.t < 0.795)
    for order, name in enumerate(("q", "v", "vdot")):
        assert np.allclose(run[name][inside, 0], wanted(run.t[inside], order), atol=1e-9), name
    assert np.allclose(run.q[run.t < 0.1, 0], 0.0, atol=1e-12)
    assert np.allclose(run.q[run.t > 0.8, 0], 0.3, atol=1e-12)


def test_wrong_points_are_refused() -> None:
    with pytest.raises(InputError, match="3 times and 2 values; expected two or more"):
        Spline((0.0, 1.0, 2.0), (0.0, 1.0))
    with pytest.raises(InputError, match="expected ascending times"):
        Spline((0.0, 0.0), (0.0, 1.0))
