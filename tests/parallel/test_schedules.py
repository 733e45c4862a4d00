"""Schedules keep what their tasks need, never undercut the bounds, and the best is the best."""

from __future__ import annotations

import itertools
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import articulus as art
from articulus import cli
from articulus.errors import InputError, ModelError
from articulus.parallel import (
    TaskGraph,
    cp_dt_misf,
    cp_misf,
    df_ihs,
    mechanism_graph,
    ode_graph,
    operations,
    prefixes,
    read_listing,
    step_graph,
    waits,
)
from articulus.parallel.grains import STAGES, mechanism_rates
from articulus.parallel.neighborhood import Operand, Subtask, control_table, doubles, neighborhood_schedule

LISTING = "a=integral(b,0.01); b=integral(c,0.01); c=d-a; d=g-e; e=f*g; f=a*a; g=b*1"


def random_graph(seed: int, n: int = 40, density: float = 0.12, zeros: bool = False) -> TaskGraph:
    rng = np.random.default_rng(seed)
    edges = [(a, b) for b in range(n) for a in range(max(0, b - 15), b) if rng.random() < density]
    return TaskGraph.of(rng.integers(0 if zeros else 1, 10, n), edges)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("transfer", [0.0, 2.5])
def test_schedules_are_possible_and_bounded(seed, transfer):
    graph, m = random_graph(seed, zeros=seed % 2 == 1), 1 + seed % 5
    for make in (cp_misf, cp_dt_misf):
        found = make(graph, m, transfer)
        assert found.findings() == []
        assert make is cp_misf or found.makespan <= graph.work + 1e-9
        assert sorted(k for lane in found.lanes for k in lane) == list(range(len(graph)))
        assert found.makespan >= found.bound - 1e-9
        if not transfer:
            assert found.makespan <= (2 - 1 / m) * graph.lower_bound(m) + 1e-9
    assert cp_misf(graph, 1).makespan == pytest.approx(graph.work)
    assert cp_misf(graph, len(graph)).makespan == pytest.approx(graph.critical_path)


def test_faults_are_found():
    graph = TaskGraph.of((2, 2), ((0, 1),))
    found = cp_misf(graph, 2)
    early = type(found)(graph, 2, (0.0, 1.0), (0, 1))
    both = type(found)(TaskGraph.of((2, 2), ()), 1, (0.0, 1.0), (0, 0))
    assert "before '1' is there" in early.findings()[0]
    assert "while '1' runs" in both.findings()[0]


@pytest.mark.parametrize("seed", range(8))
def test_nearest_processor_saves_transfers(seed):
    graph = random_graph(seed, 60)
    assert cp_dt_misf(graph, 4, 4.0).makespan <= 1.05 * cp_misf(graph, 4, 4.0).makespan


@pytest.mark.parametrize("seed", range(8))
def test_search_finds_what_all_orders_find(seed):
    rng = np.random.default_rng(seed)
    edges = [(a, b) for b in range(7) for a in range(b) if rng.random() < 0.25]
    graph = TaskGraph.of(rng.integers(1, 8, 7), edges)
    assert df_ihs(graph, 2).makespan == shortest(graph, 2)
    assert df_ihs(graph, 2).error == 0.0


def shortest(graph: TaskGraph, m: int) -> float:
    """Return the shortest makespan over all orders, each task put into the first gap that is wide enough."""
    best = np.inf
    for order in itertools.permutations(range(len(graph))):
        end: dict[int, int] = {}
        load = np.zeros(int(graph.work) + 1, int)
        for k in order:
            if any(p not in end for p in graph.predecessors[k]):
                break
            start, length = max((end[p] for p in graph.predecessors[k]), default=0), int(graph.times[k])
            while (load[start : start + length] >= m).any():
                start += 1
            load[start : start + length] += 1
            end[k] = start + length
        else:
            best = min(best, max(end.values()))
    return float(best)


