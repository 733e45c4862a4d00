"""Contact: forces, friction that holds, energy, both bodies."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.components import Contact, Contacts
from articulus.simulation.loop.contact import (
    Box,
    Capsule,
    Cylinder,
    HeightField,
    Plane,
    Sphere,
    dissipation_of,
    hertz_stiffness,
    restitution_of,
)
from articulus.study.loop_text import parts_text, read_parts

from .support import Loop, slider

G = 9.81
SOLIDS = (Sphere("a", 0.1), Capsule("a", 0.05, 0.3), Box("a", (0.2, 0.3, 0.1)), Cylinder("a", 0.1, 0.2))


def two() -> art.Mechanism:
    """Return two free bodies without gravity."""
    m = art.Mechanism("two", gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 2.5)):
        m.body(name, mass, inertia=(4e-3, 5e-3, 6e-3))
        m.joint(f"at_{name}", art.Free(), "ground", name)
    return m


def block(angle: float) -> art.Mechanism:
    """Return a block of 1 kg, 0.2 x 0.2 x 0.1 m, on a plane that leans by an angle."""
    m = art.Mechanism("block", gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    m.body("b", 1.0, inertia=(4.2e-3, 4.2e-3, 6.7e-3))
    return m.joint("free", art.Free(), "ground", "b")


def on_plane(angle: float, t_end: float, **more: object) -> art.Run:
    """Return the run of the block let go on its four corners, pressed in by its weight."""
    k = 1e6
    c = Contact(Box("b", (0.2, 0.2, 0.1)), Plane(), k, dissipation=20.0, friction=0.5, **more)  # type: ignore[arg-type]
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.05 - (G * np.cos(angle) / (4 * k)) ** (2 / 3)])
    return art.simulate(block(angle), t_end, q, components=[c], step=5e-4, sample=0.01)


def overlapping(rng: np.random.Generator, size: float = 0.12) -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity of both bodies, near enough to touch."""
    q = rng.normal(size=14)
    q[:4], q[7:11] = (x / np.linalg.norm(x) for x in (q[:4], q[7:11]))
    q[4:7], q[11:] = 0, size * q[11:] / np.linalg.norm(q[11:])
    return q, rng.normal(size=12)


def test_a_block_below_the_angle_of_friction_holds() -> None:
    """tan(0.45) = 0.483 < 0.5: when its vibrations are over nothing creeps. Measured 8e-11 m in 8 s, 3e-15 m in the last 6."""
    run = on_plane(0.45, 11.0)
    later = run.q[run.t >= 3.0]
    assert np.abs(later[:, 4:] - later[0, 4:]).max() < 1e-9
    assert run["b_to_ground_contact.force"][-1] == pytest.approx(
        [-G * np.sin(0.45), 0, G * np.cos(0.45)], abs=1e-6
    )


def test_a_block_above_the_angle_of_friction_slides() -> None:
    """tan(0.5) = 0.546: it goes down with g (sin - mu cos), once the elastic displacement of 0.4 mm is used up."""
    run = on_plane(0.5, 1.0)
    sliding = run.t > 0.2
    a = np.polyfit(run.t[sliding], run.v[sliding, 3], 1)[0]
    assert a == pytest.approx(G * (np.sin(0.5) - 0.5 * np.cos(0.5)), rel=1e-5)


@pytest.mark.parametrize("a", [0.0, 0.1, 1.0])
def test_restitution_equals_the_closed_form(a: float) -> None:
    """A slider of 2 kg hits a plane with 1.5 m/s; rtol 1e-10 for each of some hundred steps."""
    body, speed = slider(2.0), 1.5
    c = Contact(Sphere("carriage", 0.1), Plane(), 1e7, dissipation=a)
    run = art.simulate(
        body, 0.1, [0.12], [-speed], components=[c], method="dormand_prince", rtol=1e-10, atol=1e-13
    )
    assert run.v[-1, 0] / speed == pytest.approx(restitution_of(a, speed), abs=1e-7)
    assert np.abs(run["energy.balance"]).max() < 1e-7  # of 2.25 J


