"""Dependencies: CI's versions fit the bounds of the package, and every one has its licence on the page."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCK = (ROOT / "requirements" / "ci.txt").read_text()
PINS = {
    canonicalize_name(r.name): r
    for r in map(
        Requirement, (line.split(" --hash")[0] for line in LOCK.splitlines() if not line.startswith("#"))
    )
}
ASKED = [
    Requirement(text) for text in [*PROJECT["dependencies"], *(t for held in EXTRAS.values() for t in held)]
]
PAGE = (ROOT / "docs" / "licences.md").read_text()


@pytest.mark.parametrize("wanted", ASKED, ids=str)
def test_the_pinned_version_is_within_its_bounds(wanted: Requirement) -> None:
    if wanted.name == "pyyeti":
        pytest.skip("the extra fe stays apart from CI")
    (pin,) = PINS[canonicalize_name(wanted.name)].specifier
    assert pin.operator == "=="
    assert Version(pin.version) in wanted.specifier


def test_what_the_packages_ask_for_is_pinned_too() -> None:
    """Everything that the installed packages bring along stands in the file; no addresses of servers do."""
    todo, seen = [r.name for r in ASKED if r.name != "pyyeti"], set()
    while todo:
        name = canonicalize_name(todo.pop())
        if name in seen:
            continue
        seen.add(name)
        assert name in PINS, name
        try:
            requires = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # an extra that is not installed here
            continue
        for each in map(Requirement, requires):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                todo.append(each.name)
    assert "://" not in LOCK
    assert "@" not in LOCK


def test_every_file_that_ci_installs_has_its_hash() -> None:
    for line in LOCK.splitlines():
        if not line.startswith("#"):
            assert re.fullmatch(r"[a-z0-9-]+==[^ ]+( --hash=sha256:[0-9a-f]{64})+ # [a-z ]+", line), line[:80]


@pytest.mark.parametrize("extra", sorted({"core", *EXTRAS} - {"fe"}))
def test_the_lock_gives_each_extra_what_it_asks_for(extra: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "requirements" / "lock.py", "select", extra],
        capture_output=True,
        text=True,
        check=True,
    )
    given = {line.partition("==")[0] for line in done.stdout.splitlines()}
    asked = [*PROJECT["dependencies"], *EXTRAS.get(extra, []), "hatchling"]
    assert {canonicalize_name(Requirement(text).name) for text in asked} <= given


def test_the_vendored_script_is_the_published_one() -> None:
    """three.js as it is in the package: its digest is on the page, and its bytes give it."""
    content = (ROOT / "src/articulus/browser/assets/three.min.js").read_bytes()
    assert f"SHA-256 `{hashlib.sha256(content).hexdigest()}`" in PAGE


@pytest.mark.parametrize("name", sorted({canonicalize_name(r.name) for r in ASKED}))
def test_its_licence_is_on_the_page(name: str) -> None:
    row = next(
        (line for line in PAGE.splitlines() if re.search(rf"^\| (?:.*, )?{name}(?:,.*)? \|", line)), None
    )
    assert row, name
    assert len(row.split("|")[2].strip()) > 2


def test_the_copyleft_in_the_core_is_said_aloud() -> None:
    """No other package that is always installed says GPL, LGPL, AGPL or MPL of itself."""
    assert "**CasADi is under the LGPL" in PAGE
    found = set()
    for name in [
        *(r.name for r in map(Requirement, PROJECT["dependencies"])),
        "contourpy",
        "pillow",
        "pydantic",
    ]:
        about = metadata.metadata(name)
        text = " ".join([about.get("License-Expression") or "", (about.get("License") or "")[:200],
                         *(c for c in about.get_all("Classifier") or [] if c.startswith("License"))])  # fmt: skip
        if re.search(r"GPL|Lesser General|MPL|Mozilla", text):
            found.add(name)
    assert found == {"casadi"}
