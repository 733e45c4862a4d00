"""Forces between frames: momentum is kept, energy accounts hold at any state, closed forms of simple motions."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import Pose
from articulus.simulation.loop.component import Actuator, Component
from articulus.simulation.loop.components import (
    Bushing,
    Cable,
    Expression,
    HydraulicCylinder,
    LinearActuator,
    SpringDamper,
    TorsionSpring,
    Winch,
)
from articulus.simulation.results.diagnostics import energy_error

from .support import Loop, function_of_time, wheel

RNG = np.random.default_rng(11)


def pair() -> art.Mechanism:
    """Return two free bodies with frames off their centers, no gravity."""
    m = art.Mechanism("pair", gravity=(0, 0, 0))
    for name, mass in (("a", 2.0), ("b", 3.0)):
        m.body(name, mass=mass, com=(0.1, 0.0, -0.2), inertia=(0.3, 0.4, 0.5))
        m.joint(f"{name}_free", art.Free(), parent="ground", child=name)
    m.frame("left", "a", at=Pose((0.1, 0.2, 0.3), rpy=(0.2, 0.3, 0.1)))
    m.frame("right", "b", at=Pose((-0.2, 0.1, 0.4), rpy=(0.5, -0.3, 0.2)))
    return m.frame("pulley", "b", at=(0.5, 0.1, -0.3))


PAIR = pair()
COUPLED = np.diag([30.0, 40, 50, 600, 700, 800])
COUPLED[0, 4] = COUPLED[4, 0] = 60.0

PARTS: dict[str, Callable[[], Component]] = {
    "spring": lambda: SpringDamper("left", "right", 50.0, 3.0, length=0.4, preload=7.0),
    "rope": lambda: SpringDamper("left", "right", 50.0, 3.0, length=0.4, preload=7.0, side="tension"),
    "buffer": lambda: SpringDamper("left", "right", 50.0, 3.0, length=3.0, side="compression"),
    "constant force": lambda: SpringDamper("left", "right", preload=7.0),
    "tables": lambda: SpringDamper(
        "left", "right", forces=((0.1, -9), (0.9, 1), (1.2, 2), (3, 90)), losses=((-1, -4), (0, 0), (2, 1))
    ),
    "torsion": lambda: TorsionSpring("left", "right", (0.6, 0, 0.8), 5.0, 0.3, angle=0.2, preload=0.4),
    "bushing": lambda: Bushing("left", "right", COUPLED, 0.01 * COUPLED),
    "cable": lambda: Cable(("left", "right", "pulley", "left"), stiffness=40.0, length=0.4, damping=2.0),
    "constant tension": lambda: Cable(("left", "pulley", "right"), tension=8.0),
    "winch": lambda: Winch(("left", "pulley", "right"), stiffness=40.0, length=0.4, damping=2.0),
    "actuator": lambda: LinearActuator("left", "right", limit=50.0, damping=4.0),
    "cylinder": lambda: HydraulicCylinder(
        "left", "right", 2e-3, 1e-3, 0.5, 2.0, 2e5, 1e-4, tank=1e3, leakage=1e-8, bulk_modulus=1e6, damping=5.0,
        pressures=(1e5, 3e4),
    ),
}  # fmt: skip


class Rates(Loop):
    """The rates of momentum and energy of a loop at a state."""

    def __init__(self, mechanism: art.Mechanism, component: Component):
        swing = Expression(function_of_time(lambda t: ca.sin(40 * t)), name="swing")
        super().__init__(mechanism, component, *([swing] if isinstance(component, Actuator) else []))
        system, net = self.system, self.network
        held = ca.vertcat(
            sum(net.ask("energy", net.q, net.v)) + net.stored_energy(), net.ask("momentum", net.q, net.v)
        )
        rates = ca.jtimes(held, system._c, ca.vertcat(*ca.vertsplit(system.rhs(*system.arguments))))
        self._rates = system.function("rates", [rates, system.rhs(*system.arguments)[-2:]])

    def found(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the rate of energy unaccounted for, that of momentum, and power put in and dissipated."""
        both = [np.array(x).ravel() for x in self._rates(*self._arguments())]
        return both[0][0] - both[1][0] + both[1][1], both[0][1:], both[1]


