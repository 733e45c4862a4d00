"""Flexible bodies: integrals of shapes against quadrature of the deformed body, printed numbers, exact rigid sections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigvalsh
from scipy.spatial.transform import Rotation

from articulus.errors import InputError
from articulus.model.mechanism.modes import Modes
from articulus.structure import (
    EulerBernoulli,
    Lumped,
    Section,
    Spring,
    Structure,
    Timoshenko,
    beam,
    beam_body,
    modes_of,
    normal_modes,
)
from articulus.structure.vectors import skew

RNG = np.random.default_rng(7)


def kinetic(m: Modes, V: np.ndarray, eta: np.ndarray, rate: np.ndarray, level: str = "consistent") -> float:
    extra = level == "consistent"
    rr2 = m.rr2 + extra * m.rr2_shortening
    rf1 = m.rf1 + extra * m.rf1_shortening
    rr = m.rr0 + np.einsum("k,kab->ab", eta, m.rr1) + 0.5 * np.einsum("k,l,klab->ab", eta, eta, rr2)
    rf = m.rf0 + np.einsum("k,kal->al", eta, rf1)
    return float(0.5 * V @ rr @ V + V @ rf @ rate + 0.5 * rate @ m.ff @ rate)


class DeformedBeam:
    """An inextensible beam along x whose deflections are polynomials: u = (-1/2 int v'^2 + w'^2, v, w), by fine quadrature."""

    def __init__(self, length: float, density: float, y: list, z: list):
        x, w = np.polynomial.legendre.leggauss(40)
        self.x, self.dm = (x + 1) / 2 * length, w / 2 * length * density
        self.y, self.z = ([np.polynomial.Polynomial(p) for p in f] for f in (y, z))

    def kinetic(self, V, eta, rate) -> float:
        ny = len(self.y)
        fields = [(self.y, slice(0, ny)), (self.z, slice(ny, None))]
        u, ud = np.zeros((3, len(self.x))), np.zeros((3, len(self.x)))
        for axis, (family, part) in enumerate(fields, start=1):
            if not family:
                continue
            f = sum(e * p for e, p in zip(eta[part], family))
            fd = sum(e * p for e, p in zip(rate[part], family))
            u[axis], ud[axis] = f(self.x), fd(self.x)
            u[0] -= 0.5 * (f.deriv() ** 2).integ()(self.x)
            ud[0] -= (f.deriv() * fd.deriv()).integ()(self.x)
        position = u.T + np.outer(self.x, [1, 0, 0])
        velocity = V[3:] + np.cross(V[:3], position) + ud.T
        return float(0.5 * self.dm @ (velocity**2).sum(axis=1))


@pytest.mark.parametrize("planes", [("y",), ("z",), ("y", "z")])
def test_kinetic_energy_of_a_deformed_beam(planes):
    """Cubic deflections lie within the elements: the energies agree up to terms of third order in the deformation."""
    L, density = 1.3, 0.7
    s = beam(L, EI=2.0, mass_per_length=density, elements=3)
    cubics = [[0, 0, 1.0, 0.4], [0, 0, -0.3, 1.0]]
    x = s.positions[:, 0]
    columns = []
    for plane in planes:
        across, about, sign = (1, 5, 1.0) if plane == "y" else (2, 4, -1.0)
        for c in cubics:
            p = np.polynomial.Polynomial(c)
            nodal = np.zeros((len(x), 6))
            nodal[:, across], nodal[:, about] = p(x), sign * p.deriv()(x)
            columns.append(nodal[tuple(s.dofs.T)])
    m = modes_of(s, np.array(columns).T)
    reference = DeformedBeam(L, density, cubics if "y" in planes else [], cubics if "z" in planes else [])
    V, eta, rate = RNG.normal(size=6), RNG.normal(size=m.count), RNG.normal(size=m.count)
    errors = []
    for scale in (1e-2, 5e-3):
        found = kinetic(m, V, scale * eta, scale * rate)
        errors.append(abs(found - reference.kinetic(V, scale * eta, scale * rate)))
    assert errors[1] < errors[0] / 7  # third order: a factor of 8
    assert errors[0] < 1e-4
    without = abs(
        kinetic(m, V, 1e-2 * eta, 1e-2 * rate, "inconsistent") - reference.kinetic(V, 1e-2 * eta, 1e-2 * rate)
    )
    assert without > 3 * errors[0]


def test_station_shortens_like_the_beam():
    L = 1.3
    s = beam(L, EI=2.0, mass_per_length=0.7, elements=4, planes="y")
    p, q = np.polynomial.Polynomial([0, 0, 1.0, 0.4]), np.polynomial.Polynomial([0, 0, -0.3, 1.0])
    x = s.positions[:, 0]
    columns = []
    for f in (p, q):
        nodal = np.zeros((len(x), 6))
        nodal[:, 1], nodal[:, 5] = f(x), f.deriv()(x)
        columns.append(nodal[tuple(s.dofs.T)])
    m = modes_of(s, np.array(columns).T, stations={"tip": 4, "half": 2})
    for name, at in (("tip", L), ("half", L / 2)):
        station = m.station(name)
        exact = [[-(a.deriv() * b.deriv()).integ()(at) for b in (p, q)] for a in (p, q)]
        np.testing.assert_allclose(station.shortening[0], exact, rtol=1e-9)
        np.testing.assert_allclose(station.shortening[1:], 0, atol=1e-9)
        np.testing.assert_allclose(station.translation[1], [p(at), q(at)], rtol=1e-12)
        np.testing.assert_allclose(station.rotation[2], [p.deriv()(at), q.deriv()(at)], rtol=1e-12)


def test_rigid_body_on_a_spring_turns_exactly():
    """A body with offset center of mass on six springs: energy of exact rigid motion, up to third order."""
    mass, c = 1.7, np.array([0.3, -0.2, 0.4])
    J = np.array([[0.5, 0.02, -0.03], [0.02, 0.7, 0.04], [-0.03, 0.04, 0.6]])
    node = np.array([0.5, 0.1, -0.2])
    body = Lumped(0, mass, (0.5, 0.7, 0.6, 0.02, -0.03, 0.04), c)
    s = Structure.assemble([node], [body, Spring(0, None, (1.0,) * 6)])
    m = modes_of(s, np.eye(6), origin=(0, 0, 0))
    V, eta, rate = RNG.normal(size=6), RNG.normal(size=6), RNG.normal(size=6)

    def exact(eta, rate):
        def place(t):
            return node + (eta + t * rate)[:3], Rotation.from_rotvec((eta + t * rate)[3:]).as_matrix()

        (p, R), step = place(0.0), 1e-6
        (p1, R1), (p0, R0) = place(step), place(-step)
        W = (R1 - R0) / (2 * step) @ R.T
        turning = V[:3] + np.array([W[2, 1], W[0, 2], W[1, 0]])
        arm, arm_rate = p + R @ c, (p1 + R1 @ c - p0 - R0 @ c) / (2 * step)
        velocity = V[3:] + np.cross(V[:3], arm) + arm_rate
        return 0.5 * mass * velocity @ velocity + 0.5 * turning @ R @ J @ R.T @ turning

    errors = [abs(kinetic(m, V, e * eta, e * rate) - exact(e * eta, e * rate)) for e in (4e-2, 2e-2)]
    assert errors[1] < errors[0] / 6.5
    assert errors[0] < 1e-3


class ExactFrame:
    """Two unshearable, inextensible beams, the second at a right angle behind the first, with given curvatures.

    The curvatures of each (twist, bend about y, bend about z, its own axes) are polynomials times eta; R' = R kappa~ and
    r' = R e by Runge-Kutta's method.
    """

    def __init__(self, length: float, first: list, second: list):
        self.length, self.shapes = length, (first, second)
        self.corner = np.array(
            [[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]
        )  # second beam's x axis is the first one's y axis

    def tip(self, eta: np.ndarray, steps: int = 200) -> np.ndarray:
        r, R, h = np.zeros(3), np.eye(3), self.length / steps
        for beam_, shapes in enumerate(self.shapes):
            R = R @ self.corner if beam_ else R

            def rate(s, R, shapes=shapes):
                k = sum(e * np.array([p(s) for p in mode]) for e, mode in zip(eta, shapes))
                return R @ skew(k), R[:, 0]

            for i in range(steps):
                s = i * h
                k1, v1 = rate(s, R)
                k2, v2 = rate(s + h / 2, R + h / 2 * k1)
                k3, v3 = rate(s + h / 2, R + h / 2 * k2)
                k4, v4 = rate(s + h, R + h * k3)
                R, r = R + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), r + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        return r


@pytest.mark.parametrize("kind", [EulerBernoulli, Timoshenko])
def test_second_order_displacement_of_a_spatial_frame(kind):
    """Bending in both planes and twist of an L-shaped frame: second derivatives of the tip of geometrically exact beams."""
    rng = np.random.default_rng(5)
    L, n = 0.8, 3
    modes = []
    for _ in range(n):  # curvatures that the elements hold: constant twist, linear bending
        modes.append([[np.polynomial.Polynomial(c) for c in ([rng.normal()], rng.normal(size=2), rng.normal(size=2))] for _ in range(2)])  # fmt: skip
    exact = ExactFrame(L, [m[0] for m in modes], [m[1] for m in modes])
    x = np.linspace(0, L, 5)
    positions = np.vstack([np.outer(x, [1.0, 0, 0]), np.outer(x[1:], [0, 1.0, 0]) + np.array([L, 0, 0])])
    section = Section(0.7, 1e6, 3.0, 2.0, 4.0, 1e7, 1e7)
    s = Structure.assemble(positions, [kind(i, i + 1, section) for i in range(8)], fixed={0: "all"})
    columns = []
    for first, second in modes:
        nodal, u, theta, axes = [np.zeros(6)], np.zeros(3), np.zeros(3), np.eye(3)
        for curvature, axes in ((first, np.eye(3)), (second, exact.corner)):
            turn = [c.integ() for c in curvature]
            for xi in x[1:]:
                local = np.array([c(xi) for c in turn])
                arm = np.array([0.0, turn[2].integ()(xi), -turn[1].integ()(xi)])
                here = u + np.cross(theta, axes[:, 0] * xi) + axes @ arm
                nodal.append(np.concatenate([here, theta + axes @ local]))
            u, theta = nodal[-1][:3], nodal[-1][3:]
        columns.append(np.array(nodal)[tuple(s.dofs.T)])
    body = modes_of(s, np.array(columns).T, stations={"tip": 8})
    station, step = body.station("tip"), 1e-3
    second = np.zeros((3, n, n))
    for k in range(n):
        for l in range(n):
            ek, el = np.eye(n)[k] * step, np.eye(n)[l] * step
            second[:, k, l] = (exact.tip(ek + el) - exact.tip(ek - el) - exact.tip(el - ek) + exact.tip(-ek - el)) / (4 * step**2)  # fmt: skip
    first = np.array([(exact.tip(step * e) - exact.tip(-step * e)) / (2 * step) for e in np.eye(n)]).T
    np.testing.assert_allclose(station.translation, first, atol=1e-6)
    np.testing.assert_allclose(station.shortening, second, atol=2e-5)  # of the second differences
    assert np.abs(second[0]).min() > 1e-3


def test_mass_integrals_agree_with_stations():
    """A frame of point masses only: integrals of the shortening are sums over stations, with either origin of the loads."""
    rng = np.random.default_rng(8)
    positions = np.cumsum(rng.normal(size=(5, 3)), axis=0)
    section = Section(0.0, 1e3, 3.0, 2.0, 4.0)
    masses = rng.uniform(1, 2, size=5)
    parts = [EulerBernoulli(i, i + 1, section) for i in range(4)] + [
        Lumped(i, m) for i, m in enumerate(masses)
    ]
    s = Structure.assemble(positions, parts, fixed={0: "all"})
    body = modes_of(s, normal_modes(s, 4).shapes)
    h = np.array([body.stations[name].shortening for name in s.names])
    r = np.array([body.stations[name].position for name in s.names])
    np.testing.assert_allclose(
        body.rf1_shortening[:, 3:].transpose(1, 0, 2), np.einsum("p,pikl->ikl", masses, h), atol=1e-10
    )
    turning = np.einsum("p,piabkl->iabkl", masses, _moment(r, h))
    np.testing.assert_allclose(
        body.rr2_shortening[:, :, :3, :3].transpose(2, 3, 0, 1), turning.sum(axis=0), atol=1e-10
    )


def _moment(r, h):
    """2 r . h - r h' - h r' for each point, (P, 1, 3, 3, n, n)."""
    Q = np.einsum("pi,pjkl->pijkl", r, h)
    trace = np.einsum("piikl->pkl", Q)
    return (2 * np.einsum("pkl,ij->pijkl", trace, np.eye(3)) - Q - Q.transpose(0, 2, 1, 3, 4))[:, None]


def test_tip_body_moves_with_its_station():
    """A rigid body within the structure has the energy of the same body moved by the station, up to third order.

    Bending in both planes and twist: displacement and rotation of the station are needed to second order.
    """
    section = Section(0.5, 1e4, 2.0, 3.0, 1.0, rotary=(2e-3, 1e-3, 1e-3))
    positions = np.outer(np.linspace(0, 1, 7), [1, 0, 0])
    parts = [EulerBernoulli(i, i + 1, section) for i in range(6)]
    mass, c = 0.7, np.array([0.1, 0.05, -0.08])
    J = np.array([[0.02, 0.001, 0.002], [0.001, 0.03, -0.003], [0.002, -0.003, 0.04]])
    tip = Lumped(6, mass, (0.02, 0.03, 0.04, 0.001, 0.002, -0.003), c)
    bare = Structure.assemble(positions, parts, fixed={0: "all"})
    loaded = Structure.assemble(positions, [*parts, tip], fixed={0: "all"})
    shapes = normal_modes(bare, 6).shapes / 10
    without, with_tip = modes_of(bare, shapes, stations={"tip": 6}), modes_of(loaded, shapes)
    station = without.station("tip")
    V, eta, rate = RNG.normal(size=6), RNG.normal(size=6), RNG.normal(size=6)

    def moved(eta):
        p = (
            station.position
            + station.translation @ eta
            + 0.5 * np.einsum("ikl,k,l->i", station.shortening, eta, eta)
        )
        theta = station.rotation @ eta + 0.5 * np.einsum("ikl,k,l->i", station.turning, eta, eta)
        return p, Rotation.from_rotvec(theta).as_matrix()

    def exact(eta, rate, step=1e-6):
        (p1, R1), (p0, R0), (p, R) = moved(eta + step * rate), moved(eta - step * rate), moved(eta)
        W = (R1 - R0) / (2 * step) @ R.T
        turning = V[:3] + np.array([W[2, 1], W[0, 2], W[1, 0]])
        velocity = V[3:] + np.cross(V[:3], p + R @ c) + (p1 + R1 @ c - p0 - R0 @ c) / (2 * step)
        return 0.5 * mass * velocity @ velocity + 0.5 * turning @ R @ J @ R.T @ turning

    errors = []
    for e in (2e-2, 1e-2):
        found = kinetic(with_tip, V, e * eta, e * rate) - kinetic(without, V, e * eta, e * rate)
        errors.append(abs(found - exact(e * eta, e * rate)))
    assert errors[1] < errors[0] / 6.5


def test_padilla_integrals():
    """Padilla & von Flotow 1989, uniform clamped beam, rho = EI = L = 1, unit modal mass (recomputed values, 8 digits)."""
    m = beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=1, damping=None)
    assert -m.rf1_shortening[0, 3, 0] == pytest.approx(1.5708782, rel=2e-7)
    assert -m.rr2_shortening[0, 0, 2, 2] / 2 == pytest.approx(1.1933364, rel=2e-7)
    assert m.rf0[4, 0] == pytest.approx(0.7829918, rel=2e-7)
    assert m.rf0[2, 0] == pytest.approx(0.5688257, rel=2e-7)
    assert m.rr2[0, 0, 2, 2] / 2 == pytest.approx(1.0, rel=1e-12)


def test_spinning_beam_frequencies():
    """Table of Padilla & von Flotow 1989 recomputed with four modes: frequency over that at rest, spin over it."""
    m = beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=4, damping=None)
    stiffening = -m.rr2_shortening[:, :, 2, 2] / 2
    first = 3.5160153
    table = {0.1: 1.00097, 0.3: 1.0086, 0.5: 1.02345, 0.9: 1.0714, 1.0: 1.08643, 2.0: 1.27101}
    for spin, ratio in table.items():
        K = m.stiffness + (spin * first) ** 2 * (stiffening - m.ff)
        assert np.sqrt(eigvalsh(K, m.ff)[0]) / first == pytest.approx(ratio, abs=1e-5)


def test_buckling_under_own_inertia():
    """g rho L^3 / EI: 7.8697, 7.8529, 7.8402, 7.8382 with one to four modes, 7.8375 with six; exact 7.8373."""
    m = beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=6, elements=24, damping=None)
    mu = -m.rf1_shortening[:, 3, :]
    for count, load in {1: 7.8697, 2: 7.8529, 3: 7.8402, 4: 7.8382, 6: 7.8375}.items():
        found = 1 / eigvalsh(mu[:count, :count], m.stiffness[:count, :count])[-1]
        assert found == pytest.approx(load, abs=1e-4)


def test_nodal_functions_buckle_exactly():
    """Hermite functions as modes (King 1988, chapter 3) hold every shape of the elements: exact buckling load 7.8373."""
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=8, planes="y")
    bending = np.flatnonzero(s.dofs[:, 1] != 0)
    m = modes_of(s, np.eye(s.count)[:, bending])
    found = 1 / eigvalsh(-m.rf1_shortening[:, 3, :], m.stiffness)[-1]
    assert found == pytest.approx(7.83735, rel=1e-4)


def test_free_beam_shortens_towards_its_center():
    """Without supports the second-order displacement has no rigid part: h = -int phi_k' phi_l' less its mean."""
    s = beam(2.0, EI=3.0, mass_per_length=0.5, elements=12, planes="y", root="free")
    shapes = normal_modes(s.keep(np.flatnonzero(s.dofs[:, 1] != 0)), 4).shapes[:, 2:]
    basis = np.zeros((s.count, 2))
    basis[s.dofs[:, 1] != 0] = shapes
    m = modes_of(s, basis, origin=(1.0, 0, 0))
    np.testing.assert_allclose(m.rf1_shortening[:, 3:, :], 0, atol=1e-9)
    np.testing.assert_allclose(m.rf0, 0, atol=1e-9)
    smp = s.samples
    slopes = (smp.rotation @ basis).reshape(-1, 3, 2)[:, 2]
    x, weight = smp.position[:, 0], smp.length
    product = np.einsum("pk,pl->pkl", slopes, slopes)
    # int x (h - mean) dm = -int int_x^L (x' - mean) rho dx' phi' phi' dx: tension of a free rod under the field x
    tension = 0.5 * 0.5 * ((2.0 - 1) ** 2 - (x - 1) ** 2)
    expected = -np.einsum("p,p,pkl->kl", weight, tension, product)
    np.testing.assert_allclose(m.rr2_shortening[:, :, 2, 2] / 2, expected, rtol=1e-9, atol=1e-12)


def test_matrices_without_elements():
    """Only M and K known: nodes carry the mass, and fixed nodes too. A beam of h = L/40 differs by about h^2 (phi'/phi)^2 / 6."""
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=40, root="free")
    bare = Structure(s.names, s.positions, s.dofs, s.M, s.K)
    fixed = s.fix({0: "all"})
    basis = normal_modes(fixed, 4).shapes
    ours, theirs = modes_of(fixed, basis), modes_of(bare.fix({0: "all"}), basis)
    assert (ours.level, theirs.level) == ("consistent", "ruthless")
    for name in ("rr0", "rf0", "ff", "stiffness", "rf1"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=5e-3, err_msg=name)
    np.testing.assert_allclose(theirs.rr0, ours.rr0, atol=1e-12)
    for name in ("rr1", "rr2"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-2, err_msg=name)


