"""Actuators, sensors and keyframes of MJCF files: the forces and readings of MuJoCo at the same state."""

from __future__ import annotations

import casadi as ca
import mujoco
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulModel
from articulus.model.files import parse_mjcf, parse_toml, toml_text
from articulus.model.mechanism import Device, Equipment
from articulus.simulation.loop.components import Expression

from .support import Loop

ROBOT = """<mujoco model="robot">
  <compiler angle="radian"/>
  <option gravity="1 2 -9"/>
  <worldbody>
    <body name="hull" pos="0 0 1">
      <freejoint name="float"/>
      <geom type="box" size="0.3 0.2 0.1" pos="0.05 0 0"/>
      <site name="imu" pos="0.1 0.2 0.05" euler="0.3 0.2 0.1"/>
      <body name="arm" pos="0.3 0 0" gravcomp="0.5">
        <joint name="h" axis="0 1 0" pos="0 0 0.05" ref="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
        <body name="rod" pos="0.5 0 0">
          <joint name="s" type="slide" axis="1 0 0"/>
          <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.04"/>
          <body name="tip" pos="0.5 0 0"><geom size="0.1" pos="0 0 0.05"/><site name="cell" pos="0.1 0.2 0.3" euler="0.3 0.4 0.5"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cable"><joint joint="h" coef="0.3"/><joint joint="s" coef="-2"/></fixed>
  </tendon>
  <actuator>
    <motor name="motor" joint="h" gear="3" ctrllimited="true" ctrlrange="-1 1"/>
    <position name="servo" joint="s" kp="20" kv="2" forcerange="-5 5"/>
    <velocity name="speed" joint="h" kv="4"/>
    <general name="slow" joint="h" dyntype="filter" dynprm="0.1" gainprm="7"/>
    <motor name="pull" tendon="cable" gear="1.5"/>
  </actuator>
  <sensor>
    <gyro name="gyro" site="imu"/>
    <velocimeter name="log" site="imu"/>
    <accelerometer name="felt" site="imu"/>
    <jointpos name="angle" joint="h"/>
    <jointvel name="rate" joint="s"/>
    <framepos name="where" objtype="site" objname="cell"/>
    <framelinvel name="motion" objtype="xbody" objname="rod"/>
    <force name="force" site="cell"/>
    <torque name="torque" site="cell"/>
    <actuatorfrc actuator="motor"/>
  </sensor>
  <keyframe>
    <key name="home" qpos="1 2 3 0.8 0 0.6 0 0.3 -0.1" qvel="1 2 3 0.1 0.2 0.3 0.4 0.5" ctrl="0.5 0 0 0 0.25"/>
    <key qpos="0 0 1 1 0 0 0 0.2 0"/>
  </keyframe>
</mujoco>"""
COMMANDS = np.array([2.5, 0.3, -0.7, 0.9, 0.4])


@pytest.fixture(scope="module")
def robot() -> art.Mechanism:
    return art.Mechanism.from_description(parse_mjcf(ROBOT, strict=True))


@pytest.fixture(scope="module")
def theirs() -> mujoco.MjData:
    """MuJoCo's state at the keyframe, with commands and with its filter at 0.6."""
    model = mujoco.MjModel.from_xml_string(ROBOT)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[:], data.act[:] = COMMANDS, 0.6
    mujoco.mj_forward(model, data)
    return data


@pytest.fixture(scope="module")
def loop(robot: art.Mechanism) -> Loop:
    commands = Expression(ca.Function("c", [ca.SX.sym("t")], [ca.DM(COMMANDS)], ["t"], ["u"]))
    home = robot.states["home"]
    return Loop(robot, commands, *robot.components()).put(q=home.q, v=home.v, slow__first_order_1=0.6)


def test_keyframes_are_states(robot: art.Mechanism, theirs: mujoco.MjData) -> None:
    home = robot.states["home"]
    assert list(robot.states) == ["home", "key1"]
    for name, row in (("hull", 1), ("tip", 4)):
        X = robot.pose(name, home.q)
        np.testing.assert_allclose(X[:3, 3], theirs.xpos[row], atol=1e-14)
        np.testing.assert_allclose(X[:3, :3], theirs.xmat[row].reshape(3, 3), atol=1e-14)
    moving = robot.velocity("hull", home.q, home.v)
    np.testing.assert_allclose(moving[3:], [1, 2, 3], atol=1e-14)  # MuJoCo: in ground axes
    assert home.commands == {"motor": 0.5, "servo": 0.0, "speed": 0.0, "slow": 0.0, "pull": 0.25}


def test_actuators_push_as_in_mujoco(loop: Loop, theirs: mujoco.MjData) -> None:
    np.testing.assert_allclose(loop.signal("tau")[6:], theirs.qfrc_actuator[6:], rtol=1e-13)
    for i, name in enumerate(("motor", "servo", "speed", "slow", "pull")):
        np.testing.assert_allclose(loop.signal(f"{name}.force"), theirs.actuator_force[i], rtol=1e-13)
    rate = loop.rate("slow.first_order_1")
    np.testing.assert_allclose(rate, (COMMANDS[3] - 0.6) / 0.1, rtol=1e-13)


