"""`Mechanism`: what a user holds in hand. Builds a model, and answers questions about it in native code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.compiled import CompiledMechanism, Params, Wrenches, argument
from articulus.errors import InputError, did_you_mean, doubtful
from articulus.model.late import late_function
from articulus.model.mechanism import GROUND
from articulus.model.mechanism.edit.methods import Editing
from articulus.model.mechanism.inertias import inertial_parameters, total_mass
from articulus.model.mechanism.random_position import random_position

if TYPE_CHECKING:
    from articulus.linear import LinearModel

NEAR = 1e-3
"""How far from a position its neighbor is at which constraint rows are counted again [rad, or over the mechanism's length]."""
OPEN = 1e-6
"""Residual of a constraint up to which a state passes for closed [rad, or over the mechanism's length; rates over the largest speed]."""

Array = np.ndarray


class Mechanism(CompiledMechanism, Editing):
    """A mechanism of rigid bodies and joints, open or with closed loops.

    Build one by hand (`body`, `joint`, `frame`, `loop`, `constrain`), or get one from `articulus.model.load`. Every numeric method takes one
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

    def save(self, path: str | Path) -> None:
        """Write the mechanism to a file that `articulus.model.load` reads; the suffix says in which format.

        Parameters
        ----------
        path : str or Path
            .toml, which holds everything; .urdf; .xml or .mjcf, MuJoCo's format.

        Raises
        ------
        ModelError
            With everything in the mechanism that the format cannot carry.
        """
        from articulus.model.files import write_model

        write_model(self.description, path)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a picture and a table."""
        return str(late_function("mechanism_html")(self))

    def view(self, q: Any = None, *, params: Params | None = None, **options: Any) -> Any:
        """Open the mechanism in the browser: joints on sliders, frames to drag, natural modes.

        Parameters
        ----------
        q : array, (nq,)
            Position in which it is shown first; neutral if not given.
        params : dict of parameter name to number
        **options
            See `articulus.browser.view`.

        Returns
        -------
        articulus.browser.Viewing
        """
        return late_function("view")(self, q=q, params=params, **options)

    def components(self, limits: bool = False, contacts: bool = False) -> list[Any]:
        """Return the actuators and sensors of the file that the mechanism was read from.

        They are what `simulate` takes as `components`; with actuators among them a controller commands these, in their
        order.

        Parameters
        ----------
        limits : bool
            Whether to add a stop at the limits of each joint, as `simulate(..., limits=True)` does.
        contacts : bool
            Whether to add the contacts of the shapes of the file, as `simulate(..., contacts=True)` does.

        Returns
        -------
        list of articulus.simulation.loop.component.Component
            Empty where the file has none: those of MJCF have them.
        """
        devices = late_function("components_of")(self.description.equipment.devices)
        stops = late_function("joint_stops")(self) if limits else []
        return [*devices, *stops, *(late_function("shape_contacts")(self) if contacts else [])]

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

    def position_difference(self, q: Any, q_end: Any) -> Array:
        """Return the step that leads from q to q_end: integrate_position(q, step) = q_end, (..., nv) [rad, m].

        Between quaternions it is the shorter of the two rotations, at most half a turn; angles of hinges are not wrapped.
        """
        self._require_rotations(q)
        self._require_rotations(q_end)
        return self._ask("position_difference", (q, q_end))

    def interpolate_position(self, q: Any, q_end: Any, share: Any) -> Array:
        """Return the position at a share of the way from q (0) to q_end (1), (..., nq): a path of constant velocity v.

        Quaternions turn about one axis, floating bodies follow a screw. `share` broadcasts with the batch: shape (m, 1) of it
        with q (n, nq) gives (m, n, nq).
        """
        step = self.position_difference(q, q_end)
        return self.integrate_position(self.positions(q), argument("share", share)[..., None] * step)

    def position_distance(self, q: Any, q_end: Any) -> Array:
        """Return the length of `position_difference`, (...) [rad, m together]."""
        return np.linalg.norm(self.position_difference(q, q_end), axis=-1)

    def random_position(
        self, seed: int | np.random.Generator, size: int | tuple[int, ...] = (), *, reach: float = 1.0
    ) -> Array:
        """Return random positions within the limits of the joints, (*size, nq) [rad, m].

        Uniform between the limits; without them angles between -pi and pi, slides between -reach and reach, and rotations of ball
        and free joints uniform over all rotations. Modal coordinates are zero. Loops are not closed: see `articulus.assemble`.

        Parameters
        ----------
        seed : int or numpy Generator
        size : int or tuple of int
            Leading axes of the result.
        reach : float [m]
        """
        return random_position(self.description, seed, size, reach)

    def poses(self, q: Any, *, params: Params | None = None) -> dict[str, Array]:
        """Return the poses of all bodies and frames in the ground frame by name, each (..., 4, 4) [-, m], in one call."""
        names = (*self.body_names, *self.frame_names)
        found = self._ask("all_poses", (q,), (), params)
        found = found.reshape(*found.shape[:-2], len(names), 4, 4)
        return {name: found[..., i, :, :] for i, name in enumerate(names)}

    def local_jacobian(self, frame: str, q: Any, *, params: Params | None = None) -> Array:
        """Return J with J v the velocity of a frame's origin in the frame's own axes, (..., 6, nv): angular first [-, m]."""
        return self._ask("local_jacobian", (q,), (frame,), params)

    def relative_jacobian(self, frame: str, other: str, q: Any, *, params: Params | None = None) -> Array:
        """Return J with J v the velocity of a frame's origin as seen from another, in that one's axes, (..., 6, nv) [-, m]."""
        return self._ask("relative_jacobian", (q,), (frame, other), params)

    def center_of_mass_jacobian(self, q: Any, *, params: Params | None = None) -> Array:
        """Return J with J v the velocity of the center of mass of everything that moves, ground axes, (..., 3, nv) [m]."""
        self._require_moving()
        return self._ask("center_of_mass_jacobian", (q,), (), params)

    def velocity_transformation(self, q: Any, *, params: Params | None = None) -> Array:
        """Return Hbar with Hbar v the velocities of all bodies (angular, center of mass) in their axes, (..., 6 bodies, nv) [-, m].

        For rigid bodies without armature the mass matrix is Hbar' diag(J, m) Hbar (Wong 1991, equations 3.9 and 3.15).
        """
        return self._ask("velocity_transformation", (q,), (), params)

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
        vdot again. `tree.inverse_dynamics` is M vdot + bias of the cut tree.

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
        force = self.tree.inverse_dynamics(q, v, vdot, wrenches=wrenches, params=params)
        still = np.zeros(self.nv)
        bias = self.tree.inverse_dynamics(q, v, still, wrenches=wrenches, params=params)
        self._require_acceleration(q, v, vdot, t, params)
        sizes = np.abs(force - bias).max(axis=-1, initial=0.0), np.abs(bias).max(axis=-1, initial=0.0)
        return self._driven("inverse_dynamics", force, np.maximum(*sizes), q, t, actuators, params)

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
        from articulus.dynamics import constrained_numbers

        actuators = (actuators,) if isinstance(actuators, str) else actuators
        driven = None if actuators is None else self._driven_entries(what, actuators)
        free = np.eye(self.nv)
        if self.description.constraints and self.nv:
            free = constrained_numbers.free_motions(
                self._plain_rows(self.constraint_jacobian(q, t, params=params), params)
            )
        tau, missing = constrained_numbers.least_forces(free, force, driven)
        constrained_numbers.require_reached(
            what, missing, scale, self.v_names, f"actuators {list(actuators or ())}"
        )
        return tau

    def _driven_entries(self, what: str, actuators: Sequence[str]) -> list[int]:
        """Return the entries of v that belong to the named joints."""
        slices = self.description.v_slices
        out: list[int] = []
        for name in actuators:
            if name not in slices:
                raise InputError(f"{what}: no joint '{name}' to drive; {did_you_mean(str(name), slices)}")
            self.description.require_independent(name, f"{what}, actuators")
            out += range(slices[name].start, slices[name].stop)
        return out

    def _require_acceleration(self, q: Any, v: Any, vdot: Any, t: Any, params: Params | None) -> None:
        """Raise InputError unless accelerations satisfy the constraints."""
        if not self.description.constraints:
            return
        off = self.constraint_acceleration(q, v, vdot, t, params=params)
        still = self.constraint_acceleration(q, v, np.zeros(self.nv), t, params=params)
        scales = self.description.scales(params)
        least = scales.row_sizes(self.constraint_jacobian(q, t, params=params)) / scales.time**2
        excess = np.abs(off) - OPEN * np.maximum(np.maximum(np.abs(still), np.abs(off - still)), least)
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

        By the articulated-body algorithm; up to nine degrees of freedom by the factored mass matrix, which is shorter there. With
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
        `actuators` and `tree.gravity` for those of the cut tree.
        """
        if not self.description.constraints and actuators is None:
            return self._ask("gravity", (q,), (), params)
        weight = self.tree.gravity(q, params=params)
        return self._driven(
            "gravity", weight, np.abs(weight).max(axis=-1, initial=0.0), q, t, actuators, params
        )

    def energy(self, q: Any, v: Any, *, params: Params | None = None) -> tuple[Array, Array]:
        """Return kinetic and potential energy (gravity and joint springs), each (...) [J].

        It is that of all moving bodies; bodies welded to the ground are excluded.
        """
        return self._ask("energy", (q, v), (), params)

    def momentum(self, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return angular momentum about the ground origin and linear momentum, (..., 6) [kg m^2/s, kg m/s]."""
        return self._ask("momentum", (q, v), (), params)

    def centroidal_momentum(self, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return angular momentum about the center of mass and linear momentum, ground axes, (..., 6)."""
        return self._ask("centroidal_momentum", (q, v), (), params)

    def centroidal_momentum_matrix(self, q: Any, *, params: Params | None = None) -> Array:
        """Return A with centroidal momentum = A v, (..., 6, nv)."""
        return self._ask("centroidal_momentum_matrix", (q,), (), params)

    def center_of_mass(self, q: Any, *, params: Params | None = None) -> Array:
        """Return the center of mass of everything that moves, ground frame, (..., 3) [m]."""
        self._require_moving()
        return self._ask("center_of_mass", (q,), (), params)

    def _require_moving(self) -> None:
        if not self.nv:
            raise InputError(f"'{self.name}' has no moving body and therefore no center of mass")

    def coriolis_matrix(self, q: Any, v: Any, *, params: Params | None = None) -> Array:
        """Return C, (..., nv, nv) [kg m^2/s, kg m/s, kg/s]: C v are the Coriolis forces, and dM/dt - 2 C is skew-symmetric.

        It belongs to the tree with every loop cut, without friction, springs and gravity.
        """
        return self._ask("coriolis_matrix", (q, v), (), params)

    def regressor(self, q: Any, v: Any, vdot: Any, *, params: Params | None = None) -> Array:
        """Return Y, (..., nv, 10 bodies): Y times `inertial_parameters` are the joint forces of the bodies' inertia and weight.

        `inverse_dynamics` (of the cut tree) [N m or N] is that plus armature, rotors, friction and springs. Not for flexible bodies.
        """
        return self._ask("regressor", (q, v, vdot), (), params)

    def inertial_parameters(self, *, params: Params | None = None) -> Array:
        """Return mass, first moment and inertia of the bodies as `regressor` takes them, (..., 10 bodies).

        For each body, in the order of `body_names`: m [kg], m c (three) [kg m], and Jxx, Jyy, Jzz, Jxy, Jxz, Jyz about the body's
        origin [kg m^2], body axes.
        """
        return inertial_parameters(self.description, self._parameter_row(params))

    def total_mass(self, *, params: Params | None = None) -> Array:
        """Return the mass of everything that moves, (...) [kg]; bodies welded to the ground do not count."""
        return total_mass(self.description, self._parameter_row(params))

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

        Moment about the joint frame's origin and force, in the axes of the child's joint frame, one row per joint, in
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

    def innovations(
        self, q: Any, v: Any, tau: Any, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return velocities n [rad/s, m/s], forces e [N m, N] and D [kg m^2, kg] that the factors of the mass matrix decouple.

        Each is (..., nv). With M = L diag(D) L' (see `mass_matrix_factors`): n = L' v, e = L^-1 tau. The kinetic energy is the sum of
        D n^2 / 2, the power n' e, and from rest D dn/dt = e - L^-1 bias, one equation per degree of freedom.
        """
        return self._ask("innovations", (q, v, tau), (), params)

    def mass_matrix_inverse(self, q: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return d vdot/d tau, (..., nv, nv): M^-1, or with constraints M^-1 - M^-1 G' (G M^-1 G')^+ G M^-1.

        With constraints it is singular: it maps forces to accelerations that the constraints allow. Redundant rows count
        once; at a singular position the motions that open there count as free. M^-1 itself: `tree.mass_matrix_inverse`.
        """
        if not self.description.constraints:
            return self._ask("mass_matrix_inverse", (q,), (), params)
        from articulus.dynamics import constrained_numbers

        M, G = self.mass_matrix(q, params=params), self.constraint_jacobian(q, t, params=params)
        return constrained_numbers.constrained_inverse(M, self._plain_rows(G, params))[0]

    def _plain_rows(self, G: Array, params: Params | None) -> Array:
        """Return constraint rows (..., m, nv) over what is large in each (`mechanism.scales`): their lengths can be compared."""
        return G / self.description.scales(params).row_sizes(G)[..., None]

    def solve_mass_matrix(self, q: Any, tau: Any, t: Any = 0.0, *, params: Params | None = None) -> Array:
        """Return `mass_matrix_inverse` times tau, (..., nv); without constraints in O(n)."""
        if not self.description.constraints:
            return self._ask("solve_mass_matrix", (q, tau), (), params)
        return (self.mass_matrix_inverse(q, t, params=params) @ self.velocities(tau, "tau")[..., None])[
            ..., 0
        ]

    def operational_inertia(
        self, frame: str, q: Any, other: str | None = None, t: Any = 0.0, *, params: Params | None = None
    ) -> Array:
        """Return Lambda = J_frame M^-1 J_other', (..., 6, 6): acceleration of `frame` by a unit wrench on `other`.

        `other` defaults to the frame itself; the inverse of that Lambda is the operational-space inertia. With constraints
        `mass_matrix_inverse` takes the place of M^-1; `tree.operational_inertia` is that of the cut tree.
        """
        if not self.description.constraints:
            return self._ask("operational_inertia", (q,), (frame, other or frame), params)
        here, there = (self.jacobian(name, q, params=params) for name in (frame, other or frame))
        return here @ self.mass_matrix_inverse(q, t, params=params) @ np.swapaxes(there, -1, -2)

    # derivatives

    def derivatives(
        self, q: Any, v: Any, tau: Any, t: Any = 0.0, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return d vdot/d q, d vdot/d v and d vdot/d tau of `forward_dynamics`, each (..., nv, nv).

        Exact. The derivative by the position of a quaternion joint is with respect to a small rotation (and shift) in the
        child's axes. With constraints the change of their forces is included and the last is that of
        `mass_matrix_inverse`; where rows are redundant, the first two hold for changes of state that keep the constraints,
        G dq = 0 and G dv + d(G v)/dq dq = 0. At a singular position forward dynamics has no derivative; the numbers are then
        those with the motions that open there left free. `tree.derivatives` is of the cut tree.
        """
        if not self.description.constraints:
            return self._ask("derivatives", (q, v, tau), (), params)
        from articulus.dynamics import constrained_numbers

        vdot, multipliers = self.closed_dynamics(q, v, tau, t, params=params)
        by_q, by_v, M = self.tree.inverse_dynamics_derivatives(q, v, vdot, params=params)
        force, _, *rows = self.constraint_derivatives(q, v, vdot, multipliers, t, params=params)
        G = self.constraint_jacobian(q, t, params=params)
        sizes = self.description.scales(params).row_sizes(G)[..., None]
        return constrained_numbers.derivatives(
            M, G / sizes, (by_q, by_v), (force, *(row / sizes for row in rows))
        )

    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, vdot: Any, *, params: Params | None = None
    ) -> tuple[Array, Array, Array]:
        """Return d tau/d q, d tau/d v and M of `inverse_dynamics`, each (..., nv, nv); see `derivatives`.

        For mechanisms without constraints; see `tree.inverse_dynamics_derivatives`.
        """
        return self._ask("inverse_dynamics_derivatives", (q, v, vdot), (), params)

    def parameter_derivatives(self, q: Any, v: Any, tau: Any, *, params: Params | None = None) -> Array:
        """Return d vdot/d p of `forward_dynamics` by the named parameters, in the order of `parameters`, (..., nv, np).

        Exact. Of mechanisms without constraints; see `tree.parameter_derivatives`.
        """
        return self._ask("parameter_derivatives", (q, v, tau), (), params)

    def inverse_dynamics_parameter_derivatives(
        self, q: Any, v: Any, vdot: Any, *, params: Params | None = None
    ) -> Array:
        """Return d tau/d p of `inverse_dynamics` by the named parameters, (..., nv, np); see `parameter_derivatives`."""
        return self._ask("inverse_dynamics_parameter_derivatives", (q, v, vdot), (), params)

    def linearize(
        self, q: Any = None, v: Any = None, tau: Any = None, t: float = 0.0, *, params: Params | None = None
    ) -> LinearModel:
        """Return the linear model about a state, or those about many; `.to_control()` makes a python-control system of one.

        Parameters
        ----------
        q : array, (..., nq)
            Position; neutral if not given. Leading axes are those of many states.
        v : array, (..., nv)
            Velocity; zero if not given.
        tau : array, (..., nv) [N m or N]
            Joint forces; those of zero acceleration if not given, so that rest is an equilibrium.
        t : float [s]
            Time, for prescribed motions.
        params : dict of parameter name to number

        Returns
        -------
        LinearModel
            States: small displacements ("q.", in the directions of v) and velocities ("v."); inputs: joint forces ("tau.");
            outputs: all displacements and velocities. With constraints the model is minimal: its states are those of
            independent degrees of freedom. About many states it is a `LinearModels`: arrays A, B, C, D with the leading axes of the
            states, and a `LinearModel` behind every index; with constraints the independent degrees of freedom are those of the first.
        """
        from articulus.dynamics.small_motions import Labels, closed_models, open_model

        q0 = self._points("q", self.positions(q), self.nq)
        v0 = self._points("v", self.velocities(v), self.nv)
        tau0 = None if tau is None else self._points("tau", self.velocities(tau, "tau"), self.nv)
        d = self.description
        if d.flexible:
            from articulus.dynamics.flexible import validity

            validity.look(self, "linearize", q0, v0, params)
        units = (
            d.velocity_units("rad", "m", "-"),
            d.velocity_units("rad/s", "m/s", "1/s"),
            d.velocity_units("N m", "N", "J"),
        )
        labels = Labels(self.v_names, *units, float(t), self.name)
        if tau0 is None:
            if (
                not d.constraints
                and q0.ndim == v0.ndim == 1
                and (matrices := self._matrices_without_acceleration(q0, v0, params))
            ):
                return open_model(labels, *matrices)
            tau0 = self.bias(q0, v0, params=params)
        if not d.constraints:
            return open_model(labels, *self._ask("state_space", (q0, v0, tau0), (), params))
        points = np.broadcast_shapes(q0.shape[:-1], v0.shape[:-1], tau0.shape[:-1])
        q0, v0, tau0 = (
            np.broadcast_to(x, (*points, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q0, v0, tau0)
        )
        for q_k, v_k in zip(q0, v0):
            self._require_closed(q_k, v_k, t, params)
        vdot, multipliers = self.closed_dynamics(q0, v0, tau0, t, params=params)
        tree = self.tree.inverse_dynamics_derivatives(q0, v0, vdot, params=params)
        rows = self.constraint_derivatives(q0, v0, vdot, multipliers, t, params=params)
        G, turning = self.constraint_jacobian(q0, t, params=params), self._ask("tangent_rate", (v0,))
        for q_k, G_k in zip(q0, G):
            self._doubt_singular(q_k, t, G_k, params)
        models = closed_models(labels, (turning, *tree, G, *rows), d.holonomic_rows, d.scales(params))
        return models.reshape(points) if points else models[0]

    def _matrices_without_acceleration(
        self, q: Array, v: Array, params: Params | None
    ) -> tuple[Array, Array] | None:
        """Return A and B about one state without acceleration: inverse dynamics answers, with a shorter kernel than `state_space`.

        None where the mass matrix cannot be factored, which is for `state_space` to explain, and for many parameter values at once.
        """
        by_q, by_v, M = self.tree.inverse_dynamics_derivatives(q, v, np.zeros(self.nv), params=params)
        if M.ndim > 2:
            return None
        turning = self._ask("tangent_rate", (v,)) if self.nq != self.nv else np.zeros_like(M)
        one = np.eye(self.nv)
        try:
            np.linalg.cholesky(M)
            rows = np.linalg.solve(M, np.hstack([-by_q, -by_v, one]))
        except np.linalg.LinAlgError:
            return None
        slopes, inverse_mass = np.hsplit(rows, [2 * self.nv])
        return np.vstack([np.hstack([turning, one]), slopes]), np.vstack([0 * one, inverse_mass])

    def _require_closed(self, q: Array, v: Array, t: float, params: Params | None) -> None:
        """Raise InputError unless a state satisfies the constraints."""
        scales = self.description.scales(params)
        allowed = OPEN * scales.row_sizes(self.constraint_jacobian(q, t, params=params))
        off = {
            "position": (self.constraint_residual(q, t, params=params), allowed),
            "velocity": (self.constraint_rate(q, v, t, params=params), allowed * scales.speed(v)),
        }
        for level, (residual, most) in off.items():
            worst = int(np.argmax(np.abs(residual) / most))
            if not abs(residual[worst]) <= most[worst]:
                raise InputError(
                    f"linearize: the {level} leaves constraint '{self.constraint_names[worst]}' open by "
                    f"{residual[worst]:.3g}; expected at most {most[worst]:.3g}. articulus.assemble finds a state that closes it"
                )

    def _doubt_singular(self, q: Array, t: float, G: Array, params: Params | None) -> None:
        """Warn where the constraints have fewer independent rows than at a closed position close by."""
        from articulus.dynamics.loops.free_coordinates import rows_of_split, split, tangent

        scales, on_positions = self.description.scales(params), self.description.holonomic_rows
        large, here = scales.displacement, split(scales.plain(G))
        if len(here.rows) == min(G.shape):
            return
        free = tangent(G, here)
        shift = free @ (
            np.random.default_rng(0).uniform(0.5, 1.0, free.shape[1]) * large[list(here.independent)]
        )
        x, off = self.integrate_position(q, NEAR * shift / np.abs(shift / large).max()), np.inf
        for _ in range(
            20
        ):  # Newton's method with least steps gains a factor of 4 near a singular position, from 1e-6
            G = self.constraint_jacobian(x, t, params=params)
            near, g = scales.plain(G), self.constraint_residual(x, t, params=params) / scales.row_sizes(G)
            off = np.abs(g[on_positions]).max(initial=0.0)
            step = np.linalg.lstsq(near[on_positions], g[on_positions], rcond=1e-9)[0]
            x = self.integrate_position(x, -large * step)
        there = len(rows_of_split(near))
        if off < 1e-12 and len(here.rows) < there:
            doubtful(
                f"linearize: '{self.name}' is in a singular position: found {len(here.rows)} independent constraint rows; "
                f"expected {there}, as close by. The model contains degrees of freedom that exist only at this position; the terms that remove "
                "them are of second order"
            )

    def _points(self, name: str, value: Any, size: int) -> Array:
        array = argument(name, value)
        if array.shape[-1:] != (size,):
            raise InputError(f"linearize: argument '{name}' has shape {array.shape}; expected (..., {size})")
        return array


__all__ = ["GROUND", "Mechanism"]
