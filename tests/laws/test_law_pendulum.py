"""A hanging rod swings with sqrt(3 g / (2 l)), whichever joint holds it; and what is known of its relatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
from articulus.dynamics.loops.forms import FORMS
from articulus.errors import UnsupportedOperation

LENGTH, MASS, G = 0.8, 1.7, 9.81
SLENDER = np.sqrt(1.5 * G / LENGTH)
ACROSS = MASS * LENGTH**2 / 12
UPRIGHT = art.Pose(rpy=(np.pi / 2, 0, 0))
"""Turns the joint's z axis into the horizontal -y of the ground."""
Y = (0.0, 1.0, 0.0)


def rod(joint: art.mechanism.Joint, at=None, tilt=None, **drive) -> art.Mechanism:
    """Return a rod that hangs along -z of the ground at q = neutral."""
    R = art.Pose.of(at).rotation()
    m = art.Mechanism("rod", gravity=(0, 0, -G))
    down = R.T @ (0, 0, -1)
    child = art.Pose.of(tilt).matrix()  # the body frame may be turned and shifted against the joint frame
    com, down = child[:3, 3] + child[:3, :3] @ down * LENGTH / 2, child[:3, :3] @ down
    inertia = ACROSS * (np.eye(3) - 0.999 * np.outer(down, down))
    m.body("rod", MASS, com, inertia)
    return m.joint("hold", joint, "ground", "rod", at=at, child_at=tilt, **drive)


def frequencies(mech: art.Mechanism) -> np.ndarray:
    """Return the frequencies of the linear model at rest, ascending, one for each conjugate pair; zeros included."""
    poles = np.linalg.eigvals(mech.linearize().A)
    # sqrt of the rounding 1e-16 * omega^2 in a double zero pole is what a free direction may show as
    assert np.abs(poles.real).max() < 1e-5
    return np.sort(np.abs(poles.imag))[::2]


SKEW = art.Pose((0.3, -0.2, 0.5), rpy=(0.4, -1.1, 2.0))


@pytest.mark.parametrize("tilt", [None, SKEW], ids=["plain", "turned body frame"])
@pytest.mark.parametrize(
    ("joint", "at", "expected"),
    [
        (art.Revolute(Y), None, [SLENDER]),
        (art.Revolute((0, 0, 1)), UPRIGHT, [SLENDER]),
        (art.Helical(Y, 0.0), None, [SLENDER]),
        (art.Cylindrical(Y), None, [0, SLENDER]),
        (art.Universal((1, 0, 0), Y), None, [SLENDER, SLENDER]),
        (art.Universal(Y, (1, 0, 0)), None, [SLENDER, SLENDER]),
        (art.Spherical(), None, [0, SLENDER, SLENDER]),
        (art.Spherical(), SKEW, [0, SLENDER, SLENDER]),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, art.mechanism.Joint) else "",
)
def test_rod_swings_at_its_frequency(joint, at, expected, tilt):
    # 1e-5: the zero pair of a free direction is a double root; about the rod itself, where the inertia is 1000 times
    # smaller, it is known to sqrt(1e-16 * 20 * 1000)
    assert_allclose(frequencies(rod(joint, at, tilt)), expected, rtol=1e-10, atol=1e-5)


def test_screw_carries_its_mass_along_the_axis():
    """M = m l^2 / 3 + m p^2 at a horizontal axis, stiffness m g l / 2."""
    pitch = 0.13
    expected = np.sqrt(MASS * G * LENGTH / 2 / (MASS * LENGTH**2 / 3 + MASS * pitch**2))
    assert_allclose(frequencies(rod(art.Helical(Y, pitch))), [expected], rtol=1e-12)


def test_planar_rod_held_by_a_constant_force_turns_about_its_center():
    """The holding force m g acts at the upper end in fixed direction: omega^2 = (m g l / 2) / (m l^2 / 12) = 6 g / l."""
    assert_allclose(
        frequencies(rod(art.Planar(), UPRIGHT)), [0, 0, np.sqrt(6 * G / LENGTH)], rtol=1e-7, atol=2e-3
    )


def test_planar_rod_on_stiff_springs_swings_like_a_hinge():
    stiff = rod(art.Planar(), UPRIGHT, stiffness=(1e9, 1e9, 0))
    # springs of 1e9 N/m give way by m g / k = 2e-8 m: relative change of the frequency about 1e-8
    assert_allclose(frequencies(stiff)[0], SLENDER, rtol=1e-6)


def test_free_rod_held_by_a_force_that_turns_with_it_does_not_swing():
    """tau of a free joint is in the child's axes: along the rod it has no moment about the center of mass."""
    poles = np.linalg.eigvals(rod(art.Free()).linearize().A)
    # a chain of four zero poles is known to the fourth root of 1e-16 * 20
    assert np.abs(poles).max() < 2e-3


def test_armature_damping_and_stiffness_enter_the_pole():
    """(m l^2/3 + a) s^2 + d s + (m g l/2 + k) = 0."""
    a, d, k = 0.3, 0.7, 5.0
    A = rod(art.Revolute(Y), armature=a, damping=d, stiffness=k).linearize().A
    expected = np.roots([MASS * LENGTH**2 / 3 + a, d, MASS * G * LENGTH / 2 + k])
    assert_allclose(np.sort_complex(np.linalg.eigvals(A)), np.sort_complex(expected), rtol=1e-12)


@pytest.mark.parametrize(
    "form", [f for f in FORMS if f.name != "multiple_chains"], ids=lambda form: form.name
)
def test_rod_swings_at_its_frequency_in_every_form_of_loops(form):
    """The hinge as a closed loop of a free rod; chains alone cannot fulfil that, as `multiple_chains` wants."""
    m = art.Mechanism("rod", gravity=(0, 0, -G))
    m.body("rod", MASS, (0, 0, -LENGTH / 2), (ACROSS, ACROSS, 1e-3 * ACROSS))
    m.joint("float", art.Free(), "ground", "rod")
    m.loop("hinge", art.Revolute(Y), "ground", "rod")
    loop = art.Loop(m, loops=form.name)
    if form.own:
        with pytest.raises(UnsupportedOperation, match=r"further states"):
            loop.linearize()
        return
    # the penalty form gives way by its compliance, 1e-6 of the masses
    assert_allclose(
        np.abs(loop.linearize().poles), [SLENDER, SLENDER], rtol=1e-6 if form.name == "penalty" else 1e-9
    )


def test_rod_upside_down_falls():
    A = rod(art.Revolute(Y)).linearize(q=[np.pi]).A
    assert_allclose(np.sort(np.linalg.eigvals(A).real), [-SLENDER, SLENDER], rtol=1e-12)


def test_names_of_the_linear_model():
    model = rod(art.Spherical()).linearize()
    axes = ("hold.wx", "hold.wy", "hold.wz")
    assert model.states == (*(f"q.{a}" for a in axes), *(f"v.{a}" for a in axes))
    assert model.inputs == tuple(f"tau.{a}" for a in axes)
    assert model.outputs == model.states
    assert model.output_units == ("rad",) * 3 + ("rad/s",) * 3
    assert model.input_units == ("N m",) * 3
