"""What a finite-element file holds: plain, frozen data in basic coordinates, SI units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from articulus.errors import InputError, did_you_mean

Vector = tuple[float, float, float]
Matrix3 = tuple[Vector, Vector, Vector]
Dof = tuple[int, int]
"""A grid's id and a component 1 to 6 (three translations, three rotations); a scalar point's id and 0."""

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class FeGrid:
    """A point with six degrees of freedom.

    Parameters
    ----------
    id : int
    position : (3,) [m]
        In basic coordinates.
    axes : (3, 3) [-]
        Rotation from the axes of its displacements to basic ones, by rows.
    """

    id: int
    position: Vector
    axes: Matrix3 = IDENTITY


@dataclass(frozen=True)
class FeMaterial:
    """Isotropic material: Young's and shear modulus `E`, `G` [Pa], Poisson's ratio `nu` [-], density `rho` [kg/m^3]."""

    id: int
    E: float
    G: float
    nu: float
    rho: float = 0.0


@dataclass(frozen=True)
class Orthotropic:
    """Material of a layer (MAT8): moduli along and across its fibres and in shear [Pa], Poisson's ratio, density [kg/m^3].

    `G1Z` and `G2Z` [Pa] are moduli of transverse shear along and across the fibres; infinite where the file gives none.
    """

    id: int
    E1: float
    E2: float
    nu12: float
    G12: float
    rho: float = 0.0
    G1Z: float = math.inf
    G2Z: float = math.inf


@dataclass(frozen=True)
class ShellSection:
    """Section of a shell of one thickness (PSHELL).

    Parameters
    ----------
    id : int
    thickness : float [m]
    membrane, bending : FeMaterial, Orthotropic or None
        What stretches and what bends; None for no such stiffness.
    ratio : float [-]
        Bending stiffness over that of a solid plate, 12 I / T^3.
    nsm : float [kg/m^2]
        Mass that is not structural.
    shear : FeMaterial, Orthotropic or None
        What yields to transverse shear (MID3); None for a thin shell, which does not.
    shear_ratio : float [-]
        Thickness that carries transverse shear over the thickness, TS / T.
    """

    id: int
    thickness: float
    membrane: FeMaterial | Orthotropic | None
    bending: FeMaterial | Orthotropic | None
    ratio: float = 1.0
    nsm: float = 0.0
    shear: FeMaterial | Orthotropic | None = None
    shear_ratio: float = 5 / 6


@dataclass(frozen=True)
class Layer:
    """A layer of a lay-up: its material, thickness [m], and angle [rad] from the x axis of the material."""

    material: FeMaterial | Orthotropic
    thickness: float
    angle: float


@dataclass(frozen=True)
class LayUp:
    """Section of a laminated shell (PCOMP).

    Parameters
    ----------
    id : int
    layers : tuple of Layer
        All of them, from the bottom to the top.
    bottom : float [m]
        Height of the bottom above the surface of the grids.
    nsm : float [kg/m^2]
        Mass that is not structural.
    """

    id: int
    layers: tuple[Layer, ...]
    bottom: float
    nsm: float = 0.0


@dataclass(frozen=True)
class FeSection:
    """Constant section of a beam, by its principal or any other pair of axes y and z.

    Parameters
    ----------
    id : int
    area : float [m^2]
    I1 : float [m^4]
        Bending in plane 1, that of the element's x and y: the integral of y^2.
    I2 : float [m^4]
        Bending in plane 2, that of x and z: the integral of z^2.
    I12 : float [m^4]
        The integral of y z.
    J : float [m^4]
        Torsion constant.
    nsm : float [kg/m]
        Mass along the beam that is not structural.
    k1, k2 : float [-]
        Shear area over area in planes 1 and 2; 0 for no shear deformation.
    """

    id: int
    area: float
    I1: float
    I2: float
    I12: float = 0.0
    J: float = 0.0
    nsm: float = 0.0
    k1: float = 0.0
    k2: float = 0.0


@dataclass(frozen=True)
class FeBeam:
    """A straight beam between two grids.

    Parameters
    ----------
    id : int
    grids : (int, int)
        Ends A and B; the element's x goes from A to B.
    orientation : (3,) [-]
        Unit vector in basic axes that spans plane 1 with x: z is along x cross orientation, y along z cross x.
    section : Section
    material : FeMaterial
    pins : (tuple of int, tuple of int)
        Components 1 to 6, in the axes of the element, that ends A and B do not share with their grids.
    offsets : ((3,), (3,)) [m]
        From the grids to the ends, basic axes.
    """

    id: int
    grids: tuple[int, int]
    orientation: Vector
    section: FeSection
    material: FeMaterial
    pins: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    offsets: tuple[Vector, Vector] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class FeRod:
    """A straight bar between two grids, with the area, torsion constant and extra mass of a section without I1 and I2."""

    id: int
    grids: tuple[int, int]
    section: FeSection
    material: FeMaterial


@dataclass(frozen=True)
class PointMass:
    """A rigid body on a grid.

    Parameters
    ----------
    id : int
    grid : int
    mass : float [kg]
    offset : (3,) [m]
        From the grid to the center of mass, basic axes.
    inertia : (3, 3) [kg m^2]
        About the center of mass, basic axes.
    """

    id: int
    grid: int
    mass: float
    offset: Vector
    inertia: Matrix3


@dataclass(frozen=True)
class FeShell:
    """A shell between three, four or eight grids; thick where its section yields to transverse shear.

    Parameters
    ----------
    id : int
    grids : tuple of int
        Corners in order around it; of eight the last four are in the middle of its sides, from each corner to the next.
    section : ShellSection or LayUp
    angle : float [rad]
        From the side of the first two grids to the x axis of the material, about the normal; without `along`.
    along : (3,) or None
        Direction, in basic axes, whose part in the surface is the x axis of the material.
    offset : float [m]
        Height of its reference surface above that of the grids, along the normal.
    """

    id: int
    grids: tuple[int, ...]
    section: ShellSection | LayUp
    angle: float = 0.0
    along: Vector | None = None
    offset: float = 0.0


@dataclass(frozen=True)
class Rigid:
    """Grids that follow one grid like a rigid body (RBE2), in components of their own axes."""

    id: int
    grid: int
    components: tuple[int, ...]
    dependents: tuple[int, ...]


@dataclass(frozen=True)
class MeanElement:
    """A grid that follows the weighted mean motion of others (RBE3): sets of (weight, components, grids)."""

    id: int
    grid: int
    components: tuple[int, ...]
    sets: tuple[tuple[float, tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True)
class ScalarElement:
    """Stiffness [N/m, N m] (CELAS2) or mass [kg, kg m^2] (CMASS2) between two degrees of freedom, or of one against the ground."""

    id: int
    value: float
    first: Dof
    second: Dof | None = None


@dataclass(frozen=True)
class BulkModel:
    """Grids, elements and constraints of a bulk-data file.

    Parameters
    ----------
    name : str
    grids : tuple of FeGrid
        In ascending order of their ids.
    beams, rods, masses : tuples of FeBeam, FeRod, PointMass
    scalar_points : tuple of int
    fixed : tuple of Dof
        Degrees of freedom that are held, in the axes of the displacements; ascending.
    retained : tuple of Dof
        The analysis set (ASET); empty when the file names none.
    notes : tuple of str
        What was read over, each with file and line.
    shells : tuple of FeShell
    springs, scalar_masses : tuples of ScalarElement
    rigids, means : tuples of Rigid, MeanElement
    """

    name: str
    grids: tuple[FeGrid, ...]
    beams: tuple[FeBeam, ...] = ()
    rods: tuple[FeRod, ...] = ()
    masses: tuple[PointMass, ...] = ()
    scalar_points: tuple[int, ...] = ()
    fixed: tuple[Dof, ...] = ()
    retained: tuple[Dof, ...] = ()
    notes: tuple[str, ...] = ()
    shells: tuple[FeShell, ...] = ()
    springs: tuple[ScalarElement, ...] = ()
    scalar_masses: tuple[ScalarElement, ...] = ()
    rigids: tuple[Rigid, ...] = ()
    means: tuple[MeanElement, ...] = ()

    @property
    def dofs(self) -> tuple[Dof, ...]:
        """Every degree of freedom: six per grid and one per scalar point, ascending by id."""
        grids = [(g.id, c) for g in self.grids for c in range(1, 7)]
        return tuple(sorted(grids + [(p, 0) for p in self.scalar_points]))


@dataclass(frozen=True)
class MatrixSet:
    """Named matrices of a file.

    Parameters
    ----------
    name : str
    matrices : mapping of str to scipy.sparse.csr_array
        In the order of the file; names as the file writes them.
    dofs : tuple of Dof
        Degree of freedom of each row of the square matrices, where the file tells; else empty.
    grids : tuple of FeGrid
        Where the file tells; else empty.
    """

    name: str
    matrices: Mapping[str, Any]
    dofs: tuple[Dof, ...] = ()
    grids: tuple[FeGrid, ...] = ()

    def __getitem__(self, name: str) -> Any:
        """Return a matrix by its name; raise InputError that names the others when there is none."""
        if name not in self.matrices:
            raise InputError(f"{self.name}: no matrix '{name}'; {did_you_mean(name, self.matrices)}")
        return self.matrices[name]
