"""What an MJCF text may hold before MuJoCo sees it: bounded sizes, and files from the model's own package only."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from articulus.errors import Finding, ModelError
from articulus.model.files.asset_paths import package_folder, why_not_inside
from articulus.model.files.storage import MAX_BYTES, load_text, open_regular
from articulus.model.files.xml_tree import XmlElement, parse_xml
from articulus.model.mechanism import MAX_BODIES

MAX_FILES = 200
MAX_COUNT = 20_000
COUNTS = ("count", "nrow", "ncol", "width", "height", "nuserdata", "nkey", "njmax", "nconmax")
"""Attributes that make MuJoCo allocate: at most MAX_COUNT each."""

MAX_STACK = 2**24
"""Numbers of MuJoCo's own stack (nstack), a hint that nothing here uses: 128 MB, not touched while it compiles."""

MAX_USER = 100
"""Numbers of the user's own for each element (nuser_body, ...): there may be MAX_ELEMENTS of them."""
MAX_ELEMENTS = 200_000
"""Elements of a model, those that <replicate> makes included."""
MAX_CELLS = 2**27
"""Pixels of textures, cells of height fields, points of built-in meshes and numbers of <numeric>, all together."""
_PNG = b"\x89PNG\r\n\x1a\n"

MODEL_TAGS = ("include", "model")
"""Elements whose file is a model itself."""

GRIDS = ("composite", "flexcomp")
"""Elements that make a body for each place of a grid of `count`."""

ASSET_FOLDERS = {"mesh": ("meshdir", "assetdir"), "texture": ("texturedir", "assetdir")}
"""Attributes of <compiler> that say where files of a kind lie; every kind but textures goes by the meshes'."""

NAMES = ("name", "class", "childclass", "body", "joint", "site", "mesh", "material")
"""Attributes that may hold a word such as "inf" without meaning a number."""


def check_text(text: str, name: str) -> XmlElement:
    """Return the root of an MJCF text that has no folder: it may name no file."""
    root = parse_xml(text, name)
    bodies, budget = 0, _Budget()
    for element, copies in _repetitions(root):
        _check_numbers(element, name, copies)
        budget.take(element, name, copies)
        for value in _files(element):
            raise _refusal(element, name, f'the file "{value}"', "none: a text has no folder to read it from")
        bodies += copies * _bodies(element)
        check_bodies(bodies, element, name)
    return _check_root(root, name)


@dataclass(frozen=True)
class _Document:
    """One XML file of a model.

    Parameters
    ----------
    root : Element
    path : Path
    base : Path
        Folder that its file names start from: that of the model which includes it.
    chain : tuple of Path
        The files that led to it, itself last.
    copies : int
        How often <replicate> around its <include> repeats it.
    """

    root: XmlElement
    path: Path
    base: Path
    chain: tuple[Path, ...]
    copies: int = 1


def check_file(path: Path, roots: Sequence[Path] = ()) -> XmlElement:
    """Return the root of an MJCF file after a look at it and at every file that it includes.

    Files have to lie in the model's package (its folder where it is in none) or in one of `roots`.
    """
    allowed = [path.parent, package_folder(path.parent), *roots]
    root = _check_root(parse_xml(load_text(path), path.name), path.name)
    documents = _documents(_Document(root, path, path.parent, (path.resolve(),)), allowed)
    folders = {kind: _asset_folders(documents, keys, allowed) for kind, keys in ASSET_FOLDERS.items()}
    pixels = 0
    for document in documents:
        for element in document.root.everything():
            for value in _files(element) if element.tag not in MODEL_TAGS else ():
                kind = "texture" if element.tag == "texture" else "mesh"
                for start in folders[kind] or [document.base]:
                    _check_inside(element, document, value, start, allowed)
                    pixels += _pixels(element, document, start / value.replace("\\", "/"))
                    _check_cells(pixels, element, document.path.name)
    return root


