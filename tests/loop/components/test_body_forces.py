"""Forces on bodies against closed forms: thrust, drag, buoyancy, gravity of a planet, gravity over time."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop import components as c
from articulus.simulation.results.diagnostics import energy_error

TIGHT = {"step": 0.01, "method": "dormand_prince", "rtol": 1e-11, "atol": 1e-11}


def ball(gravity=(0.0, 0.0, -9.81), **more) -> art.Mechanism:
    given = {"mass": 2.0, "inertia": (0.3, 0.2, 0.1), **more}
    return (
        art.Mechanism("ball", gravity=gravity)
        .body("ball", **given)
        .joint("free", art.Free(), "ground", "ball")
    )


def start(m: art.Mechanism, position=(0, 0, 0), velocity=(0, 0, 0), spin=(0, 0, 0)):
    q = m.neutral.copy()
    q[4:7] = position
    return q, np.array([*spin, *velocity], dtype=float)


def balanced(run: art.Run, tolerance: float = 1e-8) -> bool:
    error, moved = energy_error(run)
    return error <= tolerance * moved


def test_thrust_turns_with_its_body_and_is_bounded() -> None:
    """Off the center of mass by d: alpha = F d / J, and the path follows the axis as it turns."""
    m = ball(gravity=(0, 0, 0)).frame("nozzle", "ball", (0, 0.5, 0))
    jet = c.Thruster("nozzle", axis=(1, 0, 0), upper=3.0)
    run = art.simulate(m, 1.0, components=[jet], controller=c.Expression(_constant(10.0)), **TIGHT)
    alpha = -3.0 * 0.5 / 0.1
    np.testing.assert_allclose(run.v[-1, 2], alpha, rtol=1e-9)
    t = run.t
    along = 3.0 / 2.0 * np.cos(alpha * t**2 / 2)
    position = m.pose("ball", run.q)[:, :3, 3]
    speed = np.concatenate([[0], np.cumsum((along[1:] + along[:-1]) / 2 * np.diff(t))])
    far = np.sum((speed[1:] + speed[:-1]) / 2 * np.diff(t))
    assert abs(position[-1, 0] - far) < 1e-3  # trapezoidal sums over the samples


def _constant(value: float) -> ca.Function:
    t = ca.SX.sym("t")
    return ca.Function("held", [t], [ca.SX(value)], ["t"], ["u"])


def test_a_falling_body_reaches_its_terminal_speed() -> None:
    """v = -v_t tanh(g t / v_t), v_t^2 = 2 m g / (rho C A)."""
    m = ball()
    drag = c.Drag("ball", area=0.5, coefficient=1.1, density=1.2)
    run = art.simulate(m, 6.0, components=[drag], **TIGHT)
    limit = np.sqrt(2 * 2.0 * 9.81 / (1.2 * 1.1 * 0.5))
    np.testing.assert_allclose(run.v[:, 5], -limit * np.tanh(9.81 * run.t / limit), atol=1e-7)
    assert balanced(run)


def test_a_plate_feels_the_flow_across_it_only_and_wind_is_input() -> None:
    m = ball(gravity=(0, 0, 0))
    plate = c.Drag("ball", area=1.0, density=2.0, flow=(3.0, 4.0, 0.0), normal=(1, 0, 0))
    run = art.simulate(m, 1.0, components=[plate], **TIGHT)
    # du/dt = -(rho C A / 2 m) |u| u with u = v - 3
    np.testing.assert_allclose(run.v[-1, 3], 3.0 - 3.0 / (1 + 0.5 * 3.0), rtol=1e-8)
    np.testing.assert_allclose(run.v[:, 4], 0.0, atol=1e-12)
    assert balanced(run)


def test_a_float_swings_about_half_immersion_with_the_right_frequency() -> None:
    """A sphere of half the density of water: k = rho g pi R^2 at the water line."""
    radius = 0.3
    volume = 4 / 3 * np.pi * radius**3
    m = ball(mass=500.0 * volume, inertia=(1.0, 1.0, 1.0))
    water = c.Buoyancy("ball", volume=volume, surface=1.5)
    w = np.sqrt(1000.0 * 9.81 * np.pi * radius**2 / (500.0 * volume))
    q, v = start(m, (0, 0, 1.5 + 1e-4))
    period = 2 * np.pi / w
    run = art.simulate(m, period, q, v, components=[water], **TIGHT | {"step": period / 100})
    np.testing.assert_allclose(run.q[-1, 6] - 1.5, 1e-4, rtol=1e-5)
    q, v = start(m, (0, 0, 2.5))  # falls in, dives below the surface, comes up again
    run = art.simulate(m, 3.0, q, v, components=[water], **TIGHT)
    assert run.q[:, 6].min() < 1.5 - radius < 1.5 + radius < run.q[:, 6].max()
    assert balanced(run)
    np.testing.assert_allclose(run["ball_buoyancy.volume"].min(), 0.0, atol=1e-12)


def test_below_the_surface_everywhere_is_archimedes() -> None:
    m = ball()
    run = art.simulate(m, 1.0, components=[c.Buoyancy("ball", volume=0.001)], **TIGHT)
    np.testing.assert_allclose(run.v[-1, 5], -9.81 * (1 - 1.0 / 2.0), rtol=1e-9)
    assert balanced(run)


def test_orbit_and_libration_in_the_field_of_a_planet() -> None:
    """A circular orbit closes; a dumbbell swings in pitch with w sqrt(3 (B - A) / C) (Hughes 1986, section 9.2)."""
    mu, r = 4.0e5, 100.0  # a small planet, so that second-order terms are seen
    w = np.sqrt(
        mu / r**3 * (1 + 1.5 * (2.1 - 3 * 0.1) / (5.0 * r**2))
    )  # circular, the gradient's force included
    m = art.Mechanism("dumbbell", gravity=(0, 0, 0))
    m.body("dumbbell", mass=5.0, inertia=(0.1, 1.0, 1.0)).joint("free", art.Free(), "ground", "dumbbell")
    planet = c.CentralGravity(mu=mu)
    q, v = start(m, (r, 0, 0), (0, w * r, 0), (0, 0, w))
    small = 1e-3
    q[:4] = (np.cos(small / 2), 0, 0, np.sin(small / 2))
    v[3:] = m.pose("dumbbell", q)[:3, :3].T @ [0, w * r, 0]
    period = 2 * np.pi / (w * np.sqrt(3 * 0.9))
    run = art.simulate(m, period, q, v, components=[planet], **TIGHT | {"step": period / 100})
    angle = 2 * np.arctan2(run.q[:, 3], run.q[:, 0]) - np.arctan2(run.q[:, 5], run.q[:, 4])
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    assert abs(angle[-1] - small) < 2e-4 * small + 1e-6
    assert balanced(run, 1e-7)
    h = run["momentum"]
    np.testing.assert_allclose(h[:, :3], np.broadcast_to(h[0, :3], h[:, :3].shape), rtol=1e-9, atol=1e-6)


def test_planet_needs_a_mechanism_without_gravity_and_known_bodies() -> None:
    with pytest.raises(art.InputError, match="gravity=\\(0, 0, 0\\)"):
        art.simulate(ball(), 0.1, components=[c.CentralGravity()])
    with pytest.raises(art.InputError, match="did you mean 'ball'"):
        art.simulate(ball(gravity=(0, 0, 0)), 0.1, components=[c.CentralGravity(bodies=("bal",))])


def test_gravity_over_time_is_a_launch() -> None:
    """A pendulum in a rocket: from 0 to 3 g; against the mechanism with the same constant gravity."""

    def pendulum(g: float) -> art.Mechanism:
        m = art.Mechanism("pendulum", gravity=(0, 0, -g))
        m.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
        return m.joint("pin", art.Revolute(axis=(0, 1, 0)), "ground", "rod")

    added = c.VaryingGravity((0.0, 0.0, -20.0))
    a = art.simulate(pendulum(9.81), 1.0, [0.5], components=[added, c.ForceSensor("pin")], **TIGHT)
    b = art.simulate(pendulum(29.81), 1.0, [0.5], components=[c.ForceSensor("pin")], **TIGHT)
    np.testing.assert_allclose(a.q[-1], b.q[-1], atol=1e-9)
    np.testing.assert_allclose(a["pin_force_sensor.force"][-1], b["pin_force_sensor.force"][-1], rtol=1e-7)
    free = ball(gravity=(0, 0, 0))
    ramp = c.VaryingGravity(c.Table([0, 2], [[0, 0, 0], [0, 0, -6.0]]))
    run = art.simulate(free, 2.0, components=[ramp], **TIGHT)
    np.testing.assert_allclose(run.v[-1, 5], -6.0, rtol=1e-9)
    assert balanced(run)


def test_a_wrench_may_follow_its_frame() -> None:
    m = ball(gravity=(0, 0, 0))
    q, v = start(m, spin=(0, 0, 1.0))
    load = c.FrameWrench("ball", (0, 0, 0, 2.0, 0, 0), follows=True)
    run = art.simulate(m, 1.0, q, v, components=[load], **TIGHT)
    # ground axes: a = (cos t, sin t)
    velocity = m.pose("ball", run.q[-1])[:3, :3] @ run.v[-1, 3:]
    np.testing.assert_allclose(velocity, [np.sin(1.0), 1 - np.cos(1.0), 0], atol=1e-9)
