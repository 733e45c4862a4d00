"""The URDF files of more packages against Pinocchio, by `make models`; of 1088 files of pybullet, nearly all objects, one in 20."""

from __future__ import annotations

from pathlib import Path

import pytest

from articulus.errors import ModelError

from .packages import MORE, files_of, missing
from .urdf_twin import Twin, pinocchio_model, read_quietly

AGREEMENT = 1e-9
FILES = {package: files_of(package, ".urdf") for package in MORE}
MISSING = [package for package, files in FILES.items() if not files]
OBJECTS = "random_urdfs"
COMPARED = [
    f for files in FILES.values() for k, f in enumerate(files) if OBJECTS not in f.parts or k % 20 == 0
]

pytestmark = pytest.mark.skipif(bool(MISSING), reason="; ".join(map(missing, MISSING)))


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("file", COMPARED, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_robot_is_that_of_pinocchio(file: Path, base: str) -> None:
    try:
        model = pinocchio_model(file, base == "free")
        description = read_quietly(file.read_text(), base=base).description
    except (ValueError, ModelError) as error:
        pytest.skip(str(error))
    difference = Twin(file, description, model).difference()
    assert difference.worst < AGREEMENT, difference


@pytest.mark.parametrize("package", MORE)
def test_share_of_the_files_that_pinocchio_loads(package: str) -> None:
    both = theirs = 0
    for file in FILES[package]:
        try:
            pinocchio_model(file, False)
        except ValueError:
            continue
        theirs += 1
        try:
            read_quietly(file.read_text())
        except ModelError:
            continue
        both += 1
    assert both >= 0.95 * theirs, (both, theirs)
