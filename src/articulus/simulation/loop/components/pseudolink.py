"""Computed torque for the tip of a flexible arm: the joints of the rigid arm that has its tip at the same place are driven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.data import BodyData
from articulus.dynamics.flexible.integrals import sparse
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.quantities import function
from articulus.errors import did_you_mean
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import all_coordinates, as_in_time, column
from articulus.simulation.loop.components.tracking import (
    model_quantity,
    names,
    optional,
    take_model,
    target_state,
    wanted_acceleration,
)

NEWTON = 3
"""Steps from the joint angles to those of the rigid arm; after each the error is squared."""


@dataclass(frozen=True)
class Pseudolink(Controller):
    """Computed torque in the angles gamma of pseudolinks: the joints of the rigid arm whose tip is where that of the flexible arm is.

    With nu = a_d + kd (gamma_d' - gamma') + kp (gamma_d - gamma) the joint forces are those under which gamma'' = nu, so that the tip
    follows the rigid arm that has the target for its joints. The deflections are then left to themselves, and in general they are
    not stable (the zero dynamics of the tip): add `DeflectionFeedback`, whose gain `articulus.motion.inversion.pseudolink` designs.

    Parameters
    ----------
    tip : str, or one name for each joint
        Frame whose place the rigid arm shares. With one frame for each joint, each joint of the rigid arm has its own frame where the
        flexible arm has it, in the direction in which this joint moves it: with the ends of the links, an arm that passes its
        straight position, where the place of the tip alone does not tell the joints, can be driven.
    kp : numbers [1/s^2]
        One for all joints, or one each.
    kd : numbers [1/s]
    target : numbers, Table or casadi.Function of t [rad or m]
        gamma_d, one for each joint: the joint angles of the rigid arm.
    rate, acceleration
        Time derivatives of the target if not given.
    angular : bool
        Whether the rigid arm shares the orientation of the frames too, for arms with more joints than a place needs.
    model : Mechanism or Description
        What the controller believes; the mechanism of the run if not given.
    period : number [s]
        Sampling period; continuous if not given.
    name : str

    Signals: `angles` gamma [rad or m], `deflection` that the present nu would hold, by modal coordinate [-], `authority`: joint forces
    by nu, column by column [kg m^2].

    Source: King 1988, section 4.7.
    """

    tip: tuple[str, ...]
    kp: Any = quantity("1/s^2", "stiffness over inertia", size="1 or n")
    kd: Any = quantity("1/s", "damping over inertia", size="1 or n")
    target: Any = quantity("rad or m", "angles of the pseudolinks to follow", size="1 or n", default=0.0)
    rate: Any = quantity(
        "rad/s or m/s", "their rates; those of the target if not given", size="1 or n", default=None
    )
    acceleration: Any = quantity(
        "rad/s^2 or m/s^2",
        "their accelerations; those of the target if not given",
        size="1 or n",
        default=None,
    )
    angular: bool = False
    model: Description | None = None
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "pseudolink"

    type_name = "pseudolink"
    signals: ClassVar = {"angles": "rad or m", "deflection": "-", "authority": "kg m^2"}

    def __post_init__(self) -> None:
        convert(self, tip=names, kp=as_numbers, kd=as_numbers, target=as_in_time)
        convert(self, rate=optional, acceleration=optional)
        take_model(self)
        sampling(self)

    def work(self, s: Scope) -> None:
        joints, modal = self._check(s)
        q, v = all_coordinates(s, self)
        n = len(joints)
        arm = self._rigid(s, q, v, joints)
        H, bias = model_quantity(s, self, "mass_matrix", q), model_quantity(s, self, "bias", q, v)
        P = ca.solve(ca.densify(arm.moves[:, joints]), SX.eye(n))
        F = ca.mtimes(P, arm.moves[:, modal])
        target, rate = target_state(s, self, n)
        nu = wanted_acceleration(s, self, n) + column(s, self, "kd", n) * (rate - arm.rates)
        nu += column(s, self, "kp", n) * (target - arm.angles)
        H21, S = ca.mtimes(H[modal, joints], P), H[modal, modal] - ca.mtimes(H[modal, joints], F)
        across = H[joints, modal] - ca.mtimes(H[joints, joints], F)
        solved = ca.solve(ca.densify(S), ca.densify(ca.horzcat(H21, bias[modal])))
        authority = ca.mtimes(H[joints, joints], P) - ca.mtimes(across, solved[:, :n])
        force = ca.mtimes(authority, nu - arm.drift) + bias[joints] - ca.mtimes(across, solved[:, n])
        loads = ca.mtimes(H21, nu - arm.drift) + bias[modal]
        s.write("angles", arm.angles)
        s.write(
            "deflection",
            q[modal] - Factorization(modal_stiffness(s, self.model or s.description)).solve(loads),
        )
        s.write("authority", ca.vec(ca.densify(authority)))
        s.command(spread(s, self, force, joints))

    def _check(self, s: Scope) -> tuple[list[int], list[int]]:
        """Return the places of joints and of modal coordinates; raise InputError unless the law can be kept."""
        d, model = s.description, self.model or s.description
        if d.constraints or d.couplings:
            raise wrong(self, "tip", f"'{d.name}' with constraints or coupled joints", "an open arm")
        if model.nv != d.nv or places(model) != places(d):
            raise wrong(self, "model", f"'{model.name}' with {model.nv} velocities", f"those of '{d.name}'")
        known = [*(f.name for f in model.frames), *(b.name for b in model.bodies)]
        for name in self.tip:
            if name not in known:
                raise wrong(self, "tip", f"'{name}'", "names of frames or bodies", did_you_mean(name, known))
        joints, modal = places(d)
        if not modal:
            raise wrong(
                self, "tip", f"'{d.name}' without flexible bodies", "a flexible arm", "Take ComputedTorque"
            )
        if not joints:
            raise wrong(self, "tip", f"'{d.name}' without joints", "an arm with joints")
        if len(self.tip) not in (1, len(joints)):
            raise wrong(self, "tip", f"{len(self.tip)} frames", f"1 or {len(joints)}, one for each joint")
        self._check_rank(s, joints)
        return joints, modal

    def _check_rank(self, s: Scope, joints: list[int]) -> None:
        """Raise InputError unless the joints can be told from where the tip is, in a position that is not singular."""
        model = self.model or s.description
        rng = np.random.default_rng(0)
        q = np.array(model.neutral, dtype=float)
        q[joints] = rng.uniform(0.2, 1.2, len(joints))
        p = [np.array([x.value for x in model.parameters])] if model.parameters else []
        frames = self._frames(len(joints))
        J = {
            name: np.array(function(model, "jacobian", (name,))(q, *p))[self._rows, joints]
            for name in set(frames)
        }
        W = np.array([J[name][:, k] @ J[name] for k, name in enumerate(frames)])
        rank = int(np.linalg.matrix_rank(W, tol=1e-9 * np.abs(W).max(initial=1e-300)))
        if rank < len(joints):
            hint = (
                ""
                if self.angular
                else "Name the ends of the links, or let orientations count: angular = true"
            )
            raise wrong(self, "tip", f"{list(self.tip)}, whose positions determine {rank} of {len(joints)} joints", "frames that determine all", hint)  # fmt: skip

    @property
    def _rows(self) -> slice:
        return slice(0 if self.angular else 3, 6)

    def _frames(self, n: int) -> tuple[str, ...]:
        """Return the frame of each joint."""
        return self.tip if len(self.tip) == n else self.tip * n

    def _rigid(self, s: Scope, q: SX, v: SX, joints: list[int]) -> _Rigid:
        """Return the motion of the rigid arm whose frames are where those of the flexible arm are."""
        n = len(joints)
        frames = self._frames(n)

        def of(name: str, *state: SX) -> dict[str, SX]:
            return {f: model_quantity(s, self, name, *state, frames=(f,)) for f in dict.fromkeys(frames)}

        def along(own: dict[str, SX], held: dict[str, SX]) -> SX:
            """Return one row for each joint: what is held of its frame, in the direction in which it moves this."""
            return ca.vertcat(
                *(ca.mtimes(own[f][self._rows, joints[k]].T, held[f]) for k, f in enumerate(frames))
            )

        straight, angles, place = SX(SX.zeros(q.numel())), q[joints], of("pose", q)
        for _ in range(NEWTON):
            straight[joints] = angles
            own, found = of("jacobian", straight), of("pose", straight)
            W = along(own, {f: J[self._rows, joints] for f, J in own.items()})
            off = along(own, {f: _off(place[f], found[f])[self._rows] for f in own})
            angles = angles + ca.solve(ca.densify(W), ca.densify(off))
        straight[joints] = angles
        own = of("jacobian", straight)
        W = ca.densify(along(own, {f: J[self._rows, joints] for f, J in own.items()}))
        moves = ca.solve(
            W, ca.densify(along(own, {f: J[self._rows, :] for f, J in of("jacobian", q).items()}))
        )
        speed = SX(SX.zeros(v.numel()))
        speed[joints] = ca.mtimes(moves, v)
        turned, bent = of("jacobian_rate", straight, speed), of("jacobian_rate", q, v)
        pushed = {f: (ca.mtimes(bent[f], v) - ca.mtimes(turned[f], speed))[self._rows] for f in own}
        return _Rigid(angles, speed[joints], moves, ca.solve(W, ca.densify(along(own, pushed))))


@dataclass(frozen=True)
class _Rigid:
    """Angles and rates of the rigid arm, its rates by all velocities (n, nv), and its accelerations where these do not accelerate."""

    angles: SX
    rates: SX
    moves: SX
    drift: SX


def _off(place: SX, found: SX) -> SX:
    """Return rotation and displacement from one pose to another, (6,); the rotation to first order."""
    turn = ca.mtimes(place[:3, :3], found[:3, :3].T)
    axis = ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]) / 2
    return ca.vertcat(axis, place[:3, 3] - found[:3, 3])


def places(description: Description) -> tuple[list[int], list[int]]:
    """Return the places of joints and of modal coordinates in v; bodies in the order in which their coordinates are."""
    slices = [description.mode_slices(b.name)[0] for b in description.bodies if b.modes is not None]
    modal = [k for at in slices for k in range(at.start, at.stop)]
    return [k for k in range(description.nv) if k not in modal], modal


def modal_stiffness(s: Scope, description: Description) -> SX:
    """Return the stiffness of all modal coordinates, in the order of `places`."""
    held = [b.modes for b in description.bodies if b.modes is not None]
    return ca.diagcat(*(ca.densify(sparse(BodyData(m, s.number).integrals.stiffness)) for m in held))


def spread(s: Scope, component: Controller, force: SX, joints: Sequence[int]) -> SX:
    """Return joint forces as commands: of one actuator for each joint, or of all degrees of freedom in a run without actuators."""
    n = s.commands.numel()
    if n == len(joints):
        return force
    if n != s.description.nv:
        raise wrong(
            component, "name", f"{n} commands", f"{len(joints)}, an actuator for each joint in their order"
        )
    every = SX.zeros(n)
    every[list(joints)] = force
    return every
