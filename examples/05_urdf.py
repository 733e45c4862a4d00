"""URDF: a file that is right, and one that is not."""

# %% Write a small robot
import tempfile
from pathlib import Path

import numpy as np

import articulus as art

ROBOT = """<robot name="two_arm">
  <link name="base"/>
  <link name="upper">
    <inertial> <origin xyz="0 0 -0.2"/> <mass value="2"/>
      <inertia ixx="0.03" iyy="0.03" izz="0.002" ixy="0" ixz="0" iyz="0"/> </inertial>
  </link>
  <link name="fore">
    <inertial> <origin xyz="0 0 -0.15"/> <mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/> </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/> <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="30" velocity="3"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/> <child link="fore"/> <origin xyz="0 0 -0.4"/> <axis xyz="0 1 0"/>
  </joint>
</robot>
"""
folder = Path(tempfile.mkdtemp())
(folder / "two_arm.urdf").write_text(ROBOT)

# %% Read it, and keep it as TOML
arm = art.load(folder / "two_arm.urdf")
print(arm, arm.joint_names, "gravity torque", arm.gravity([0.5, 0.5]).round(3))
arm.save(folder / "two_arm.toml")
same = art.load(folder / "two_arm.toml")

# %% What is wrong is said with its line: all of it at once
(folder / "wrong.urdf").write_text(ROBOT.replace('link="fore"/>', 'link="for"/>'))
try:
    art.load(folder / "wrong.urdf")
    message = ""
except art.ModelError as error:
    message = str(error)
print(message)

assert same.description == arm.description
assert np.isclose(arm.gravity([0.5, 0.0])[1], 9.81 * 0.15 * np.sin(0.5))
assert "wrong.urdf:" in message
assert "second root link" in message
assert "did you mean 'fore'" in message
