"""Commands that hold a state: accelerations vanish, runs stay; linear models of states that nothing holds are doubted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import articulus as art
import closed_zoo
import zoo
from articulus import structure as st
from articulus.errors import DoubtfulResult, MovedStart

c = art.components
Z = art.Revolute((0, 0, 1))


def flexible_four_bar(*locked: float) -> art.Mechanism:
    m = art.Mechanism("flexible four-bar", gravity=(0, -9.81, 0))
    m.body("crank", 1.0, (0.2, 0, 0), (1e-3, 0.02, 0.02)).joint("crank", Z, "ground", "crank", damping=0.02)
    beam = st.beam_body(1.0, EI=15.0, mass_per_length=0.6, modes=2, damping=0.003)
    m.flexible("coupler", beam).joint("knee", Z, "crank", "coupler", at=(0.4, 0, 0))
    m.body("rocker", 1.0, (0.35, 0, 0), (1e-3, 0.05, 0.05))
    m.joint("pivot", Z, "ground", "rocker", at=(1.0, 0, 0))
    m.frame("end", "coupler", node="tip").frame("rocker_end", "rocker", (0.7, 0, 0))
    m.constrain(art.PointOnPoint("pin", "end", "rocker_end"))
    return m.constrain(art.Lock("hold", "crank", locked)) if locked else m


def pendulum(length: float = 1.0, mass: float = 1.0) -> art.Mechanism:
    m = art.Mechanism("pendulum", gravity=(0, -9.81, 0))
    m.body("rod", mass, (length / 2, 0, 0), mass * length**2 / 12 * np.ones(3))
    return m.joint("hinge", Z, "ground", "rod")


@pytest.mark.parametrize("seed", range(3))
def test_open_mechanisms_are_held_by_their_bias(seed: int) -> None:
    """At rest and in motion: u = bias(q, v), to rounding of the solution of M v' = u - bias."""
    m = zoo.random_mechanism(seed, 4)
    state = zoo.random_state(m, seed)
    q, v = state.q, state.v
    for speed in (None, v):
        found = art.trim(m, q, speed)
        bias = m.bias(q, np.zeros(m.nv) if speed is None else v)
        np.testing.assert_allclose(found.u, bias, atol=1e-8 * (1 + np.abs(bias).max()))
        np.testing.assert_allclose(found.q, q)


def test_a_closed_mechanism_is_held_as_virtual_work_says() -> None:
    """The motor's torque is the slope of the potential energy over its angle, on the closed loop; differences of 1e-5 rad."""
    m = closed_zoo.four_bar()
    joint = m.joint_names[0]
    q = art.assemble(m, m.random_position(np.random.default_rng(1)) * 0.2 + 0.3).q
    motor = c.Torque(joint, name="motor")
    found = art.Loop(m, components=[motor]).trim(q)

    def potential(by: float) -> float:
        moved = q.copy()
        moved[0] += by
        return float(m.energy(art.assemble(m, moved, fixed=[joint]).q, np.zeros(m.nv))[1])

    slope = (potential(1e-5) - potential(-1e-5)) / 2e-5
    assert found.u[0] == pytest.approx(slope, rel=1e-6)


