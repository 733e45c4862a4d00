"""What docs/layout.md, the theory pages and the README name of the code is there."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "articulus"
PAGE = (ROOT / "docs" / "layout.md").read_text()
ITEM = re.compile(r"^\d+\. .*$", re.M)
HOP = re.compile(r"\d+\. `([\w.]+)` in `([\w/]+\.py)`: ")
THEORY = sorted((ROOT / "docs" / "theory").glob("*.md"))


@cache
def defined(file: Path) -> frozenset[str]:
    """Return the functions and classes that a file defines, methods as "Class.method"."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(found)


@pytest.mark.parametrize("item", ITEM.findall(PAGE))
def test_hop(item: str) -> None:
    hop = HOP.match(item)
    assert hop is not None, "expected: 1. `function` in `file.py`: ..."
    name, file = hop.groups()
    assert (PACKAGE / file).is_file()
    assert name in defined(PACKAGE / file)


def test_there_are_five_walks_numbered_through() -> None:
    walks = [[int(n) for n in re.findall(r"^(\d+)\. ", part, re.M)] for part in PAGE.split("\n## ")]
    walks = [numbers for numbers in walks if numbers]
    assert len(walks) == 5
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in walks)


def test_every_file_and_folder_on_the_page_is_there() -> None:
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", PAGE))
    assert len(named) > 40
    assert not [name for name in named if not (PACKAGE / name).exists()]


def test_every_package_has_its_row_in_the_readme() -> None:
    table = (ROOT / "README.md").read_text().split("## Repository")[1].split("\n## ")[0]
    told = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in row.split("`")[1::2]]
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= {name.split("/")[2] for name in told if name.startswith("src/articulus/")}
    assert not [name for name in told if not (ROOT / name).exists()]


def test_layers_are_those_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [re.findall(r"articulus\.([\w.]+)", layer) for layer in reversed(contract["layers"])]
    part = PAGE.split("## Who may import whom")[1].split("A package imports")[0]
    told = re.findall(r"`([\w.]+)`", part)
    for layer in layers:
        assert sorted(told[: len(layer)]) == sorted(layer)
        told = told[len(layer) :]
    assert not told


def test_the_table_for_contributors_has_every_layer() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = re.findall(r"articulus\.([\w.]+)", " ".join(contract["layers"]))
    table = (ROOT / "CONTRIBUTING.md").read_text().split("## Layers")[1].split("\n## ")[0]
    told = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in row.split("`")[1::2]]
    assert sorted(told) == sorted(layers)


def test_the_house_has_every_package_on_the_page_and_in_the_picture() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {"errors"}
    page = (ROOT / "docs" / "architecture.md").read_text().split("## Layers")[1].split("\n## ")[0]
    told = [name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in row.split("`")[1::2]]
    assert set(told) == packages
    picture = (ROOT / "docs" / "_static" / "theory" / "house.svg").read_text()
    assert packages <= set(re.findall(r"\w+", re.sub(r"<[^>]*>", " ", picture)))


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_files_of_a_theory_page_are_there(page: Path) -> None:
    held = [str(path) for folder in (PACKAGE, ROOT / "tests") for path in folder.rglob("*.py")]
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text()))
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in held)]
