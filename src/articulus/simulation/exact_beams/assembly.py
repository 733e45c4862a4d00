"""The equations of a whole beam: kernels over all elements and nodes at once, and the banded matrix of the free displacements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

import casadi as ca
import numpy as np
from casadi import SX
from scipy.sparse import csc_array

from articulus import kernel
from articulus.numerics.banded import BandedLU, band_storage
from articulus.simulation.exact_beams import element, node
from articulus.simulation.exact_beams.beam import COMPONENTS, SUPPORTS, Base, Beam
from articulus.simulation.exact_beams.lie import displace
from articulus.simulation.exact_beams.pieces import Pieces
from articulus.spatial.rotation import quaternion_matrix, quaternion_product
from articulus.spatial.vector import skew

Array = np.ndarray
BAND = 11
"""Diagonals on either side: a displacement meets those of its own node and of the two neighbors, six each."""


@dataclasses.dataclass(frozen=True)
class Energy:
    """Energies [J] and momentum of a beam: linear [kg m/s], and angular about the origin [kg m^2/s], (3,) each."""

    kinetic: float
    strain: float
    gravity: float
    linear: Array
    angular: Array

    @property
    def total(self) -> float:
        return self.kinetic + self.strain + self.gravity


class BeamAssembly:
    """The beam as arrays.

    Parameters
    ----------
    beam : Beam

    Attributes
    ----------
    inertia : array, (nodes, 6, 6)
        Inertia of each node in its own axes, angular part first.
    free : array of int
        Displacements that no support holds, among 6 a node.
    """

    def __init__(self, beam: Beam):
        self.beam, self.nodes = beam, beam.nodes
        cut = Pieces.of(beam)
        self.undeformed, self.lengths, self.stiffness, self.inertia = dataclasses.astuple(cut)
        held = np.zeros((self.nodes, 6), dtype=bool)
        for place, kind in beam.supports.items():
            held[place] = [name in SUPPORTS[kind] for name in COMPONENTS]
        self.free = np.flatnonzero(~held.ravel())
        self._take, self._row, self._column = self._map()
        self._put = self._column * (3 * BAND + 1) + 2 * BAND + self._row - self._column
        self._gravity = np.array(beam.gravity)
        self._carried = np.flatnonzero(held.all(axis=1)) if beam.base else np.zeros(0, dtype=int)
        self._base = _base(beam.base) if beam.base else None
        self._steady = all(load.history is None for load in beam.loads)
        self._dead, self._follower = self._loads(0.0)
        self._bind()

    def _bind(self) -> None:
        """Prepare calls on fixed arrays: what a time step does again and again."""
        n = self.nodes
        self._q, self._dq, self._v, self._vdot = np.zeros((n, 7)), *(np.zeros((n, 6)) for _ in range(3))
        at = (self._q, self._v, self._vdot, self.inertia, self._gravity, self._dead, self._follower)
        elements = (self._q[:-1], self._q[1:], self.undeformed, self.stiffness)
        self._displace = displacement_kernel().bind(self._q, self._dq)
        self._node, self._forces = node.residual().bind(*at), element.forces().bind(*elements)
        self._by = np.zeros(()), np.zeros(())
        self._stress = np.zeros((n - 1, 6))
        self._node_tangent = node.tangent().bind(*at, *self._by)
        self._tangent = element.tangent().bind(self._q[:-1], self._q[1:], self.stiffness, self._stress)
        self._time = np.zeros(())
        self._place = self._base.bind(self._time, self.beam.poses[self._carried]) if self._base else None
        self._placed_at = np.nan

    def _map(self) -> tuple[Array, Array, Array]:
        """Return which entries of (diagonal, upper, lower) blocks are free, and their rows and columns among the free ones."""
        number = np.full(6 * self.nodes, -1)
        number[self.free] = np.arange(self.free.size)
        first = 6 * np.arange(self.nodes)[:, None, None]
        i, j = np.arange(6)[:, None], np.arange(6)[None, :]
        rows = [first + i + 0 * j, first[:-1] + i + 0 * j, first[1:] + i + 0 * j]
        columns = [first + j + 0 * i, first[1:] + j + 0 * i, first[:-1] + j + 0 * i]
        row, column = (number[np.concatenate([x.ravel() for x in each])] for each in (rows, columns))
        take = np.flatnonzero((row >= 0) & (column >= 0))
        return take, row[take], column[take]

    # loads and base

    def _loads(self, t: float) -> tuple[Array, Array]:
        """Return dead and follower loads at time t, (nodes, 6) each, moment first."""
        both = np.zeros((self.nodes, 6)), np.zeros((self.nodes, 6))
        for load in self.beam.loads:
            factor = 1.0 if load.history is None else load.history(t)
            both[load.follower][load.node] += factor * np.array([*load.moment, *load.force])
        return both

    def _set(self, t: float, q: Array, v: Array, vdot: Array) -> None:
        """Copy a state to where the prepared calls read it."""
        self._q[:], self._v[:], self._vdot[:] = q, v, vdot
        if not self._steady:
            self._dead[:], self._follower[:] = self._loads(t)

    def _base_at(self, t: float) -> tuple[Array, ...]:
        """Return poses and velocities of the nodes that the base carries at time t."""
        if self._placed_at != t:
            self._time[()] = self._placed_at = t
            self._place()  # type: ignore[misc]
        return self._place.outputs  # type: ignore[union-attr]

    def displace(self, t: float, q: Array, dq: Array) -> Array:
        """Return poses displaced by motions dq, (nodes, 6), with those on the base where it is at time t [s]."""
        self._q[:], self._dq[:] = q, dq
        self._displace()
        out = self._displace.outputs[0].copy()
        if self._place is not None:
            out[self._carried] = self._base_at(t)[0]
        return out

    def at(self, t: float) -> tuple[Array, Array]:
        """Return poses and velocities of the undeformed beam that moves with its base at time t [s]."""
        if self._base is None:
            return self.beam.poses.copy(), np.zeros((self.nodes, 6))
        return self._base(t, self.beam.poses)

    # equations

    def residual(self, t: float, q: Array, v: Array, vdot: Array) -> Array:
        """Return what is left of the equations of motion, (nodes, 6), in the nodes' axes [N m, N]."""
        self._set(t, q, v, vdot)
        self._node()
        self._forces()
        out = self._node.outputs[0].copy()
        at_A, at_B = self._forces.outputs
        out[:-1] += at_A
        out[1:] += at_B
        return out

    def blocks(
        self,
        t: float,
        q: Array,
        v: Array,
        vdot: Array,
        by_v: float,
        by_vdot: float,
        dq: Array | None = None,
        stress: Array | None = None,
    ) -> tuple[Array, Array, Array]:
        """Return diagonal, upper and lower blocks of K + by_v C + by_vdot M, (nodes or elements, 6, 6).

        With dq, (nodes, 6), the elements' part is the derivative by dq where q is displaced by dq: K (1 - ad(dq)/2 + ...).
        `stress`, (elements, 6), is that of the geometric stiffness; that at q if not given.
        """
        self._set(t, q, v, vdot)
        self._stress[:] = self.stress(q) if stress is None else stress
        self._by[0][()], self._by[1][()] = by_v, by_vdot
        self._node_tangent()
        self._tangent()
        diagonal = self._node_tangent.outputs[0].copy()
        AA, AB, BA, BB = self._tangent.outputs
        if dq is not None:
            turn = np.eye(6) - ads(dq) / 2
            AA, BA, AB, BB = AA @ turn[:-1], BA @ turn[:-1], AB @ turn[1:], BB @ turn[1:]
        diagonal[:-1] += AA
        diagonal[1:] += BB
        return diagonal, AB, BA

    def factor(self, blocks: tuple[Array, Array, Array]) -> Callable[[Array], Array]:
        """Return the solution of the banded system of the free displacements as a function of the right side.

        The right side and the result are (6 nodes,); held displacements are zero.

        Raises
        ------
        numpy.linalg.LinAlgError
            The matrix is singular: likely the supports leave a rigid motion free.
        """
        n = self.free.size
        band = band_storage(n, BAND, BAND)
        band.T.ravel()[self._put] = np.concatenate([x.ravel() for x in blocks])[self._take]
        factors = BandedLU(band, BAND, BAND)
        free, size = self.free, 6 * self.nodes

        def solve(right: Array) -> Array:
            out = np.zeros(size)
            out[free] = factors.solve(right[free])
            return out

        return solve

    def sparse(self, blocks: tuple[Array, Array, Array]) -> csc_array:
        """Return the matrix of the free displacements."""
        values = np.concatenate([x.ravel() for x in blocks])[self._take]
        return csc_array((values, (self._row, self._column)), shape=(self.free.size,) * 2)

    def stress(self, q: Array, dq: Array | None = None) -> Array:
        """Return K (d - d0) of each element, (elements, 6); with dq, (nodes, 6), what it becomes linearly along dq."""
        d = element.strains()(q[:-1], q[1:]) - self.undeformed
        if dq is not None:
            d = d + element.strain_rates()(q[:-1], q[1:], dq[:-1], dq[1:])
        return np.einsum("kij,kj->ki", self.stiffness, d)

    def strains(self, q: Array) -> Array:
        """Return mean strains of each element, (elements, 6): torsion, curvatures y, z [1/m], stretch, shear y, z [-]."""
        return (element.strains()(q[:-1], q[1:]) - self.undeformed) / self.lengths[:, None]

    def energy(self, t: float, q: Array, v: Array) -> Energy:
        """Return energies and momentum at poses q and body velocities v, (nodes, 6); held nodes move with the base."""
        if self._place is not None:
            v = v.copy()
            v[self._carried] = self._base_at(t)[1]
        parts = _energy()(q, v, self.inertia, self._gravity).sum(axis=0)
        d = element.strains()(q[:-1], q[1:]) - self.undeformed
        strain = 0.5 * np.einsum("ki,kij,kj->", d, self.stiffness, d)
        return Energy(parts[0], float(strain), parts[1], parts[2:5], parts[5:8])

    def resultant(self, t: float, q: Array) -> Array:
        """Return moment about the origin and force of all loads and of gravity, (6,), world axes [N m, N]."""
        still = np.zeros((self.nodes, 6))
        return -np.einsum("kji,kj->i", _rigid()(q), self.residual(t, q, still, still))

    def with_momentum(self, q: Array, v: Array, wanted: Array) -> Array:
        """Return velocities, (nodes, 6), with the momentum `wanted`, (6,), moment of momentum about the origin first.

        They differ from v by a rigid motion: the least change of velocities, measured by the kinetic energy of the change.
        """
        rigid = _rigid()(q)
        momenta = np.einsum("kij,kj->ki", self.inertia, v)
        inertia = np.einsum("kji,kjl,klm->im", rigid, self.inertia, rigid)
        change = np.linalg.solve(inertia, wanted - np.einsum("kji,kj->i", rigid, momenta))
        return v + rigid @ change


