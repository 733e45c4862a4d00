"""A robot with a box, a cylinder and a mesh."""

from __future__ import annotations

from pathlib import Path

from files.meshes import ball, stl_bytes

MASS = (
    '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
MESH_COLOR = (200, 30, 160)
"""Of the ball at the tip; nothing else on a page has it."""
ROBOT = f"""<robot name="drawn">
  <material name="steel"><color rgba="0.35 0.4 0.45 1"/></material>
  <link name="foot">{MASS}
    <visual><origin xyz="0 0 0.05"/><geometry><box size="0.4 0.3 0.1"/></geometry><material name="steel"/></visual>
  </link>
  <link name="arm">{MASS}
    <visual><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.05" length="0.5"/></geometry></visual>
  </link>
  <link name="tip">{MASS}
    <visual><origin xyz="0.1 0 0.05" rpy="0 0.3 0"/>
      <geometry><mesh filename="package://drawn/meshes/ball.stl" scale="0.001 0.001 0.0005"/></geometry>
      <material name=""><color rgba="{" ".join(str(x / 255) for x in MESH_COLOR)} 1"/></material></visual>
  </link>
  <joint name="turn" type="continuous"><parent link="foot"/><child link="arm"/><origin xyz="0 0 0.1"/><axis xyz="0 1 0"/></joint>
  <joint name="bend" type="continuous"><parent link="arm"/><child link="tip"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def write_robot(folder: Path) -> Path:
    """Write the robot as a package "drawn", its mesh in millimetres, and return its URDF file."""
    for name in ("urdf", "meshes"):
        (folder / "drawn" / name).mkdir(parents=True)
    (folder / "drawn" / "meshes" / "ball.stl").write_bytes(stl_bytes(ball(24, 120.0)))
    place = folder / "drawn" / "urdf" / "robot.urdf"
    place.write_text(ROBOT)
    return place
