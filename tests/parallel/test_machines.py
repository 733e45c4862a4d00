"""Emulators compute the true result, in the cycles that the sources tell, and say which questions they cannot answer."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.parallel import (
    ControlTask,
    contraction,
    effective_latency,
    iterate_asynchronously,
    mean_square_error,
    nonstrict_delays,
    run_array,
    run_mesh,
    solve_systolic,
)
from articulus.parallel.neighborhood import BENCHMARK, run_machine
from articulus.parallel.systolic_mesh import busiest

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "_static" / "theory"


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("variant", ["lu", "qr"])
def test_systolic_solver(n, variant):
    rng = np.random.default_rng(n)
    B, b = rng.normal(size=(n, n)), rng.normal(size=n)
    A = B @ B.T + n * np.eye(n)
    run = solve_systolic(A, b, variant)
    assert run.x == pytest.approx(np.linalg.solve(A, b), rel=1e-11, abs=1e-13)
    assert run.cycles == tuple(range(3 * n + 1, 4 * n + 1))
    assert run.residue < 1e-12 * np.abs(A).max()
    assert run.cells == n * (n + 1) // 2


def test_rotations_need_no_pivots():
    A = np.array([[0.0, 2.0], [3.0, 1.0]])
    assert solve_systolic(A, [2.0, 4.0], "qr").x == pytest.approx([1.0, 1.0])
    with pytest.raises(NumericalError, match="pivot is zero"):
        solve_systolic(A, [2.0, 4.0])
    with pytest.raises(NumericalError, match="singular"):
        solve_systolic(np.ones((2, 2)), [1.0, 2.0], "qr")


@pytest.mark.parametrize(
    ("A", "b", "variant"),
    [
        (np.eye(2), [1.0], "lu"),
        (np.eye(2), [1.0, np.nan], "lu"),
        (np.zeros((0, 0)), [], "lu"),
        (np.eye(1), [1.0], "cholesky"),
    ],
)
def test_solver_refuses(A, b, variant):
    with pytest.raises(InputError):
        solve_systolic(A, b, variant)


def random_arm(seed: int, n: int) -> art.Mechanism:
    rng = np.random.default_rng(seed)
    arm = art.Mechanism("arm", gravity=tuple(rng.normal(size=3)))
    before = "ground"
    for i in range(n):
        B = rng.normal(size=(3, 3))
        J = 0.05 * (B @ B.T) + np.eye(3)
        arm.body(
            f"b{i}", float(rng.uniform(1, 4)), tuple(rng.normal(size=3)),
            (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]),
        )  # fmt: skip
        axis = rng.normal(size=3)
        arm.joint(
            f"j{i}", art.Revolute(tuple(axis / np.linalg.norm(axis))), before, f"b{i}",
            at=art.Pose(xyz=tuple(rng.normal(size=3)), rpy=tuple(rng.normal(size=3))),
        )  # fmt: skip
        before = f"b{i}"
    return arm


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("balanced", [True, False])
def test_mesh_on_random_arms(n, balanced):
    arm = random_arm(n, n)
    rng = np.random.default_rng(n + 100)
    q, v = rng.normal(size=(2, n))
    run = run_mesh(arm, q, v, balanced)
    assert pytest.approx(arm.mass_matrix(q), rel=1e-11, abs=1e-11) == run.M
    assert run.bias == pytest.approx(arm.bias(q, v), rel=1e-11, abs=1e-11)
    assert run.sweeps == n + 1
    assert run.last_cycle(0) == (2 * n + 7 if balanced else 2 * n + 8)
    assert run.last_cycle(1) == (2 * n + 5 if balanced else 2 * n + 3)
    assert busiest(run) == 0


def test_mesh_shows_itself():
    arm = art.load("cat215b")
    root = ElementTree.fromstring(run_mesh(arm, np.zeros(4), np.zeros(4)).animation())
    ns = "{http://www.w3.org/2000/svg}"
    cells = [box for box in root.findall(f"{ns}rect")[1:] if "opacity" not in box.attrib]
    assert len(cells) == 4 + 10
    assert "c43" in [t.text for t in root.findall(f"{ns}text")]


@pytest.mark.parametrize("name", ["human_torso", "n_four_bar", "king_arm"])
def test_mesh_refuses_what_is_no_chain(name):
    arm = art.load(name)
    with pytest.raises(InputError, match="one chain"):
        run_mesh(arm, np.zeros(arm.nq), np.zeros(arm.nv))


def test_machine_with_two_networks_refuses_missing_inputs():
    with pytest.raises(InputError, match="missing"):
        run_machine(BENCHMARK, {1: np.zeros((3, 3, 3))})


CHAIN = (ControlTask("a", 2.0, ("x",)), ControlTask("b", 3.0, ("y",), ("a",)))


def test_delays_of_two_tasks_by_hand():
    assert nonstrict_delays(CHAIN, ("a", "b"), "b") == {"x": 5.0, "y": 3.0}
    assert nonstrict_delays(CHAIN, ("b", "a"), "b") == {"x": 5.0, "y": 3.0}
    assert nonstrict_delays((*CHAIN, ControlTask("c", 10.0)), ("b", "c", "a"), "b") == {"x": 5.0, "y": 3.0}
    assert nonstrict_delays((*CHAIN, ControlTask("c", 10.0)), ("a", "c", "b"), "b") == {"x": 15.0, "y": 3.0}


@pytest.mark.parametrize("delay", [0.0, 0.3, 1.9])
def test_latency_of_equal_delays_is_that_delay(delay):
    signals = {"x": np.sin, "y": lambda t: np.cos(2 * t)}
    law = lambda s: s["x"] + 0.5 * s["y"] ** 2  # noqa: E731
    delays = dict.fromkeys(signals, delay)
    assert effective_latency(law, signals, delays, 2 * np.pi) == pytest.approx(delay, abs=1e-5)
    assert mean_square_error(law, signals, delays, 2 * np.pi, shift=delay) < 1e-28


def test_error_of_a_sine_in_closed_form():
    found = mean_square_error(lambda s: 3 * s["x"], {"x": np.sin}, {"x": 0.4}, 2 * np.pi)
    assert found == pytest.approx(9 * 2 * np.sin(0.2) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    ("tasks", "order", "output"),
    [
        (CHAIN, ("a",), "b"),
        (CHAIN, ("a", "b"), "c"),
        ((*CHAIN, CHAIN[0]), ("a", "b", "a"), "b"),
        ((ControlTask("a", 1.0, (), ("z",)),), ("a",), "a"),
        ((ControlTask("a", 0.0),), ("a",), "a"),
    ],
)
def test_delays_refuse(tasks, order, output):
    with pytest.raises(InputError):
        nonstrict_delays(tasks, order, output)


def test_missing_delays_are_refused():
    with pytest.raises(InputError, match="lack"):
        mean_square_error(lambda s: s["x"], {"x": np.sin}, {}, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_asynchronous_iteration_of_a_contraction_converges_with_any_delay(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 6))
    A *= 0.8 / contraction(A).factor
    found = contraction(A)
    assert found.factor == pytest.approx(0.8, rel=1e-9)
    assert (np.abs(A) @ found.weights <= 0.8 * found.weights * (1 + 1e-6)).all()
    b = rng.normal(size=6)
    limit = np.linalg.solve(np.eye(6) - A, b)
    states = iterate_asynchronously(lambda i, x: A[i] @ x + b[i], np.zeros(6), 6000, 20, seed)
    assert states[-1] == pytest.approx(limit, abs=1e-9)


def test_asynchronous_iteration_diverges_where_a_synchronous_one_converges():
    A = np.array([[1.2, -1.3], [1.1, -1.1]])
    assert np.abs(np.linalg.eigvals(A)).max() < 1.0 < contraction(A).factor
    worst = max(
        np.abs(iterate_asynchronously(lambda i, x: A[i] @ x, np.ones(2), 4000, 8, seed)[-1]).max()
        for seed in range(5)
    )
    assert worst > 1e3


def test_asynchronous_questions_are_refused():
    with pytest.raises(InputError):
        contraction(np.ones((2, 3)))
    with pytest.raises(InputError):
        iterate_asynchronously(lambda i, x: 0.0, np.zeros(2), -1, 0)


def shown_texts(picture: str) -> list[str]:
    """Return the texts of an animated picture, each as often as it appears."""
    return [t.text or "" for t in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("variant", ["lu", "qr"])
def test_solver_shows_itself(variant):
    n, rng = 4, np.random.default_rng(0)
    A = rng.normal(size=(n, n))
    run = solve_systolic(A @ A.T + n * np.eye(n), rng.normal(size=n), variant)
    texts = shown_texts(run.animation(0.5))
    # every cell that computes finds one ratio (or angle); the columns of the unit matrix follow those of A
    assert texts.count("ratio" if variant == "lu" else "angle") == n * (n + 1) // 2
    assert texts.count(f"cycle {run.cycles[0]}") == 1
    places = [(w.row, w.column, w.begin) for w in run.work]
    assert len(set(places)) == len(places)


def test_array_shows_itself():
    arm = random_arm(5, 5)
    run = run_array(arm, *np.zeros((3, 5)))
    texts = shown_texts(run.animation())
    assert texts.count("force") == texts.count("moment") == 15
    assert texts.count("factor") == sum(s.processors for s in run.steps if s.name == "factor") == 20
    assert all(0 <= i <= j < 5 for s in run.steps for j, i in s.cells)


def benchmark_run(elements: int = 3):
    rng = np.random.default_rng(0)
    shapes = {1: (3, 3), 2: (3,), 3: (3,), 4: (), 5: (), 6: (), 7: ()}
    return run_machine(BENCHMARK, {k: rng.normal(size=(elements, *shape)) for k, shape in shapes.items()})


def test_machine_with_two_networks_shows_itself():
    run = benchmark_run()
    texts = shown_texts(run.animation())
    assert texts.count("T5") == 3 * 3  # in each stage of each element
    assert texts[-1] == BENCHMARK[-1].name
    assert sum(cycles for _, cycles in run.times) == run.cycles - 2
    with pytest.raises(InputError, match="cycle_duration"):
        run.animation(0.0)


def pictures() -> dict[str, str]:
    """Return the pictures of the page on parallel computation by name."""
    arm = art.load("cat215b")
    return {
        "mesh": run_mesh(arm, np.zeros(4), np.zeros(4)).animation(),
        "solver": solve_systolic(np.eye(3), np.ones(3)).animation(),
        "array": run_array(arm, *np.zeros((3, 4))).animation(),
        "machine": benchmark_run().animation(),
    }


def test_pictures_of_the_page_are_what_the_machines_draw():
    """After a change of what is drawn they are written anew with `pictures`."""
    for name, picture in pictures().items():
        assert (PICTURES / f"{name}.svg").read_text() == picture, name
