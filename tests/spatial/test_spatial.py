"""Identities of spatial algebra (Featherstone 2008, chapter 2) on the value types, with random numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from articulus.spatial import (
    Force,
    Motion,
    Product,
    RigidInertia,
    Transform,
    axis_angle,
    exact,
    frame_with_z,
    quaternion_matrix,
    quaternion_product,
    quaternion_rate,
    rpy_matrix,
    skew,
)

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
"""A few dozen roundings on numbers of order one."""
LOOSER = {"rtol": 1e-12, "atol": 1e-12}
"""The same on inertias, whose entries are products of such numbers and reach some tens."""


def number(x) -> np.ndarray:
    return np.array(ca.DM(x))


def column(x) -> np.ndarray:
    return number(x.column()).ravel()


class Draw:
    """Random objects of one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def vector(self, n=3):
        return SX(ca.DM(self.rng.normal(size=n)))

    def motion(self):
        return Motion(self.vector(), self.vector())

    def force(self):
        return Force(self.vector(), self.vector())

    def transform(self):
        R = Rotation.random(random_state=self.rng.integers(2**31)).as_matrix()
        return Transform(SX(ca.DM(R)), self.vector())

    def inertia(self):
        A = self.rng.normal(size=(3, 3))
        return RigidInertia.about_com(SX(float(self.rng.uniform(1, 3))), self.vector(), SX(ca.DM(A @ A.T)))


@pytest.fixture(params=range(4))
def draw(request):
    return Draw(request.param)


def six(inertia) -> np.ndarray:
    """Return the 6 x 6 matrix of an inertia, column by column."""
    return np.array([column(inertia @ Motion.of(e)) for e in np.eye(6)]).T


def to_child(X) -> np.ndarray:
    return np.array([column(X.motion_to_child(Motion.of(e))) for e in np.eye(6)]).T


def test_transforms_are_a_group(draw):
    X, Y = draw.transform(), draw.transform()
    assert_allclose(number((X @ Y).matrix()), number(X.matrix()) @ number(Y.matrix()), **TIGHT)
    assert_allclose(number((X @ X.inverse()).matrix()), np.eye(4), **TIGHT)
    m = draw.motion()
    assert_allclose(
        column((X @ Y).motion_to_child(m)), column(Y.motion_to_child(X.motion_to_child(m))), **TIGHT
    )


def test_there_and_back(draw):
    X, m, f = draw.transform(), draw.motion(), draw.force()
    assert_allclose(column(X.motion_to_parent(X.motion_to_child(m))), column(m), **TIGHT)
    assert_allclose(column(X.force_to_parent(X.force_to_child(f))), column(f), **TIGHT)
    assert_allclose(column(X.inverse().motion_to_parent(m)), column(X.motion_to_child(m)), **TIGHT)


def test_power_does_not_depend_on_the_frame(draw):
    X, m, f = draw.transform(), draw.motion(), draw.force()
    power = number(m.dot(f))
    assert_allclose(number(X.motion_to_child(m).dot(X.force_to_child(f))), power, **TIGHT)
    assert_allclose(number(X.motion_to_parent(m).dot(X.force_to_parent(f))), power, **TIGHT)
    assert_allclose(number(f.dot(m)), power, **TIGHT)


def test_force_transform_is_the_transpose_inverse(draw):
    X = draw.transform()
    force = np.array([column(X.force_to_child(Force.of(SX(ca.DM(e))))) for e in np.eye(6)]).T
    assert_allclose(force, np.linalg.inv(to_child(X)).T, **TIGHT)


def test_product_acts_as_its_merged_transform(draw):
    two = Product(draw.transform(), draw.transform())
    one, m, f, I = two.merge(), draw.motion(), draw.force(), draw.inertia()
    for name, x in (
        ("motion_to_child", m),
        ("motion_to_parent", m),
        ("force_to_child", f),
        ("force_to_parent", f),
    ):
        assert_allclose(column(getattr(two, name)(x)), column(getattr(one, name)(x)), **TIGHT)
    assert_allclose(six(two.inertia_to_parent(I)), six(one.inertia_to_parent(I)), **LOOSER)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("degrees", [-179, -135, -90, -30, 0, 20, 90, 91, 180])