def states(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return random positions, a metre or so apart, and velocities."""
    q = RNG.normal(size=(n, PAIR.nq))
    for k in (0, 7):
        q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1)[:, None]
    return list(zip(q, RNG.normal(size=(n, PAIR.nv))))


@pytest.mark.parametrize("name", PARTS)
def test_momentum_is_kept_and_the_account_is_that_of_the_forces(name: str) -> None:
    """At any state: no net force or moment, and power of forces = supplied - dissipated - rate of what is stored."""
    loop, lost = Rates(PAIR, PARTS[name]()), []
    rounding = (
        1e-9 if name == "bushing" else 1e-12
    )  # near half a turn it takes the root of a small difference
    for q, v in states(12):
        loop.t = RNG.uniform()
        unaccounted, momentum, (put_in, dissipated) = loop.put(q=q, v=v).found()
        scale = 1 + abs(put_in) + abs(dissipated) + np.abs(loop.signal("vdot")).max()
        assert abs(unaccounted) < rounding * scale
        assert np.abs(momentum).max() < 1e-12 * scale
        lost.append(dissipated)
    assert min(lost) >= -1e-12
    assert max(lost) > 0 or name in ("constant force", "constant tension")


def cart(mass: float = 2.0, name: str = "cart", gravity: float = 0.0) -> art.Mechanism:
    """Return a mass on a rail along x, with anchors on the ground at x = 0 and high up."""
    m = art.Mechanism("cart", gravity=(gravity, 0, 0))
    m.body(name, mass=mass, inertia=(1, 1, 1))
    m.joint("rail", art.Prismatic(axis=(1, 0, 0)), parent="ground", child=name)
    return m.frame("anchor", "ground").frame("eye", name)


# springs


def test_two_masses_on_a_spring_swing_at_their_frequency() -> None:
    """w^2 = k (1/m1 + 1/m2), about the center of mass, which moves on."""
    m = cart(2.0, "one")
    m.body("two", mass=3.0, inertia=(1, 1, 1))
    m.joint("rail2", art.Prismatic(axis=(1, 0, 0)), parent="ground", child="two")
    k, w = 300.0, np.sqrt(300.0 * (1 / 2 + 1 / 3))
    spring = SpringDamper("one", "two", k, length=1.0)
    run = art.simulate(m, 1.0, q0=[0.0, 1.1], v0=[0.5, 0.5], components=[spring], step=1e-3)
    # rk4 errs by (w h)^5 / 120 per step: 1e-9 of the amplitude in 1000 steps
    np.testing.assert_allclose(run.q[:, 1] - run.q[:, 0], 1 + 0.1 * np.cos(w * run.t), atol=1e-8)
    np.testing.assert_allclose(run.q @ [0.4, 0.6], 0.66 + 0.5 * run.t, atol=1e-12)
    assert np.ptp(run["momentum"], axis=0).max() < 1e-12
    assert energy_error(run)[0] < 1e-8
    assert run["energy.potential"][0] == pytest.approx(k * 0.1**2 / 2)


def test_a_spring_of_no_free_length_swings_through_its_anchor() -> None:
    """The two points meet without a singularity: x = cos(w t)."""
    run = art.simulate(cart(2.0), 1.0, q0=[0.1], components=[SpringDamper("anchor", "eye", 200.0)], step=1e-3)
    np.testing.assert_allclose(run.q[:, 0], 0.1 * np.cos(10 * run.t), atol=1e-8)


@pytest.mark.parametrize("name", PARTS)
def test_forces_and_derivatives_are_finite_where_frames_coincide(name: str) -> None:
    loop = Rates(PAIR, PARTS[name]())
    q = PAIR.neutral.copy()
    X, Y = PAIR.pose("left", q), PAIR.pose("right", q)
    Z = X @ np.linalg.inv(Y)
    q[7:] = [*ca_quaternion(Z[:3, :3]), *Z[:3, 3]]
    assert PAIR.pose("left", q) == pytest.approx(PAIR.pose("right", q), abs=1e-12)
    jacobian = loop.system.rhs.jacobian()
    out = loop.system.rhs(*loop.put(q=q)._arguments())
    assert np.isfinite(np.array(out)).all()
    assert np.isfinite(np.array(jacobian(*loop._arguments(), out)[0])).all()


def ca_quaternion(R: np.ndarray) -> np.ndarray:
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])


def test_sides_and_tables() -> None:
    def tension(spring: SpringDamper, x: float, v: float = 0.0) -> float:
        return float(Loop(cart(), spring).put(q=x, v=v).signal("anchor_eye_spring_damper.tension")[0])

    rope = SpringDamper("anchor", "eye", 100.0, 5.0, length=1.0, side="tension")
    found = [tension(rope, x, v) for x, v in ((1.1, 0), (0.9, 0), (0.9, 4), (1.1, 1), (1.1, -9))]
    assert found == pytest.approx([10, 0, 0, 15, 0])
    buffer = SpringDamper("anchor", "eye", 100.0, 5.0, length=1.0, side="compression")
    found = [tension(buffer, x, v) for x, v in ((1.1, 0), (0.9, 0), (0.9, -1), (0.9, 9))]
    assert found == pytest.approx([0, -10, -15, 0])
    rows = ((0.5, -20), (1.0, 0), (1.2, art.Parameter("peak", 40.0)))
    table = SpringDamper("anchor", "eye", forces=rows, losses=((-2, -6), (0, 0), (1, 10)))
    found = [tension(table, x, v) for x, v in ((0.75, 0), (1.1, 0), (1.3, 0), (1.0, -1), (1.0, 0.5))]
    assert found == pytest.approx([-10, 20, 60, -3, 5])
    energy = [Loop(cart(), table).put(q=x).signal("energy")[1] for x in (0.5, 1.0, 1.2)]
    assert np.diff(energy) == pytest.approx([-0.5 * 20 / 2, 0.2 * 40 / 2])  # areas under the table


# rotation


def test_a_torsion_spring_on_a_hinge_is_the_stiffness_of_the_joint() -> None:
    m = wheel(0.5).frame("mark", "disc")
    spring = TorsionSpring("ground", "mark", (0, 0, 1), stiffness=50.0, damping=0.2, angle=0.1)
    for q, v in ((0.3, 0.0), (-2.9, 1.0), (3.1, 2.0)):
        loop = Loop(m, spring).put(q=q, v=v)
        assert loop.signal("ground_mark_torsion_spring.twist")[0] == pytest.approx(q)
        assert loop.rate("v")[0] == pytest.approx(-(50 * (q - 0.1) + 0.2 * v) / 0.5)


def test_tilting_is_free_of_twist() -> None:
    """A turn about any axis across the spring's own leaves the twist at zero, and bodies feel a moment along the slope."""
    m = art.Mechanism("tilted", gravity=(0, 0, 0))
    m.body("disc", mass=1.0, inertia=(1, 1, 1))
    m.joint("tilt", art.Revolute(axis=(0.6, 0.8, 0)), parent="ground", child="disc")
    loop = Loop(m, TorsionSpring("ground", "disc", (0, 0, 1), stiffness=50.0)).put(q=1.0)
    assert loop.signal("ground_disc_torsion_spring.twist")[0] == pytest.approx(0, abs=1e-12)
    assert loop.rate("v")[0] == pytest.approx(0, abs=1e-12)


def test_a_bushing_turns_back_by_the_gradient_of_its_energy() -> None:
    """About one axis 2 sin(phi/2) is the measure: energy 2 k sin(phi/2)^2, moment k sin(phi)."""
    m = wheel(0.5)
    bushing = Bushing("ground", "disc", (1, 1, 50, 1, 1, 1), (0, 0, 0.2, 0, 0, 0))
    for q in (0.01, 0.5, -2.0):
        loop = Loop(m, bushing).put(q=q)
        assert loop.rate("v")[0] == pytest.approx(-50 * np.sin(q) / 0.5)
        assert loop.signal("energy")[1] == pytest.approx(100 * np.sin(q / 2) ** 2)


# cables


def atwood(m1: float, m2: float) -> art.Mechanism:
    """Return two masses on vertical rails below a pulley."""
    m = art.Mechanism("atwood", gravity=(0, 0, -10.0))
    for name, mass, x in (("one", m1, -0.2), ("two", m2, 0.2)):
        m.body(name, mass=mass, inertia=(1, 1, 1))
        m.joint(f"{name}_rail", art.Prismatic(axis=(0, 0, 1)), parent="ground", child=name, at=(x, 0, 0))
    return m.frame("left", "ground", (-0.2, 0, 2.0)).frame("right", "ground", (0.2, 0, 2.0))


def test_a_cable_over_pulleys_is_atwoods_machine() -> None:
    """a = g (m2 - m1) / (m1 + m2), T = 2 m1 m2 g / (m1 + m2), from the start if it is stretched by that."""
    tension, EA, free = 2 * 2 * 3 * 10 / 5, 1e5, 4.0
    cable = Cable(("one", "left", "right", "two"), stiffness=EA, length=free)
    drop = free * (1 + tension / EA) - 4.4
    run = art.simulate(atwood(2.0, 3.0), 0.5, q0=[0.0, -drop], components=[cable], step=1e-3)
    np.testing.assert_allclose(run["one_two_cable.tension"], tension, rtol=1e-8)
    np.testing.assert_allclose(run.q[:, 0], 2.0 * run.t**2 / 2, atol=1e-8)
    assert energy_error(run)[0] < 1e-8


def test_a_slack_cable_does_nothing_and_then_catches() -> None:
    cable = Cable(("anchor", "eye"), stiffness=2000.0, length=1.0, damping=2.0)
    run = art.simulate(cart(2.0, gravity=10.0), 0.6, components=[cable], step=1e-4)
    taut = np.sqrt(2 / 10)
    free = run.t < taut - 1e-3
    np.testing.assert_allclose(run.q[free, 0], 5 * run.t[free] ** 2, atol=1e-9)
    assert not run["anchor_eye_cable.tension"][free].any()
    assert run["anchor_eye_cable.tension"].max() > 100
    assert energy_error(run)[0] < 1e-4 * run["energy.kinetic"].max()


def test_a_winch_lifts_by_its_supply() -> None:
    """It hauls 1 m in at 0.5 m/s: what it supplies is in the weight, in the cable and lost."""
    winch = Winch(("anchor", "eye"), stiffness=4e3, length=3.0, damping=200.0, name="winch")
    rest = 3.0 * (1 + 20.0 / 4e3)
    haul = Expression(function_of_time(lambda t: ca.if_else(t < 2, -0.5, 0)), name="haul")
    run = art.simulate(cart(2.0, gravity=10.0), 4.0, q0=[rest], components=[winch, haul], step=1e-3)
    assert run["winch.free_length"][-1] == pytest.approx(2.0, abs=5e-4)  # the step in which it ends
    assert run.q[-1, 0] == pytest.approx(run["winch.free_length"][-1, 0] * (1 + 20.0 / 4e3), abs=1e-6)
    assert run["winch.tension"][-1] == pytest.approx(20.0, rel=1e-4)
    assert run["energy.input"][-1] > 20.0 * (rest - run.q[-1, 0]) * 0.99
    assert energy_error(run)[0] < 1e-4
    short = Winch(("anchor", "eye"), stiffness=4e3, length=3.0, shortest=2.9, name="winch")
    loop = Rates(cart(), short).put(winch__free_length=2.9)
    loop.t = 0.1  # sin(4) < 0: hauls in
    assert loop.rate("winch.free_length")[0] == 0


# cylinders


def test_a_linear_actuator_pushes_apart_up_to_its_limit() -> None:
    part = LinearActuator("anchor", "eye", limit=30.0, damping=5.0)
    command = Expression(function_of_time(lambda t: 40 * t))
    loop = Loop(cart(2.0), part, command).put(q=1.0, v=1.0)
    for t, force in ((0.5, 15), (2.0, 25), (-2.0, -35)):
        loop.t = t
        assert loop.rate("v")[0] == pytest.approx(force / 2)
        assert loop.signal("anchor_eye_linear_actuator.force")[0] == pytest.approx(force)


A1, A2, SUPPLY, TANK, GAIN = 2e-3, 1.2e-3, 1e7, 1e5, 2e-7


def cylinder(**changes: object) -> HydraulicCylinder:
    return HydraulicCylinder(
        "anchor", "eye", A1, A2, retracted=1.0, stroke=1.0, supply=SUPPLY, flow_gain=GAIN, tank=TANK, name="ram", **changes
    )  # fmt: skip


@pytest.mark.parametrize("side", [1, -1])
def test_a_free_cylinder_runs_at_the_speed_of_its_orifices(side: int) -> None:
    """v^2 = k_f^2 (P_s A_1 - P_t A_2) / (A_1^3 + A_2^3) outwards; areas change places inwards."""
    command = Expression(function_of_time(lambda t: ca.SX(side)))
    run = art.simulate(
        cart(20.0),
        0.5,
        q0=[1.5 - 0.4 * side],
        components=[cylinder(pressures=(3e6, 5e6)), command],
        step=2e-5,
    )
    a, b = (A1, A2) if side > 0 else (A2, A1)
    speed = side * GAIN * np.sqrt((SUPPLY * a - TANK * b) / (a**3 + b**3))
    assert run.v[-1, 0] == pytest.approx(speed, rel=1e-4)  # what is left of the start, and of compression
    assert energy_error(run)[0] < 1e-4 * run["energy.input"][-1]
    p1, p2 = run["ram.pressures"][-1]
    assert p1 * A1 == pytest.approx(p2 * A2, rel=1e-3)


def test_a_closed_cylinder_is_a_spring_of_oil() -> None:
    """k = beta (A_1^2 / V_1 + A_2^2 / V_2) for small motions, with the valve closed."""
    loop = Rates(cart(20.0), cylinder(bulk_modulus=1e9, dead_volume=1e-4)).put(
        q=1.5, ram__pressures=[A2 * 4e9, A1 * 4e9]
    )
    stiffness = 1e9 * (A1**2 / (1e-4 + A1 / 2) + A2**2 / (1e-4 + A2 / 2))
    assert loop.rate("v")[0] == pytest.approx(0, abs=1e-9)
    p = loop.put(v=1.0).rate("ram.pressures")
    assert (p[0] * A1 - p[1] * A2) == pytest.approx(-stiffness)


def test_a_blocked_cylinder_pushes_with_supply_against_tank_and_stops_at_its_ends() -> None:
    loop = Rates(cart(20.0), cylinder(stop_stiffness=1e6, stop_damping=0.0))
    loop.t = np.pi / 80  # full opening
    loop.put(q=1.5, ram__pressures=[SUPPLY, TANK])
    assert loop.signal("ram.force")[0] == pytest.approx(SUPPLY * A1 - TANK * A2)
    assert loop.rate("ram.pressures") == pytest.approx([0, 0], abs=1e-6)
    loop.put(q=2.01, ram__pressures=[TANK, TANK])
    assert loop.signal("ram.force")[0] == pytest.approx(TANK * (A1 - A2) - 1e4)
    closed = Loop(cart(20.0), cylinder(relief=1.2e7)).put(q=1.5, ram__pressures=[1.3e7, 0.0])
    assert closed.signal("ram.flows") == pytest.approx(
        [-1e-9 * 1e6, 1e-9 * TANK]
    )  # relief, and drawn from the tank


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: SpringDamper("a", "a", 1.0), "second: found 'a', as first; expected another frame"),
        (lambda: SpringDamper("a", "b", 1.0, side="pull"), "side: found 'pull'; expected one of both, tension"),
        (lambda: SpringDamper("a", "b", side="tension"), "stiffness: found 0"),
        (lambda: SpringDamper("a", "b", 1.0, forces=((0, 0), (1, 1))), "either the table or these"),
        (lambda: SpringDamper("a", "b", forces=((1, 0), (0, 1))), "ascending"),
        (lambda: SpringDamper("a", "b", losses=((0, 0), (1, -1))), "-1 N at 1 m/s; expected a tension of the sign"),
        (lambda: Bushing("a", "b", (1, 2, 3)), "expected 6 numbers or 6 x 6, found 3 x 3"),
        (lambda: Bushing("a", "b", (1, 1, 1, 1, 1, -1)), "an eigenvalue of -1"),
        (lambda: Bushing("a", "b", np.triu(np.ones((6, 6)))), "not symmetric"),
        (lambda: Cable(("a",), 1.0, 1.0), "two or more frames"),
        (lambda: Cable(("a", "b", "b"), 1.0, 1.0), "'b' twice in a row"),
        (lambda: Cable(("a", "b"), 1.0, 1.0, tension=1.0), "either these or a constant tension"),
        (lambda: Winch(("a", "b"), 1.0, 0.005), "at least shortest = 0.01"),
        (lambda: HydraulicCylinder("a", "b", 1, 1, 1, 1, 1e5, 1, tank=2e5), "tank: found 200000; expected less than 100000"),
    ],
)  # fmt: skip
def test_wrong_numbers_of_forces_between_frames(make: Callable, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        make()
    assert text in str(caught.value)


def test_the_linear_model_of_a_loop_has_the_frequency_and_damping_of_its_spring() -> None:
    """s^2 + c/m s + k/m = 0."""
    spring = SpringDamper("anchor", "eye", 200.0, 4.0, length=1.0)
    rest = art.Loop(cart(2.0, gravity=10.0), components=[spring]).equilibrium([1.2])
    assert rest.q[0] == pytest.approx(1 + 20.0 / 200.0)
    poles = np.linalg.eigvals(rest.model.A)
    expected = np.roots([1, 4.0 / 2, 200.0 / 2])
    assert np.sort_complex(poles) == pytest.approx(np.sort_complex(expected))
