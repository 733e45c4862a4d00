"""Limits of joints in runs: stops in one word, and doubt where a run goes past limits that nothing keeps."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulModel, DoubtfulResult
from articulus.simulation.loop.components import JointStop
from articulus.simulation.loop.events import Bounce
from articulus.simulation.running.joint_limits import DEPTH, joint_stops
from articulus.study import read_study

ROBOTS = Path(__file__).parents[2] / "build" / "robots"


def pendulum(size: float = 1.0, mass: float = 1.0, **limits) -> art.Mechanism:
    """A pendulum with limits; `size` scales lengths, `mass` masses, gravity so that its period stays."""
    m = art.Mechanism("pendulum", gravity=(0, 0, -9.81 * size))
    m.body("bob", mass, com=(size, 0, 0), inertia=(1e-2 * mass * size**2,) * 3)
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob", limits=art.Limits(**limits))
    return m


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_a_joint_rests_on_its_stop_whatever_its_size(size: float, mass: float) -> None:
    """A pendulum let go comes to rest within a hundredth of its range: the stop carries its weight at that depth (closed form k = weight / depth)."""
    m = pendulum(size, mass, lower=(-0.5,), upper=(0.5,))
    run = art.simulate(m, 4.0, limits=True, outputs=["energy"])
    assert run.ok
    assert 0.5 < run.q[-1, 0] <= 0.5 + 1.01 * DEPTH
    assert abs(run.v[-1, 0]) < 1e-6


def test_a_run_past_its_limits_is_doubtful_once_by_name_and_time() -> None:
    m = pendulum(lower=(-0.5,), upper=(0.5,))
    with pytest.warns(
        DoubtfulResult,
        match=r"'hinge' left its limits at t = 0\.3\d* s, and nothing in the run keeps them: limits=True",
    ) as told:
        run = art.simulate(m, 1.0)
    assert len(told) == 1
    assert not run.ok
    assert "past the limits" in run.summary()


def test_stops_of_ones_own_and_small_excesses_are_no_reason_for_doubt() -> None:
    m = pendulum(lower=(-0.5,), upper=(0.5,))
    assert art.simulate(m, 0.4, components=[JointStop("hinge", 1e3, 30.0)], limits=True).ok
    assert art.simulate(m, 1.0, events=[Bounce("hinge", 0.5)]).ok
    assert art.simulate(pendulum(lower=(-1.0,), upper=(3.142,)), 1.0, v0=[1e-3]).ok
    assert not joint_stops(pendulum())


def test_start_outside_limits_is_told_in_a_batch_by_run() -> None:
    m = pendulum(lower=(-0.5,), upper=(0.5,))
    with pytest.warns(DoubtfulResult, match="2 of 3 runs are doubtful"):
        run = art.rollout(m, 0.01, q0=[[0.0], [0.8], [-2.0]])
    assert {d.run for d in run.warnings} == {1, 2}


@pytest.mark.parametrize("file", ["panda.urdf", "ur5_robot.urdf", "talos_left_arm.urdf"])
def test_stops_of_real_robots_hold(file: str) -> None:
    """Let go from the middle of all ranges: no joint goes further than a twentieth of its range past a limit."""
    found = sorted(ROBOTS.rglob(file))
    if not found:
        pytest.skip(f"{file} is not in build/robots")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulModel)  # inertias of the file
        robot = art.load(found[0])
    lower, upper = robot.limits.lower, robot.limits.upper
    bounded = np.isfinite(lower) & np.isfinite(upper)
    q0 = np.where(bounded, np.where(bounded, lower + upper, 0) / 2, robot.neutral)
    run = art.simulate(
        robot, 1.0, q0=q0, components=robot.components(limits=True), method="rosenbrock", step=5e-3
    )
    beyond = np.maximum(run.q - upper, lower - run.q)[:, bounded] / (upper - lower)[bounded]
    assert beyond.max() < 0.05


def test_limits_of_a_study(tmp_path: Path) -> None:
    m = pendulum(lower=(-0.5,), upper=(0.5,))
    m.save(tmp_path / "pendulum.toml")
    text = 'schema = 1\n[study]\nname = "stopped"\nmodel = "pendulum.toml"\n[run]\nt_end = 1.0\nlimits = {}\n'
    (tmp_path / "stopped.toml").write_text(text.format("true"))
    study = read_study(tmp_path / "stopped.toml")
    assert [c.name for c in study.components] == ["hinge_joint_stop"]
    (tmp_path / "stopped.toml").write_text(text.format('"yes"'))
    with pytest.raises(
        art.ModelError, match=r"stopped\.toml:7: run\.limits: found 'yes'; expected true or false"
    ):
        read_study(tmp_path / "stopped.toml")


def test_a_file_with_contacts_says_once_that_a_run_has_none() -> None:
    mujoco = pytest.importorskip("mujoco")
    assert mujoco
    text = (
        '<mujoco model="dropped"><worldbody><geom type="plane" size="1 1 1"/>'
        '<body pos="0 0 1"><freejoint name="root"/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>'
    )
    from articulus.model.files.mjcf.reader import parse_mjcf

    m = art.Mechanism.from_description(parse_mjcf(text))
    with pytest.warns(
        DoubtfulModel, match="'dropped': its file has 2 geoms that can touch, and the run has no contact"
    ) as told:
        art.simulate(m, 0.01)
    assert len(told) == 1
    art.simulate(m, 0.01)  # a second warning would be an error
