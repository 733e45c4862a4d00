"""Meshes of PLY files, text or binary: corners, faces and the color of each face or vertex."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.errors import Finding, ModelError
from articulus.model.files.mesh.assets import AssetResolver
from articulus.model.mechanism.visual import MAX_TRIANGLES, Mesh

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
LISTS = ("vertex_indices", "vertex_index")
RGB = ("red", "green", "blue")


@dataclass
class _Element:
    """An element of the header: its properties, a list by the types of its count and its entries."""

    name: str
    count: int
    properties: list[tuple[str, str, str]] = field(default_factory=list)


def parse_ply(content: bytes, name: str, beside: AssetResolver) -> Mesh:
    """Return the mesh of a PLY file's content, faces cut into triangles; `name` stands for the file in messages."""
    try:
        order, elements, body = _header(content)
        read = _read_text if order == "" else _read_binary
        held = read(elements, body, order)
        vertex, faces = held["vertex"], held["face"]
        vertices = np.stack([vertex[axis] for axis in "xyz"], axis=1)
        corners = next(faces[key] for key in LISTS if key in faces)
        triangles, owner = _triangles(corners)
        return Mesh(vertices, triangles, _colors(vertex, faces, triangles, owner))
    except (KeyError, ValueError, IndexError, StopIteration, TypeError, OverflowError, MemoryError) as error:
        raise ModelError(
            Finding(
                name,
                f"a PLY file that cannot be read ({error})"[:160],
                "vertices x y z and faces",
                "Is it cut off?",
            )
        ) from None


def ply_bytes(mesh: Mesh) -> bytes:
    """Return a mesh with the colors of its triangles, without pose and color of the whole, as a binary PLY file."""
    vertices, count = mesh.vertices.astype("<f4"), len(mesh.triangles)
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}"]
    head += [f"property float {axis}" for axis in "xyz"]
    head += [f"element face {count}", "property list uchar int vertex_indices"]
    record = [("n", "u1"), ("corners", "<i4", 3)]
    faces = np.zeros(count, dtype=[*record, ("rgb", "u1", 3)] if mesh.colors is not None else record)
    faces["n"], faces["corners"] = 3, mesh.triangles
    if mesh.colors is not None:
        head += [f"property uchar {c}" for c in RGB]
        faces["rgb"] = mesh.colors
    return "\n".join([*head, "end_header", ""]).encode() + vertices.tobytes() + faces.tobytes()


def _header(content: bytes) -> tuple[str, list[_Element], bytes]:
    end = content.index(b"end_header")
    body = content[content.index(b"\n", end) + 1 :]
    lines = [line.split() for line in content[:end].decode("ascii", "replace").splitlines()]
    if not lines or lines[0] != ["ply"]:
        raise ValueError("no line 'ply'")
    elements: list[_Element] = []
    order = None
    for words in lines[1:]:
        match words:
            case ["format", kind, _]:
                order = ORDERS[kind]
            case ["element", kind, count]:
                elements.append(_Element(kind, int(count)))
            case ["property", "list", count, entry, key]:
                elements[-1].properties.append((key, TYPES[entry], TYPES[count]))
            case ["property", entry, key]:
                elements[-1].properties.append((key, TYPES[entry], ""))
    if order is None or any(not 0 <= e.count <= 3 * MAX_TRIANGLES for e in elements):
        raise ValueError("no format, or too many elements")
    return order, elements, body


