"""Forward dynamics of flexible arms costs O(n), and little more than that of a rigid arm with as many coordinates."""

from __future__ import annotations

import numpy as np

import articulus as art
import zoo
from articulus import structure


def arm(links: int) -> art.Mechanism:
    """Return a spatial arm of flexible links, three modes each."""
    link = structure.beam_body(
        1.0,
        EI=(100.0, 150.0),
        mass_per_length=1.0,
        modes=1,
        planes="both",
        GJ=40.0,
        rotary_inertia=1e-3,
        torsion=1,
    )
    m = art.Mechanism("arm")
    for i in range(links):
        m.flexible(f"link{i}", link)
        parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
        m.joint(f"joint{i}", art.Revolute(axis=np.eye(3)[i % 3]), parent=parent, child=f"link{i}", node=node)
    return m


def operations(m: art.Mechanism) -> int:
    return m.function("forward_dynamics").n_instructions()


def test_cost_grows_linearly_with_the_links() -> None:
    """Each link more costs the same, wherever it is added (the first ones move less and are cheaper)."""
    few, some, many = (operations(arm(n)) for n in (4, 8, 16))
    assert (many - some) / 8 < 1.01 * (some - few) / 4


def test_six_links_cost_at_most_three_times_the_rigid_arm() -> None:
    flexible = arm(6)
    rigid = zoo.random_mechanism(1, flexible.nv, [art.Revolute], branching=0.0)
    assert flexible.nv == rigid.nv == 24
    assert operations(flexible) < 3 * operations(rigid)
