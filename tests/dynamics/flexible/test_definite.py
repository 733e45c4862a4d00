"""Whether mass matrices are positive definite is known of the body, or asked at each position."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import articulus as art
from articulus.dynamics.positive_definite import Definite, always_definite
from articulus.dynamics.quantities import function
from articulus.structure import beam_body
from flexible_zoo import random_modes

BEAM = beam_body(2.0, EI=40.0, mass_per_length=1.5, modes=2, rotary_inertia=2e-3)
BAD = dataclasses.replace(BEAM, rr2=-20 * BEAM.rr2)
"""Displacements whose squares take inertia away: no body has that."""


def on_a_hinge(modes) -> art.Mechanism:
    m = art.Mechanism("beam", gravity=(0, 0, 0)).flexible("beam", modes)
    return m.joint("hinge", art.Revolute(axis=(0, 0, 1)), "ground", "beam")


def test_bodies_made_of_mass_need_no_asking() -> None:
    assert always_definite(BEAM)
    assert always_definite(random_modes(np.random.default_rng(2), 3))
    for planes, torsion in (("y", 0), ("both", 2)):
        body = beam_body(
            1.0, EI=(1.0, 2.0), GJ=1.0, mass_per_length=1.0, modes=3, torsion=torsion, planes=planes,
            rotary_inertia=(1e-3, 2e-3), tip_mass=2.0, tip_inertia=(0.3, 0.2, 0.2),
        )  # fmt: skip
        for level in ("consistent", "inconsistent", "ruthless"):
            assert always_definite(body.at_level(level))
    assert not always_definite(BAD)
    assert not always_definite(beam_body(1.0, EI=1.0, mass_per_length=1.0, tip_inertia=(0.0, 0.0, 1.0)))


@pytest.mark.filterwarnings("ignore:(?s).*over its (length|first frequency)")  # states that bend bodies far
def test_every_question_about_an_indefinite_matrix_is_refused() -> None:
    m, zero = on_a_hinge(BAD), np.zeros(3)
    bent = np.array([0.0, 1.2 / np.abs(BAD.station("tip").translation).max(), 0.0])
    assert np.linalg.eigvalsh(np.array(m.function("mass_matrix")(bent)))[0] < 0
    questions = {
        "mass_matrix": lambda q: m.mass_matrix(q),
        "mass_matrix_inverse": lambda q: m.mass_matrix_inverse(q),
        "forward_dynamics": lambda q: m.forward_dynamics(q, zero, zero),
        "inverse_dynamics": lambda q: m.inverse_dynamics(q, zero, zero),
        "energy": lambda q: m.energy(q, zero),
        "derivatives": lambda q: m.derivatives(q, zero, zero),
        "linearize": lambda q: m.linearize(q),
    }
    for ask in questions.values():
        ask(zero)
        with pytest.raises(art.NumericalError, match="not positive definite"):
            ask(bent)
    with pytest.raises(art.NumericalError, match="at row 1 of q") as failed:
        m.mass_matrix(np.stack([zero, bent, zero]))
    assert list(failed.value.rows) == [1]
    assert m.pose("beam", bent).shape == (4, 4)


def test_inertia_in_the_plane_alone_is_no_reason_to_refuse() -> None:
    """Moments of inertia (0, 0, J) are no body's, but the joint turns about z only: the matrix is definite."""
    m = on_a_hinge(beam_body(1.0, EI=1.0, mass_per_length=1.0, tip_mass=1.0, tip_inertia=(0.0, 0.0, 0.1)))
    assert m.mass_matrix([0.0, 0.1, 0.0]).shape == (3, 3)
    assert m.forward_dynamics(np.zeros((5, 3)), np.zeros(3), np.ones(3)).shape == (5, 3)


def test_the_mass_matrix_of_the_whole_is_made_once(monkeypatch) -> None:
    """A slender beam by itself can turn about its axis without mass, so that the whole mechanism is asked in every run."""
    made = []
    monkeypatch.setattr(
        "articulus.dynamics.positive_definite.function",
        lambda d, name: made.append(name) or function(d, name),
    )
    m = on_a_hinge(beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=2).at_level("inconsistent"))
    asked = Definite(m.description)
    for _ in range(3):
        assert asked.first_bad(np.zeros((2, m.nq)), np.zeros(0), singular=True) is None
    assert made == ["mass_matrix"]
