"""The benchmark of table 2 on the dual-network machine: double transfers, order, control table; recurrences by doubling."""

import numpy as np

from articulus.parallel import neighborhood, prefixes
from articulus.parallel.neighborhood import (
    BENCHMARK,
    control_table,
    doubles,
    neighborhood_schedule,
    run_machine,
)

SOURCES = {"IDB": 1, "GDR": 2, "IFD": 3, "OWR": 4, "IWR": 5}
SIZES = (1, 5, 6, 7, 8, 13)


def compute() -> dict:
    order = neighborhood_schedule(BENCHMARK)
    table = control_table(order)
    data = inputs(8)
    before, after = run_machine(BENCHMARK, data), run_machine(order, data)
    return {
        "subtasks with double transfers before": [int(name[1:]) for name in doubles(BENCHMARK)],
        "order of the subtasks": [task.number for task in order],
        "double transfers left": len(doubles(order)),
        "control table: sources of the operands, 1 IDB, 2 GDR, 3 IFD, 4 OWR, 5 IWR": [
            [SOURCES[s] for s in (*row.sources, *row.sources)[:2]] for row in table
        ],
        "control table: stored in a global register": [int(row.stored) for row in table],
        "control table: forwarded to another element": [int(row.forwarded) for row in table],
        "cycles saved by the order": before.cycles - after.cycles,
        "machine less the equations of table 2, largest difference": worst(
            after.results["T18"], equations(data)
        ),
        "doubling: largest difference from the products one by one, n = 1, 5, 6, 7, 8, 13": [
            double_scan(n) for n in SIZES
        ],
        "doubling: sweeps, n = 1, 5, 6, 7, 8, 13": [prefixes([1] * n, int.__add__)[1] for n in SIZES],
    }


def inputs(n: int) -> dict[int, np.ndarray]:
    rng = np.random.default_rng(10)
    shapes = {1: (n, 3, 3), 2: (n, 3), 3: (n, 3), 4: (n,), 5: (n,), 6: (n,), 7: (n,)}
    return {k: rng.normal(size=shape) for k, shape in shapes.items()}


def equations(data: dict[int, np.ndarray]) -> np.ndarray:
    """Return Q of table 2, element by element; indices go round."""
    B, D, F, H, J, L, N = (data[k] for k in range(1, 8))
    n = len(B)
    A, G, M = [B[0]], list[np.ndarray](), list[np.ndarray]()
    for i in range(1, n):
        A.append(A[-1] @ B[i])
    C, E = [a @ d for a, d in zip(A, D)], [a @ f for a, f in zip(A, F)]
    for i in range(n):
        G.append((G[-1] if i else 0.0) + E[i] * H[i] * J[i])
    K = [L[i] * (C[i] + E[i]) + G[i] + C[i] for i in range(n)]
    for i in range(n):
        M.append((N[i] * M[-1] if i else 0.0) + K[i])
    O = [E[i - 1] + M[i] + G[i] + K[(i + 2) % n] for i in range(n)]
    P = [a @ g for a, g in zip(A, G)]
    return np.array([M[i] @ C[(i + 1) % n] + O[(i + 1) % n] @ P[i] for i in range(n)])


def double_scan(n: int) -> float:
    rng = np.random.default_rng(n)
    items = list(rng.normal(size=(n, 3, 3)))
    found, _ = prefixes(items, neighborhood.COMPUTE["MM"])
    product, off = np.eye(3), 0.0
    for item, prefix in zip(items, found):
        product = product @ item
        off = max(off, worst(prefix, product) / np.abs(product).max())
    return off


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())
