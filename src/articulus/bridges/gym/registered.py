"""Tasks with names of their own: `gymnasium.make("articulus/Hopper-v0")` after `import articulus.bridges.gym`.

All mechanisms are built here or come from the library; sizes and rewards are ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from articulus.bridges.gym.environment import Environment, VectorEnvironment, gymnasium
from articulus.bridges.gym.task import GymTask, MoveSymbols
from articulus.dynamics.mechanism import Mechanism
from articulus.model.load import load
from articulus.model.mechanism import Free, Limits, Parameter, Prismatic, Revolute
from articulus.simulation.loop.components import Contacts, FramePose, Saturation, Torque
from articulus.simulation.loop.contact import Plane, Sphere
from articulus.simulation.running import Loop
from articulus.simulation.running.joint_limits import joint_stops
from articulus.structure import beam_body

Y = (0.0, 1.0, 0.0)


def cart_pole() -> GymTask:
    """Return a pole that is attached to a cart and has to be swung up: 1 kg, 0.1 kg of 0.5 m, at most 10 N."""
    m = Mechanism("cart and pole")
    m.body("cart", 1.0, inertia=(0.01, 0.01, 0.01))
    m.body("pole", 0.1, com=(0, 0, 0.25), inertia=(0.1 * 0.5**2 / 12, 0.1 * 0.5**2 / 12, 1e-6))
    m.joint("slide", Prismatic(axis=(1, 0, 0)), "ground", "cart", limits=Limits((-2.0,), (2.0,)))
    m.joint("hinge", Revolute(axis=Y), "cart", "pole", damping=1e-3)

    def see(s: MoveSymbols) -> Any:
        return ca.vertcat(s["q.slide"], ca.cos(s["q.hinge"]), ca.sin(s["q.hinge"]), s["v"])

    return GymTask(
        Loop(m, components=[Saturation(Torque("slide", name="push"), -10.0, 10.0, name="push"), *joint_stops(m)]),
        step=0.005, frames=4, observations=(see,), q0=(0.0, np.pi), noise=0.05, time_limit=500, method="rk4",
        reward=lambda s: ca.cos(s["q.hinge"]) - 0.1 * s["q.slide"] ** 2 - 1e-3 * ca.sumsqr(s.action),
    )  # fmt: skip


def reacher() -> GymTask:
    """Return an arm of two links in a plane without gravity whose tip has to go to a point, drawn anew for every game."""
    m = Mechanism("reacher", gravity=(0, 0, 0))
    for k in (1, 2):
        m.body(f"link{k}", 0.5, com=(0.25, 0, 0), inertia=(1e-4, 0.5 * 0.5**2 / 12, 0.5 * 0.5**2 / 12))
    m.joint(
        "shoulder", Revolute(axis=(0, 0, 1)), "ground", "link1", damping=0.05, limits=Limits(effort=(1.0,))
    )
    m.joint(
        "elbow",
        Revolute(axis=(0, 0, 1)),
        "link1",
        "link2",
        (0.5, 0, 0),
        damping=0.05,
        limits=Limits(effort=(1.0,)),
    )
    m.frame("tip", "link2", (0.5, 0, 0))
    m.frame("goal", "ground", (Parameter("goal_x", 0.5), Parameter("goal_y", 0.5), 0.0))

    def gap(s: MoveSymbols) -> Any:
        return s["tip_pose.position"][:2] - ca.vertcat(s.p["goal_x"], s.p["goal_y"])

    def see(s: MoveSymbols) -> Any:
        return ca.vertcat(ca.cos(s["q"]), ca.sin(s["q"]), s["v"], gap(s))

    return GymTask(
        Loop(m, components=[FramePose("tip", name="tip_pose")]),
        step=0.005, frames=4, observations=(see,), noise=(1.0, 0.1), time_limit=150, method="rk4",
        randomize={"goal_x": (-0.6, 0.6), "goal_y": (-0.6, 0.6)},
        reward=lambda s: -ca.norm_2(gap(s)) - 0.01 * ca.sumsqr(s.action),
    )  # fmt: skip


def hopper() -> GymTask:
    """Return a trunk on one leg in a plane, 4.5 kg, that has to hop forward."""
    m = Mechanism("hopper")
    for name in ("along", "up"):
        m.body(name, massless="between the coordinates of the trunk")
    m.body("trunk", 3.0, com=(0, 0, 0.1), inertia=(0.03, 0.03, 0.01))
    m.body("thigh", 1.0, com=(0, 0, -0.15), inertia=(0.008, 0.008, 0.001))
    m.body("shank", 0.5, com=(0, 0, -0.15), inertia=(0.004, 0.004, 0.0005))
    m.joint("x", Prismatic(axis=(1, 0, 0)), "ground", "along")
    m.joint("z", Prismatic(axis=(0, 0, 1)), "along", "up")
    m.joint("pitch", Revolute(axis=Y), "up", "trunk")
    for joint, parent, child, at, low, high in (
        ("hip", "trunk", "thigh", (0, 0, 0), -0.3, 1.2),
        ("knee", "thigh", "shank", (0, 0, -0.3), -2.0, -0.1),
    ):
        m.joint(
            joint,
            Revolute(axis=(0, -1, 0)),
            parent,
            child,
            at,
            damping=0.5,
            armature=0.05,
            limits=Limits((low,), (high,)),
        )
    m.frame("foot", "shank", (0, 0, -0.3))
    m.frame("top", "trunk", (0, 0, 0.25))
    floor = Contacts(
        (Sphere("foot", 0.03), Sphere("trunk", 0.08), Plane()),
        stiffness=2e5,
        dissipation=2.0,
        friction=1.0,
        slip_speed=0.05,
    )
    motors = [Saturation(Torque(j, name=j), -40.0, 40.0, name=j) for j in ("hip", "knee")]

    def see(s: MoveSymbols) -> Any:
        return ca.vertcat(s["q"][1:], s["v"])

    return GymTask(
        Loop(m, components=[*motors, *joint_stops(m), floor]),
        step=0.001, frames=10, observations=(see,), q0=(0, 0.59, 0, 0.4, -0.8), noise=(0.01, 0.05), time_limit=500,
        reward=lambda s: 1.0 + (s["q.x"] - s.before["q.x"]) / s.duration - 1e-4 * ca.sumsqr(s.action),
        terminated=(lambda s: s["q.z"] < 0.3, lambda s: ca.fabs(s["q.pitch"]) > 1.0),
    )  # fmt: skip


def quadruped() -> GymTask:
    """Return a box of 6 kg on four legs of two joints, 10 kg in all, that has to walk."""
    m = Mechanism("quadruped")
    m.body("trunk", 6.0, inertia=(0.03, 0.09, 0.1))
    m.joint("base", Free(), "ground", "trunk")
    feet, motors = [], []
    for name, x, y in (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("hl", -0.2, 0.1), ("hr", -0.2, -0.1)):
        m.body(f"{name}_thigh", 0.7, com=(0, 0, -0.1), inertia=(0.003, 0.003, 0.0005))
        m.body(f"{name}_shank", 0.3, com=(0, 0, -0.1), inertia=(0.001, 0.001, 0.0001))
        limits = Limits((-1.0,), (1.6,)), Limits((-2.2,), (-0.3,))
        m.joint(
            f"{name}_hip",
            Revolute(axis=(0, -1, 0)),
            "trunk",
            f"{name}_thigh",
            (x, y, 0),
            damping=0.2,
            armature=0.01,
            limits=limits[0],
        )
        m.joint(
            f"{name}_knee",
            Revolute(axis=(0, -1, 0)),
            f"{name}_thigh",
            f"{name}_shank",
            (0, 0, -0.2),
            damping=0.2,
            armature=0.01,
            limits=limits[1],
        )
        m.frame(f"{name}_foot", f"{name}_shank", (0, 0, -0.2))
        feet.append(Sphere(f"{name}_foot", 0.02))
        motors += [
            Saturation(Torque(f"{name}_{j}", name=f"{name}_{j}"), -15.0, 15.0, name=f"{name}_{j}")
            for j in ("hip", "knee")
        ]
    shapes = (*feet, Sphere("trunk", 0.08), Plane())
    floor = Contacts(
        shapes,
        stiffness=2e5,
        dissipation=2.0,
        friction=0.8,
        slip_speed=0.05,
        among=tuple((k, 5) for k in range(5)),
    )

    def see(s: MoveSymbols) -> Any:
        return ca.vertcat(s["q"][:4], s["q"][6:], s["v"])

    stand = (1.0, 0, 0, 0, 0, 0, 0.37, *(0.4, -0.8) * 4)
    return GymTask(
        Loop(m, components=[*motors, *joint_stops(m), floor]),
        step=0.001, frames=20, observations=(see,), q0=stand, noise=(0.01, 0.05), time_limit=500,
        reward=lambda s: 0.5 + (s["q"][4] - s.before["q"][4]) / s.duration - 1e-3 * ca.sumsqr(s.action),
        terminated=(lambda s: s["q"][6] < 0.2,),
    )  # fmt: skip


def flexible_arm() -> GymTask:
    """Return a beam of 1 m that bends, on a motor without gravity: its tip has to be brought to an angle and kept still."""
    m = Mechanism("flexible arm", gravity=(0, 0, 0))
    m.flexible("link", beam_body(1.0, EI=8.0, mass_per_length=0.5, modes=2, tip_mass=0.1))
    m.joint("base", Revolute(axis=(0, 0, 1)), "ground", "link", armature=0.1, limits=Limits(effort=(3.0,)))
    m.frame("tip", "link", node="tip")
    return GymTask(
        Loop(m, components=[FramePose("tip", name="tip_pose")]),
        step=0.002, frames=10, actions=("base",), observations=("q", "v"), q0=(-1.0, 0.0, 0.0), noise=0.01, time_limit=200, method="rk4",
        reward=lambda s: -ca.sumsqr(s["tip_pose.position"][:2] - ca.vertcat(1, 0)) - 0.1 * ca.sumsqr(s["v"][1:]) - 0.01 * ca.sumsqr(s.action),
    )  # fmt: skip


def trench() -> GymTask:
    """Return the Caterpillar 215B: the tip of its bucket has to go along the floor of a trench, level, towards the machine."""
    m = load("cat215b")

    def off(s: MoveSymbols) -> Any:
        x, z = s["tip_pose.position"][0], s["tip_pose.position"][2]
        return ca.vertcat(x - (7.0 - 0.5 * s.t), z - (-1.0))

    return GymTask(
        Loop(m, components=[FramePose("bucket_tip", name="tip_pose")]),
        step=0.002, frames=20, observations=("q", "v", off), q0=(0.0, 0.3, -1.2, -0.6), noise=0.02, time_limit=150, method="rk4",
        reward=lambda s: -ca.sumsqr(off(s)) - 0.01 * ca.sumsqr(s["v"]) - ca.fabs(s["q"][0]),
    )  # fmt: skip


IDS: dict[str, Callable[[], GymTask]] = {
    "articulus/CartPole-v0": cart_pole,
    "articulus/Reacher-v0": reacher,
    "articulus/Hopper-v0": hopper,
    "articulus/Quadruped-v0": quadruped,
    "articulus/FlexibleArm-v0": flexible_arm,
    "articulus/Trench-v0": trench,
}
"""Tasks by the ids with which Gymnasium makes them."""


def register_all() -> None:
    """Tell Gymnasium the ids; done once by `import articulus.bridges.gym`."""
    for name, task in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=functools.partial(_environment, task),
                vector_entry_point=functools.partial(_vector, task),
            )


def _environment(task: Callable[[], GymTask], render_mode: str | None = None) -> Environment:
    return Environment(task(), render_mode)


def _vector(
    task: Callable[[], GymTask],
    num_envs: int = 1,
    autoreset_mode: Any = "NextStep",
    render_mode: str | None = None,
) -> VectorEnvironment:
    return VectorEnvironment(task(), num_envs, autoreset_mode, render_mode)


register_all()
