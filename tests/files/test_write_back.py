"""Changed numbers go into the file that a mechanism was read from; every other line stays."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, ModelError
from articulus.model.files.write_back import write_back
from articulus.model.mechanism import Frame, Limits, Revolute
from articulus.model.mechanism.edit import rebuilt
from articulus.model.mechanism.pose import Pose

TOML = """# an arm   (measured in May)
schema = 1
name = "arm"

[parameters]
payload = 3.0   # kg
reach = {value = "50 cm", range = ["10 cm", "2 m"]}

[body.upper]
mass = 2.0        # weighed
com = [0, 0, 0.25]
inertia = [0.05, 0.05, 0.01]

[joint.shoulder]
type = "revolute"
axis = [0, 1, 0]
parent = "ground"
child = "upper"
damping = 0.1

[body.load]  # what it carries
mass = {parameter = "payload"}
com = [0, 0, {parameter = "reach"}]
inertia = [0.1, 0.1, 0.1]

[joint.wrist]
type = "revolute"
axis = [0, 1, 0]
parent = "upper"
child = "load"
at = [0, 0, 0.5]
"""

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <!-- the base stands -->
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.25" rpy="0 0 1.5707963267948966"/>
      <mass value='2.0'/>  <!-- weighed -->
      <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/>
  </joint>
</robot>
"""

MJCF = """<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <!-- the only link -->
    <body name="upper" pos="0 0 1" euler="0 0.1 0">
      <joint name="shoulder" axis="0 1 0" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.05" mass="2"/>
    </body>
  </worldbody>
</mujoco>
"""


def file_of(folder: Path, suffix: str) -> Path:
    path = folder / f"arm{suffix}"
    path.write_text({".toml": TOML, ".urdf": URDF, ".xml": MJCF}[suffix], encoding="utf-8")
    return path


def other_lines(before: str, after: str) -> list[str]:
    """The lines of `before` that are not in `after`."""
    kept = after.splitlines()
    return [line for line in before.splitlines() if line not in kept]


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml"])
def test_numbers_are_written_and_other_lines_stay(tmp_path: Path, suffix: str) -> None:
    path = file_of(tmp_path, suffix)
    before = path.read_text(encoding="utf-8")
    old = art.load(path)
    inertia = (0.07, 0.08, 0.03, 0.001, -0.002, 0.003)
    new = old.with_inertia("upper", mass=2.5, com=(0.01, 0.0, 0.2), inertia=inertia)
    connections = [
        art_replace(c, damping=(0.35,), at=Pose((0.0, 0.01, 0.02), (0.0, 0.1, 0.0)))
        if c.name == "shoulder"
        else c
        for c in new.description.connections
    ]
    new = art.Mechanism.from_description(rebuilt(new.description, connections=tuple(connections)))
    said = write_back(path, new)
    assert "body upper" in said
    assert "shoulder" in said
    read = art.load(path)
    q = read.random_position(0, 5)
    v, a = np.random.default_rng(1).normal(size=(2, 5, read.nv))
    np.testing.assert_allclose(read.inverse_dynamics(q, v, a), new.inverse_dynamics(q, v, a), rtol=1e-9)
    after = path.read_text(encoding="utf-8")
    lost = other_lines(before, after)
    assert len(lost) <= {".toml": 4, ".urdf": 3, ".xml": 2}[suffix]
    for remark in (
        "(measured in May)",
        "# what it carries",
        "<!-- the base stands -->",
        "<!-- weighed -->",
        "<!-- the only link -->",
    ):
        assert (remark in before) == (remark in after)
    assert write_back(path, read) == "nothing"


def art_replace(connection, **changed):
    import dataclasses

    return dataclasses.replace(connection, **changed)


