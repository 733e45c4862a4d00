"""Beams in motion: conserved quantities, order, driven bases, published spin-up."""

import itertools

import casadi as ca
import numpy as np
import pytest

from articulus.errors import InputError
from articulus.simulation.exact_beams import Beam, BeamAssembly, BeamChain, Section, simulate, static, turning

RUBBER = Section(1.0, 400.0, 1.0, 2.0, 1.5, 200.0, 150.0, rotary=(0.05, 0.02, 0.03))


def thrown(steps, rho_inf=0.9, t_end=1.0):
    """Return the flight of a free curved beam that is bent, twisted and thrown."""
    beam = Beam.arc(1.0, 1.2, 6, RUBBER)
    bent = static(
        beam.support(0).load(-1, force=(-0.5, 0.7, 1.0), moment=(0.3, 0.2, 0.1), follower=True), steps=2
    )
    v0 = np.tile([0.5, -1.0, 2.0, 0.3, 0.2, -0.1], (7, 1))
    return simulate(beam, t_end, steps, q0=bent, v0=v0, rho_inf=rho_inf, tolerance=1e-9)


def test_momentum_and_energy_of_a_free_beam():
    """Momentum and moment of momentum stay to rounding; the energy errs with the method: four times less for half the step."""

    def drift(steps):
        run = thrown(steps, rho_inf=1.0, t_end=0.25)
        start, end = run.energy(0), run.energy(-1)
        np.testing.assert_allclose(
            end.linear, start.linear, rtol=0, atol=1e-14 * np.linalg.norm(start.linear)
        )
        np.testing.assert_allclose(
            end.angular, start.angular, rtol=0, atol=1e-14 * np.linalg.norm(start.angular)
        )
        return abs(end.total / start.total - 1)

    coarse, fine = drift(200), drift(400)
    assert fine < 1e-4
    assert coarse / fine > 3.5


def test_momentum_of_a_free_beam_under_loads_is_their_impulse():
    """Gravity and a force on one node for a second: the sum is exact, the moment by the trapezoidal rule on the flight."""
    beam = Beam.straight(1.0, 4, RUBBER).weighing((0, 0, -9.81)).load(0, force=(0.2, 0, 0.5))
    ends = {steps: simulate(beam, 0.5, steps).energy(-1) for steps in (100, 200, 400)}
    weight = -9.81 * RUBBER.mass * 0.5
    for energy in ends.values():
        np.testing.assert_allclose(energy.linear, [0.1, 0, 0.25 + weight], atol=1e-13)
    moments = [ends[n].angular for n in (100, 200, 400)]
    coarse, fine = (np.linalg.norm(a - b) for a, b in itertools.pairwise(moments))
    assert coarse / fine > 3.5


def test_rates_of_momentum_and_energy_vanish_at_a_state():
    """At any state: forces in the beam have no resultant, and their power is the loss of strain energy."""
    whole = BeamAssembly(Beam.arc(1.0, 1.2, 6, RUBBER))
    rng = np.random.default_rng(0)
    v = rng.normal(size=(7, 6))
    q = whole.displace(0.0, whole.beam.poses, 0.1 * rng.normal(size=(7, 6)))
    inertial = whole.residual(0.0, q, v, np.zeros((7, 6)))
    vdot = -np.linalg.solve(whole.inertia, inertial[..., None])[..., 0]
    step = 1e-5
    ends = [whole.displace(0.0, q, sign * step * v + step**2 / 2 * vdot) for sign in (1, -1)]
    after, before = (whole.energy(0.0, end, v + sign * step * vdot) for end, sign in zip(ends, (1, -1)))
    assert abs(after.total - before.total) < 1e-5 * abs(after.strain - before.strain)
    forces = np.abs(whole.residual(0.0, q, np.zeros((7, 6)), np.zeros((7, 6)))).max()
    np.testing.assert_allclose((after.linear - before.linear) / (2 * step), 0.0, atol=1e-5 * forces)
    np.testing.assert_allclose((after.angular - before.angular) / (2 * step), 0.0, atol=1e-5 * forces)


def test_order_in_time():
    ends = {n: thrown(n, t_end=0.1).q[-1] for n in (50, 100, 200, 800)}
    errors = [np.linalg.norm(ends[n] - ends[800]) for n in (50, 100, 200)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.25)


def test_rigid_pendulum():
    """A stiff bar on a hinge under gravity, released level: w^2 = 3 g sin / L; 3e-4 is rotary inertia and the end's."""
    stiff = Section(2.0, 1e7, 1e6, 1e6, 1e5, rotary=(0.0002, 1e-4, 1e-4))
    bar = Beam.straight(1.0, 8, stiff).support(0, "hinge y").weighing((0, 0, -9.81))
    run = simulate(bar, 0.4, 400, rho_inf=0.6)
    x, _, z = run.position[-1, -1]
    np.testing.assert_allclose(np.hypot(x, z), 1.0, atol=1e-4)
    np.testing.assert_allclose(run.v[-1, 0, 1] ** 2, 3 * 9.81 * -z, rtol=5e-4)