@pytest.mark.parametrize("e", [0.05, 0.5, 0.9, 1.0])
def test_dissipation_and_restitution_are_inverse(e: float) -> None:
    assert restitution_of(dissipation_of(e, 0.7), 0.7) == pytest.approx(e, abs=1e-9)
    assert restitution_of(1e-4, 1.0) == pytest.approx(
        1 - 1e-4, abs=1e-7
    )  # Hunt and Crossley: 1 - a v for small losses


def test_hertz_of_a_steel_ball() -> None:
    """4/3 sqrt(R) E / (2 (1 - nu^2)) by hand for R = 10 mm, E = 210 GPa, nu = 0.3."""
    assert hertz_stiffness(0.01, (210e9, 210e9)) == pytest.approx(4 / 3 * 0.1 * 210e9 / 1.82, rel=1e-12)


@pytest.mark.parametrize("first", SOLIDS, ids=lambda s: s.type_name)
@pytest.mark.parametrize("second", [Sphere("b", 0.1), Box("b", (0.2, 0.25, 0.15)), Cylinder("b", 0.12, 0.2)], ids=lambda s: s.type_name)  # fmt: skip
def test_action_and_reaction(first: object, second: object) -> None:
    """Forces and moments about one point add up to zero; nothing but rounding."""
    contact = Contact(first, second, 1e5, 0.1, 0.4, rolling=0.01)  # type: ignore[arg-type]
    loop, rng = Loop(two(), contact), np.random.default_rng(5)
    net = loop.network
    wrenches = loop.system.function("wrenches", list(net.wrenches().values()))
    touched = 0
    for _ in range(12):
        q, v = overlapping(rng)
        loop.put(q=q, v=v, **{f"{contact.name}__stick": rng.normal(size=3) * 1e-4})
        on_a, on_b = (np.array(w).ravel() for w in wrenches(*loop._arguments()))
        scale = max(np.abs(on_a[3:]).max(), 1.0)
        touched += scale > 1
        assert np.abs(on_a[3:] + on_b[3:]).max() < 1e-12 * scale
        moments = on_a[:3] + on_b[:3] + np.cross(q[4:7], on_a[3:]) + np.cross(q[11:], on_b[3:])
        assert np.abs(moments).max() < 1e-12 * scale
    assert touched > 3


@pytest.mark.parametrize("pair", [(SOLIDS[0], Sphere("b", 0.1)), (SOLIDS[1], Capsule("b", 0.1, 0.2)), (SOLIDS[0], Box("b", (0.2, 0.3, 0.2))), (SOLIDS[2], Plane("b"))])  # fmt: skip
def test_no_state_creates_energy(pair: tuple) -> None:
    """Whatever the velocities and the displacements of the bristles, the power lost is not negative."""
    contact = Contact(*pair, 1e5, 0.1, 0.4, rolling=0.01)
    loop, rng = Loop(two(), contact), np.random.default_rng(6)
    for _ in range(60):
        q, v = overlapping(rng)
        states = {
            n: rng.normal(size=len(loop.state(n))) for n in loop.system.places if n.startswith(contact.name)
        }
        loop.put(q=q, v=v, **{n.replace(".", "__"): 10 ** rng.uniform(-6, -2) * x for n, x in states.items()})
        lost = loop.rate("work.dissipated")[0]
        assert lost > -1e-9 * (1 + abs(lost))


def test_energy_is_accounted_for_in_a_collision() -> None:
    """A spinning capsule hits a box, slides and parts; rk4 with 0.1 ms keeps the balance to 1e-4 of the energy."""
    c = Contact(Capsule("a", 0.05, 0.3), Box("b", (0.3, 0.2, 0.25)), 1e6, 0.2, 0.4)
    q = np.array([0.9, 0.1, 0.3, 0.2, -0.3, 0.05, 0.02, 1, 0, 0, 0, 0.1, 0, 0])
    q[:4] /= np.linalg.norm(q[:4])
    run = art.simulate(two(), 0.3, q, [1, 2, 3, 2, -0.5, 0, *[0] * 6], components=[c], step=1e-4, sample=1e-3)
    assert run["a_to_b_contact.depth"].max() > 1e-3
    assert np.abs(run["energy.balance"]).max() < 1e-4 * run["energy"][0, 0]
    assert np.diff(run["energy.dissipated"]).min() > -1e-6
    # speeds of a free joint are in its own axes, which rk4 turns with an error of about 1e-9 in 3000 steps
    assert np.abs(run["momentum"][-1] - run["momentum"][0]).max() < 1e-8