SENSORS = {
    "gyro": "gyro.rate",
    "log": "log.velocity",
    "felt": "felt.specific_force",
    "angle": "angle.q",
    "rate": "rate.v",
    "where": "where.position",
    "motion": "motion.linear",
    "force": "force.force",
    "torque": "torque.moment",
}


@pytest.mark.parametrize("sensor", SENSORS)
def test_sensors_read_as_in_mujoco(sensor: str, loop: Loop, theirs: mujoco.MjData) -> None:
    """The acceleration too: with gravity compensation, filter and drives the motion is MuJoCo's."""
    np.testing.assert_allclose(
        loop.signal(SENSORS[sensor]), theirs.sensor(sensor).data, rtol=1e-9, atol=1e-12
    )


def test_what_no_component_is_for_is_listed() -> None:
    more = '<actuator><intvelocity name="drift" joint="h" actrange="-1 1"/></actuator>'
    more += '<sensor><touch name="skin" site="imu"/></sensor></mujoco>'
    with pytest.warns(DoubtfulModel, match="1 omitted actuator, 1 omitted sensor"):
        found = parse_mjcf(ROBOT.replace("</mujoco>", more)).findings
    assert [f.found for f in found][:2] == [
        "actuator 'drift' with dynamics other than a filter of first order",
        "sensor 'skin' of touch",
    ]


def test_gravity_compensation_follows_gravity_and_mass() -> None:
    """As in the same file with the other numbers; other devices stay."""
    given = ROBOT.replace('gravity="1 2 -9"', 'gravity="3 -1 4"')
    turned = art.load(ROBOT).with_gravity((3, -1, 4))
    assert turned.description.equipment == art.load(given).description.equipment
    arm = next(b for b in turned.description.bodies if b.name == "arm")
    heavy = turned.with_inertia("arm", mass=2 * arm.mass, com=(0.1, 0.2, 0.3))
    (force,) = [dict(d.values) for d in heavy.description.equipment.devices if d.type == "frame_wrench"]
    np.testing.assert_allclose(
        force["wrench"], [0, 0, 0, *(-0.5 * 2 * arm.mass * np.array([3, -1, 4]))], rtol=1e-12
    )
    np.testing.assert_allclose(
        heavy.pose(force["frame"], heavy.neutral), heavy.pose("arm", heavy.neutral) @ _shift(0.1, 0.2, 0.3)
    )
    weightless = turned.with_gravity((0, 0, 0))
    assert not np.any(
        [
            dict(d.values)["wrench"]
            for d in weightless.description.equipment.devices
            if d.type == "frame_wrench"
        ]
    )


def _shift(*xyz: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = xyz
    return X


@pytest.mark.filterwarnings(
    "ignore:(?s).*the run has no contact"
)  # told once a process: another test may have heard it
def test_a_robot_runs_with_its_components(robot: art.Mechanism) -> None:
    home = robot.states["home"]
    run = art.simulate(robot, 0.01, home.q, home.v, components=robot.components(), step=1e-3)
    assert run.ok
    assert np.shape(run.signals["felt.specific_force"].values) == (11, 3)


def test_equipment_is_kept_in_toml_files(robot: art.Mechanism) -> None:
    again = parse_toml(toml_text(robot.description))
    assert again == robot.description
    assert again.equipment == robot.description.equipment


WRONG = {
    "[component.a]\njoint = 'h'": "component.a: found no type",
    "[component.a]\ntype = 'torque'\njoint = 1979-05-27": "component.a.joint",
    "component = 3": "component: found 3",
    "[state.a]\npositions = {h = nan}": "state.a.positions.h: found nan",
    "[state.a]\nplaces = {h = 1}": "the unknown key 'places'",
    "[state.a]\npositions = 3": "state.a.positions: found 3",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_tables_are_named(text: str) -> None:
    head = "schema = 1\nname = 'a'\n"
    body = "\n[body.b]\nmass = 1\ninertia = [1, 1, 1]\n[joint.h]\ntype = 'revolute'\nparent = 'ground'\nchild = 'b'\naxis = [0, 0, 1]\n"
    whole = head + text + body if text.startswith("component =") else head + body + text
    with pytest.raises(art.ModelError) as caught:
        parse_toml(whole)
    assert WRONG[text] in str(caught.value)


def test_a_device_of_an_unknown_type_is_named(robot: art.Mechanism) -> None:
    d = robot.description
    strange = art.Mechanism.from_description(
        d.build(d.name, d.bodies, d.connections, equipment=Equipment((Device("rate_gyr", (("name", "g"),)),)))
    )
    with pytest.raises(art.InputError, match=r"'g': found the type 'rate_gyr'.*did you mean 'rate_gyro'"):
        strange.components()