class _Budget:
    """What the elements of a model make MuJoCo allocate, summed up."""

    def __init__(self) -> None:
        self.elements, self.cells = 0, 0.0

    def take(self, element: XmlElement, name: str, copies: int) -> None:
        """Count an element; refuse the one with which it becomes too much."""
        self.elements += copies
        if self.elements > MAX_ELEMENTS:
            raise _refusal(
                element, name, f"element {self.elements} of the model", f"at most {MAX_ELEMENTS} elements"
            )
        self.cells += copies * _cells(element)
        _check_cells(self.cells, element, name)


def _check_cells(cells: float, element: XmlElement, name: str) -> None:
    if cells > MAX_CELLS:
        found = f"{cells:.4g} pixels, cells of height fields and numbers in all"
        raise _refusal(element, name, found, f"at most {MAX_CELLS}")


def _cells(element: XmlElement) -> float:
    """Return how many pixels, cells or numbers an element makes MuJoCo hold."""

    def size(*keys: str) -> float:
        found = (_numbers(element.attributes.get(key, "")) for key in keys)
        return math.prod(max(abs(n), 1.0) for numbers in found for n in numbers if math.isfinite(n))

    match element.tag:
        case "texture":
            flat = element.attributes.get("type") == "2d"
            return max(size("width", "height"), 0.0 if flat else 6 * size("width") ** 2)
        case "hfield":
            return size("nrow", "ncol")
        case "mesh" if "builtin" in element.attributes:
            return size("params")
        case "numeric":
            return size("size")
        case _:
            return 0.0


def _pixels(element: XmlElement, document: _Document, path: Path) -> int:
    """Return the number of pixels of an image, 0 for any other file; refuse what cannot be read, lest MuJoCo waits for it."""
    if not os.path.exists(path):
        return 0  # MuJoCo says so
    try:
        with open_regular(path) as file:
            head = file.read(24)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise _refusal(
            element, document.path.name, f"'{path.name}': {error.strerror or error}", "a regular file"
        ) from None
    if size > MAX_BYTES:
        raise _refusal(
            element, document.path.name, f"'{path.name}' of {size >> 20} MB", f"at most {MAX_BYTES >> 20} MB"
        )
    if not head.startswith(_PNG):
        return 0
    return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")


def _documents(first: _Document, allowed: list[Path]) -> list[_Document]:
    """Return a file and every file that it includes, each looked at before it is followed."""
    out, todo, bodies, budget = [], [first], 0, _Budget()
    while todo:
        document = todo.pop()
        out.append(document)
        if len(out) > MAX_FILES:
            raise _refusal(
                document.root, document.path.name, "a chain of included files", f"at most {MAX_FILES} files"
            )
        for element, copies in _repetitions(document.root, document.copies):
            _check_numbers(element, document.path.name, copies)
            budget.take(element, document.path.name, copies)
            bodies += copies * _bodies(element)
            check_bodies(bodies, element, document.path.name)
            for value in _files(element) if element.tag in MODEL_TAGS else ():
                todo.append(replace(_read_included(element, document, value, allowed), copies=copies))
    return out


def check_bodies(count: float, element: XmlElement, name: str) -> None:
    """Refuse more bodies than a model may hold."""
    if count > MAX_BODIES:
        raise _refusal(element, name, f"body {count:.0f} of the model", f"at most {MAX_BODIES} bodies")


def _repetitions(root: XmlElement, copies: int = 1) -> Iterator[tuple[XmlElement, int]]:
    """Yield every element, in the order of the text, with how often <replicate> around it repeats it."""
    todo = [(root, copies)]
    while todo:
        element, copies = todo.pop()
        yield element, copies
        inside = copies * _product(element) if element.tag == "replicate" else copies
        todo += [(child, inside) for child in reversed(element.children)]


def _bodies(element: XmlElement) -> int:
    """Return how many bodies an element makes, at most."""
    return 1 if element.tag == "body" else _product(element) if element.tag in GRIDS else 0