def test_resistance_to_rolling_holds_a_ball() -> None:
    """A ball of 0.1 m on a slope of 0.05 rad needs 5 mm and has 6 mm; on one of 0.1 rad it rolls, slower than without.

    With N = m g cos and the moment r N the ball gets 5/7 g (sin - cos r / R).
    """
    k, r = 1e8, 0.006
    c = Contact(Sphere("b", 0.1), Plane(), k, 20.0, 0.5, shear=1e4, shear_damping=0.02, rolling=r)
    ball = art.Mechanism("ball", gravity=(art.Parameter("gx", 0.0), 0, art.Parameter("gz", -G)))
    ball.body("b", 1.0, inertia=(0.004,) * 3).joint("free", art.Free(), "ground", "b")
    angles = np.array([0.05, 0.1])
    q = [1, 0, 0, 0, 0, 0, 0.1 - (G / k) ** (2 / 3)]
    run = art.rollout(ball, 3.0, q, params={"gx": G * np.sin(angles), "gz": -G * np.cos(angles)}, components=[c], step=5e-4, sample=0.01)  # fmt: skip
    later = run.t > 2.0
    assert np.abs(run.q[0, later, 4] - run.q[0, -1, 4]).max() < 1e-9
    a = 2 * np.polyfit(run.t[later], run.q[1, later, 4], 2)[0]
    assert a == pytest.approx(
        5 / 7 * G * (np.sin(0.1) - np.cos(0.1) * r / 0.1), rel=1e-3
    )  # depth over radius is 2e-4


def test_ground_of_varying_height() -> None:
    """Depth of a ball on h = 0.05 (x^2 + y^2) / 2; cubics go through a parabola exactly."""
    x = np.linspace(-1, 1, 9)
    field = HeightField("ground", 0.05 * (x[:, None] ** 2 + x[None, :] ** 2) / 2, (0.25, 0.25))
    loop = Loop(block(0.0), Contact(Sphere("b", 0.1), field, 1e6, friction=0.3))
    rng = np.random.default_rng(2)
    for p in rng.uniform(-0.6, 0.6, (8, 2)):
        loop.put(q=[1, 0, 0, 0, *p, 0.05 * p @ p / 2 + 0.1])
        # the tangent plane at the foot of the center: the distance errs by slope^2 times curvature times height
        assert loop.signal("b_to_ground_contact.depth")[0] == pytest.approx(
            0.1 - _to_bowl(*p, 0.05 * p @ p / 2 + 0.1), abs=2e-6
        )


def _to_bowl(x: float, y: float, z: float) -> float:
    """Return the distance of a point from z = 0.05 r^2 / 2, by a fine search along its meridian."""
    r = np.hypot(x, y)
    at = np.linspace(r - 0.05, r + 0.05, 200001)
    return float(np.sqrt((at - r) ** 2 + (0.05 * at**2 / 2 - z) ** 2).min())


