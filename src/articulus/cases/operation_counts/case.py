"""Tables of operation counts, regenerated from the published formulas; parts that add to their totals."""

from articulus.parallel import published
from articulus.parallel.published import ALL, BOTH, FORCE, INERTIA, PARALLEL, PublishedCount

FLAGGED = {
    (INERTIA, "Wong"): (7, "additions"),
    (INERTIA, "Walker"): (5, "multiplications"),
    (INERTIA, "Fijany"): (6, "multiplications"),
    (FORCE, "Angeles"): (6, "multiplications"),
}
"""Cells that contradict their own polynomial have rows of their own."""
TABLES = {
    "table 3.2": (INERTIA, ("Wong", "Walker", "Angeles", "Fijany", "Lilly & Orin I", "Lilly & Orin III"), range(4, 8)),
    "table 3.3": (FORCE, ("Wong", "Angeles", "Walker", "He"), range(4, 11)),
    "table 3.5": (ALL, ("Wong", "Angeles", "Walker", "Brandl"), range(3, 13)),
}  # fmt: skip


def compute() -> dict:
    out: dict = {}
    for table, (task, methods, sizes) in TABLES.items():
        for method in methods:
            row = one(task, method)
            for what in ("multiplications", "additions"):
                key = f"{table}, {method}: {what}"
                size, kind = FLAGGED.get((task, method), (0, ""))
                values = {n: count_row(row, what, n) for n in sizes}
                if kind == what:
                    out[f"{key}, n = {size}"] = values.pop(size)
                out[key] = list(values.values())
    return out | sums() | crossovers() | other_sources()


def one(task: str, method: str) -> PublishedCount:
    exact = [row for row in published.find(task) if row.method == method]
    return (exact or published.find(task, method))[0]


def count_row(row: PublishedCount, what: str, n: int) -> float:
    return float(row.at(n)[what == "additions"])


def sums() -> dict:
    """Return how far parts are from their totals."""
    worst: dict = {}
    for method in ("Wong", "Walker", "Angeles"):
        for k, what in enumerate(("multiplications", "additions")):
            parts = [
                sum(one(task, method).at(n)[k] for task in (FORCE, INERTIA, "solver"))
                - one(ALL, method).at(n)[k]
                for n in range(1, 13)
            ]
            worst[f"table 3.1, {method}: {what} of the parts less the sum, n = 1 to 12"] = [
                float(x) for x in parts
            ]
    phases = [published.of_phases(published.INERTIA_PHASES, n) for n in (4, 6)]
    return worst | {
        "sec. 3.2: phases of the inertia matrix, n = 4 and 6": [[float(x) for x in p] for p in phases]
    }


def crossovers() -> dict:
    out = {}
    for name, task in (("inertia matrix", INERTIA), ("inertia matrix and solver", BOTH)):
        first, *_ = published.find(task, "Wong", PARALLEL)
        rest = [row for row in published.find(task, table=PARALLEL) if row is not first]
        out[f"table 4.8: largest n for which the mesh is cheapest, {name}"] = published.last_size(
            first, rest, range(2, 30)
        )
    times = [
        published.time(published.find(BOTH, who, PARALLEL)[0], 4)
        for who in ("Lee", "Wong", "Fijany", "Hwang")
    ]
    return out | {"table 4.8: inertia matrix and solver, n = 4 [us]": [float(t) for t in times]}


def other_sources() -> dict:
    (chen,) = published.find("inertia matrix and bias")
    (logs,) = published.find("forward dynamics", "Fijany", PARALLEL)
    (serial,) = published.find(ALL, "Fijany")
    chou = [[float(x) for x in row.at(n)] for row in published.find("Newton iteration") for n in (3, 10)]
    inverse, inertia = published.flexible_inverse_dynamics(6, 3), published.flexible_inertia_matrix(6, 3)
    return {
        "Chen & Ou: N = 6": [float(x) for x in chen.at(6)],
        "Chen & Ou: equations less formula, N = 2 to 9": [
            [float(a - b) for a, b in zip(published.of_chen_equations(n), chen.at(n))] for n in range(2, 10)
        ],
        "Fijany & Bejczy: parallel, n = 6, of its parts": float(sum(logs.at(6))),
        "Fijany & Bejczy: parallel, n = 6": float(sum(logs.at(6))),
        "Fijany & Bejczy: serial, n = 6": float(sum(serial.at(6))),
        "Lilly & Orin: a chain, N = 6, n_c = 3": [float(x) for x in published.of_chains(1, 6, 3, reference=False)],
        "Lilly & Orin: three chains": [float(x) for x in published.of_chains(3, 6, 3)],
        "Chou: three schemes, n = 3 and 10: multiplications": [c[0] for c in chou],
        "King: inverse dynamics and inertia matrix, n = 6, m = 3: multiplications": inverse[0] + inertia,
        "Park: bandwidth of equal cost, second against first order": published.filter_break_even(),
    }  # fmt: skip
