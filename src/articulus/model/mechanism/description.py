"""A whole mechanism as frozen, validated data."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import heapq
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import (
    Finding,
    InputError,
    ModelError,
    MovedStart,
    UnsupportedOperation,
    did_you_mean,
    doubtful,
    unknown_name,
)
from articulus.model.mechanism.body import GROUND, Body, Frame
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.constraint import Constraint, references
from articulus.model.mechanism.coupling import Coupling, coupling_findings, in_order
from articulus.model.mechanism.equipment import NO_EQUIPMENT, Equipment
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import Parameter, Vector, distinct, not_finite, parameters_in, quantity
from articulus.model.mechanism.physical import Physical, physical
from articulus.model.mechanism.regular import joints_without_inertia, singular_findings
from articulus.model.mechanism.scales import Scales, scales
from articulus.model.mechanism.visual import Strut, Visual

STANDARD_GRAVITY = (0.0, 0.0, -9.81)

MAX_BODIES = 20_000
"""More bodies than this are refused: expressions and code would not fit in memory."""

_PARAMETER_VALUE = re.compile(r"(?<=', )value=[^)]*(?=\))")

Locate = Callable[[str], str]


UNIT = 1e-15
"""Distance of the length of a quaternion from 1 up to which it stays as it is [-]."""
ROUNDED_QUATERNION = 1e-3
"""The same up to which nothing is said: digits of a file or of a print [-]."""


def _nowhere(path: str) -> str:
    return path


@dataclass(frozen=True)
class Description:
    """What a mechanism is.

    Bodies are kept in declaration order. `connections` are put in an order in which every parent comes before
    its children; declaration order decides where there is a choice. Positions `q` and velocities `v` follow
    that order; coupled joints have no place in them.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    bodies : tuple of Body
    connections : tuple of Connection
        One for each body: the joint by which it is attached to its parent.
    frames : tuple of Frame
    gravity : three numbers [m/s^2]
        Acceleration of gravity in ground axes.
    source : str
        Where the numbers come from.
    constraints : tuple of Constraint
        What closes loops, prescribes motions and restricts velocities.
    extra_parameters : tuple of Parameter
        Parameters that may be given though nothing depends on them: those of constraints that were cut.
    visuals : tuple of Visual
        What is drawn for ground: things that do not move.
    findings : tuple of Finding
        What is doubtful in the file it was read from, or was omitted of it. No part of the equations.
    couplings : tuple of Coupling
        Joints that follow others, each after those that it follows.
    equipment : Equipment
        Actuators, sensors and named states of the file it was read from. No part of the equations.
    """

    in_file = "model"

    name: str
    bodies: tuple[Body, ...]
    connections: tuple[Connection, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Vector = quantity(
        "m/s^2", "acceleration of gravity in ground axes", size="3", default=STANDARD_GRAVITY
    )
    source: str = ""
    constraints: tuple[Constraint, ...] = ()
    extra_parameters: tuple[Parameter, ...] = dataclasses.field(default=(), kw_only=True)
    visuals: tuple[Visual, ...] = dataclasses.field(default=(), repr=False)
    findings: tuple[Finding, ...] = dataclasses.field(default=(), repr=False, compare=False)
    couplings: tuple[Coupling, ...] = ()
    equipment: Equipment = dataclasses.field(default=NO_EQUIPMENT, repr=False)

    @staticmethod
    def build(
        name: str,
        bodies: tuple[Body, ...],
        connections: tuple[Connection, ...],
        frames: tuple[Frame, ...] = (),
        gravity: Vector = STANDARD_GRAVITY,
        source: str = "",
        constraints: tuple[Constraint, ...] = (),
        visuals: tuple[Visual, ...] = (),
        findings: tuple[Finding, ...] = (),
        locate: Locate = _nowhere,
        couplings: tuple[Coupling, ...] = (),
        equipment: Equipment = NO_EQUIPMENT,
        extra_parameters: tuple[Parameter, ...] = (),
    ) -> Description:
        """Return the validated mechanism, or raise ModelError with everything that is wrong with it.

        `locate` turns the path of an object, such as "body.boom.mass", into what a message shows for it, such as
        "crane.toml:12: body.boom.mass".
        """
        parts = (tuple(bodies), tuple(connections), tuple(frames), tuple(gravity))
        others = (tuple(constraints), tuple(visuals), tuple(findings), tuple(couplings))
        draft = Description(
            name, *parts, source, *others, equipment, extra_parameters=tuple(extra_parameters)
        )
        wrong = [*draft._findings(), *draft._topology_findings(), *draft._constraint_findings()]
        wrong += draft._coupling_findings()
        if not wrong:
            ordered, _ = in_order(draft.couplings)
            draft = dataclasses.replace(
                draft, connections=draft._sorted_connections(), couplings=tuple(ordered)
            )
            wrong = list(singular_findings(draft.bodies, draft.connections, draft.couplings))
        if wrong:
            raise ModelError(dataclasses.replace(f, where=locate(f.where)) for f in wrong)
        return draft

    # what the mechanism holds

    @functools.cached_property
    def nq(self) -> int:
        return sum(self._nq(c) + len(self._modes_behind(c)) for c in self.connections)

    @functools.cached_property
    def nv(self) -> int:
        return sum(self._nv(c) + len(self._modes_behind(c)) for c in self.connections)

    def _nq(self, c: Connection) -> int:
        """Return how many entries of q a joint has: none when it is coupled."""
        return 0 if c.name in self.coupled else c.joint.nq

    def _nv(self, c: Connection) -> int:
        """Return how many entries of v a joint has: none when it is coupled."""
        return 0 if c.name in self.coupled else c.joint.nv

    @functools.cached_property
    def coupled(self) -> dict[str, Coupling]:
        """Return the coupling of each joint that follows others."""
        return {c.joint: c for c in self.couplings}

    @functools.cached_property
    def independent(self) -> tuple[Connection, ...]:
        """Return the joints that follow no others: those whose coordinates are in q and v."""
        return tuple(c for c in self.connections if c.name not in self.coupled)

    @functools.cached_property
    def independent_places(self) -> tuple[list[int], list[int]]:
        """Return the places of the entries of q and of v in those of `uncoupled`."""
        return self._independent_places(self.uncoupled)

    def _independent_places(self, tree: Description) -> tuple[list[int], list[int]]:
        left_q, left_v = ({at[name].start for name in self.coupled} for at in (tree.q_slices, tree.v_slices))
        return (
            [k for k in range(tree.nq) if k not in left_q],
            [k for k in range(tree.nv) if k not in left_v],
        )

    def require_independent(self, joint: str, what: str) -> None:
        """Raise InputError for a coupled joint where one with its own coordinates is needed; `what` begins the message."""
        if joint in self.coupled:
            followed = ", ".join(f"'{name}'" for name in self.leaders(joint))
            raise InputError(
                Finding(
                    what,
                    f"'{joint}', a coupled joint that follows {followed} and has no independent coordinate",
                    f"a joint that follows no other, such as {followed}",
                )
            )

    def leaders(self, joint: str) -> tuple[str, ...]:
        """Return the joints that a joint follows in the end, itself where it follows none."""
        if joint not in self.coupled:
            return (joint,)
        found = [name for other in self.coupled[joint].to for name in self.leaders(other)]
        return tuple(dict.fromkeys(found))

    @functools.cached_property
    def uncoupled(self) -> Description:
        """Return the same mechanism with every joint free to move by itself: the tree that the recursions run over."""
        if not self.couplings:
            return self
        tree = dataclasses.replace(self, couplings=())
        lifted = tuple(c.lift(*self._independent_places(tree), tree) for c in self.constraints)
        return dataclasses.replace(tree, constraints=lifted)

    @functools.cached_property
    def unconstrained(self) -> Description:
        """Return the same mechanism without its constraints; the parameters stay, in their order."""
        if not self.constraints:
            return self
        return dataclasses.replace(
            self, constraints=(), extra_parameters=distinct(parameters_in(self.constraints))
        )

    @functools.cached_property
    def flexible(self) -> bool:
        """Whether a body has modes."""
        return any(b.modes is not None for b in self.bodies)

    @functools.cached_property
    def _mode_names(self) -> dict[str, tuple[str, ...]]:
        return {b.name: b.modes.names for b in self.bodies if b.modes is not None}

    def _modes_behind(self, c: Connection) -> tuple[str, ...]:
        """Return the names of the modal coordinates of a joint's child; they follow those of the joint."""
        return self._mode_names.get(c.child, ())

    def mode_slices(self, body: str) -> tuple[slice, slice]:
        """Return the places of the modal coordinates of a body in v and in q; empty for a rigid one."""
        c = self._by_child[body]
        n, v, q = len(self._modes_behind(c)), self.v_slices[c.name].stop, self.q_slices[c.name].stop
        return slice(v, v + n), slice(q, q + n)

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the named parameters, each once, in the order in which they first appear in the model."""
        return distinct(parameters_in(self))

    @functools.cached_property
    def physical(self) -> Physical:
        """Return what values of the parameters must keep."""
        return physical(self)

    def scales(self, params: Mapping[str, Any] | None = None) -> Scales:
        """Return the characteristic length, mass, time and energy.

        At values of the parameters, as far as they change the length; where they do not, at those that they start from.
        """
        own = (
            {name: value for name, value in (params or {}).items() if name in self._sizing} if params else {}
        )
        return scales(self, own) if own else self._scales

    @functools.cached_property
    def _scales(self) -> Scales:
        return scales(self)

    def position_sizes(self, scales: Scales) -> np.ndarray:
        """Return what is a large change of each entry of q, (nq,): as of displacements; 1 for parts of a quaternion."""
        out = []
        for c in self.connections:
            v = self.v_slices[c.name]
            own, modes = scales.displacement[v], scales.displacement[self.mode_slices(c.child)[0]]
            if c.joint.nq != c.joint.nv:
                own = np.append(np.ones(4), own[3:])
            out += [own, modes]
        return np.concatenate([np.zeros(0), *out])

    @functools.cached_property
    def _sizing(self) -> frozenset[str]:
        """The parameters that change the characteristic length."""
        twice = {p.name: 2 * p.value if p.value else 1.0 for p in self.parameters}
        return frozenset(
            n for n, value in twice.items() if scales(self, {n: value}).length != self._scales.length
        )

    @functools.cached_property
    def quaternions(self) -> tuple[tuple[str, int], ...]:
        """Return the joints whose position starts with a quaternion, and where it starts in q."""
        return tuple(
            (c.name, self.q_slices[c.name].start) for c in self.connections if c.joint.nq != c.joint.nv
        )

    def with_unit_quaternions(self, q: np.ndarray, what: str) -> np.ndarray:
        """Return positions (..., nq) with quaternions of unit length; warn of those that were not rotations but for rounding.

        A quaternion of zeros is an InputError.
        """
        self.require_rotations(q)
        out = q
        for joint, at in self.quaternions:
            norm = np.linalg.norm(q[..., at : at + 4], axis=-1, keepdims=True)
            off = np.abs(norm - 1)
            if not off.max(initial=0.0) > UNIT:
                continue
            out = q.copy() if out is q else out
            out[..., at : at + 4] /= norm
            if off.max() > ROUNDED_QUATERNION:
                doubtful(
                    f"{what}: '{self.name}', joint '{joint}': found a quaternion of length {norm.ravel()[off.argmax()]:.6g}; expected 1. It "
                    "was divided by its length; likely the order of its numbers (w, x, y, z) or a rotation vector in its place",
                    MovedStart,
                )
        return out

    def require_rotations(self, q: np.ndarray) -> None:
        """Raise InputError that names the joint whose quaternion is zero in positions (..., nq)."""
        for joint, at in self.quaternions:
            if (q[..., at] == 0).any() and not (turned := q[..., at : at + 4].any(axis=-1)).all():
                row = tuple(map(int, np.unravel_index(int(np.argmin(turned)), turned.shape)))
                raise InputError(
                    f"q: joint '{joint}' has a quaternion of zeros{f' (row {row} of the batch)' if row else ''}; expected "
                    "w, x, y, z of a rotation, such as 1, 0, 0, 0. `Mechanism.neutral` is a position with all of them"
                )

    @functools.cached_property
    def without_inertia(self) -> tuple[str, ...]:
        """Return the joints that move nothing with inertia, which their `massless` allows."""
        if not any(c.massless for c in self.connections):
            return ()
        return joints_without_inertia(self.bodies, self.connections, self.couplings)

    def require_inertia(self, what: str) -> None:
        """Raise UnsupportedOperation with the joints that move nothing with inertia; `what` begins the message."""
        if self.without_inertia:
            names = [f"'{name}'" for name in self.without_inertia]
            shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            raise UnsupportedOperation(
                f"{what} of '{self.name}': the motion of joint {shown} moves no inertia, so that the mass matrix has no "
                "inverse. Poses, Jacobians and inverse dynamics are available; for accelerations give the bodies behind it "
                "a mass, give the joint an armature, or fix it"
            )

    @functools.cached_property
    def fingerprint(self) -> str:
        """Return a hash of everything that the equations depend on: two equal ones have the same dynamics.

        The values that parameters start from are not part of it: they come in with every call. Nor is what is drawn.
        """
        text = _PARAMETER_VALUE.sub("", repr(dataclasses.replace(self, source="")))
        return hashlib.sha256(text.encode()).hexdigest()

    @functools.cached_property
    def neutral(self) -> np.ndarray:
        """Return the position at which every joint frame coincides with its parent's (but for coupled joints), (nq,)."""
        parts = [
            (c.joint.neutral()[: self._nq(c)], np.zeros(len(self._modes_behind(c)))) for c in self.connections
        ]
        return np.concatenate([np.zeros(0), *(x for pair in parts for x in pair)])

    @functools.cached_property
    def q_slices(self) -> dict[str, slice]:
        """Return the places of each joint's coordinates in q; empty for coupled joints."""
        return _slices([(c.name, self._nq(c), len(self._modes_behind(c))) for c in self.connections])

    @functools.cached_property
    def v_slices(self) -> dict[str, slice]:
        """Return the places of each joint's velocities in v; empty for coupled joints."""
        return _slices([(c.name, self._nv(c), len(self._modes_behind(c))) for c in self.connections])

    def coordinate_names(self, rates: bool = False) -> tuple[str, ...]:
        """Return a name for every entry of q (or of v), such as "lift" or "base.qw"."""
        out = []
        for c in self.connections:
            parts = c.joint.velocity_names if rates else c.joint.coordinate_names
            if c.name not in self.coupled:
                out += [f"{c.name}.{part}" if part else c.name for part in parts]
            out += [f"{c.child}.{mode}" for mode in self._modes_behind(c)]
        return tuple(out)

    def velocity_units(self, turning: str, sliding: str, modal: str) -> tuple[str, ...]:
        """Return a unit for every entry of v: of degrees of freedom that turn, that slide, and of modes."""
        out: list[str] = []
        for c in self.connections:
            out += [turning if turns else sliding for turns in c.joint.rotational[: self._nv(c)]]
            out += [modal] * len(self._modes_behind(c))
        return tuple(out)

    def carrier(self, name: str) -> tuple[str, Frame]:
        """Return the body (or ground) that carries the body or frame `name`, and that frame on it."""
        if not isinstance(name, str):
            raise InputError(Finding("frame", repr(name), "the name of a body or frame"))
        for frame in self.frames:
            if frame.name == name:
                return frame.body, frame
        if name == GROUND or any(b.name == name for b in self.bodies):
            return name, Frame(name, name)
        known = [GROUND, *(b.name for b in self.bodies), *(f.name for f in self.frames)]
        raise unknown_name("body or frame", name, known, inside=f" in mechanism '{self.name}'")

    def joint_type(self, joint: str) -> Joint:
        """Return the type of a joint."""
        return self._by_name[joint].joint

    @functools.cached_property
    def _by_name(self) -> dict[str, Connection]:
        return {c.name: c for c in self.connections}

    @functools.cached_property
    def constraint_rows(self) -> tuple[str, ...]:
        """Return a name for every row of every constraint, such as "pin.x"."""
        return tuple(
            f"{c.name}.{part}" if part else c.name for c in self.constraints for part in c.row_names(self)
        )

    @functools.cached_property
    def holonomic_rows(self) -> np.ndarray:
        """Return for every row whether it restricts positions (else velocities only), shape (rows,)."""
        flags = [c.holonomic for c in self.constraints for _ in c.row_names(self)]
        return np.array(flags, dtype=bool)

    def inboard(self, body: str) -> Connection:
        """Return the joint by which a body is attached to its parent."""
        return self._by_child[body]

    @functools.cached_property
    def _by_child(self) -> dict[str, Connection]:
        return {c.child: c for c in self.connections}

    # validation

    def _findings(self) -> Iterator[Finding]:
        yield from self._name_findings()
        yield from self._parameter_findings()
        for number in self.gravity:
            if isinstance(number, float) and not math.isfinite(number):
                yield Finding("gravity", repr(number), "a finite number")
        for body in self.bodies:
            where = f"body.{body.name}"
            bad = list(not_finite(where, body))
            yield from bad or body.findings(where)
        for c in self.connections:
            where = f"joint.{c.name}"
            bad = list(not_finite(where, c))
            for part, held in (("at", c.at), ("child_at", c.child_at), ("rotor", c.rotor)):
                bad += not_finite(f"{where}.{part}", held) if held is not None else ()
            yield from bad or c.findings(where)
        for frame in self.frames:
            yield from not_finite(f"frame.{frame.name}.at", frame.at)
        yield from self._strut_findings()

    def _strut_findings(self) -> Iterator[Finding]:
        bodies = {b.name for b in self.bodies} | {GROUND}
        for owner, visuals in ((GROUND, self.visuals), *((b.name, b.visuals) for b in self.bodies)):
            for v in visuals:
                if isinstance(v, Strut) and v.body not in bodies:
                    where = "visuals" if owner == GROUND else f"body.{owner}.visuals"
                    yield Finding(where, f"a strut to '{v.body}'", "a body", did_you_mean(v.body, bodies))

    def _name_findings(self) -> Iterator[Finding]:
        if not self.bodies:
            yield Finding("body", "no body at all", "at least one body with mass")
        if len(self.bodies) > MAX_BODIES:
            yield Finding("body", f"{len(self.bodies)} bodies", f"at most {MAX_BODIES}")
        points = [("body", b.name) for b in self.bodies] + [("frame", f.name) for f in self.frames]
        joints = [("joint", c.name) for c in self.connections]
        constraints = [(c.table, c.name) for c in self.constraints]
        for group in (points, joints, constraints):
            seen: set[str] = set()
            for kind, name in group:
                if name in seen:
                    yield Finding(f"{kind}.{name}", f"the name '{name}' a second time", "unique names")
                seen.add(name)
                if name == GROUND:
                    yield Finding(
                        f"{kind}.{name}", f"the name '{name}'", "another name: it is the fixed world"
                    )
                if not name or name != name.strip() or not name.isprintable():
                    yield Finding(
                        f"{kind}.{name}", f"the name {name!r}", "a printable name without outer blanks"
                    )

    def _parameter_findings(self) -> Iterator[Finding]:
        seen: dict[str, float] = {}
        ranges: dict[str, tuple[float, float]] = {}
        for p in parameters_in(self):
            if p.range is not None and ranges.setdefault(p.name, p.range) != p.range:
                yield Finding(
                    f"parameters.{p.name}",
                    f"two ranges, {ranges[p.name]} and {p.range}",
                    "one range a name",
                )
            if seen.setdefault(p.name, p.value) != p.value:
                yield Finding(
                    f"parameters.{p.name}",
                    f"two values, {seen[p.name]!r} and {p.value!r}",
                    "one value a name",
                )

    def _topology_findings(self) -> Iterator[Finding]:
        bodies = {b.name for b in self.bodies}
        parents: dict[str, str] = {}
        for c in self.connections:
            where = f"joint.{c.name}"
            for role, name in (("parent", c.parent), ("child", c.child)):
                if name not in bodies and not (role == "parent" and name == GROUND):
                    yield Finding(
                        f"{where}.{role}",
                        f"'{name}'",
                        "the name of a body",
                        did_you_mean(name, bodies | {GROUND}),
                    )
            if c.parent == c.child:
                yield Finding(f"{where}.child", f"'{c.child}', which is also its parent", "another body")
            elif c.child in parents:
                yield Finding(
                    f"{where}.child",
                    f"'{c.child}', which joint '{parents[c.child]}' already carries",
                    "one joint to a parent for each body",
                    f"To close a loop write '{c.name}' as a loop joint ([loop.name], or Mechanism.loop); a chain written upside "
                    "down needs parent and child exchanged.",
                )
            else:
                parents[c.child] = c.name
        for frame in self.frames:
            if frame.body not in bodies | {GROUND}:
                yield Finding(
                    f"frame.{frame.name}.body",
                    f"'{frame.body}'",
                    "the name of a body",
                    did_you_mean(frame.body, bodies | {GROUND}),
                )
        for body in self.bodies:
            if body.name not in parents:
                yield Finding(
                    f"body.{body.name}",
                    "no joint that carries it",
                    "one joint with this body as child",
                    "Connect a floating body to ground by a free joint.",
                )
        yield from self._station_findings()
        yield from self._cycle_findings()

    def _constraint_findings(self) -> Iterator[Finding]:
        points = {GROUND, *(b.name for b in self.bodies), *(f.name for f in self.frames)}
        known = {"frame": points, "joint": {c.name for c in self.connections}}
        expected = {"frame": "the name of a body or frame", "joint": "the name of a joint"}
        for c in self.constraints:
            where = f"{c.table}.{c.name}"
            bad = list(_numbers_not_finite(where, c))
            for field, kind, name in references(c):
                if name not in known[kind]:
                    hint = did_you_mean(str(name), known[kind])
                    bad.append(Finding(f"{where}.{field}", repr(name), expected[kind], hint))
            yield from bad or c.findings(where, self)

    def _coupling_findings(self) -> list[Finding]:
        joints = {c.name: c.joint for c in self.connections}
        bad = [f for c in self.couplings for f in not_finite(f"coupling.{c.joint}", c)]
        return bad or list(coupling_findings(self.couplings, joints))

    def _station_findings(self) -> Iterator[Finding]:
        """Yield a finding for every joint or frame on a station that its body does not have."""
        stations = {b.name: tuple(b.modes.stations) if b.modes else () for b in self.bodies}
        users = [(f"joint.{c.name}.node", c.parent, c.node) for c in self.connections]
        users += [(f"frame.{f.name}.node", f.body, f.node) for f in self.frames]
        for where, body, node in users:
            known = stations.get(body, ())
            if node and node not in known:
                hint = did_you_mean(node, known) if known else f"'{body}' is rigid: leave it out"
                yield Finding(where, f"'{node}'", f"a station of flexible body '{body}'", hint)

    def _cycle_findings(self) -> Iterator[Finding]:
        parent = {c.child: c for c in self.connections if c.parent != c.child}
        done: set[str] = {GROUND}
        for start in parent:
            path: dict[str, None] = {}
            body = start
            while body not in done and body in parent:
                if body in path:
                    ring = [*list(path)[list(path).index(body) :], body]
                    yield Finding(
                        f"joint.{parent[body].name}",
                        f"a cycle {' <- '.join(ring)}",
                        "a path from every body to ground through its parents",
                        "Connect one body to ground, and close the ring by a loop joint ([loop.name], or Mechanism.loop).",
                    )
                    break
                path[body] = None
                body = parent[body].parent
            done.update(path)

    def _sorted_connections(self) -> tuple[Connection, ...]:
        children: dict[str, list[Connection]] = {}
        for c in self.connections:
            children.setdefault(c.parent, []).append(c)
        rank = {c.name: i for i, c in enumerate(self.connections)}
        ready = [rank[c.name] for c in children.get(GROUND, [])]
        heapq.heapify(ready)
        out: list[Connection] = []
        while ready:
            first = self.connections[heapq.heappop(ready)]
            out.append(first)
            for c in children.get(first.child, []):
                heapq.heappush(ready, rank[c.name])
        return tuple(out)


def _slices(sizes: list[tuple[str, int, int]]) -> dict[str, slice]:
    """Return the place of each name; sizes hold the entries of the name and those that follow it."""
    out, at = {}, 0
    for name, size, following in sizes:
        out[name] = slice(at, at + size)
        at += size + following
    return out


def _numbers_not_finite(where: str, thing: object) -> Iterator[Finding]:
    """Yield a finding for every number of a constraint, and of the poses and functions in it, that is not finite."""
    yield from not_finite(where, thing)
    for field in dataclasses.fields(thing):  # type: ignore[arg-type]
        held = getattr(thing, field.name)
        if dataclasses.is_dataclass(held):
            yield from not_finite(f"{where}.{field.name}", held)
