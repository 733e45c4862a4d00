"""Laws that hold for every mechanism in every state. `LAWS` is the list that the tests and the nightly run go by.

Each law takes a mechanism and a state and raises AssertionError when it is broken. All questions go to the CasADi
virtual machine. Tolerances are relative to the size of what is compared; where a mass matrix is inverted they grow
with its condition number, as the solution of a linear system does.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from reference import Moving, Reference

import articulus as art
from zoo import State, ask

EPS = np.finfo(float).eps
EXACT = 2e-11
"""Two exact algorithms on up to 40 bodies: some 1e4 roundings of 1e-16, ten times that for cancellation."""
DIFFERENCE = 2e-7
"""Against finite differences of order four with steps of 1e-3: truncation 1e-12 times fifth derivatives, which reach
1e5 for fast, short, many-jointed chains; the aim of the project is 1e-7."""

Law = Callable[[art.Mechanism, State], None]


def close(found, expected, tolerance: float = EXACT, scale: float = 0.0) -> None:
    """Demand |found - expected| <= tolerance times the largest of |expected|, 1 and `scale`."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    error = np.abs(found - expected).max(initial=0)
    size = max(1.0, scale, np.abs(expected).max(initial=0))
    assert error <= tolerance * size, (
        f"error {error:.3g} at size {size:.3g}, allowed {tolerance:.1g} relative"
    )


def condition(mech: art.Mechanism, s: State) -> float:
    return float(np.linalg.cond(ask(mech, "mass_matrix", s.q))) if mech.nv else 1.0


def solved(mech: art.Mechanism, s: State) -> float:
    """Return the tolerance behind an inverse of M: a linear system loses cond(M) roundings."""
    return EXACT + 100 * EPS * condition(mech, s)


def along(mech: art.Mechanism, name: str, s: State, vdot: np.ndarray) -> np.ndarray:
    """Return d/dt of a quantity of (q, v) along the motion, exactly, by forward differentiation in CasADi."""
    f = mech.function(name)
    qdot = ask(mech, "position_rate", s.q, s.v)
    symbols = [ca.SX.sym(f"x{i}", f.size1_in(i)) for i in range(f.n_in())]
    seeds = [ca.SX(ca.DM(qdot)), ca.SX(ca.DM(vdot)), *(ca.SX.zeros(x.size1()) for x in symbols[2:])]
    total = ca.vertcat(*(ca.vec(y) for y in f.call(symbols)))
    rate = ca.Function("rate", symbols, [ca.jtimes(total, ca.vertcat(*symbols), ca.vertcat(*seeds))])
    row = [np.array(list(mech.parameters.values()))] if mech.parameters else []
    return np.array(rate(s.q, s.v, *row)).ravel()


def joint_wrenches(mech, s, wrenches=None):
    """Return what each joint exerts on its child, as (moment about the ground origin, force) in ground axes."""
    rows = ask(mech, "reactions", s.q, s.v, s.vdot, wrenches=wrenches)
    _, joints = Reference(mech).motion(s.q, s.v, s.vdot)
    out = {}
    for c, row in zip(mech.description.connections, rows):
        at: Moving = joints[c.name]
        force = at.R @ row[3:]
        out[c.name] = np.r_[at.R @ row[:3] + np.cross(at.p, force), force]
    return out


def some_wrenches(mech: art.Mechanism) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(17)
    return {name: rng.normal(size=6) for name in ("tool", "camera", "bench")}


# dynamics


def forward_undoes_inverse(mech, s):
    tau = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot)
    close(ask(mech, "forward_dynamics", s.q, s.v, tau), s.vdot, solved(mech, s))


def forward_undoes_inverse_under_wrenches(mech, s):
    w = some_wrenches(mech)
    tau = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot, wrenches=w)
    close(ask(mech, "forward_dynamics", s.q, s.v, tau, wrenches=w), s.vdot, solved(mech, s))


def mass_matrix_is_symmetric_positive_definite(mech, s):
    M = ask(mech, "mass_matrix", s.q)
    assert np.array_equal(M, M.T)
    np.linalg.cholesky(M)


def inverse_dynamics_is_affine_in_acceleration(mech, s):
    bias = ask(mech, "bias", s.q, s.v)
    tau = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot)
    close(tau, ask(mech, "mass_matrix", s.q) @ s.vdot + bias, scale=np.abs(bias).max(initial=0))


