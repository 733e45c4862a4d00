"""Any mechanism gets a servo: chosen joints, limits, tracking, closed loops."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.browser.drive import machine_for, servo_machine
from articulus.browser.drive.plant import Plant
from articulus.errors import InputError


@pytest.mark.parametrize("model", ["two_link", "puma600", "rrc7", "human_torso"])
def test_every_axis_moves_its_own_joint(model) -> None:
    machine = machine_for(model)
    plant = Plant(machine)
    d = machine.mechanism.description
    for i, axis in enumerate(machine.axes):
        plant.reset()
        plant.put(np.eye(len(machine.axes))[i], 0, False)
        plant.advance(600)
        assert not plant.failed
        v = plant.v(plant.state())
        own = d.v_slices[axis.name].start
        full = np.broadcast_to(
            next(c for c in machine.components if c.name == "servo").full, len(machine.axes)
        )
        assert v[own] == pytest.approx(full[i], rel=0.05)
        assert np.abs(np.delete(v, own)).max(initial=0.0) < 0.1 * full[i]


def test_released_sticks_hold_against_gravity() -> None:
    plant = Plant(machine_for("puma600"))
    before = plant.q(plant.state()).copy()
    plant.advance(3000)
    assert plant.q(plant.state()) == pytest.approx(before, abs=1e-3)


def test_of_a_closed_mechanism_only_its_dofs_are_driven() -> None:
    machine = machine_for("n_four_bar")
    mechanism = machine.mechanism
    rank = np.linalg.matrix_rank(mechanism.constraint_jacobian(machine.q0))
    assert len(machine.axes) == mechanism.nv - rank


def test_wanted_positions_stop_at_the_limits() -> None:
    m = art.Mechanism("slide")
    m.body("cart", mass=1.0, inertia=(1, 1, 1))
    m.joint(
        "rail",
        art.Prismatic(axis=(1, 0, 0)),
        parent="ground",
        child="cart",
        limits=art.Limits(lower=(-0.1,), upper=(0.1,)),
    )
    plant = Plant(servo_machine(m))
    plant.put([1.0], 0, False)
    plant.advance(5000)
    assert plant.q(plant.state())[0] == pytest.approx(0.1, abs=0.01)


def test_a_mechanism_without_simple_joints_is_refused() -> None:
    m = art.Mechanism("stone")
    m.body("stone", mass=1.0, inertia=(1, 1, 1))
    m.joint("free", art.Free(), parent="ground", child="stone")
    with pytest.raises(InputError, match="'stone' has no joint of one degree of freedom"):
        servo_machine(m)


def test_a_machine_too_stiff_for_the_steps_is_refused() -> None:
    with pytest.raises(InputError, match="'king_arm' diverges at rest"):
        Plant(machine_for("king_arm"))
