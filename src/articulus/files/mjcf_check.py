"""What an MJCF text may hold before MuJoCo sees it: bounded sizes, and files from the model's folder only."""

from __future__ import annotations

import math
from pathlib import Path

from articulus.errors import Finding, ModelError
from articulus.files.asset_paths import why_outside
from articulus.files.storage import as_path, load_text
from articulus.files.xml_tree import Element, parse_xml

MAX_FILES = 200
MAX_COUNT = 20_000
COUNTS = ("count", "nrow", "ncol", "width", "height", "nuserdata", "nkey", "njmax", "nconmax", "nstack")
"""Attributes that make MuJoCo allocate: at most MAX_COUNT each (and all the nuser_... of <size>)."""

NAMES = ("name", "class", "childclass", "body", "joint", "site", "mesh", "material")
"""Attributes that may hold a word such as "inf" without meaning a number."""


def check_text(text: str, name: str) -> Element:
    """Return the root of an MJCF text that has no folder: it may name no file."""
    root = parse_xml(text, name)
    for element in root.everything():
        _check_numbers(element, name)
        for value in _files(element):
            raise _refused(element, name, f'the file "{value}"', "none: a text has no folder to read it from")
    return _check_root(root, name)


def check_file(path: Path) -> Element:
    """Return the root of an MJCF file after a look at it and at every file that it includes."""
    root = parse_xml(load_text(path), path.name)
    _check_root(root, path.name)
    todo: list[tuple[Element, Path, tuple[Path, ...]]] = [(root, path, (path.resolve(),))]
    count = 0
    while todo:
        element, place, chain = todo.pop()
        count += 1
        if count > MAX_FILES:
            raise _refused(element, place.name, "a chain of included files", f"at most {MAX_FILES} files")
        todo += _check_one(element, place, path.parent, chain)
    return root


def _check_root(root: Element, name: str) -> Element:
    if root.tag != "mujoco":
        raise _refused(root, name, str(root), "<mujoco>", "Is it an MJCF file?")
    return root


def _check_one(
    root: Element, place: Path, folder: Path, chain: tuple[Path, ...]
) -> list[tuple[Element, Path, tuple[Path, ...]]]:
    """Check one file and return the models that it includes, each with the chain of files that led to it."""
    out = []
    folders = _asset_folders(root, place.name, folder)
    for element in root.everything():
        _check_numbers(element, place.name)
        for value in _files(element):
            where = [folder] if element.tag in ("include", "model") else folders
            for start in where:
                reason = why_outside(value, start, {"": folder})
                if reason:
                    raise _refused(
                        element, place.name, f'file="{value}": {reason}', "a path inside the model's folder"
                    )
            if element.tag in ("include", "model"):
                out.append(_included(element, place.name, folder / value, chain))
    return out


def _included(
    element: Element, name: str, path: Path, chain: tuple[Path, ...]
) -> tuple[Element, Path, tuple[Path, ...]]:
    real = path.resolve()
    if real in chain:
        raise _refused(
            element, name, f"<{element.tag}> of '{path.name}', which includes itself", "another file"
        )
    if not real.is_file():
        raise _refused(
            element, name, f"<{element.tag}> of '{path.name}', which is not there", "a file that exists"
        )
    return parse_xml(load_text(as_path(real)), path.name), path, (*chain, real)


def _asset_folders(root: Element, name: str, folder: Path) -> list[Path]:
    """Return the folders that meshes and textures may be looked for in, all inside the model's folder."""
    out = [folder]
    for element in root.everything():
        for key in ("meshdir", "texturedir", "assetdir"):
            if element.tag == "compiler" and key in element.attributes:
                value = element.attributes[key]
                reason = why_outside(value, folder, {})
                if reason:
                    raise _refused(
                        element, name, f'{key}="{value}": {reason}', "a folder inside the model's folder"
                    )
                out.append(folder / value)
    return out[1:] or out


def _files(element: Element) -> list[str]:
    """Return the file names that an element gives: file, and fileright, fileup, ... of cube textures."""
    return [v for k, v in element.attributes.items() if k.startswith("file") and k != "fileformat"]


def _check_numbers(element: Element, name: str) -> None:
    """Refuse numbers that are not finite, and counts that would make MuJoCo allocate without bound."""
    for key, value in element.attributes.items():
        numbers = _numbers(value)
        if key not in NAMES and not all(map(math.isfinite, numbers)):
            raise _refused(element, name, f'{key}="{value[:60]}"', "finite numbers")
        counts = key in COUNTS or key.startswith("nuser_") or (element.tag == "numeric" and key == "size")
        if counts and any(abs(n) > MAX_COUNT for n in numbers):
            raise _refused(element, name, f'{key}="{value[:60]}"', f"at most {MAX_COUNT}")


def _numbers(text: str) -> list[float]:
    """Return the numbers of an attribute; words that are none are MuJoCo's to judge."""
    out = []
    for word in text.split():
        try:
            out.append(float(word))
        except ValueError:
            continue
    return out


def _refused(element: Element, name: str, found: str, expected: str, hint: str = "") -> ModelError:
    return ModelError(Finding(f"{name}:{element.line}: {element}", found, expected, hint))
