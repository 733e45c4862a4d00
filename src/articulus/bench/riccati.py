"""Rows of the Riccati solver beside Crocoddyl, and of the path-integral controller beside MuJoCo's rollouts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.bench import peers
from articulus.bench.models import Model, chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.motion.trajectory.costs import costs_of
from articulus.motion.trajectory.online import reaching
from articulus.motion.trajectory.path_integral import PathIntegral
from articulus.motion.trajectory.riccati import SearchOutcome, search
from articulus.motion.trajectory.stages import Stages
from articulus.motion.trajectory.task import Task

VARIABLE = "ARTICULUS_CROCODDYL"
"""Environment variable that names a Python interpreter with Crocoddyl, where this one has none."""
ABSENT = f"Crocoddyl is not installed; {VARIABLE} may name an interpreter that has it"
STEPS, DURATION = 100, 1.0
STATE, INPUT, FINAL = 1.0, 1e-3, 1e4
AGREE = 1e-4
"""Largest difference of the costs found, in parts of them."""
PREDICTIONS, HORIZON, STEP = 1024, 50, 0.01


def interpreter() -> str | None:
    """Return the interpreter that has Crocoddyl, or None."""
    return os.environ.get(VARIABLE) or (sys.executable if find_spec("crocoddyl") else None)


def solver(effort: Effort) -> Iterator[Measurement]:
    """Yield a soft goal of seven revolutes in 100 steps, with and without limits of the inputs."""
    methods = ["semi_implicit_euler"] if effort.quick else ["semi_implicit_euler", "rk4"]
    for method in methods:
        for limited in (False, True):
            yield from _measure_method(method, limited, effort)


def _measure_method(method: str, limited: bool, effort: Effort) -> Iterator[Measurement]:
    model = chain(3 if effort.quick else 7)
    n = model.nv
    goal = 0.5 * model.states(1)[0][0]
    lead = np.asarray(model.mechanism.gravity(np.zeros(n)))
    limit = 1.2 * np.abs(lead) + 3.0 if limited else None
    stages = _stages(model, goal, limit, method)
    x = np.zeros((STEPS + 1, 2 * n))
    call = partial(search, stages, x, np.tile(lead, (STEPS, 1)), tolerance=1e-9)
    outcome = call()
    (ours,) = race([Contender("articulus", call)], effort.seconds, effort.rounds)
    name = f"soft goal, 100 {'RK4' if method == 'rk4' else 'Euler'} steps{', limits' if limited else ''}"
    each = ours / outcome.iterations
    if (python := interpreter()) is None:
        yield Measurement(
            f"{name}, one iteration",
            n,
            each,
            value=each / 1e3,
            unit="ms",
            bar=_most(0.9, effort),
            note=ABSENT,
        )
        return
    theirs = _crocoddyl(python, model, goal, lead, limit, method, 3 if effort.quick else 20)
    yield from _rows(name, n, outcome, ours, theirs, method, effort)


def _rows(
    name: str,
    n: int,
    outcome: SearchOutcome,
    ours: float,
    theirs: dict[str, Any],
    method: str,
    effort: Effort,
) -> Iterator[Measurement]:
    gap = abs(outcome.cost - theirs["cost"]) / abs(theirs["cost"])
    peer = f"Crocoddyl {theirs['version']}"
    worse = outcome.cost > (1 + AGREE) * theirs["cost"]
    if not outcome.converged or (
        method != "rk4" and (worse if not theirs["converged"] else not gap <= AGREE)
    ):
        yield Measurement(
            name, n, failed=True, note=f"costs {outcome.cost:.6g} and {theirs['cost']:.6g} ({outcome.status})"
        )
        return
    each, other = ours / outcome.iterations, 1e6 * theirs["seconds"] / theirs["iterations"]
    note = f"{outcome.iterations} and {theirs['iterations']} iterations; costs agree to {gap:.0e}"
    if not theirs["converged"]:
        note += "; Crocoddyl did not converge"
    if method == "rk4":
        note += "; Crocoddyl takes the cost at all stages of a step, we at its beginning"
    yield Measurement(
        f"{name}, one iteration", n, each, peer, other, each / 1e3, "ms", _most(0.9, effort), note=note
    )
    whole = 1e6 * theirs["seconds"]
    yield Measurement(
        f"{name}, whole solution",
        n,
        ours,
        peer,
        whole,
        whole / ours,
        bar=None if effort.quick else FigureLimit(2),
    )


def _most(limit: float, effort: Effort) -> FigureLimit | None:
    return None if effort.quick else FigureLimit(limit, at_least=False, unit="ms")


def _stages(model: Model, goal: np.ndarray, limit: np.ndarray | None, method: str) -> Stages:
    m = model.mechanism
    effort = None if limit is None else dict(zip(m.joint_names, limit.tolist()))
    task = Task(m, np.zeros(m.nq), goal, DURATION, costs_of("effort"), torque_limit=effort)
    phase, c = task.phase(), task.columns
    z = SX.sym("z", phase.size)
    away = ca.sumsqr(z[c.q] - ca.DM(goal)) + ca.sumsqr(z[c.v])
    changed = replace(
        phase,
        end=(phase.lower, phase.upper),
        running=ca.Function("running", [z], [(STATE * away + INPUT * ca.sumsqr(z[c.u])) / 2]),
        final=ca.Function("final", [z, SX.sym("T")], [FINAL * away / 2]),
    )
    return Stages(changed, m, STEPS, method)


def _crocoddyl(
    python: str,
    model: Model,
    goal: np.ndarray,
    lead: np.ndarray,
    limit: np.ndarray | None,
    method: str,
    repeats: int,
) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        urdf = Path(folder) / "arm.urdf"
        model.mechanism.save(urdf)
        wide = '<limit lower="-100" upper="100" effort="1e6" velocity="1e6"/></joint>'
        text = urdf.read_text().replace('"continuous"', '"revolute"').replace("</joint>", wide)
        urdf.write_text(
            text
        )  # Pinocchio takes a joint without limits as a point on a circle: more coordinates
        given = {
            "urdf": str(urdf),
            "goal": goal.tolist(),
            "lead": lead.tolist(),
            "limit": None if limit is None else limit.tolist(),
            "method": method,
            "h": DURATION / STEPS,
            "steps": STEPS,
            "state": STATE,
            "input": INPUT,
            "final": FINAL,
            "stop": 1e-9,
            "repeats": repeats,
            "most": 3.0,
        }
        child = Path(__file__).with_name("crocoddyl_child.py")
        command = [python, "-I", str(child), json.dumps(given)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
    return json.loads(done.stdout)


def path_integral(effort: Effort) -> Iterator[Measurement]:
    """Yield one call of the path-integral controller on seven revolutes, noise, cost and weights included."""
    model = chain(3 if effort.quick else 7)
    n, samples = model.nv, 64 if effort.quick else PREDICTIONS
    limits = {"semi_implicit_euler": 8.0} if effort.quick else {"semi_implicit_euler": 8.0, "rk4": 20.0}
    for method, limit in limits.items():
        goal = 0.3 * model.states(1)[0][0]
        stages = reaching(model.mechanism, goal, step=STEP, steps=HORIZON, torque_limit=50.0, method=method)
        law = PathIntegral(stages, samples=samples)
        ours = Contender("articulus", partial(law.improve, np.zeros(2 * n)))
        name = f"path integral, {samples} x {HORIZON} {'RK4' if method == 'rk4' else 'Euler'} steps"
        if not peers.mujoco():
            (spent,) = race([ours], effort.seconds, effort.rounds)
            yield Measurement(
                name,
                n,
                spent,
                value=spent / 1e3,
                unit="ms",
                bar=_most(limit, effort),
                note="MuJoCo is not installed",
            )
            continue
        zeros = np.zeros((samples, n))
        integrator = "RK4" if method == "rk4" else "Euler"
        rival = peers.mujoco_predictions(model, zeros, zeros, step=STEP, steps=HORIZON, integrator=integrator)
        spent, theirs = race([ours, rival], effort.seconds, effort.rounds)
        yield Measurement(name, n, spent, value=spent / 1e3, unit="ms", bar=_most(limit, effort))
        note = "MuJoCo without noise, cost and weights"
        bar = None if effort.quick else FigureLimit(15)
        yield Measurement(
            f"{name}, peer", n, spent, "MuJoCo rollout", theirs, theirs / spent, bar=bar, note=note
        )
