"""The other engines on the same models, each called in the fastest way that it offers to Python."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np

from articulus.bench.models import GROUND, Array, JointedBody, Model
from articulus.bench.timing import Contender
from articulus.model.mechanism.pose import quaternion_of

SHARE = 256
"""Rows that a peer computes in one turn: short turns find quiet moments, and its data stay in the cache."""
MAPPED = 512
"""Evaluations in one call of a mapped CasADi function."""
FREE_POSITION = [4, 5, 6, 1, 2, 3, 0]
"""Pinocchio's position of a free joint (x y z, qx qy qz qw), taken from ours (qw qx qy qz, x y z)."""
FREE_VELOCITY = [3, 4, 5, 0, 1, 2]
"""Linear part first, taken from angular part first; the map back is the same."""


def module(name: str, must_have: str) -> ModuleType | None:
    """Return an installed package, or None if it is absent or another package of that name."""
    try:
        found = import_module(name)
    except ImportError:
        return None
    return found if hasattr(found, must_have) else None


def pinocchio() -> ModuleType | None:
    return module("pinocchio", "aba")


def mujoco() -> ModuleType | None:
    return module("mujoco", "MjModel")


class Pinocchio:
    """A model in Pinocchio."""

    def __init__(self, model: Model):
        self.pin: Any = pinocchio()
        self.free = model.links[0].free
        self.model = self._model(model.links)
        self.data = self.model.createData()

    def _model(self, links: Sequence[JointedBody]) -> Any:
        pin, model = self.pin, self.pin.Model()
        joints: dict[int, int] = {GROUND: 0}
        for i, link in enumerate(links):
            kind = pin.JointModelFreeFlyer() if link.free else pin.JointModelRZ()
            joints[i] = model.addJoint(joints[link.parent], kind, pin.SE3(link.at), f"joint{i}")
            inertia = pin.Inertia(link.mass, link.com, link.inertia)
            model.appendBodyToJoint(joints[i], inertia, pin.SE3.Identity())
        return model

    def state(self, q: Array, *rates: Array) -> list[Array]:
        """Return positions and rates in Pinocchio's order."""
        if not self.free:
            return [np.ascontiguousarray(x) for x in (q, *rates)]
        return [_reorder(q, FREE_POSITION), *(_reorder(x, FREE_VELOCITY) for x in rates)]

    def ours(self, rates: Array) -> Array:
        """Return rates in our order."""
        return _reorder(rates, FREE_VELOCITY) if self.free else rates

    def call(self, name: str, *row: Array) -> Callable[[], Any]:
        """Return the call of an algorithm for one state that is already in Pinocchio's order."""
        return partial(getattr(self.pin, name), self.model, self.data, *row)

    def loop(self, name: str, *states: Array) -> Contender:
        """Return a Python loop over some of the states."""
        rows = list(zip(*(x[:SHARE] for x in self.state(*states))))
        algorithm, model, data = getattr(self.pin, name), self.model, self.data

        def run() -> None:
            for row in rows:
                algorithm(model, data, *row)

        return Contender(f"Pinocchio {name}, loop", run, len(rows))

    def batch(self, name: str, *states: Array) -> Contender | None:
        """Return Pinocchio's own batched call with one thread, if this version has it."""
        algorithm = getattr(self.pin, f"{name}InParallel", None)
        if algorithm is None:
            return None
        pool = self.pin.ModelPool(self.model, 1)
        columns = [np.asfortranarray(x[:SHARE].T) for x in self.state(*states)]
        return Contender(f"Pinocchio {name}InParallel", partial(algorithm, 1, pool, *columns), SHARE)


def _reorder(x: Array, base: list[int]) -> Array:
    rest = list(range(len(base), x.shape[-1]))
    return np.ascontiguousarray(x[..., base + rest])


# MuJoCo


def mujoco_batch(model: Model, q: Array, v: Array, tau: Array) -> tuple[Contender, Array]:
    """Return batched forward dynamics of MuJoCo with one thread, and the accelerations it gave.

    Raises
    ------
    ImportError
        This MuJoCo has no batch interface (new in 4.0).
    """
    engine: Any = mujoco()
    batch = import_module("mujoco.batch").Batch(
        engine.MjModel.from_xml_string(_mjcf(model)), nsim=SHARE, nthread=1
    )
    for name, values in (("qpos", q), ("qvel", v), ("qfrc_applied", tau)):
        batch.bind(name)[:] = values[:SHARE]
    accelerations = batch.bind("qacc")
    batch.forward()
    return Contender("MuJoCo Batch.forward", batch.forward, SHARE), np.array(accelerations)