@pytest.mark.parametrize("known", [True, False], ids=["numbers", "symbols"])
def test_turns_about_coordinate_axes_agree_with_products_of_matrices(axis, degrees, known):
    """Short forms of turns in a plane: forces, inertias and articulated inertias, with constant and with variable angles."""
    draw = Draw(degrees + 180)
    R = exact(Rotation.from_rotvec(np.radians(degrees) * np.eye(3)[axis]).as_matrix())
    p, f, I = draw.vector(), draw.force(), draw.inertia()
    turn = SX(ca.DM(R))
    if not known:
        c, s = SX.sym("c"), SX.sym("s")
        turn = axis_angle(np.eye(3)[axis], s, c)
    X = Transform(turn, p)
    results = [X.force_to_parent(f).column(), X.force_to_child(f).column()]
    results += [ca.vec(x.matrix()) for x in (I.rotate(turn), X.inertia_to_parent(I))]
    whole = I.as_articulated()
    skewed = type(whole)(whole.J, whole.H + SX(ca.DM(draw.rng.normal(size=(3, 3)))), whole.J + whole.M)
    turned = skewed.rotate(turn)
    results += [ca.vec(x) for x in (turned.J, turned.H, turned.M)]
    if not known:
        i, j = (axis + 1) % 3, (axis + 2) % 3
        results = [number(ca.Function("f", [c, s], [x])(R[i, i], R[j, i])) for x in results]

    P, six_by_six = number(skew(p)), number(I.matrix())
    n, force = number(f.n).ravel(), number(f.f).ravel()
    both, zero = np.kron(np.eye(2), R), np.zeros((3, 3))
    shift = np.block([[np.eye(3), P], [zero, np.eye(3)]])
    wanted = [
        np.r_[R @ n + P @ R @ force, R @ force],
        np.r_[R.T @ (n - P @ force), R.T @ force],
        both @ six_by_six @ both.T,
        shift @ both @ six_by_six @ both.T @ shift.T,
        *(R @ number(x) @ R.T for x in (skewed.J, skewed.H, skewed.M)),
    ]
    for got, true in zip(results, wanted):
        assert_allclose(number(got).ravel(), true.ravel(order="F"), **LOOSER)


def test_a_turning_body_needs_the_force_that_changes_its_momentum(draw):
    """m v + ..., J w' + w x J w + ...: Newton and Euler with cross products."""
    I, a, w = draw.inertia(), draw.motion(), draw.vector()
    V = Motion(w, SX.zeros(3))
    assert_allclose(column(I.driving_force(a, w)), column(I @ a + V.cross_force(I @ V)), **LOOSER)


def test_cross_products(draw):
    a, b, c, f = draw.motion(), draw.motion(), draw.motion(), draw.force()
    zero = np.zeros(6)
    assert_allclose(column(a.cross(a)), zero, **TIGHT)
    assert_allclose(column(a.cross(b) + b.cross(a)), zero, **TIGHT)
    jacobi = a.cross(b.cross(c)) + b.cross(c.cross(a)) + c.cross(a.cross(b))
    assert_allclose(column(jacobi), zero, **TIGHT)
    # a x* is minus the transpose of a x
    assert_allclose(number(b.dot(a.cross_force(f))), -number(a.cross(b).dot(f)), **TIGHT)


def test_cross_product_is_the_rate_of_a_carried_vector(draw):
    """d/dt of X(t) m for a frame that moves with velocity V is X (V x m)."""
    V, m, h = draw.motion(), draw.motion(), 1e-5

    def carried(t):
        w = number(V.w).ravel() * t
        R = Rotation.from_rotvec(w).as_matrix()
        S = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        p = (np.eye(3) + S / 2) @ (number(V.v).ravel() * t)
        return column(Transform(SX(ca.DM(R)), SX(ca.DM(p))).motion_to_parent(m))

    # central difference: truncation h^2 = 1e-10, rounding 1e-16 / h = 1e-11
    assert_allclose((carried(h) - carried(-h)) / (2 * h), column(V.cross(m)), atol=1e-8)