def _product(element: XmlElement) -> int:
    """Return the product of the numbers of `count`, each within MAX_COUNT."""
    numbers = _numbers(element.attributes.get("count", ""))
    return math.prod(int(min(max(n, 1), MAX_COUNT)) for n in numbers if math.isfinite(n))


def _check_root(root: XmlElement, name: str) -> XmlElement:
    if root.tag != "mujoco":
        raise _refusal(root, name, str(root), "<mujoco>", "Is it an MJCF file?")
    return root


def _read_included(element: XmlElement, document: _Document, value: str, allowed: list[Path]) -> _Document:
    """Return an included file; like MuJoCo, look beside the model first, then beside the file that includes it."""
    starts = (document.base, document.path.parent)
    for start in starts:
        _check_inside(element, document, value, start, allowed)
    places = [start / value for start in starts]
    real = next((p.resolve() for p in places if os.path.isfile(p)), None)
    named = f"<{element.tag}> of '{value}'"
    if real is None:
        raise _refusal(element, document.path.name, f"{named}, which is not there", "a file that exists")
    if real in document.chain:
        raise _refusal(element, document.path.name, f"{named}, which includes itself", "another file")
    base = document.base if element.tag == "include" else real.parent
    return _Document(parse_xml(load_text(real), real.name), real, base, (*document.chain, real))


def _check_inside(
    element: XmlElement, document: _Document, value: str, start: Path, allowed: list[Path]
) -> None:
    reason = why_not_inside(start / value.replace("\\", "/"), allowed)
    if reason:
        key = next((k for k, v in element.attributes.items() if v == value), "file")
        raise _refusal(
            element,
            document.path.name,
            f'{key}="{value}": {reason}',
            "a path inside the model's folder or package, or in one of roots=[...]",
        )


def _asset_folders(documents: list[_Document], keys: tuple[str, ...], allowed: list[Path]) -> list[Path]:
    """Return the folders that one kind of asset is looked for in, all of them allowed."""
    out = []
    for document in documents:
        for element in document.root.everything():
            for key in keys if element.tag == "compiler" else ():
                value = element.attributes.get(key)
                if value is not None:
                    _check_inside(element, document, value, document.base, allowed)
                    out += [d.base / value for d in documents]
    return out


def _files(element: XmlElement) -> list[str]:
    """Return the file names that an element gives: file, and fileright, fileup, ... of cube textures."""
    return [v for k, v in element.attributes.items() if k.startswith("file") and k != "fileformat"]


def _check_numbers(element: XmlElement, name: str, copies: int) -> None:
    """Refuse numbers that are not finite, and counts that would make MuJoCo allocate without bound."""
    if copies > MAX_COUNT:
        raise _refusal(element, name, f"{copies} copies by <replicate>", f"at most {MAX_COUNT}")
    for key, value in element.attributes.items():
        numbers = _numbers(value)
        if key not in NAMES and not all(map(math.isfinite, numbers)):
            raise _refusal(element, name, f'{key}="{value[:60]}"', "finite numbers")
        counts = key in COUNTS or (element.tag == "numeric" and key == "size")
        most = MAX_USER if key.startswith("nuser_") else MAX_COUNT if counts else math.inf
        most = MAX_STACK if key == "nstack" else most
        if any(abs(n) > most for n in numbers):
            raise _refusal(element, name, f'{key}="{value[:60]}"', f"at most {most}")


def _numbers(text: str) -> list[float]:
    """Return the numbers of an attribute; words that are none are MuJoCo's to judge."""
    out = []
    for word in text.split():
        try:
            out.append(float(word))
        except ValueError:
            continue
    return out


def _refusal(element: XmlElement, name: str, found: str, expected: str, hint: str = "") -> ModelError:
    return ModelError(Finding(f"{name}:{element.line}: {element}", found, expected, hint))
