"""The report of a task: result, limits, how good it is, proof by simulation, and the motion."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from articulus.browser import replay_fragment
from articulus.study.report.charts import drawing
from articulus.study.report.markup import (
    Markup,
    element,
    join,
    number,
    readable,
    section,
    table,
    written_or_told,
)
from articulus.study.report.page import page_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.motion.trajectory import Plan
    from articulus.study.plans.runner import PlanOutcome

LARGE = 1e-2
"""Estimated error of the states, over their sizes, from which the report doubts the mesh."""
MISSED = 0.1
"""Distance of the simulated end from the planned one, over the extent of the motion, from which the report doubts it."""
UNITS = {"q": "positions", "v": "velocities", "u": "forces of motors"}
LABELS = {"q": "position [rad, m]", "v": "velocity [rad/s, m/s]", "u": "force [N m, N]"}
CURVES = 12
"""Most curves of one plot."""


def plan_report(outcome: PlanOutcome) -> str:
    """Return the report as one HTML text that loads nothing."""
    task = outcome.task
    writers: dict[str, Callable[[], Markup]] = {
        "Result": lambda: _result(outcome),
        "Not kept": lambda: _violations(outcome),
        "Proof by simulation": lambda: _proof(outcome),
        "Motion and forces": lambda: _plots(outcome.plan),
        "Limits": lambda: _limits(outcome.plan),
        "Task": lambda: _task(outcome),
    }
    anchors = {title: title.lower().replace(" ", "-") for title in writers}
    parts = {title: written_or_told(title, anchors, write) for title, write in writers.items()}
    return page_text(
        parts,
        anchors,
        kicker="articulus plan",
        title=task.name,
        replay="" if outcome.run is None else replay_fragment(outcome.run, title=task.name),
        purpose=task.purpose,
        banner=_banner(outcome),
        footer=element("p", f"articulus {version('articulus')}; model {task.mechanism.name}"),
    )


def doubts(outcome: PlanOutcome) -> list[str]:
    """Return why a careful engineer would doubt the motion."""
    found = list(outcome.notes)
    plan, arguments = outcome.plan, outcome.task.arguments
    if plan.converged and plan.error > (arguments.get("error") or LARGE):
        found.append(
            f"the estimated error of the states is {plan.error:.2g} of their sizes: take more intervals, or give `error` in [solve]"
        )
    if outcome.run is not None and plan.end_error > MISSED * float(np.ptp(plan.q, axis=0).max()):
        found.append(
            f"the simulation ends {plan.end_error:.2g} rad or m off the plan: the mesh is too coarse, or the motion is unstable and needs "
            "feedback (`track`)"
        )
    worst = max((k for k in outcome.kept), key=lambda k: k.off, default=None)
    if worst is not None and worst.off > 1e-6:
        found.append(
            f"in the simulation, '{worst.name}' is off by {worst.off:.2g} between the points of the mesh"
        )
    return list(dict.fromkeys(found))


def _banner(outcome: PlanOutcome) -> Markup:
    plan, doubtful = outcome.plan, doubts(outcome)
    if not plan.converged:
        kind, headline = "bad", f"No motion found: {_words(plan.solution.status)}"
    elif not outcome.ok:
        kind, headline = "bad", "The simulation with the planned forces failed"
    else:
        kind, headline = "good", f"Motion of {plan.duration:.4g} s found"
        if doubtful:
            kind, headline = (
                "warn",
                f"{headline}, with {len(doubtful)} doubt{'s' if len(doubtful) > 1 else ''}",
            )
    s = plan.solution
    found = f"{s.iterations} iterations in {s.seconds:.3g} s"
    return element(
        "div",
        join([element("strong", headline), element("span", found)]),
        class_=f"banner {kind}",
        role="status",
    )


def _words(status: str) -> str:
    return status.replace("_", " ").lower()


def _result(outcome: PlanOutcome) -> Markup:
    plan = outcome.plan
    intervals = sum(map(len, plan.meshes)) - len(plan.meshes)
    rows = [
        ("search", _words(plan.solution.status)),
        ("duration", f"{plan.t[-1]:.6g} s"),
        ("cost", number(plan.solution.cost)),
        ("method", f"{plan.scheme.name} on {intervals} intervals"),
        ("estimated error of the states", readable(f"{plan.error:.2e} of their sizes")),
    ]
    if limits := plan.at_limits(0.05):
        rows.append(
            ("at a limit", ", ".join(f"{n} {100 * part:.0f} % of the time" for n, part in limits[:6]))
        )
    notes = element("ul", join(element("li", readable(text)) for text in doubts(outcome)))
    return section(
        "Result",
        element("p", "Reasons for doubt:") if doubts(outcome) else "",
        notes if doubts(outcome) else "",
        table("What was found", ("figure", "value"), rows),
        anchor="result",
    )


def _violations(outcome: PlanOutcome) -> Markup:
    if outcome.plan.converged:
        return Markup()
    found = outcome.plan.violations()
    rows = [(v.constraint, v.entry, number(v.t), number(v.amount)) for v in found[:20]]
    columns = ("constraint", "entry", "time [s]", "off by")
    made = table(
        "The motion that keeps the constraints best, and where it does not", columns, rows, numbers=(2, 3)
    )
    return section("Not kept", made, anchor="not-kept")


def _proof(outcome: PlanOutcome) -> Markup:
    run, plan = outcome.run, outcome.plan
    if run is None:
        return Markup()
    text = (
        "The mechanism is simulated with the planned forces alone, by an adaptive method with tight tolerances and without feedback. What is "
        "unstable without feedback, such as an arm held upright, drifts off although the plan is right."
    )
    m = plan.mechanism
    off = np.abs(m.position_difference(plan.q[-1], run.q[-1])).max()
    rows = [("end of the simulation: largest distance from the planned end [rad, m]", readable(f"{off:.2e}"))]
    rows.append(("speed left at the end, largest [rad/s, m/s]", readable(f"{np.abs(run.v[-1]).max():.2e}")))
    if outcome.residual is not None:
        rows.append(("vibration after the end, joints locked", readable(str(outcome.residual))))
    limits = [
        (k.name, _bound(k.lower), number(k.least), number(k.largest), _bound(k.upper)) for k in outcome.kept
    ]
    made = table(
        "Constraints of the whole way, in the simulation: distances beyond the margin [m], cosines of angles, joints that follow others [rad, m; rad/s, m/s]",
        ("constraint", "lower", "least", "largest", "upper"),
        limits,
        numbers=(1, 2, 3, 4),
    )
    return section(
        "Proof by simulation",
        element("p", text),
        table("End", ("figure", "value"), rows),
        made,
        anchor="proof-by-simulation",
    )


def _limits(plan: Plan) -> Markup:
    phase, z = plan.courses[0].phase, plan.courses[0].z
    rows = []
    for k, name in enumerate(phase.names):
        if name.partition(".")[0] not in UNITS:
            continue
        lower, upper = phase.lower[k], phase.upper[k]
        if np.isfinite(lower) or np.isfinite(upper):
            rows.append((name, *(_bound(x) for x in (lower, z[:, k].min(), z[:, k].max(), upper))))
    columns = ("unknown", "lower limit", "least", "largest", "upper limit")
    return section(
        "Limits",
        table("Positions, velocities and forces with limits", columns, rows, numbers=(1, 2, 3, 4)),
        anchor="limits",
    )


def _bound(x: float) -> str:
    return number(float(x)) if np.isfinite(x) else "none"


def _plots(plan: Plan) -> Markup:
    made = [
        drawing(lambda kind=kind: _plot(plan, kind), f"{what} over time", f"plan-{kind}")  # type: ignore[misc]
        for kind, what in UNITS.items()
    ]
    return section("Motion and forces", *made, anchor="motion-and-forces")


def _plot(plan: Plan, kind: str) -> Figure:
    from matplotlib.figure import Figure

    course = plan.courses[0]
    places = [k for k, n in enumerate(course.phase.names) if n.partition(".")[0] == kind]
    spread = np.argsort(-np.ptp(course.z[:, places], axis=0), kind="stable")[:CURVES]
    figure = Figure(figsize=(8, 2.6), layout="constrained")
    ax = figure.subplots()
    for i in sorted(spread.tolist()):
        place = places[i]
        (line,) = ax.plot(course.t, course.z[:, place], label=course.phase.names[place].partition(".")[2])
        for bound in (course.phase.lower[place], course.phase.upper[place]):
            reach = np.abs(course.z[:, place]).max()
            if np.isfinite(bound) and abs(bound) < 3 * reach:
                ax.axhline(bound, color=line.get_color(), lw=0.8, ls=":")
    ax.set(xlabel="t [s]", ylabel=LABELS[kind])
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _task(outcome: PlanOutcome) -> Markup:
    task = outcome.task
    command = f"articulus plan {shlex.quote(task.filename)}"
    text = element("details", join([element("summary", f"Show {task.filename}"), element("pre", task.text)]))
    return section(
        "Task", element("p", join(["Reproduce it with ", element("code", command)])), text, anchor="task"
    )