def test_search_stops_in_time_and_tells_its_bound():
    graph = random_graph(3, 100, 0.03)
    begun = time.perf_counter()
    found = df_ihs(graph, 8, time_limit=0.5)
    assert time.perf_counter() - begun < 5.0
    assert found.findings() == []
    assert found.makespan <= cp_misf(graph, 8).makespan
    assert found.bound == graph.lower_bound(8) or found.error == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_bound_never_exceeds_the_optimum(seed):
    graph = random_graph(seed, 14, 0.25)
    found = df_ihs(graph, 2)
    assert found.error == 0.0
    assert graph.lower_bound(2) <= found.makespan


@pytest.mark.parametrize("seed", range(10))
def test_kept_checks_imply_all_others(seed):
    found = cp_misf(random_graph(seed, 50), 4)
    kept, every = waits(found), waits(found, all_of_them=True)
    assert set(kept) <= set(every)
    reach = reachable(found, kept)
    assert all(reach[a, b] for a, b in every)
    for dropped in kept:
        assert not reachable(found, [w for w in kept if w != dropped])[dropped]


def reachable(found, kept):
    n = len(found.graph)
    steps = np.zeros((n, n), bool)
    for a, b in [*kept, *(pair for lane in found.lanes for pair in itertools.pairwise(lane))]:
        steps[a, b] = True
    for k in range(n):
        steps |= np.outer(steps[:, k], steps[k])
    return steps


def test_a_large_graph_is_scheduled_in_a_second():
    rng = np.random.default_rng(0)
    edges = [
        (int(rng.integers(max(0, b - 50), b)), b) for b in range(1, 10000) for _ in range(rng.integers(0, 4))
    ]
    graph = TaskGraph.of(rng.integers(1, 10, 10000), edges)
    begun = time.process_time()
    found = cp_misf(graph, 16)
    assert time.process_time() - begun < 3.0
    assert found.error < 0.01


@pytest.mark.parametrize("seed", range(6))
def test_fusion_keeps_work_and_critical_path(seed):
    graph = random_graph(seed, 60, 0.06)
    fused = graph.fuse()
    assert len(fused) < len(graph)
    assert fused.work == graph.work
    assert fused.critical_path == pytest.approx(graph.critical_path)


def test_listing_is_what_the_source_draws():
    program = read_listing(LISTING)
    assert program.states == ("a", "b")
    assert program.initial.tolist() == [0.01, 0.01]
    names = [s.name for s in program.statements]
    edges = {(names[a], names[b]) for a, b in program.graph().edges}
    assert edges == {("g", "e"), ("g", "d"), ("f", "e"), ("e", "d"), ("d", "c"), ("c", "b")}


def test_listing_reads_expressions_by_the_rules_of_arithmetic():
    program = read_listing("x = integral(y, -1.5e-1)\ny = -(x + 2)*3/4 - sin(x)*min(x, 2) # a comment")
    x = 0.7
    expected = -(x + 2) * 3 / 4 - np.sin(x) * min(x, 2)
    assert float(program.rates()(x)) == pytest.approx(expected, rel=1e-15)
    assert program.initial.tolist() == [-0.15]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no statement"),
        ("a = b", "no statement computes 'b'"),
        ("a = integral(a, 0); a = 2", "computed twice"),
        ("a = b + 1; b = a", "waits for its own result"),
        ("a = integral(b + 1, 0); b = a", "name of a statement"),
        ("a = 1 + integral(b, 0); b = a", "as a separate statement"),
        ("a = integral(b, c); b = 1; c = 1", "a number"),
        ("a = __import__('os')", "no function|not understood"),
        ("a = (1 + 2", r"expected \)"),
        ("a = 1 2", "stands behind"),
        ("a = sine(1)", "no function 'sine'"),
        ("2 = a", "expected name"),
        ("a = " + "(" * 500 + "1" + ")" * 500, "tokens"),
        ("a = b ** 2; b = 1", r"found '\*\*'|stands behind"),
    ],
)
def test_listing_refuses(text, said):
    with pytest.raises(ModelError, match=said):
        read_listing(text)


