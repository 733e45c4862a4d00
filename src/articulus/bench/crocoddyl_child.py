"""Crocoddyl on an arm given as URDF, in a process of its own: prints times, iterations and costs as JSON. Knows nothing of articulus."""

import json
import sys
import time

import crocoddyl  # type: ignore[import-not-found]
import numpy as np
import pinocchio


def problem(given):
    """Return the shooting problem of the bench's task."""
    model = pinocchio.buildModelFromUrdf(given["urdf"])
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    goal = np.concatenate([given["goal"], np.zeros(model.nv)])
    lead = given["lead"]

    def action(weights):
        costs = crocoddyl.CostModelSum(state, model.nv)
        away = crocoddyl.ResidualModelState(state, goal, model.nv)
        costs.addCost("state", crocoddyl.CostModelResidual(state, away), weights["state"])
        if weights["input"]:
            spent = crocoddyl.ResidualModelControl(state, model.nv)
            costs.addCost("input", crocoddyl.CostModelResidual(state, spent), weights["input"])
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        kind = (
            crocoddyl.IntegratedActionModelRK
            if given["method"] == "rk4"
            else crocoddyl.IntegratedActionModelEuler
        )
        more = (crocoddyl.RKType.four,) if given["method"] == "rk4" else ()
        return (
            kind(dynamics, *more, given["h"])
            if weights["input"]
            else crocoddyl.IntegratedActionModelEuler(dynamics, 0.0)
        )

    running = action({"state": given["state"], "input": given["input"]})
    if given["limit"]:
        running.u_lb, running.u_ub = -np.array(given["limit"]), np.array(given["limit"])
    last = action({"state": given["final"], "input": 0.0})
    start = np.zeros(2 * model.nv)
    shooting = crocoddyl.ShootingProblem(start, [running] * given["steps"], last)
    shooting.nthreads = 1
    return shooting, np.array(lead), start


def main():
    given = json.loads(sys.argv[1])
    shooting, lead, start = problem(given)
    found = {}
    best, until = float("inf"), time.perf_counter() + given["most"]
    for turn in range(given["repeats"]):
        if turn and time.perf_counter() > until:
            break
        solver = (crocoddyl.SolverBoxFDDP if given["limit"] else crocoddyl.SolverFDDP)(shooting)
        solver.th_stop = given["stop"]
        xs, us = [start] * (given["steps"] + 1), [lead] * given["steps"]
        begun = time.process_time()
        done = solver.solve(xs, us, 200, False)
        best = min(best, time.process_time() - begun)
        found = {"iterations": solver.iter, "cost": solver.cost, "converged": bool(done)}
    sys.stdout.write(json.dumps(found | {"seconds": best, "version": crocoddyl.__version__}))


main()
