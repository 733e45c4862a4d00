"""The element and the node: derivatives, invariance, exact cases."""

import numpy as np
import pytest
from test_lie import difference, move, random_motion, random_pose

from articulus.simulation.exact_beams import element, node


def a_piece(seed, angle=0.7):
    rng = np.random.default_rng(seed)
    A = random_pose(rng)
    B = move(A, random_motion(rng, angle))
    root = rng.normal(size=(6, 6))
    return A, B, 0.3 * rng.normal(size=6), root @ root.T + np.eye(6)


def derivative(f, A, B):
    """Return the Jacobian of f along body displacements of A and B, by central differences."""
    step, columns = 1e-5, []
    for v in np.eye(6) * step:
        columns.append((f(move(A, v), B) - f(move(A, -v), B)) / (2 * step))
    for v in np.eye(6) * step:
        columns.append((f(A, move(B, v)) - f(A, move(B, -v))) / (2 * step))
    return np.transpose(columns)


@pytest.mark.parametrize("seed", range(5))
def test_forces_are_the_derivative_of_the_energy(seed):
    A, B, d0, K = a_piece(seed)

    def energy(A, B):
        d = difference(A, B) - d0
        return np.array([d @ K @ d / 2])

    found = np.concatenate(element.forces()(A, B, d0, K))
    np.testing.assert_allclose(found, derivative(energy, A, B)[0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_tangent_is_the_derivative_of_the_forces(seed):
    A, B, d0, K = a_piece(seed)
    AA, AB, BA, BB = element.tangent()(A, B, K, K @ (difference(A, B) - d0))
    found = np.block([[AA, AB], [BA, BB]])
    wanted = derivative(lambda A, B: np.concatenate(element.forces()(A, B, d0, K)), A, B)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_rates_of_the_strain_are_its_derivatives():
    A, B, _, _ = a_piece(3)
    wanted = derivative(difference, A, B)
    for k, v in enumerate(np.eye(12)):
        np.testing.assert_allclose(element.strain_rates()(A, B, v[:6], v[6:]), wanted[:, k], atol=1e-8)


def test_rigid_motion_changes_nothing_in_body_axes():
    A, B, d0, K = a_piece(7)
    origin, shift = np.array([1.0, 0, 0, 0, 0, 0, 0]), random_pose(np.random.default_rng(8))
    carried = [move(shift, difference(origin, pose)) for pose in (A, B)]
    stress = K @ (difference(A, B) - d0)
    for ours, theirs in zip(element.tangent()(A, B, K, stress), element.tangent()(*carried, K, stress)):
        np.testing.assert_allclose(ours, theirs, atol=1e-11)


def test_stiffness_of_a_straight_element_is_timoshenkos():
    """Relative motion of the ends of a cantilever: h^3/(3 EI) + h/(kGA), h^2/(2 EI), h/(EI) in bending about z."""
    h, EI, kGA = 0.7, 3.0, 11.0
    compliance = 1 / np.array([2.0, 5.0, EI, 100.0, kGA, 13.0])
    d0 = np.array([0, 0, 0, h, 0, 0])
    K = element.stiffness(d0, h, compliance)
    A, B = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([1.0, 0, 0, 0, h, 0, 0])
    flexibility = np.linalg.inv(element.tangent()(A, B, K, np.zeros(6))[3])
    wanted = np.array([[h / EI, h**2 / (2 * EI)], [h**2 / (2 * EI), h**3 / (3 * EI) + h / kGA]])
    np.testing.assert_allclose(flexibility[np.ix_([2, 4], [2, 4])], wanted, rtol=1e-12)
    np.testing.assert_allclose(np.diag(flexibility)[[0, 3]], [h / 2.0, h / 100.0], rtol=1e-12)


def test_stiffness_of_an_arc_is_castiglianos():
    """Quarter circle that only bends, loaded at the end: pi R^3/4 EI along the end's normal (work of M = F R sin)."""
    R, EI = 2.0, 3.0
    d0 = np.array([0, 0, np.pi / 2, R * np.pi / 2, 0, 0])
    compliance = np.array([0.01, 0.01, 1 / EI, 1e-12, 1e-12, 1e-12])
    K = element.stiffness(d0, R * np.pi / 2, compliance)
    A = np.array([1.0, 0, 0, 0, 0, 0, 0])
    flexibility = np.linalg.inv(element.tangent()(A, move(A, d0), K, np.zeros(6))[3])
    np.testing.assert_allclose(flexibility[4, 4], np.pi * R**3 / (4 * EI), rtol=1e-8)  # across the end
    np.testing.assert_allclose(flexibility[2, 2], np.pi / 2 * R / EI, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_tangent_of_a_node(seed):
    rng = np.random.default_rng(seed)
    q, (v, vdot, dead, follower) = random_pose(rng), rng.normal(size=(4, 6))
    M = node.inertia(2.0, rng.normal(size=3), np.diag([1.0, 2.0, 2.5]))
    g, by_v, by_vdot, step = rng.normal(size=3), 1.7, 0.6, 1e-6
    tangent = node.tangent()(q, v, vdot, M, g, dead, follower, by_v, by_vdot)

    def residual(d):
        return node.residual()(move(q, d), v + by_v * d, vdot + by_vdot * d, M, g, dead, follower)

    for d, column in zip(np.eye(6) * step, tangent.T):
        np.testing.assert_allclose((residual(d) - residual(-d)) / (2 * step), column, atol=1e-7)


def test_inertia_of_a_node_is_that_of_its_points():
    rng = np.random.default_rng(3)
    points, masses = rng.normal(size=(6, 3)), rng.uniform(1, 2, size=6)
    v = rng.normal(size=6)
    speeds = v[3:] + np.cross(v[:3], points)
    center = masses @ points / masses.sum()
    off = points - center
    about = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, off))
    M = node.inertia(masses.sum(), masses @ points, about)
    np.testing.assert_allclose(v @ M @ v, np.sum(masses * np.sum(speeds**2, axis=1)))