def kinetic_energy_is_half_vMv(mech, s):
    kinetic, _ = ask(mech, "energy", s.q, s.v)
    close(2 * kinetic, [s.v @ ask(mech, "mass_matrix", s.q) @ s.v])


def factors_make_the_mass_matrix(mech, s):
    L, D, inverse = ask(mech, "mass_matrix_factors", s.q)
    M = ask(mech, "mass_matrix", s.q)
    close(L @ np.diag(D) @ L.T, M)
    assert (D > 0).all()
    close(L @ inverse, np.eye(mech.nv), solved(mech, s), scale=np.abs(inverse).max(initial=0))


def inverse_and_solution_agree_with_the_mass_matrix(mech, s):
    M, inverse = ask(mech, "mass_matrix", s.q), ask(mech, "mass_matrix_inverse", s.q)
    tolerance = solved(mech, s)
    close(M @ inverse, np.eye(mech.nv), tolerance)
    x = ask(mech, "solve_mass_matrix", s.q, s.tau)
    close(M @ x, s.tau, tolerance, scale=np.abs(M).max(initial=0) * np.abs(x).max(initial=0))


def operational_inertia_is_JMJ(mech, s):
    inverse = ask(mech, "mass_matrix_inverse", s.q)
    J = {f: ask(mech, "jacobian", s.q, frames=(f,)) for f in ("tool", "camera", "bench")}
    for a, b in (("tool", "tool"), ("tool", "camera"), ("bench", "tool")):
        expected = J[a] @ inverse @ J[b].T
        size = np.abs(J[a]).max(initial=0) * np.abs(inverse).max(initial=0) * np.abs(J[b]).max(initial=0)
        close(ask(mech, "operational_inertia", s.q, frames=(a, b)), expected, solved(mech, s), scale=size)


def wrench_acts_through_the_jacobian(mech, s):
    w = some_wrenches(mech)
    pushed = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot, wrenches=w)
    free = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot)
    expected = sum(ask(mech, "jacobian", s.q, frames=(f,)).T @ x for f, x in w.items())
    close(free - pushed, expected, scale=np.abs(free).max(initial=0))


# energy and momentum


def energy_changes_by_power(mech, s):
    """dT/dt + dV/dt = tau' v - friction losses."""
    vdot = ask(mech, "forward_dynamics", s.q, s.v, s.tau)
    rates = along(mech, "energy", s, vdot)
    power = s.tau @ s.v + Reference(mech).friction(s.v) @ s.v
    close(rates.sum(), power, solved(mech, s), scale=np.abs(rates).max())


def momentum_changes_by_outer_forces(mech, s):
    """d/dt momentum = weight + external wrenches + what the ground's joints give + what spins the ground's rotors."""
    reference = Reference(mech)
    w = some_wrenches(mech)
    at, _ = reference.motion(s.q, s.v, s.vdot)
    total = np.zeros(6)
    for b in reference.d.bodies:
        weight = b.mass * reference.g
        total += np.r_[np.cross(at[b.name].moved(np.array(b.com)).p, weight), weight]
    for name, x in w.items():
        if mech.description.carrier(name)[0] != "ground":
            total += np.r_[x[:3] + np.cross(at[name].p, x[3:]), x[3:]]
    held = joint_wrenches(mech, s, w)
    total += sum(held[c.name] for c in mech.description.connections if c.parent == "ground")
    for c, k, J, ratio, axis in reference.spins():
        if c.parent == "ground":
            total += np.r_[J * ratio * s.vdot[k] * axis, np.zeros(3)]
    close(along(mech, "momentum", s, s.vdot), total, scale=max(np.abs(x).max() for x in held.values()))


def centroidal_momentum_is_momentum_about_the_center_of_mass(mech, s):
    if not Reference(mech).moving:
        return
    com, h = ask(mech, "center_of_mass", s.q), ask(mech, "momentum", s.q, s.v)
    expected = np.r_[h[:3] - np.cross(com, h[3:]), h[3:]]
    close(ask(mech, "centroidal_momentum", s.q, s.v), expected, scale=np.abs(h).max())
    close(ask(mech, "centroidal_momentum_matrix", s.q) @ s.v, expected, scale=np.abs(h).max())