def test_a_flexible_closed_mechanism() -> None:
    """Against the multiplier of a lock in the static equilibrium, another solver; the run stays and the poles are those held."""
    locked = flexible_four_bar(0.6)
    start = art.assemble(locked, locked.q(crank=0.6, knee=-0.8, pivot=1.6), fixed=["crank"]).q
    rest = art.equilibrium(locked, start)
    torque = -rest.multipliers[list(locked.constraint_names).index("hold")]
    parts = [c.JointSensor(("crank",), name="encoder"), c.Torque("crank", name="motor")]
    loop = art.Loop(flexible_four_bar(), components=parts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the position is held as it is: nothing moves
        found = loop.trim(rest.q)
    assert found.u == pytest.approx([torque], rel=1e-7)
    with pytest.warns(MovedStart, match="no commands hold"):
        bent = loop.trim(start, fixed=["crank"])  # the beam was straight
    np.testing.assert_allclose(bent.q, rest.q, atol=1e-8)
    run = found.loop.simulate(0.1, found.q)
    assert np.abs(run.q - found.q).max() < 1e-9
    held = loop.linearize(rest.q, u=found.u, inputs=("u.motor",), outputs=("encoder.q",))
    np.testing.assert_allclose(held.poles, found.linearize(("u",), ("encoder.q",)).poles, atol=1e-8)
    assert held.outputs == ("encoder.q",)
    with pytest.warns(DoubtfulResult, match="does not rest at this position"):
        falling = loop.linearize(rest.q, outputs=())
    assert abs(falling.poles[0]) > 5 * abs(held.poles[0])  # what the warning is about


def test_states_of_components_are_found() -> None:
    """m g l/2 cos(q) = N kt i and V = R i, of a motor with inductance: the current is a state."""
    motor = c.Motor("hinge", ratio=50.0, torque_constant=0.05, resistance=2.0, inductance=1e-3, name="drive")
    found = art.Loop(pendulum(), components=[motor]).trim({"hinge": 0.4})
    current = 9.81 / 2 * np.cos(0.4) / (50.0 * 0.05)
    assert found.states["drive.current"] == pytest.approx([current])
    assert found.u == pytest.approx([2.0 * current])
    assert found.commands == ("drive",)
    assert "drive" in str(found)
    model = found.linearize(("u",), ("q",))
    stiffness = (
        9.81 / 2 * np.sin(0.4) / (1 / 3)
    )  # of gravity there, over the inertia; the back-EMF works at speed only
    assert model.A[1, 0] == pytest.approx(stiffness)


def test_sampled_controllers_keep_their_part() -> None:
    """A sampled PD asks for kp times its error; the rest of what holds is the command that is found."""
    law = c.PD(kp=20.0, kd=2.0, period=0.01)
    loop = art.Loop(pendulum(), law)
    found = loop.trim([0.3])
    assert found.u == pytest.approx([9.81 / 2 * np.cos(0.3) + 20.0 * 0.3])
    run = found.loop.simulate(0.2, found.q)
    assert np.abs(run.q - 0.3).max() < 1e-9
    again = art.trim(run)
    assert again.u == pytest.approx([0.0], abs=1e-8)
    assert again.linearize(outputs=("q",)).period == pytest.approx(0.01)


def cart() -> art.Mechanism:
    m = (
        art.Mechanism("cart", gravity=(0, -9.81, 0))
        .body("cart", 2.0, (0, 0, 0), (1, 1, 1))
        .joint("rail", art.Prismatic((1, 0, 0)), "ground", "cart")
    )
    return m.body("pole", 0.5, (0, -0.5, 0), (0.01, 0.01, 0.01)).joint("hinge", Z, "cart", "pole")


def test_joints_without_motors_move_and_it_is_told() -> None:
    loop = art.Loop(cart(), components=[c.Torque("rail", name="motor")])
    with pytest.warns(MovedStart, match=r"q\.hinge most, from 0\.3 to"):
        found = loop.trim([0.7, 0.3])
    np.testing.assert_allclose(found.q, [0.7, 0.0], atol=1e-9)
    assert found.u == pytest.approx([0.0], abs=1e-8)
    with pytest.raises(art.NumericalError, match=r"trim: the loop around 'cart' is out of balance"):
        loop.trim([0.7, 0.3], fixed=["hinge"])
    both = art.trim(cart(), [0.7, 0.3], commands=["hinge"])
    assert both.u[0] == 0.0


@pytest.mark.parametrize(("length", "mass"), [(1e-5, 1e-12), (1.0, 1.0), (1e4, 1e9)])
def test_doubt_does_not_depend_on_size(length: float, mass: float) -> None:
    loop = art.Loop(pendulum(length, mass))
    with pytest.warns(DoubtfulResult, match="of free fall"):
        loop.linearize([0.3])
    with pytest.warns(DoubtfulResult):
        loop.linearize(np.array([[-np.pi / 2], [-np.pi / 2 + 1e-3]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop.linearize([-np.pi / 2])
        loop.linearize([0.3], [0.1])  # a motion: no rest is meant
        loop.linearize([0.3], u=loop.trim([0.3]).u)
        loop.linearize([0.3], u={"hinge": float(mass * 9.81 * length / 2 * np.cos(0.3))})


def test_doubt_without_gravity() -> None:
    m = (
        art.Mechanism("hub", gravity=(0, 0, 0))
        .body("hub", 10.0, (0, 0, 0), (1, 1, 1))
        .joint("base", Z, "ground", "hub")
    )
    loop = art.Loop(m)
    loop.linearize()
    with pytest.warns(DoubtfulResult, match="does not rest"):
        loop.linearize(u=[1e-3])


def test_mistakes_are_named() -> None:
    loop = art.Loop(pendulum())
    with pytest.raises(art.InputError, match="expected a Mechanism, a Loop or a Run"):
        art.trim([1.0])
    with pytest.raises(art.InputError, match="nothing commands 'hing'; did you mean 'hinge'"):
        loop.trim(commands=["hing"])
    with pytest.raises(art.InputError, match="nothing commands 'x'"):
        loop.hold({"x": 1.0})
    with pytest.raises(art.InputError, match="expected 1 finite numbers"):
        loop.hold([1.0, 2.0])
    with pytest.raises(art.InputError, match="no joint or flexible body 'hing'"):
        loop.trim(fixed=["hing"])
    m = closed_zoo.four_bar()
    q = art.assemble(m, np.full(m.nq, 0.3)).q
    v = closed_zoo.admissible(m, q, np.ones(m.nv))
    with pytest.raises(art.InputError, match="expected it at rest"):
        art.trim(m, q, v)
