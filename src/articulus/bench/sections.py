"""Everything that is measured, in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from articulus.bench import (
    balls,
    beam_link,
    campaigns,
    contacts,
    equations,
    first,
    flexible,
    flexible_beams,
    hinf,
    interaction,
    narrow,
    paths,
    planned,
    riccati,
    robust,
    rows,
    runs,
    shells,
    stable_inversion,
    staircase,
    stochastic,
    tips,
)
from articulus.bench.row import Row
from articulus.bench.rows import Effort


@dataclass(frozen=True)
class Section:
    """Rows that are measured together."""

    title: str
    rows: Callable[[Effort], Iterator[Row]]


def sections(quick: bool) -> list[Section]:
    """Return everything that is to be measured."""
    always = [
        Section("forward dynamics", rows.forward),
        Section("forward dynamics against generated C", rows.generated_c),
        Section("forward dynamics against MuJoCo", rows.mujoco),
        Section("inverse dynamics, mass matrix", rows.inverse),
        Section("derivatives", rows.derivatives),
        Section("linear models", first.linear_models),
        Section("one state", rows.one_state),
        Section("growth", rows.growth),
        Section("rollouts", runs.rollouts),
        Section("two threads", runs.two_threads),
        Section("contact", contacts.quadruped),
        Section("many contacts", balls.growth),
        Section("excavator", runs.excavator),
        Section("closed loops", runs.closed_loops),
        Section("controller in Python", runs.python_controller),
        Section("flexible arm in a plane", flexible.planar_arm),
        Section("flexible arms in space", flexible.spatial_arms),
        Section("derivatives of flexible arms", flexible.derivatives),
        Section("hub with appendages", flexible.hub),
        Section("beam of large deflection", flexible_beams.spin_up),
        Section("beam of large deflection as a link", beam_link.link),
        Section("shells", shells.modes),
        Section("control-structure interaction", interaction.partition),
        Section("structured singular value", robust.mu),
        Section("Riccati equations", equations.riccati),
        Section("Hinf synthesis", hinf.synthesis),
        Section("stable inversion", stable_inversion.example),
        Section("path speeds", paths.path_speeds),
        Section("from point to point", paths.points),
        Section("tip torques", tips.torques),
        Section("stochastic programming", stochastic.three_states),
        Section("staircase programs", staircase.programs),
        Section("planned motions", planned.motions),
        Section("campaigns", campaigns.arms),
        Section("large campaigns", campaigns.large),
        Section("Riccati solver", riccati.solver),
        Section("path-integral controller", riccati.path_integral),
    ]
    new = [
        Section("warm start", rows.warm_start),
        Section("first run", runs.first_run),
    ]
    slow = [
        Section("256-bit vectors", narrow.batches),
        Section("cold start", rows.cold_start),
        Section("cold start, all quantities", first.cold_quantities),
        Section("cold start, parameters", first.cold_parameters),
        Section("cold start, flexible arms", flexible.cold_arms),
        Section("cold start, tip torques", tips.cold_torques),
        Section("cold start, planned motion", planned.first_plan),
        Section("first run with loops", runs.first_loops),
        Section("first runs and linear models", first.first_runs),
    ]
    return [*always, *new, *([] if quick else slow)]