# kinematics


def velocity_is_the_jacobian_times_v(mech, s):
    for f in ("tool", "camera", "bench"):
        close(ask(mech, "jacobian", s.q, frames=(f,)) @ s.v, ask(mech, "velocity", s.q, s.v, frames=(f,)))


def acceleration_is_J_vdot_plus_Jdot_v(mech, s):
    for f in ("tool", "camera"):
        J, rate = ask(mech, "jacobian", s.q, frames=(f,)), ask(mech, "jacobian_rate", s.q, s.v, frames=(f,))
        close(J @ s.vdot + rate @ s.v, ask(mech, "acceleration", s.q, s.v, s.vdot, frames=(f,)))


def rates_are_derivatives_in_time(mech, s):
    """Velocity is the rate of the pose, and dJ/dt that of J, along q(t) with constant v."""

    def at(t: float) -> tuple[np.ndarray, np.ndarray]:
        q = ask(mech, "integrate_position", s.q, t * s.v)
        return ask(mech, "pose", q, frames=("tool",)), ask(mech, "jacobian", q, frames=("tool",))

    pose, J = stencil(lambda t: at(t)[0]), stencil(lambda t: at(t)[1])
    W = pose[:3, :3] @ at(0.0)[0][:3, :3].T
    found = np.r_[W[2, 1], W[0, 2], W[1, 0], pose[:3, 3]]
    close(found, ask(mech, "velocity", s.q, s.v, frames=("tool",)), DIFFERENCE)
    close(J, ask(mech, "jacobian_rate", s.q, s.v, frames=("tool",)), DIFFERENCE)


def position_rate_is_the_rate_of_integrated_position(mech, s):
    found = stencil(lambda t: ask(mech, "integrate_position", s.q, t * s.v))
    close(found, ask(mech, "position_rate", s.q, s.v), DIFFERENCE)


# reactions


def every_body_obeys_newton_and_euler(mech, s):
    """For each body: inboard joint - outboard joints + weight + wrenches = rate of its momentum."""
    reference = Reference(mech)
    w = some_wrenches(mech)
    held = joint_wrenches(mech, s, w)
    at, _ = reference.motion(s.q, s.v, s.vdot)
    scale = max(np.abs(x).max() for x in held.values())
    for b in reference.d.bodies:
        f, I = at[b.name].moved(np.array(b.com)), b.inertia_matrix()
        I = f.R @ I @ f.R.T
        rate = np.r_[I @ f.alpha + np.cross(f.w, I @ f.w) + np.cross(f.p, b.mass * f.a), b.mass * f.a]
        for c, k, J, ratio, axis in reference.spins():
            if c.parent == b.name:
                e = f.R @ axis
                rate[:3] += J * ratio * (s.vdot[k] * e + s.v[k] * np.cross(f.w, e))
        total = np.r_[np.cross(f.p, b.mass * reference.g), b.mass * reference.g]
        for c in reference.d.connections:
            total += held[c.name] * ((c.child == b.name) - float(c.parent == b.name))
        for name, x in w.items():
            if mech.description.carrier(name)[0] == b.name:
                total += np.r_[x[:3] + np.cross(at[name].p, x[3:]), x[3:]]
        close(total, rate, scale=scale)


def reactions_along_free_directions_are_the_drive(mech, s):
    """Along a degree of freedom the joint gives tau and passive forces, less what armature and rotor take."""
    reference = Reference(mech)
    held = joint_wrenches(mech, s)
    at, _ = reference.motion(s.q, s.v, s.vdot)
    drive = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot) + reference.friction(s.v) + reference.springs(s.q)
    for c in reference.d.connections:
        V = reference.d.v_slices[c.name]
        drive[V] -= np.array(c.per_dof("armature")) * s.vdot[V]
    for c, k, J, ratio, axis in reference.spins():
        parent = at[c.parent]
        drive[k] -= J * ratio * (ratio * s.vdot[k] + (parent.R @ axis) @ parent.alpha)
    found = np.zeros(mech.nv)
    for c in reference.d.connections:
        V = reference.d.v_slices[c.name]
        for k in range(V.start, V.stop):
            unit = np.eye(mech.nv)[k]
            joint = reference.motion(s.q, unit, 0 * unit)[1][c.name]
            found[k] = held[c.name] @ np.r_[joint.w, joint.u - np.cross(joint.w, joint.p)]
    close(found, drive, scale=max(np.abs(x).max() for x in held.values()))


