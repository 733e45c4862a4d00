"""The input shaper in a loop: the mode that it is made for is at rest when the shaped command is, by closed form."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.control.filters import zv, zvd
from articulus.simulation.loop.components import (
    FirstOrderActuator,
    InputShaper,
    PrescribedCommand,
    SpringDamper,
    Table,
)

from .support import Loop, slider

MASS, FORCE, PERIOD = 2.0, 3.0, 0.01


@pytest.mark.parametrize("damping", [0.0, 0.1])
@pytest.mark.parametrize("make", [zv, zvd])
def test_a_shaped_step_leaves_no_vibration(make, damping):
    """Half a period is a whole number of instants here, so that nothing but rounding and RK4 (1e-9) is left; unshaped the mass swings."""
    w = np.pi / (20 * 2 * PERIOD) / np.sqrt(1 - damping**2)
    m = slider(MASS).frame("anchor", "ground")
    spring = SpringDamper("anchor", "carriage", MASS * w**2, 2 * damping * w * MASS, length=1.0)
    shaper = make(w, damping)
    parts = [spring, PrescribedCommand("lift", FORCE), InputShaper.of(shaper, PERIOD, before=0.0)]
    run = art.simulate(m, 2.0, q0=[1.0], components=parts, step=1e-3, outputs=["input_shaper.output"])
    after = run.t > shaper.duration + PERIOD / 2
    stretch = FORCE / (MASS * w**2)
    np.testing.assert_allclose(run.q[after, 0] - 1.0, stretch, rtol=1e-7)
    np.testing.assert_allclose(run.v[after, 0], 0.0, atol=1e-7 * w * stretch)
    plain = art.simulate(m, 2.0, q0=[1.0], components=parts[:2], step=1e-3)
    assert np.ptp(plain.q[after]) > 0.1 * stretch


def test_delays_between_instants_are_split_and_the_first_command_holds_before_the_run():
    """The reference is the sum of the commands of earlier instants, computed beside it."""
    course = Table([0.0, 1.0], [2.0, 5.0])
    shaper = InputShaper((0.0, 0.025), (0.25, 0.75), PERIOD)
    loop = Loop(slider(), PrescribedCommand("lift", course), shaper)
    found = loop.run(0.1, PERIOD, "u")
    then = lambda t: 2.0 + 3.0 * np.maximum(t, 0.0)  # noqa: E731
    t = found["t"]
    wanted = 0.25 * then(t) + 0.375 * then(t - 0.02) + 0.375 * then(t - 0.03)
    np.testing.assert_allclose(found["u"].ravel()[:-1], wanted[:-1], rtol=1e-12)


def test_later_controllers_and_other_actuators_are_not_shaped():
    arm = art.load("two_link")
    one, two = arm.joint_names
    parts = (
        PrescribedCommand(one, 4.0, name="early"),
        PrescribedCommand(two, 7.0, name="other"),
        InputShaper((0.0, 0.05), (0.5, 0.5), PERIOD, commands=(one,), before=0.0),
        PrescribedCommand(one, 1.0, name="late"),
    )
    loop = Loop(arm, *parts)
    found = loop.run(0.08, PERIOD, "u")["u"]
    np.testing.assert_allclose(found[2], [3.0, 7.0])
    np.testing.assert_allclose(found[6], [5.0, 7.0])


def test_actuators_with_states_follow_shaped_commands():
    loop = Loop(
        slider(),
        PrescribedCommand("lift_torque", 2.0),
        InputShaper((0.0,), (0.5,), PERIOD),
        FirstOrderActuator("lift", bandwidth=20.0),
    )
    found = loop.run(0.2, PERIOD, "tau")
    np.testing.assert_allclose(
        found["tau"].ravel(), 1 - np.exp(-20 * found["t"]), atol=1e-4
    )  # RK4 with w h = 0.2


def test_bad_shapers_are_named():
    with pytest.raises(art.InputError, match="2, one for each delay"):
        InputShaper((0.0, 0.1), (1.0,), PERIOD)
    with pytest.raises(art.InputError, match="ascending"):
        InputShaper((0.2, 0.1), (0.5, 0.5), PERIOD)
    with pytest.raises(art.InputError, match="expected something that is commanded"):
        Loop(slider(), InputShaper((0.0,), (1.0,), PERIOD, commands=("left",)))
