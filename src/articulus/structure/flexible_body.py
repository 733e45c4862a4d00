"""From a structure and some of its shapes to a flexible body of a mechanism: integrals of the shapes, computed once.

Symbols as in `articulus.model.mechanism.modes`: r undeformed position, phi_k displacement and psi_k rotation for a unit modal
coordinate, h_kl second derivative of the displacement.

Shortening. Modal coordinates measure strains: h_kl is the displacement that cancels the strains of second order, so that the
elastic energy stays 1/2 eta' K eta. A load f does through it the work that its section forces n(f), m(f) would do on these
strains, which is that of the geometric stiffness K_G of these forces (see `samples`): for every load

    f . h_kl = -phi_k' K_G(n(f), m(f)) phi_l

and twelve loads, accelerations e_j and r_i e_j of all mass points, give the integrals of h_kl and of r h_kl' over the mass
(Banerjee & Dickens 1990); nine couples give those of the rotations of second order over the rotary inertia; unit forces and
moments at a station give displacement and rotation of second order there. Supports carry the loads; where they leave rigid
motions free, the loads are taken together with the inertia forces of these motions, and h has no share in them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from articulus.errors import InputError
from articulus.model.mechanism.modes import Level, Modes, Station
from articulus.structure.check_basis import check_basis
from articulus.structure.compliance import check_carries
from articulus.structure.element.base import Node
from articulus.structure.modal_damping import Damping, damping_matrix
from articulus.structure.solution.statics import Statics
from articulus.structure.structure import COMPONENTS, Structure
from articulus.structure.vectors import LEVI_CIVITA, skew

HELD = 1e-6
"""Stiffness against a rigid motion, beside that of all degrees of freedom each for itself, above which something holds it."""

CARRIED = 0.5
"""Least share of the static compliance at a node that is to carry something."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small products: threads only wait for each other
def modes_of(
    structure: Structure,
    basis: np.ndarray,
    *,
    origin: Node | Sequence[float] = 0,
    stations: Mapping[str, Node] | None = None,
    damping: Damping = None,
    names: Sequence[str] | None = None,
    level: Level | None = None,
    carries: Iterable[Node] = (),
) -> Modes:
    """Return the flexible body that a structure makes with some shapes.

    Parameters
    ----------
    structure : Structure
        Its fixed degrees of freedom say how the body frame is attached: clamped at a node, or floating when nothing is fixed.
    basis : array, (n, modes)
        Degrees of freedom for each unit modal coordinate: normal modes, constraint modes, nodal functions (a unit matrix).
    origin : node or three floats [m]
        Origin of the body frame; its axes are those of the structure.
    stations : dict of name to node
        Places where something may be attached; if not given, all nodes by their names, or those for whose loads there is a
        geometric stiffness.
    damping : float, sequence of floats, "structure" or None
        Damping ratio of all or of each mode [-], or the structure's own D, or none.
    names : sequence of str
        Names of the modal coordinates; "mode1", "mode2", ... if not given.
    level : str
        "consistent" if not given, or "ruthless" where the structure has neither elements that give its section forces nor
        geometric stiffness matrices: then "consistent" is refused.
    carries : iterable of nodes
        Where something heavy or stiff will be attached: there the shapes must give at least half of the static compliance.
    """
    basis = np.asarray(basis, dtype=float)
    check_basis(structure, basis)
    warn_if_held(structure)
    for node in carries:
        check_carries(structure, basis, node, CARRIED)
    at = np.asarray(
        structure.positions[structure.node(origin)] if isinstance(origin, Node) else origin, dtype=float
    )
    names = tuple(names) if names is not None else tuple(f"mode{k + 1}" for k in range(basis.shape[1]))
    if len(names) != basis.shape[1]:
        raise InputError(f"modes_of: {len(names)} names for {basis.shape[1]} columns of the basis")
    geometric = structure.geometric if structure.samples is None else None
    if stations is None:
        stations = {name: name for name in (structure.names if geometric is None else geometric.loads)}
    knows = structure.samples is not None or geometric is not None
    mass, stiffness = basis.T @ (structure.M @ basis), basis.T @ (structure.K @ basis)
    return Modes(
        names=names,
        **inertia_integrals(structure, basis, at),
        **shortening_integrals(structure, basis, at),
        ff=mass,
        stiffness=stiffness,
        damping=damping_matrix(structure, basis, mass, stiffness, damping),
        stations=_stations(structure, basis, at, stations),
        level=level or ("consistent" if knows else "ruthless"),
        knows_shortening=knows,
    )


