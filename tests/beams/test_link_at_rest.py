"""Loops with beam links at rest, from the undeformed state."""

from __future__ import annotations

import numpy as np

import articulus as art
from articulus.model.mechanism import PointOnPoint, Pose
from articulus.simulation.exact_beams import Beam, Section, modes, static
from articulus.simulation.loop.components import BeamForces

STRIP = Section.rectangle(0.02, 0.002, E=7e10, G=2.6e10, density=2700.0)
"""A strip of aluminium that a load of 0.3 kg bends by two thirds of its length; EA L^2 / EI = 3e6."""


def arm(elements: int, joint: art.Joint) -> tuple[art.Mechanism, art.Loop]:
    m = art.Mechanism("arm")
    rod = BeamForces.link(m, "rod", Beam.straight(1.0, elements, STRIP))
    m.joint("root", joint, "ground", "rod_0")
    m.body("load", mass=0.3, inertia=(1e-4,) * 3).joint("grip", art.Fixed(), f"rod_{elements}", "load")
    return m, art.Loop(m, components=[rod])


def test_a_strip_bends_as_the_beam_alone_does_and_swings_about_that() -> None:
    """The same elements, and iterations that end at 1e-10; poles of a model with rates of 1e6 1/s are good to 1e-4."""
    m, loop = arm(4, art.Fixed())
    found = loop.equilibrium()
    beam = Beam.straight(1.0, 4, STRIP).support(0).body(-1, 0.3, 1e-4 * np.eye(3)).weighing((0, 0, -9.81))
    bent = static(beam)
    assert bent[-1, 6] < -0.6
    np.testing.assert_allclose(m.pose("rod_4", found.q)[:3, 3], bent[-1, 4:], atol=1e-8)
    frequencies = np.sort(np.abs(found.model.poles.imag))[::2]
    np.testing.assert_allclose(frequencies[:5], modes(beam, 5, at=bent)[0], rtol=1e-4)
    assert found.stable


def test_a_rod_of_64_elements_on_a_hinge_falls_from_level_to_hang() -> None:
    """Level, nothing holds the hinge against the weight: the tangent is singular. It hangs longer by (m + rod/2) g L / EA."""
    m, loop = arm(64, art.Revolute(axis=(0, 1, 0)))
    tip = m.pose("rod_64", loop.equilibrium().q)[:3, 3]
    stretch = (0.3 + STRIP.mass / 2) * 9.81 / STRIP.EA
    np.testing.assert_allclose(tip, [0, 0, -1 - stretch], atol=1e-9)


def test_a_beam_of_little_bending_stiffness_hangs_as_a_catenary() -> None:
    """A cable on two pins; bending lifts it by some EI / (H a^2) = 1 %, with the pull H and the radius a at the lowest point; the arc at
    the start sags by 5 % less."""
    angle, length, n, EI = 2.4, 2.0, 20, 8e-3
    cable = Section(0.5, 1e5, EI, EI, EI, 1e4, 1e4, rotary=(1e-5, 1e-5, 1e-5))
    radius = length / angle
    span = 2 * radius * np.sin(angle / 2)
    m = art.Mechanism("cable", gravity=(0, -9.81, 0))
    rod = BeamForces.link(m, "rod", Beam.arc(radius, angle, n, cable))
    m.joint("left", art.Revolute(axis=(0, 0, 1)), "ground", "rod_0", at=Pose(rpy=(0.0, 0.0, -angle / 2)))
    m.frame("right", "ground", (span, 0, 0))
    m.constrain(PointOnPoint("pin", f"rod_{n}", "right"))
    q = art.Loop(m, components=[rod]).equilibrium().q
    y = np.array([m.pose(f"rod_{k}", q)[1, 3] for k in range(n + 1)])
    a = span / 2  # length = 2 a sinh(span / (2 a)) by Newton's method
    for _ in range(50):
        u = span / (2 * a)
        a -= (2 * a * np.sinh(u) - length) / (2 * np.sinh(u) - 2 * u * np.cosh(u))
    sag = a * (np.cosh(span / (2 * a)) - 1)
    assert abs(-y.min() / sag - 1) < 1.5e-2
