"""One element of a geometrically exact beam: two frames and the screw motion between them.

The section's frame moves from node A to node B on a screw (a circle in pure bending): H(s) = A exp(s d / h) with the constant strain
d / h, d = log(A^-1 B). The elastic energy is U = (d - d0)' K (d - d0) / 2, d0 the undeformed value. It is unchanged by any rigid
motion, and in body axes so are forces and tangent.

K is the inverse of the exact flexibility of the undeformed element under loads at its nodes (for a straight one this is the residual
bending flexibility, 1/(kGA) + h^2/(12 EI) in shear): nodal displacements of a linear beam are then exact and nothing locks. Large deflections
converge with the fourth power of the length in a plane, and in space where bending and torsion are equally stiff; in space with GJ other than EI
with the second.

Sources: Sonneville, Cardona & Brüls 2014 (element); Simo & Vu-Quoc 1986 (beam); MacNeal 1978 (residual bending flexibility).
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.simulation.exact_beams.lie import ad, logarithm, logarithm_rates, relative
from articulus.spatial.rotation import quaternion_matrix
from articulus.spatial.vector import cross

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)


def stiffness(d0: np.ndarray, length: float, compliance: np.ndarray) -> np.ndarray:
    """Return K, (6, 6), of an element with undeformed logarithm d0, (6,), its length [m] and section compliance, (6,).

    A wrench W at the middle of the undeformed element is Ad(s)' W at s, with Ad(s) = exp(s ad(d0) / h). The relative motion of the
    ends there is F W, F = int Ad C Ad' ds, and the logarithm moves by the inverse of the mean of Ad times that.
    """
    x = np.array(ca.DM(ad(SX(ca.DM(d0)))))
    transport = np.array([_exponential(point / 2 * x) for point in POINTS])
    flexibility = length / 2 * np.einsum("p,pik,k,pjk->ij", WEIGHTS, transport, compliance, transport)
    mean = np.einsum("p,pij->ij", WEIGHTS, transport) / 2
    return mean.T @ np.linalg.solve(flexibility, mean)


def _exponential(x: np.ndarray) -> np.ndarray:
    """Return exp(x) by its series: to rounding where an element turns by less than half a turn."""
    out = np.eye(len(x))
    for k in range(30, 0, -1):
        out = np.eye(len(x)) + x @ out / k
    return out


@cache
def forces() -> kernel.Kernel:
    """Return the kernel (A, B, d0, K) -> forces on the element at A and B, (6,) each, in body axes [N m, N]."""
    A, B, d0, K = _symbols()
    d = SX.sym("d", 6)
    ends = ca.Function("ends", [d, d0, K], _ends(d, d0, K))
    at_A, at_B = ends(logarithm(relative(A, B)), d0, K)
    return kernel.compile(ca.Function("beam_forces", [A, B, d0, K], [at_A, at_B]))


@cache
def tangent() -> kernel.Kernel:
    """Return the kernel (A, B, K, stress) -> derivatives of the forces along displacements, AA, AB, BA, BB, (6, 6) each.

    D' K D + d(D' stress): the stress, (6,), of the geometric part is an input of its own (see `statics`); with
    K (d - d0) the tangent is that of `forces`.
    """
    A, B, K, stress = SX.sym("A", 7), SX.sym("B", 7), SX.sym("K", 6, 6), SX.sym("stress", 6)
    d = SX.sym("d", 6)
    rates = logarithm_rates(d)
    slopes = [ca.mtimes(by.T, K) + ca.jacobian(ca.mtimes(by.T, stress), d) for by in rates]
    whole = ca.Function("whole", [d, K, stress], [ca.mtimes(slope, by) for slope in slopes for by in rates])
    outputs = list(whole(logarithm(relative(A, B)), K, stress))
    return kernel.compile(ca.Function("beam_tangent", [A, B, K, stress], outputs))


@cache
def damped_forces() -> kernel.Kernel:
    """Return the kernel of `forces` with damping: (A, B, v_A, v_B, d0, K, c) -> forces at A and B, elastic stress, power lost.

    v_A and v_B are body motions; the stress K (d - d0) + c K d' acts.
    """
    A, B, d0, K = _symbols()
    v_A, v_B, c = SX.sym("v_A", 6), SX.sym("v_B", 6), SX.sym("c")
    d = SX.sym("d", 6)
    by_A, by_B = logarithm_rates(d)
    elastic, rate = ca.mtimes(K, d - d0), ca.mtimes(by_A, v_A) + ca.mtimes(by_B, v_B)
    viscous = c * ca.mtimes(K, rate)
    outputs = [ca.mtimes(by.T, elastic + viscous) for by in (by_A, by_B)]
    inner = ca.Function(
        "inner", [d, v_A, v_B, d0, K, c], [ca.cse(x) for x in (*outputs, elastic, ca.dot(rate, viscous))]
    )
    inputs = [A, B, v_A, v_B, d0, K, c]
    return kernel.compile(
        ca.Function("beam_damped_forces", inputs, inner.call([logarithm(relative(A, B)), *inputs[2:]]))
    )


@cache
def damped_tangent() -> kernel.Kernel:
    """Return the kernel of `tangent` with damping: (A, B, v_A, v_B, K, c, stress, by_v) -> AA, AB, BA, BB, (6, 6) each.

    `stress`, (6,), is the elastic one; v_A and v_B change `by_v` times as much as the poses.
    """
    A, B, _, K = _symbols()
    v_A, v_B, c = SX.sym("v_A", 6), SX.sym("v_B", 6), SX.sym("c")
    stress, by_v, d = SX.sym("stress", 6), SX.sym("by_v"), SX.sym("d", 6)
    rates = logarithm_rates(d)
    rate = ca.mtimes(rates[0], v_A) + ca.mtimes(rates[1], v_B)
    acting = stress + c * ca.mtimes(K, rate)
    stiff = (1 + by_v * c) * K
    slopes = [(ca.mtimes(by.T, stiff), ca.jacobian(ca.mtimes(by.T, acting), d)) for by in rates]
    blocks = [ca.mtimes(a + b, by) for a, b in slopes for by in rates]
    inner = ca.Function("inner", [d, v_A, v_B, K, c, stress, by_v], blocks)
    inputs = [A, B, v_A, v_B, K, c, stress, by_v]
    return kernel.compile(
        ca.Function("beam_damped_tangent", inputs, inner.call([logarithm(relative(A, B)), *inputs[2:]]))
    )


@cache
def joints() -> kernel.Kernel:
    """Return the kernel (A, B, v_A, v_B, neutral) -> q and v of a free joint from A to B that is neutral at a pose of B in A."""
    A, B, v_A, v_B, neutral = (
        SX.sym(name, n) for name, n in (("A", 7), ("B", 7), ("v_A", 6), ("v_B", 6), ("neutral", 7))
    )
    place = relative(A, B)
    R, p = quaternion_matrix(place[:4]), place[4:]
    q = relative(neutral, place)
    q = ca.vertcat(ca.if_else(q[0] < 0, -1, 1) * q[:4] / ca.norm_2(q[:4]), q[4:])
    carried = ca.vertcat(ca.mtimes(R.T, v_A[:3]), ca.mtimes(R.T, v_A[3:] + cross(v_A[:3], p)))
    return kernel.compile(ca.Function("beam_joints", [A, B, v_A, v_B, neutral], [q, v_B - carried]))


@cache
def strains() -> kernel.Kernel:
    """Return the kernel (A, B) -> logarithm of A^-1 B, (6,)."""
    A, B = SX.sym("A", 7), SX.sym("B", 7)
    return kernel.compile(ca.Function("beam_logarithm", [A, B], [logarithm(relative(A, B))]))


@cache
def strain_rates() -> kernel.Kernel:
    """Return the kernel (A, B, body motion of A, body motion of B) -> rate of the logarithm of A^-1 B, (6,)."""
    A, B, at_A, at_B = SX.sym("A", 7), SX.sym("B", 7), SX.sym("v_A", 6), SX.sym("v_B", 6)
    by_A, by_B = logarithm_rates(logarithm(relative(A, B)))
    rate = ca.mtimes(by_A, at_A) + ca.mtimes(by_B, at_B)
    return kernel.compile(ca.Function("beam_strain_rates", [A, B, at_A, at_B], [rate]))


def _symbols() -> tuple[SX, SX, SX, SX]:
    return SX.sym("A", 7), SX.sym("B", 7), SX.sym("d0", 6), SX.sym("K", 6, 6)


def _ends(d: SX, d0: SX, K: SX) -> list[SX]:
    """Return dU along displacements of A and of B."""
    stress = ca.mtimes(K, d - d0)
    return [ca.mtimes(by.T, stress) for by in logarithm_rates(d)]
