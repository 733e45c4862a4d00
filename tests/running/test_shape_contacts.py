"""Contacts of the shapes of model files, in one word: beside MuJoCo, and what files say of them."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulModel, InputError, ModelError
from articulus.model.files.mesh.hull import hull_of
from articulus.simulation.loop import contact
from articulus.simulation.loop.contact import ConvexHull
from articulus.simulation.running.shape_contacts import DEPTH, _grown, shape_contacts

mujoco = pytest.importorskip("mujoco")
assets = pytest.importorskip("gymnasium").__path__[0] + "/envs/mujoco/assets/"

SOLIDS = {
    "sphere": ('size=".1"', 0.1),
    "box": ('size=".1 .15 .2" quat="1 0 0 0"', 0.2),
    "cylinder": ('size=".1 .07"', 0.07),
    "capsule": ('size=".05 .2" euler="0 90 0"', 0.05),
}


def scene(kind: str, numbers: str, floor: str = "", height: float = 0.3, more: str = "") -> str:
    return (
        f'<mujoco><asset>{more}</asset><worldbody><geom name="floor" type="plane" size="5 5 1" {floor}/>'
        f'<body name="thing" pos="0 0 {height}"><freejoint/><geom name="solid" type="{kind}" {numbers}/></body></worldbody></mujoco>'
    )


def at_height(z: float, x: float = 0.0) -> np.ndarray:
    return np.array([1.0, 0, 0, 0, x, 0, z])


def settled(
    mechanism: art.Mechanism, z: float, t_end: float = 1.5, step: float = 2e-4, x: float = 0.0
) -> art.Run:
    return art.simulate(
        mechanism,
        t_end,
        at_height(z, x),
        contacts=True,
        step=step,
        sample=t_end,
        method="semi_implicit_euler",
        outputs=(),
    )


@pytest.mark.parametrize("kind", SOLIDS)
def test_solids_rest_where_mujoco_has_them(kind: str) -> None:
    """Both sink in: MuJoCo by about g (0.02 s)^2 / 9 = 0.4 mm, we by at most a hundredth of the length of the mechanism."""
    numbers, half = SOLIDS[kind]
    text = scene(kind, numbers, height=half + 0.002)
    mechanism = art.load(text)
    run = settled(mechanism, half + 0.002)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(1500):
        mujoco.mj_step(model, data)
    depth = half - run.q[-1][6]
    assert 0 < depth <= DEPTH * mechanism.description.scales().length * (1 + 1e-9)
    assert abs(half - data.qpos[2]) < 1e-3
    assert abs(run.v[-1]).max() < 1e-3


def test_margins_raise_what_rests() -> None:
    plain, thick = (
        art.load(scene("sphere", f'size=".1" margin="{m}"', f'margin="{m}"', 0.13)) for m in (0.0, 0.01)
    )
    assert settled(thick, 0.122).q[-1][6] - settled(plain, 0.102).q[-1][6] == pytest.approx(0.02, abs=1e-6)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_friction_cone_is_that_of_mujoco(share: float) -> None:
    """On a slope of tan = 0.9 mu a block stays, at 1.1 mu it slides with g (sin - mu cos), here and there."""
    mu, t_end = 0.5, 0.6
    slope = np.arctan(share * mu)
    g = f"{9.81 * np.sin(slope)} 0 {-9.81 * np.cos(slope)}"
    text = scene(
        "box", f'size=".1 .1 .05" friction="{mu} 0 0"', f'friction="{mu} 0 0"', 0.05, "</asset>"
        f'<option gravity="{g}" cone="elliptic" impratio="100" timestep="0.001"/><asset>'
    )  # fmt: skip
    run = art.simulate(
        art.load(text),
        t_end,
        at_height(0.05),
        contacts=True,
        step=2e-4,
        sample=t_end / 2,
        method="rk4",
        outputs=(),
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    speeds = []
    for k in range(1, int(t_end / 0.001) + 1):
        mujoco.mj_step(model, data)
        if k % 300 == 0:
            speeds.append(data.qvel[0])
    expected = 9.81 * max(np.sin(slope) - mu * np.cos(slope), 0.0)
    assert (run.v[2][3] - run.v[1][3]) / (t_end / 2) == pytest.approx(expected, abs=1e-3)
    assert (speeds[1] - speeds[0]) / (t_end / 2) == pytest.approx(expected, abs=2e-2)  # its cone is soft


def test_forces_carry_the_weight() -> None:
    mechanism = art.load(scene("box", 'size=".1 .15 .2"', height=0.201))
    run = art.simulate(
        mechanism, 1.5, at_height(0.201), contacts=True, step=2e-4, sample=1.5, method="semi_implicit_euler"
    )
    weight = mechanism.description.scales().mass * 9.81
    forces = np.array(run["contacts.force"][-1]).reshape(2, 3)
    assert np.allclose(forces, [[0, 0, -weight], [0, 0, weight]], atol=1e-4 * weight)


def test_humanoid_stands() -> None:
    """With servos at its joints it stands on its feet where MuJoCo has it, sunk in by less than 2 mm against each other."""
    mechanism = art.load(assets + "humanoid.xml")
    limits = mechanism.limits
    start = np.zeros(mechanism.nq)
    start[:7] = [1, 0, 0, 0, 0, 0, 1.285]
    start[7:] = np.clip(0.0, limits.lower[7:] + 0.05, limits.upper[7:] - 0.05)
    inertia, t_end = 1 / np.diag(np.linalg.inv(mechanism.mass_matrix(start)))[6:], 0.4
    k, c = 60.0**2 * inertia, 120.0 * inertia

    def hold(t, q, v):
        return np.concatenate([np.zeros(6), -k * (q[7:] - start[7:]) - c * v[6:]])

    hold = art.PythonController(hold, period=1e-3)
    plain = art.Mechanism.from_description(mechanism.description)
    run = art.simulate(
        plain, t_end, start, contacts=True, controller=hold, step=5e-4, sample=t_end,
        method="semi_implicit_euler", outputs=("contacts.touching", "contacts.force"),
    )  # fmt: skip
    model = mujoco.MjModel.from_xml_path(assets + "humanoid.xml")
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[7:] = start[4:7], start[7:]
    while data.time < t_end - 1e-9:
        data.qfrc_applied[6:] = -k * (data.qpos[7:] - start[7:]) - c * data.qvel[6:]
        mujoco.mj_step(model, data)
    assert run["contacts.touching"][-1][0] >= 2
    assert abs(run.q[-1][6] - data.qpos[2]) < 5e-3
    assert 1 - abs(run.q[-1][0]) < 1e-3


def test_hull_stands_on_its_corners() -> None:
    """A cube given as a mesh rests as a box does, up to the rounding of the box."""
    corners = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1))
    mesh = f'<mesh name="cube" vertex="{corners}"/>'
    cube, box = (
        art.load(scene("mesh", 'mesh="cube"', height=0.101, more=mesh)),
        art.load(scene("box", 'size=".1 .1 .1"', height=0.101)),
    )
    assert [s.type for s in cube.description.equipment.collisions] == ["plane", "hull"]
    assert settled(cube, 0.101).q[-1][6] == pytest.approx(settled(box, 0.101).q[-1][6], abs=1e-5)


def test_hull_keeps_extreme_points() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    few = hull_of(points)
    assert len(few) <= 64
    for direction in np.eye(3):
        assert (few @ direction).max() > 0.9
    with pytest.raises(InputError, match="at least 4"):
        hull_of(points[:3])


def test_height_field_carries_a_ball() -> None:
    """A ball comes to rest in the trough of z = 0.1 x^2, whose rows MuJoCo stores along y."""
    x = np.linspace(-1, 1, 21)
    heights = np.broadcast_to(0.1 * x**2 / 0.1, (9, 21))
    text = (
        f'<mujoco><asset><hfield name="trough" nrow="9" ncol="21" size="1 .4 .1 .1" elevation="{" ".join(map(str, heights[::-1].ravel()))}"/></asset>'
        '<worldbody><geom type="hfield" hfield="trough"/><body pos=".05 0 .06"><freejoint/><geom size=".05" friction="1"/></body></worldbody></mujoco>'
    )
    mechanism = art.load(text)
    run = settled(mechanism, 0.06, 1.0, 1e-4, x=0.05)
    assert abs(run.q[-1][6] - 0.05) < 5e-3
    assert abs(run.q[-1][4]) < 0.06


def test_groups_exclusions_and_carriers_are_those_of_the_file() -> None:
    ant = art.load(assets + "ant.xml")
    (contacts,) = shape_contacts(ant)
    assert len(contacts.pairs(ant.description)) == 13  # all geoms with the floor, none with each other
    humanoid = art.load(assets + "humanoid.xml")
    model = mujoco.MjModel.from_xml_path(assets + "humanoid.xml")
    found = sum(len(c.pairs(humanoid.description)) for c in shape_contacts(humanoid))
    weld = model.body_weldid
    carrier = weld[model.body_parentid[weld]]
    expected = 0
    for i in range(model.ngeom):
        for j in range(i):
            a, b = (weld[model.geom_bodyid[k]] for k in (i, j))
            related = a == b or (a and b and (a == carrier[b] or b == carrier[a]))
            meant = (
                model.geom_contype[i] & model.geom_conaffinity[j]
                or model.geom_contype[j] & model.geom_conaffinity[i]
            )
            expected += bool(meant and not related)
    assert found == expected


URDF = """<robot name="block"><link name="base">
<inertial><mass value="2"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 -.1 -.1"/><geometry><sphere radius=".05"/></geometry></collision>
<collision name="side"><origin xyz="0 .1 -.1"/><geometry><box size=".1 .1 .1"/></geometry></collision>
<collision><geometry><mesh filename="missing.stl"/></geometry></collision>
</link></robot>"""


def test_urdf_gets_a_floor(tmp_path) -> None:
    path = tmp_path / "block.urdf"
    path.write_text(URDF)
    block = art.load(path, base="free")
    assert [s.name for s in block.description.equipment.collisions] == [
        "base_collision0",
        "side",
        "base_collision2",
    ]
    with pytest.raises(ModelError, match="missing"):
        block.components(contacts=True)
    with pytest.warns(DoubtfulModel, match="base_collision2.*is left out"):
        block.save(tmp_path / "block.toml")
    assert len(art.load(tmp_path / "block.toml").description.equipment.collisions) == 2
    path.write_text(URDF.replace('<mesh filename="missing.stl"/>', '<cylinder radius=".02" length=".04"/>'))
    block = art.load(path, base="free")
    start = np.array([1, 0, 0, 0, 0, 0, 0.152])
    run = art.simulate(block, 1.0, start, contacts=True, step=2e-4, method="rk4", outputs=())
    assert 0.145 < run.q[-1][6] < 0.15


def test_shapes_survive_toml_and_edits(tmp_path) -> None:
    ant = art.load(assets + "ant.xml")
    ant.save(tmp_path / "ant.toml")
    again = art.load(tmp_path / "ant.toml")
    assert again.description.equipment.collisions == ant.description.equipment.collisions
    (tmp_path / "bad.toml").write_text(
        (tmp_path / "ant.toml").read_text()
        + '\n[collision.other]\nframe = "torso"\ntype = "mesh"\nfile = "/etc/passwd"\n'
    )
    with pytest.raises(ModelError, match="Other files are not read"):
        art.load(tmp_path / "bad.toml")


def test_one_word_and_its_errors() -> None:
    with pytest.raises(InputError, match="no shapes that touch"):
        art.simulate(art.load("puma600"), 0.1, contacts=True)
    floor = art.load(scene("sphere", 'size=".1"', height=0.2))
    own = art.components.Contact(contact.Sphere("thing", 0.1), contact.Plane(), 1e5)
    run = art.simulate(floor, 0.01, components=[own], contacts=True, step=1e-3)
    assert not any(name.startswith("contacts.") for name in run.signals)
    wrong = floor.description.equipment.collisions[0]
    assert wrong.type == "plane"
    with pytest.warns(DoubtfulModel, match="contacts=True makes contacts of them"):
        art.simulate(art.load(scene("sphere", 'size=".11"', height=0.2)), 0.01, step=1e-3)


def test_shape_off_its_frame_is_a_shape_on_a_frame_there() -> None:
    """A capsule with a place of its own and one at a frame of the same pose feel the same forces, in `Contact` and `Contacts`."""
    turn = (0.9, 0.3, -0.2, 0.1)
    at = art.Pose((0.1, 0.2, -0.05), quaternion=turn)
    runs = []
    for shape in (
        contact.Capsule("body", 0.05, 0.3, xyz=at.xyz, quaternion=turn),
        contact.Capsule("spot", 0.05, 0.3),
    ):
        for many in (False, True):
            m = art.Mechanism("thing")
            m.body("body", 1.0, inertia=(0.01, 0.02, 0.03))
            m.joint("base", art.Free(), "ground", "body")
            m.frame("spot", "body", at)
            numbers = {"stiffness": 1e4, "dissipation": 0.5, "friction": 0.4}
            pair = (shape, contact.Plane())
            force = (
                art.components.Contacts(pair, **numbers) if many else art.components.Contact(*pair, **numbers)
            )
            runs.append(
                art.simulate(
                    m, 0.3, [1, 0, 0, 0, 0, 0, 0.2], components=[force], step=1e-3, sample=0.1, outputs=()
                ).q[-1]
            )
    for other in runs[1:]:
        assert np.allclose(other, runs[0], atol=1e-9)


def test_a_study_says_it_in_a_word_and_a_loop_with_contacts_is_saved(tmp_path) -> None:
    art.load(scene("sphere", 'size=".1"', height=0.2)).save(tmp_path / "ball.toml")
    text = '[study]\nname = "drop"\nmodel = "{}"\n[run]\nt_end = 0.1\ncontacts = true\n[initial]\nq = [1, 0, 0, 0, 0, 0, 0.101]\n'
    (tmp_path / "study.toml").write_text("schema = 1\n" + text.format("ball.toml"))
    study = art.study.read_study(tmp_path / "study.toml")
    assert "contacts.force" in study.loop.signals
    run = study.loop.simulate(0.05, at_height(0.101), step=2e-4, method="rk4")
    saved = study.loop.save_study(tmp_path / "again.toml", 0.05, at_height(0.101), step=2e-4, method="rk4")
    again = art.study.read_study(saved)
    assert np.array_equal(again.loop.simulate(0.05, at_height(0.101), step=2e-4, method="rk4").q, run.q)
    (tmp_path / "arm.toml").write_text(
        "schema = 1\n" + text.format("two_link").replace("[1, 0, 0, 0, 0, 0, 0.101]", "[0, 0]")
    )
    with pytest.raises(ModelError, match=r"run\.contacts.*no shapes that touch"):
        art.study.read_study(tmp_path / "arm.toml")


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("origin", [(0.0, 0.0, 0.0), (0.5, 0.05, 0.02), (3.0, -1.0, 2.0)])
def test_margins_of_hulls_do_not_depend_on_their_origin(size: float, origin: tuple[float, ...]) -> None:
    """A bar with a margin has its faces that much further out wherever the origin of its frame is: in a corner, near it, or outside, at any size."""
    bar = size * np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 0.1) for z in (0.0, 0.05)])
    place, margin = size * np.array(origin), 1e-3 * size
    grown = _grown(ConvexHull("bar", vertices=tuple(map(tuple, bar - place))), margin)
    found = np.array(grown.vertices) + place
    np.testing.assert_allclose(found.max(axis=0), bar.max(axis=0) + margin, atol=1e-9 * size)
    np.testing.assert_allclose(found.min(axis=0), -margin, atol=1e-9 * size)
