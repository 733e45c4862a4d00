"""`articulus design`: parameters and gains of a study that make a figure of its run best."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from articulus.cli.printing import new_console, new_table
from articulus.errors import DoubtfulResult, InputError, did_you_mean

if TYPE_CHECKING:
    from articulus.design.program import Optimum

KINDS = "final, mean, rms, largest or smallest"


def design(
    study: Annotated[Path, typer.Argument(help="Path of a study, a TOML file.")],
    vary: Annotated[list[str], typer.Option("--vary", help="Parameter and its bounds: kp=100:2000. May be given several times.")],
    minimize: Annotated[str, typer.Option("--minimize", help=f"Figure of the run: rms:q.hook; {KINDS} of a signal's entry.")],
    limit: Annotated[list[str] | None, typer.Option("--limit", help="Figure and its limit: largest:tau.lift<=1500.")] = None,
    sweep: Annotated[str | None, typer.Option("--sweep", help="Values of the first limit, one design each: 1000,1500,2000.")] = None,
    starts: Annotated[int, typer.Option("--starts", help="Starts; the second and further ones are random within the bounds.")] = 1,
    output: Annotated[Path | None, typer.Option("--output", help="File of the designs, JSON.")] = None,
    model: Annotated[Path | None, typer.Option("--model", help="File of the mechanism with the best parameters, TOML.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Page of the designs, HTML.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Open the run on the design desk, where a click on a design of the sweep loads it.")] = False,
) -> None:  # fmt: skip
    """Choose parameters and gains of a study by its run; exit with 1 if a limit is not kept or starts disagree."""
    from articulus.design.optimize import optimize
    from articulus.study import read_study

    read = read_study(study)
    variables = dict(_bounds(text) for text in vary)
    limits = [_limit(text) for text in limit or ()]
    if sweep and not limits:
        raise InputError("design: found --sweep without --limit; expected a limit to sweep")
    values = [float(x) for x in sweep.split(",")] if sweep else [None]
    found: list[Optimum] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DoubtfulResult)
        for value in values:
            asked = [_with(limits[0], value), *limits[1:]] if value is not None else limits
            begin: Any = starts if not found else found[-1].x[None]
            found.append(optimize(read, variables, _figure(minimize), asked, starts=begin))
    doubts = list(dict.fromkeys(str(w.message) for w in told if issubclass(w.category, DoubtfulResult)))
    console = new_console()
    heads = ["limit"] * bool(sweep) + [*variables, minimize, "limits kept"]
    rows = [_row(o, value, bool(sweep)) for o, value in zip(found, values)]
    table = new_table(read.name, *heads)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for text in doubts:
        console.print(f"doubt: {text}", soft_wrap=True)
    best = dict(zip(variables, found[-1].x.tolist() if sweep is None else found[0].x.tolist()))
    if output is not None:
        from articulus.model.files.storage import write_text

        designs = [
            {
                "limit": v,
                "params": dict(zip(variables, o.x.tolist())),
                "objective": o.objective,
                "excess": o.point.excess,
            }
            for v, o in zip(values, found)
        ]
        write_text(
            output,
            json.dumps(
                {
                    "study": read.name,
                    "minimize": minimize,
                    "limits": limit or [],
                    "designs": designs,
                    "doubts": doubts,
                },
                indent=1,
            )
            + "\n",
        )
        console.print(f"designs: {output}", soft_wrap=True)
    if model is not None:
        from articulus.model.files.model import write_model

        own = {n: x for n, x in best.items() if n in read.loop.mechanism.parameters}
        write_model(read.loop.mechanism.with_values(own).description, model)
        console.print(f"model: {model}", soft_wrap=True)
    if report is not None:
        _write_report(
            report,
            read.name,
            heads,
            rows,
            doubts,
            found,
            values if sweep else [],
            minimize,
            (limit or [""])[0],
        )
        console.print(f"report: {report}", soft_wrap=True)
    if view:
        read.loop.simulate(
            read.settings.t_end, read.q0, read.v0, params={**read.params, **best}, step=read.settings.step, sample=read.settings.sample,
            method=read.settings.method,
        ).view(title=read.name, designs=_desk_rows(found, values, (limit or ["limit"])[0], minimize), ranges=variables)  # fmt: skip
    if doubts:
        raise typer.Exit(1)


def _desk_rows(found: list[Optimum], values: list, limit: str, objective: str) -> list[dict[str, float]]:
    """Return the designs of a sweep, or those of all starts with how far they break limits, for the design desk."""
    if values != [None]:
        return [{limit: v, objective: o.objective, **o.values} for v, o in zip(values, found)]
    return [
        {"limits broken by": o.point.excess, objective: o.objective, **o.values}
        for o in (found[0], *found[0].others)
    ]


def _bounds(text: str) -> tuple[str, tuple[float, float]]:
    name, _, rest = text.partition("=")
    low, _, high = rest.partition(":")
    try:
        return name.strip(), (float(low), float(high))
    except ValueError:
        raise InputError(
            f"design: found --vary {text!r}; expected name=low:high, such as kp=100:2000"
        ) from None


def _figure(text: str) -> Any:
    from articulus.simulation.gradients.figures import ALL_FIGURES

    kinds = {k.__name__.lower(): k for k in ALL_FIGURES}
    kind, colon, entry = text.strip().partition(":")
    if not colon:
        return text.strip()
    if kind not in kinds:
        raise InputError(
            f"design: found the figure '{kind}' in '{text}'; expected {KINDS}; {did_you_mean(kind, list(kinds))}"
        )
    return kinds[kind](entry)


def _limit(text: str) -> Any:
    from articulus.design.optimize import AtMost

    figure, _, value = text.partition("<=")
    try:
        return AtMost(figure.strip(), _figure(figure), float(value))
    except ValueError:
        raise InputError(
            f"design: found --limit {text!r}; expected figure<=number, such as largest:tau.lift<=1500"
        ) from None


def _with(limit: Any, value: float | None) -> Any:
    import dataclasses

    return limit if value is None else dataclasses.replace(limit, limit=value)


def _row(o: Optimum, value: float | None, swept: bool) -> list[str]:
    kept = "yes" if not o.broken else "no: " + ", ".join(o.broken)
    return [*([f"{value:g}"] if swept else []), *(f"{x:.6g}" for x in o.x), f"{o.objective:.6g}", kept]


def _write_report(
    path: Path, name: str, heads: list[str], rows: list[list[str]], doubts: list[str], found: list[Optimum], values: list, objective: str, limit: str
) -> None:  # fmt: skip
    import matplotlib.pyplot as plt

    from articulus.design.fit_report import page_of
    from articulus.model.files.storage import write_text
    from articulus.study.report.markup import element, join, table

    body = [
        table("Designs", heads, rows, range(1, len(heads) - 1)),
        element("ul", join(element("li", d) for d in doubts)) if doubts else "",
    ]
    figures = []
    if len(found) > 1:
        figure, axes = plt.subplots(layout="constrained")
        axes.plot(values, [o.objective for o in found], "o-", markersize=4)
        axes.set_xlabel(limit)
        axes.set_ylabel(objective)
        figures.append(figure)
    write_text(path, page_of(f"Designs of {name}", str(join(b for b in body if b)), figures))
