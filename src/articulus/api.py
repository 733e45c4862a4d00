"""`Mechanism`: what a user holds in hand. Builds a model, and answers questions about it in native code."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus import kernel as native
from articulus.errors import Finding, InputError, NumericalError, did_you_mean, doubtful
from articulus.kernel import Kernel
from articulus.mechanism import (
    GROUND,
    STANDARD_GRAVITY,
    Body,
    Connection,
    Constraint,
    Description,
    Frame,
    Joint,
    Limits,
    LoopJoint,
    Pose,
    Rotor,
)
from articulus.mechanism.modes import Modes
from articulus.mechanism.numbers import Parameter, as_array, as_number, as_vector, values_of, with_values
from articulus.mechanism.questions import OPEN_AND_CLOSED, plain_name
from articulus.mechanism.visual import Visual, as_visuals

if TYPE_CHECKING:
    import casadi

    from articulus.browser import Viewing
    from articulus.dynamics.definite import Definite
    from articulus.linear import LinearModel

NEAR = 1e-3
"""How far from a position its neighbour is at which constraint rows are counted again [rad, m]."""
OPEN = 1e-6
"""Residual of a constraint up to which a state passes for closed [m, rad; m/s, rad/s]."""

Array = np.ndarray
Params = Mapping[str, Any]
Wrenches = Mapping[str, Any]


MOTIONS = frozenset(
    {
        "pose", "velocity", "acceleration", "jacobian", "jacobian_rate", "position_rate", "integrate_position",
        "tangent_rate", "center_of_mass", "constraint_residual", "constraint_rate", "constraint_jacobian",
        "constraint_acceleration",
    }
)  # fmt: skip
"""Questions that no mass matrix has a part in."""


class Mechanism:
    """A mechanism of rigid bodies and joints, open or with closed loops.

    Build one by hand (`body`, `joint`, `frame`, `loop`, `constrain`), or get one from `articulus.load`. Every numeric method takes one
    state, shape (n,), or a batch, shape (..., n), and returns the same leading axes. `params` sets named parameters,
    each a number or an array that broadcasts with the batch.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    gravity : three numbers [m/s^2]
        Acceleration of gravity in ground axes.
    source : str
        Where the numbers come from.
    visuals : sequence of Visual
        What is drawn for ground: things that stand still.

    Examples
    --------
    >>> import articulus as art
    >>> m = art.Mechanism("pendulum")
    >>> _ = m.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    >>> _ = m.joint("hinge", art.Revolute(axis=(0, 1, 0)), parent="ground", child="rod")
    >>> m.forward_dynamics([0.1], [0.0], [0.0]).round(4)
    array([-1.3991])
    """

    def __init__(
        self,
        name: str,
        gravity: Sequence[Any] = STANDARD_GRAVITY,
        source: str = "",
        visuals: Sequence[Visual] = (),
    ):
        self.name = _name("mechanism", name)
        self.source = source
        self._gravity = _checked(f"mechanism '{name}'", "gravity", as_vector, gravity, 3)
        self._bodies: tuple[Body, ...] = ()
        self._connections: tuple[Connection, ...] = ()
        self._frames: tuple[Frame, ...] = ()
        self._constraints: tuple[Constraint, ...] = ()
        self._visuals = _checked(f"mechanism '{name}'", "visuals", as_visuals, visuals)
        self._findings: tuple[Finding, ...] = ()

    @classmethod
    def from_description(cls, description: Description) -> Mechanism:
        """Return the mechanism of a validated description."""
        self = cls(description.name, description.gravity, description.source, description.visuals)
        self._bodies, self._frames = description.bodies, description.frames
        self._connections, self._constraints = description.connections, description.constraints
        self._findings = description.findings
        self.__dict__["description"] = description
        return self

    def __repr__(self) -> str:
        bodies, joints = len(self._bodies), len(self._connections)
        rest = f", {len(self._constraints)} constraints" if self._constraints else ""
        return f"<Mechanism '{self.name}': {bodies} bodies, {joints} joints{rest}>"

    # building

    def body(
        self,
        name: str,
        mass: Any = 0.0,
        com: Sequence[Any] = (0.0, 0.0, 0.0),
        inertia: Sequence[Any] = (0.0,) * 6,
        massless: str = "",
        visuals: Sequence[Visual] = (),
    ) -> Mechanism:
        """Add a rigid body and return the mechanism.

        Parameters
        ----------
        name : str
            Unique among bodies and frames.
        mass : number or Parameter [kg]
        com : three numbers [m]
            Centre of mass in the body frame.
        inertia : three or six numbers, or a symmetric 3 x 3 array [kg m^2]
            Ixx, Iyy, Izz (, Ixy, Ixz, Iyz) about the centre of mass, body axes.
        massless : str
            Why the body may have neither mass nor inertia; empty for an ordinary body.
        visuals : sequence of Visual
            What is drawn for it, such as `visual.Box(size=(1.0, 0.2, 0.2))`; without any, a skeleton from its joints.
        """
        where = f"body '{name}'"
        body = Body(
            _name("body", name),
            _checked(where, "mass", as_number, mass),
            _checked(where, "com", as_vector, com, 3),
            _checked(where, "inertia", _six, inertia),
            massless,
            visuals=_checked(where, "visuals", as_visuals, visuals),
        )
        self._bodies += (body,)
        return self._changed()

    def joint(
        self,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        at: Any = None,
        child_at: Any = None,
        *,
        armature: Any = (),
        damping: Any = (),
        coulomb: Any = (),
        coulomb_speed: Any = 1e-3,
        stiffness: Any = (),
        rest: Any = (),
        rotor: Rotor | None = None,
        limits: Limits | None = None,
        node: str = "",
    ) -> Mechanism:
        """Add the joint by which `child` hangs on `parent`, and return the mechanism.

        Parameters
        ----------
        name : str
            Unique among joints.
        joint : Joint
            Its type with its axis, for example `Revolute(axis=(0, 1, 0))`.
        parent, child : str
            Bodies; the parent may be "ground" or a body that is added later.
        at, child_at : Pose, three numbers [m] or a 4 x 4 matrix
            Where the joint frame is in the parent and in the child.
        armature, damping, coulomb, stiffness, rest : a number, or one value per degree of freedom
            See `Connection` for meaning and units.
        coulomb_speed : number [rad/s or m/s]
            Speed at which dry friction has reached 71 percent.
        rotor : Rotor
            Geared rotor on the parent.
        limits : Limits
            Ranges of position, speed and effort.
        node : str
            Station of a flexible parent that carries the joint; `at` is then a pose in the station's frame.
        """
        where = f"joint '{name}'"
        if not isinstance(joint, Joint):
            raise InputError(
                f"{where}: found {joint!r}; expected a joint type such as Revolute(axis=(0, 0, 1))"
            )
        vectors = {"armature": armature, "damping": damping, "coulomb": coulomb}
        vectors |= {"stiffness": stiffness, "rest": rest}
        connection = Connection(
            _name("joint", name),
            joint,
            _name(f"{where}, parent", parent),
            _name(f"{where}, child", child),
            _checked(where, "at", Pose.of, at),
            _checked(where, "child_at", Pose.of, child_at),
            coulomb_speed=_checked(where, "coulomb_speed", as_number, coulomb_speed),
            rotor=rotor,
            limits=Limits() if limits is None else limits,
            node=node,
            **{key: _checked(where, key, _per_freedom, held, joint.nv) for key, held in vectors.items()},
        )
        self._connections += (connection,)
        return self._changed()

    def flexible(self, name: str, modes: Modes) -> Mechanism:
        """Add a flexible body and return the mechanism.

        Parameters
        ----------
        name : str
            Unique among bodies and frames.
        modes : Modes
            From `articulus.structure`, for example `structure.beam_body(...)`. Its coordinates follow those of the joint by which
            the body hangs; joints and frames on it name a station with `node=`.
        """
        if not isinstance(modes, Modes):
            raise InputError(
                f"body '{name}': found {modes!r}; expected Modes, for example from structure.beam_body(...)"
            )
        self._bodies += (Body(_name("body", name), modes=modes),)
        return self._changed()

    def frame(self, name: str, body: str, at: Any = None, *, node: str = "") -> Mechanism:
        """Add a named point of interest on a body (or on "ground") and return the mechanism.

        `node` is a station of a flexible body; `at` is then a pose in the station's frame.
        """
        where = f"frame '{name}'"
        pose = _checked(where, "at", Pose.of, at)
        self._frames += (Frame(_name("frame", name), _name(f"{where}, body", body), pose, node),)
        return self._changed()

    def loop(
        self, name: str, joint: Joint, parent: str, child: str, at: Any = None, child_at: Any = None
    ) -> Mechanism:
        """Close a loop by a joint between two bodies that both hang in the tree already; return the mechanism.

        Parameters
        ----------
        name : str
            Unique among loops and other constraints.
        joint : Joint
            Its type with its axis; one with closure rows, as every joint of the package but `Free` has.
        parent, child : str
            Bodies or frames, or "ground".
        at, child_at : Pose, three numbers [m] or a 4 x 4 matrix
            Where the joint frame is in the parent and in the child.
        """
        where = f"loop '{name}'"
        if not isinstance(joint, Joint):
            raise InputError(
                f"{where}: found {joint!r}; expected a joint type such as Revolute(axis=(0, 0, 1))"
            )
        poses = _checked(where, "at", Pose.of, at), _checked(where, "child_at", Pose.of, child_at)
        ends = _name(f"{where}, parent", parent), _name(f"{where}, child", child)
        return self.constrain(LoopJoint(_name("loop", name), joint, *ends, *poses))

    def constrain(self, constraint: Constraint) -> Mechanism:
        """Add a constraint, such as `Distance("rod", "a", "b", length=0.3)`, and return the mechanism."""
        if not isinstance(constraint, Constraint):
            raise InputError(
                f'constrain: found {constraint!r}; expected a constraint such as PointOnPoint("pin", "a", "b")'
            )
        _name(type(constraint).__name__, constraint.name)
        self._constraints += (constraint,)
        return self._changed()

    def __getstate__(self) -> dict:
        """Leave the compiled kernels behind: another process loads them from the cache."""
        return {name: held for name, held in self.__dict__.items() if name not in ("_kernels", "_doubtful")}

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in ("name", "source"):
            raise InputError(
                f"Mechanism.{name} cannot be set; build a mechanism with body, joint, frame and loop"
            )
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            self._changed()

    def _changed(self) -> Mechanism:
        for derived in ("description", "_kernels", "_doubtful"):
            self.__dict__.pop(derived, None)
        return self

    def save(self, path: str | Path) -> None:
        """Write the mechanism to a TOML file that `articulus.load` reads."""
        from articulus.files import write_toml

        write_toml(self.description, path)

    def with_values(self, params: Mapping[str, float]) -> Mechanism:
        """Return the same mechanism with other values of named parameters; it shares the native code of this one."""
        for name, value in _mapping("params", params).items():
            if name not in self.parameters:
                raise InputError(
                    f"no parameter '{name}' in '{self.name}'; {did_you_mean(str(name), self.parameters)}"
                )
            Parameter(name, value)
        self.description.physical.require({name: np.asarray(value, float) for name, value in params.items()})
        return self.from_description(with_values(self.description, params)) if params else self

    def view(self, q: Any = None, *, params: Params | None = None, **options: Any) -> Viewing:
        """Open the mechanism in the browser: joints on sliders, frames to drag, natural modes.

        Parameters
        ----------
        q : array, (nq,)
            Position in which it is shown first; neutral if not given.
        params : dict of parameter name to number
        **options
            See `articulus.browser.view`.
        """
        from articulus.browser import view

        return view(self, q=q, params=params, **options)

    # what it holds

    @functools.cached_property
    def description(self) -> Description:
        """The frozen, validated data; raises ModelError with everything that is wrong."""
        return Description.build(
            self.name,
            self._bodies,
            self._connections,
            self._frames,
            self._gravity,
            self.source,
            self._constraints,
            self._visuals,
            self._findings,
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful in the file the mechanism was read from, or was left out of it; each with its line."""
        return self.description.findings

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.description.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates (freedoms)."""
        return self.description.nv

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of q and v."""
        return tuple(c.name for c in self.description.connections)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in the order of declaration."""
        return tuple(b.name for b in self.description.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames; bodies and "ground" are frames too wherever a frame is asked for."""
        return tuple(f.name for f in self.description.frames)

    @property
    def q_names(self) -> tuple[str, ...]:
        """A name for every entry of q."""
        return self.description.coordinate_names()

    @property
    def v_names(self) -> tuple[str, ...]:
        """A name for every entry of v."""
        return self.description.coordinate_names(rates=True)

    @property
    def parameters(self) -> dict[str, float]:
        """Named parameters with the values they start from."""
        return {p.name: p.value for p in self.description.parameters}

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """A name for every row of the constraints, such as "pin.x"; multipliers come in this order."""
        return self.description.constraint_rows

    @property
    def gravity_vector(self) -> Array:
        """Acceleration of gravity in ground axes with every parameter at its own value, (3,) [m/s^2]."""
        return np.array(values_of(self.description.gravity))

    @property
    def neutral(self) -> Array:
        """Position at which every joint frame coincides with its parent's, (nq,)."""
        return self.description.neutral.copy()

    # kinematics

    def pose(self, frame: str, q: Any, *, params: Params | None = None) -> Array:
        """Return the pose of a body or frame in the ground frame, (..., 4, 4) [-, m]."""
        return self._ask("pose", (q,), (frame,), params)

    def velocity(self, frame: str, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return angular and linear velocity of a frame's origin, ground axes, (..., 6) [rad/s, m/s]."""
        return self._ask("velocity", (q, v), (frame,), params)

    def acceleration(self, frame: str, q: Any, v: Any, vdot: Any, *, params: Params | None = None) -> Array:
        """Return angular and linear acceleration of a frame's origin, ground axes, (..., 6) [rad/s^2, m/s^2]."""
        return self._ask("acceleration", (q, v, vdot), (frame,), params)

    def jacobian(self, frame: str, q: Any, *, params: Params | None = None) -> Array:
        """Return J with velocity = J v, (..., 6, nv): angular first, ground axes at the frame's origin."""
        return self._ask("jacobian", (q,), (frame,), params)

    def jacobian_rate(self, frame: str, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return dJ/dt with acceleration = J vdot + dJ/dt v, (..., 6, nv)."""
        return self._ask("jacobian_rate", (q, v), (frame,), params)

    def position_rate(self, q: Any, v: Any) -> Array:
        """Return dq/dt, (..., nq): v itself but for quaternions."""
        self._require_rotations(q)  # that of a ball would be zero
        return self._ask("position_rate", (q, v))

    def integrate_position(self, q: Any, step: Any) -> Array:
        """Return the position reached from q by the displacement `step` = v h, (..., nq); quaternions stay unit."""
        self._require_rotations(q)  # a quaternion of zeros would stay one
        return self._ask("integrate_position", (q, step))

    # dynamics

    def inverse_dynamics(
        self,
        q: Any,
        v: Any,
        vdot: Any,
        t: Any = 0.0,
        *,
        actuators: Sequence[str] | None = None,
        wrenches: Wrenches | None = None,
        params: Params | None = None,
    ) -> Array:
        """Return the joint forces tau that give the accelerations vdot, (..., nv) [N m or N].

        Without constraints tau = M vdot + bias. With constraints it is the smallest tau (sum of squares over the
        driven entries) for which multipliers exist with M vdot + bias + G' lambda = tau: `forward_dynamics` of it is
        vdot again. `tree_inverse_dynamics` is M vdot + bias of the cut tree.

        Parameters
        ----------
        q, v, vdot : array, (..., nq), (..., nv), (..., nv) [rad, m; rad/s, m/s; rad/s^2, m/s^2]
            With constraints vdot must satisfy them (`constraint_acceleration`).
        t : number or array (...) [s]
            Time, for prescribed motions.
        actuators : sequence of str
            Joints that are driven; tau is zero in all others. If not given, every entry of v is driven, modal coordinates
            of flexible bodies included.
        wrenches : dict of frame name to array (..., 6) [N m, N]
            External moment about the frame's origin and force, ground axes.
        params : dict of parameter name to number or array

        Raises
        ------
        InputError
            When vdot violates a constraint, or when the actuators cannot produce it: the text names what is missing.
        """
        if not self.description.constraints and actuators is None:
            return self._ask("inverse_dynamics", (q, v, vdot), (), params, wrenches)
        force = self.tree_inverse_dynamics(q, v, vdot, wrenches=wrenches, params=params)
        still = np.zeros(self.nv)
        bias = self.tree_inverse_dynamics(q, v, still, wrenches=wrenches, params=params)
        self._require_acceleration(q, v, vdot, t, params)
        sizes = np.abs(force - bias).max(axis=-1, initial=0.0), np.abs(bias).max(axis=-1, initial=0.0)
        return self._driven("inverse_dynamics", force, np.maximum(*sizes), q, t, actuators, params)

    def tree_inverse_dynamics(
        self, q: Any, v: Any, vdot: Any, *, wrenches: Wrenches | None = None, params: Params | None = None
    ) -> Array:
        """Return M vdot + bias of the tree that is left when every loop is cut, (..., nv) [N m or N]; see `inverse_dynamics`."""
        return self._ask("tree_inverse_dynamics", (q, v, vdot), (), params, wrenches)

    def _driven(
        self,
        what: str,
        force: Array,
        scale: Array,
        q: Any,
        t: Any,
        actuators: Sequence[str] | None,
        params: Params | None,
    ) -> Array:
        """Return the smallest forces of the actuators that, with those of the constraints, give `force`."""
        from articulus import closed

        actuators = (actuators,) if isinstance(actuators, str) else actuators
        driven = None if actuators is None else self._driven_entries(what, actuators)
        free = np.eye(self.nv)
        if self.description.constraints and self.nv:
            free = closed.free_motions(self.constraint_jacobian(q, t, params=params))
        tau, missing = closed.least_forces(free, force, driven)
        closed.require_reached(what, missing, scale, self.v_names, f"actuators {list(actuators or ())}")
        return tau

    def _driven_entries(self, what: str, actuators: Sequence[str]) -> list[int]:
        """Return the entries of v that belong to the named joints."""
        slices = self.description.v_slices
        out: list[int] = []
        for name in actuators:
            if name not in slices:
                raise InputError(f"{what}: no joint '{name}' to drive; {did_you_mean(str(name), slices)}")
            out += range(slices[name].start, slices[name].stop)
        return out

    def _require_acceleration(self, q: Any, v: Any, vdot: Any, t: Any, params: Params | None) -> None:
        """Raise InputError unless accelerations satisfy the constraints."""
        if not self.description.constraints:
            return
        off = self.constraint_acceleration(q, v, vdot, t, params=params)
        still = self.constraint_acceleration(q, v, np.zeros(self.nv), t, params=params)
        excess = np.abs(off) - OPEN * np.maximum(np.maximum(np.abs(still), np.abs(off - still)), 1.0)
        if not (excess <= 0).all():
            at = np.unravel_index(np.argmax(excess), excess.shape)
            raise InputError(
                f"inverse_dynamics: vdot violates constraint '{self.constraint_names[at[-1]]}' by {off[at]:.3g}; expected an "
                "acceleration with constraint_acceleration(q, v, vdot, t) = 0, for example one of forward_dynamics"
            )

    def forward_dynamics(
        self,
        q: Any,
        v: Any,
        tau: Any,
        t: Any = 0.0,
        *,
        wrenches: Wrenches | None = None,
        params: Params | None = None,
    ) -> Array:
        """Return vdot = M^-1 (tau - bias), (..., nv) [rad/s^2 or m/s^2]; constraints are obeyed.

        By the articulated-body algorithm; up to nine freedoms by the factored mass matrix, which is shorter there. With
        constraints it is the vdot of `closed_dynamics`.

        Parameters
        ----------
        q, v, tau : array, (..., nq), (..., nv), (..., nv) [rad, m; rad/s, m/s; N m, N]
        t : number or array (...) [s]
            Time, for prescribed motions.
        wrenches : dict of frame name to array (..., 6) [N m, N]
            External moment about the frame's origin and force, ground axes.
        params : dict of parameter name to number or array
        """
        if self.description.constraints:
            return self.closed_dynamics(q, v, tau, t, wrenches=wrenches, params=params)[0]
        return self._ask("forward_dynamics", (q, v, tau), (), params, wrenches)

    def mass_matrix(self, q: Any, *, params: Params | None = None) -> Array:
        """Return M(q), (..., nv, nv) [kg m^2, kg m, kg]; armature and rotors included.

        With constraints M is that of the cut tree, as in M vdot + bias + G' lambda = tau.
        """
        return self._ask("mass_matrix", (q,), (), params)

    def bias(self, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return the forces of M vdot + bias at zero acceleration: Coriolis, gravity, friction, springs, (..., nv) [N m or N].

        With constraints it is that of the cut tree, as in M vdot + bias + G' lambda = tau.
        """
        return self._ask("bias", (q, v), (), params)

    def gravity(
        self,
        q: Any,
        t: Any = 0.0,
        *,
        actuators: Sequence[str] | None = None,
        params: Params | None = None,
    ) -> Array:
        """Return the joint forces that hold the mechanism at rest against gravity alone, (..., nv) [N m or N].

        With constraints, which carry their share, they are the smallest such forces; see `inverse_dynamics` for
        `actuators` and `tree_gravity` for those of the cut tree.
        """
        if not self.description.constraints and actuators is None:
            return self._ask("gravity", (q,), (), params)
        weight = self.tree_gravity(q, params=params)
        return self._driven(
            "gravity", weight, np.abs(weight).max(axis=-1, initial=0.0), q, t, actuators, params
        )

    def tree_gravity(self, q: Any, *, params: Params | None = None) -> Array:
        """Return the forces that hold the tree that is left when every loop is cut against gravity, (..., nv) [N m or N]."""
        return self._ask("tree_gravity", (q,), (), params)

    def energy(self, q: Any, v: Any, *, params: Params | None = None) -> tuple[Array, Array]:
        """Return kinetic and potential energy (gravity and joint springs), each (...) [J].

        Of everything that moves: bodies welded to the ground count for nothing.
        """
        return self._ask("energy", (q, v), (), params)

    def momentum(self, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return angular momentum about the ground origin and linear momentum, (..., 6) [kg m^2/s, kg m/s]."""
        return self._ask("momentum", (q, v), (), params)

    def centroidal_momentum(self, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return angular momentum about the centre of mass and linear momentum, ground axes, (..., 6)."""
        return self._ask("centroidal_momentum", (q, v), (), params)

    def centroidal_momentum_matrix(self, q: Any, *, params: Params | None = None) -> Array:
        """Return A with centroidal momentum = A v, (..., 6, nv)."""
        return self._ask("centroidal_momentum_matrix", (q,), (), params)

    def center_of_mass(self, q: Any, *, params: Params | None = None) -> Array:
        """Return the centre of mass of everything that moves, ground frame, (..., 3) [m]."""
        if not self.nv:
            raise InputError(f"'{self.name}' has no moving body and therefore no centre of mass")
        return self._ask("center_of_mass", (q,), (), params)

    def reactions(
        self,
        q: Any,
        v: Any,
        vdot: Any,
        multipliers: Any = None,
        t: Any = 0.0,
        *,
        wrenches: Wrenches | None = None,
        params: Params | None = None,
    ) -> Array:
        """Return the wrench that each joint exerts on its child, (..., joints, 6) [N m, N].

        Moment about the joint frame's origin and force, in the axes of the child's joint frame, one row a joint in
        the order of `joint_names`; fixed joints included. A mechanism with constraints needs their multipliers, which
        load the bodies: `vdot, multipliers = m.closed_dynamics(q, v, tau, t)`.
        """
        if not self.description.constraints:
            return self._ask("reactions", (q, v, vdot), (), params, wrenches)
        if multipliers is None:
            raise InputError(
                f"reactions: '{self.name}' has constraints whose forces load its joints; found no multipliers, expected those "
                "of closed_dynamics(q, v, tau, t)"
            )
        return self._ask("closed_reactions", (q, v, vdot, multipliers, t), (), params, wrenches)

    # constraints

    def constraint_residual(self, q: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return g(q, t), what the constraints are off by, (..., rows) [m, rad]; zero in rows on velocities only."""
        return self._ask("constraint_residual", (q, t), (), params)

    def constraint_rate(self, q: Any, v: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return G v + dg/dt, what the velocities are off by, (..., rows) [m/s, rad/s]."""
        return self._ask("constraint_rate", (q, v, t), (), params)

    def constraint_acceleration(
        self, q: Any, v: Any, vdot: Any, t: Any = 0.0, *, params: Params | None = None
    ) -> Array:
        """Return G vdot + gamma, what the accelerations are off by, (..., rows) [m/s^2, rad/s^2]."""
        return self._ask("constraint_acceleration", (q, v, vdot, t), (), params)

    def constraint_jacobian(self, q: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return G, the derivative of `constraint_rate` by v, (..., rows, nv)."""
        return self._ask("constraint_jacobian", (q, t), (), params)

    def closed_dynamics(
        self,
        q: Any,
        v: Any,
        tau: Any,
        t: Any = 0.0,
        *,
        wrenches: Wrenches | None = None,
        params: Params | None = None,
    ) -> tuple[Array, Array]:
        """Return vdot (..., nv) and multipliers (..., rows) of M vdot + G' lambda = tau - bias, G vdot + gamma = 0.

        The state should be on the constraints (`articulus.assemble`). Redundant rows share their force, and singular
        positions are passed; see `theory/constraints`. Rows in the order of `constraint_names`.
        """
        return self._ask("closed_dynamics", (q, v, tau, t), (), params, wrenches)

    def constraint_forces(
        self,
        q: Any,
        v: Any,
        tau: Any,
        t: Any = 0.0,
        *,
        wrenches: Wrenches | None = None,
        params: Params | None = None,
    ) -> tuple[Array, Array]:
        """Return -G' lambda, what the constraints add to tau, (..., nv) [N m or N], and lambda, (..., rows)."""
        return self._ask("constraint_forces", (q, v, tau, t), (), params, wrenches)

    def constraint_derivatives(
        self, q: Any, v: Any, vdot: Any, multipliers: Any, t: Any = 0.0, *, params: Params | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """Return how constraints change from state to state, exact.

        d(G' lambda)/d(displacement) at constant multipliers (..., nv, nv), then d(G v + g_t)/d(displacement),
        d(G vdot + gamma)/d(displacement) and d(G vdot + gamma)/dv, each (..., rows, nv).
        """
        return self._ask("constraint_derivatives", (q, v, vdot, multipliers, t), (), params)

    # the mass matrix in factors

    def mass_matrix_factors(self, q: Any, *, params: Params | None = None) -> tuple[Array, Array, Array]:
        """Return L = I + H phi K, D and L^-1 = I - H psi K with M = L diag(D) L', (..., nv, nv), (..., nv); see `mass_matrix`."""
        return self._ask("mass_matrix_factors", (q,), (), params)

    def mass_matrix_inverse(self, q: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return d vdot/d tau, (..., nv, nv): M^-1, or with constraints M^-1 - M^-1 G' (G M^-1 G')^+ G M^-1.

        With constraints it is singular: it maps forces to accelerations that the constraints allow. Redundant rows count
        once; at a singular position the motions that open there count as free. M^-1 itself: `tree_mass_matrix_inverse`.
        """
        if not self.description.constraints:
            return self._ask("mass_matrix_inverse", (q,), (), params)
        from articulus import closed

        M, G = self.mass_matrix(q, params=params), self.constraint_jacobian(q, t, params=params)
        return closed.constrained_inverse(M, G)[0]

    def tree_mass_matrix_inverse(self, q: Any, *, params: Params | None = None) -> Array:
        """Return M^-1 of the tree that is left when every loop is cut, (..., nv, nv)."""
        return self._ask("tree_mass_matrix_inverse", (q,), (), params)

    def solve_mass_matrix(self, q: Any, tau: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return `mass_matrix_inverse` times tau, (..., nv); without constraints in O(n)."""
        if not self.description.constraints:
            return self._ask("solve_mass_matrix", (q, tau), (), params)
        return (self.mass_matrix_inverse(q, t, params=params) @ _array("tau", tau)[..., None])[..., 0]

    def tree_solve_mass_matrix(self, q: Any, tau: Any, *, params: Params | None = None) -> Array:
        """Return M^-1 tau of the tree that is left when every loop is cut, in O(n), (..., nv)."""
        return self._ask("tree_solve_mass_matrix", (q, tau), (), params)

    def operational_inertia(
        self, frame: str, q: Any, other: str | None = None, t: Any = 0.0, *, params: Params | None = None
    ) -> Array:
        """Return Lambda = J_frame M^-1 J_other', (..., 6, 6): acceleration of `frame` by a unit wrench on `other`.

        `other` defaults to the frame itself; the inverse of that Lambda is the operational-space inertia. With constraints
        `mass_matrix_inverse` takes the place of M^-1; `tree_operational_inertia` is that of the cut tree.
        """
        if not self.description.constraints:
            return self._ask("operational_inertia", (q,), (frame, other or frame), params)
        here, there = (self.jacobian(name, q, params=params) for name in (frame, other or frame))
        return here @ self.mass_matrix_inverse(q, t, params=params) @ np.swapaxes(there, -1, -2)

    def tree_operational_inertia(
        self, frame: str, q: Any, other: str | None = None, *, params: Params | None = None
    ) -> Array:
        """Return J_frame M^-1 J_other' of the tree that is left when every loop is cut, (..., 6, 6)."""
        return self._ask("tree_operational_inertia", (q,), (frame, other or frame), params)

    # derivatives

    def derivatives(
        self, q: Any, v: Any, tau: Any, t: Any = 0.0, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return d vdot/d q, d vdot/d v and d vdot/d tau of `forward_dynamics`, each (..., nv, nv).

        Exact. The derivative by the position of a quaternion joint is with respect to a small rotation (and shift) in the
        child's axes. With constraints the change of their forces is included and the last is that of
        `mass_matrix_inverse`; where rows are redundant, the first two hold for changes of state that keep the constraints,
        G dq = 0 and G dv + d(G v)/dq dq = 0. At a singular position forward dynamics has no derivative; the numbers are then
        those with the motions that open there left free. `tree_derivatives` is of the cut tree.
        """
        if not self.description.constraints:
            return self._ask("derivatives", (q, v, tau), (), params)
        from articulus import closed

        vdot, multipliers = self.closed_dynamics(q, v, tau, t, params=params)
        by_q, by_v, M = self.tree_inverse_dynamics_derivatives(q, v, vdot, params=params)
        force, _, *rows = self.constraint_derivatives(q, v, vdot, multipliers, t, params=params)
        G = self.constraint_jacobian(q, t, params=params)
        return closed.derivatives(M, G, (by_q, by_v), (force, *rows))

    def tree_derivatives(
        self, q: Any, v: Any, tau: Any, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return d vdot/d q, d vdot/d v and M^-1 of the tree that is left when every loop is cut; see `derivatives`."""
        return self._ask("tree_derivatives", (q, v, tau), (), params)

    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, vdot: Any, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return d tau/d q, d tau/d v and M of `inverse_dynamics`, each (..., nv, nv); see `derivatives`.

        Of mechanisms without constraints; see `tree_inverse_dynamics_derivatives`.
        """
        return self._ask("inverse_dynamics_derivatives", (q, v, vdot), (), params)

    def tree_inverse_dynamics_derivatives(
        self, q: Any, v: Any, vdot: Any, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return the derivatives of M vdot + bias by q and v, and M, of the tree that is left when every loop is cut."""
        return self._ask("tree_inverse_dynamics_derivatives", (q, v, vdot), (), params)

    def linearize(
        self, q: Any = None, v: Any = None, u: Any = None, t: float = 0.0, *, params: Params | None = None
    ) -> LinearModel:
        """Return the linear model about one state; `.to_control()` makes a python-control system of it.

        Parameters
        ----------
        q : array, (nq,)
            Position; neutral if not given.
        v : array, (nv,)
            Velocity; zero if not given.
        u : array, (nv,) [N m or N]
            Joint forces; those of zero acceleration if not given, so that rest is an equilibrium.
        t : float [s]
            Time, for prescribed motions.
        params : dict of parameter name to number

        Returns
        -------
        LinearModel
            States: small displacements ("q.", in the directions of v) and velocities ("v."); inputs: joint forces ("tau.");
            outputs: all displacements and velocities. With constraints the model is minimal: its states are those of
            independent freedoms.
        """
        from articulus.dynamics.small_motions import Labels, closed_model, open_model

        q0 = self.neutral if q is None else self._one("q", q, self.nq)
        v0 = np.zeros(self.nv) if v is None else self._one("v", v, self.nv)
        u0 = self.bias(q0, v0, params=params) if u is None else self._one("u", u, self.nv)
        turning, d = self._ask("tangent_rate", (v0,)), self.description
        units = (
            d.velocity_units("rad", "m", "-"),
            d.velocity_units("rad/s", "m/s", "1/s"),
            d.velocity_units("N m", "N", "J"),
        )
        labels = Labels(self.v_names, *units, float(t), self.name)
        if not d.constraints:
            by_q, by_v, inverse = self.derivatives(q0, v0, u0, params=params)
            return open_model(labels, turning, by_q, by_v, inverse)
        self._require_closed(q0, v0, t, params)
        vdot, multipliers = self.closed_dynamics(q0, v0, u0, t, params=params)
        tree = self.tree_inverse_dynamics_derivatives(q0, v0, vdot, params=params)
        rows = self.constraint_derivatives(q0, v0, vdot, multipliers, t, params=params)
        G = self.constraint_jacobian(q0, t, params=params)
        on_positions = self.description.holonomic_rows
        self._doubt_singular(q0, t, G, params)
        return closed_model(labels, turning, tree, G, rows, on_positions)

    def _require_closed(self, q: Array, v: Array, t: float, params: Params | None) -> None:
        """Raise InputError unless a state satisfies the constraints."""
        off = {
            "position": self.constraint_residual(q, t, params=params),
            "velocity": self.constraint_rate(q, v, t, params=params),
        }
        for level, residual in off.items():
            worst = int(np.argmax(np.abs(residual)))
            if not abs(residual[worst]) <= OPEN:
                raise InputError(
                    f"linearize: the {level} leaves constraint '{self.constraint_names[worst]}' open by "
                    f"{residual[worst]:.3g}; expected at most {OPEN:g}. articulus.assemble finds a state that closes it"
                )

    def _doubt_singular(self, q: Array, t: float, G: Array, params: Params | None) -> None:
        """Warn where the constraints have fewer independent rows than at a closed position close by."""
        from articulus.dynamics.loops.free_coordinates import split, tangent

        here, on_positions = split(G), self.description.holonomic_rows
        if len(here.rows) == min(G.shape):
            return
        free = tangent(G, here)
        shift = free @ np.random.default_rng(0).uniform(0.5, 1.0, free.shape[1])
        x, off = self.integrate_position(q, NEAR * shift / np.abs(shift).max()), np.inf
        for _ in range(
            20
        ):  # Newton's method with least steps gains a factor of 4 near a singular position, from 1e-6
            near = self.constraint_jacobian(x, t, params=params)
            g = self.constraint_residual(x, t, params=params)[on_positions]
            off = np.abs(g).max(initial=0.0)
            x = self.integrate_position(x, -np.linalg.lstsq(near[on_positions], g, rcond=1e-9)[0])
        there = len(split(near).rows)
        if off < 1e-12 and len(here.rows) < there:
            doubtful(
                f"linearize: '{self.name}' is in a singular position: found {len(here.rows)} independent constraint rows; "
                f"expected {there}, as close by. Freedoms that exist at this position only are in the model, and what takes "
                "them away is of second order"
            )

    def _one(self, name: str, value: Any, size: int) -> Array:
        array = _array(name, value)
        if array.shape != (size,):
            raise InputError(f"linearize: argument '{name}' has shape {array.shape}; expected ({size},)")
        return array

    # behind the methods

    def function(
        self, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
    ) -> casadi.Function:
        """Return a quantity as a CasADi function, for optimisation.

        Parameters
        ----------
        name : str
            Name of a method above, such as "forward_dynamics"; of a mechanism with constraints those that start with "tree_"
        in place of the ones that answer for the closed mechanism.
        frames : sequence of str
            Frames that it is about, for example ["tool"] for "pose".
        wrenches : sequence of str
            Frames on which external wrenches act; each adds an input.

        Returns
        -------
        casadi.Function
            Inputs as in the method, then `p` when the mechanism has parameters, then the wrenches.
        """
        from articulus import dynamics

        self._require_obeyed(name)
        frames, wrenches = ((x,) if isinstance(x, str) else tuple(x) for x in (frames, wrenches))
        return dynamics.function(self.description, name, frames, wrenches)

    def kernel(self, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()) -> Kernel:
        """Return a quantity as a compiled kernel; `kernel.bind(...)` prepares calls for tight loops."""
        frames, wrenches = ((x,) if isinstance(x, str) else tuple(x) for x in (frames, wrenches))
        key = (name, frames, wrenches)
        found = self._kernels.get(key)
        if found is None:
            self._require_obeyed(name)
            plain = (plain_name(name), frames, wrenches)
            text = "|".join([physics_version(), self.description.fingerprint, repr(plain)])
            found = native.cached(
                text, lambda: self._compilable(*plain), ranks=lambda: self._ranks(plain[0], len(wrenches))
            )
            self._kernels[key] = found
        return found

    def _require_obeyed(self, name: str) -> None:
        """Raise InputError for a function that would let a closed mechanism fall apart."""
        if name in OPEN_AND_CLOSED and self.description.constraints:
            closed = {"forward_dynamics": "'closed_dynamics' (q, v, tau, t), accelerations and multipliers"}
            closed |= {"inverse_dynamics_derivatives": "'derivatives', those of forward dynamics"}
            instead = closed.get(name, f"the method {name}() of the mechanism, with numbers")
            raise InputError(
                f"'{self.name}' has constraints, which the function '{name}' does not know; expected {instead}, or "
                f"'tree_{name}' for the tree that is left when every loop is cut"
            )

    def _ranks(self, name: str, wrenches: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        from articulus.dynamics import QUANTITIES

        if name not in QUANTITIES:
            raise InputError(f"no quantity '{name}'; {did_you_mean(name, QUANTITIES)}")
        own = tuple(0 if symbol == "t" else 1 for symbol in QUANTITIES[name].inputs)
        return own + (1,) * (bool(self.description.parameters) + wrenches), QUANTITIES[name].ranks

    def _compilable(self, *key: Any) -> casadi.Function:
        from articulus import dynamics

        return dynamics.compilable(self.description, *key)

    @functools.cached_property
    def _kernels(self) -> dict[tuple, Kernel]:
        return {}

    def _ask(
        self,
        name: str,
        arguments: tuple,
        frames: tuple[str, ...] = (),
        params: Params | None = None,
        wrenches: Wrenches | None = None,
    ) -> Any:
        if self._doubtful and name not in MOTIONS:
            self._require_definite(name, arguments[0], params)
        try:
            if not params and not wrenches and not self.description.parameters:
                try:
                    ready = self._kernels.get((name, frames, ()))
                except TypeError:
                    raise InputError(f"{name}: found frames {frames!r}; expected names") from None
                return (ready or self.kernel(name, frames))(*arguments)
            extra = [self._parameter_row(params)] if self.description.parameters or params else []
            acting = {
                frame: self._wrench(frame, w) for frame, w in _mapping("wrenches", wrenches or {}).items()
            }
            return self.kernel(name, frames, tuple(acting))(*arguments, *extra, *acting.values())
        except NumericalError:
            self._require_rotations(arguments[0])  # the likeliest reason
            raise

    @functools.cached_property
    def _doubtful(self) -> Definite | None:
        """What asks whether the mass matrix is positive definite; None where it cannot be otherwise."""
        from articulus.dynamics.definite import definite

        asked = definite(self.description) if self.description.flexible else None
        return asked if asked is not None and asked.doubtful else None

    def _require_definite(self, name: str, q: Any, params: Params | None) -> None:
        """Raise NumericalError if the mass matrix is indefinite at a position; wrong shapes are left to the kernel."""
        positions = _array("q", q)
        if self._doubtful is None or positions.shape[-1:] != (self.nq,):
            return
        values = self._parameter_row(params) if self.description.parameters else np.zeros(0)
        batch = np.broadcast_shapes(positions.shape[:-1], values.shape[:-1])
        flat = int(np.prod(batch))
        q_rows, p_rows = (
            np.broadcast_to(x, (*batch, x.shape[-1])).reshape(flat, x.shape[-1]) for x in (positions, values)
        )
        bad = self._doubtful.first_bad(q_rows, p_rows)
        if bad is not None:
            raise NumericalError(
                f"'{self.name}', {name}: the mass matrix is not positive definite at row {bad} of q. The inertia integrals "
                "of a flexible body there belong to no distribution of mass; likely a moment of inertia larger than the "
                "sum of the other two, or matrices of a finite-element program; less deflection or the level 'ruthless' "
                "keeps it definite",
                rows=np.array([bad]),
            )

    def _require_rotations(self, q: Any) -> None:
        """Raise InputError for a quaternion of zeros; what is no position at all is left to the kernel's own checks."""
        if not self.description.quaternions:
            return
        try:
            array = np.asarray(q, dtype=float)
        except (TypeError, ValueError):
            return
        if array.shape[-1:] == (self.nq,):
            self.description.require_rotations(array)

    def _wrench(self, frame: str, wrench: Any) -> Array:
        self.description.carrier(frame)
        array = _array(f"wrench on '{frame}'", wrench)
        if array.shape[-1:] != (6,):
            raise InputError(f"wrench on '{frame}' has shape {array.shape}; expected (..., 6)")
        return array

    def _parameter_row(self, params: Params | None) -> Array:
        """Return the named parameters as one array (..., parameters)."""
        given = dict(_mapping("params", params or {}))
        named = {
            p.name: _array(p.name, given.pop(p.name)) for p in self.description.parameters if p.name in given
        }
        self.description.physical.require(named)
        columns = [
            named[p.name] if p.name in named else np.array(p.value) for p in self.description.parameters
        ]
        if given:
            name = next(iter(given))
            raise InputError(f"no parameter '{name}' in '{self.name}'; {did_you_mean(name, self.parameters)}")
        try:
            return np.stack(np.broadcast_arrays(*columns), axis=-1)
        except ValueError:
            shapes = {p.name: c.shape for p, c in zip(self.description.parameters, columns)}
            raise InputError(f"params: shapes do not broadcast: {shapes}") from None


@functools.cache
def physics_version() -> str:
    """Return a hash of the source files that write equations; a change of any makes cached code stale."""
    digest = hashlib.sha256()
    for package in ("spatial", "mechanism", "dynamics"):
        for path in sorted((Path(__file__).parent / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _name(kind: str, name: Any) -> str:
    if not isinstance(name, str):
        raise InputError(f"{kind}: found {name!r}; expected a name")
    return name


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: found {value!r}; expected a dict from name to value")
    return value


def _array(name: str, value: Any) -> Array:
    return as_array(f"argument '{name}'", value)


def _six(inertia: Any) -> tuple:
    """Return six inertia numbers from three (diagonal), six, or a symmetric 3 x 3 array."""
    if np.ndim(inertia) == 2:
        I = np.asarray(inertia, dtype=float)
        if I.shape != (3, 3) or np.abs(I - I.T).max() > 1e-9 * np.abs(I).max():
            raise InputError("expected a symmetric 3 x 3 array")
        return as_vector((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]), 6)
    if np.ndim(inertia) == 0:
        raise InputError("expected three or six numbers, or a symmetric 3 x 3 array")
    if len(inertia) == 3:
        return (*as_vector(inertia, 3), 0.0, 0.0, 0.0)
    return as_vector(inertia, 6)


def _per_freedom(held: Any, nv: int) -> tuple:
    if isinstance(held, (Sequence, np.ndarray)):
        return as_vector(held, nv) if len(held) else ()
    return as_vector([held], nv)


def _checked(where: str, field: str, convert: Any, *arguments: Any) -> Any:
    try:
        return convert(*arguments)
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{where}, {field}: {error}") from None


__all__ = ["GROUND", "Mechanism"]
