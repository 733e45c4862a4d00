"""The MJCF files of other packages against MuJoCo, by `make models`: all that hold a body are read, and move as they do there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art

from .mjcf_files import PACKAGES, files_of, ours, theirs
from .mujoco_twin import Twin

FILES = [
    pytest.param(path, id=f"{package}-{path.parent.name}-{path.stem}")
    for package in PACKAGES
    for path in files_of(package)
]
MISSING = [package for package in PACKAGES if not files_of(package)]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (make models)")


@pytest.mark.parametrize("path", FILES)
def test_a_file_moves_as_in_mujoco(path: Path) -> None:
    """To 1e-9 of the largest value at two random states; found: 1e-12 for masses from 1e-9 to 100 kg."""
    model = theirs(path)
    if model is None:
        pytest.skip("MuJoCo refuses it")
    if model.nbody == 1:
        with pytest.raises(art.ModelError, match="no body at all"):
            ours(path)
        return
    twin = Twin(ours(path), model)
    for seed in (1, 2):
        errors = twin.errors(np.random.default_rng(seed))
        assert max(errors.values()) < 1e-9, errors


def test_share_of_the_files_that_mujoco_loads() -> None:
    """At least 85 percent; the rest holds no body: scenery, materials and parts to include."""
    models = [theirs(path.values[0]) for path in FILES]
    loaded = [m for m in models if m is not None]
    assert sum(m.nbody > 1 for m in loaded) >= 0.85 * len(loaded)
