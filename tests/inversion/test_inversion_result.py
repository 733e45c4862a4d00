"""What every inversion returns: when its inputs act, its components, its file, its picture."""

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.inversion import Inversion
from articulus.simulation.loop.components import Torque


@pytest.fixture
def bump() -> Inversion:
    t = np.linspace(-1.0, 2.0, 3001)
    y = np.where((t > 0) & (t < 1), np.sin(np.pi * t) ** 2, 0.0)
    u = np.exp(-(((t - 0.5) / 0.2) ** 2))
    return Inversion(
        "test", t, u[:, None], y[:, None], ("tau.joint1",), ("tip.x",), ("N m",), ("m",), 0.0, 1.0
    )


def test_support_is_where_an_input_exceeds_a_thousandth_of_its_peak(bump: Inversion) -> None:
    half = 0.2 * np.sqrt(np.log(1e3))  # exp(-(x / 0.2)^2) = 1e-3
    assert bump.support == pytest.approx((0.5 - half, 0.5 + half), abs=1.01e-3)
    assert bump.pre == pytest.approx(half - 0.5, abs=1.01e-3)
    assert bump.post == pytest.approx(half - 0.5, abs=1.01e-3)


def test_inputs_that_do_nothing_act_at_no_time(bump: Inversion) -> None:
    idle = Inversion(
        "test", bump.t, 0 * bump.inputs, bump.outputs, *(("a",), ("b",), ("N",), ("m",)), 0.0, 1.0
    )
    assert idle.pre == idle.post == 0.0


def test_file_holds_every_column(bump: Inversion, tmp_path) -> None:
    bump.to_csv(tmp_path / "x.csv")
    text = (tmp_path / "x.csv").read_text().splitlines()
    assert text[0] == "t [s],tau.joint1 [N m],tip.x [m]"
    back = np.loadtxt(tmp_path / "x.csv", delimiter=",", skiprows=1)
    assert np.array_equal(back, np.column_stack([bump.t, bump.inputs, bump.outputs]))


def test_components_push_the_joint_as_the_inputs_say() -> None:
    arm = art.load("two_link")
    joint = arm.joint_names[0]
    t = np.linspace(-0.05, 0.05, 101)
    force = np.cos(10 * np.pi * t) ** 2
    bump = Inversion(
        "test", t, force[:, None], t[:, None], (f"tau.{joint}",), ("y",), ("N m",), ("m",), 0.0, 0.1
    )
    run = art.simulate(arm, 0.1, components=bump.components(), step=5e-4)
    found = run[f"{joint}_prescribed_force.force"].ravel()
    # a cubic spline with steps h = 1e-3 is off by (5/384) h^4 times the fourth derivative, 8 (10 pi)^4: 1e-7
    assert found == pytest.approx(np.cos(10 * np.pi * (run.t - 0.05)) ** 2, abs=1.1e-7)


def test_other_inputs_are_neither_joint_forces_nor_commands(bump: Inversion) -> None:
    volts = Inversion("test", bump.t, bump.inputs, bump.outputs, ("V1",), ("y",), ("V",), ("m",), 0.0, 1.0)
    with pytest.raises(InputError, match=r"'V1'.*tau\..*u\."):
        volts.components()


def test_commands_drive_the_actuator_of_that_name() -> None:
    arm = art.load("two_link")
    joint = arm.joint_names[1]
    t = np.linspace(0.0, 0.1, 11)
    bend = 3 * t[:, None] ** 2 * (0.1 - t[:, None]) ** 2
    ramp = Inversion("test", t, bend, bend, ("u.drive",), ("y",), ("N m",), ("m",), 0.0, 0.1)
    drives = [Torque(arm.joint_names[0], name="other"), Torque(joint, name="drive")]
    run = art.simulate(arm, 0.1, components=[*ramp.components(), *drives], step=1e-3)
    assert np.allclose(run["drive.force"].ravel()[::10], bend.ravel(), atol=1e-14)  # the spline's own points
    assert not run["other.force"].any()
    with pytest.raises(InputError, match="drive"):
        art.simulate(arm, 0.1, components=[*ramp.components(), drives[0]], step=1e-3)
