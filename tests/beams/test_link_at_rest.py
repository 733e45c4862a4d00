"""Loops with beam links at rest, from the undeformed state."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import articulus as art
from articulus.model.mechanism import PointOnPoint, Pose
from articulus.simulation.exact_beams import Beam, Section, modes, static
from articulus.simulation.loop.components import BeamForces, Cable

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


def elastic_catenary(x: float, z: float, length: float, EA: float, w: float) -> tuple[float, float]:
    """Return the horizontal and the vertical force at the left end of a hanging cable whose right end is at (x, z) [N]; Irvine 1981."""

    def missed(force: np.ndarray) -> np.ndarray:
        H, V = force
        turn = np.arcsinh(V / H) - np.arcsinh((V - w * length) / H)
        rise = np.hypot(H, V) - np.hypot(H, V - w * length)
        return np.array(
            [
                H * length / EA + H / w * turn - x,
                -(V * length - w * length**2 / 2) / EA - rise / w - z,
            ]
        )

    H, V = scipy.optimize.fsolve(missed, [w * length / 4, w * length / 2], xtol=1e-13)
    return float(H), float(V)


def hanging_place(s: float, length: float, EA: float, w: float, H: float, V: float) -> list[float]:
    """Return where the point at s of the cable is [m]."""
    x = H * s / EA + H / w * (np.arcsinh(V / H) - np.arcsinh((V - w * s) / H))
    z = -(V * s - w * s**2 / 2) / EA - (np.hypot(H, V) - np.hypot(H, V - w * s)) / w
    return [float(x), float(z)]


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.MovedStart"
)  # the straight beam is longer than the span
def test_a_beam_between_two_pins_hangs_and_does_not_stand_on_its_head() -> None:
    """Balance is found first as an arch, which falls; the catenary without stiffness in bending, of which 10 elements miss a hundredth of the length."""
    m = art.Mechanism("beam", gravity=(0, 0, -9.81)).frame("there", "ground", (90, 0, -20))
    section = Section(2.04, 2e5, 1.8e4, 1.8e4, 1.8e4, 1e7, 1e7, rotary=(2e-3, 1e-3, 1e-3))
    rod = BeamForces.link(m, "rod", Beam.straight(100.0, 10, section))
    m.joint("left", art.Revolute((0, 1, 0)), "ground", "rod_0")
    m.frame("end", "rod_10").constrain(PointOnPoint("pin", "end", "there"))
    found = art.Loop(m, components=[rod]).equilibrium(m.q(left=0.9))
    forces = elastic_catenary(90.0, -20.0, 100.0, 2e5, 2.04 * 9.81)
    expected = hanging_place(50.0, 100.0, 2e5, 2.04 * 9.81, *forces)
    np.testing.assert_allclose(m.pose("rod_5", found.q)[[0, 2], 3], expected, atol=1.0)


def test_forty_masses_on_cables_hang_as_a_catenary() -> None:
    """From a parabola of another sag; a chain of 40 straight parts is off by some 1 / 40^2 of the length."""
    n, length, EA, w = 40, 100.0, 2e5, 20.0
    m = art.Mechanism("cable").frame("p0", "ground").frame(f"p{n}", "ground", (90, 0, -20))
    q, parts = {}, []
    for i in range(1, n):
        share = i / n
        m.body(f"s{i}", massless="slide").body(f"p{i}", w * length / n / 9.81, inertia=(1e-30,) * 3)
        m.joint(f"x{i}", art.Prismatic((1, 0, 0)), "ground", f"s{i}", damping=5.0)
        m.joint(f"z{i}", art.Prismatic((0, 0, 1)), f"s{i}", f"p{i}", damping=5.0)
        q[f"x{i}"], q[f"z{i}"] = 90 * share, -20 * share - 4 * 19.0 * share * (1 - share)
    for i in range(n):
        parts.append(Cable((f"p{i}", f"p{i + 1}"), stiffness=EA, length=length / n, name=f"c{i}"))
    found = art.Loop(m, components=parts).equilibrium(q)
    forces = elastic_catenary(90.0, -20.0, length, EA, w)
    for i in (10, 20, 30):
        expected = hanging_place(length * i / n, length, EA, w, *forces)
        np.testing.assert_allclose(m.pose(f"p{i}", found.q)[[0, 2], 3], expected, atol=length / n**2)
