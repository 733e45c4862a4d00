"""Every mechanism of the library."""

import numpy as np
import pytest

import articulus as art
from articulus.model import library
from articulus.model.library.looks import LOOKS
from articulus.model.library.looks.shapes import plate
from articulus.simulation.solve.assembly import independent_rows

SIZES = {"hub_with_appendages": {"modes": 12}, "bayo_link": {"modes": 3}}
"""Arguments that keep the tests fast."""
HELD = {name: library.read(name, **SIZES.get(name, {})) for name in library.names()}
models = pytest.mark.parametrize("name", HELD)
trees = pytest.mark.parametrize("name", [n for n, d in HELD.items() if not d.constraints])
rigid = pytest.mark.parametrize(
    "name", [n for n, d in HELD.items() if all(b.modes is None for b in d.bodies)]
)


def made(name):
    return art.Mechanism.from_description(HELD[name])


def states(arm, count, seed):
    """Return positions and velocities; quaternions turned from neutral, modal coordinates small."""
    rng = np.random.default_rng(seed)
    size = np.where([("." in n and n.split(".")[0] in arm.body_names) for n in arm.v_names], 2e-3, np.pi)
    turned = [arm.integrate_position(arm.neutral, x) for x in size * rng.uniform(-1, 1, size=(count, arm.nv))]
    return np.array(turned), size * rng.normal(size=(count, arm.nv))


@models
def test_reads_and_says_where_it_comes_from(name):
    arm = made(name)
    assert arm.name == name
    assert arm.description.source
    assert arm.frame_names


@rigid
def test_survives_writing_and_reading(name, tmp_path):
    held = art.load(name)
    held.save(tmp_path / "x.toml")
    assert art.load(tmp_path / "x.toml").description == held.description


def test_looks_belong_to_models_and_cover_their_rigid_bodies():
    for name in LOOKS:
        d = HELD[name]
        assert d.visuals or any(b.visuals for b in d.bodies)
        assert all(b.visuals for b in d.bodies if b.modes is None), name


def test_plates_are_closed_and_face_outwards():
    """The area of a simple polygon (shoelace formula) times its width is the volume that its plate encloses."""
    outline = [(0, 0), (3, 0), (3, 2), (2, 0.5), (1, 2), (0, 2)]  # concave
    x, y = np.array(outline, float).T
    area = 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    mesh = plate(outline, 0.5, "#ffffff")
    a, b, c = (mesh.vertices[mesh.triangles[:, k]].astype(float) for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(
        0.5 * area, rel=1e-6
    )  # single precision


@models
def test_mass_matrix_is_positive_definite_anywhere(name):
    arm = made(name)
    M = arm.mass_matrix(states(arm, 50, 2)[0])
    np.testing.assert_allclose(M, np.swapaxes(M, -1, -2), rtol=1e-13, atol=1e-13 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0


@trees
def test_forward_undoes_inverse(name):
    arm = made(name)
    q, v = states(arm, 20, 3)
    vdot = np.random.default_rng(4).normal(size=(20, arm.nv))
    tau = arm.inverse_dynamics(q, v, vdot)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, tau), vdot, rtol=1e-8, atol=1e-8)


def test_effort_limits_of_the_excavator_are_there():
    held = art.load("cat215b").description
    assert [c.limits.effort for c in held.connections] == [(107450.0,), (333812.5,), (77000.0,), (87500.0,)]


def test_the_arms_of_the_torso_are_a_mirror_image_in_space():
    torso = art.load("human_torso")
    q = np.array([0.0, 0.0, 0.4, 0.7, 0.4, 0.7])
    right, left = (torso.pose(hand, q)[:3, 3] for hand in ("right_hand", "left_hand"))
    np.testing.assert_allclose(left, right * [-1, -1, 1], atol=1e-12)


def test_positive_boom_angles_raise_the_boom():
    digger = art.load("cat215b")
    low, high = (digger.pose("wrist", [0, angle, 0, 0])[2, 3] for angle in (0.0, 0.3))
    assert high > low + 1


def test_hinge_offsets_of_the_puma_are_the_printed_link_lengths():
    arm = art.load("puma600")
    at = {c.name: c.at.xyz for c in arm.description.connections}
    assert at["joint2"] == pytest.approx((0, 0.149, 0))
    assert at["joint3"] == pytest.approx((0.432, 0, 0))
    assert at["joint4"] == pytest.approx((0.02, -0.432, 0))
    assert at["joint6"] == pytest.approx((0, -0.056, 0))


def test_stewart_platform_stands_and_has_six_degrees_of_freedom():
    """Forces in the slides at rest by virtual work: dU/dz over six times dL/dz, with the heights of all parts by hand."""
    from articulus.model.library import stewart_platform as s

    m = art.load("stewart_platform")
    np.testing.assert_allclose(m.constraint_residual(m.neutral, 0.0), 0.0, atol=1e-15)
    assert m.nv - len(independent_rows(m, m.neutral)) == 6
    slides = [f"slide{i}" for i in range(1, 7)]
    tau = m.inverse_dynamics(m.neutral, np.zeros(m.nv), np.zeros(m.nv), actuators=slides)
    angle = s.TOP_ANGLE - s.BASE_ANGLE
    apart = s.BASE**2 + s.TOP**2 - 2 * s.BASE * s.TOP * np.cos(angle)
    length = np.sqrt(apart + s.HEIGHT**2)
    along = s.HEIGHT / length

    def height(at):  # of a point of a leg, `at` from its foot, by the platform's height
        return at * apart / length**3

    cylinder, rod = height(s.PART / 2), height(-s.PART / 2) + 1.0
    expected = (
        -m.description.gravity[2] * (s.PLATFORM + 6 * (s.CYLINDER * cylinder + s.ROD * rod)) / (6 * along)
    )
    np.testing.assert_allclose([tau[m.description.v_slices[x].start] for x in slides], expected, rtol=1e-10)
