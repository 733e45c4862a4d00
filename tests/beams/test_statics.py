"""Beams at rest: exact solutions, and an independent boundary-value solution."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import brentq

from articulus.errors import InputError, NumericalError
from articulus.simulation.exact_beams import Beam, Section, static

E = 1e7
SQUARE = Section(1.0, E, E / 12, E / 12, E / 12, E / 2, E / 2, rotary=(0.2, 0.1, 0.1))
"""Bathe & Bolourchi 1979: a square of side 1, E = 1e7, no lateral contraction; J = 1/6 and full shear area."""
SOFT = Section(1.0, 100.0, 2.0, 3.0, 1.5, 50.0, 60.0, rotary=(0.2, 0.1, 0.1))


@pytest.mark.parametrize("elements", [3, 8])
@pytest.mark.parametrize("follower", [True, False])
def test_end_moment_rolls_a_cantilever_to_a_circle(elements, follower):
    """Pure bending is exact for any mesh: the tip comes back to the root."""
    beam = Beam.straight(1.0, elements, SOFT).support(0)
    q = static(beam.load(-1, moment=(0, 0, 2 * np.pi * 3.0), follower=follower), steps=4)
    np.testing.assert_allclose(q[-1, 4:], 0.0, atol=1e-12)
    radius = 1 / (2 * np.pi)
    np.testing.assert_allclose(np.linalg.norm(q[:, 4:] - [0, radius, 0], axis=1), radius, atol=1e-12)


def test_small_loads_give_the_linear_beam_at_every_node():
    """Tip force and gravity on a cantilever: nodal values of the linear solution are exact, shear included."""
    F, g, L = 1e-7, 1e-7, 2.0
    beam = Beam.straight(L, 5, SOFT).support(0).load(-1, force=(0, F, 0)).weighing((0, g, 0))
    s = np.linspace(0, L, 6)
    EI, kGA, w = 3.0, 50.0, g * SOFT.mass
    tip = F * (s**2 * (3 * L - s) / (6 * EI) + s / kGA)
    own = w * (s**2 * (6 * L**2 - 4 * L * s + s**2) / (24 * EI) + (L * s - s**2 / 2) / kGA)
    np.testing.assert_allclose(static(beam)[:, 5], tip + own, rtol=1e-6, atol=1e-20)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 0, -1), (0.3, -0.5, 0.8)])
def test_orientation_does_not_matter(direction):
    """Loads in the node's axes: the shape seen from the root is the same for any direction of the beam."""

    def seen(direction, y):
        beam = Beam.straight(1.0, 4, SOFT, direction=direction, y=y).support(0)
        q = static(beam.load(-1, force=(-1, 2, 3), moment=(0.3, 0.2, 1), follower=True), steps=3)
        return np.linalg.norm(q[:, 4:], axis=1), q[-1, 4:] @ np.asarray(direction) / np.linalg.norm(direction)

    for found, want in zip(seen(direction, (0.2, 0.9, 0.1)), seen((1, 0, 0), (0, 1, 0))):
        np.testing.assert_allclose(found, want, atol=1e-10)


