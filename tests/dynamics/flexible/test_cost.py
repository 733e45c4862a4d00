"""Forward dynamics of flexible arms costs O(n), and little more than that of a rigid arm with as many coordinates."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

import articulus as art
import zoo
from articulus import structure

SHAPES = ("translation", "rotation", "shortening", "turning")


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


@functools.cache
def of_arm(links: int) -> int:
    return operations(arm(links))


def test_cost_grows_linearly_with_the_links() -> None:
    """Each link more costs the same, wherever it is added (the first ones move less and are cheaper)."""
    few, some, many = (of_arm(n) for n in (3, 6, 9))  # axes repeat after three links
    assert many - some < 1.01 * (some - few)


def test_six_links_cost_at_most_three_times_the_rigid_arm() -> None:
    rigid = zoo.random_mechanism(1, 24, [art.Revolute], branching=0.0)
    assert arm(6).nv == rigid.nv == 24
    assert of_arm(6) < 3 * operations(rigid)


def test_rounding_in_the_shapes_of_a_station_costs_nothing() -> None:
    """A beam that bends in a plane; numbers of 1e-16 of the largest, of first and of second order, count as zeros."""
    beam = structure.beam_body(1.0, EI=100.0, mass_per_length=1.0, modes=3)
    tip, rng = beam.station("tip"), np.random.default_rng(3)
    kept = {x: np.where(np.abs(a := getattr(tip, x)) < 1e-9, 0.0, a) for x in SHAPES}
    noisy = {x: a + 1e-16 * rng.normal(size=a.shape) for x, a in kept.items()}
    counts = []
    for shapes in (kept, noisy):
        m = art.Mechanism("planar")
        body = dataclasses.replace(beam, stations={"tip": dataclasses.replace(tip, **shapes)})
        for i in range(2):
            m.flexible(f"link{i}", body)
            parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
            m.joint(f"joint{i}", art.Revolute(axis=(0, 0, 1)), parent, f"link{i}", node=node)
        counts.append([m.function(name).n_instructions() for name in ("forward_dynamics", "derivatives")])
    assert counts[0] == counts[1]
