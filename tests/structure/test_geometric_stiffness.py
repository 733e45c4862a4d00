"""Matrices with geometric stiffness matrices, and decks of beams, make the flexible bodies that our own beams make.

The geometric stiffness is that of textbooks (Przemieniecki 1968, section 15.2): beams of constant axial force, here that in the middle
of each element, on a cantilever of which statics gives the axial force of every unit motion. It is exact up to (element / length)^2.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.model.files.fe.bulk import read_bulk
from articulus.model.files.fe.data import FeGrid, MatrixSet
from articulus.model.files.fe.structure import bulk_structure, matrix_structure
from articulus.model.mechanism.modes import Modes
from articulus.structure import Structure, beam, modes_of, normal_modes
from articulus.structure.geometric import MOTIONS, GeometricStiffness

LENGTH, EI, MASS, ELEMENTS, COUNT = 2.0, 50.0, 1.5, 32, 2
NEAR = 4.0 / ELEMENTS**2
"""Part of the largest number that constant axial forces in the elements, and mass at the nodes, may be off."""


def own() -> Structure:
    return beam(LENGTH, EI=EI, EA=1e6, mass_per_length=MASS, elements=ELEMENTS, planes="y")


def free() -> Structure:
    """Return the same beam with its root free, and free to leave the plane: else its matrices have no mass along z."""
    s = beam(LENGTH, EI=EI, EA=1e6, mass_per_length=MASS, elements=ELEMENTS, root="free")
    return Structure(s.names, s.positions, s.dofs, s.M, s.K)


def under(s: Structure, axial: np.ndarray) -> np.ndarray:
    """Return the geometric stiffness of axial forces, one per element."""
    out, h = np.zeros((s.count, s.count)), LENGTH / ELEMENTS
    block = np.array(
        [[36, 3 * h, -36, 3 * h], [3 * h, 4 * h**2, -3 * h, -(h**2)],
         [-36, -3 * h, 36, -3 * h], [3 * h, -(h**2), -3 * h, 4 * h**2]]
    ) / (30 * h)  # fmt: skip
    for e, N in enumerate(axial):
        at = np.concatenate([s.where(e, ("y", "rz")), s.where(e + 1, ("y", "rz"))])
        out[np.ix_(at, at)] += N * block
    return out


def axial_forces() -> dict[str, np.ndarray]:
    """Return what holds the clamped beam together while its frame, at the root, has each motion; rotation about y as about z."""
    x = (np.arange(ELEMENTS) + 0.5) * LENGTH / ELEMENTS
    spun = 0.5 * MASS * (LENGTH**2 - x**2)
    return {"acceleration_x": -MASS * (LENGTH - x), "rate_yy": spun, "rate_zz": spun}


@functools.cache
def stiffened() -> Structure:
    """Return the matrices as a user has them: named in a file, with the grids numbered from 1."""
    s, tip = free(), ELEMENTS + 1
    none = np.zeros((s.count, s.count))
    matrices = {"M": s.M, "K": s.K, "none": none, "pull": under(s, np.ones(ELEMENTS))}
    motions = dict.fromkeys(MOTIONS, "none")
    for name, axial in axial_forces().items():
        matrices[name], motions[name] = under(s, axial), name
    dofs = tuple((int(node) + 1, int(c) + 1) for node, c in s.dofs)
    grids = tuple(FeGrid(i + 1, tuple(map(float, x))) for i, x in enumerate(s.positions))
    data = MatrixSet("beam.npz", matrices, dofs, grids)
    loads = {tip: ["pull", *("none",) * 5]}
    return matrix_structure(data, "M", "K", motions=motions, loads=loads).fix(
        {0: "all"} | {f"grid{i + 1}": ("z", "rx", "ry") for i in range(1, tip)}
    )


def body(s: Structure, tip: str) -> Modes:
    """Return a body whose shapes have a positive tip, damped so that differences of frequency do not add up over a run."""
    shapes = normal_modes(s, COUNT).shapes
    shapes = shapes * np.sign(s.rows(tip)[1] @ shapes)
    return modes_of(s, shapes, stations={"tip": tip}, damping=0.05)


def same(a: Modes, b: Modes, part: float) -> None:
    assert a.level == b.level == "consistent"
    for name in ("rr0", "rr1", "rr2", "rr2_shortening", "rf0", "rf1", "rf1_shortening", "ff", "stiffness"):
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(x, y, rtol=0, atol=part * np.abs(y).max(initial=0.0) + 1e-12, err_msg=name)
    x, y = a.station("tip"), b.station("tip")
    for name in ("position", "translation", "rotation", "shortening", "turning"):
        size = np.abs(getattr(y, name)).max()
        np.testing.assert_allclose(
            getattr(x, name), getattr(y, name), rtol=0, atol=part * size + 1e-12, err_msg=name
        )


@pytest.fixture(scope="module")
def bodies() -> tuple[Modes, Modes]:
    return body(own(), f"node{ELEMENTS}"), body(stiffened(), f"grid{ELEMENTS + 1}")


def test_matrices_give_the_integrals_of_our_own_beam(bodies: tuple[Modes, Modes]) -> None:
    same(bodies[1], bodies[0], NEAR)


def test_the_point_that_angular_motions_leave_in_place_does_not_matter() -> None:
    """Matrices of a beam that spins about its middle: K_G at x0 is K_G at the root less x0 times that of the acceleration."""
    s = stiffened()
    assert s.geometric is not None
    x0, held = 0.5 * LENGTH, s.geometric.motions
    motions = dict(held)
    for name in ("rate_yy", "rate_zz"):
        motions[name] = held[name] + x0 * held["acceleration_x"]
    moved = GeometricStiffness(motions, about=(x0, 0, 0))
    basis = normal_modes(s, COUNT).shapes
    expected = s.geometric.mass_shortening(basis, np.zeros(3))
    for a, b in zip(moved.mass_shortening(basis, np.zeros(3)), expected):
        np.testing.assert_allclose(a, b, atol=1e-12 * np.abs(b).max())


def blade(modes: Modes) -> art.Mechanism:
    m = art.Mechanism("blade", gravity=(0, 0, 0))
    m.flexible("blade", modes)
    m.joint("hub", art.Revolute(axis=(0, 0, 1)), "ground", "blade")
    return m


def test_chordwise_frequencies_are_those_of_our_own_beam(bodies: tuple[Modes, Modes]) -> None:
    """At six times the first frequency; without motion-induced stiffness the square of the first would be negative.

    The joint is held: eigenvalues of the modal blocks of inverse dynamics by q and of M.
    """
    omega = np.sqrt(bodies[0].stiffness[0, 0] / bodies[0].ff[0, 0])
    zero, v = np.zeros(COUNT + 1), np.r_[6.0 * omega, np.zeros(COUNT)]
    ours, theirs = (
        np.sort(np.linalg.eigvals(np.linalg.solve(M[1:, 1:], by_q[1:, 1:])).real)
        for by_q, _, M in (blade(x).kernel("inverse_dynamics_derivatives")(zero, v, zero) for x in bodies)
    )
    assert ours[0] > omega**2
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=NEAR * ours.max())
    np.testing.assert_allclose(np.sqrt(theirs), np.sqrt(ours), rtol=4 * NEAR)


def test_spin_up_is_that_of_our_own_beam(bodies: tuple[Modes, Modes]) -> None:
    """From rest to more than twice the first frequency in 12 s, by a torque at the hub; the tip bends by a tenth of the length."""
    ours, theirs = (spin_up(x) for x in bodies)
    assert 0.05 < np.abs(ours).max() < 0.3
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=2 * NEAR * np.abs(ours).max())


def spin_up(modes: Modes, step: float = 0.01) -> np.ndarray:
    """Return the deflection of the tip at every step of RK4, (1200,) [m]."""
    forward, tau, n = blade(modes).kernel("forward_dynamics"), np.r_[4.0, np.zeros(COUNT)], COUNT + 1
    x, out = np.zeros(2 * n), []

    def rate(x: np.ndarray) -> np.ndarray:
        return np.r_[x[n:], forward(x[:n], x[n:], tau)]

    for _ in range(1200):
        a = rate(x)
        b = rate(x + 0.5 * step * a)
        c = rate(x + 0.5 * step * b)
        x = x + step / 6 * (a + 2 * b + 2 * c + rate(x + step * c))
        out.append(modes.station("tip").translation[1] @ x[1:n])
    assert x[n] > 2 * np.sqrt(modes.stiffness[0, 0])
    return np.array(out)


def test_a_deck_of_beams_gives_the_same(tmp_path: Path, bodies: tuple[Modes, Modes]) -> None:
    """The deck holds lengths, E, rho and a section; its rotary inertia is 1e-7 of the beam's own moment of inertia."""
    h, E = LENGTH / ELEMENTS, 1e6 / 1e-2
    cards = [f"GRID,{i + 1},,{i * h:.6f},0.,0.,,{'123456' if i == 0 else '345'}" for i in range(ELEMENTS + 1)]
    cards += [f"CBAR,{i + 1},1,{i + 1},{i + 2},0.,1.,0." for i in range(ELEMENTS)]
    cards += [f"PBAR,1,1,.01,{EI / E:.6E},{EI / E:.6E},1.-6", f"MAT1,1,{E:.6E},,.3,{MASS / 1e-2:.6E}"]
    place = tmp_path / "beam.bdf"
    place.write_text("\n".join(["BEGIN BULK", *cards, "ENDDATA"]) + "\n")
    s = bulk_structure(read_bulk(place))
    same(body(s, f"grid{ELEMENTS + 1}"), bodies[0], 2e-3)


def test_what_is_missing_is_said() -> None:
    s = stiffened()
    assert s.geometric is not None
    some = {k: v for k, v in s.geometric.motions.items() if k != "rate_xy"}
    with pytest.raises(InputError, match=r"motions missing: \['rate_xy'\]"):
        GeometricStiffness(some)
    with pytest.raises(InputError, match="5 matrices for loads at 'a'; expected six"):
        GeometricStiffness(s.geometric.motions, {"a": [np.zeros((1, 1))] * 5})
    with pytest.raises(InputError, match=r"no matrices for loads at 'grid3', found those at \['grid33'\]"):
        modes_of(s, normal_modes(s, 1).shapes, stations={"middle": "grid3"})
    small = {k: v[:3, :3] for k, v in s.geometric.motions.items()}
    with pytest.raises(InputError, match=r"'acceleration_x' has shape \(3, 3\); expected"):
        Structure(s.names, s.positions, s.dofs, s.M, s.K, geometric=GeometricStiffness(small))
    assert list(modes_of(s, normal_modes(s, 1).shapes).stations) == [f"grid{ELEMENTS + 1}"]
