"""What a newcomer tries first: words of other tools, masses in tables, lists of models, signals that were not asked for."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import articulus as art
from articulus.cli.commands import app
from articulus.model.library import names
from articulus.simulation.loop import components as c
from articulus.structure import beam_body


@pytest.mark.parametrize(
    ("given", "meant"), [("dt", "`step`"), ("integrator", "`method`"), ("stepp", "did you mean 'step'")]
)
def test_words_of_other_tools(given: str, meant: str) -> None:
    arm = art.load("two_link")
    for call in (art.simulate, art.rollout, art.Loop(arm).simulate):
        arguments = (0.1,) if call.__qualname__.startswith("Loop") else (arm, 0.1)
        with pytest.raises(art.InputError, match=f"no setting '{given}'; .*{meant}"):
            call(*arguments, **{given: 0.01})


def test_axes_are_numbers() -> None:
    with pytest.raises(
        art.InputError, match=r"Revolute.axis: found 'z'; expected three numbers, such as \(0, 0, 1\) for 'z'"
    ):
        art.Revolute(axis="z")
    with pytest.raises(art.InputError, match=r"such as \(-1, 0, 0\) for '-x'"):
        art.Prismatic(axis="-x")
    with pytest.raises(art.InputError, match=r"found .up.; expected three numbers$"):
        art.Revolute(axis="up")


def test_a_mass_at_the_tip_of_a_beam() -> None:
    with pytest.raises(
        art.InputError, match=r"beam_body, tip: found 2.0; .* A mass at the tip is `tip_mass`"
    ):
        beam_body(1.0, EI=10.0, mass_per_length=1.0, tip=2.0)


def test_a_negative_mass_is_refused_where_it_is_given() -> None:
    with pytest.raises(art.ModelError, match=r"body.bob.mass: found -1 kg; expected mass > 0"):
        art.Mechanism("wrong").body("bob", mass=-1.0, inertia=(1, 1, 1))


def test_a_rollout_says_how_to_ask_for_more() -> None:
    run = art.rollout(art.load("two_link"), 0.01, q0=np.zeros((2, 2)))
    with pytest.raises(
        art.InputError, match=r"no signal 'tau.joint1' in this run, .* run it with outputs=\['tau'\]"
    ):
        run["tau.joint1"]


def test_info_counts_flexible_bodies() -> None:
    """The link of Ledesma & Bayo weighs its density times its length, 0.1086 kg/m times 0.66 m."""
    said = CliRunner().invoke(app, ["info", "bayo_link"]).output
    mass = float(art.load("bayo_link").total_mass())
    assert mass == pytest.approx(0.1086 * 0.66, rel=1e-4)
    assert f"{mass:.6g} kg" in said
    assert "flexible, 12 modes" in said


def test_models_are_listed() -> None:
    said = CliRunner().invoke(app, ["models"]).output
    assert all(name in said for name in names())


def test_a_run_as_a_data_frame() -> None:
    pytest.importorskip("pandas")
    arm = art.load("two_link")
    run = art.simulate(arm, 0.01, q0=[0.1, 0.2])
    frame = run.to_pandas()
    assert frame["q.joint1"].to_numpy() == pytest.approx(run["q.joint1"], abs=0)
    assert frame.index.name == "t"
    assert frame.attrs["units"]["q.joint1"] == "rad"
    many = art.rollout(arm, 0.01, q0=np.zeros((3, 2)), sample=0.005).to_pandas()
    assert many.loc[2].shape == (3, 4)


# a reaction wheel


def satellite(**wheel) -> tuple[art.Mechanism, c.ReactionWheel]:
    m = art.Mechanism("satellite", gravity=(0, 0, 0))
    m.body("bus", 20.0, inertia=(2.0, 3.0, 4.0)).joint("base", art.Free(), "ground", "bus")
    return m, c.ReactionWheel("bus", inertia=0.05, axis=(0.6, 0.0, 0.8), **wheel)


def test_wheel_and_body_keep_their_momentum_and_energy() -> None:
    """Momentum of both in the ground frame is constant while the motor turns; energy is accounted for."""
    m, wheel = satellite(momentum=1.5, friction=0.01)
    torque = c.PrescribedCommand("bus_reaction_wheel", 0.2)
    v0 = np.array([0.3, -0.2, 0.1, 0, 0, 0])
    run = art.simulate(m, 5.0, v0=v0, components=[wheel, torque], step=1e-3)
    R = np.array([m.pose("bus", q)[:3, :3] for q in run.q])
    body = np.einsum("tij,tj->ti", R, run.v[:, :3] * np.array([2.0, 3.0, 4.0]))
    rotor = run["bus_reaction_wheel.momentum"].reshape(-1, 1) * np.einsum("tij,j->ti", R, [0.6, 0.0, 0.8])
    assert body + rotor == pytest.approx(np.broadcast_to((body + rotor)[0], body.shape), abs=1e-10)
    assert np.abs(run["energy"][:, -1]).max() < 1e-8


def test_wheel_is_the_same_as_a_body_on_a_revolute_joint() -> None:
    """The same rotor as a body of the mechanism, its inertia across the axis taken off the bus: equal motions to the accuracy of the step."""
    J, across = 0.05, 0.03
    m = art.Mechanism("with rotor", gravity=(0, 0, 0))
    m.body("bus", 20.0, inertia=(2.0 - across, 3.0 - across, 4.0)).joint("base", art.Free(), "ground", "bus")
    m.body("rotor", 1e-9, inertia=(across, across, J)).joint("spin", art.Revolute(), "bus", "rotor")
    twin = art.Mechanism("twin", gravity=(0, 0, 0))
    twin.body("bus", 20.0, inertia=(2.0, 3.0, 4.0)).joint("base", art.Free(), "ground", "bus")
    v0 = np.array([0.3, -0.2, 0.1, 0, 0, 0])
    driven = art.simulate(
        m, 3.0, v0=[*v0, 20.0], components=[c.Torque("spin"), c.PrescribedCommand("spin_torque", 0.2)]
    )
    wheel = c.ReactionWheel("bus", inertia=J, momentum=J * (20.0 + 0.1))
    run = art.simulate(twin, 3.0, v0=v0, components=[wheel, c.PrescribedCommand("bus_reaction_wheel", 0.2)])
    assert run.v[:, :3] == pytest.approx(driven.v[:, :3], abs=1e-8)
    assert run["bus_reaction_wheel.speed"].ravel() == pytest.approx(driven.v[:, 6], abs=1e-6)


def test_wheel_saturates() -> None:
    m, wheel = satellite(torque_limit=0.5, speed_limit=40.0)
    run = art.simulate(m, 8.0, components=[wheel, c.PrescribedCommand("bus_reaction_wheel", 2.0)], step=1e-3)
    assert run["bus_reaction_wheel.torque"].max() == 0.5
    assert run["bus_reaction_wheel.speed"].max() < 40.0 + 0.5 / 0.05 * 2e-3
    assert run["bus_reaction_wheel.torque"][-1] == 0.0
    with pytest.raises(art.InputError, match="momentum: found 3; expected at most 2, the largest speed"):
        satellite(speed_limit=40.0, momentum=3.0)
