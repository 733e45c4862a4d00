"""What a glTF file asks for, counted before any of it is made: an accessor may say a billion numbers in twenty bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

from articulus.errors import Finding, ModelError

MAX_BYTES = 256 << 20
"""Largest sum of all accessors [bytes]."""
MAX_NODES = 100_000
SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
"""Bytes of a component, by its type."""
ENTRIES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


def require_bounded(content: bytes, name: str) -> None:
    """Raise ModelError for a file that asks for too much, or whose nodes are no tree."""
    tree = _tree(content, name)
    size = sum(_size(a, name) for a in _list(tree, "accessors", name))
    if size > MAX_BYTES:
        found = f"accessors of {size / 2**20:.0f} MB"
        raise ModelError(Finding(name, found, f"at most {MAX_BYTES >> 20} MB", "Make the mesh coarser."))
    nodes = _list(tree, "nodes", name)
    if len(nodes) > MAX_NODES:
        raise ModelError(Finding(name, f"{len(nodes)} nodes", f"at most {MAX_NODES}"))
    _require_tree(nodes, name)


def _tree(content: bytes, name: str) -> dict[str, Any]:
    """Return the JSON of a .gltf or .glb file."""
    text = content
    if content[:4] == b"glTF":
        if len(content) < 20:
            raise _refusal(name, "a file that ends in its head")
        length = struct.unpack_from("<I", content, 12)[0]
        text = content[20 : 20 + length]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _refusal(name, "a description that is no JSON") from None
    if not isinstance(found, dict):
        raise _refusal(name, "a description that is no table")
    return found


def _list(tree: dict[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    held = tree.get(key, [])
    if not isinstance(held, list) or not all(isinstance(x, dict) for x in held):
        raise _refusal(name, f"'{key}' that are no list of tables")
    return held


def _size(accessor: dict[str, Any], name: str) -> int:
    count, kind = accessor.get("count"), accessor.get("componentType")
    entries = ENTRIES.get(str(accessor.get("type")))
    if (
        not isinstance(count, int)
        or count < 0
        or entries is None
        or not isinstance(kind, int)
        or kind not in SIZES
    ):
        raise _refusal(name, "an accessor without a valid count and type")
    return count * entries * SIZES[kind]


def _require_tree(nodes: list[dict[str, Any]], name: str) -> None:
    parent = [-1] * len(nodes)
    for k, node in enumerate(nodes):
        children = node.get("children", [])
        if not isinstance(children, list):
            raise _refusal(name, f"node {k} whose children are no list")
        for child in children:
            if not isinstance(child, int) or not 0 <= child < len(nodes) or parent[child] != -1:
                raise _refusal(name, f"node {k} with a child that is none, or of another node too")
            parent[child] = k
    seen = [0] * len(nodes)  # 1: on the way up from the current node, 2: leads to a root
    for k in range(len(nodes)):
        path, at = [], k
        while at != -1 and seen[at] == 0:
            seen[at] = 1
            path.append(at)
            at = parent[at]
        if at != -1 and seen[at] == 1:
            raise _refusal(name, "a cycle of nodes")
        for each in path:
            seen[each] = 2


def _refusal(name: str, found: str) -> ModelError:
    return ModelError(Finding(name, found, "a glTF file"))
