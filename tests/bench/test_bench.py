"""The benchmark runs and says what it measured; how fast anything is, is not a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter, sleep
from types import SimpleNamespace

import numpy as np
import pytest

import articulus as art
from articulus import bench
from articulus.bench import exudyn, first, narrow, peers, rows, runs
from articulus.bench.models import chain, tree
from articulus.bench.reference import joint_forces, residual
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.sections import BenchSection
from articulus.bench.startup import LOOPS, Start, Starter
from articulus.bench.table import COLUMNS, as_json, as_markdown, duration
from articulus.bench.timing import Contender, race
from articulus.errors import InputError
from articulus.kernel.jit import widest

ROW_KEYS = {"name", "n", "ours_us", "peer", "peer_us", "ratio", "value", "unit", "bar", "met", "note"}
MACHINE_KEYS = {
    "cpu",
    "vector_bits",
    "peak_gflops",
    "articulus",
    "casadi",
    "llvmlite",
    "llvm",
    "numpy",
    "date",
}
FACTS = dict.fromkeys(("cpu", "llvm_cpu", "fma", "python", "pin", "mujoco", "exudyn", *MACHINE_KEYS), "") | {
    "peak_gflops": 1.0
}
BRIEF = rows.Effort(seconds=0.0, quick=True, rounds=2)


QUICK = (
    "dynamics",
    "mass matrix",
    "rollouts",
    "controller in Python",
    "closed loops",
    "warm start",
    "first run",
)
"""Sections of the quick run, those with a peer of their own. `make nightly` measures all."""


def quick_run(*only):
    """Return the rows of a quick run of sections, all of them without a name, as the command prints them."""
    command = [sys.executable, "-m", "articulus", "bench", "--quick", "--json", *only]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["machine"].keys() >= MACHINE_KEYS
    assert report["machine"]["peak_gflops"] > 0
    for row in report["rows"]:
        assert row.keys() >= ROW_KEYS
        assert not row["failed"], row
        for key in ("ours_us", "peer_us", "ratio", "value", "peak_share"):
            assert row[key] is None or row[key] > 0, row
        assert row["ours_us"] is not None or row["value"] is not None  # memory, exponents
    return report["rows"]


def test_one_section_of_the_quick_run():
    assert "mass matrix, batch" in {row["name"] for row in quick_run("mass matrix")}


@pytest.mark.nightly
def test_quick_run_prints_one_json_object():
    made = quick_run(*(() if os.environ.get("ARTICULUS_MATRIX") == "all" else QUICK))
    names = {row["name"] for row in made}
    assert {"forward dynamics, batch", "inverse dynamics, batch", "mass matrix, batch"} <= names
    assert {"warm first result", "import articulus", "warm first run"} <= names
    assert {"RK4 rollouts with PD, one step", "Python controller, 1 kHz", "2 four-bar loops, 1 s"} <= names


def test_sections_are_chosen_by_words_of_their_titles(monkeypatch):
    measured = []
    titles = ["cold start", "cold start, parameters", "rollouts"]
    monkeypatch.setattr(
        bench,
        "sections",
        lambda quick: [BenchSection(t, lambda effort, t=t: measured.append(t) or []) for t in titles],
    )
    bench.measure(quick=True, only=["cold start"])
    assert measured == titles[:2]
    with pytest.raises(
        InputError, match="no section with 'hot' in its title; expected words of: cold start,"
    ):
        bench.measure(quick=True, only=["hot"])


@pytest.mark.skipif(widest() < 8, reason="no vectors wider than 256 bits")
def test_batches_are_measured_with_256_bit_vectors_too(monkeypatch):
    """A process of its own compiles for four lanes; rows and bars come back as they were made."""
    monkeypatch.delenv("ARTICULUS_LANES", raising=False)
    inverse, matrix = narrow.batches(BRIEF)
    assert (inverse.name, matrix.name) == (
        "inverse dynamics, batch, 256-bit vectors",
        "mass matrix, batch, 256-bit vectors",
    )
    assert (inverse.bar, matrix.bar) == (FigureLimit(20), FigureLimit(15))
    assert inverse.ours_us > 0 < inverse.peak_share
    assert inverse.with_share(1.0) == inverse
    monkeypatch.setenv("ARTICULUS_LANES", "4")
    assert not [*narrow.batches(BRIEF)]


FIRST = (rows.cold_start, first.cold_quantities, first.cold_parameters, runs.first_loops, first.first_runs)


@pytest.mark.parametrize("section", FIRST, ids=lambda f: f.__name__)
def test_seconds_of_new_processes_are_figures(section, monkeypatch):
    """The processes themselves are not started here."""
    monkeypatch.setattr(Starter, "_model_file", lambda self, model: model.name)
    monkeypatch.setattr(Starter, "_start", lambda self, path, rows, cache: Start(0.1, 0.25, 0.25, 0.0))
    for row in section(rows.Effort()):
        assert row.value == (pytest.approx(1.0) if row.unit == "x" else 0.25)
        assert row.ours_us == pytest.approx(2.5e5)
        assert row.met is True


def test_what_new_processes_do_first_works():
    known = {
        "articulus": art,
        "mechanism": art.load("two_link"),
        "np": np,
        "sys": SimpleNamespace(modules=()),
    }
    quantity = first.QUANTITY.format(name="forward_dynamics", frames=(), wrenches=())
    for code in (quantity, first.SIMULATE, first.LINEARIZE, LOOPS):
        exec(code, dict(known))  # noqa: S102


def test_without_pinocchio_a_row_has_ours_only(monkeypatch):
    monkeypatch.setattr(peers, "pinocchio", lambda: None)
    found = [*rows.inverse(BRIEF), *rows.one_state(BRIEF)]
    assert all(row.ours_us > 0 and row.peer_us is None and row.met is None for row in found)
    assert all("not installed" in row.note for row in found)


def test_without_compiler_generated_code_is_skipped(monkeypatch):
    monkeypatch.setattr(peers, "compiler", lambda: None)
    (row,) = rows.generated_c(BRIEF)
    assert row.ours_us > 0
    assert "no C compiler" in row.note


def test_a_compiler_that_refuses_is_named(monkeypatch):
    monkeypatch.setattr(peers, "compiler", lambda: sys.executable)  # knows no -O3
    (row,) = rows.generated_c(BRIEF)
    assert row.met is None
    assert "refused" in row.note


def test_results_that_differ_are_not_timed(monkeypatch):
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(rows, "difference", lambda *_: 1e-3)
    row = rows.batch_row("forward_dynamics", chain(2), FigureLimit(1.0), BRIEF)
    assert row.failed
    assert row.met is False
    assert row.ours_us is None


def test_a_difference_that_is_no_number_fails(monkeypatch):
    monkeypatch.setattr(rows, "residual", lambda *_: float("nan"))
    (row,) = rows.growth(BRIEF)
    assert row.failed


def test_rollouts_that_end_elsewhere_are_not_timed(monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.setattr(runs, "KD", 1.1)  # MuJoCo's damper
    monkeypatch.setattr(runs, "PD", lambda kp, kd: art.components.PD(kp, 1.0))
    (row,) = runs.rollouts(BRIEF)
    assert row.failed
    assert row.ours_us is None


def test_four_bars_beside_exudyn_only_when_both_are_accurate(monkeypatch):
    monkeypatch.setattr(exudyn, "is_installed", lambda: True)
    monkeypatch.setattr(
        exudyn, "run", lambda loops, end, steps: (runs.exact_angle(loops, end) + 2e-3, 1.0, 0.0)
    )
    (row,) = runs.closed_loops(BRIEF)
    assert row.failed
    assert "Exudyn's angle" in row.note
    monkeypatch.setattr(
        exudyn, "run", lambda loops, end, steps: (runs.exact_angle(loops, end) + 5e-4, 1.0, 0.0)
    )
    (row,) = runs.closed_loops(BRIEF)
    assert row.value == pytest.approx(1e6 / row.ours_us)


def test_without_exudyn_a_row_has_ours_only(monkeypatch):
    monkeypatch.setattr(exudyn, "is_installed", lambda: False)
    (row,) = runs.closed_loops(BRIEF)
    assert row.ours_us > 0
    assert row.met is None
    assert "not installed" in row.note


def test_angle_of_the_four_bars_near_the_upright_position():
    """At first sin phi = phi, whose solution is sinh; the next term is (phi/2)^2/6, below 1e-7."""
    loops, end = 3, 1e-3
    rate = np.sqrt(9.81 * (4 / 2 + 3) / (4 / 3 + 3))
    assert runs.exact_angle(loops, end) == pytest.approx(np.sinh(rate * end) / rate, rel=1e-7)


def test_several_cores_are_timed_by_the_time_of_day():
    """A nap takes no processor time, 10 ms at least, and the shortest of five no more than a fifth of the whole."""
    start = perf_counter()
    (time,) = race([Contender("nap", lambda: sleep(0.01))], 0.0, rounds=5, cores=2)
    assert 1e4 <= time <= 1e6 * (perf_counter() - start) / 5


def test_reference_is_independent_and_agrees():
    model = chain(5)
    q, v, vdot = (x[0] for x in model.states(1))
    tau = joint_forces(model, q, v, vdot)
    np.testing.assert_allclose(tau, model.mechanism.inverse_dynamics(q, v, vdot), rtol=1e-11)
    assert residual(model, q, v, tau, vdot) < 1e-14
    assert residual(model, q, v, tau, vdot + 1.0) > 1e-3


def test_the_tree_has_thirty_dofs_and_four_limbs():
    model = tree()
    assert (model.nv, model.mechanism.nq) == (30, 31)
    assert [link.parent for link in model.links].count(0) == 4
    np.testing.assert_allclose(np.linalg.norm(model.states(3)[0][:, :4], axis=1), 1.0)


def test_exponent_of_a_power_law():
    assert rows.exponent((10, 30, 100), (5.0, 15.0, 50.0)) == pytest.approx(1.0)


def test_race_counts_evaluations():
    work = lambda: sum(range(2000))  # noqa: E731
    one, ten = race([Contender("one", work), Contender("ten", work, 10)], 0.05)
    assert one / ten == pytest.approx(10, rel=0.5)


def test_bars():
    assert FigureLimit(20).accepts(20.0)
    assert not FigureLimit(20).accepts(19.9)
    assert FigureLimit(0.6, at_least=False).accepts(0.5)
    assert str(FigureLimit(4, at_least=False, unit="s")) == "<= 4 s"
    assert Measurement("x", 1, bar=FigureLimit(2)).met is None
    assert Measurement("x", 1, bar=FigureLimit(2), value=1.0).met is False


def test_texts():
    made = [
        Measurement(
            "x", 7, ours_us=0.1, peer="y", peer_us=2.0, value=20.0, bar=FigureLimit(20), flops=50
        ).with_share(1e9)
    ]
    *_, header, rule, line = as_markdown(FACTS, made).splitlines()
    assert header.count("|") == rule.count("|") == line.count("|") == len(COLUMNS) + 1
    assert "20 x" in line
    assert "50 %" in line
    (row,) = json.loads(as_json(FACTS, made))["rows"]
    assert (row["ratio"], row["bar"], row["met"]) == (20.0, ">= 20 x", True)
    assert [duration(t) for t in (None, 0.0912, 2500.0, 3.2e6)] == ["", "0.0912 us", "2.5 ms", "3.2 s"]


@pytest.mark.parametrize("kind", [InputError, RuntimeError, OSError, AssertionError, ImportError])
def test_an_error_ends_a_section_and_not_the_benchmark(monkeypatch, kind):
    def broken(effort):
        yield Measurement("first", 1, value=2.0)
        raise kind("what went wrong")

    parts = [BenchSection("broken", broken), BenchSection("good", lambda effort: [Measurement("good", 1)])]
    monkeypatch.setattr(bench, "sections", lambda quick: parts)
    monkeypatch.setattr(bench, "machine", lambda seconds: FACTS | {"peak_gflops": 1.0})
    found = bench.measure(quick=True).rows
    assert [row.name for row in found] == ["first", "broken", "good"]
    assert found[1].failed
    assert "what went wrong" in found[1].note
