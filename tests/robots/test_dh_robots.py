"""Denavit-Hartenberg tables of robots' files beside the tables that their makers publish."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art

from .packages import ROBOTS, files_of, missing

FILES = {path.name: path for path in files_of(ROBOTS, ".urdf")}

PUBLISHED = {
    # Universal Robots, "DH parameters for calculations of kinematics and dynamics": standard, |a|, |d| [m]
    "ur5_robot.urdf": (
        "standard",
        "tool0",
        [0, 0.425, 0.39225, 0, 0, 0],
        [0.089159, 0, 0, 0.10915, 0.09465, 0.0823],
    ),
    # Franka Emika, FCI documentation, "Denavit-Hartenberg parameters" (Craig's convention); flange in the last row
    "panda.urdf": (
        "modified",
        "panda_link8",
        [0, 0, 0, 0.0825, 0.0825, 0, 0.088],
        [0.333, 0, 0.316, 0, 0.384, 0, 0.107],
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_tables_have_the_lengths_that_makers_publish(name: str) -> None:
    """Signs depend on which way common normals are drawn; lengths to the digits of the files (1e-9 m)."""
    if name not in FILES:
        pytest.skip(missing(ROBOTS))
    robot = _arm(FILES[name])
    convention, tip, a, d = PUBLISHED[name]
    table = robot.to_dh(convention, tip=tip)
    np.testing.assert_allclose([abs(float(row.a)) for row in table.rows], a, atol=1e-9)
    np.testing.assert_allclose([abs(float(row.d)) for row in table.rows], d, atol=1e-9)
    again = art.Mechanism.from_dh(table)
    q = np.random.default_rng(0).uniform(-2, 2, (5, robot.nv))
    np.testing.assert_allclose(again.pose("tool", q), robot.pose(tip, q), atol=1e-9)
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(again.mass_matrix(q), M, atol=1e-9 * abs(M).max())


def _arm(path: Path) -> art.Mechanism:
    robot = art.load(path)
    fingers = [name for name in robot.joint_names if name == "panda_finger_joint1"]
    return robot.with_locked(fingers) if fingers else robot
