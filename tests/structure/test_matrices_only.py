"""Flexible bodies of mass and stiffness matrices alone: no level without its content, no mass lost without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.model.files.modes_file import read_modes, write_modes
from articulus.structure import Structure, beam, modes_of, normal_modes


def matrices(root: str) -> Structure:
    s = beam(1.0, EI=1.0, mass_per_length=3.78, elements=8, root=root)
    return Structure(s.names, s.positions, s.dofs, s.M, s.K)


def test_the_consistent_level_is_refused(tmp_path: Path) -> None:
    s = matrices("free").fix({0: "all"})
    shapes = normal_modes(s, 2).shapes
    assert modes_of(s, shapes).level == "ruthless"
    assert modes_of(s, shapes, level="inconsistent").level == "inconsistent"
    with pytest.raises(InputError, match="Choose 'ruthless'"):
        modes_of(s, shapes, level="consistent")
    write_modes(modes_of(s, shapes), tmp_path / "body.npz")
    again = read_modes(tmp_path / "body.npz")
    assert again == modes_of(s, shapes)
    with pytest.raises(InputError, match="shortening is not known"):
        again.at_level("consistent")


def test_grids_fixed_here_keep_their_mass() -> None:
    s = matrices("free").fix({0: "all"})
    assert modes_of(s, normal_modes(s, 2).shapes).rr0[3, 3] == pytest.approx(3.78, rel=1e-12)


def test_grids_held_before_the_export_are_told() -> None:
    """Linear shapes along x: a third of an element's mass is the clamped node's own, a third more its coupling."""
    s = matrices("clamped")
    with pytest.warns(UserWarning, match="mass of these grids is missing: found 3.465"):
        body = modes_of(s, normal_modes(s, 2).shapes)
    assert body.rr0[3, 3] == pytest.approx(3.78 * (1 - 2 / 3 / 8), rel=1e-9)
    assert np.isfinite(body.rf0).all()
