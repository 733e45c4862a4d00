"""The excavator with cylinders: lever, force and speed of each give what table 5.2 of the thesis has for its joint."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.library.cat215b_cylinders import LEVER, RATE, REVERSED, TORQUE
from articulus.model.library.cat215b_drives import START
from articulus.simulation.loop.components import HydraulicCylinder, JointRate

DIGGER = art.load("cat215b_cylinders")
RANGE = {"boom": (-44, 64), "stick": (-154, -26), "bucket": (-100, 27)}
CYLINDERS = {c.name: c for c in DIGGER.components() if isinstance(c, HydraulicCylinder)}


@pytest.mark.parametrize("joint", CYLINDERS)
def test_levers_ends_and_speeds_are_those_of_the_joint(joint: str) -> None:
    cylinder, k = CYLINDERS[joint], DIGGER.joint_names.index(joint)
    q = np.tile(START, (400, 1))
    q[:, k] = np.radians(np.linspace(*RANGE[joint], 400))
    eyes = [DIGGER.pose(frame, q)[:, :3, 3] for frame in cylinder.path]
    length = np.linalg.norm(eyes[1] - eyes[0], axis=1)
    lever = np.gradient(length, q[:, k], edge_order=2)
    sign = -1 if joint in REVERSED else 1
    assert (sign * lever > 0.1).all()  # no dead center within the ends
    assert np.abs(lever).max() == pytest.approx(LEVER[joint], rel=2e-3)  # three digits
    assert cylinder.retracted < length.min() < length.max() < cylinder.retracted + cylinder.stroke
    assert cylinder.supply * cylinder.area * LEVER[joint] == pytest.approx(TORQUE[joint])
    a, b = cylinder.area, cylinder.rod_side_area
    speed = cylinder.flow_gain * np.sqrt(cylinder.supply * a / (a**3 + b**3))
    assert speed == pytest.approx(RATE[joint] * LEVER[joint])


def test_rates_follow_from_table_5_2() -> None:
    """k_f x sqrt(P_s / 2) / (D G) at full opening, four digits."""
    for joint, supply, gear in (("boom", 7000, 545), ("stick", 4000, 220), ("bucket", 4000, 250)):
        assert pytest.approx(26 * 0.05 * np.sqrt(supply / 2) / (0.7 * gear), rel=3e-4) == RATE[joint]


def test_it_digs_and_every_joule_is_accounted_for() -> None:
    law = JointRate((0.1, 0.1, 0.2, -0.2), kp=(2, 3, 2, 2), kd=(1, 2, 1, 1), period=0.001)
    run = art.simulate(
        DIGGER, 3.0, q0=START, controller=law, components=DIGGER.components(), step=1e-3, sample=0.1
    )
    assert run.ok
    share = (run.q[-1] - START) / [0.3, 0.3, 0.6, -0.6]
    assert ((share > 0.5) & (share < 1)).all()  # the law of the source lags by degrees
    assert np.abs(run["energy.balance"]).max() < 1e-6 * run["energy.input"][-1]
    assert run["energy.dissipated"][-1] > 0.5 * run["energy.input"][-1]  # throttled
