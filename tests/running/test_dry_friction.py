"""Dry friction that an explicit step does not resolve is told, with what to do; resolved or implicit it is not."""

from __future__ import annotations

import warnings

import pytest

import articulus as art
from articulus.errors import DoubtfulResult

INERTIA, DRY = 0.5, 4.0


def wheel(speed: float = 1e-3) -> art.Mechanism:
    m = art.Mechanism("wheel", gravity=(0, 0, 0)).body("disc", mass=1.0, inertia=(INERTIA,) * 3)
    return m.joint("spin", art.Revolute((0, 0, 1)), "ground", "disc", coulomb=DRY, coulomb_speed=speed)


def test_a_step_that_does_not_resolve_it_warns() -> None:
    """h coulomb / (coulomb_speed I) = 8 at the default step: the wheel, which should stop after 0.25 s, jumps to and fro."""
    with pytest.warns(
        DoubtfulResult, match="dry friction about rest is not resolved by the step of 0.001 s"
    ) as told:
        run = art.simulate(wheel(), 0.5, v0=[2.0])
    assert abs(run.v[-1, 0]) > 1e-3
    figure = next(d for d in run.warnings if "dry friction" in d.figure)
    assert figure.value == pytest.approx(1e-3 * DRY / (1e-3 * INERTIA), rel=1e-9)
    assert "take a step below 0.00025 s" in str(told[0].message)


@pytest.mark.parametrize(
    ("speed", "settings"),
    [
        (1e-3, {"step": 2e-4}),  # what the warning asks for
        (5e-3, {}),
        (1e-3, {"method": "rosenbrock"}),
    ],
)
def test_what_the_warning_advises_helps(speed: float, settings: dict) -> None:
    """Coulomb's law: the wheel stops after v I / coulomb = 0.25 s, having turned v^2 I / (2 coulomb) = 0.25 rad.

    The smoothing adds a creep of the order of coulomb_speed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulResult)
        run = art.simulate(wheel(speed), 0.5, v0=[2.0], **settings)
    assert abs(run.v[-1, 0]) < 1e-9
    assert run.q[-1, 0] == pytest.approx(0.25, abs=2 * speed)


def test_a_joint_that_keeps_sliding_is_no_doubt() -> None:
    """The friction of a wheel that never comes near rest is a constant moment."""
    run = art.simulate(wheel(), 0.1, v0=[2.0])
    assert run.ok
    assert run.v[-1, 0] == pytest.approx(2.0 - 0.1 * DRY / INERTIA, abs=1e-6)