def rotation(q):
    """Return rotation matrices (3, 3, n) of quaternions (4, n)."""
    w, x, y, z = q / np.linalg.norm(q, axis=0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def bend_by_quadrature(force):
    """Return the tip of the 45-degree bend from the differential equations of the rod (quaternion, position, moment)."""
    n, length = np.array([0, 0, force]), 100 * np.pi / 4

    def equations(s, x):
        R, m = rotation(x[:4]), x[7:]
        inner_n, inner_m = np.einsum("jik,j->ik", R, n), np.einsum("jik,jk->ik", R, m)
        strain = inner_n / np.array([E, E / 2, E / 2])[:, None] + np.array([[1.0], [0], [0]])
        k = inner_m / (E / 12) + np.array([[0], [0], [0.01]])
        w, u = x[0], x[1:4]
        turn = [-0.5 * np.sum(u * k, axis=0), *(0.5 * (w * k + np.cross(u, k, axis=0)))]
        along = np.einsum("ijk,jk->ik", R, strain)
        return np.vstack([turn, along, -np.cross(along, n[:, None], axis=0)])

    start = np.array([1.0, 0, 0, 0, 0, 0, 0])
    s = np.linspace(0, length, 41)
    guess = np.zeros((10, 41))
    guess[0], guess[3] = np.cos(s / 200), np.sin(s / 200)
    guess[4], guess[5] = 100 * np.sin(s / 100), 100 * (1 - np.cos(s / 100))
    for part in np.linspace(0.2, 1, 5) * force:
        n[2] = part
        found = solve_bvp(
            equations,
            lambda a, b: np.concatenate([a[:7] - start, b[7:]]),
            s,
            guess,
            tol=1e-8,
            max_nodes=20000,
        )
        assert found.success
        guess = found.sol(s)
    return found.sol(length)[4:7]


def test_bend_of_45_degrees():
    """Converged mesh within 1e-4 of an independent solution; the error falls with the fourth power of the element."""
    exact = bend_by_quadrature(600.0)

    def tip(elements):
        beam = Beam.arc(100.0, np.pi / 4, elements, SQUARE).support(0)
        return static(beam.load(-1, force=(0, 0, 600.0)), steps=6)[-1, 4:]

    errors = [np.linalg.norm(tip(elements) - exact) for elements in (4, 8, 16)]
    assert errors[2] < 1e-4
    assert errors[1] < 1e-4 * np.linalg.norm(exact)
    assert np.log2(errors[0] / errors[1]) > 3.6
    assert np.log2(errors[1] / errors[2]) > 3.6


@functools.cache
def elastica(load):
    """Return the tip (x, y) of an inextensible cantilever, L = EI = 1, under a force across, by shooting on its angle."""

    def slope(s, y):
        return [y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

    def free_end(k):
        return solve_ivp(slope, (0, 1), [0, k, 0, 0], rtol=1e-12, atol=1e-13).y[:, -1]

    grid = np.sqrt(2 * load) * np.linspace(1.05, 0.3, 100)  # the first shape is that of the largest curvature
    below = next(k for k in grid if free_end(k)[1] < 0)
    k = brentq(lambda k: free_end(k)[1], below, grid[0], xtol=1e-13)
    return free_end(k)[2:]


@pytest.mark.parametrize("ratio", [1e4, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("load", [1.0, 10.0, 40.0])
def test_slender_beams_take_their_load_in_one_step(ratio, load):
    """EA L^2 / EI up to 1e10, P L^2 / EI up to 40. The stretch is at most the load over EA; the mesh errs by (P L^2/EI)^2 / n^4."""
    beam = Beam.straight(1.0, 24, Section(1.0, ratio, 1.0, 1.0, 1.0, rotary=(0.002, 1e-3, 1e-3))).support(0)
    tip = static(beam.load(-1, force=(0, load, 0)))[-1, 4:]
    mesh = 0.1 * load**2 / 24**4
    np.testing.assert_allclose(tip, [*elastica(load), 0.0], atol=load / ratio + mesh + 1e-9)


def test_a_load_that_one_step_cannot_take_is_halved_by_itself():
    """A follower force rolls a cantilever up: two iterations a step are too few for all of it, enough for parts."""
    beam = Beam.straight(1.0, 12, SOFT).support(0).load(-1, force=(0, 6.0, 0), follower=True)
    np.testing.assert_allclose(static(beam, max_iterations=5), static(beam, steps=16), atol=1e-8)


def test_order_of_convergence_in_space():
    """Where bending, torsion and shear differ, the screw of an element is not the exact curve: order 2, not the 4 of the
    bend above, whose three stiffnesses are equal."""
    load = {"force": (0.4, 0.9, 1.3), "moment": (0.5, 0.3, -0.2)}

    def tip(elements):
        return static(Beam.straight(1.0, elements, SOFT).support(0).load(-1, **load), steps=4)[-1, 4:]

    fine = tip(256)
    errors = [np.linalg.norm(tip(n) - fine) for n in (8, 16, 32)]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.1)


def test_follower_force_turns_with_its_node():
    """The shape is that under a dead force of the direction which the follower has in the end; it turns further than at first."""
    beam = Beam.straight(1.0, 12, SOFT).support(0).load(-1, force=(0, 4.0, 0), follower=True)
    q = static(beam, steps=4)
    np.testing.assert_allclose(q, static(beam, steps=8), atol=1e-9)
    angle = 2 * np.arctan2(q[-1, 3], q[-1, 0])
    dead = static(Beam.straight(1.0, 12, SOFT).support(0).load(-1, force=(0, 4.0, 0)), steps=4)
    assert angle > 2 * np.arctan2(dead[-1, 3], dead[-1, 0])
    turned = (-4.0 * np.sin(angle), 4.0 * np.cos(angle), 0.0)  # the same force, now fixed in the world
    np.testing.assert_allclose(
        static(Beam.straight(1.0, 12, SOFT).support(0).load(-1, force=turned), start=q), q, atol=1e-8
    )


def test_free_rigid_motion_is_named():
    with pytest.raises(NumericalError, match="rigid motion"):
        static(Beam.straight(1.0, 4, SOFT).support(0, "pinned").load(-1, force=(1, 0, 0)))


def test_too_large_a_step_keeps_the_last_shape():
    beam = Beam.straight(1.0, 4, SOFT).support(0).load(-1, force=(0, 1e7, 0))
    with pytest.raises(NumericalError, match="load step 1 of 1") as caught:
        static(beam, max_iterations=2)
    np.testing.assert_array_equal(caught.value.result, beam.poses)


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda b: b.support(0, "clampd"), "did you mean 'clamped'"),
        (lambda b: b.support(9), "no node 9; expected -5 to 4"),
        (lambda b: b.load(-1, force=(1, 2)), "three numbers each"),
        (lambda b: b.body(-1, -1.0), "mass of a body"),
        (lambda b: b.body(-1, 1.0, inertia=np.diag([1.0, 1.0, -1.0])), "symmetric, not negative"),
        (lambda b: b.support(0, "pinned").on(lambda t: t), "node 0 is not clamped"),
        (lambda b: b.on(lambda t: t), "nothing is clamped"),
        (lambda b: Beam.straight(-1.0, 4, SOFT), "length = -1.0"),
        (lambda b: Beam.straight(1.0, 0, SOFT), "elements = 0"),
        (lambda b: Beam.straight(1.0, 4, SOFT, direction=(0, 1, 0)), "not parallel"),
        (lambda b: Beam(b.poses, b.sections[:-1]), "3 sections; expected 4"),
        (lambda b: Beam(np.zeros((3, 7)), b.sections[:2]), "quaternion is zero"),
        (lambda b: Section(1.0, 1.0, 1.0, -1.0, 1.0, rotary=(2.0, 1.0, 1.0)), "EIz = -1"),
        (lambda b: Beam.straight(1.0, 4, Section(1.0, 1.0, 1.0, 1.0, 1.0, rotary=(1.0, 0.0, 1.0))), "rotary"),
        (lambda b: Beam.straight(1.0, 4, Section(1.0, 1.0, 1.0, 1.0)), "GJ = 0"),
        (lambda b: Section.tube(1.0, 1.0, 1.0, 1.0, 1.0), "the inner less"),
        (lambda b: static(b.support(0), steps=0), "steps = 0"),
    ],
)
def test_mistakes_are_named(mistake, text):
    with pytest.raises(InputError, match=text):
        mistake(Beam.straight(1.0, 4, SOFT))


def test_sections_of_shapes():
    """A square's torsion constant is 0.140577 a^4 (Timoshenko & Goodier, table 9); a rod's is pi r^4 / 2."""
    square = Section.rectangle(0.1, 0.1, 7e10, 2.6e10, 2700.0)
    np.testing.assert_allclose(square.GJ, 2.6e10 * 0.140577 * 1e-4, rtol=1e-5)
    np.testing.assert_allclose([square.EIy, square.EIz], 7e10 * 1e-4 / 12)
    rod = Section.tube(0.1, 0.0, 7e10, 2.6e10, 2700.0)
    np.testing.assert_allclose(rod.GJ, 2.6e10 * np.pi * 1e-4 / 2)
    np.testing.assert_allclose(rod.GAy / (2.6e10 * np.pi * 0.01), 6 * 1.3 / (7 + 6 * 0.3))