def test_a_study_has_contacts() -> None:
    """What is written as tables reads back the same."""
    mechanism = two()
    field = HeightField("ground", [[0.0, 0.1, 0, 0]] * 4, (0.5, 0.5))
    k = art.Parameter("k", 1e5)
    given = [Contact(s, Box("b", (0.1, 0.2, 0.3)), k, friction=0.2, name=s.type_name) for s in SOLIDS]
    given += [Contact(SOLIDS[0], other, 1e5, name=other.type_name) for other in (Plane("b"), field)]  # type: ignore[list-item]
    given.append(Contacts((*SOLIDS[:2], Box("b", (0.1, 0.2, 0.3)), Plane(), field), k))  # type: ignore[arg-type]
    components, _ = read_parts(parts_text(mechanism, Loop(mechanism, *given).network), mechanism)
    assert list(components) == given


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Contact(Plane(), SOLIDS[0], 1.0), "first: found a plane; expected a solid shape"),
        (lambda: Contact("a", Plane(), 1.0), "first: found 'a'; expected a shape"),
        (lambda: Contact(SOLIDS[0], Plane(), 0.0), "stiffness: found 0; expected a finite number above 0"),
        (lambda: Sphere("a", -1.0), "Sphere at 'a', radius: found -1.0; expected finite numbers above 0"),
        (lambda: Box("a", (1, 1, 1), 0.6), "rounding: found 0.6; expected above 0 and below half"),
        (lambda: HeightField("ground", [[0, 0]], (1, 1)), "a grid of 1 x 2; expected at least 4 x 4"),
        (lambda: dissipation_of(1.2, 1.0), "expected a restitution above 0 and up to 1"),
    ],
)
def test_wrong_contacts(make: object, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        make()  # type: ignore[operator]
    assert text in str(caught.value)


def test_a_wrong_frame() -> None:
    with pytest.raises(art.InputError, match="frame: no body or frame 'c'"):
        Loop(two(), Contact(Sphere("c", 0.1), Plane(), 1.0))


def test_shapes_that_cannot_touch_are_refused() -> None:
    """Shapes of one body, and surfaces alone: nothing would happen, silently."""
    with pytest.raises(
        art.InputError, match="second: found both shapes on 'a'; expected shapes of two bodies"
    ):
        Loop(two(), Contact(SOLIDS[0], Sphere("a", 0.2), 1.0))
    for shapes in ((Sphere("a", 0.1), Box("a", (0.1, 0.1, 0.1))), (Plane(), Plane("b")), ()):
        with pytest.raises(art.InputError, match="of which no two can touch; expected a solid, and another"):
            Loop(two(), Contacts(shapes, 1.0))


def test_derivatives_are_finite_and_right_in_and_out_of_contact() -> None:
    """Central differences of 1e-7 have errors of about 1e-6 relative to a stiffness of some 1e4 N/m."""
    loop, rng = (
        Loop(two(), Contact(SOLIDS[1], Box("b", (0.2, 0.25, 0.15)), 1e5, 0.1, 0.4, rolling=0.01)),
        np.random.default_rng(1),
    )
    rhs = loop.system.rhs
    jacobian = ca.Function("J", rhs.sx_in(), [ca.jacobian(rhs(*rhs.sx_in()), rhs.sx_in()[0])])
    for size in (0.15, 0.6):
        q, v = overlapping(rng, size)
        loop.put(q=q, v=v, **{"a_to_b_contact__stick": [1e-5, 2e-5, 3e-5]})
        J, c = np.array(jacobian(*loop._arguments())), loop.c.copy()
        assert np.isfinite(J).all()
        scale = np.abs(J).max()
        for i in range(len(c)):
            sides = []
            for h in (1e-7, -1e-7):
                loop.c = c + h * np.eye(len(c))[i]
                sides.append(np.array(rhs(*loop._arguments())).ravel())
            assert np.abs((sides[0] - sides[1]) / 2e-7 - J[:, i]).max() < 1e-5 * scale


def crowd() -> tuple[art.Mechanism, Contacts, np.ndarray]:
    """Return five balls that fall on a plane and on each other, without friction."""
    m, q = art.Mechanism("crowd"), []
    for i in range(5):
        m.body(f"b{i}", 1.0, inertia=(1e-3,) * 3).joint(f"j{i}", art.Free(), "ground", f"b{i}")
        q += [1.0, 0, 0, 0, 0.07 * (i % 2), 0.01 * i, 0.06 + 0.08 * i]
    return m, Contacts([*(Sphere(f"b{i}", 0.05) for i in range(5)), Plane()], 1e5, 0.5), np.array(q)


def test_many_contacts_are_pairs_of_contacts() -> None:
    """Pairs that are passed over change nothing: as with a `Contact` for each pair, in single runs and in a batch."""
    m, together, q = crowd()
    shapes = together.shapes
    pairs = [Contact(a, b, 1e5, 0.5) for i, a in enumerate(shapes[:-1]) for b in shapes[i + 1 :]]
    options = {"step": 5e-4, "sample": 0.01}
    one, other = (art.simulate(m, 0.3, q, components=c, **options) for c in ([together], pairs))
    assert one["contacts.touching"].max() > 3
    assert one.q == pytest.approx(other.q, abs=1e-9)  # sums in another order, over some 10 impacts
    assert np.abs(one["energy.balance"]).max() < 1e-4
    some = np.tile(q, (5, 1)) + 1e-3 * np.arange(5)[:, None] * (np.arange(35) % 7 == 6)
    many = art.rollout(m, 0.3, some, components=[together], **options)
    for row in range(5):  # lanes with other pairs in contact do not matter
        assert many.q[row] == pytest.approx(
            art.simulate(m, 0.3, some[row], components=[together], **options).q, abs=1e-9
        )


def every_shape() -> tuple[art.Mechanism, Contacts, list[Contact]]:
    """Return four solids above a slope and rough ground, all their contacts together, and one by one."""
    m = art.Mechanism("shapes", gravity=(0, 0, 0))
    solids = (
        Sphere("b0", 0.1),
        Capsule("b1", 0.05, 0.3),
        Box("b2", (0.2, 0.3, 0.1)),
        Cylinder("b3", 0.1, 0.2),
    )
    for i in range(4):
        m.body(f"b{i}", 1.0, inertia=(4e-3, 5e-3, 6e-3)).joint(f"j{i}", art.Free(), "ground", f"b{i}")
    m.frame("slope", "ground", at=(0, 0, -0.1))
    field = HeightField("ground", 0.05 * np.random.default_rng(3).normal(size=(4, 4)), (0.3, 0.3))  # type: ignore[arg-type]
    shapes = (Plane("slope"), *solids, field)  # surfaces may come first
    law = {"stiffness": 1e5, "dissipation": 0.1, "friction": 0.4, "rolling": 0.01}
    pairs = [Contact(a, b, **law) for i, a in enumerate(solids) for b in (*solids[i + 1 :], shapes[0], field)]  # type: ignore[arg-type]
    return m, Contacts(shapes, **law), pairs  # type: ignore[arg-type]


def pair_states(together: Contacts, one_by_one: Loop, loop: Loop) -> dict[str, tuple[str, slice]]:
    """Return for each state of single contacts the name and the place of the same state of all together."""
    out, shapes = {}, together.shapes
    for (i, j), pairs in (
        (pairs[0], pairs) for pairs in together._by_kind(together.pairs(loop.network.description)).values()
    ):
        name, at = f"{together.name}.held {i} {j}", 0
        for a, b in pairs:
            single = f"{shapes[a].frame}_to_{shapes[b].frame}_contact"
            for part in ("stick", "spin", "roll"):
                size = one_by_one.system.places.get(f"{single}.{part}")
                if size is not None:
                    width = size.stop - size.start
                    out[f"{single}.{part}"], at = (name, slice(at, at + width)), at + width
    return out


def test_contacts_of_all_shapes_hold_and_roll_as_single_contacts() -> None:
    """Forces, rates of the states, energy held and lost are those of a `Contact` for each pair: rounding."""
    m, together, pairs = every_shape()
    many, single = Loop(m, together), Loop(m, *pairs)
    places, rng = pair_states(together, single, many), np.random.default_rng(8)
    assert len(places) == 14 + 9 + 14  # stick, spin where there are several points, roll
    for _ in range(6):
        q = rng.normal(size=(4, 7))
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1)[:, None]
        q[:, 4:] *= 0.06
        for loop in (many, single):
            loop.put(q=q.ravel(), v=np.sin(np.arange(24.0)))
        for name, (other, at) in places.items():
            z = rng.normal(size=at.stop - at.start) * 1e-4
            single.c[single.system.places[name]] = z
            many.c[many.system.places[other].start + np.arange(at.start, at.stop)] = z
        rates = [np.array(x.system.rhs(*x._arguments())).ravel() for x in (many, single)]
        for name in ("q", "v", "work.input", "work.dissipated"):
            found, expected = (r[x.system.places[name]] for r, x in zip(rates, (many, single)))
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1, np.abs(expected).max()))
        for name, (other, at) in places.items():
            found = rates[0][many.system.places[other]][at]
            assert found == pytest.approx(rates[1][single.system.places[name]], rel=1e-9, abs=1e-11)
        held = [float(x.system.whole_energy(*x._arguments())) for x in (many, single)]
        assert held[0] == pytest.approx(held[1], rel=1e-11)
        assert float(many.signal("contacts.touching")[0]) > 3