def _read_binary(elements: list[_Element], body: bytes, order: str) -> dict[str, dict[str, np.ndarray]]:
    tables, at = {}, 0
    for element in elements:
        lengths = {key: 0 for key, _, count in element.properties if count}
        for key in (
            lengths if element.count else ()
        ):  # all have the length of the first, or the slow way is taken
            partly = _record(element, lengths, order)
            lengths[key] = int(
                np.frombuffer(body, partly[key + " n"], 1, at + _offset(partly, key + " n"))[0]
            )
        record = _record(element, lengths, order)
        if at + record.itemsize * element.count > len(body) and not lengths:
            raise ValueError(f"{len(body)} bytes")
        rows = np.frombuffer(
            body, record, min(element.count, (len(body) - at) // max(record.itemsize, 1)), at
        )
        equal = len(rows) == element.count and all(
            (rows[key + " n"] == n).all() for key, n in lengths.items()
        )
        if equal:
            tables[element.name] = {key: rows[key] for key, _, _ in element.properties}
            at += record.itemsize * element.count
        else:
            tables[element.name], at = _rows(element, body, at, order)
    return tables


def _record(element: _Element, lengths: dict[str, int], order: str) -> np.dtype:
    fields: list[tuple[str, str] | tuple[str, str, int]] = []
    for key, kind, count in element.properties:
        fields += (
            [(key + " n", order + count), (key, order + kind, lengths[key])]
            if count
            else [(key, order + kind)]
        )
    return np.dtype(fields)


def _offset(record: np.dtype, key: str) -> int:
    fields: Any = record.fields
    return int(fields[key][1])


def _rows(element: _Element, body: bytes, at: int, order: str) -> tuple[dict[str, np.ndarray], int]:
    """Return an element whose lists differ in length, row by row."""
    out: dict[str, list[object]] = {key: [] for key, _, _ in element.properties}
    for _ in range(element.count):
        for key, kind, count in element.properties:
            n = 1
            if count:
                n = int(np.frombuffer(body, order + count, 1, at)[0])
                at += np.dtype(count).itemsize
            value = np.frombuffer(body, order + kind, n, at)
            at += value.nbytes
            out[key].append(value if count else value[0])
    return {key: _column(values) for key, values in out.items()}, at


def _read_text(elements: list[_Element], body: bytes, order: str) -> dict[str, dict[str, np.ndarray]]:
    lines = iter(body.decode("ascii", "replace").splitlines())
    held = {}
    for element in elements:
        out: dict[str, list[object]] = {key: [] for key, _, _ in element.properties}
        for _ in range(element.count):
            words = next(lines).split()
            for key, kind, count in element.properties:
                n = int(words.pop(0)) if count else 1
                value = np.array(words[:n], dtype=float).astype(kind)
                if len(value) != n:
                    raise ValueError(f"a line of '{element.name}' that is too short")
                del words[:n]
                out[key].append(value if count else value[0])
        held[element.name] = {key: _column(values) for key, values in out.items()}
    return held


def _column(values: list[Any]) -> np.ndarray:
    """Return values as an array, lists of other lengths as an array of objects."""
    if not values or not isinstance(values[0], np.ndarray) or len({len(v) for v in values}) == 1:
        return np.array(values)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _triangles(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles of faces, and the face of each."""
    if corners.dtype != object and corners.ndim == 2:
        n = corners.shape[1]
        cuts = [corners[:, [0, k, k + 1]] for k in range(1, n - 1)]
        return np.stack(cuts, axis=1).reshape(-1, 3).astype(np.int64), np.repeat(
            np.arange(len(corners)), n - 2
        )
    fans = [(face[0], face[k], face[k + 1]) for face in corners for k in range(1, len(face) - 1)]
    owner = [i for i, face in enumerate(corners) for _ in range(1, len(face) - 1)]
    return np.array(fans, dtype=np.int64), np.array(owner, dtype=int)


def _colors(
    vertex: dict[str, np.ndarray], faces: dict[str, np.ndarray], triangles: np.ndarray, owner: np.ndarray
) -> np.ndarray | None:
    if all(c in faces for c in RGB):
        return _as_bytes(np.stack([faces[c] for c in RGB], axis=1))[owner]
    if all(c in vertex for c in RGB):
        return _as_bytes(np.stack([vertex[c] for c in RGB], axis=1))[triangles].mean(axis=1).astype(np.uint8)
    return None


def _as_bytes(colors: np.ndarray) -> np.ndarray:
    return (
        (colors * 255).round().clip(0, 255).astype(np.uint8)
        if colors.dtype.kind == "f"
        else colors.astype(np.uint8)
    )
