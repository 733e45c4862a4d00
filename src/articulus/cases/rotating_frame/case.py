"""A beam with a tip mass in a frame that turns and accelerates: inertia forces by shape functions and by differences."""

import numpy as np
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.cases.checks import relative
from articulus.structure import Structure, beam, modes_of

LENGTH, DENSITY, EI, EA, TIP = 1.3, 0.7, (2.0, 3.0), 20.0, 0.25
ELEMENTS = 3
Z = np.array([0.0, 0.0, 1.0])
STENCIL = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
"""Second derivative by central differences of sixth order."""
STEP = 5e-3  # s


def compute() -> dict:
    structure = beam(LENGTH, EI=EI, EA=EA, mass_per_length=DENSITY, elements=ELEMENTS, tip_mass=TIP)
    body = modes_of(structure, np.eye(structure.count), origin=0).at_level("inconsistent")
    frame = (
        art.Mechanism("beam", gravity=(0, 0, 0))
        .flexible("beam", body)
        .joint("flight", art.Free(), "ground", "beam")
    )
    x, dm = masses()
    N = np.array([shapes(structure, at) for at in x])
    mass = np.einsum("pai,p,paj->ij", N, dm, N)
    turned = np.einsum("pi,p,pj->ij", N[:, 1], dm, N[:, 0]) - np.einsum("pi,p,pj->ij", N[:, 0], dm, N[:, 1])
    plane = np.einsum("pai,p,paj->ij", N[:, :2], dm, N[:, :2])
    inertia = FrameForces(frame, structure.count)
    still, spin = np.zeros(6), np.append(Z, np.zeros(3))
    by_position = inertia.by("eta", still, still)
    loads = [
        -np.einsum("pi,p,p->i", N[:, 0], dm, x),
        np.einsum("pi,p,p->i", N[:, 1], dm, x),
        *(np.einsum("pi,p->i", N[:, a], dm) for a in (0, 1)),
    ]
    units = np.vstack([spin, np.eye(6)[3:5]])
    inertias = [inertia(spin, still), *(inertia(still, unit) for unit in units)]
    return {
        "mass matrix int N' N dm": relative(inertia.by("acceleration", still, still), mass),
        "Coriolis matrix for w_h = 1: 2 int (N_y' N_x - N_x' N_y) dm": relative(
            inertia.by("rate", spin, still), 2 * turned
        ),
        "matrix for al_h = 1: int (N_y' N_x - N_x' N_y) dm": relative(
            inertia.by("eta", still, spin) - by_position, turned
        ),
        "centrifugal matrix for w_h = 1: -int (N_x' N_x + N_y' N_y) dm": relative(
            inertia.by("eta", spin, still) - by_position, -plane
        ),
        "forces on the undeformed beam for w_h = 1, al_h = 1, a_hx = 1, a_hy = 1": relative(inertias, loads),
        **in_space(inertia, N, x, dm, body.stiffness),
    }


class FrameForces:
    """Forces that a motion of the frame (V, A) and of the modal coordinates takes; (..., modes), elastic ones included."""

    def __init__(self, frame: art.Mechanism, count: int):
        self.frame, self.none = frame, np.zeros(count)

    def whole(self, V: np.ndarray, A: np.ndarray, **modal: np.ndarray) -> np.ndarray:
        eta, rate, acceleration = (modal.get(k, self.none) for k in ("eta", "rate", "acceleration"))
        q = np.concatenate([self.frame.neutral[:7], eta])
        return self.frame.inverse_dynamics(q, np.append(V, rate), np.append(A, acceleration))

    def __call__(self, V: np.ndarray, A: np.ndarray, **modal: np.ndarray) -> np.ndarray:
        return self.whole(V, A, **modal)[6:]

    def by(self, name: str, V: np.ndarray, A: np.ndarray) -> np.ndarray:
        """Return the derivative of the modal forces, which are linear."""
        rest = self(V, A)
        return np.array([self(V, A, **{name: unit}) - rest for unit in np.eye(len(self.none))]).T


def masses() -> tuple[np.ndarray, np.ndarray]:
    """Return places and masses of points that integrate products of cubics exactly, and the tip."""
    nodes, weights = np.polynomial.legendre.leggauss(5)
    h = LENGTH / ELEMENTS
    x = np.concatenate([h * (e + (nodes + 1) / 2) for e in range(ELEMENTS)])
    return np.append(x, LENGTH), np.append(np.tile(weights * h / 2 * DENSITY, ELEMENTS), TIP)


def shapes(held: Structure, x: float) -> np.ndarray:
    """Return the displacement at x for unit degrees of freedom: linear along the beam, Hermite's cubics across, (3, n)."""
    h = LENGTH / ELEMENTS
    e = min(int(x / h), ELEMENTS - 1)
    s = x / h - e
    move, turn = (1 - 3 * s**2 + 2 * s**3, 3 * s**2 - 2 * s**3), (h * s * (1 - s) ** 2, h * s**2 * (s - 1))
    out = np.zeros((3, held.count))
    for end, node in enumerate((e, e + 1)):
        values = {
            0: (0, (1 - s, s)[end]),
            1: (1, move[end]),
            5: (1, turn[end]),
            2: (2, move[end]),
            4: (2, -turn[end]),
        }
        for i in held.where(node):
            axis, value = values[held.dofs[i, 1]]
            out[axis, i] = value
    return out


def in_space(
    inertia: FrameForces, N: np.ndarray, x: np.ndarray, dm: np.ndarray, stiffness: np.ndarray
) -> dict:
    """Return the errors of the forces of a motion in space: turns about z and then x, both with angular acceleration."""
    rng = np.random.default_rng(3)
    eta, rate, acceleration = 0.1 * rng.normal(size=(3, N.shape[2]))
    v, a = rng.normal(size=(2, 3))
    (turn, turn_rate), (roll, roll_rate) = (1.3, 0.8), (0.7, -0.6)

    def positions(t: float) -> np.ndarray:
        local = N @ (eta + rate * t + acceleration * t**2 / 2) + np.outer(x, [1, 0, 0])
        angles = (turn * t + turn_rate * t**2 / 2, roll * t + roll_rate * t**2 / 2)
        return v * t + a * t**2 / 2 + Rotation.from_euler("ZX", angles).apply(local)

    points = np.array([positions(k * STEP) for k in range(-3, 4)])
    forces = dm[:, None] * np.tensordot(STENCIL, points, 1) / STEP**2
    w, w_rate = np.array([roll, 0.0, turn]), np.array([roll_rate, turn * roll, turn_rate])
    inertias = inertia.whole(
        np.append(w, v), np.append(w_rate, a - np.cross(w, v)), eta=eta, rate=rate, acceleration=acceleration
    )
    wrench = np.append(np.cross(points[3], forces).sum(axis=0), forces.sum(axis=0))
    modal = np.einsum("pai,pa->i", N, forces)
    return {
        "motion in space: modal forces by finite differences of the positions of all points": relative(
            inertias[6:] - stiffness @ eta, modal
        ),
        "motion in space: wrench at the hub by finite differences": relative(inertias[:6], wrench),
    }
