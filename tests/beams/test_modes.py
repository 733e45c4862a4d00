"""Frequencies of the linearized beam against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

from articulus.errors import InputError
from articulus.simulation.exact_beams import Beam, Section, modes, static

LENGTH, EI, MASS = 2.0, 30.0, 1.5
SLENDER = Section(MASS, 1e8, EI, 4 * EI, 1e3, rotary=(2e-09, 1e-9, 1e-9))
SCALE = np.sqrt(EI / MASS) / LENGTH**2


def roots(equation, count):
    """Return the first roots of cos x cosh x = ..., found between multiples of pi/2."""
    grid = np.linspace(0.5, (count + 2) * np.pi, 4000)
    values = [equation(x) for x in grid]
    signs = np.flatnonzero(np.diff(np.sign(values)))
    return np.array([brentq(equation, grid[i], grid[i + 1]) for i in signs[:count]])


CANTILEVER = roots(lambda x: np.cos(x) + 1 / np.cosh(x), 3)
FREE = roots(lambda x: np.cos(x) - 1 / np.cosh(x), 2)


def in_plane(beam, count, **more):
    """Return the frequencies of motion along z: bending about y.

    Rotations count as the displacements that they make over the length, so that a mode which only twists, whose
    displacements are rounding, is of no bending kind.
    """
    w, shapes = modes(beam, count, **more)
    x_turn, _, z_turn, x, y, z = (np.abs(shapes).max(axis=1) * ([LENGTH] * 3 + [1] * 3)).T
    return w[z > 10 * np.maximum.reduce([x_turn, z_turn, x, y])]


@pytest.mark.parametrize(("elements", "limit"), [(8, 2e-4), (16, 2.5e-5), (32, 3e-6)])
def test_cantilever(elements, limit):
    """The first frequency errs by 0.05 (h/L)^3, higher ones by more."""
    found = in_plane(Beam.straight(LENGTH, elements, SLENDER).support(0), 8)[:3]
    errors = np.abs(found / (CANTILEVER**2 * SCALE) - 1)
    assert errors[0] < limit
    assert errors[1] < 12 * limit


def test_clamped_and_pinned_at_both_ends():
    """Where the ends turn, their inertia makes an error of 0.27 (h/L)^3."""
    for kind, wanted in (("clamped", FREE[0]), ("pinned", np.pi)):
        beam = Beam.straight(LENGTH, 24, SLENDER).support(0, kind).support(-1, kind)
        found = in_plane(beam, 6)
        np.testing.assert_allclose(found[0], wanted**2 * SCALE, rtol=3e-5)


def test_free_beam_has_six_rigid_modes():
    section = Section(MASS, 1e8, EI, 4 * EI, 1e3, rotary=(2e-05, 1e-5, 1e-5))
    w, shapes = modes(Beam.straight(LENGTH, 24, section, direction=(0, 1, 1), y=(1, 0, 0)), 8)
    np.testing.assert_allclose(w[:6], 0.0, atol=1e-3 * w[6])
    np.testing.assert_allclose(w[6], FREE[0] ** 2 * SCALE, rtol=2e-4)
    assert shapes.shape == (8, 25, 6)


def test_shear_and_rotary_inertia():
    """A pinned Timoshenko beam: w^4 - w^2 (a + b) + c = 0 for each half wave, sines in rotation and deflection."""
    kGA, rotary, k = 2000.0, 0.06, np.pi / LENGTH
    section = Section(MASS, 1e8, EI, 4 * EI, 1e3, kGA, kGA, rotary=(2 * rotary, rotary, rotary))
    K = np.array([[kGA * k**2, -kGA * k], [-kGA * k, EI * k**2 + kGA]])
    wanted = np.sqrt(np.linalg.eigvals(np.linalg.solve(np.diag([MASS, rotary]), K)).min())
    beam = Beam.straight(LENGTH, 32, section).support(0, "pinned").support(-1, "pinned")
    np.testing.assert_allclose(in_plane(beam, 6)[0], wanted, rtol=3e-5)


def test_torsion_and_stretch():
    section = Section(MASS, 50.0, 1e5, 1e5, 3.0, rotary=(0.05, 0.02, 0.03))
    w, shapes = modes(Beam.straight(LENGTH, 40, section).support(0), 4)
    for component, stiffness, inertia in ((0, 3.0, 0.05), (3, 50.0, MASS)):
        own = w[(np.abs(shapes).max(axis=1) * ([LENGTH] * 3 + [1] * 3)).argmax(axis=1) == component]
        np.testing.assert_allclose(own[0], np.pi / (2 * LENGTH) * np.sqrt(stiffness / inertia), rtol=2e-4)


def test_heavy_tip():
    """A tip mass m: 1 + cos x cosh x + x m/(MASS L) (cos x sinh x - sin x cosh x) = 0."""
    m = 4.0
    ratio = m / (MASS * LENGTH)

    def equation(x):
        return 1 / np.cosh(x) + np.cos(x) + x * ratio * (np.cos(x) * np.tanh(x) - np.sin(x))

    wanted = roots(equation, 1)[0] ** 2 * SCALE
    beam = Beam.straight(LENGTH, 12, SLENDER).support(0).body(-1, m)
    np.testing.assert_allclose(in_plane(beam, 4)[0], wanted, rtol=1e-5)


def test_hinge_turns_about_its_axis_only():
    beam = Beam.straight(LENGTH, 8, SLENDER).support(0, "hinge z")
    w, shapes = modes(beam, 2)
    assert abs(w[0]) < 1e-3 * w[1]
    np.testing.assert_allclose(shapes[0, :, [0, 1, 3, 5]], 0.0, atol=1e-6 * np.abs(shapes[0]).max())


def test_prestress_and_buckling():
    """Between pinned ends w^2 = k^2 (EI k^2 + N) / MASS; a dead load of pi^2 EI / 4 L^2 buckles a cantilever."""
    column = Beam.straight(LENGTH, 16, SLENDER).support(0)
    critical = np.pi**2 * EI / (4 * LENGTH**2)
    for part, sign in ((0.999, 1), (1.001, -1)):
        loaded = column.load(-1, force=(-part * critical, 0, 0))
        assert np.sign(modes(loaded, 1, at=static(loaded))[0][0]) == sign
    taut = Beam.straight(LENGTH, 32, SLENDER).support(0).load(-1, force=(20.0, 0, 0))
    q = static(taut)
    held = Beam(taut.poses, taut.sections).support(0, "pinned").support(-1, "pinned")
    k = np.pi / LENGTH
    wanted = k * np.sqrt((EI * k**2 + 20.0) / MASS)
    np.testing.assert_allclose(in_plane(held, 6, at=q)[0], wanted, rtol=3e-5)


def test_counts_are_checked():
    with pytest.raises(InputError, match="count = 0"):
        modes(Beam.straight(LENGTH, 2, SLENDER).support(0), 0)
    with pytest.raises(InputError, match="count = 12"):
        modes(Beam.straight(LENGTH, 2, SLENDER).support(0), 12)