def test_loads_with_a_history():
    """A free stiff bar pushed at its middle by sin^2: velocity is the impulse over the mass."""
    stiff = Section(2.0, 1e5, 1e3, 1e3, 1e3, rotary=(0.02, 1e-2, 1e-2))
    bar = Beam.straight(1.0, 2, stiff).load(1, force=(0, 3.0, 0), history=lambda t: np.sin(np.pi * t) ** 2)
    run = simulate(bar, 1.0, 200)
    np.testing.assert_allclose(run.energy(-1).linear, [0, 1.5, 0], atol=1e-4)


SPIN = Section(1.2, 2.8e7, 1.4e4, 1.4e4, 1e4, 1e7, 1e7, rotary=(0.0012, 6e-4, 6e-4))


def spin_angle(t):
    """Return the hub angle of Simo & Vu-Quoc 1987: 0 to 6 rad/s in 15 s."""
    rise = 0.4 * (t**2 / 2 + (15 / (2 * np.pi)) ** 2 * (ca.cos(2 * np.pi * t / 15) - 1))
    return ca.if_else(t < 15, rise, 6 * t - 45)


def in_hub_axes(t, tip):
    angle = np.array([float(ca.DM(spin_angle(ca.DM(each)))) for each in t])
    c, s = np.cos(angle), np.sin(angle)
    return c * tip[:, 0] + s * tip[:, 1] - 10, -s * tip[:, 0] + c * tip[:, 1]


def spun(elements, steps, t_end=20.0):
    run = simulate(Beam.straight(10.0, elements, SPIN).support(0).on(turning(spin_angle)), t_end, steps)
    return run.t, *in_hub_axes(run.t, run.position[:, -1])


def test_spin_up_converges_and_stretches():
    """Sixteen elements and steps of 0.01 s are within 1e-4 m of 32 and 0.005 s; stretch at 6 rad/s by tan(kL)/kL - 1."""
    _, _, u2 = spun(16, 2000)
    fine_t, u1, fine = spun(32, 4000)
    np.testing.assert_allclose(u2, fine[::2], atol=1e-4)
    k = 6 * np.sqrt(1.2 / 2.8e7) * 10
    np.testing.assert_allclose(10 * (np.tan(k) / k - 1), 5.1432e-4, rtol=2e-5)
    np.testing.assert_allclose(u1[fine_t > 16].max(), 5.1432e-4, rtol=2e-3)
    assert np.abs(fine[fine_t > 16]).max() < 4e-3


def test_spin_up_agrees_with_the_inextensible_chain():
    """Another formulation, hats of 8 and 16 elements, extrapolated (order 2): to 1.5e-4 m, of which shear makes 3e-5."""
    _, _, u2 = spun(16, 350, 7.0)
    lags = []
    for elements in (8, 16):
        chain = BeamChain.uniform(10.0, elements, 1.4e4, 1.2)
        ct, theta, _ = chain.simulate(7.0, 350, hub=spin_angle)
        lags.append(in_hub_axes(ct, chain.position(theta)[:, -1])[1])
    extrapolated = (4 * lags[1] - lags[0]) / 3
    np.testing.assert_allclose(u2, extrapolated, atol=1.5e-4)


def test_base_carries_positions_and_velocities():
    base = turning(lambda t: 0.3 + 2 * t, axis=(0, 0, 1), about=(1.0, 0.0, 0.0))
    whole = BeamAssembly(Beam.straight(1.0, 2, RUBBER).support(0).on(base))
    q, v = whole.at(0.5)
    c, s = np.cos(1.3), np.sin(1.3)
    np.testing.assert_allclose(q[:, 4:], [[1 - c, -s, 0], [1 - c / 2, -s / 2, 0], [1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(v[0], [0, 0, 2, 0, -2, 0], atol=1e-14)
    energy = whole.energy(0.5, q, np.zeros((3, 6)))
    assert energy.kinetic == pytest.approx(v[0] @ whole.inertia[0] @ v[0] / 2)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"every": 3}, "every = 3"),
        ({"q0": np.zeros((2, 7))}, "q0 of shape"),
        ({"v0": np.full((5, 6), np.nan)}, "v0 of shape"),
    ],
)
def test_mistakes_are_named(more, text):
    with pytest.raises(InputError, match=text):
        simulate(**{"beam": Beam.straight(1.0, 4, RUBBER), "t_end": 1.0, "steps": 10, **more})
