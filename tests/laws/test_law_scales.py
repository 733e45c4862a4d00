"""Mechanisms that differ only in size behave alike: results over the scales of length, mass and time are the same numbers.

Scales are powers of two, so that the products are exact and only sums round differently; gravity scales as length over time squared.
"""

import warnings

import numpy as np
import pytest

import articulus as art
from articulus.dynamics.quantities import QUANTITIES
from articulus.errors import InputError
from articulus.simulation.integrate import ALL_METHODS

RY, RZ, X = art.Revolute((0, 1, 0)), art.Revolute((0, 0, 1)), art.Prismatic((1, 0, 0))
SIZES = [(-30, -20, 0), (-20, -20, -10), (-10, 10, -5), (0, 0, 0), (10, 20, 3), (20, 30, 10)]
"""Powers of two: 1e-9 m to 1e6 m, 1 mg to 1e9 kg, 1 ms to 1000 s."""


def four_bar(length: float, mass: float, time: float) -> art.Mechanism:
    m = art.Mechanism("four bar", gravity=(0, 0, -9.81 * length / time**2))
    parts = (
        ("crank", "ground", (0, 0, 0), (0, 0, 0.3), 1.0),
        ("coupler", "crank", (0, 0, 0.6), (0.5, 0, 0), 2.0),
        ("rocker", "ground", (1, 0, 0), (0, 0, 0.5), 1.5),
    )
    for name, parent, at, com, n in parts:
        m.body(name, n * mass, np.array(com) * length, (0.1 * n * mass * length**2,) * 3)
        m.joint(name, RY, parent, name, at=np.array(at) * length)
    return m.loop("pin", RY, "coupler", "rocker", at=(1.1 * length, 0, 0), child_at=(0, 0, length))


def slider_crank(length: float, mass: float, time: float) -> art.Mechanism:
    m = art.Mechanism("slider crank", gravity=(0, 0, -9.81 * length / time**2))
    moment = (0.05 * mass * length**2,) * 3
    m.body("crank", mass, (0.1 * length, 0, 0), moment).body("rod", mass, (0.3 * length, 0, 0), moment)
    m.body("slider", mass, inertia=moment)
    m.joint("c", RZ, "ground", "crank").joint("p", RZ, "crank", "rod", at=(0.2 * length, 0, 0))
    m.joint("x", X, "ground", "slider", stiffness=3.0 * mass / time**2)
    return m.loop("pin", RZ, "rod", "slider", at=(0.6 * length, 0, 0))


def scaled(size) -> tuple[float, float, float]:
    return tuple(2.0**k for k in size)


def of_slider(L: float) -> np.ndarray:
    """Units of the coordinates of the slider crank."""
    return np.array([1.0, 1.0, L])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_assembly(size):
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        closed = art.assemble(slider_crank(L, M, T), [0.3, -0.4, 1.6 * L], fixed=["c"])
        found.append(np.append(closed.q / of_slider(L), closed.rank))
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def arm(length: float, mass: float, time: float) -> art.Mechanism:
    """Return two links and a slide, with a tool."""
    m = art.Mechanism("arm", gravity=(0, 0, -9.81 * length / time**2))
    moment = (0.03 * mass * length**2, 0.04 * mass * length**2, 0.05 * mass * length**2)
    for name, joint, parent in (("upper", RZ, "ground"), ("lower", RY, "upper"), ("slide", X, "lower")):
        m.body(name, mass, (0.3 * length, 0, 0.1 * length), moment)
        m.joint(name, joint, parent, name, at=(0 if parent == "ground" else 0.8 * length, 0, 0))
    return m.frame("tool", "slide", (0.2 * length, 0, 0.1 * length))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_inverse_kinematics(size):
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        free = art.inverse_kinematics(
            arm(L, M, T), "tool", np.array([0.9, 0.8, 0.3]) * L, [0.1, 0.2, 0.1 * L]
        )
        loop = slider_crank(L, M, T).frame("pin", "slider")
        closed = art.inverse_kinematics(loop, "pin", np.array([0.78, 0, 0]) * L, [0.3, -0.4, 0.79 * L])
        far = art.inverse_kinematics(loop, "pin", np.array([0.9, 0, 0]) * L, [0.3, -0.4, 0.79 * L])
        assert free.ok
        assert closed.ok
        assert not far.ok
        found.append(np.concatenate([x.q / of_slider(L) for x in (free, closed)]))
    assert found[0] == pytest.approx(found[1], abs=1e-7)  # the tolerance is 1e-8 of the length


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_quantities_have_their_dimensions(size):
    """Exact but for sums that round differently: 1e-12."""
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        m = arm(L, M, T)
        u = of_slider(L)
        q, v, a = (
            np.array([0.3, 0.5, 0.2]) * u,
            np.array([1, -2, 0.5]) * u / T,
            np.array([2, 1, -1]) * u / T**2,
        )
        force, turn_first = M * L**2 / T**2 / u, np.array([1.0, 1.0, 1.0, L, L, L])
        tau = np.array([0.2, 0.1, -0.3]) * force
        found.append(
            {
                "mass_matrix": m.mass_matrix(q) * np.outer(u, u) / (M * L**2),
                "gravity": m.gravity(q) / force,
                "bias": m.bias(q, v) / force,
                "inverse_dynamics": m.inverse_dynamics(q, v, a) / force,
                "forward_dynamics": m.forward_dynamics(q, v, tau) / (u / T**2),
                "energy": np.array(m.energy(q, v)) / (M * L**2 / T**2),
                "pose": m.pose("tool", q)[:3, 3] / L,
                "jacobian": m.jacobian("tool", q) * u / turn_first[:, None],
                "velocity": m.velocity("tool", q, v) * T / turn_first,
                "acceleration": m.acceleration("tool", q, v, a) * T**2 / turn_first,
            }
        )
    for name, value in found[0].items():
        assert value == pytest.approx(found[1][name], rel=1e-12, abs=1e-12), name