def test_lumped_matrices_without_elements_are_exact():
    rng = np.random.default_rng(3)
    positions = rng.normal(size=(4, 3))
    parts = [Lumped(i, 1.0 + i) for i in range(4)]
    section = Section(0.0, 10.0, 1.0, 1.0, 1.0)
    parts += [EulerBernoulli(i, i + 1, section) for i in range(3)]
    s = Structure.assemble(positions, parts)
    bare = Structure(s.names, s.positions, s.dofs, s.M, s.K).fix({0: "all"})
    basis = normal_modes(s.fix({0: "all"}), 4).shapes
    ours, theirs = modes_of(s.fix({0: "all"}), basis), modes_of(bare, basis)
    for name in ("rr0", "rr1", "rr2", "rf0", "rf1"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-11, err_msg=name)


def test_damping():
    m = beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=2, damping=(0.01, 0.02))
    omega = np.sqrt(np.diag(m.stiffness))
    np.testing.assert_allclose(np.diag(m.damping), [0.02 * omega[0], 0.04 * omega[1]], rtol=1e-9)
    s = beam(1.0, EI=1.0, mass_per_length=1.0, planes="y").with_rayleigh_damping(0.1, 1e-3)
    r = modes_of(s, normal_modes(s, 2).shapes, damping="structure")
    np.testing.assert_allclose(r.damping, 0.1 * r.ff + 1e-3 * r.stiffness, atol=1e-12)


def test_messages():
    s = beam(1.0, EI=1.0, mass_per_length=1.0, elements=4, planes="y")
    with pytest.raises(InputError, match=r"expected finite numbers of shape \(12, modes\)"):
        modes_of(s, np.eye(5))
    free = beam(1.0, EI=1.0, mass_per_length=1.0, elements=4, planes="y", root="free")
    with pytest.raises(InputError, match="rigid motion"):
        modes_of(free, normal_modes(free, 4).shapes)
    with pytest.raises(InputError, match="depend on each other"):
        modes_of(s, normal_modes(s, 2).shapes[:, [0, 1, 1]])
    stiff = Section(1e-9, 1e15, 1e15, 1e15)
    small = Structure.assemble(
        [[0, 0, 0], [0.01, 0, 0]], [EulerBernoulli(0, 1, stiff)], fixed={0: "all", 1: ("rx",)}
    )
    shape = normal_modes(small, 1).shapes
    with pytest.raises(InputError, match="metres"):
        modes_of(small, shape)
    with pytest.raises(InputError, match="torsion modes need GJ"):
        beam_body(1.0, EI=1.0, mass_per_length=1.0, torsion=1)
