"""The section of a shell: stiffness and inertia per unit area, by classical lamination theory.

Strains at the height z above the surface of the nodes are eps + z kappa, with the strains eps of that surface and its
curvatures kappa_xx = -w_xx, kappa_yy = -w_yy, kappa_xy = -2 w_xy. Forces and moments per unit length are then

    [N]   [A  B] [eps  ]
    [M] = [B  D] [kappa]        (A, B, D) = integral of Q(z) (1, z, z^2) over the thickness

with the plane-stress stiffness Q of each layer, turned by its angle (Jones 1999, chapter 4; Reddy 2004, section 3.3).

Transverse shear. Thin shells keep normals square to the surface; thick ones let them lean by gamma_a = w_a + beta_a, against
the forces Q_a = S_ab gamma_b. S is that of the shear stresses which equilibrium asks for (Rohwer 1988): where M_xx grows along x and
M_yy along y, and nothing else does, M_xx,x = Q_x and M_yy,y = Q_y, in-plane stresses grow by Q (eps_,a + z kappa_,a) with the strains of
these moments, layers take up the difference from the bottom to the top,

    tau_a(z) = -integral of (sigma_ax,x + sigma_ay,y) from the bottom to z

and 1/2 Q' S^-1 Q is the energy of tau in the shear moduli of the layers. One layer has 5/6 of G h; a sandwich about G d^2 / c, with
the distance d of its skins and the thickness c of its core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain

RIGID = 1e6
"""How much stiffer a direction is that does not yield to transverse shear while the other one does."""


@dataclass(frozen=True)
class Ply:
    """A layer of a laminate, orthotropic in its own axes 1 (fibres) and 2.

    Parameters
    ----------
    thickness : float [m]
    E1, E2 : float [Pa]
        Young's moduli along and across the fibres; E2 = E1 if not given.
    nu12 : float [-]
        Contraction along 2 by a pull along 1.
    G12 : float [Pa]
        Shear modulus; that of an isotropic material, E1 / (2 + 2 nu12), if not given.
    density : float [kg/m^3]
    angle : float [rad]
        From the x axis of the laminate to the fibres, about its normal.
    G13, G23 : float [Pa]
        Moduli of transverse shear along and across the fibres; G12 and then G13 if not given, infinite for a layer that does not yield.
    """

    thickness: float
    E1: float
    E2: float | None = None
    nu12: float = 0.0
    G12: float | None = None
    density: float = 0.0
    angle: float = 0.0
    G13: float | None = None
    G23: float | None = None

    def __post_init__(self) -> None:
        given = {"thickness": self.thickness, "E1": self.E1, "nu12": self.nu12, "density": self.density, "angle": self.angle}  # fmt: skip
        require_plain("ply", (0,), **given)
        E2 = self.E1 if self.E2 is None else self.E2
        G12 = self.E1 / (2 * (1 + self.nu12)) if self.G12 is None else self.G12
        G13 = G12 if self.G13 is None else self.G13
        G23 = G13 if self.G23 is None else self.G23
        require_plain("ply", (0,), E2=E2, G12=G12)
        require_plain("ply", (0,), **{n: g for n, g in (("G13", G13), ("G23", G23)) if g != np.inf})
        for name, value in (("thickness", self.thickness), ("E1", self.E1), ("E2", E2)):
            if not value > 0:
                raise InputError(f"ply: {name} = {value}; expected a number above zero")
        for name, value in (("G12", G12), ("G13", G13), ("G23", G23), ("density", self.density)):
            if not value >= 0:
                raise InputError(f"ply: {name} = {value}; expected a number that is not negative")
        if not self.nu12**2 < self.E1 / E2:
            raise InputError(
                f"ply: nu12 = {self.nu12} with E1 = {self.E1:g} and E2 = {E2:g}; expected |nu12| below sqrt(E1 / E2), else "
                "some strain would cost no energy: were the axes 1 and 2 swapped?"
            )
        object.__setattr__(self, "E2", E2)
        object.__setattr__(self, "G12", G12)
        object.__setattr__(self, "G13", G13)
        object.__setattr__(self, "G23", G23)

    @property
    def Q(self) -> np.ndarray:
        """Plane-stress stiffness in the axes of the laminate, (3, 3) [Pa]: stresses xx, yy, xy for strains xx, yy, 2 xy."""
        assert self.E2 is not None
        assert self.G12 is not None
        share = 1 - self.nu12**2 * self.E2 / self.E1
        own = np.array([
            [self.E1 / share, self.nu12 * self.E2 / share, 0.0],
            [self.nu12 * self.E2 / share, self.E2 / share, 0.0],
            [0.0, 0.0, self.G12],
        ])  # fmt: skip
        T = strains_turned(-self.angle)
        return T.T @ own @ T

    @property
    def shear_compliance(self) -> np.ndarray:
        """Transverse shear strains in the axes of the laminate for unit stresses xz, yz, (2, 2) [1/Pa]; for moduli above zero."""
        assert self.G13 is not None
        assert self.G23 is not None
        R = axes_turned(self.angle)
        return R @ np.diag([1 / self.G13, 1 / self.G23]) @ R.T


def axes_turned(angle: float) -> np.ndarray:
    """Return R (2, 2): a vector in the present axes is R times the one in axes turned by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def strains_turned(angle: float) -> np.ndarray:
    """Return T (3, 3): strains (xx, yy, 2 xy) in the present axes are T times those in axes turned by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c * c, s * s, -s * c], [s * s, c * c, s * c], [2 * s * c, -2 * s * c, c * c - s * s]])


@dataclass(frozen=True, eq=False)
class Plate:
    """A section of a shell.

    Parameters
    ----------
    ABD : array, (6, 6)
        Forces N_xx, N_yy, N_xy [N/m] and moments M_xx, M_yy, M_xy [N] for unit strains (xx, yy, 2 xy) and curvatures of the
        surface that the nodes span.
    mass : float [kg/m^2]
        Per unit area.
    center : float [m]
        Height of the center of mass above that surface, along the normal of the element.
    rotary : float [kg]
        Moment of inertia per unit area about an axis in the surface through the center of mass.
    shear : array, (2, 2) [N/m]
        Forces Q_x, Q_y per unit length for unit transverse shear strains; None if they are not known, or rigid. Thick shells need it.
    """

    ABD: np.ndarray
    mass: float
    center: float = 0.0
    rotary: float = 0.0
    shear: np.ndarray | None = None

    def __post_init__(self) -> None:
        ABD = np.asarray(self.ABD, dtype=float)
        require_plain("plate", (0,), mass=self.mass, center=self.center, rotary=self.rotary)
        if ABD.shape != (6, 6) or not np.isfinite(ABD).all():
            raise InputError(f"plate: ABD of shape {ABD.shape}; expected (6, 6) finite numbers")
        size = np.sqrt(np.maximum(ABD.diagonal(), 0.0))
        size = np.outer(size, size) + (np.outer(size, size) == 0)
        if np.abs((ABD - ABD.T) / size).max() > 1e-9 or np.linalg.eigvalsh(ABD / size)[0] < -1e-9:
            raise InputError("plate: ABD is not symmetric, or a strain would have negative energy")
        if not (self.mass >= 0 and self.rotary >= 0):
            raise InputError(
                f"plate: mass = {self.mass}, rotary = {self.rotary}; expected numbers that are not negative"
            )
        object.__setattr__(self, "ABD", ABD)
        if self.shear is not None:
            object.__setattr__(self, "shear", _checked_shear(self.shear))

    @staticmethod
    def isotropic(thickness: float, E: float, nu: float, density: float, extra: float = 0.0) -> Plate:
        """Return a plate of one material.

        Parameters
        ----------
        thickness : float [m]
        E : float [Pa]
            Young's modulus.
        nu : float [-]
            Poisson's ratio.
        density : float [kg/m^3]
        extra : float [kg/m^2]
            Mass that is not structural.
        """
        if not -1 < nu < 1:
            raise InputError(f"plate: nu = {nu}; expected Poisson's ratio between -1 and 1")
        return Plate.laminate([Ply(thickness, E, nu12=nu, density=density)], extra=extra)

    @staticmethod
    def laminate(plies: Sequence[Ply], *, bottom: float | None = None, extra: float = 0.0) -> Plate:
        """Return the section of layers on each other.

        Parameters
        ----------
        plies : sequence of Ply
            From the bottom to the top, along the normal of the element.
        bottom : float [m]
            Height of the lowest face above the surface of the nodes; minus half the thickness if not given.
        extra : float [kg/m^2]
            Mass that is not structural, in the middle of the layers.
        """
        if not plies:
            raise InputError("laminate: no ply; give at least one")
        require_plain("laminate", (0,), extra=extra)
        t = np.array([p.thickness for p in plies])
        if bottom is None:
            bottom = -t.sum() / 2
        z = bottom + np.concatenate([[0.0], np.cumsum(t)])
        A, B, D = (
            sum((p.Q * (b**k - a**k) / k for p, a, b in zip(plies, z, z[1:])), np.zeros((3, 3)))
            for k in (1, 2, 3)
        )
        rho = np.array([p.density for p in plies])
        middle = 0.5 * (z[0] + z[-1])
        mass = rho @ t + extra
        first = rho @ np.diff(z**2) / 2 + extra * middle
        second = rho @ np.diff(z**3) / 3 + extra * middle**2
        center = float(first / mass) if mass else 0.0
        ABD = np.block([[A, B], [B, D]])
        return Plate(
            ABD, float(mass), center, max(float(second - first * center), 0.0), _laminate_shear(plies, z, ABD)
        )

    def turn(self, angle: float) -> Plate:
        """Return the same plate with its x axis turned by `angle` [rad] about the normal, in the present axes."""
        T, R = np.kron(np.eye(2), strains_turned(-angle)), axes_turned(angle)
        shear = None if self.shear is None else R @ self.shear @ R.T
        return Plate(T.T @ self.ABD @ T, self.mass, self.center, self.rotary, shear)

    def shift(self, height: float) -> Plate:
        """Return the same plate with its surface `height` [m] above the one that the nodes span (Nastran's ZOFFS)."""
        S = np.eye(6)
        S[:3, 3:] = height * np.eye(3)
        return Plate(S.T @ self.ABD @ S, self.mass, self.center + height, self.rotary, self.shear)

    @property
    def bending(self) -> np.ndarray:
        """Bending stiffness where no force N acts, D - B A^-1 B, (3, 3) [N m]; the same for any height of the surface of the nodes."""
        A, B, D = self.ABD[:3, :3], self.ABD[:3, 3:], self.ABD[3:, 3:]
        return D - B @ np.linalg.pinv(A, rcond=1e-12, hermitian=True) @ B


def _checked_shear(shear: np.ndarray) -> np.ndarray:
    """Return a shear stiffness as an array; raise if it is none."""
    S = np.asarray(shear, dtype=float)
    if S.shape != (2, 2) or not np.isfinite(S).all():
        raise InputError(f"plate: shear of shape {S.shape}; expected (2, 2) finite numbers [N/m]")
    size = np.abs(S).max()
    if np.abs(S - S.T).max() > 1e-9 * size or np.linalg.eigvalsh(S)[0] < -1e-9 * size:
        raise InputError("plate: shear is not symmetric, or a shear strain would have negative energy")
    return S


def shear_stiffness(compliance: np.ndarray) -> np.ndarray | None:
    """Return the inverse of a shear compliance (2, 2) [m/N]; None where nothing yields.

    A direction that does not yield while the other does is taken as `RIGID` times as stiff.
    """
    values, axes = np.linalg.eigh(compliance)
    if not values[-1] > 0:
        return None
    S = (axes / np.maximum(values, values[-1] / RIGID)) @ axes.T
    return 0.5 * (S + S.T)


def _laminate_shear(plies: Sequence[Ply], z: np.ndarray, ABD: np.ndarray) -> np.ndarray | None:
    """Return the transverse shear stiffness of layers with the faces z (n + 1,); None where no layer yields, zero where one slips."""
    if not all(p.G13 and p.G23 for p in plies):
        return np.zeros((2, 2))
    size = np.sqrt(ABD.diagonal()) + (ABD.diagonal() == 0)
    compliance = np.linalg.pinv(ABD / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(
        size, size
    )
    grows = compliance[:, [3, 4]]  # strains (6,) that grow with Q_x along x, and with Q_y along y
    points, weights = np.polynomial.legendre.leggauss(
        3
    )  # tau is quadratic in a layer, its energy of degree four
    F, below = np.zeros((2, 2)), np.zeros((2, 2))

    def carry(Q: np.ndarray, a: float, b: float | np.ndarray) -> np.ndarray:
        """Return tau (2,) for unit forces (columns) that a layer adds between the heights a and b."""
        sigma = Q @ (
            grows[:3] * (b - a) + grows[3:] * (b**2 - a**2) / 2
        )  # (3, 2): by Q_x along x, by Q_y along y
        return -np.array([[sigma[0, 0], sigma[2, 1]], [sigma[2, 0], sigma[1, 1]]])

    for ply, a, b in zip(plies, z, z[1:]):
        for xi, weight in zip(points, weights):
            tau = below + carry(ply.Q, a, a + (b - a) * (1 + xi) / 2)
            F += weight * (b - a) / 2 * tau.T @ ply.shear_compliance @ tau
        below = below + carry(ply.Q, a, b)
    return shear_stiffness(F)
