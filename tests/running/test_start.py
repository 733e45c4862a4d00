"""Starts that do not fit the constraints: what moves, what stays, and what is said about it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, MovedStart, NumericalError
from articulus.structure import beam_body
from closed_zoo import four_bar

START = [-1.0, 0.9, -2.5]


def test_a_start_that_is_moved_far_is_told() -> None:
    with pytest.warns(MovedStart, match=r"q0\[0\] \(crank_pin\) from -1 to .*`fixed`"):
        run = art.simulate(four_bar(), 0.01, q0=START, step=0.01)
    moved = np.abs(run.q[0] - START).max()
    assert moved > 0.5
    assert run.meta["start"]["moved"]["q"] == moved
    assert f"q by up to {moved:.3g}" in dict(run.figures())["start moved"]


def test_a_start_that_is_moved_in_a_batch_is_told_with_the_number_of_its_run() -> None:
    """The number is that in the whole campaign, of which a batch is a part."""
    with pytest.warns(MovedStart, match=r"q0\[0\] \(crank_pin\) from -1 to .* in run 41;"):
        art.Loop(four_bar()).rollout(0.01, [[0.1, -0.1, 0.1], START], step=0.01, first_run=40)


def test_a_start_that_fits_or_nearly_fits_is_not_warned_of() -> None:
    """Five thousandths of a radian are below the limit of a hundredth, but stand in the summary."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = art.simulate(four_bar(), 0.01, q0=[0.1, -0.1, 0.105], step=0.01)
        fits = art.simulate(four_bar(), 0.01, q0=[0.1, -0.1, 0.1], step=0.01)
    assert "start moved" in dict(near.figures())
    assert "start moved" not in dict(fits.figures())


def test_velocities_that_are_moved_are_told() -> None:
    with pytest.warns(MovedStart, match=r"v0 is off the constraints"):
        art.simulate(four_bar(), 0.01, q0=[0.1, -0.1, 0.1], v0=[1.0, 0.0, 0.0], step=0.01)


def test_fixed_joints_keep_their_state() -> None:
    """The crank of a square has 1 rad/s: coupler and rocker follow with -1 and 1 rad/s."""
    with pytest.warns(MovedStart):
        run = art.simulate(
            four_bar(), 0.01, q0=[0.3, -0.25, 0.33], v0=[1.0, 0.0, 0.0], step=0.01, fixed=["crank_pin"]
        )
    assert run.q[0] == pytest.approx([0.3, -0.3, 0.3], abs=1e-9)
    assert run.v[0] == pytest.approx([1.0, -1.0, 1.0], abs=1e-9)
    assert run.q[0, 0] == 0.3
    with pytest.warns(MovedStart, match="in run 1"):
        both = art.rollout(
            four_bar(), 0.01, q0=[[0.3, -0.3, 0.3], [0.2, -0.3, 0.3]], step=0.01, fixed="crank_pin"
        )
    assert both.q[:, 0, 0] == pytest.approx([0.3, 0.2], abs=0)


def test_fixed_names_what_is_not_there() -> None:
    with pytest.raises(InputError, match=r"fixed: no joint or flexible body 'krank_pin'.*crank_pin"):
        art.simulate(four_bar(), 0.01, step=0.01, fixed=["krank_pin"])


def test_redundant_rows_are_reported() -> None:
    """A hinge closes a plane linkage with five rows; two of them are enough."""
    run = art.simulate(four_bar(), 0.01, q0=[0.1, -0.1, 0.1], step=0.01)
    assert len(run.meta["start"]["redundant"]) == 3
    assert dict(run.figures())["redundant rows"].startswith("3 of 5: ")
    none = art.simulate(art.load("n_four_bar", n=1), 0.01, step=0.01)
    assert len(none.meta["start"]["redundant"]) == 1  # out of the plane


def flexible_four_bar() -> art.Mechanism:
    """Return a four-bar linkage whose coupler is a beam with two modes, closed by a pin in the plane."""
    m = art.Mechanism("flexible four-bar")
    axis = art.Revolute((0, -1, 0))
    m.body("crank", 1.0, (0, 0, 0.5), (0.1, 0.1, 0.1))
    m.joint("crank_pin", axis, "ground", "crank")
    m.flexible("coupler", beam_body(1.0, EI=200.0, mass_per_length=1.0, planes="z"))
    m.joint("coupler_pin", axis, "crank", "coupler", at=(0, 0, 1))
    m.body("rocker", 1.0, (0, 0, 0.5), (0.1, 0.1, 0.1))
    m.joint("rocker_pin", axis, "ground", "rocker", at=(1, 0, 0))
    m.frame("end", "coupler", node="tip").frame("top", "rocker", at=(0, 0, 1))
    m.constrain(art.PointOnPoint("pin", "end", "top"))
    return m


def test_closing_does_not_bend_flexible_bodies() -> None:
    """A start 0.05 rad off closes by its hinges; modes stay at zero, and so does the energy of strain."""
    m = flexible_four_bar()
    q0 = np.zeros(m.nq)
    rocker = m.description.q_slices["rocker_pin"]
    modes = m.description.mode_slices("coupler")[1]
    q0[rocker] = 0.05
    with pytest.warns(MovedStart):
        run = art.simulate(m, 1e-4, q0=q0, step=1e-4)
    assert (run.q[0, modes] == 0.0).all()
    assert run["constraint.position"][0] < 1e-9


def test_flexible_bodies_bend_where_nothing_else_can_close_the_loops() -> None:
    """With all hinges fixed only the beam is left to give way; a body that is fixed does not."""
    m = flexible_four_bar()
    q0 = np.zeros(m.nq)
    q0[m.description.q_slices["rocker_pin"]] = 0.05
    modes = m.description.mode_slices("coupler")[1]
    found = art.assemble(m, q0, fixed=m.joint_names)
    assert np.abs(found.q[modes]).max() > 0.01
    with pytest.raises(NumericalError, match="cannot be closed"):
        art.assemble(m, q0, fixed=[*m.joint_names, "coupler"])