def test_blocks_on_each_other_on_a_slope_hold() -> None:
    """tan(0.3) = 0.31 < 0.5: nothing creeps in 10 s. The lower carries both, at the force of statics."""
    angle, k, size = 0.3, 1e6, 0.1
    m = art.Mechanism("stack", gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    for name in ("low", "top"):
        m.body(name, 1.0, inertia=(4.2e-3, 4.2e-3, 6.7e-3)).joint(f"j_{name}", art.Free(), "ground", name)
    deep = [(n * G * np.cos(angle) / (4 * k)) ** (2 / 3) for n in (2, 1)]
    heights = [size / 2 - deep[0], 3 * size / 2 - deep[0] - deep[1]]
    q = np.concatenate([[1.0, 0, 0, 0, 0, 0, z] for z in heights])
    c = Contacts(
        (Box("low", (0.3, 0.3, size)), Box("top", (0.2, 0.2, size)), Plane()),
        k,
        20.0,
        0.5,
        shear_damping=5e-3,
    )
    run = art.simulate(m, 14.0, q, components=[c], step=5e-4, sample=0.1)
    later = run.q[run.t >= 4.0]
    assert np.abs(later - later[0]).max() < 1e-9
    pushes = run["contacts.push"][-1].reshape(3, 3)  # low and top, low and plane, top and plane
    weight = np.array([-G * np.sin(angle), 0, G * np.cos(angle)])
    assert pushes == pytest.approx(np.array([-weight, 2 * weight, 0 * weight]), abs=1e-5)
    points = run["contacts.point"][-1].reshape(3, 3)
    assert points[:2, 2] == pytest.approx([size, 0], abs=1e-3)
    assert np.abs(run["energy.balance"]).max() < 1e-6


def test_rolling_balls_come_to_rest() -> None:
    """A ball on a plane slows down by g r / (R (1 + 2/5)) with resistance r at radius R, then rests."""
    m, R, r, v = art.Mechanism("ball"), 0.05, 1e-3, 0.2
    m.body("ball", 1.0, inertia=(0.4 * R**2,) * 3).joint("free", art.Free(), "ground", "ball")
    c = Contacts((Sphere("ball", R), Plane()), 1e6, 20.0, 0.5, shear_damping=0.02, rolling=r)
    q = np.array([1.0, 0, 0, 0, 0, 0, R - (G / 1e6) ** (2 / 3)])
    slowing = G * r / (1.4 * R)
    run = art.simulate(m, 5.0, q, [0, v / R, 0, v, 0, 0], components=[c], step=5e-4, sample=0.1)
    x = run.q[:, 4]
    assert x[10] == pytest.approx(v - slowing / 2, rel=2e-2)  # beyond it, the elastic turn of 1 / 10
    assert np.abs(np.diff(x[-5:])).max() < 1e-6
    exact = art.simulate(
        m, 0.3, q, [0, v / R, 0, v, 0, 0], components=[c], method="rosenbrock", rtol=1e-8, sample=0.1
    )
    assert exact.q[-1] == pytest.approx(run.q[3], abs=1e-6)  # that of RK4 with steps of 0.5 ms


@pytest.mark.parametrize("damping", [1e-3, 4e-3])
def test_vibrations_of_a_stuck_block_die_out_as_described(damping):
    """m x'' + k T x' + k x = 0 of a mass on its bristle: the amplitude falls by exp(-k T t / (2 m)), so that a larger T settles sooner."""
    mass, k = 2.0, 1e5
    m = art.Mechanism("block").body("slide", massless="guide").body("b", mass, inertia=(1e-2,) * 3)
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "slide").joint(
        "z", art.Prismatic((0, 0, 1)), "slide", "b"
    )
    touch = Contact(Sphere("b", 0.05), Plane(), 1e6, 0.5, 0.5, shear=k, shear_damping=damping)
    depth = (mass * 9.81 / 1e6) ** (2 / 3)
    run = art.simulate(
        m, 0.05, q0=[0, 0.05 - depth], v0=[0.005, 0], components=[touch], method="rosenbrock", step=2.5e-4
    )
    stored = 0.5 * mass * run.v[:, 0] ** 2 + 0.5 * k * run.q[:, 0] ** 2
    late = run.t > 0.01
    slope = np.polyfit(run.t[late], np.log(stored[late]), 1)[0]
    assert slope == pytest.approx(-k * damping / mass, rel=0.05)  # 5 %: the energy falls in waves