def mujoco_rollouts(
    model: Model, q: Array, v: Array, *, kp: float, kd: float, step: float, steps: int
) -> tuple[list[Contender], Array]:
    """Return rollouts of a chain by RK4 on one thread, and the states (rows, 2 n) where they end.

    The PD controller is a spring and a damper in every joint: computed by MuJoCo itself, faster than its actuators.
    `rollout` always stores every step; `Batch.step` (new in 4.0) stores nothing.

    Parameters
    ----------
    q, v : array, (rows, n) [rad, rad/s]
        Initial states.
    kp, kd : float [N m/rad, N m s/rad]
    step : float [s]
    steps : int
    """
    engine: Any = mujoco()
    text = _mjcf(model, f'timestep="{step!r}" integrator="RK4"', f'stiffness="{kp!r}" damping="{kd!r}"')
    compiled = engine.MjModel.from_xml_string(text)
    data, rows, n = [engine.MjData(compiled)], len(q), model.nv
    full = engine.mj_stateSize(compiled, engine.mjtState.mjSTATE_FULLPHYSICS)
    start, states = np.zeros((rows, full)), np.zeros((rows, steps, full))
    start[:, 1 : 1 + 2 * n] = np.hstack([q, v])
    call = partial(import_module("mujoco.rollout").rollout, compiled, data, start, nstep=steps, state=states)
    call()
    ways = [Contender("MuJoCo rollout", call, rows * steps)]
    with contextlib.suppress(ImportError, AttributeError):
        batch = import_module("mujoco.batch").Batch(compiled, nsim=rows, nthread=1)
        ways.append(_mujoco_steps(batch, q, v, steps))
    return ways, states[:, -1, 1 : 1 + 2 * n].copy()


def mujoco_predictions(
    model: Model, q: Array, v: Array, *, step: float, steps: int, integrator: str
) -> Contender:
    """Return rollouts of a chain without forces, one thread, every step stored; once for all rows."""
    engine: Any = mujoco()
    compiled = engine.MjModel.from_xml_string(_mjcf(model, f'timestep="{step!r}" integrator="{integrator}"'))
    full = engine.mj_stateSize(compiled, engine.mjtState.mjSTATE_FULLPHYSICS)
    start, states = np.zeros((len(q), full)), np.zeros((len(q), steps, full))
    start[:, 1 : 1 + 2 * model.nv] = np.hstack([q, v])
    data = [engine.MjData(compiled)]
    call = partial(import_module("mujoco.rollout").rollout, compiled, data, start, nstep=steps, state=states)
    return Contender("MuJoCo rollout", call)


def _mujoco_steps(batch: Any, q: Array, v: Array, steps: int) -> Contender:
    position, velocity = batch.bind("qpos"), batch.bind("qvel")

    def run() -> None:
        position[:], velocity[:] = q, v
        batch.step(nstep=steps)

    return Contender("MuJoCo Batch.step", run, len(q) * steps)


def _mjcf(model: Model, option: str = "", joint: str = "") -> str:
    """Return a chain as MJCF text, without contacts and constraints; attributes of the option and of every joint."""
    flags = '<flag contact="disable" constraint="disable" eulerdamp="disable"/>'
    bodies = "".join(_mjcf_body(link, joint) for link in model.links) + "</body>" * len(model.links)
    return f"<mujoco><option {option}>{flags}</option><worldbody>{bodies}</worldbody></mujoco>"


def _mjcf_body(link: JointedBody, joint: str) -> str:
    I = link.inertia
    moments = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    place = f'pos="{_text(link.at[:3, 3])}" quat="{_text(quaternion_of(link.at[:3, :3]))}"'
    inertial = f'<inertial pos="{_text(link.com)}" mass="{link.mass!r}" fullinertia="{_text(moments)}"/>'
    return f'<body {place}>{inertial}<joint type="hinge" axis="0 0 1" {joint}/>'


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


# C code that CasADi writes


def compiler() -> str | None:
    """Return the path of a C compiler; gcc if there is one."""
    return next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))), None)


def generated_c(function: ca.Function, states: Sequence[Array], folder: Path) -> tuple[Contender, Array]:
    """Return a function as C code of CasADi's, compiled for this processor and mapped, and what it gave.

    Raises
    ------
    subprocess.CalledProcessError
        The compiler refused.
    """
    mapped = _external(function, folder).map(MAPPED)
    arguments = [np.ascontiguousarray(x[:MAPPED]) for x in states]
    result = np.zeros((MAPPED, mapped.size1_out(0)))
    buffer: Any
    buffer, trigger = mapped.buffer()
    for k, x in enumerate(arguments):
        buffer.set_arg(k, x.data)
    buffer.set_res(0, result.data)
    trigger()

    def run(_keep: Any = (buffer, arguments, result)) -> None:
        trigger()

    return Contender("CasADi C, gcc -O3, map", run, MAPPED), result.copy()


def _external(function: ca.Function, folder: Path) -> ca.Function:
    source, library = folder / "generated.c", folder / "generated.so"
    generator = ca.CodeGenerator(source.name)
    generator.add(function)
    generator.generate(f"{folder}/")
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    command = [str(compiler()), *options, str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return ca.external(function.name(), str(library))
