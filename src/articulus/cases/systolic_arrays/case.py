"""Wong's mesh and solver, cycle by cycle, on the excavator and the PUMA; the times that follow from the counts."""

import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.parallel import published, run_mesh, solve_systolic

SIZES = (2, 3, 4, 6, 10)
ACTUATORS = (44, 24)
"""Multiplications and additions of the four hydraulic actuators."""
KINDS = {"A": 1, "c": 2, "r": 3, "J": 4, "m": 5}


def compute() -> dict:
    out: dict = {}
    for name in ("cat215b", "puma600"):
        arm = art.load(name)
        q, v = np.linspace(0.1, 0.9, arm.nq), np.linspace(-1.0, 1.0, arm.nv)
        run = run_mesh(arm, q, v)
        out[f"{name}: inertia matrix of the mesh, relative"] = relative(run.M, arm.mass_matrix(q))
        out[f"{name}: force vector of the mesh, relative"] = relative(run.bias, arm.bias(q, v))
        out[f"{name}: sweeps"] = run.sweeps
        if name == "cat215b":
            plain = run_mesh(arm, q, v, balanced=False)
            out |= {
                "n = 4: multiplications and additions of phases 1 to 5": list(run.inertia_operations),
                "n = 4: last cycles of row 0, plain and balanced, and of row 1, balanced": [
                    plain.last_cycle(0), run.last_cycle(0), run.last_cycle(1),
                ],
                "n = 4: table 4.2, 100 kind + 10 body + joint": [[code(cell) for cell in row] for row in plain.table(1)],
            }  # fmt: skip
    return out | solver() | times()


def code(cell: str) -> int:
    """Return 0 for an empty cell; kinds are 1 A, 2 c, 3 rho, 4 J c, 5 m (rho x c)."""
    if not cell or cell == "A":
        return 100 * bool(cell)
    digits = [int(x) for x in cell if x.isdigit()]
    body, joint = digits[-2:]
    return 100 * KINDS[cell[0]] + 10 * body + joint


def solver() -> dict:
    rng = np.random.default_rng(4)
    worst, rotated, leaving = [], [], []
    for n in SIZES:
        B, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A = B @ B.T + n * np.eye(n)
        run = solve_systolic(A, b)
        worst.append(max(relative(run.x, np.linalg.solve(A, b)), run.residue))
        rotated.append(relative(solve_systolic(B, b, "qr").x, np.linalg.solve(B, b)) / np.linalg.cond(B))
        leaving += [run.cycles[0] / n, run.cycles[-1] / n]
    return {
        "solver, n = 2, 3, 4, 6, 10: error and residue": worst,
        "solver by rotations, matrices that are not definite: error over the condition number": rotated,
        "solver: first and last cycle of x over n": leaving,
    }


def times() -> dict:
    """Return table 5.4: 1 us a multiplication, 0.5 us an addition; the actuators are shared by four processors."""
    (whole,) = published.find(published.ALL, "Wong")
    (mesh,) = published.find(published.BOTH, "Wong", published.PARALLEL)
    serial = published.time(whole, 4) + ACTUATORS[0] + ACTUATORS[1] / 2
    parallel = published.time(mesh, 4) + (ACTUATORS[0] + ACTUATORS[1] / 2) / 4
    return {
        "table 5.4: serial step [us]": float(serial),
        "table 5.4: parallel step [us]": float(parallel),
        "table 5.4: ratio": float(serial / parallel),
    }
