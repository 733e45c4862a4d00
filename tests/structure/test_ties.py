"""Ties: rigid motion passes through, links equal levers, supports hold along their directions, messages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from articulus.errors import InputError
from articulus.structure import (
    EulerBernoulli,
    Hold,
    Lumped,
    RigidLink,
    Section,
    Statics,
    Structure,
    craig_bampton,
    modes_of,
    normal_modes,
)
from articulus.structure.solution import rigid_motions
from articulus.structure.ties import Average

SECTION = Section(2.0, 3e3, 5.0, 7.0, 4.0)
NODES = np.random.default_rng(0).normal(size=(6, 3))


def test_rigid_motion_passes_through_ties_that_follow_ties():
    ties = [RigidLink(1, [2]), Average(4, {1: 1.0, 2: 2.0, 3: 1.5}, of="all"), RigidLink(4, [5])]
    elements = [EulerBernoulli(0, 1, SECTION), EulerBernoulli(2, 3, SECTION), Lumped(5, 1.5)]
    s = Structure.assemble(NODES, elements, ties=ties)
    assert s.count == 18
    assert rigid_motions(s).shape[1] == 6
    R = s.rigid()
    assert np.abs(s.K @ R).max() < 1e-12 * abs(s.K).max()
    for node in range(6):
        moved = s.rows(node) @ R
        np.testing.assert_allclose(moved[3:, :3], np.eye(3), atol=1e-12)
        np.testing.assert_allclose(moved[:3, :3], np.cross(np.eye(3), NODES[node]).T, atol=1e-12)
    np.testing.assert_allclose((R.T @ s.M @ R)[3:, 3:], s.samples.mass.sum() * np.eye(3), atol=1e-12)


def test_a_body_on_a_link_is_a_body_with_an_offset():
    """Mass, stiffness and all integrals of the flexible body but the second-order part of the lever."""
    linked = Structure.assemble(
        NODES[:3], [EulerBernoulli(0, 1, SECTION), Lumped(2, 1.5)], fixed={0: "all"}, ties=[RigidLink(1, [2])]
    )
    offset = Structure.assemble(
        NODES[:2],
        [EulerBernoulli(0, 1, SECTION), Lumped(1, 1.5, offset=NODES[2] - NODES[1])],
        fixed={0: "all"},
    )
    np.testing.assert_allclose(linked.M.toarray(), offset.M.toarray(), atol=1e-12)
    shapes = normal_modes(offset, 3).shapes
    a, b = (modes_of(s, shapes, stations={"tip": 1}) for s in (linked, offset))
    for name in ("rr0", "rr1", "rr2", "rf0", "rf1", "ff", "stiffness"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9)
    end = modes_of(linked, shapes, stations={"end": 2}).stations["end"]
    tip = a.stations["tip"]
    lever = NODES[2] - NODES[1]
    np.testing.assert_allclose(
        end.translation, tip.translation + np.cross(tip.rotation.T, lever).T, atol=1e-12
    )


def test_hinge_and_support_along_any_axes():
    """A cantilever whose tip may only slide along a direction: its compliance there is 1 / (stiffness) of the others held."""
    axes = Rotation.random(rng=np.random.default_rng(3)).as_matrix()
    free = Structure.assemble(NODES[:2], [EulerBernoulli(0, 1, SECTION)], fixed={0: "all"})
    held = Structure.assemble(
        NODES[:2], [EulerBernoulli(0, 1, SECTION)], fixed={0: "all"}, ties=[Hold(1, ("x", "y"), axes)]
    )
    K = free.K.toarray()
    T = np.zeros((6, 4))
    T[:3, 0], T[3:, 1:] = axes[2], np.eye(3)
    expected = axes[2] @ (T @ np.linalg.solve(T.T @ K @ T, T.T))[:3, :3] @ axes[2]
    rows = axes[2] @ held.rows(1)[:3]
    np.testing.assert_allclose(rows @ Statics(held).solve(rows), expected, rtol=1e-10)
    np.testing.assert_allclose(axes[:2] @ held.rows(1)[:3], 0, atol=1e-12)


def test_messages():
    beams = [EulerBernoulli(0, 1, SECTION), EulerBernoulli(2, 3, SECTION)]
    with pytest.raises(InputError, match="'x' follows two ties"):
        Structure.assemble(NODES, beams, ties=[RigidLink(0, [2]), RigidLink(1, [2])])
    with pytest.raises(InputError, match="in a circle"):
        Structure.assemble(NODES, beams, ties=[RigidLink(0, [2]), RigidLink(2, [0])])
    line = np.outer(np.arange(4.0), [1, 0, 0])
    with pytest.raises(InputError, match="not on one line"):
        Structure.assemble(line, beams, ties=[Average(3, {0: 1.0, 1: 1.0, 2: 1.0})])
    s = Structure.assemble(NODES, beams, ties=[RigidLink(1, [2])])
    with pytest.raises(InputError, match="node 'node2': 'x' follows other nodes by a tie"):
        s.fix({2: "all"})
    with pytest.raises(InputError, match="node 'node2'"):
        craig_bampton(s.fix({0: "all"}), {2: "x"}, 1)
    with pytest.raises(InputError, match="above zero"):
        Structure.assemble(NODES, beams, ties=[Average(5, {0: -1.0})])
    with pytest.raises(InputError, match="square to each other"):
        Structure.assemble(NODES, beams, ties=[Hold(1, "x", np.ones((3, 3)))])
