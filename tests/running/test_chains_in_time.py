"""Several chains that hold one body, in time: eliminated chain by chain, against the default form and Lilly & Orin's own."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import articulus as art
from articulus.dynamics.loops import Grasp, multiple_chains
from articulus.dynamics.loops.contact import HARD_POINT
from articulus.errors import NumericalError, UnsupportedOperation
from closed_zoo import four_bar

BASES = ((-0.9, 0.0, 0.0), (0.9, 0.1, 0.0), (0.0, -0.9, 0.1))
GRIPS = ((-0.2, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, -0.2, 0.0))
AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0))


def arm(m: art.Mechanism, k: int) -> art.Mechanism:
    """Add a finger of four links to a mechanism."""
    for i, axis in enumerate(AXES):
        link, parent = f"link{k}{i}", f"link{k}{i - 1}" if i else "ground"
        m.body(link, 0.8, (0.1, 0.01, -0.02), (0.004, 0.01, 0.01))
        m.joint(f"j{k}{i}", art.Revolute(axis), parent, link, at=(0.25, 0, 0) if i else BASES[k], damping=0.1)
    return m.frame(f"tip{k}", f"link{k}{len(AXES) - 1}", at=(0.25, 0, 0))


@functools.cache
def hand() -> tuple[art.Mechanism, np.ndarray, np.ndarray]:
    """Return three fingers that hold a box by hard points, with a start that closes them."""
    m = art.Mechanism("hand").body("box", art.Parameter("load", 3.0), (0.02, 0, 0), (0.03, 0.04, 0.05))
    m.joint("flight", art.Free(), "ground", "box")
    for k, grip in enumerate(GRIPS):
        arm(m, k).frame(f"grip{k}", "box", at=grip)
        m.constrain(art.PointOnPoint(f"hold{k}", f"grip{k}", f"tip{k}"))
    q = m.neutral.copy()
    q[4:7] = 0.1, 0.0, 0.4
    bent = np.array([[0.3, -0.9, 0.2, 0.8], [2.9, -0.9, 0.2, 0.8], [1.5, -0.9, 0.2, 0.8]])
    q[7:] = bent.ravel()
    found = art.assemble(m, q, np.random.default_rng(0).normal(size=m.nv))
    return m, found.q, found.v


def test_chains_move_what_they_hold_as_the_default_form_does() -> None:
    """Tolerance: RK4's error in directions off the constraints, at 1 ms."""
    m, q, v = hand()
    expected, found = (
        art.simulate(m, 0.3, q, v, loops=loops, sample=0.05) for loops in ("regularized", "multiple_chains")
    )
    assert np.abs(found.q - expected.q).max() < 1e-9
    assert np.abs(found["vdot"] - expected["vdot"]).max() < 1e-6
    assert np.abs(found["multipliers"] - expected["multipliers"]).max() < 1e-6
    assert found["constraint.position"].max() < 1e-13
    assert np.abs(found["energy.balance"]).max() < 1e-7


def test_accelerations_are_those_of_chains_as_mechanisms_of_their_own() -> None:
    """Lilly & Orin's algorithm on four separate mechanisms; rounding, times the condition of the chains (1e4)."""
    m, q, v = hand()
    run = art.simulate(m, 1e-3, q, v, loops="multiple_chains")
    box = art.Mechanism("box").body("box", 3.0, (0.02, 0, 0), (0.03, 0.04, 0.05))
    box.joint("flight", art.Free(), "ground", "box")
    grasps = [
        Grasp(arm(art.Mechanism(f"finger {k}"), k).description, f"tip{k}", HARD_POINT) for k in range(3)
    ]
    inputs = [q[:7], v[:6], np.zeros(6)]
    for k in range(3):
        inputs += [q[7 + 4 * k : 11 + 4 * k], v[6 + 4 * k : 10 + 4 * k], np.zeros(4), np.zeros(3)]
    f = multiple_chains(box.description, "box", grasps)
    found = dict(zip(f.name_out(), f.call(inputs)))
    vdot = np.concatenate([np.array(found[f"vdot_{k}"]).ravel() for k in range(4)])
    np.testing.assert_allclose(run["vdot"][0], vdot, rtol=0, atol=1e-10 * np.abs(vdot).max())


def test_a_batch_over_loads_is_its_runs() -> None:
    m, q, v = hand()
    loads = np.array([1.0, 4.0])
    batch = art.rollout(m, 0.05, q, v, loops="multiple_chains", params={"load": loads})
    for k, load in enumerate(loads):
        alone = art.simulate(m, 0.05, q, v, loops="multiple_chains", params={"load": load})
        assert np.abs(batch.q[k, -1] - alone.q[-1]).max() < 1e-12


def test_mechanisms_without_a_member_and_rows_that_chains_cannot_fulfil_are_refused() -> None:
    with pytest.raises(UnsupportedOperation, match="chains that hold a body; found none on a free joint"):
        art.simulate(four_bar(), 0.1, loops="multiple_chains")
    m, q, v = hand()
    twice = art.Mechanism.from_description(m.description)
    twice.constrain(art.PointOnPoint("again", "grip0", "tip0"))
    with pytest.raises(NumericalError, match=r"rank 9 of 12 rows: loops: .*hold0\.x.*again\.z\. Use loops"):
        art.simulate(twice, 0.1, q, v, loops="multiple_chains")
