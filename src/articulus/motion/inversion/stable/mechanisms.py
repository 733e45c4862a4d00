"""A mechanism, alone or in a loop with components, as a `NonlinearSystem`: joint forces in, coordinates of frames out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, UnsupportedOperation, did_you_mean
from articulus.model.mechanism import Parameter
from articulus.motion.inversion.stable.system import NonlinearSystem
from articulus.simulation.loop.components.prescribed import PrescribedForce
from articulus.simulation.running.loop import Loop

AXES = "xyz"


def mechanism_system(
    plant: Mechanism | Loop,
    actuators: Sequence[str],
    outputs: Sequence[str] | ca.Function,
    *,
    params: Mapping[str, float] | None = None,
) -> NonlinearSystem:
    """Return x' = f(x) + g(x) u, y = h(x) of a mechanism, x = (q, v, states of components).

    Parameters
    ----------
    plant : Mechanism or Loop
        An open tree of joints without quaternions; flexible bodies may be in it. The components of a loop (springs, dampers, continuous
        controllers) take part.
    actuators : sequence of str
        Joints with one degree of freedom whose forces are the inputs "tau.<joint>".
    outputs : sequence of str, or casadi.Function of q
        "tip.x": coordinate x, y or z of the frame "tip" [m]; "q.elbow": position of a joint. As many as joints.
    params : dict of parameter name to number
    """
    mechanism = plant.mechanism if isinstance(plant, Loop) else plant
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"mechanism_system: found {type(plant).__name__}; expected a Mechanism or a Loop")
    if mechanism.constraint_names or mechanism.nq != mechanism.nv:
        raise UnsupportedOperation(
            "mechanism_system: the mechanism has constraints or quaternions; expected an open tree of joints with one rate per coordinate"
        )
    actuators = (actuators,) if isinstance(actuators, str) else tuple(actuators)
    inputs = [Parameter(f"inverse_input_{i}", 0.0) for i in range(len(actuators))]
    added = tuple(PrescribedForce(joint, p, name=f"inverse_{joint}") for joint, p in zip(actuators, inputs))
    loop_of_plant = plant if isinstance(plant, Loop) else Loop(mechanism)
    loop = Loop(mechanism, loop_of_plant.controller, (*loop_of_plant.components, *added), loop_of_plant.loops)
    x, u, rate, names = _equations(loop, [p.name for p in inputs], params or {})
    q = x[: mechanism.nq]
    return NonlinearSystem.affine(
        x,
        u,
        rate,
        _outputs(mechanism, outputs, q, params or {}),
        state_names=names,
        input_names=tuple(f"tau.{joint}" for joint in actuators),
        input_units=tuple("N m or N" for _ in actuators),
        output_names=() if isinstance(outputs, ca.Function) else tuple(outputs),
        name=mechanism.name,
        mechanism=None if loop_of_plant.controller or loop_of_plant.components or params else mechanism,
    )


def _equations(
    loop: Loop, inputs: list[str], params: Mapping[str, float]
) -> tuple[SX, SX, SX, tuple[str, ...]]:
    """Return states, inputs, rates and names of the states of a loop, without its sums of energy."""
    if loop.outside is not None:
        raise UnsupportedOperation(
            "mechanism_system: the controller is a Python function; expected CasADi or none"
        )
    function, system = loop.function("rhs"), loop.system
    if function.size1_in(1) or system.nw:
        raise UnsupportedOperation(
            "mechanism_system: the loop has sampled components or noise; expected continuous ones"
        )
    unknown = [name for name in params if name not in loop.parameters]
    if unknown:
        raise InputError(f"params: no parameter '{unknown[0]}'; {did_you_mean(unknown[0], loop.parameters)}")
    kept = [
        i for name, s in system.places.items() if not name.startswith("work.") for i in range(s.start, s.stop)
    ]
    x, u, t = SX.sym("x", len(kept)), SX.sym("u", len(inputs)), SX.sym("t")
    c = SX.zeros(function.size1_in(0), 1)
    c[kept] = x
    values = {p.name: p.value for p in system.network.parameters} | dict(params)
    p = ca.vertcat(
        *(u[inputs.index(name)] if name in inputs else SX(float(values[name])) for name in loop.parameters)
    )
    rate = ca.densify(function(c, SX(0, 1), p, SX(0, 1), t, 1e-3)[kept])
    if ca.depends_on(rate, t):
        raise UnsupportedOperation(
            "mechanism_system: the loop depends on time (tables, references); expected components without time"
        )
    d = loop.mechanism
    names = [*(f"q.{n}" for n in d.q_names), *(f"v.{n}" for n in d.v_names)]
    names += [f"state.{i}" for i in range(len(kept) - len(names))]
    return x, u, rate, tuple(names)


def _outputs(mechanism: Mechanism, outputs: Any, q: SX, params: Mapping[str, float]) -> SX:
    if isinstance(outputs, ca.Function):
        return ca.vec(outputs(q))
    own = [SX(float(params.get(p.name, p.value))) for p in mechanism.description.parameters]
    parts = []
    for name in outputs:
        head, _, tail = name.rpartition(".")
        if head in mechanism.frame_names and tail in AXES:
            function = mechanism.function("pose", [head])
            pose = function(q, ca.vertcat(*own)) if function.n_in() > 1 else function(q)
            parts.append(pose[AXES.index(tail), 3])
        elif name.startswith("q.") and name[2:] in mechanism.q_names:
            parts.append(q[list(mechanism.q_names).index(name[2:])])
        else:
            valid = [f"{f}.x" for f in mechanism.frame_names] + [f"q.{n}" for n in mechanism.q_names]
            raise InputError(f"mechanism_system: no output '{name}'; {did_you_mean(name, valid)}")
    return ca.vertcat(*parts)


def rest_of(mechanism: Mechanism, q: Any = None) -> np.ndarray:
    """Return x0 = (q, 0) for `stable_inversion`."""
    position = (
        mechanism.neutral if q is None else mechanism.positions(q, "q") if isinstance(q, Mapping) else q
    )
    return np.concatenate([np.asarray(position, dtype=float), np.zeros(mechanism.nv)])