def test_parameters_of_a_toml_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, ".toml")
    write_back(path, {"payload": 4.25, "reach": 0.75}, to=tmp_path / "other.toml")
    assert path.read_text(encoding="utf-8") == TOML
    text = (tmp_path / "other.toml").read_text(encoding="utf-8")
    assert "payload = 4.25   # kg" in text
    assert 'reach = {value = "75.0 cm", range = ["10 cm", "2 m"]}' in text
    assert {p.name: p.value for p in art.load(tmp_path / "other.toml").description.parameters} == {
        "payload": 4.25,
        "reach": 0.75,
    }


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml"])
def test_bodies_that_cannot_exist_are_refused(tmp_path: Path, suffix: str) -> None:
    path = file_of(tmp_path, suffix)
    before = path.read_text(encoding="utf-8")
    d = art.load(path).description
    bodies = tuple(
        art_replace(b, inertia=(0.1, 0.1, 0.5, 0, 0, 0)) if b.name == "upper" else b for b in d.bodies
    )
    with pytest.raises(ModelError, match="upper"):
        write_back(path, art_replace(d, bodies=bodies))
    assert path.read_text(encoding="utf-8") == before


def test_refusals(tmp_path: Path) -> None:
    path = file_of(tmp_path, ".urdf")
    old = art.load(path)
    stiff = tuple(
        art_replace(c, stiffness=(3.0,)) if c.name == "shoulder" else c for c in old.description.connections
    )
    with pytest.raises(ModelError, match="another stiffness"):
        write_back(path, rebuilt(old.description, connections=stiff))
    with pytest.raises(InputError, match="are in one of the two mechanisms only"):
        write_back(path, art.load("two_link"))
    with pytest.raises(InputError, match="no parameter 'mass'"):
        write_back(path, {"mass": 1.0})
    with pytest.raises(InputError, match="expected a file of"):
        write_back(tmp_path / "arm.csv", old)
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_default_decides_is_told(tmp_path: Path) -> None:
    """Inertias from shapes whatever the file says: nothing is written."""
    path = tmp_path / "arm.xml"
    path.write_text(MJCF.replace('angle="radian"', 'angle="radian" inertiafromgeom="true"'), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    new = art.load(path).with_inertia("upper", mass=2.5)
    with pytest.raises(ModelError, match="Nothing was written"):
        write_back(path, new)
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("what", ["gravity", "limits", "axis", "frames"])
@pytest.mark.parametrize("with_mass", [False, True])
def test_changes_that_are_not_written_are_refused(tmp_path: Path, what: str, with_mass: bool) -> None:
    """Gravity, limits, axes and named frames are not written: a change of theirs is refused, alone and beside one that could be; the file stays."""
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    arm = art.load(path)
    d = arm.description
    joints = tuple(
        dataclasses.replace(c, joint=Revolute((1, 0, 0)))
        if what == "axis" and c.name == "shoulder"
        else dataclasses.replace(c, limits=Limits((-2.0,), (1.0,), (3.0,), (10.0,)))
        if what == "limits" and c.name == "shoulder"
        else c
        for c in d.connections
    )
    frames = (*d.frames, Frame("tip", "upper", Pose((0, 0, 0.5)))) if what == "frames" else d.frames
    changed = rebuilt(d, connections=joints, frames=frames)
    if what == "gravity":
        changed = dataclasses.replace(changed, gravity=(0.0, 0.0, -1.62))
    if with_mass:
        bodies = tuple(dataclasses.replace(b, mass=3.0) if b.name == "upper" else b for b in changed.bodies)
        changed = dataclasses.replace(changed, bodies=bodies)
    named = {
        "limits": "limits of joint shoulder",
        "axis": "axis or type of joint shoulder",
        "frames": "frame tip",
    }
    with pytest.raises(ModelError, match=named.get(what, what)):
        write_back(path, changed)
    assert path.read_text() == URDF


def test_a_micrometer_is_a_change_of_a_small_machine(tmp_path: Path) -> None:
    """Frames that differ by 1e-6 of their length do so at all sizes: of a kilometer and of a nanometer."""
    from articulus.model.files.write_back.changes import same_pose

    for size in (1e3, 1.0, 1e-9, 1e-15):
        assert not same_pose(Pose((size, 0, 0)), Pose((size * (1 + 1e-6), 0, 0)))
        assert same_pose(Pose((size, 0, 0)), Pose((size * (1 + 1e-15), 0, 0)))