FRAMES = {"relative_jacobian": ("tool", "upper"), "operational_inertia": ("tool", "upper")}
"""Frames of quantities that are about two."""


def asked(name: str, size: tuple[int, int, int]) -> np.ndarray:
    """Return what a quantity gives for the same motion at a size: of a tree, of closed loops where it is about constraints."""
    L, M, T = scaled(size)
    inputs = QUANTITIES[name].inputs
    closed = "multipliers" in inputs or "t" in inputs
    m, u = (slider_crank if closed else arm)(L, M, T), of_slider(L)
    rows = m.description.scales().rows
    given = {
        "q": np.array([0.3, -0.4, 0.79]) * u,
        "q_end": np.array([0.5, -0.2, 0.7]) * u,
        "v": np.array([1, -2, 0.5]) * u / (1 if name == "integrate_position" else T),
        "vdot": np.array([2, 1, -1]) * u / T**2,
        "tau": np.array([0.2, 0.1, -0.3]) * M * L**2 / T**2 / u,
        "t": 0.7 * T,
        "multipliers": np.linspace(0.3, 0.9, len(rows)) * M * L**2 / T**2 / rows,
    }
    try:
        function = m.function(name, FRAMES.get(name, ("rod" if closed else "tool",)))
    except InputError:  # about no frame
        function = m.function(name)
    return np.concatenate([np.array(x).ravel() for x in function.call([given[n] for n in inputs])])


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("name", QUANTITIES)
def test_every_quantity_scales_by_powers(name):
    """Each number is a product of powers of length, mass and time, found one by one, and remains one from nanometers to megameters; sums round differently: 1e-9."""
    base = asked(name, (0, 0, 0))
    there = np.abs(base) > 1e-12 * np.abs(base).max(initial=1.0)
    powers = []
    for size in np.diag([10, 10, 10]).tolist():
        rate = asked(name, size)[there] / base[there]
        assert (rate > 0).all()
        powers.append(np.round(np.log2(rate) / 10))
        assert np.log2(rate) == pytest.approx(10 * powers[-1], abs=1e-8)
    for size in (SIZES[0], SIZES[-1]):
        expected = base[there] * np.exp2(np.array(size) @ np.array(powers))
        assert asked(name, size)[there] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_equilibrium(size):
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        m = four_bar(L, M, T)
        q = art.assemble(m, [0.4, 0.0, 0.3], fixed=["crank"]).q
        alone, looped = art.equilibrium(m, q), art.Loop(m).equilibrium(q, step=1e-3 * T)
        for rest in (alone.q, looped.q):
            assert np.abs(m.constraint_residual(rest)).max() <= 1e-12 * L
        assert looped.q == pytest.approx(alone.q, abs=1e-8)
        found.append(np.concatenate([alone.q, alone.stiffness * T**2 / (M * L**2), [alone.stable]]))
    assert found[0] == pytest.approx(found[1], abs=1e-8)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "central_difference"])
