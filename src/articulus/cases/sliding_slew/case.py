"""A slew of a body whose inertia and damping are known within ranges: sliding mode with gains from bounds on the model's error."""

import casadi as ca
import numpy as np

import articulus as art
from articulus.control.synthesis import sliding_mode

TIME, ANGLE = 2.0, 1.2
INERTIA, DRAG = (1.6, 2.4), (0.0, 0.8)


def compute() -> dict:
    craft = art.Mechanism("craft", gravity=(0, 0, 0))
    inertia = art.Parameter("inertia", 2.0)
    craft.body("craft", mass=5.0, com=(0, 0, 0), inertia=(3.0, 3.0, inertia))
    craft.joint("pivot", art.Revolute((0, 0, 1)), "ground", "craft", damping=art.Parameter("drag", 0.4))
    t = ca.SX.sym("t")
    s = ca.fmin(t / TIME, 1)
    target = ca.Function("target", [t], [ANGLE * s**3 * (10 - 15 * s + 6 * s**2)])
    design = sliding_mode(
        craft, {"inertia": INERTIA, "drag": DRAG}, target, TIME, slope=5.0, layer=0.02, margin=0.2
    )
    heavy = {"inertia": INERTIA[1], "drag": DRAG[1]}
    errors = []
    for law in (design.controller, feedforward(craft, target)):
        run = art.simulate(craft, TIME, controller=law, params=heavy, step=1e-3)
        wanted = np.array([float(target(x)) for x in run.t])
        errors.append(float(np.abs(run.q[:, 0] - wanted).max()))
    return {
        "largest error of the model's torque over the ranges, beside that on the motion alone": float(design.bound[0]) / worst_on_the_motion(),
        "gain over that bound": float(design.gain[0] / design.bound[0]),
        "largest error that the boundary layer allows [rad]": float(design.accuracy[0]),
        "all corners of the ranges stay within the layer (1 = yes)": bool(all(check.passed for check in design.checks)),
        "heaviest craft: error of the sliding law within that, of the nominal model alone 20 times beyond (1 = yes)": bool(errors[0] < design.accuracy[0] and errors[1] > 20 * design.accuracy[0]),
    }  # fmt: skip


def feedforward(craft: art.Mechanism, target: ca.Function) -> ca.Function:
    """Return the torque of the nominal model along the motion."""
    t = ca.SX.sym("t")
    q = target(t)
    v = ca.jacobian(q, t)
    tau = craft.function("inverse_dynamics")(q, v, ca.jacobian(v, t), [2.0, 0.4])
    return ca.Function("feedforward", [t], [tau], ["t"], ["u"])


def worst_on_the_motion() -> float:
    """Return the largest |dI a + dc v| on the motion."""
    s = np.linspace(0, 1, 2001)
    v = ANGLE / TIME * 30 * s**2 * (1 - s) ** 2
    a = ANGLE / TIME**2 * 60 * s * (1 - s) * (1 - 2 * s)
    return float(max(np.abs(dI * a + dc * v).max() for dI in (-0.4, 0.4) for dc in (-0.4, 0.4)))