# inertia with displacements of first order


def inertia_integrals(structure: Structure, basis: np.ndarray, origin: np.ndarray) -> dict[str, Any]:
    """Return rr0, rr1, rr2, rf0, rf1 of `Modes`.

    The velocities of all points are (R0 + sum_k R_k eta_k) V + phi eta_dot, where R_k = (-phi_k x, 0); the integrals are
    products of these matrices weighted by the mass. Where only a mass matrix is known, the points are its nodes.
    """
    n, s = basis.shape[1], structure.samples
    R0, weighted, moves, arms = _point_rows(structure, basis, origin)
    rows = np.concatenate([R0, arms.reshape(len(R0), -1)], axis=1)
    G, F = rows.T @ (weighted @ rows), rows.T @ (weighted @ moves)
    out = _zeros(n)
    out["rr0"], out["rf0"] = G[:6, :6], F[:6]
    by_arm = G[6:, :6].reshape(n, 3, 6)
    out["rr1"][:, :3, :] += by_arm
    out["rr1"][:, :, :3] += by_arm.transpose(0, 2, 1)
    pairs = G[6:, 6:].reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
    out["rr2"][:, :, :3, :3] = pairs + pairs.transpose(1, 0, 2, 3)
    out["rf1"][:, :3, :] = F[6:].reshape(n, 3, n)
    if s is not None:
        _add_rotary(out, s.inertia, (s.rotation @ basis).reshape(len(s.mass), 3, n))
    return out


