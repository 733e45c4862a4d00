"""Versions and hashes of what `make` installs: `write` makes ci.txt anew from an environment, `select` gives what some extras need.

`lowest` gives the lower bounds of pyproject.toml, `write_oldest` makes oldest.txt from an environment with them.

Nothing but the standard library and pip is needed, so that both work on a fresh clone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "ci.txt"
OLDEST = HERE / "oldest.txt"
OLDEST_EXTRAS = ("mjcf", "data", "view", "mesh", "exact", "sdp", "search")
"""Extras whose lower bounds are tried, with those of the core."""
OLDEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis", "mpmath")
"""What the tests themselves need of the extra `test`."""
APART = ("fe",)
"""Extras that are not installed together with the others."""
HEAD = """# Versions that `make` and CI install, of every package that any extra brings along, with the SHA-256 of every file of that version
# and the extras that need it; `make lock` writes it anew with the newest, `requirements/lock.py select EXTRAS` picks from it.
"""
OLDEST_HEAD = """# The lower bounds of pyproject.toml, which `make oldest` installs and tests, with what they bring along and the SHA-256 of every file;
# `make lock-oldest` writes it anew.
"""


def plain(name: str) -> str:
    """Return a name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needs(extra: str, versions: dict[str, str]) -> set[str]:
    """Return the packages that an extra brings along with the core, of those that are installed."""
    from pip._vendor.packaging.requirements import Requirement

    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"], "editables"]
    asked += project["project"]["optional-dependencies"].get(extra, [])
    todo, seen = [(Requirement(text), "") for text in asked], set()
    while todo:
        wanted, of = todo.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": of}):
            continue
        for each in ("", *sorted(wanted.extras)):
            if (key := (plain(wanted.name), each)) in seen:
                continue
            seen.add(key)
            todo += [(Requirement(text), each) for text in metadata.requires(wanted.name) or ()]
    return {name for name, _ in seen if name in versions}


def hashes(versions: dict[str, str]) -> dict[str, list[str]]:
    """Return the SHA-256 of every file of the version of each package, for every platform, from the index that pip uses."""
    from pip._internal.commands import create_command
    from pip._internal.models.wheel import Wheel

    Wheel.supported = lambda self, tags: True  # files for other machines count, too
    command = create_command("download")
    options, _ = command.parse_args(["--ignore-requires-python", "pip"])
    session = command._build_session(options)  # type: ignore[attr-defined]
    finder = command._build_package_finder(options, session, ignore_requires_python=True)  # type: ignore[attr-defined]
    out = {}
    for name, version in versions.items():
        found = [c.link for c in finder.find_all_candidates(name) if str(c.version) == version]
        out[name] = sorted({link.hash for link in found if link.hash_name == "sha256" and link.hash})
        if not out[name]:
            raise SystemExit(f"{name}=={version}: the index gives no hash of it")
    return out


def installed() -> dict[str, str]:
    """Return the versions of the packages of this environment, by name."""
    versions = {plain(d.name): d.version for d in metadata.distributions()}
    return {name: v for name, v in versions.items() if name not in ("articulus", "pip", "setuptools")}


def lowest() -> None:
    """Print the lower bounds of pyproject.toml, of the core, some extras and what tests need, as exact versions."""
    from pip._vendor.packaging.requirements import Requirement

    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [Requirement(text) for e in OLDEST_EXTRAS for text in extras[e]]
    asked += [wanted for wanted in map(Requirement, extras["test"]) if plain(wanted.name) in OLDEST_TOOLS]
    for wanted in (*map(Requirement, project["dependencies"]), *asked):
        (bound,) = (part.version for part in wanted.specifier if part.operator == ">=")
        sys.stdout.write(f"{wanted.name}=={bound}\n")


def write_oldest() -> None:
    """Write oldest.txt from the packages of this environment."""
    versions = installed()
    known = hashes(versions)
    lines = [
        f"{name}=={versions[name]} {' '.join(f'--hash=sha256:{h}' for h in known[name])}\n"
        for name in sorted(versions)
    ]
    OLDEST.write_text(OLDEST_HEAD + "".join(lines))


def write() -> None:
    """Write ci.txt from the packages of this environment."""
    versions = installed()
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    extras = [e for e in project["optional-dependencies"] if e not in APART]
    users = {extra: needs(extra, versions) for extra in ("core", *extras)}
    held = hashes(versions)
    lines = [
        f"{name}=={versions[name]} {' '.join(f'--hash=sha256:{h}' for h in held[name])} # {' '.join(e for e in users if name in users[e])}\n"
        for name in sorted(versions)
    ]
    LOCK.write_text(HEAD + "".join(lines))


def select(extras: list[str]) -> None:
    """Print the lines of ci.txt that the core and some extras need."""
    known = {
        word
        for line in LOCK.read_text().splitlines()
        if not line.startswith("#")
        for word in line.partition(" # ")[2].split()
    }
    if unknown := set(extras) - known:
        raise SystemExit(
            f"requirements/ci.txt: no extra {', '.join(sorted(unknown))}; expected some of {', '.join(sorted(known))}"
        )
    for line in LOCK.read_text().splitlines():
        if not line.startswith("#") and {"core", *extras}.intersection(line.partition(" # ")[2].split()):
            sys.stdout.write(line + "\n")


if __name__ == "__main__":
    commands = {"write": write, "lowest": lowest, "write_oldest": write_oldest}
    if sys.argv[1] in commands:
        commands[sys.argv[1]]()
    else:
        select(sys.argv[2].split(","))
