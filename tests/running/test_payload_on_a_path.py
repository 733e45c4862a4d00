"""Motions that follow points of a file, and payloads moved along a path: momentum stays, the carrier gives way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.model.files import parse_toml, read_toml
from articulus.model.mechanism import Prescribed, Spline
from articulus.structure import beam_body
from articulus.study import parse_study

TIMES, DEGREES = (0.0, 0.1, 0.25, 0.4), (0.0, 20.0, -5.0, 10.0)
CSV = "t [ms], arm [deg], rail [cm]\n" + "".join(
    f"{1000 * t}, {x}, {x}\n" for t, x in zip(TIMES, DEGREES, strict=True)
)
MODEL = """\
schema = 1
name = "arm"

[body.arm]
mass = 2
inertia = [1, 1, 1]

[joint.hinge]
type = "revolute"
parent = "ground"
child = "arm"
axis = [0, 0, 1]

[constraint.course]
type = "prescribed"
joint = "hinge"
motion = {type = "spline", csv = "course.csv", column = "arm"}
"""


def written(folder: Path, text: str = MODEL) -> Path:
    (folder / "course.csv").write_text(CSV)
    (folder / "arm.toml").write_text(text)
    return folder / "arm.toml"


def test_a_joint_follows_the_column_of_a_file_with_its_derivatives(tmp_path: Path) -> None:
    arm = art.load(written(tmp_path))
    run = art.simulate(arm, 0.4, step=5e-3)
    wanted = CubicSpline(TIMES, np.radians(DEGREES), bc_type="clamped")
    inside = (run.t > 0.001) & (run.t < 0.399)
    for order, name in enumerate(("q", "v", "vdot")):
        assert run[name][inside, 0] == pytest.approx(wanted(run.t[inside], order), abs=1e-8), name


def test_points_in_the_file_itself_have_units() -> None:
    motion = 'motion = {type = "spline", times = [0, "200 ms"], values = [0, "30 deg"]}'
    held = parse_toml(MODEL.replace(MODEL[MODEL.index("motion") :].strip(), motion)).constraints[0]
    assert held == Prescribed("course", "hinge", Spline((0.0, 0.2), (0.0, np.pi / 6)))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (', column = "arm"', "", r"motion\.csv: found 'course\.csv': 2 columns; expected the name of one"),
        ('"arm"}', '"rail"}', r"motion\.csv: .*measures \[m\], not \[rad\]; expected a column in rad"),
        ('"arm"}', '"boom"}', "no column 'boom'"),
        ('type = "spline", csv', "csv", 'motion.type: found None; expected "spline"'),
        ("course.csv", "other.csv", "no such file"),
        ("column", "columns", "the unknown key 'columns'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(art.ModelError, match=said):
        read_toml(written(tmp_path, MODEL.replace(old, new)))


def test_a_study_takes_a_spline_of_a_file_as_target(tmp_path: Path) -> None:
    written(tmp_path, MODEL[: MODEL.index("[constraint")])
    text = """\
