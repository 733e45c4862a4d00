"""Runs of flexible mechanisms: files, continuations, rollouts and closed loops work as with rigid ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus import structure

LINK = structure.beam_body(0.8, EI=120.0, mass_per_length=1.0, modes=2, damping=0.01)


def arm() -> art.Mechanism:
    """Return a planar arm of two links with two modes each."""
    m = art.Mechanism("arm", gravity=(0, -9.81, 0))
    m.flexible("upper", LINK).flexible("fore", LINK)
    m.joint("shoulder", art.Revolute(axis=(0, 0, 1)), parent="ground", child="upper")
    m.joint("elbow", art.Revolute(axis=(0, 0, 1)), parent="upper", child="fore", node="tip")
    return m.frame("tip", "fore", node="tip")


ARM = arm()
Q0 = [0.4, 0, 0, -0.9, 0, 0]


@pytest.fixture(scope="module")
def run() -> art.Run:
    return art.simulate(ARM, 0.5, q0=Q0, step=2e-4, sample=0.01)


def test_energy_is_balanced(run: art.Run) -> None:
    """RK4 at omega h = 0.17 of the fastest mode (850 rad/s): 1e-7 of the energy that moves."""
    assert np.abs(run["energy.balance"]).max() < 1e-6 * np.ptp(run["energy.kinetic"])
    assert run["energy.dissipated"][-1] > 0


def test_a_saved_run_holds_its_mechanism(run: art.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run.nc")
    loaded = art.load_run(tmp_path / "run.nc")
    assert loaded.mechanism.description == ARM.description
    assert np.array_equal(loaded.q, run.q)
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_run_goes_on_where_it_ended(run: art.Run) -> None:
    first = art.simulate(ARM, 0.2, q0=Q0, step=2e-4, sample=0.01)
    assert np.array_equal(first.q, run.q[: len(first.t)])
    rest = art.simulate(ARM, 0.3, q0=first.q[-1], v0=first.v[-1], step=2e-4, sample=0.01)
    np.testing.assert_allclose(rest.q[-1], run.q[-1], atol=1e-10)  # times differ by rounding only


def test_rollouts_are_the_single_runs(run: art.Run) -> None:
    q0 = np.array(Q0) + np.array([[0.0], [0.1], [0.2]]) * np.eye(6)[0]
    batch = art.rollout(ARM, 0.5, q0=q0, step=2e-4, sample=0.01)
    np.testing.assert_allclose(batch.q[0], run.q, atol=1e-9)


def test_an_arm_whose_tip_is_held_keeps_it_there() -> None:
    """The tip slides on a rod about the ground: residuals stay at the tolerance of the projection."""
    m = arm()
    tip = ARM.pose("tip", Q0)[:3, 3]
    m.constrain(art.Distance("rod", "tip", "ground", length=float(np.linalg.norm(tip))))
    held = art.simulate(m, 0.2, q0=Q0, step=5e-4, sample=0.01)
    residual = [m.constraint_residual(q) for q in held.q]
    assert np.abs(residual).max() < 1e-8
    assert np.abs(held["energy.balance"]).max() < 1e-3 * held["energy.kinetic"].max()


def test_a_run_of_a_body_that_no_mass_can_have_fails_with_the_reason() -> None:
    """Displacements whose squares take inertia away: at rest all is well, bent the mass matrix is indefinite."""
    beam = structure.beam_body(2.0, EI=40.0, mass_per_length=1.5, modes=2, rotary_inertia=2e-3)
    beam = dataclasses.replace(beam, rr2=-20 * beam.rr2)
    m = art.Mechanism("beam", gravity=(0, 0, 0)).flexible("beam", beam)
    m.joint("free", art.Free(), "ground", "beam")
    q = m.neutral.copy()
    assert art.simulate(m, 0.1, q0=q, step=1e-3).status == art.RunStatus.COMPLETE
    q[7] = 0.6 / np.abs(beam.station("tip").translation).max()
    with pytest.raises(art.NumericalError, match="not positive definite") as failed:
        art.simulate(m, 0.1, q0=q, step=1e-3)
    assert failed.value.result.failures[0].time == 0
    both = art.rollout(m, 0.1, q0=np.stack([m.neutral, q]), step=1e-3)
    np.testing.assert_array_equal(both.failed, [1])


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # beyond a tenth of its length, on purpose
def test_a_beam_without_a_hub_swings_by_a_quarter_of_its_length() -> None:
    """Clamped modes hold nearly all its inertia. RK4 at omega h = 0.05 of the fastest mode: 1e-7 of the energy."""
    beam = structure.beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=3, rotary_inertia=1e-4, damping=None)
    m = art.Mechanism("beam", gravity=(0, 0, 0)).flexible("beam", beam)
    m.joint("free", art.Free(), "ground", "beam")
    q = m.neutral.copy()
    q[7] = 0.25 / np.abs(beam.station("tip").translation[1, 0])
    run = art.simulate(m, 1.0, q0=q, step=2e-4, sample=0.01)
    assert run.status == art.RunStatus.COMPLETE
    assert np.abs(run["energy.balance"]).max() < 1e-6 * run["energy.kinetic"].max()
    momentum = m.momentum(run.q, run.v)
    assert np.abs(momentum).max() < 1e-7 * run["energy.kinetic"].max() ** 0.5
