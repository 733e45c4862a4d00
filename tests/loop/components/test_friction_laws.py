"""Friction that sticks: holds below its level, slides at it, loses what it should; by given levels and by reactions."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop import components as c
from articulus.simulation.results.diagnostics import energy_error

TIGHT = {"method": "rosenbrock", "rtol": 1e-9, "atol": 1e-11}


def slider(angle: float = 0.0) -> art.Mechanism:
    """A block of 2 kg on a guide along x that is inclined to the horizontal."""
    g = (9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
    m = art.Mechanism("slider", gravity=g)
    m.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
    return m.joint("guide", art.Prismatic(axis=(1, 0, 0)), "ground", "block")


def test_below_the_level_the_joint_is_held_and_does_not_creep() -> None:
    friction = c.JointFriction("guide", coulomb=5.0, static=6.0, stiffness=1e5, damping=600.0)
    push = c.PrescribedForce("guide", c.Table([0, 0.5], [0, 5.5]))  # at once it would swing across the level
    run = art.simulate(slider(), 10.0, components=[friction, push], step=0.01, sample=0.1, **TIGHT)
    np.testing.assert_allclose(run["guide_joint_friction.deflection"][-1], 5.5 / 1e5, rtol=1e-5)
    # below the Stribeck speed dz/dx = 1 - s0 z / Fs on the way there
    np.testing.assert_allclose(run.q[-1], -6.0 / 1e5 * np.log(1 - 5.5 / 6.0), rtol=0.1)
    late = run.q[run.t > 1.0, 0]
    assert np.ptp(late) < 1e-9


def test_above_it_slides_with_coulomb_friction() -> None:
    friction = c.JointFriction("guide", coulomb=5.0, static=6.0, stiffness=1e5, damping=600.0, viscous=0.5)
    run = art.simulate(
        slider(), 1.0, step=0.01, components=[friction, c.PrescribedForce("guide", 9.0)], **TIGHT
    )
    # m v' = 9 - 5 - 0.5 v, after a start of about 1e-2 s on the bristles
    v = (4.0 / 0.5) * (1 - np.exp(-0.5 * run.t[-1] / 2.0))
    np.testing.assert_allclose(run.v[-1, 0], v, rtol=2e-3)
    error, moved = energy_error(run)
    assert error < 1e-6 * moved


@pytest.mark.parametrize("angle", [0.15, 0.35])
def test_a_guide_rubs_by_what_it_carries(angle: float) -> None:
    """mu = 0.25: held below 14 degrees; above, a = g (sin - mu cos)."""
    friction = c.BearingFriction("guide", friction=0.25, deflection=1e-5, damping=1e-3)
    run = art.simulate(slider(angle), 0.5, step=0.01, components=[friction], **TIGHT)
    np.testing.assert_allclose(run["guide_bearing_friction.load"][-1], 2 * 9.81 * np.cos(angle), rtol=1e-6)
    expected = max(9.81 * (np.sin(angle) - 0.25 * np.cos(angle)), 0.0) * run.t[-1]
    # the load is there after a few times the lag of 1 ms, in which the block falls freely
    np.testing.assert_allclose(run.v[-1, 0], expected, atol=9.81 * np.sin(angle) * 2e-3)
    error, moved = energy_error(run)
    assert error < 1e-6 * moved


def test_a_journal_stops_a_flywheel_in_the_time_of_the_book() -> None:
    """mu r m g = J |a|: 2 rad/s in J w / (mu r m g)."""
    m = art.Mechanism("wheel")
    m.body("wheel", mass=10.0, inertia=(0.2, 0.4, 0.2))
    m.joint("axle", art.Revolute(axis=(0, 1, 0)), "ground", "wheel")
    friction = c.BearingFriction("axle", friction=0.1, deflection=1e-3, radius=0.05, damping=1e-3)
    expected = 0.4 * 2.0 / (0.1 * 0.05 * 10 * 9.81)
    run = art.simulate(m, 2.0, [0.0], [2.0], components=[friction], step=0.01, **TIGHT)
    moving = run.t[run.v[:, 0] > 5e-2]  # then it swings on its bristles
    np.testing.assert_allclose(moving[-1], expected - 0.05 * expected / 2, rtol=1e-2)
    assert abs(run.v[-1, 0]) < 5e-2


def test_a_moment_presses_a_guide_at_its_ends() -> None:
    """A mass 0.5 m in front of a guide of 0.2 m: N = m g + 2 m g 0.5 / 0.2."""
    m = art.Mechanism("lift")
    m.body("block", mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("guide", art.Prismatic(axis=(1, 0, 0)), "ground", "block")
    friction = c.BearingFriction("guide", friction=0.25, deflection=1e-5, length=0.2, damping=1e-3)
    run = art.simulate(m, 0.1, components=[friction], **TIGHT)
    np.testing.assert_allclose(
        run["guide_bearing_friction.load"][-1], 2 * 9.81 * (1 + 2 * 0.5 / 0.2), rtol=1e-6
    )


def test_refusals_name_what_is_wrong() -> None:
    with pytest.raises(art.InputError, match="at least coulomb"):
        c.JointFriction("guide", coulomb=5.0, static=4.0, stiffness=1e5)
    m = art.Mechanism("wheel").body("wheel", mass=1.0, inertia=(1, 1, 1))
    m.joint("axle", art.Revolute(axis=(0, 1, 0)), "ground", "wheel")
    with pytest.raises(art.InputError, match="radius"):
        art.simulate(m, 0.1, components=[c.BearingFriction("axle", friction=0.1, deflection=1e-4)])


def test_sliding_friction_of_a_ball_on_a_slope_and_what_it_needs() -> None:
    """Mass times acceleration and spin in closed form while the ball slips; no friction where the contact would have to pull."""
    slope, mu, mass, radius = 0.5, 0.06, 3.0, 0.2
    m = art.Mechanism("slope").frame("slope", "ground", art.Pose(rpy=(0, slope, 0)))
    m.body("ball", mass=mass, inertia=(0.4 * mass * radius**2,) * 3)
    m.joint("free", art.Free(), "ground", "ball").constrain(art.SlidingContact("on", "slope", "ball", radius))
    q0 = np.array([1, 0, 0, 0, radius * np.sin(slope), 0, radius * np.cos(slope)])
    law = c.SlidingFriction("on", mu, speed=1e-5, lag=1e-4)
    run = art.simulate(m, 0.5, q0=q0, components=[law], step=1e-4, method="rk4")
    weight = mass * 9.81 * np.cos(slope)
    assert run["on_sliding_friction.load"][-1] == pytest.approx(weight, rel=1e-6)
    down = 9.81 * (np.sin(slope) - mu * np.cos(slope))
    assert np.linalg.norm(run.q[-1, 4:] - q0[4:]) == pytest.approx(
        0.5 * down * 0.25, rel=2e-4
    )  # the lag of the load
    assert run.v[-1, 1] == pytest.approx(mu * weight * 0.5 / (0.4 * mass * radius), rel=1e-3)
    assert np.abs(run["energy.balance"]).max() < 1e-6 * weight
    pulled = art.simulate(
        m,
        0.1,
        q0=q0,
        components=[law, c.FrameWrench("ball", (0, 0, 0, 0, 0, 2 * mass * 9.81))],
        step=1e-4,
    )
    assert (pulled["on_sliding_friction.load"][-1] < 0).all()
    np.testing.assert_allclose(pulled.v[-1, :3], 0, atol=1e-9)
    with pytest.raises(
        art.InputError, match=r"constraint: found 'onn'; expected the name of a SlidingContact.*'on'"
    ):
        art.Loop(m, c.SlidingFriction("onn", 0.3)).linearize()
    with pytest.raises(art.InputError, match="friction: found -1; expected a finite number above 0"):
        c.SlidingFriction("on", -1.0)


def test_sliding_friction_is_the_same_at_any_size() -> None:
    """A ball of 20 um slides as one of 20 cm does, in lengths and times of its own."""
    ways = []
    for radius in (0.2, 2e-5):
        m = art.Mechanism("slope").frame("slope", "ground", art.Pose(rpy=(0, 0.5, 0)))
        m.body("ball", mass=3.0, inertia=(1.2 * radius**2,) * 3)
        m.joint("free", art.Free(), "ground", "ball").constrain(
            art.SlidingContact("on", "slope", "ball", radius)
        )
        q0 = np.array([1, 0, 0, 0, radius * np.sin(0.5), 0, radius * np.cos(0.5)])
        time = np.sqrt(radius / 9.81)
        run = art.simulate(
            m, 2 * time, q0=q0, components=[c.SlidingFriction("on", 0.06)], step=1e-3 * time, method="rk4"
        )
        ways.append((run.q[-1, 4:] - q0[4:]) / radius)
    assert ways[1] == pytest.approx(ways[0], rel=1e-6)
