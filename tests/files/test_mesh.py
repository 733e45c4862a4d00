"""Meshes from files: the shapes that were written, or a refusal that says where and why."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from articulus.errors import ModelError
from articulus.model.files.mesh.obj import obj_text
from articulus.model.files.mesh.ply import ply_bytes
from articulus.model.files.mesh.reader import MESH_READERS, parse_mesh, read_mesh
from articulus.model.files.mesh.scene import SCENES
from articulus.model.mechanism import Mesh

from .meshes import TETRAHEDRON, ball, stl_bytes, stl_text, volume

FILES: dict[str, Callable[[Mesh], bytes]] = {
    "binary.stl": stl_bytes,
    "text.stl": stl_text,
    "mesh.obj": lambda mesh: obj_text(mesh).encode(),
    "mesh.ply": ply_bytes,
}
BALL = ball(12, 0.3)


def corners(mesh: Mesh) -> np.ndarray:
    """Return the corners of all triangles in order, (m, 3, 3)."""
    return mesh.vertices[mesh.triangles]


def said(content: bytes, name: str) -> str:
    with pytest.raises(ModelError) as refusal:
        parse_mesh(content, name)
    return str(refusal.value)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mesh", [TETRAHEDRON, BALL], ids=["tetrahedron", "ball"])
def test_triangles_come_back_exactly(name: str, mesh: Mesh, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name](mesh))
    found = read_mesh(tmp_path / name)
    np.testing.assert_array_equal(corners(found), corners(mesh))
    assert len(found.vertices) == len(mesh.vertices), "equal corners are one vertex"
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-6)


def test_an_obj_file_comes_back_equal() -> None:
    rng = np.random.default_rng(3)
    mesh = Mesh(rng.normal(size=(50, 3)) * 10.0 ** rng.integers(-9, 9, (50, 1)), rng.integers(0, 50, (80, 3)))
    assert parse_mesh(obj_text(mesh).encode(), "x.obj") == mesh


def test_a_binary_file_may_begin_like_a_text() -> None:
    content = stl_bytes(TETRAHEDRON).replace(b"made by a test", b"solid by tests")
    np.testing.assert_array_equal(corners(parse_mesh(content, "x.stl")), corners(TETRAHEDRON))


def test_obj_faces_of_all_forms() -> None:
    text = b"""# a square, in the ways of the format
mtllib x.mtl
o square
v 0 0 0
v 1 0 0 1.0
v 1 1 0 0.5 0.5 0.5
v 0 1 0
vt 0 0
vn 0 0 1
usemtl red
f 1/1/1 2/1/1 3/1/1 4/1/1
f 1//1 2//1 3//1
f -4 -3 -2\r
"""
    mesh = parse_mesh(text, "x.OBJ")
    np.testing.assert_array_equal(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 1, 2]])
    np.testing.assert_array_equal(mesh.vertices, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.stl", b"", "x.stl: found 0 bytes without a triangle; expected an STL file"),
        ("x.stl", stl_bytes(TETRAHEDRON)[:-1], "x.stl: found 283 bytes; expected 284 for its 4 triangles. Is it cut off?"),
        ("x.stl", b" " * 80 + b"\xff\xff\xff\xff", "found 4294967295 triangles; expected at most 1000000"),
        ("x.stl", stl_text(TETRAHEDRON)[:300], "expected three in each, and 'endsolid'"),
        ("x.stl", stl_text(TETRAHEDRON).replace(b"vertex 1 0 0", b"vertex 1 zero 0", 1), "x.stl:6: found 'zero'; expected a number"),
        ("x.stl", stl_text(TETRAHEDRON).replace(b"vertex 1 0 0", b"vertex 1 nan 0", 1), "expected finite numbers"),
        ("x.stl", stl_text(TETRAHEDRON).replace(b"vertex 1 0 0", b"vertex 1e300 0 0", 1), "expected finite numbers"),
        ("x.obj", b"", "x.obj: found 0 vertices and no face"),
        ("x.obj", b"v 0 0 0\nv 1 0\n", "x.obj:2: found 'v 1 0'; expected 'v' and three finite numbers"),
        ("x.obj", b"v 0 0 inf\n", "x.obj:1: found 'v 0 0 inf'"),
        ("x.obj", b"v 0 0 0\nf 1 1\n", "x.obj:2: found a face of 2 corners; expected three or more"),
        ("x.obj", b"v 0 0 0\nf 1 1 2\n", "x.obj:2: found the corners '1 1 2'; expected numbers of the 1 vertices so far"),
        ("x.obj", b"v 0 0 0\nf 1 1 0\n", "x.obj:2: found the corners"),
        ("x.obj", b"v 0 0 0\nf 1 1 x\n", "x.obj:2: found the corners"),
        ("x.obj", b"\xff\xfe", "UTF-16"),
        ("x.fbx", b"<FBX/>", "x.fbx: found the suffix '.fbx'; expected one of .stl, .obj"),
    ],
)  # fmt: skip
def test_refusals(name: str, content: bytes, expected: str) -> None:
    assert expected in said(content, name)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.stl: found no such file"):
        read_mesh(tmp_path / "none.stl")


@pytest.mark.parametrize("name", FILES)
def test_broken_files_give_a_mesh_or_a_refusal(name: str) -> None:
    """Files cut short, with bytes changed and with parts missing."""
    whole = FILES[name](BALL)
    outcomes = set()
    for seed in range(300):
        rng = random.Random(seed)
        content = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(content))
            content[at] = rng.randrange(256)
        start = rng.randrange(len(content))
        if rng.random() < 0.7:
            del content[start : start + rng.choice((1, 7, 100, len(content)))]
        try:
            outcomes.add(type(parse_mesh(bytes(content), name)).__name__)
        except ModelError as refusal:
            outcomes.add("refused" if name in str(refusal) else f"refused without a name: {refusal}")
    assert outcomes == {"Mesh", "refused"}


def test_every_reader_is_tested() -> None:
    assert {Path(name).suffix for name in FILES} == set(MESH_READERS) - set(SCENES), (
        "scenes: test_colored_meshes.py"
    )
