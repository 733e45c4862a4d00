"""Meshes with colors, pictures, units and node transforms: COLLADA, glTF, PLY and OBJ with materials."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.browser.solids import merge_vertices, pack_mesh
from articulus.errors import ModelError
from articulus.model.files.mesh.ply import ply_bytes
from articulus.model.files.mesh.reader import parse_mesh, read_mesh
from articulus.model.mechanism import Mesh

from .meshes import TETRAHEDRON, volume

trimesh = pytest.importorskip("trimesh", reason="package trimesh (extra `mesh`) is not installed")
Image = pytest.importorskip("PIL.Image", reason="package pillow (extra `mesh`) is not installed")

RED, BLUE = (255, 0, 0), (0, 0, 255)
TWO_COLORS = Mesh(TETRAHEDRON.vertices, TETRAHEDRON.triangles, [RED, RED, BLUE, BLUE])

SQUARE = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
"""

DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="inch" meter="0.0254"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><lambert><diffuse><color>1 0 0 1</color></diffuse></lambert>
</technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>
</technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4" material="s"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s0"><node id="n"><matrix>{matrix}</matrix>
<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="s" target="#m"/></technique_common>
</bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s0"/></scene></COLLADA>"""


def png(rows: list[list[tuple[int, int, int]]]) -> bytes:
    """Return a picture of a few pixels as a PNG file."""
    out = io.BytesIO()
    Image.fromarray(np.array(rows, dtype=np.uint8)).save(out, "PNG")
    return out.getvalue()


def test_collada_has_its_unit_its_nodes_and_its_colors() -> None:
    moved = parse_mesh(DAE.format(matrix="2 0 0 10 0 1 0 0 0 0 1 0 0 0 0 1").encode(), "x.dae")
    low, high = moved.bounds()
    inch = 0.0254
    np.testing.assert_allclose(low, [10 * inch, 0, 0], atol=1e-8)  # single precision
    np.testing.assert_allclose(high, [12 * inch, inch, inch], rtol=1e-6)  # z stays z, whatever up_axis says
    assert volume(moved) == pytest.approx(2 * inch**3 / 6, rel=1e-5)
    assert {tuple(c) for c in moved.colors} == {RED}


def test_mirrored_nodes_still_face_outwards() -> None:
    mirrored = parse_mesh(DAE.format(matrix="-1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1").encode(), "x.dae")
    assert volume(mirrored) == pytest.approx(0.0254**3 / 6, rel=1e-5)


def test_gltf_scenes() -> None:
    scene = trimesh.Scene()
    for k, color in enumerate((RED, BLUE)):
        part = trimesh.creation.box(extents=(1, 1, 1))
        part.visual.face_colors = (*color, 255)
        scene.add_geometry(part, transform=trimesh.transformations.translation_matrix((3.0 * k, 0, 0)))
    found = parse_mesh(scene.export(file_type="glb"), "x.glb")
    assert volume(found) == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(found.bounds(), [[-0.5, -0.5, -0.5], [3.5, 0.5, 0.5]])
    left = found.vertices[found.triangles].mean(axis=1)[:, 0] < 1
    assert {tuple(c) for c in found.colors[left]} == {RED}
    assert {tuple(c) for c in found.colors[~left]} == {BLUE}


def test_ply_keeps_colors_as_another_reader_sees_them() -> None:
    content = ply_bytes(TWO_COLORS)
    assert parse_mesh(content, "x.ply") == TWO_COLORS
    other = trimesh.load(io.BytesIO(content), file_type="ply", process=False)
    np.testing.assert_array_equal(other.faces, TWO_COLORS.triangles)
    np.testing.assert_array_equal(other.visual.face_colors[:, :3], TWO_COLORS.colors)


@pytest.mark.parametrize("encoding", ["binary", "ascii"])
def test_ply_of_another_writer(encoding: str) -> None:
    ball = trimesh.creation.icosphere(subdivisions=1)
    ball.visual.vertex_colors = (*BLUE, 255)
    found = parse_mesh(ball.export(file_type="ply", encoding=encoding), "x.ply")
    assert volume(found) == pytest.approx(ball.volume, rel=1e-5)
    assert {tuple(c) for c in found.colors} == {BLUE}


