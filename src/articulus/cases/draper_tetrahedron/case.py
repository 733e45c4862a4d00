"""Mean squares of the vertex and of the leg forces of the DRAPER I truss, without control and with the printed designs."""

import numpy as np
from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

from articulus.model.library.draper_tetrahedron import (
    DENSITY,
    INCH,
    MEMBERS,
    NODES,
    POUND,
    YOUNG,
    draper_tetrahedron,
)
from articulus.structure import Bar, Section, Structure, normal_modes, state_space

POUND_FORCE = POUND * 9.80665
DESIGNS = {
    1: ((125.893, 23.336, 45.632, 6.389, 10.973, 9.8, 17.627, 17.719, 0.1, 0.1, 18.206, 0.1), 1.6710),
    10: ((20.331, 38.508, 11.434, 2.041, 2.369, 2.934, 0.152, 0.885, 3.242, 5.016, 2.532, 0.1), 1.7622),
}
"""Areas [in^2] and lam_u of the columns of table 2; alpha^2 = column 1e-5 in^2, beta^2 = 50 lb^2."""


def compute() -> dict:
    even = [draper_tetrahedron(area * INCH**2).with_rayleigh_damping(0.1, 0.001) for area in (120, 90, 60)]
    out = {
        "open loop, C = 0.1 M + 0.001 K, areas 120, 90, 60 in^2: mean square of the vertex [1e-5 in^2]": [
            1e5 * vertex(*matrices(s)) for s in even
        ],
        "weight of the designs of table 2, columns 1, 10 [lb]": [
            weight(areas) for areas, _ in DESIGNS.values()
        ],
        "frequencies, any equal areas [rad/s]": normal_modes(even[0]).omega,
    }
    for column, (areas, lam_u) in DESIGNS.items():
        name = f"design {column} of table 2"
        more = ", LQR, C = 0.002 K" if column == 1 else ""
        control, response = mean_squares(areas, lam_u, column)
        out[f"{name}{more}, lam_u = {lam_u}: mean square of the control [lb^2]"] = control
        out[f"{name}: mean square of the vertex [1e-5 in^2]"] = 1e5 * response
    return out


def matrices(s: Structure) -> tuple[np.ndarray, ...]:
    """Return F, inputs of the legs, inputs of the disturbances and outputs; states [m, m/s], forces [lb], outputs [in]."""
    system = state_space(s)
    forces = system.B * POUND_FORCE
    return system.A, forces[:, :6], forces[:, 6:], system.C / INCH


def vertex(F: np.ndarray, G: np.ndarray, W: np.ndarray, H: np.ndarray) -> float:
    """Return the mean square of the outputs for unit white disturbances."""
    return float(np.trace(H @ solve_continuous_lyapunov(F, -W @ W.T) @ H.T))


def mean_squares(areas: tuple[float, ...], lam_u: float, column: int) -> tuple[float, float]:
    """Return the mean squares of control and vertex of a design with its optimal state feedback."""
    s = draper_tetrahedron([area * INCH**2 for area in areas]).with_rayleigh_damping(0.0, 0.002)
    F, G, W, H = matrices(s)
    R = lam_u / 50 * np.eye(6)
    K = np.linalg.solve(R, G.T @ solve_continuous_are(F, G, H.T @ H / (column * 1e-5), R))
    X = solve_continuous_lyapunov(F - G @ K, -W @ W.T)
    return float(np.trace(K @ X @ K.T)), float(np.trace(H @ X @ H.T))


def weight(areas: tuple[float, ...]) -> float:
    """Return the weight of all bars [lb]: the force that gives the truss, let loose from the ground, a unit acceleration."""
    bars = [
        Bar(str(a), str(b), Section(DENSITY * A * INCH**2, YOUNG * A * INCH**2))
        for (a, b), A in zip(MEMBERS, areas)
    ]
    loose = Structure.assemble(NODES, bars, names=[str(i + 1) for i in range(len(NODES))])
    x = np.array([component == 0 for _, component in loose.dofs], dtype=float)
    return float(x @ (loose.M @ x) / POUND)
