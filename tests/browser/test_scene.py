"""Skeletons hang together and stand where the mechanism is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import articulus as art
import flexible_zoo
import zoo
from articulus import structure
from articulus.browser import scene_of, skeleton
from articulus.browser.poses import body_poses
from articulus.browser.recording import lanes, motion, recording
from articulus.browser.scene import Scene, move_points
from articulus.model.mechanism import Description
from articulus.model.mechanism.inertias import body_mass
from articulus.simulation.loop.components import Saturation, SpringDamper, Winch

NAMES = ("hinge_chain", "every_joint", "spacecraft", "several_roots", "parameters_quaternion")


def states(mech: art.Mechanism, count: int) -> np.ndarray:
    return np.stack([zoo.random_state(mech, seed).q for seed in range(count)])


@pytest.mark.parametrize("name", NAMES)
def test_poses_of_all_bodies_are_those_of_each(name: str) -> None:
    mech = zoo.get(name)
    q = states(mech, 5)
    poses = body_poses(mech, q)
    for k, body in enumerate(mech.body_names):
        X = mech.pose(body, q)
        R = Rotation.from_quat(np.roll(poses[:, k, 3:], -1, axis=-1)).as_matrix()
        np.testing.assert_allclose(poses[:, k, :3], X[:, :3, 3], atol=1e-12)
        np.testing.assert_allclose(R, X[:, :3, :3], atol=1e-12)


def test_poses_follow_parameters() -> None:
    mech = zoo.get("parameters_rpy")
    q = states(mech, 2)
    params = {name: held + 0.1 for name, held in mech.parameters.items() if not name.startswith("inertia")}
    body = mech.body_names[-1]
    expected = mech.pose(body, q, params=params)[:, :3, 3]
    np.testing.assert_allclose(body_poses(mech.with_values(params), q)[:, -1, :3], expected, atol=1e-12)
    assert np.abs(mech.pose(body, q)[:, :3, 3] - expected).max() > 1e-3


def test_quaternions_of_a_turning_body_do_not_jump() -> None:
    q = np.linspace(0, 6 * np.pi, 200)[:, None]
    quaternions = body_poses(zoo.get("one_hinge"), q)[:, 0, 3:]
    assert (np.sum(quaternions[1:] * quaternions[:-1], axis=-1) > 0.99).all()


def ends(shapes: tuple[skeleton.SkeletonShape, ...]) -> np.ndarray:
    return np.array([p for s in shapes for p in (s.start, s.end)] + [_middle(s) for s in shapes])


def _middle(s: skeleton.SkeletonShape) -> tuple[float, ...]:
    return tuple((np.array(s.start) + np.array(s.end)) / 2)


@pytest.mark.parametrize("name", NAMES)
def test_every_joint_is_drawn_on_both_bodies(name: str) -> None:
    mech = zoo.get(name)
    d, scene = mech.description, scene_of(mech)
    bodies = {b.name: b for b in scene.bodies}
    for c in (c for c in d.connections if c.joint.nv < 6):
        sides = [(bodies[c.child].shapes, c.child_at)]
        sides += [(bodies[c.parent].shapes, c.at)] if c.parent in bodies else []
        for shapes, at in sides:
            distance = np.linalg.norm(ends(shapes) - at.matrix()[:3, 3], axis=-1).min()
            assert distance < 1e-8, f"{c.name}: nothing drawn within {distance} m of the joint"


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_is_plain_text_with_colors_that_tell_neighbors_apart(name: str) -> None:
    scene = scene_of(zoo.get(name))
    assert json.loads(json.dumps(scene.plain(), allow_nan=False))["size"] == scene.size > 0
    color = {b.name: b.color for b in scene.bodies}
    if len(scene.bodies) <= 8:
        assert len(set(color.values())) == len(scene.bodies)
    assert all(s.radius > 0 for b in scene.bodies for s in b.shapes)


def test_balls_are_at_centers_of_mass_and_grow_with_the_cube_root_of_mass() -> None:
    mech = zoo.get("geared_tree")
    balls = [next(s for s in b.shapes if s.role == "mass") for b in scene_of(mech).bodies]
    bodies = mech.description.bodies
    density = [art.mechanism.value_of(b.mass) / s.radius**3 for b, s in zip(bodies, balls)]
    np.testing.assert_allclose(density, density[0], rtol=1e-12)
    for body, ball in zip(bodies, balls):
        np.testing.assert_allclose(ball.start, art.mechanism.values_of(body.com), atol=1e-9)


def test_size_is_the_reach_of_a_stretched_arm() -> None:
    m = art.Mechanism("arm")
    for k, parent in ((1, "ground"), (2, "link1")):
        m.body(f"link{k}", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
        m.joint(
            f"joint{k}", art.Revolute((0, 0, 1)), parent, f"link{k}", at=(0, 0, 0) if k == 1 else (1, 0, 0)
        )
    assert scene_of(m).size == pytest.approx(2.0)
    assert scene_of(m).up == (0, 0, 1)
    slides = [s for s in scene_of(_slider()).ground if s.kind == "box"]
    assert [np.linalg.norm(np.subtract(s.end, s.start)) for s in slides] == [pytest.approx(0.7)]


def _slider() -> art.Mechanism:
    m = art.Mechanism("slider")
    m.body("cart", 1.0, (0, 0, 0.1), (0.1, 0.1, 0.1))
    limits = art.Limits(lower=(-0.3,), upper=(0.4,))
    return m.joint("rail", art.Prismatic((1, 0, 0)), "ground", "cart", limits=limits)


def beam() -> art.Mechanism:
    m = art.Mechanism("beam")
    m.flexible("beam", structure.beam_body(2.0, EI=10.0, mass_per_length=1.0, modes=2, elements=6))
    m.joint("root", art.Revolute((0, 0, 1)), "ground", "beam")
    return m.frame("end", "beam", node="tip")


def test_a_beam_is_a_chain_of_its_stations() -> None:
    flexible = scene_of(beam()).bodies[0].flexible
    assert flexible is not None
    x = np.array([s.position for s in flexible.stations])[:, 0]
    steps = sorted(tuple(sorted((x[i], x[j]))) for i, j in flexible.edges)
    np.testing.assert_allclose(steps, [(k / 3, (k + 1) / 3) for k in range(6)], atol=1e-12)


def test_a_body_with_many_modes_stays_small() -> None:
    m = art.Mechanism("many")
    modes = structure.beam_body(2.0, EI=10.0, mass_per_length=1.0, modes=12, planes="both", elements=40)
    m.flexible("beam", modes).joint("root", art.Revolute((0, 0, 1)), "ground", "beam")
    assert len(json.dumps(scene_of(m).plain())) < 300_000


def test_mass_and_center_of_a_flexible_body_are_those_of_its_modes() -> None:
    body = beam().description.bodies[0]
    mass, center = body_mass(body)
    assert mass == pytest.approx(2.0, rel=1e-9)
    np.testing.assert_allclose(center, (1.0, 0.0, 0.0), atol=1e-9)


def test_a_soft_mechanism_has_edges_that_hold_its_stations_together() -> None:
    scene: Scene = scene_of(flexible_zoo.soften(zoo.get("hinge_chain"), 3))
    soft = [b.flexible for b in scene.bodies if b.flexible]
    assert soft
    for flexible in soft:
        reached = {0}
        for _ in flexible.edges:
            reached |= {k for edge in flexible.edges if reached & set(edge) for k in edge}
        apart = {tuple(s.position) for s in flexible.stations}
        assert {tuple(flexible.stations[k].position) for k in reached} == apart


def test_points_are_moved_as_matrices_move_them() -> None:
    mech = zoo.get("hinge_chain")
    q = states(mech, 3)
    points = np.random.default_rng(1).normal(size=(4, 3))
    X = mech.pose(mech.body_names[-1], q)
    expected = np.einsum("tij,nj->tni", X[:, :3, :3], points) + X[:, None, :3, 3]
    np.testing.assert_allclose(move_points(body_poses(mech, q)[:, -1], points), expected, atol=1e-12)


def test_joints_of_loops_are_drawn(four_bar: Description) -> None:
    scene = scene_of(art.Mechanism.from_description(four_bar))
    frames = {c.first for c in four_bar.constraints}  # type: ignore[attr-defined]
    places = {f.body: f.at.matrix()[:3, 3] for f in four_bar.frames if f.name in frames}
    for body, place in places.items():
        shapes = next(b.shapes for b in scene.bodies if b.name == body)
        joints = [s for s in shapes if s.role == "joint" and np.allclose(_middle(s), place)]
        assert joints


@pytest.fixture
def four_bar() -> Description:
    from articulus.model.library import read

    return read("n_four_bar", n=2)


def test_components_between_frames_are_drawn_along_them(tmp_path: Path) -> None:
    """Also from a file, and behind what reshapes a command."""
    m = art.load("two_link")
    spring = SpringDamper("ground", "tip", stiffness=10.0)
    winch = Saturation(Winch(("ground", m.body_names[0], "tip"), 10.0, 9.0), -1.0, 1.0)
    run = art.simulate(m, 0.01, components=[spring, winch], step=0.01)
    run.save(tmp_path / "run.nc")
    for each in (run, art.load_run(tmp_path / "run.nc")):
        rods = recording(lanes(each)[0])["scene"]["rods"]
        assert set(rods) == {("ground", "tip"), ("ground", m.body_names[0]), (m.body_names[0], "tip")}


def test_bending_takes_kilobytes_whatever_the_mesh() -> None:
    """A motion holds modal coordinates: ten seconds at 100 Hz of three modes, 12 kB as single numbers before they are packed."""
    sizes = []
    for elements in (5, 40):
        m = art.Mechanism("boom")
        beam = structure.beam_body(2.0, EI=10.0, mass_per_length=1.0, modes=3, elements=elements)
        m.flexible("beam", beam).joint("root", art.Revolute((0, 0, 1)), "ground", "beam")
        t = np.linspace(0, 10, 1001)
        found = motion(m, "boom", t, 0.05 * np.sin(np.outer(t, 1 + np.arange(m.nq))))
        sizes.append(sum(len(json.dumps(found[part])) for part in ("modes", "poses")))
    assert sizes[0] == sizes[1] < 4 / 3 * 4 * 1001 * (3 + 7)  # base 64 of single numbers