def test_ply_faces_of_several_lengths() -> None:
    head = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 2\nproperty list uchar int vertex_index\nend_header\n"
    found = parse_mesh((head + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n4 0 1 2 3\n3 1 4 2\n").encode(), "x.ply")
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 2]]
    for cut in (10, len(head) + 3, len(head) + 30):
        with pytest.raises(ModelError, match="PLY"):
            parse_mesh((head + "0 0 0\n1 0 0\n1 1 0\n")[:cut].encode(), "x.ply")


def test_obj_with_materials_and_a_picture(tmp_path: Path) -> None:
    picture = png([[RED, RED], [BLUE, BLUE]])  # red above
    (tmp_path / "a.png").write_bytes(picture)
    (tmp_path / "m.mtl").write_text("newmtl plain\nKd 0 1 0\nnewmtl drawn\nKd 1 1 1\nmap_Kd a.png\n")
    (tmp_path / "x.obj").write_text(
        f"mtllib m.mtl\n{SQUARE}usemtl plain\nf 1 2 3\nusemtl drawn\nf 1/1 2/2 3/3 4/4\n"
    )
    found = read_mesh(tmp_path / "x.obj")
    assert tuple(found.colors[0]) == (0, 255, 0)
    centers, colors = found.vertices[found.triangles].mean(axis=1)[1:], found.colors[1:]
    assert len(colors) == 2, "triangles that span few pixels are not cut"
    assert {tuple(c) for c in colors} == {RED, BLUE}, centers
    fine = png([[RED] * 64] * 32 + [[BLUE] * 64] * 32)
    (tmp_path / "a.png").write_bytes(fine)
    found = read_mesh(tmp_path / "x.obj")
    centers, colors = found.vertices[found.triangles].mean(axis=1)[1:], found.colors[1:]
    assert len(colors) > 100
    upper = centers[:, 1] > 0.5
    assert {tuple(c) for c in colors[upper]} == {RED}
    assert {tuple(c) for c in colors[~upper]} == {BLUE}


def test_a_missing_picture_or_library_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.obj").write_text(f"mtllib no.mtl\n{SQUARE}usemtl a\nf 1/1 2/2 3/3\n")
    assert read_mesh(tmp_path / "x.obj").colors is None
    (tmp_path / "no.mtl").write_text(
        "newmtl a\nKd 0 0 1\nmap_Kd ../../../../../../../../etc/hostname\nKd x\n"
    )
    assert tuple(read_mesh(tmp_path / "x.obj").colors[0]) == BLUE


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.dae", b"<COLLADA>"),
        ("x.dae", b'<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>'),
        ("x.dae", DAE.format(matrix="1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1").replace("0.0254", "-1").encode()),
        ("x.glb", b"glTF"),
        ("x.gltf", b"{}"),
        ("x.ply", b"ply\nend_header\n"),
        ("x.3mf", b"PK"),
    ],
)
def test_what_is_no_mesh_is_refused(name: str, content: bytes) -> None:
    with pytest.raises(ModelError, match=name):
        parse_mesh(content, name)


def test_colors_survive_a_model_file_and_the_page(tmp_path: Path) -> None:
    mechanism = art.Mechanism("m").body("b", 1.0, inertia=(1, 1, 1), visuals=[TWO_COLORS])
    mechanism.joint("j", art.Revolute((0, 0, 1)), "ground", "b")
    mechanism.save(tmp_path / "m.toml")
    assert art.load(tmp_path / "m.toml").description.bodies[0].visuals == (TWO_COLORS,)
    packed = pack_mesh(*merge_vertices(TWO_COLORS, 0.0))
    assert set(packed.palette) == {"#ff0000", "#0000ff"}
    rng = np.random.default_rng(1)
    many = Mesh(
        rng.normal(size=(90, 3)),
        rng.permuted(np.tile(np.arange(90), (3000, 1)), axis=1)[:, :3],
        rng.integers(0, 256, (3000, 3)),
    )
    assert len(pack_mesh(*merge_vertices(many, 0.0)).palette) <= 256


def test_colors_are_checked() -> None:
    for wrong in ([RED], [(300, 0, 0)] * 4, [(0.5, 0, 0)] * 4):
        with pytest.raises(art.InputError, match=r"Mesh\.colors"):
            Mesh(TETRAHEDRON.vertices, TETRAHEDRON.triangles, wrong)
