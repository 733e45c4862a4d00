"""Visuals on pages: where the mechanism puts them, in their colors, within a bound on bytes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus.browser import export_html, scene_of
from articulus.browser.scene import mechanism_size, outline
from articulus.browser.solids import PackedMesh, merge_vertices, pack_mesh
from articulus.model.mechanism import Mesh
from articulus.model.mechanism.visual import Box, Capsule, Cylinder, Sphere
from files.meshes import ball, volume

from .browser import opened
from .drawn import MESH_COLOR, write_robot
from .runs import kinematic_run
from .test_player_browser import view


def unpacked(packed: PackedMesh) -> Mesh:
    """Return the triangles that a page draws."""
    kind = "<u4" if packed.wide else "<u2"
    whole = np.frombuffer(base64.b64decode(packed.vertices), "<u2").reshape(-1, 3)
    triangles = np.frombuffer(base64.b64decode(packed.triangles), kind).reshape(-1, 3)
    return Mesh(np.array(packed.origin) + whole * np.array(packed.step), triangles.astype(int))


def packed(mesh: Mesh, cell: float = 0.0) -> PackedMesh:
    found = pack_mesh(*merge_vertices(mesh, cell))
    assert found is not None
    return found


def arm(*visuals: Any, standing: tuple[Any, ...] = ()) -> art.Mechanism:
    m = art.Mechanism("arm", visuals=standing)
    m.body("arm", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1), visuals=visuals)
    return m.joint("turn", art.Revolute((0, 1, 0)), "ground", "arm")


def test_packed_meshes_lose_less_than_a_step() -> None:
    mesh = ball(30, 0.5)
    found = unpacked(packed(mesh))
    assert len(found.triangles) == len(mesh.triangles)
    step = 1.0 / 65535
    for a, b in ((mesh, found), (found, mesh)):
        gap = np.linalg.norm(a.vertices[:, None] - b.vertices[None], axis=-1).min(axis=1).max()
        assert gap < step
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-4)


def test_loose_triangles_grow_together() -> None:
    mesh = ball(20)
    loose = Mesh(mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(mesh.triangles.size).reshape(-1, 3))
    vertices, triangles, _ = merge_vertices(loose, 0.0)
    assert (len(vertices), len(triangles)) == (len(mesh.vertices), len(mesh.triangles))


def test_coarser_meshes_stay_within_a_cell() -> None:
    mesh = ball(200, 0.5)
    found = unpacked(packed(mesh, 0.05))
    assert len(found.triangles) < len(mesh.triangles) / 10
    assert np.abs(np.linalg.norm(found.vertices, axis=-1) - 0.5).max() < 0.05
    assert volume(found) == pytest.approx(volume(mesh), rel=0.05)


def test_scenes_keep_within_their_bytes_and_fall_back_to_skeletons() -> None:
    mech = arm(ball(200), Box((0.1, 0.1, 0.1)))
    sizes = []
    for room in (1_500_000, 300_000, 80_000):
        scene = scene_of(mech, room)
        sizes.append(sum(len(m.vertices) + len(m.triangles) for m in scene.meshes))
        assert 0 < sizes[-1] <= room
        assert [s.kind for s in scene.bodies[0].solids] == ["mesh", "box"]
    assert sizes[0] > sizes[1] > sizes[2]
    scene = scene_of(mech, 100)
    assert not scene.meshes
    assert [s.kind for s in scene.bodies[0].solids] == ["box"]
    assert scene_of(arm(ball(200)), 100).bodies[0].bare


def test_equal_meshes_are_packed_once() -> None:
    once, twice = ball(20), ball(20).move(np.diag([1.0, -1, -1, 1]))
    scene = scene_of(arm(once, twice, standing=(ball(21), once)))
    assert len(scene.meshes) == 2
    assert [s.mesh for s in (*scene.standing, *scene.bodies[0].solids)] == [0, 1, 1, 1]


def test_skeletons_are_drawn_where_there_is_nothing_else() -> None:
    m = arm(Sphere(0.1))
    m.body("plain", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1)).joint("next", art.Revolute((0, 1, 0)), "arm", "plain")
    m.body("frame", massless="only a frame").joint("weld", art.Fixed(), "plain", "frame")
    assert [b.bare for b in scene_of(m).bodies] == [False, True, False]
    assert all(b.shapes for b in scene_of(m).bodies), "the skeleton can still be asked for"
    assert all(b.bare for b in scene_of(art.load("pendulum_chain", n=3)).bodies)


def test_size_and_outline_cover_visuals_of_bodies_and_not_those_of_ground() -> None:
    far = Cylinder(0.1, 2.0, at=art.Pose(xyz=(3.0, 0, 0), rpy=(0, np.pi / 2, 0)))
    mech = arm(far, standing=(Box((100, 100, 1)),))
    low, high = (getattr(outline(mech.description, "arm"), end)(axis=0) for end in ("min", "max"))
    np.testing.assert_allclose((low, high), [(0, -0.1, -0.1), (4, 0.1, 0.1)], atol=1e-12)
    assert mechanism_size(mech) == pytest.approx(np.hypot(4.0, np.hypot(0.2, 0.2)))


def test_a_scene_with_visuals_is_plain_text() -> None:
    scene = scene_of(arm(ball(8), Capsule(0.1, 0.3, color="#11223380"), Sphere(0.1)))
    plain = json.loads(json.dumps(scene.plain(), allow_nan=False))
    capsule, sphere = plain["bodies"][0]["solids"][1:]
    assert (capsule["size"], capsule["color"], capsule["opacity"]) == ([0.1, 0.3], "#112233", 0.502)
    assert (sphere["size"], sphere["color"], sphere["opacity"]) == ([0.1], "", 1.0)


# in a browser


def colored(picture: np.ndarray) -> np.ndarray:
    """Return which pixels have the hue of the mesh, lit or in the shade (its weakest channel least, its strongest most)."""
    red, green, blue = np.moveaxis(picture, -1, 0)
    ratio = MESH_COLOR[2] / MESH_COLOR[0]
    return (red > 0.25) & (green < 0.45 * red) & (np.abs(blue / np.maximum(red, 1e-3) - ratio) < 0.2)


def test_boxes_cylinders_and_meshes_are_on_the_page(browser: Any, tmp_path: Path) -> None:
    robot = art.load(write_robot(tmp_path))
    run = kinematic_run(robot)
    export_html(run, tmp_path / "robot.html")
    with opened(browser, tmp_path / "robot.html") as page:
        page.keyboard.press("c")  # without centers of mass, which are drawn over everything
        mesh = colored(view(page, "visuals"))
        assert mesh.sum() > 2000, "the mesh is not to be seen"
        middle = np.argwhere(mesh).mean(axis=0)[::-1]
        expected = page.evaluate(
            """() => { const p = articulus.player, v = p.tracks[0].view.parts.shape[2].getWorldPosition(new THREE.Vector3());
              v.project(p.stage.camera); const c = document.getElementById('view');
              return [(v.x + 1) / 2 * c.clientWidth, (1 - v.y) / 2 * c.clientHeight]; }"""
        )
        np.testing.assert_allclose(middle, expected, atol=12)  # pixels: the arm hides a little of it
        _check_places(page, robot, run.q[0])
        page.evaluate(
            "() => { articulus.player.tracks[0].view.show('shape', false); articulus.player.draw(); }"
        )
        bare = view(page, "visuals-skeleton")
        assert colored(bare).sum() < 50, "the mesh is still there"
        assert bare.reshape(-1, 3).std(axis=0).max() > 0.02


def _check_places(page: Any, robot: art.Mechanism, q: np.ndarray) -> None:
    """Compare the poses of shapes on the page with the mechanism's, and the size of the mesh with the file's."""
    X = page.evaluate(
        """articulus.player.tracks[0].view.parts.shape.map(m => { m.updateWorldMatrix(true, false);
          return m.matrixWorld.toArray(); })"""
    )
    for matrix, body in zip(X, robot.description.bodies):
        expected = robot.pose(body.name, q) @ body.visuals[0].at.matrix()
        np.testing.assert_allclose(np.reshape(matrix, (4, 4)).T, expected, atol=2e-6)  # single precision
    low, high = page.evaluate(
        """(() => { const g = articulus.player.tracks[0].view.parts.shape[2].geometry; g.computeBoundingBox();
          return [g.boundingBox.min.toArray(), g.boundingBox.max.toArray()]; })()"""
    )
    np.testing.assert_allclose([low, high], robot.description.bodies[2].visuals[0].bounds(), atol=1e-5)


def test_runs_over_each_other_have_visuals_in_one_color(browser: Any, tmp_path: Path) -> None:
    robot = art.load(write_robot(tmp_path))
    first = kinematic_run(robot)
    export_html({"one": first, "other": kinematic_run(robot, first.q + 0.6)}, tmp_path / "two.html")
    with opened(browser, tmp_path / "two.html", color_scheme="dark") as page:
        view(page, "visuals-ghost")
        solid, ghost = page.evaluate(
            "articulus.player.tracks.map(t => [...new Set(t.view.parts.shape.map(m => m.material.color.getHexString()))])"
        )
        assert len(solid) == 3
        assert len(ghost) == 1