def diagram():
    return [
        {"name": "x", "kind": "integrator", "inputs": ["v"], "initial": 1.0},
        {"name": "v", "kind": "integrator", "inputs": ["a"], "initial": 0},
        {"name": "damping", "kind": "gain", "inputs": ["v"], "gain": 0.2},
        {"name": "a", "kind": "sum", "inputs": ["-x", "-damping"]},
    ]


def test_block_diagram_is_an_oscillator():
    program = art.parallel.block_diagram(diagram())
    assert np.asarray(program.rates()([0.3, 0.5])).ravel() == pytest.approx([0.5, -0.3 - 0.1])
    assert program.graph().critical_path == 3


def test_block_diagram_from_a_file(tmp_path):
    path = tmp_path / "oscillator.toml"
    path.write_text(
        "\n".join("[[block]]\n" + "\n".join(f"{k} = {v!r}" for k, v in b.items()) for b in diagram())
    )
    assert art.parallel.read_diagram(path).states == ("x", "v")
    path.write_text("[block]\nname = 'x'")
    with pytest.raises(InputError, match="tables"):
        art.parallel.read_diagram(path)
    with pytest.raises(InputError, match="block diagram"):
        art.parallel.read_diagram(tmp_path / "missing.toml")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "delay"}, "no kind 'delay'"),
        ({"initial": "1"}, "initial"),
        ({"initial": float("nan")}, "initial"),
        ({"inputs": ["v", "x"]}, "found 2 inputs"),
        ({"inputs": "v"}, "list of names"),
        ({"inputs": ["v; y = 1"]}, "list of names"),
        ({"name": "x y"}, "letters"),
    ],
)
def test_block_diagram_refuses(change, said):
    blocks = diagram()
    blocks[0] = blocks[0] | change
    with pytest.raises(ModelError, match=said):
        art.parallel.block_diagram(blocks)


@pytest.mark.parametrize("method", STAGES)
def test_tasks_of_a_step_add_up(method):
    rates = read_listing(LISTING).rates()
    own = operations(rates).total * len(STAGES[method]) + rates.numel_in(0) * sum(STAGES[method])
    for grain in ("operation", "near fine", "fused"):
        graph = ode_graph(rates, method, grain)
        assert graph.work == own
    assert ode_graph(rates, method, "equation").work >= own
    assert (
        ode_graph(rates, method, "operation").critical_path
        == ode_graph(rates, method, "near fine").critical_path
    )


def test_stages_of_runge_kutta_follow_each_other():
    rates = read_listing(LISTING).rates()
    one, four = ode_graph(rates, "euler"), ode_graph(rates, "rk4")
    assert 3 * one.critical_path < four.critical_path


def test_graphs_of_a_mechanism():
    arm = art.load("cat215b")
    fine = mechanism_graph(arm, "forward_dynamics")
    assert fine.work == art.parallel.count(arm).total
    assert mechanism_graph(arm, "forward_dynamics", "fused").critical_path == fine.critical_path
    torso = mechanism_graph(art.load("human_torso"), "inverse_dynamics", "body")
    chain = mechanism_graph(art.load("puma600"), "inverse_dynamics", "body")
    assert torso.parallelism > 1.5 > chain.parallelism
    step = step_graph(arm, "rk4")
    assert 1.9 < cp_misf(step, 2).speedup <= 2.0


def test_rates_of_a_mechanism_are_those_of_its_quantities():
    arm = art.load("human_torso")
    q, v, tau = (np.linspace(a, b, 6) for a, b in ((0.1, 0.9), (-1, 1), (2, -2)))
    found = np.asarray(mechanism_rates(arm)(np.concatenate([q, v]), tau)).ravel()
    assert found == pytest.approx(np.concatenate([v, arm.forward_dynamics(q, v, tau)]), rel=1e-12)


