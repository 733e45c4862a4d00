"""Tables, loads, noise, stops and contact."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus import kernel
from articulus.simulation.loop.components import (
    Backlash,
    FrameWrench,
    GroundContact,
    JointStop,
    PrescribedForce,
    Table,
    WhiteNoise,
)

from .support import Loop, floater, function_of_time, slider

RNG = np.random.default_rng(7)
TIMES = np.sort(RNG.uniform(0, 10, 40))
VALUES = RNG.normal(size=(40, 3))
AT = np.concatenate([[-1.0, 11.0], TIMES, RNG.uniform(-0.5, 10.5, 200)])


def looked_up(table: Table) -> np.ndarray:
    """Return the rows of a table at AT, in native code."""
    t = ca.SX.sym("t")
    return np.asarray(kernel.compile(ca.Function("table", [t], [table.at(t)]))(AT))


def test_linear_table_equals_interp() -> None:
    found = looked_up(Table(TIMES, VALUES))
    for k in range(3):
        assert found[:, k] == pytest.approx(np.interp(AT, TIMES, VALUES[:, k]), abs=1e-13)  # rounding


def test_held_table_gives_its_rows_exactly() -> None:
    rows = np.maximum(np.searchsorted(TIMES, AT, side="right") - 1, 0)
    assert np.array_equal(looked_up(Table(TIMES, VALUES, hold=True)), VALUES[rows])


def test_table_of_one_row() -> None:
    assert np.array_equal(looked_up(Table([2.0], [[1.0, 2.0]])), np.tile([1.0, 2.0], (len(AT), 1)))


@pytest.mark.parametrize(
    ("times", "values", "text"),
    [
        ([0, 0], [1, 2], "ascending"),
        ([0, 1], [1, 2, 3], "found 3 rows; expected 2"),
        ([0, 1], [[1, 2], [3]], "found rows of [1, 2] numbers"),
        ([0, np.nan], [1, 2], "finite"),
        ([0, 1], [1, np.inf], "finite"),
    ],
)
def test_wrong_tables(times: list, values: list, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        Table(times, values)
    assert text in str(caught.value)


def test_loads_tell_the_times_of_their_tables() -> None:
    assert PrescribedForce("lift", Table([0.5, 2.0], [1.0, 2.0])).times == (0.5, 2.0)
    assert PrescribedForce("lift", 1.0).times == ()


def test_values_of_a_table_may_be_parameters() -> None:
    force = Table([0.0, 1.0], [0.0, art.Parameter("peak", 4.0)])
    loop = Loop(slider(), PrescribedForce("lift", force))
    loop.t = 0.5
    assert loop.signal("tau") == 2.0
    loop.p = np.array([10.0])
    assert loop.signal("tau") == 5.0


def test_frame_wrench_equals_forward_dynamics_under_it() -> None:
    body = floater()
    q, v = body.neutral.copy(), RNG.normal(size=6)
    wrench = function_of_time(lambda t: ca.vertcat(1, t, 2, -3 * t, 4, 5))
    loop = Loop(body, FrameWrench("hull", wrench)).put(q=q, v=v)
    loop.t = 2.0
    expected = body.forward_dynamics(q, v, np.zeros(6), wrenches={"hull": [1, 2, 2, -6, 4, 5]})
    assert loop.signal("vdot") == pytest.approx(expected)


def test_white_noise_keeps_its_density_whatever_the_step() -> None:
    """A unit mass under white force of density S has a velocity variance S t / m^2."""
    loop = Loop(slider(mass=2.0), WhiteNoise(density=0.5, joint="lift"))
    for h in (0.01, 0.04):
        loop.h = h
        loop.w = np.array([1.0])
        assert loop.signal("tau") == pytest.approx(np.sqrt(0.5 / h))
        variance_rate = loop.rate("v")[0] ** 2 * h  # variance that a step adds, over the step
        assert variance_rate == pytest.approx(0.5 / 2.0**2)


def test_sampled_white_noise_scales_with_its_period() -> None:
    loop = Loop(floater(), WhiteNoise(density=(1, 1, 1, 4, 4, 4), frame="hull", period=0.25)).put(
        q=floater().neutral
    )
    loop.w = np.ones(6)
    assert loop.update().signal("hull_white_noise.force") == pytest.approx([2, 2, 2, 4, 4, 4])


def test_joint_stop_pushes_and_never_pulls() -> None:
    loop = Loop(slider(), JointStop("lift", stiffness=100.0, damping=10.0, lower=-1.0, upper=0.5))
    for q, v, force in (
        (0.0, 9.0, 0),
        (0.7, 0.0, -20),
        (0.7, 1.0, -30),
        (0.7, -9.0, 0),
        (-1.2, 0.0, 20),
        (-1.2, -1.0, 30),
    ):
        assert loop.put(q=q, v=v).signal("tau")[0] == pytest.approx(force)


def test_joint_stop_takes_the_limits_of_the_joint() -> None:
    m = art.Mechanism("limited")
    m.body("b", mass=1.0, inertia=(1, 1, 1))
    m.joint("j", art.Revolute(), parent="ground", child="b", limits=art.Limits(lower=(-0.2,), upper=(0.3,)))
    loop = Loop(m, JointStop("j", stiffness=10.0))
    assert loop.put(q=0.5).signal("tau")[0] == pytest.approx(-2.0)
    with pytest.raises(art.InputError, match="Give them here, or as limits of joint 'lift'"):
        Loop(slider(), JointStop("lift", stiffness=10.0))


def test_backlash_is_free_in_its_gap_and_pushes_from_either_flank() -> None:
    loop = Loop(slider(), Backlash("lift", gap=0.4, stiffness=100.0, damping=10.0, center=1.0))
    for q, v, force in (
        (1.19, 9.0, 0),
        (0.81, -9.0, 0),
        (1.3, 0.0, -10),
        (1.3, 1.0, -20),
        (1.3, -9.0, 0),
        (0.7, 0.0, 10),
        (0.7, 9.0, 0),
    ):
        assert loop.put(q=q, v=v).signal("tau")[0] == pytest.approx(force)


def test_backlash_makes_the_period_of_free_flights_and_half_swings() -> None:
    """Two flights over the gap at speed v and two half periods of a spring: 2 gap / v + 2 pi sqrt(m / k)."""
    mass, k, gap, speed = 2.0, 5000.0, 0.02, 0.5
    period = 2 * gap / speed + 2 * np.pi * np.sqrt(mass / k)
    given = {"method": "dormand_prince", "rtol": 1e-10, "step": period / 100}
    run = art.simulate(slider(mass), period, v0=[speed], components=[Backlash("lift", gap, k)], **given)
    assert run.q[-1, 0] == pytest.approx(0, abs=1e-8)  # rtol, in both bends of a swing
    assert run.v[-1, 0] == pytest.approx(speed, abs=1e-7)
    assert np.abs(run["energy.balance"]).max() < 1e-8


def test_backlash_of_a_gear_hands_over_momentum() -> None:
    """A driver hits the other flank without loss: ratio J w + J_d w_d stays, and w - ratio w_d turns round."""
    J, J_d, ratio, w_d = 0.5, 0.02, 0.1, 20.0
    m = art.Mechanism("gear", gravity=(0, 0, 0))
    for name, inertia in (("wheel", J), ("motor", J_d)):
        m.body(name, mass=1.0, inertia=(inertia,) * 3)
        m.joint(f"{name}_shaft", art.Revolute(axis=(0, 0, 1)), parent="ground", child=name)
    play = Backlash("wheel_shaft", 0.01, 1e4, driver="motor_shaft", ratio=ratio)
    run = art.simulate(m, 0.025, v0=[0.0, w_d], components=[play], method="dormand_prince", rtol=1e-10)
    wheel = 2 * J_d * ratio * w_d / (J_d + ratio**2 * J)
    assert run.v[-1, 0] == pytest.approx(wheel, rel=1e-7)
    assert run.v[-1, 1] == pytest.approx(w_d - ratio * J * wheel / J_d, rel=1e-7)
    with pytest.raises(
        art.InputError, match="driver: found 'wheel_shaft', the joint itself; expected another"
    ):
        Backlash("wheel_shaft", 0.01, 1e4, driver="wheel_shaft")


def test_ground_contact_rests_where_weight_and_stiffness_balance() -> None:
    body = slider(mass=2.0, gravity=-10.0)
    loop = Loop(body, GroundContact("carriage", stiffness=2e4, dissipation=0.5))
    depth = (20.0 / 2e4) ** (2 / 3)
    assert loop.put(q=-depth).rate("v") == pytest.approx(0, abs=1e-12)
    assert loop.put(q=0.1).signal("carriage_ground_contact.force") == pytest.approx([0, 0, 0])
    assert loop.put(q=-depth, v=-0.1).rate("v") == pytest.approx(10 * 1.5 * 0.5 * 0.1)  # loss pushes back
    assert loop.put(q=-depth, v=9.0).signal("carriage_ground_contact.force")[2] == 0  # never pulls


def test_ground_contact_restitution_is_that_of_hunt_and_crossley() -> None:
    """e = 1 - a v for small a v, to second order in it."""
    a, speed = 0.05, 1.0
    loop = Loop(slider(mass=1.0), GroundContact("carriage", stiffness=1e5, dissipation=a)).put(
        q=1e-3, v=-speed
    )
    back = loop.run(0.05, 1e-4)["v"][-1, 0]
    assert back == pytest.approx(speed * (1 - a * speed), abs=2 * (a * speed) ** 2)


def test_ground_contact_friction_opposes_sliding() -> None:
    body = floater()
    q = body.neutral.copy()
    loop = Loop(body, GroundContact("hull", stiffness=1e4, friction=0.6))
    names = body.description.coordinate_names()
    q[[n.split(".")[-1] for n in names].index("z")] = -0.01
    x, y, z = loop.put(q=q, v=[0, 0, 0, 3.0, -4.0, 0]).signal("hull_ground_contact.force")
    assert z == pytest.approx(1e4 * 0.01**1.5)
    assert [x, y] == pytest.approx([-0.6 * z * 0.6, 0.6 * z * 0.8], rel=1e-6)  # slip speed 1e-3 against 5 m/s
