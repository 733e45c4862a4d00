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
    exported,
    first,
    flexible,
    flexible_beams,
    games,
    hinf,
    identification,
    interaction,
    measurements,
    narrow,
    paths,
    planned,
    riccati,
    robust,
    rows,
    runs,
    schedules,
    shells,
    spacecraft,
    stable_inversion,
    staircase,
    stochastic,
    tips,
)
from articulus.bench.row import Measurement
from articulus.bench.rows import Effort


@dataclass(frozen=True)
class BenchSection:
    """Rows that are measured together."""

    title: str
    rows: Callable[[Effort], Iterator[Measurement]]


def sections(quick: bool) -> list[BenchSection]:
    """Return everything that is to be measured."""
    always = [
        BenchSection("forward dynamics", rows.forward),
        BenchSection("forward dynamics against generated C", rows.generated_c),
        BenchSection("exported C", exported.c_export),
        BenchSection("functional mock-up units", exported.unit_step),
        BenchSection("forward dynamics against MuJoCo", rows.mujoco),
        BenchSection("inverse dynamics, mass matrix", rows.inverse),
        BenchSection("derivatives", rows.derivatives),
        BenchSection("linear models", first.linear_models),
        BenchSection("one state", rows.one_state),
        BenchSection("derivatives about one state", rows.one_gradient),
        BenchSection("growth", rows.growth),
        BenchSection("rollouts", runs.rollouts),
        BenchSection("two threads", runs.two_threads),
        BenchSection("contact", contacts.quadruped),
        BenchSection("many contacts", balls.growth),
        BenchSection("excavator", runs.excavator),
        BenchSection("closed loops", runs.closed_loops),
        BenchSection("controller in Python", runs.python_controller),
        BenchSection("flexible arm in a plane", flexible.planar_arm),
        BenchSection("flexible arms in space", flexible.spatial_arms),
        BenchSection("derivatives of flexible arms", flexible.derivatives),
        BenchSection("hub with appendages", flexible.hub),
        BenchSection("beam of large deflection", flexible_beams.spin_up),
        BenchSection("beam of large deflection as a link", beam_link.link),
        BenchSection("shells", shells.modes),
        BenchSection("control-structure interaction", interaction.partition),
        BenchSection("structured singular value", robust.mu),
        BenchSection("Riccati equations", equations.riccati),
        BenchSection("sparse structures", equations.sparse_structures),
        BenchSection("Hinf synthesis", hinf.synthesis),
        BenchSection("stable inversion", stable_inversion.example),
        BenchSection("path speeds", paths.path_speeds),
        BenchSection("from point to point", paths.points),
        BenchSection("tip torques", tips.torques),
        BenchSection("stochastic programming", stochastic.three_states),
        BenchSection("staircase programs", staircase.programs),
        BenchSection("schedules", schedules.schedules),
        BenchSection("times of one call", schedules.distribution),
        BenchSection("segments of a chain", schedules.segments),
        BenchSection("two threads on one state", schedules.threads),
        BenchSection("planned motions", planned.motions),
        BenchSection("campaigns", campaigns.arms),
        BenchSection("large campaigns", campaigns.large),
        BenchSection("gradients of runs", measurements.gradients),
        BenchSection("regressors", measurements.regressors),
        BenchSection("fits", measurements.fits),
        BenchSection("identification", identification.identification),
        BenchSection("structures with controllers", identification.structures),
        BenchSection("environments", games.environments),
        BenchSection("JAX", games.jax_calls),
        BenchSection("orbits", spacecraft.orbits),
        BenchSection("wheels in orbit", spacecraft.wheels),
        BenchSection("hinged panels in orbit", spacecraft.panels),
        BenchSection("Riccati solver", riccati.solver),
        BenchSection("path-integral controller", riccati.path_integral),
    ]
    new = [
        BenchSection("warm start", rows.warm_start),
        BenchSection("first run", runs.first_run),
    ]
    slow = [
        BenchSection("256-bit vectors", narrow.batches),
        BenchSection("cold start", rows.cold_start),
        BenchSection("cold start, all quantities", first.cold_quantities),
        BenchSection("cold start, parameters", first.cold_parameters),
        BenchSection("cold start, flexible arms", flexible.cold_arms),
        BenchSection("cold start, tip torques", tips.cold_torques),
        BenchSection("cold start, planned motion", planned.first_plan),
        BenchSection("first run with loops", runs.first_loops),
        BenchSection("first runs and linear models", first.first_runs),
    ]
    return [*always, *new, *([] if quick else slow)]