def ads(motions: Array) -> Array:
    """Return ad of each motion, (n, 6, 6)."""
    out = np.zeros((len(motions), 6, 6))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        for row, column, part in ((0, 0, 0), (3, 3, 0), (3, 0, 3)):
            out[:, row + i, column + j] = -motions[:, part + k]
            out[:, row + j, column + i] = motions[:, part + k]
    return out


@cache
def displacement_kernel() -> kernel.Kernel:
    """Return the kernel (pose, motion) -> pose that is reached in one second."""
    q, v = SX.sym("q", 7), SX.sym("v", 6)
    return kernel.compile(ca.Function("displace", [q, v], [displace(q, v)]))


@cache
def _rigid() -> kernel.Kernel:
    """Return the kernel pose -> (6, 6): velocity in the node's axes of a rigid motion about the origin, world axes.

    Its transpose takes a wrench or a momentum of the node to world axes about the origin.
    """
    q = SX.sym("q", 7)
    R = quaternion_matrix(q[:4])
    out = ca.blockcat([[R.T, SX(3, 3)], [-ca.mtimes(R.T, skew(q[4:])), R.T]])
    return kernel.compile(ca.Function("beam_rigid", [q], [ca.densify(out)]))


@cache
def _energy() -> kernel.Kernel:
    """Return the kernel (pose, v, M, gravity) -> kinetic and potential energy, momentum, moment of momentum."""
    q, v, M, g = SX.sym("q", 7), SX.sym("v", 6), SX.sym("M", 6, 6), SX.sym("g", 3)
    R, p = quaternion_matrix(q[:4]), q[4:]
    momentum = ca.mtimes(M, v)
    linear = ca.mtimes(R, momentum[3:])
    first_moment = ca.vertcat(M[2, 4], M[0, 5], M[1, 3])
    potential = -ca.dot(g, M[3, 3] * p + ca.mtimes(R, first_moment))
    angular = ca.mtimes(R, momentum[:3]) + ca.cross(p, linear)
    out = ca.vertcat(ca.dot(v, momentum) / 2, potential, linear, angular)
    return kernel.compile(ca.Function("beam_energy", [q, v, M, g], [out]))


def _base(base: Base) -> kernel.Kernel:
    """Return the kernel (t, pose on the base) -> pose, body velocity."""
    t, q = SX.sym("t"), SX.sym("q", 7)
    turn, shift = (SX(x) for x in base(t))
    R = quaternion_matrix(turn)
    pose = ca.vertcat(quaternion_product(turn, q[:4]), shift + ca.mtimes(R, q[4:]))
    rate = ca.jacobian(pose, t)
    conjugate = ca.vertcat(pose[0], -pose[1:4])
    w = 2 * quaternion_product(conjugate, rate[:4])[1:]
    v = ca.mtimes(quaternion_matrix(pose[:4]).T, rate[4:])
    return kernel.compile(ca.Function("beam_base", [t, q], [pose, ca.vertcat(w, v)]))
