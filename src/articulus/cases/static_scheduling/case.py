"""Makespans of the Van der Pol program, the graph that refutes the printed bound, and the quality of CP/MISF on random graphs."""

import numpy as np

from articulus.parallel import TaskGraph, cp_misf, df_ihs, read_listing

LISTING = "a=integral(b,0.01); b=integral(c,0.01); c=d-a; d=g-e; e=f*g; f=a*a; g=b*1"
EIGHT = TaskGraph.of(
    (1, 8, 7, 8, 2, 8, 5, 1), ((0, 1), (0, 5), (0, 6), (0, 7), (1, 6), (4, 7), (5, 6), (5, 7), (6, 7))
)
GRAPHS = 150


def compute() -> dict:
    program = read_listing(LISTING)
    worst = cp_misf(EIGHT, 3)
    best = df_ihs(EIGHT, 3)
    quality = np.array([cp_misf(graph, m).error for graph, m in random_graphs()])
    return {
        "van der Pol, all tasks 1: makespan on 1, 2, 3 processors": spans(program.graph()),
        "van der Pol, integrations 8: makespan on 1, 2, 3 processors": spans(program.graph(8.0)),
        "van der Pol, all tasks 1: critical path": program.graph().critical_path,
        "van der Pol: rates at (0.3, 0.4)": np.asarray(program.rates()([0.3, 0.4])).ravel(),
        "eight tasks, 3 processors: CP/MISF": worst.makespan,
        "eight tasks, 3 processors: DF/IHS": best.makespan,
        "eight tasks: error of CP/MISF, printed bound 1/m": worst.makespan / best.makespan - 1,
        "eight tasks: (CP/MISF - (2 - 1/m) DF/IHS) above zero": max(0.0, worst.makespan - (2 - 1 / 3) * best.makespan),
        "CP/MISF on random graphs: at the bound, within 5 %, within 10 % [%]": [
            100 * (quality <= limit).mean() for limit in (1e-9, 0.05, 0.10)
        ],
    }  # fmt: skip


def spans(graph: TaskGraph) -> list[float]:
    return [cp_misf(graph, m).makespan for m in (1, 2, 3)]


def random_graphs() -> list[tuple[TaskGraph, int]]:
    """Return layered graphs of 20 to 120 tasks and 2 to 5 processors: the graphs of the source are not told."""
    rng = np.random.default_rng(1989)
    out = []
    for _ in range(GRAPHS):
        n = int(rng.integers(20, 120))
        near = [(a, b) for b in range(n) for a in range(max(0, b - 20), b)]
        edges = [edge for edge, chosen in zip(near, rng.random(len(near)) < 0.12) if chosen]
        out.append((TaskGraph.of(rng.integers(1, 10, n).tolist(), edges), int(rng.integers(2, 6))))
    return out