def test_pictures(tmp_path):
    graph = TaskGraph.of((2, 1, 3), ((0, 2),), ("load <a>", 'say "b"', "c"))
    found = cp_misf(graph, 2)
    root = ElementTree.fromstring(found.svg())
    assert len(root.findall("{http://www.w3.org/2000/svg}g")) == 3
    assert found.save(tmp_path / "chart.svg").read_text() == found.svg()
    with pytest.raises(InputError, match=r"expected \.svg"):
        found.save(tmp_path / "chart.png")
    assert '\\"b\\"' in graph.dot()
    assert "t0 -> t2;" in graph.dot()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TaskGraph.of((1, 1), ((0, 1), (1, 0))), "waits for its own result"),
        (lambda: TaskGraph.of((1, -1), ()), "zero or more"),
        (lambda: TaskGraph.of((1, float("nan")), ()), "zero or more"),
        (lambda: TaskGraph.of((1,), ((0, 5),)), "two different tasks"),
        (lambda: cp_misf(TaskGraph.of((1,), ()), 0), "whole number"),
        (lambda: cp_misf(TaskGraph.of((1,), ()), 2.5), "whole number"),  # type: ignore[arg-type]
        (lambda: cp_misf(TaskGraph.of((1,), ()), 2, -1.0), "transfer"),
        (lambda: df_ihs(TaskGraph.of((1,), ()), 2, 0.0), "time_limit"),
        (lambda: ode_graph(read_listing(LISTING).rates(), "rk5"), "no method 'rk5'"),
        (lambda: ode_graph(read_listing(LISTING).rates(), "rk4", "body"), "grain"),  # type: ignore[arg-type]
        (lambda: ode_graph("x"), "expected a CasADi function"),  # type: ignore[arg-type]
        (lambda: mechanism_graph(art.load("puma600"), "masss", "body"), "no quantity"),
    ],
)
def test_wrong_questions_are_refused(make, said):
    with pytest.raises((InputError, ModelError), match=said):
        make()


def test_empty_graph():
    found = cp_misf(TaskGraph.of((), ()), 3)
    assert (found.makespan, found.speedup, found.findings()) == (0.0, 1.0, [])


@pytest.mark.parametrize("n", range(1, 20))
def test_doubling_combines_in_order(n):
    found, sweeps = prefixes([chr(97 + i) for i in range(n)], str.__add__)
    whole = "".join(chr(97 + i) for i in range(n))
    assert found == [whole[: i + 1] for i in range(n)]
    assert sweeps == int(np.ceil(np.log2(n)))


def test_neighborhood_scheduling_keeps_what_is_needed_first():
    rng = np.random.default_rng(2)
    for _ in range(30):
        tasks = []
        for number in range(1, 15):
            kinds = [
                Operand("T", int(rng.integers(1, number)))
                if number > 1 and rng.random() < 0.7
                else Operand("I", int(rng.integers(1, 5)))
                for _ in range(2)
            ]
            tasks.append(Subtask(number, *kinds, "VA"))
        order = neighborhood_schedule(tasks)
        assert len(doubles(order)) <= len(doubles(tasks))
        control_table(order)  # refuses an order in which something is used before it is computed
    with pytest.raises(InputError, match="before it is computed"):
        neighborhood_schedule([Subtask(1, Operand("T", 2), Operand("I", 1), "VA")])


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    return end.value.code, *capsys.readouterr()


def test_command(capsys, tmp_path):
    listing = tmp_path / "van_der_pol.ode"
    listing.write_text(LISTING)
    chart, graph = tmp_path / "c.svg", tmp_path / "g.dot"
    code, out, _ = run(
        capsys,
        "schedule",
        str(listing),
        "--method",
        "euler",
        "--chart",
        str(chart),
        "--graph",
        str(graph),
        "--seconds",
        "1",
        "--processors",
        "1,2",
    )
    assert code == 0
    assert "DF/IHS" in out
    assert chart.exists()
    assert graph.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.ode",), "missing.ode"),
        (("puma600", "--processors", "0"), "whole numbers from 1"),
        (("puma600", "--processors", "two"), "whole numbers from 1"),
        (("puma600", "--method", "rk5"), "no method 'rk5'"),
        (("puma600", "--grain", "coarse"), "grain 'coarse'"),
        (("puma600", "--transfer", "-1"), "transfer"),
    ],
)
def test_command_refuses(capsys, arguments, said):
    code, _, err = run(capsys, "schedule", *arguments)
    assert code == 2
    assert said in err
