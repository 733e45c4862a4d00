"""What a flexible body is judged by: found once for each body, and again for one with other numbers."""

import dataclasses

import numpy as np
import pytest

from articulus.structure import beam_body


def test_first_frequency_and_extent_are_found_once(monkeypatch):
    body = beam_body(2.0, EI=40.0, mass_per_length=1.5, modes=3)
    closed_form = 1.8751040687119611**2 * np.sqrt(40.0 / 1.5) / 2.0**2
    assert body.first_frequency == pytest.approx(
        closed_form, rel=1e-3
    )  # of a cantilever; shapes are not exact
    assert body.extent == pytest.approx(2.0, rel=1e-9)
    stiffer = dataclasses.replace(body, stiffness=4.0 * body.stiffness)
    assert stiffer.first_frequency == pytest.approx(2.0 * body.first_frequency, rel=1e-9)
    monkeypatch.setattr(np.linalg, "cholesky", None)
    monkeypatch.setattr(np.linalg, "eigvalsh", None)
    assert body.first_frequency == pytest.approx(closed_form, rel=1e-3)
    assert body.extent == pytest.approx(2.0, rel=1e-9)
