"""Rows of the Riccati solver and of the path-integral controller: with a peer only where there is one."""

import numpy as np
import pytest

from articulus.bench import riccati
from articulus.bench.rows import Effort

BRIEF = Effort(seconds=0.0, quick=True, rounds=2)


def test_rows_without_crocoddyl_say_so(monkeypatch):
    monkeypatch.setattr(riccati, "interpreter", lambda: None)
    rows = list(riccati.solver(BRIEF))
    assert [row.name for row in rows] == [
        "soft goal, 100 Euler steps, one iteration",
        "soft goal, 100 Euler steps, limits, one iteration",
    ]
    assert all(riccati.VARIABLE in row.note and row.value > 0 for row in rows)


def test_another_cost_is_not_timed():
    found = next(riccati.solver(BRIEF)) if riccati.interpreter() else None
    assert found is None or not found.failed
    outcome = riccati.search(
        riccati._stages(riccati.chain(1), riccati.np.array([0.3]), None, "semi_implicit_euler"),
        tolerance=1e-9,
    )
    theirs = {"cost": 0.5 * outcome.cost, "converged": True, "iterations": 1, "seconds": 1.0, "version": "0"}
    (row,) = riccati._rows("soft goal", 1, outcome, 1.0, theirs, "semi_implicit_euler", BRIEF)
    assert row.failed


def test_path_integral_is_timed():
    rows = list(riccati.path_integral(BRIEF))
    assert rows
    assert all(row.value > 0 and not row.failed for row in rows)


@pytest.mark.parametrize("part", [0.4, 0.6])
def test_search_ends_where_feedback_presses_inputs_against_their_bounds(part: float) -> None:
    """Inputs at their bounds in the last steps, whose answer the goal rests on: 300 iterations were not enough, tiny steps without end."""
    model = riccati.chain(7)
    lead = np.asarray(model.mechanism.gravity(np.zeros(7)))
    goal = part * model.states(1)[0][0]
    stages = riccati._stages(model, goal, 1.2 * np.abs(lead) + 3.0, "semi_implicit_euler")
    x, u = np.zeros((riccati.STEPS + 1, 14)), np.tile(lead, (riccati.STEPS, 1))
    assert riccati.search(stages, x, u, tolerance=1e-9, iterations=300).converged
