"""`articulus campaign worst-case`, `rare` and `until`: what they print of runs that are chosen on the way."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from articulus.cli.printing import new_console, new_table

if TYPE_CHECKING:
    from articulus.study.campaign.statistics import Rate


def print_worst_case(
    study: Path, requirement: str | None, runs: int, method: str, given: dict[str, Any]
) -> None:
    """Search the worst case of a requirement and print it."""
    from articulus.study.campaign.explore import worst_case

    found = worst_case(study, requirement, runs=runs, method=method, **given)
    console = new_console()
    how = "kept, also in the worst run that was found" if found.kept else "missed"
    unit, size = found.requirement.bound_unit
    value = "the run fails" if found.value != found.value else f"{found.value / size:.6g} {unit}"
    console.print(
        f"{found.requirement.text}: {how}: {value}, after {found.found.runs:,} runs", soft_wrap=True
    )
    table = new_table("worst case", "input", "value [SI]", "")
    for name, x in found.inputs.items():
        table.add_row(name, f"{x:.9g}", "at the end of what was searched" if name in found.edge else "")
    console.print(table)


def print_rare(study: Path, requirement: str | None, runs: int, given: dict[str, Any]) -> None:
    """Print the probability that a requirement is missed."""
    from articulus.study.campaign.explore import failure_probability

    found = failure_probability(study, requirement, runs_per_level=runs, **given)
    low, high = found.bounds
    how = f"missed with probability {found.probability:.3g}, 95 % bounds about {low:.2g} to {high:.2g}"
    if math.isnan(found.probability):
        how = f"missed with a probability below about {high:.2g} (95 %)"
    console = new_console()
    console.print(
        f"{requirement or 'requirement'}: {how}, "
        f"from {found.runs:,} runs on {len(found.levels)} level{'' if len(found.levels) == 1 else 's'}",
        soft_wrap=True,
    )
    for each in found.warnings:
        console.print(each, soft_wrap=True)


def print_until(
    study: Path, above: float | None, width: float | None, runs: int, given: dict[str, Any]
) -> None:
    """Run until the pass rate is certainly above or below a number, or known to a width, and print it."""
    from articulus.study.campaign.explore import run_until

    found = run_until(study, above=above, width=width, first_runs=min(64, runs), max_runs=runs, **given)
    rate = found.rate
    new_console().print(
        f"pass rate {_answer(rate, above, width)}: {rate.passed:,} of {rate.runs:,} runs, 95 % bounds {rate.low:.6g} to {rate.high:.6g} "
        f"(for all looks together); results: {found.result.folder}",
        soft_wrap=True,
    )


def _answer(rate: Rate, above: float | None, width: float | None) -> str:
    if above is None:
        return f"{'known' if rate.high - rate.low <= (width or 0) else 'not known'} to {width:g}"
    return f"{'above' if rate.low > above else 'below' if rate.high < above else 'not told from'} {above:g}"
