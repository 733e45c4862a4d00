"""Meshes made on the spot, and files of them."""

from __future__ import annotations

import struct

import numpy as np

from articulus.model.mechanism import Mesh

TETRAHEDRON = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
"""Volume 1/6, faces outwards."""


def ball(n: int, radius: float = 1.0) -> Mesh:
    """Return a ball of 2 n (n - 1) triangles, faces outwards."""
    theta, phi = np.linspace(0, np.pi, n + 1), np.arange(n) * 2 * np.pi / n
    rings = [[(np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)) for p in phi] for t in theta[1:-1]]
    vertices = np.array([(0.0, 0.0, 1.0), *(v for ring in rings for v in ring), (0.0, 0.0, -1.0)])
    at = lambda ring, k: 1 + ring * n + k % n  # noqa: E731
    last = len(vertices) - 1
    triangles = [(0, at(0, k), at(0, k + 1)) for k in range(n)]
    triangles += [(last, at(n - 2, k + 1), at(n - 2, k)) for k in range(n)]
    for ring in range(n - 2):
        for k in range(n):
            a, b, c, d = at(ring, k), at(ring + 1, k), at(ring + 1, k + 1), at(ring, k + 1)
            triangles += [(a, b, c), (a, c, d)]
    return Mesh(radius * vertices, triangles)


def volume(mesh: Mesh) -> float:
    """Return the volume that a closed mesh encloses (divergence theorem); positive when faces look outwards [m^3]."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]].astype(float) for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def stl_bytes(mesh: Mesh) -> bytes:
    """Return a mesh as a binary STL file."""
    records = [
        struct.pack("<12fH", 0, 0, 0, *mesh.vertices[triangle].ravel(), 0) for triangle in mesh.triangles
    ]
    return b"made by a test".ljust(80) + struct.pack("<I", len(records)) + b"".join(records)


def stl_text(mesh: Mesh) -> bytes:
    """Return a mesh as a text STL file."""
    lines = ["solid made by a test"]
    for triangle in mesh.triangles:
        corners = [f"      vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.vertices[triangle]]
        lines += ["  facet normal 0 0 0", "    outer loop", *corners, "    endloop", "  endfacet"]
    return "\n".join([*lines, "endsolid", ""]).encode()
