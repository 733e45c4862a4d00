"""Mechanisms of the matrix: the same four hinges and names as a tree, with a closed loop, with a flexible boom, and with a
joint that follows another."""

from __future__ import annotations

import functools

import numpy as np

import articulus as art
from articulus import structure
from articulus.model.mechanism import Distance, SlidingContact
from articulus.simulation.exact_beams import Beam, Section
from articulus.simulation.loop.components import BeamForces

POSITION = {"swing": 0.1, "boom": -0.4, "stick": 0.9, "bucket": 0.3}
HEIGHT = -0.136
"""Of the base above the ground, so that the wrist touches it [m]."""
SPEED = {"swing": 0.2, "boom": -0.1, "stick": 0.3, "bucket": 0.2}
MASS = art.Parameter("mass", 1.2)
"""Of the bucket: every run has it among its parameters."""

ROD = Beam.straight(0.4, 2, Section(1.0, 200.0, 0.5, 0.4, 0.3, 100.0, 100.0, rotary=(2e-3, 1e-3, 1e-3)))
"""A rod of rubber on the bucket."""


def _arm(name: str, boom: bool = False, weightless: bool = False) -> art.Mechanism:
    """Return the arm; `boom`: with a flexible one."""
    m = art.Mechanism(name, gravity=(0, 0, 0)) if weightless else art.Mechanism(name)
    m.body("base", mass=4.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, 0.1))
    if boom:
        m.flexible("boom", structure.beam_body(1.0, EI=300.0, mass_per_length=2.0, modes=1, planes="z"))
    else:
        m.body("boom", mass=2.0, inertia=(0.01, 0.2, 0.2), com=(0.5, 0, 0))
    m.body("stick", mass=1.5, inertia=(0.01, 0.1, 0.1), com=(0.4, 0, 0.02))
    m.body("bucket", mass=MASS, inertia=(0.02, 0.02, 0.02), com=(0.2, 0.05, 0))
    y, tip = (0, 1, 0), {"node": "tip"} if boom else {"at": (1.0, 0, 0)}
    m.joint(
        "swing", art.Revolute(axis=(0, 0, 1)), parent="ground", child="base", at=(0, 0, HEIGHT), damping=0.3
    )
    m.joint("boom", art.Revolute(axis=y), parent="base", child="boom", at=(0.1, 0, 0.2), damping=0.2)
    m.joint(
        "stick", art.Revolute(axis=y), parent="boom", child="stick", coulomb=0.1, coulomb_speed=0.1, **tip
    )
    m.joint("bucket", art.Revolute(axis=y), parent="stick", child="bucket", at=(0.8, 0, 0), stiffness=3.0)
    m.frame("wrist", "bucket", (0.1, 0, 0))
    if boom:
        m.frame("near", "boom", node="root").frame("far", "boom", node="middle")
    return m


@functools.cache
def host(kind: str, weightless: bool = False) -> art.Mechanism:
    """Return the mechanism of a kind; `weightless`: without gravity."""
    if kind == "tree":
        return _arm("tree", weightless=weightless)
    if kind == "coupled":
        m = _arm("coupled", weightless=weightless)
        m.body("claw", mass=0.4, inertia=(0.01, 0.01, 0.01), com=(0.1, 0.02, 0))
        m.joint("claw", art.Revolute(axis=(0, 1, 0)), "bucket", "claw", at=(0.3, 0, 0), damping=0.05)
        return m.couple("claw", to="bucket", polynomial=(0.2, 0.8, 0.3))
    if kind == "beam":
        m = _arm("beam", weightless=weightless)
        BeamForces.link(m, "rod", ROD)
        return m.joint("rod", art.Fixed(), "bucket", "rod_0", at=(0.3, 0, 0))
    if kind == "face":
        m = _arm("face", weightless=weightless)
        height = m.pose("wrist", [POSITION[name] for name in m.joint_names])[2, 3]
        m.frame("floor", "ground", (0, 0, float(height) - 0.02))
        return m.constrain(SlidingContact("on_floor", "floor", "wrist", 0.02))
    if kind == "flexible":
        return _arm("flexible", boom=True, weightless=weightless)
    m = _arm("loop", weightless=weightless).frame("anchor", "ground", (1.2, 0.4, -0.6))
    q = [POSITION[name] for name in m.joint_names]
    rod = np.linalg.norm(m.pose("wrist", q)[:3, 3] - m.pose("anchor", q)[:3, 3])
    return m.constrain(Distance("rod", "wrist", "anchor", float(rod)))


HOSTS = ("tree", "loop", "flexible")
"""Those on which every component is; "coupled", with a fifth hinge that follows the last, has a few, and "beam" the rod of its own, on "face" the
wrist slides on a floor."""


@functools.cache
def start(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity on the constraints."""
    m = host(kind)
    q, v = m.neutral.copy(), np.zeros(m.nv)
    d = m.description
    for name in POSITION:
        q[d.q_slices[name]], v[d.v_slices[name]] = POSITION[name], SPEED[name]
    if d.constraints:
        closed = art.assemble(m, q, v)
        q, v = closed.q, closed.v
    return q, v