def rigid_inertia(
    structure: Structure, columns: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the spatial inertia of the whole structure, (6, 6), and its momentum for unit rates of shapes, (6, k).

    Parameters
    ----------
    columns : array, (n, k)
        Degrees of freedom of each shape.
    origin : array, (3,) [m]
        Point of reference.
    """
    s = structure.samples
    R0, weighted, moves, _ = _point_rows(structure, columns, origin, arms=False)
    inertia, momentum = R0.T @ (weighted @ R0), R0.T @ (weighted @ moves)
    if s is not None:
        inertia[:3, :3] += s.inertia.sum(axis=0)
        turns = (s.rotation @ columns).reshape(-1, 3, columns.shape[1])
        momentum[:3] += np.einsum("pab,pbl->al", s.inertia, turns)
    return inertia, momentum


def _point_rows(
    structure: Structure, basis: np.ndarray, origin: np.ndarray, arms: bool = True
) -> tuple[np.ndarray, Any, np.ndarray, np.ndarray]:
    """Return R0, the weight (a matrix), phi and, if `arms`, R_k as (rows, modes, 3), at the mass points or nodes."""
    n, s = basis.shape[1], structure.samples
    if s is None:
        whole = structure.whole or structure
        moves = structure.in_whole(basis)
        turned = _nodal_arms(whole, moves) if arms else np.zeros(0)
        return whole.rigid(origin), whole.M, moves, turned
    R0 = np.concatenate([_cross_rows(s.position - origin), np.tile(np.eye(3), (len(s.mass), 1))], axis=1)
    moves = s.translation @ basis
    turned = np.zeros((len(R0), n, 3))
    for k in range(n if arms else 0):
        turned[:, k] = _cross_rows(moves[:, k].reshape(-1, 3))
    return R0, sp.diags_array(np.repeat(s.mass, 3)), moves, turned


def _add_rotary(out: dict[str, np.ndarray], J: np.ndarray, psi: np.ndarray) -> None:
    """Add rotary inertia J (P, 3, 3), which turns with the sections by theta = psi eta, psi (P, 3, n).

    A section is a cloud of mass with the second moment C about its center; its points c are displaced by psi x c.
    """
    heavy = J.any(axis=(1, 2))
    J, psi = J[heavy], psi[heavy]
    T, C = skew(psi.transpose(2, 0, 1)), _clouds(J)
    out["rr0"][:3, :3] += J.sum(axis=0)
    out["rf0"][:3] += np.einsum("pab,pbl->al", J, psi)
    TC = T @ C
    along = TC.sum(axis=1)
    out["rr1"][:, :3, :3] += _moments_of_inertia(along + along.swapaxes(1, 2))
    both = -np.tensordot(TC, T, axes=([1, 3], [1, 2])).transpose(0, 2, 1, 3)
    out["rr2"][:, :, :3, :3] += _moments_of_inertia(both + both.swapaxes(2, 3))
    out["rf1"][:, :3, :] += np.einsum("aij,klij->kal", LEVI_CIVITA, both)


def _clouds(J: np.ndarray) -> np.ndarray:
    """Return the second moments of mass that have the moments of inertia J (P, 3, 3)."""
    return 0.5 * np.trace(J, axis1=1, axis2=2)[:, None, None] * np.eye(3) - J


def _moments_of_inertia(moment: np.ndarray) -> np.ndarray:
    """Return the moments of inertia of second moments of mass (..., 3, 3)."""
    return np.trace(moment, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - moment


# shortening


def shortening_integrals(structure: Structure, basis: np.ndarray, origin: np.ndarray) -> dict[str, Any]:
    """Return rr2_shortening and rf1_shortening of `Modes`."""
    n, geometric = basis.shape[1], structure.geometric
    rr2, rf1 = np.zeros((n, n, 6, 6)), np.zeros((n, 6, n))
    if structure.samples is not None:
        first, second = _mass_shortening(structure, basis, origin)
    elif geometric is not None:
        first, second = geometric.mass_shortening(basis, origin)
    else:
        return {"rr2_shortening": rr2, "rf1_shortening": rf1}
    moment = np.einsum("aij,ijkl->akl", LEVI_CIVITA, second)
    rf1[:, :3, :], rf1[:, 3:, :] = moment.transpose(1, 0, 2), first.transpose(1, 0, 2)
    Q = second.transpose(2, 3, 0, 1)
    rr2[:, :, :3, :3] = _moments_of_inertia(Q + Q.swapaxes(2, 3))
    across = skew(first.transpose(1, 2, 0))
    rr2[:, :, :3, 3:], rr2[:, :, 3:, :3] = across, -across
    return {"rr2_shortening": rr2, "rf1_shortening": rf1}


def _mass_shortening(
    structure: Structure, basis: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the integrals of h_j over the mass, (3, n, n), and of r_i h_j, (3, 3, n, n): twelve forces."""
    n, s = basis.shape[1], structure.samples
    assert s is not None
    r = s.position - origin
    fields = np.concatenate([np.ones((1, len(r))), r.T]) * s.mass
    loads = np.einsum("ip,jd->ijpd", fields, np.eye(3)).reshape(12, -1).T
    h = _through_shortening(structure, basis, s.translation.T @ loads, loads).reshape(4, 3, n, n)
    h = h + np.einsum("ip,pjkl->ijkl", fields, _lever_shortening(structure, basis))
    return h[0], h[1:] + _rotary_shortening(structure, basis)


def _rotary_shortening(structure: Structure, basis: np.ndarray) -> np.ndarray:
    """Return the integrals of c_i h_j over the clouds of mass that are the rotary inertia, (3, 3, n, n); see `_add_rotary`.

    A point c is displaced by t_kl x c, where t_kl is the second derivative of the rotation vector (nine couples give the
    integrals of that), and by theta x (theta x c) / 2.
    """
    n, s = basis.shape[1], structure.samples
    assert s is not None
    if not s.inertia.any():
        return np.zeros((3, 3, n, n))
    C, heavy = _clouds(s.inertia), s.inertia.any(axis=(1, 2))
    loads = np.einsum("pim,jdm->pdij", C, LEVI_CIVITA).reshape(3 * len(s.mass), 9)
    turned = _through_shortening(structure, basis, s.rotation.T @ loads).reshape(3, 3, n, n)
    T = skew((s.rotation @ basis).reshape(len(s.mass), 3, n).transpose(2, 0, 1)[:, heavy])
    twice = np.tensordot(T, T @ C[heavy], axes=([1, 3], [1, 2])).transpose(3, 1, 0, 2)
    return turned + 0.5 * (twice + twice.transpose(0, 1, 3, 2))


def _through_shortening(
    structure: Structure, basis: np.ndarray, nodal: np.ndarray, on_points: np.ndarray | float = 0.0
) -> np.ndarray:
    """Return f . h_kl for each load f, (loads, n, n).

    Parameters
    ----------
    nodal : array, (n, loads)
        Forces on the degrees of freedom.
    on_points : array, (3 P, loads) [N]
        Those of them that act on points within elements.
    """
    s = structure.samples
    assert s is not None
    statics = Statics(structure)
    relief = np.repeat(s.mass, 3)[:, None] * (s.translation @ (statics.rigid @ (statics.rigid.T @ nodal)))
    return -s.geometric_work(s.section_forces(statics.solve(nodal), on_points - relief), basis)


def _lever_shortening(structure: Structure, basis: np.ndarray) -> np.ndarray:
    """Return h_kl of points carried on levers c by nodes that turn: theta x (theta x c) / 2, (P, 3, n, n)."""
    s = structure.samples
    assert s is not None
    psi = (s.rotation @ basis).reshape(len(s.mass), 3, -1)
    T = skew(psi.transpose(0, 2, 1))
    both = np.einsum("pkab,plbc,pc->pakl", T, T, s.lever, optimize=True)
    return 0.5 * (both + both.transpose(0, 1, 3, 2))


def _stations(
    structure: Structure, basis: np.ndarray, origin: np.ndarray, stations: Mapping[str, Node]
) -> dict[str, Station]:
    n, out = basis.shape[1], {}
    rows = {name: structure.rows(node) for name, node in stations.items()}
    second = np.zeros((len(rows), 6, n, n))
    if structure.samples is not None and rows:
        nodal = np.concatenate(list(rows.values())).T
        second = _through_shortening(structure, basis, nodal).reshape(len(rows), 6, n, n)
    elif structure.geometric is not None:
        for k, (name, node) in enumerate(stations.items()):
            if rows[name].any():  # a node that is held moves by no order
                second[k] = structure.geometric.station_shortening(
                    basis, structure.names[structure.node(node)]
                )
    for (name, node), h in zip(stations.items(), second):
        moved = rows[name] @ basis
        position = structure.positions[structure.node(node)] - origin
        out[name] = Station(position, moved[:3], moved[3:], h[:3], h[3:])
    return out


# small helpers


def _cross_rows(p: np.ndarray) -> np.ndarray:
    """Return velocities of the points p (P, 3) for unit angular velocities, (3 P, 3): w x p = -(p x) w."""
    return -skew(p).reshape(-1, 3)


def _nodal_arms(structure: Structure, basis: np.ndarray) -> np.ndarray:
    """Return velocities of the degrees of freedom when the displaced nodes turn, for each mode and axis, (n, modes, 3)."""
    moved = np.zeros((len(structure.names), 6, basis.shape[1]))
    moved[tuple(structure.dofs.T)] = basis
    turned = np.zeros((len(structure.names), 6, basis.shape[1], 3))
    turned[:, :3] = -skew(moved[:, :3].transpose(0, 2, 1)).transpose(0, 2, 1, 3)
    return turned[tuple(structure.dofs.T)]


def _zeros(n: int) -> dict[str, np.ndarray]:
    return {
        "rr0": np.zeros((6, 6)), "rr1": np.zeros((n, 6, 6)), "rr2": np.zeros((n, n, 6, 6)),
        "rf0": np.zeros((6, n)), "rf1": np.zeros((n, 6, n)),
    }  # fmt: skip


def warn_if_held(structure: Structure) -> None:
    """Warn where matrices without elements resist rigid motions: grids that held them are not in the matrices."""
    whole = structure.whole or structure
    if whole.samples is not None:
        return
    R = whole.rigid(whole.positions.mean(axis=0))
    against = np.einsum("na,na->a", R, whole.K @ R)
    each = np.einsum("na,n,na->a", R, whole.K.diagonal(), R)
    held = [name for name, a, b in zip((*COMPONENTS[3:], *COMPONENTS[:3]), against, each) if a > HELD * b]
    if held:
        mass = np.einsum("na,na->a", R, whole.M @ R)[3:]
        told = ", ".join(f"{m:.6g}" for m in mass)
        warnings.warn(
            f"flexible body of matrices: their stiffness resists rigid motion ({', '.join(held)}), so grids were fixed "
            f"in the export. The mass of these grids is missing: found {told} kg along x, y and z; compare it with the "
            "mass of the body. Export the matrices with all grids free and fix the clamped ones here (`Structure.fix`)",
            stacklevel=4,
        )
