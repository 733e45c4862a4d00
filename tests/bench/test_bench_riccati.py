"""Rows of the Riccati solver and of the path-integral controller: with a peer only where there is one."""

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
