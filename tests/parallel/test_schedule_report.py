"""The page of schedules: all numbers of processors, all tasks, nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

import articulus as art
from articulus.cli import app
from articulus.parallel import cp_dt_misf, step_graph
from articulus.study.schedule_report import schedule_report


def test_the_command_writes_a_page_with_a_chart_for_each_number(tmp_path: Path) -> None:
    page = tmp_path / "s.html"
    call = ["schedule", "two_link", "--grain", "equation", "--processors", "1,2", "--report", str(page)]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    text = page.read_text()
    graph = step_graph(art.load("two_link"), "rk4", "equation")
    assert text.count("<figure") == 2
    assert text.count("<title>") == 1 + 2 * len(graph)
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in text


def test_names_are_taken_literally_and_large_graphs_told() -> None:
    graph = step_graph(art.load("two_link"), "rk4", "equation")
    assert "<b>bold" not in schedule_report([cp_dt_misf(graph, 2, 0.0)], "<b>bold")
    from articulus.parallel.graph import TaskGraph

    many = TaskGraph.of([1.0] * 4001, [])
    assert "too many to draw" in schedule_report([cp_dt_misf(many, 2, 0.0)], "many")