# derivatives


def stencil(f: Callable[[float], np.ndarray], h: float = 1e-3) -> np.ndarray:
    """Return df/dt at 0 by central differences of order four."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def differences(mech: art.Mechanism, name: str, s: State, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives by small displacements and by v of a function of (q, v, last), by differences."""
    columns_q, columns_v = [], []
    for e in np.eye(mech.nv):
        columns_q.append(
            stencil(lambda t, e=e: ask(mech, name, ask(mech, "integrate_position", s.q, t * e), s.v, last))
        )
        columns_v.append(stencil(lambda t, e=e: ask(mech, name, s.q, s.v + t * e, last)))
    return np.array(columns_q).T, np.array(columns_v).T


def derivatives_are_differences(mech, s):
    by_q, by_v, inverse = ask(mech, "derivatives", s.q, s.v, s.tau)
    expected_q, expected_v = differences(mech, "forward_dynamics", s, s.tau)
    close(by_q, expected_q, DIFFERENCE)
    close(by_v, expected_v, DIFFERENCE)
    close(inverse, ask(mech, "mass_matrix_inverse", s.q), solved(mech, s))


def inverse_derivatives_are_differences(mech, s):
    by_q, by_v, M = ask(mech, "inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    expected_q, expected_v = differences(mech, "inverse_dynamics", s, s.vdot)
    close(by_q, expected_q, DIFFERENCE)
    close(by_v, expected_v, DIFFERENCE)
    close(M, ask(mech, "mass_matrix", s.q))


def derivatives_are_those_of_casadi(mech, s):
    """Exact against exact: automatic differentiation of the articulated-body recursion."""
    by_q, by_v = automatic(mech, "forward_dynamics", s, s.tau)
    found_q, found_v, _ = ask(mech, "derivatives", s.q, s.v, s.tau)
    close(found_q, by_q, solved(mech, s))
    close(found_v, by_v, solved(mech, s))


def inverse_derivatives_are_those_of_casadi(mech, s):
    by_q, by_v = automatic(mech, "inverse_dynamics", s, s.vdot)
    found_q, found_v, _ = ask(mech, "inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    close(found_q, by_q)
    close(found_v, by_v)


def automatic(mech: art.Mechanism, name: str, s: State, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    f, step = mech.function(name), mech.function("integrate_position")
    p = [ca.SX(ca.DM(list(mech.parameters.values())))] if mech.parameters else []
    q, d, v, x = (
        ca.SX.sym(k, n) for k, n in (("q", mech.nq), ("d", mech.nv), ("v", mech.nv), ("x", mech.nv))
    )
    y = f(step(q, d, *p), v, x, *p)
    jacobians = ca.Function("jacobians", [q, d, v, x], [ca.jacobian(y, d), ca.jacobian(y, v)])
    by_q, by_v = jacobians(s.q, np.zeros(mech.nv), s.v, last)
    return np.array(by_q), np.array(by_v)


LAWS: tuple[Law, ...] = (
    forward_undoes_inverse,
    forward_undoes_inverse_under_wrenches,
    mass_matrix_is_symmetric_positive_definite,
    inverse_dynamics_is_affine_in_acceleration,
    kinetic_energy_is_half_vMv,
    factors_make_the_mass_matrix,
    inverse_and_solution_agree_with_the_mass_matrix,
    operational_inertia_is_JMJ,
    wrench_acts_through_the_jacobian,
    energy_changes_by_power,
    momentum_changes_by_outer_forces,
    centroidal_momentum_is_momentum_about_the_center_of_mass,
    velocity_is_the_jacobian_times_v,
    acceleration_is_J_vdot_plus_Jdot_v,
    rates_are_derivatives_in_time,
    position_rate_is_the_rate_of_integrated_position,
    every_body_obeys_newton_and_euler,
    reactions_along_free_directions_are_the_drive,
    derivatives_are_differences,
    inverse_derivatives_are_differences,
)
SMALL_LAWS: tuple[Law, ...] = (derivatives_are_those_of_casadi, inverse_derivatives_are_those_of_casadi)
"""Laws whose cost explodes with the number of bodies."""