def test_runs_and_linear_models(size, method):
    found, poles = [], []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        m = slider_crank(L, M, T)
        begin = art.assemble(m, [0.3, -0.4, 0.79 * L], [1 / T, 0, 0], fixed=["c"])
        run = art.simulate(m, 0.1 * T, q0=begin.q, v0=begin.v, step=0.001 * T, method=method)
        assert run.ok
        found.append(run.q / of_slider(L))
        poles.append(np.sort_complex(m.linearize(q=run.q[0]).poles * T))
    assert found[0] == pytest.approx(found[1], abs=1e-7)
    assert poles[0] == pytest.approx(poles[1], abs=1e-7 * np.abs(poles[1]).max())


@pytest.mark.parametrize("method", ["dormand_prince", "rosenbrock", "cvodes", "idas"])
def test_adaptive_runs(method):
    """With the tolerances that are usual: as many evaluations for a mechanism of any size (the steps of SUNDIALS are not counted)."""
    found, cost = [], []
    for size in ((0, 0, 0), SIZES[0], SIZES[-1]):
        L, M, T = scaled(size)
        m = slider_crank(L, M, T)
        begin = art.assemble(m, [0.3, -0.4, 0.79 * L], [1 / T, 0, 0], fixed=["c"])
        run = art.simulate(
            m, 0.5 * T, q0=begin.q, v0=begin.v, step=0.05 * T, method=method, outputs=("vdot",)
        )
        assert run.ok
        assert len(run.meta["settings"]["atol"]["q"]) == m.nq
        found.append(run.q / of_slider(L))
        cost.append(run.statistics["evaluations"])
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=1e-7)  # rtol 1e-8 for a step, some tens of steps
    assert max(cost) <= 1.3 * min(cost)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_start_that_is_moved_is_told(size):
    L, M, T = scaled(size)
    with pytest.warns(art.errors.MovedStart):
        art.simulate(slider_crank(L, M, T), 0.01 * T, q0=[0.3, -0.4, 1.6 * L], fixed=["c"], step=0.005 * T)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_steps_that_lose_energy_are_told(size):
    """An oscillator with one radian a step loses its amplitude under rk4, whatever its size."""
    L, M, T = scaled(size)
    m = art.Mechanism("oscillator", gravity=(0, 0, 0)).body("b", M, (0.1 * L, 0, 0), (M * L**2,) * 3)
    m.joint("x", X, "ground", "b", stiffness=M / T**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not art.simulate(m, 200 * T, q0=[0.1 * L], step=T).ok


def test_a_state_of_great_energy_is_no_divergence():
    """1e6 m and 1e15 kg: the work of the damper passes 1e15 J in the first second."""
    m = art.Mechanism("world").body("b", 1e15, (1e5, 0, 0), (1e27,) * 3)
    m.joint("j", RY, "ground", "b", damping=1e24)
    assert art.simulate(m, 1.0, v0=[0.1], step=0.01).ok


EXTREMES = [SIZES[0], SIZES[-1]]


ELSEWHERE = {"rk4", "semi_implicit_euler", "dormand_prince", "rosenbrock", "cvodes", "idas", "absolute_sdirk"}
"""Methods that other tests here are about."""


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("size", EXTREMES, ids=str)
@pytest.mark.parametrize("method", [m.name for m in ALL_METHODS if m.name not in ELSEWHERE])
def test_methods_with_fixed_steps(size, method):
    """Steps are the same sums: what differs is rounding, and Newton's stop at 1e-8 of a step."""
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        u = of_slider(L)
        run = art.simulate(
            arm(L, M, T),
            0.1 * T,
            q0=np.array([0.3, 0.5, 0.2]) * u,
            v0=np.array([1, -2, 0.5]) * u / T,
            step=0.001 * T,
            method=method,
        )
        assert run.ok
        found.append(run.q / u)
    assert found[0] == pytest.approx(found[1], abs=1e-8)


@pytest.mark.parametrize("size", EXTREMES, ids=str)
def test_bodies_on_ball_joints(size):
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        m = art.Mechanism("chain", gravity=(0, 0, -9.81 * L / T**2))
        for name, parent in (("one", "ground"), ("two", "one")):
            m.body(name, M, (0.4 * L, 0, 0), (0.02 * M * L**2, 0.05 * M * L**2, 0.06 * M * L**2))
            m.joint(name, art.Spherical(), parent, name, at=(0 if parent == "ground" else L, 0, 0))
        v0 = np.array([0.1, 0.2, 1.0, -0.3, 0.5, 0.2]) / T
        run = art.simulate(m, 0.1 * T, v0=v0, step=0.002 * T, method="absolute_sdirk")
        assert run.ok
        found.append(run.q)
    assert found[0] == pytest.approx(found[1], abs=1e-7)  # Newton's stop is 1e-9 of a step


def ball(L: float, M: float, T: float) -> art.Mechanism:
    """Return a ball that flies in a plane."""
    m = art.Mechanism("ball", gravity=(0, 0, -10 * L / T**2))
    m.body("ball", M, inertia=(0.004 * M * L**2,) * 3)
    return m.joint("fly", art.Free(), "ground", "ball")


@pytest.mark.parametrize("size", EXTREMES, ids=str)
@pytest.mark.parametrize("kind", ["contact", "contacts", "ground"])
def test_contacts(size, kind):
    """A ball lands with speed along the ground, slides, rolls; the same motion at every size."""
    from articulus.simulation.loop import contact

    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        k, a = 2e4 * M / (T**2 * np.sqrt(L)), 0.3 * T / L
        law = {"stiffness": k, "dissipation": a, "friction": 0.4}
        shapes = (contact.Sphere("ball", 0.1 * L), contact.Plane("ground"))
        if kind == "ground":
            part = art.components.GroundContact("ball", slip_speed=0.01 * L / T, **law)
        else:
            law |= {"shear": 300.0 * M / T**2, "shear_damping": 0.02 * T, "rolling": 0.002 * L}
            one, many = art.components.Contact, art.components.Contacts
            part = one(*shapes, **law) if kind == "contact" else many(shapes, **law)
        q0 = [1, 0, 0, 0, 0, 0, 0.12 * L] if kind != "ground" else [1, 0, 0, 0, 0, 0, 0.02 * L]
        run = art.simulate(
            ball(L, M, T), 0.5 * T, q0=q0, v0=[0, 0, 0, L / T, 0, 0], components=[part], step=1e-3 * T
        )
        force = run[f"{part.name}.force"] * T**2 / (M * L)
        assert np.abs(force).max() > 5
        found.append(np.concatenate([run.q / ([1] * 4 + [L] * 3), force], axis=1))
    assert found[0] == pytest.approx(found[1], abs=1e-7)


@pytest.mark.parametrize("size", EXTREMES, ids=str)
def test_events(size):
    """A mass that comes to rest on a stop after bounces, one that is locked where it starts, one that is locked when it comes by."""
    found = []
    for L, M, T in (scaled(size), (1.0, 1.0, 1.0)):
        m = art.Mechanism("masses", gravity=(0, 0, -10 * L / T**2))
        for name in ("bounces", "locked", "passes"):
            m.body(name, M, (0.3 * L, 0, 0), (0.1 * M * L**2,) * 3)
            m.joint(name, art.Prismatic((0, 0, 1)), "ground", name)
        m.constrain(art.Lock("here", "locked", (0.5 * L,)))
        m.constrain(art.Lock("there", "passes", (-0.5 * L,)))
        events = [
            art.events.Bounce("bounces", 0.0, side=-1, restitution=0.5),
            art.events.Latch("here", name="first"),
            art.events.Latch("there", name="second"),
        ]
        q0 = np.array([0.1, 0.5 * (1 + 1e-16), 0.0]) * L
        run = art.simulate(m, 0.8 * T, q0=q0, events=events, step=0.01 * T)
        assert {e.name for e in run.events} >= {"first", "second"}
        found.append((run.q / L, [e.time / T for e in run.events]))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)
    assert found[0][0][-1] == pytest.approx([0.0, 0.5, -0.5], abs=1e-9)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-7)


@pytest.mark.parametrize("size", EXTREMES, ids=str)
@pytest.mark.parametrize("method", ["rk4", "hht", "newmark"])
def test_a_vibration_that_a_method_changes_is_told(size, method):
    """Two radians a step, beside a wheel that has nearly all of the energy."""
    L, M, T = scaled(size)
    m = art.Mechanism("craft", gravity=(0, 0, 0)).body("wheel", 100 * M, inertia=(5 * M * L**2,) * 3)
    m.body("part", M, (0.1 * L, 0, 0), inertia=(M * L**2,) * 3)
    m.joint("w", RZ, "ground", "wheel").joint("x", X, "ground", "part", stiffness=4 * M / T**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = art.simulate(m, 50 * T, q0=[0, 0.01 * L], v0=[150 / T, 0], step=T, method=method)
    assert any("vibration" in each.figure for each in run.warnings)