def test_rigid_inertia(draw):
    mass, com = 1.7, draw.rng.normal(size=3)
    A = draw.rng.normal(size=(3, 3))
    Ic = A @ A.T
    I = RigidInertia.about_com(SX(mass), SX(ca.DM(com)), SX(ca.DM(Ic)))
    C = np.array([[0, -com[2], com[1]], [com[2], 0, -com[0]], [-com[1], com[0], 0]])
    expected = np.block([[Ic + mass * C @ C.T, mass * C], [mass * C.T, mass * np.eye(3)]])
    assert_allclose(six(I), expected, **TIGHT)
    assert_allclose(six(I.as_articulated()), expected, **TIGHT)
    assert np.linalg.eigvalsh(six(I)).min() > 0


def test_inertia_moves_by_congruence(draw):
    I, X = draw.inertia(), draw.transform()
    T = to_child(X)
    for inertia in (I, I.as_articulated()):
        assert_allclose(six(X.inertia_to_parent(inertia)), T.T @ six(inertia) @ T, **LOOSER)


def test_inertias_add(draw):
    I, J = draw.inertia(), draw.inertia()
    assert_allclose(six(I + J), six(I) + six(J), **TIGHT)
    assert_allclose(six(I + RigidInertia.zero()), six(I), **TIGHT)
    assert_allclose(six(I.as_articulated() + J.as_articulated()), six(I) + six(J), **TIGHT)


def test_free_direction_takes_its_inertia_away(draw):
    """What is left after minus_dyad resists no motion along the free direction."""
    I, s = draw.inertia().as_articulated(), draw.motion()
    U = I @ s
    left = I.minus_dyad(U, U * (1 / s.dot(U)))
    assert_allclose(column(left @ s), np.zeros(6), atol=1e-12)
    assert_allclose(six(left), six(left).T, **TIGHT)


def test_rotations_match_scipy(draw):
    rpy, q = draw.rng.uniform(-3, 3, 3), draw.rng.normal(size=4)
    assert_allclose(number(rpy_matrix(SX(ca.DM(rpy)))), Rotation.from_euler("xyz", rpy).as_matrix(), **TIGHT)
    R = number(quaternion_matrix(SX(ca.DM(q))))
    assert_allclose(R, Rotation.from_quat(np.roll(q, -1)).as_matrix(), **TIGHT)
    axis, angle = q[:3] / np.linalg.norm(q[:3]), float(q[3])
    found = number(axis_angle(axis, SX(np.sin(angle)), SX(np.cos(angle))))
    assert_allclose(found, Rotation.from_rotvec(axis * angle).as_matrix(), **TIGHT)


def test_quaternions(draw):
    a, b = draw.vector(4), draw.vector(4)
    product = number(quaternion_matrix(quaternion_product(a, b)))
    assert_allclose(product, number(quaternion_matrix(a)) @ number(quaternion_matrix(b)), **TIGHT)
    w, h = draw.vector(), 1e-6
    moved = quaternion_matrix(a + h * quaternion_rate(a, w)) - quaternion_matrix(
        a - h * quaternion_rate(a, w)
    )
    expected = number(quaternion_matrix(a)) @ number(skew(w))
    # central difference: truncation h^2 = 1e-12, rounding 1e-16 / h = 1e-10
    assert_allclose(number(moved) / (2 * h), expected, atol=1e-8)


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3), (0.6, 0.0, 0.8), (1 / 3, 2 / 3, -2 / 3)])
def test_frame_with_z(axis):
    R = frame_with_z(axis)
    assert_allclose(R[:, 2], axis, atol=1e-15)
    assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    if np.count_nonzero(axis) == 1:
        assert np.array_equal(np.abs(R), np.abs(R).round())


def test_exact_touches_only_round_off():
    found = exact(np.array([[1 - 2e-16, 6e-17], [-1 + 1e-15, 1e-15], [2.0, 2 - 4e-16]]))
    assert np.array_equal(found, [[1, 0], [-1 + 1e-15, 1e-15], [2.0, 2 - 4e-16]])
