"""Hide every installed package that is not in the core or in an extra that a page names: what it needs must stand on it."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
TOOLS = ("pytest", "pytest-xdist", "pytest-cov", "playwright")
"""Packages that run the tests themselves."""
ELSEWHERE = {"pin": ("pinocchio", "coal", "hppfcl", "eigenpy")}
"""Modules of distributions that lie in a folder of their own."""


def named(text: str) -> set[str]:
    """Return the extras that a text names: "articulus[view,data]", "extra `mesh`", "extras `view` and `data`"."""
    found = {
        name.strip() for held in re.findall(r"articulus\[([a-z, ]+)\]", text) for name in held.split(",")
    }
    for held in re.findall(r"\bextras? ((?:`[a-z]+`(?:, | and )?)+)", text):
        found |= set(re.findall(r"`([a-z]+)`", held))
    return found & set(EXTRAS)


@functools.cache
def _closure(names: frozenset[str]) -> frozenset[str]:
    """Return distributions and everything that they bring along."""
    todo, seen = list(names), set()
    while todo:
        name = canonicalize_name(todo.pop())
        if name in seen:
            continue
        seen.add(name)
        with contextlib.suppress(metadata.PackageNotFoundError):
            for each in map(Requirement, metadata.requires(name) or []):
                if each.marker is None or each.marker.evaluate({"extra": ""}):
                    todo.append(each.name)
    return frozenset(seen)


def hidden(extras: Iterable[str]) -> set[str]:
    """Return the modules that an installation with these extras alone has not."""
    wanted = [*PROJECT["dependencies"], *(text for name in extras for text in EXTRAS[name])]
    kept = _closure(frozenset(Requirement(text).name for text in wanted) | {*TOOLS})
    every = _closure(frozenset(Requirement(text).name for held in EXTRAS.values() for text in held))
    gone = every - kept
    apart = {module for owner, modules in ELSEWHERE.items() if owner in gone for module in modules}
    return apart | {
        module
        for module, owners in _owners().items()
        if {canonicalize_name(owner) for owner in owners} <= gone and module.isidentifier()
    }


@functools.cache
def _owners() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())


@contextlib.contextmanager
def only(extras: Iterable[str]) -> Iterator[None]:
    """Let imports of all other packages fail; modules that are loaded already are hidden, too."""
    gone = hidden(extras)
    held = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in gone}
    found = PathFinder.find_spec

    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        return None if fullname.partition(".")[0] in gone else found(fullname, path, target)

    PathFinder.find_spec = find_spec  # type: ignore[method-assign]
    _forget()
    try:
        yield
    finally:
        PathFinder.find_spec = found  # type: ignore[method-assign]
        sys.modules.update(held)
        _forget()


def _forget() -> None:
    """Let python-control and xarray look for what they can use anew."""
    if "xarray.namedarray.utils" in sys.modules:
        sys.modules["xarray.namedarray.utils"].module_available.cache_clear()
    if "xarray.namedarray.pycompat" in sys.modules:
        getattr(sys.modules["xarray.namedarray.pycompat"], "_cached_duck_array_modules", {}).clear()
    if "control.exception" in sys.modules:
        for name in ("slycot_installed", "pandas_installed", "cvxopt_installed"):
            setattr(sys.modules["control.exception"], name, None)