schema = 1
[study]
name = "follow"
model = "arm.toml"
[run]
t_end = 0.4
step = "5 ms"
[[component]]
type = "computed_torque"
kp = 400
kd = 40
target = {type = "spline", csv = "course.csv", column = "arm"}
[[component]]
type = "torque"
joint = "hinge"
"""
    study = parse_study(text, "study.toml", tmp_path)
    run = study.loop.simulate(0.4, step=5e-3)
    wanted = CubicSpline(TIMES, np.radians(DEGREES), bc_type="clamped")
    # acceleration fed forward: what is left is of RK4; without the jumps at both ends known to it, 2e-3
    assert run.q[:, 0] == pytest.approx(wanted(run.t), abs=1e-5)
    target = Spline(TIMES, tuple(np.radians(DEGREES)))
    law, motor = art.components.ComputedTorque(kp=400, kd=40, target=target), art.components.Torque("hinge")
    assert law.times == (0.0, 0.4)  # where its acceleration jumps
    same = art.simulate(art.load(tmp_path / "arm.toml"), 0.4, controller=law, components=[motor], step=5e-3)
    assert same.q == pytest.approx(run.q, abs=1e-12)
    same.save(tmp_path / "run.nc")
    again = art.load_run(tmp_path / "run.nc").again({})  # the spline is written with the run
    assert again.q == pytest.approx(run.q, abs=1e-12)


def test_a_scaled_mechanism_follows_a_scaled_path() -> None:
    rail = art.Mechanism("rail")
    rail.body("cart", 2.0, (0, 0, 0), (1, 1, 1))
    rail.joint("x", art.Prismatic((1, 0, 0)), "ground", "cart")
    rail.constrain(Prescribed("path", "x", Spline((0.0, 1.0), (0.0, 0.5))))
    half = rail.with_scale(length=0.5, time=2.0)
    assert half.description.constraints[0] == Prescribed("path", "x", Spline((0.0, 2.0), (0.0, 0.25)))


def carrier() -> art.Mechanism:
    """Return a platform that floats, with a payload on a rail at the tip of its flexible boom."""
    ship = art.Mechanism("ship", gravity=(0, 0, 0))
    ship.body("platform", mass=10.0, inertia=(2.0, 2.0, 2.0))
    ship.joint("float", art.Planar(), parent="ground", child="platform")
    ship.flexible("boom", beam_body(1.0, EI=30.0, mass_per_length=0.8, modes=2, elements=4))
    ship.joint("root", art.Fixed(), parent="platform", child="boom", at=(0.2, 0, 0))
    ship.body("payload", mass=3.0, inertia=(0.1, 0.1, 0.1))
    ship.joint("rail", art.Prismatic((0, 1, 0)), parent="boom", child="payload", node="tip")
    ship.constrain(Prescribed("path", "rail", Spline((0.0, 0.3, 0.5), (0.0, 0.4, 0.1))))
    return ship


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # bent by a third of its length: laws hold for the equations
def test_a_payload_on_a_flexible_boom_of_a_free_platform_keeps_momentum() -> None:
    """Nothing acts from outside: momentum stays zero, and the common center of mass where it was."""
    ship = carrier()
    adaptive = {"method": "dormand_prince", "rtol": 1e-10, "atol": 1e-12}
    run = art.simulate(ship, 0.6, sample=0.05, outputs=["momentum"], **adaptive)
    assert np.abs(run.signals["momentum"].values).max() < 1e-9  # of some 6 kg m/s that the payload has
    center = ship.center_of_mass(run.q)
    assert np.abs(center - center[0]).max() < 1e-9
    assert np.ptp(run.q[:, ship.q_slice("float")], axis=0).max() > 0.02  # the platform gives way
    assert np.abs(run.q[:, ship.description.mode_slices("boom")[1]]).max() > 1e-3  # and the boom bends
    at = ship.q_slice("rail")
    assert run.q[-1, at] == pytest.approx([0.1], abs=1e-9)


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # bent by a third of its length: laws hold for the equations
def test_fixed_steps_keep_their_order_where_the_motion_begins_and_ends() -> None:
    """The prescribed acceleration jumps at both ends; RK4 at half the step has a 16th of the error in momentum."""
    ship, errors = carrier(), []
    for step in (4e-3, 2e-3):
        run = art.rollout(ship, 0.6, ship.neutral[None], step=step, sample=0.1, outputs=["momentum"])
        errors.append(np.abs(run["momentum"]).max())
    assert errors[0] / errors[1] > 12
    with pytest.raises(art.InputError, match=r"jumps or bends at t = 0\.5 s, inside a step"):
        art.rollout(ship, 0.6, ship.neutral[None], step=3e-3)


def test_a_platform_moves_back_by_the_share_of_the_payload() -> None:
    """Printed law of two bodies: x_platform = -m s / (m + M), at every time."""
    raft = art.Mechanism("raft", gravity=(0, 0, 0))
    raft.body("raft", mass=6.0, inertia=(1.0, 1.0, 1.0))
    raft.joint("float", art.Prismatic((1, 0, 0)), parent="ground", child="raft")
    raft.body("payload", mass=2.0, inertia=(0.1, 0.1, 0.1))
    raft.joint("rail", art.Prismatic((1, 0, 0)), parent="raft", child="payload")
    raft.constrain(Prescribed("path", "rail", Spline(TIMES, (0.0, 0.2, -0.1, 0.3))))
    run = art.simulate(raft, 0.5, step=5e-3)
    assert run.q[:, 0] == pytest.approx(-0.25 * run.q[:, 1], abs=1e-9)
