"""Laws on random trees of rigid and flexible bodies."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from reference import Reference

import articulus as art
import laws
import zoo
from articulus.dynamics.quantities import QUANTITIES
from flexible_zoo import soften, state
from laws import along, close, solved
from zoo import ask

RIGID = {
    "arm": functools.partial(zoo.random_mechanism, 21, 3, [art.Revolute, art.Universal], branching=0.0, armature=True),
    "geared": functools.partial(zoo.random_mechanism, 22, 3, [art.Revolute, art.Prismatic], rotors=1.0, friction=True),
    "tree": functools.partial(
        zoo.random_mechanism, 23, 4, [art.Fixed, art.Spherical, art.Helical, art.Cylindrical], springs=True,
        parameters=["mass", "com", "xyz", "pitch", "gravity"], branching=0.8,
    ),
    "afloat": functools.partial(zoo.random_mechanism, 24, 3, [art.Planar, art.Revolute], floating=True, rotors=0.7),
}  # fmt: skip
AT_ANY_LEVEL = (
    laws.forward_undoes_inverse,
    laws.forward_undoes_inverse_under_wrenches,
    laws.mass_matrix_is_symmetric_positive_definite,
    laws.inverse_dynamics_is_affine_in_acceleration,
    laws.kinetic_energy_is_half_vMv,
    laws.factors_make_the_mass_matrix,
    laws.inverse_and_solution_agree_with_the_mass_matrix,
    laws.velocity_is_the_jacobian_times_v,
    laws.acceleration_is_J_vdot_plus_Jdot_v,
    laws.rates_are_derivatives_in_time,
    laws.position_rate_is_the_rate_of_integrated_position,
    laws.derivatives_are_differences,
    laws.inverse_derivatives_are_differences,
)
"""Laws of the equations as they stand."""
OF_ONE_LAGRANGIAN = (
    laws.operational_inertia_is_JMJ,
    laws.wrench_acts_through_the_jacobian,
)
"""Laws that the ruthless level breaks: its masses are where the body is undeformed, its frames where it is deformed."""


@functools.cache
def softened(name: str, level: str) -> art.Mechanism:
    return soften(RIGID[name](), 5, level)


@pytest.mark.parametrize(
    ("name", "level"),
    [*((name, "consistent") for name in RIGID), ("arm", "inconsistent"), ("geared", "ruthless")],
)
def test_laws_at_any_level(name: str, level: str) -> None:
    mech = softened(name, level)
    for law in AT_ANY_LEVEL:
        law(mech, state(mech, 7))


@pytest.mark.parametrize(
    ("name", "level"), [*((name, "consistent") for name in RIGID), ("arm", "inconsistent")]
)
def test_laws_of_one_lagrangian(name: str, level: str) -> None:
    mech = softened(name, level)
    s = state(mech, 8)
    for law in OF_ONE_LAGRANGIAN:
        law(mech, s)
    energy_changes_by_power(mech, s)
    momentum_changes_by_outer_forces(mech, s)
    com, h = ask(mech, "center_of_mass", s.q), ask(mech, "momentum", s.q, s.v)
    expected = np.r_[h[:3] - np.cross(com, h[3:]), h[3:]]
    close(ask(mech, "centroidal_momentum", s.q, s.v), expected, scale=np.abs(h).max())
    close(ask(mech, "centroidal_momentum_matrix", s.q) @ s.v, expected, scale=np.abs(h).max())


def energy_changes_by_power(mech: art.Mechanism, s: zoo.State) -> None:
    """dT/dt + dV/dt = tau' v - what friction and the bodies' damping take; and M is the derivative of what both say."""
    vdot = ask(mech, "forward_dynamics", s.q, s.v, s.tau)
    rates = along(mech, "energy", s, vdot)
    power = s.tau @ s.v + Reference(mech).friction(s.v) @ s.v
    for b in mech.description.bodies:
        if b.modes is not None:
            rate = s.v[mech.description.mode_slices(b.name)[0]]
            power -= rate @ b.modes.damping @ rate
    close(rates.sum(), power, solved(mech, s), scale=np.abs(rates).max())


def momentum_changes_by_outer_forces(mech: art.Mechanism, s: zoo.State) -> None:
    """d/dt momentum = weight at the center of mass + wrenches + what the ground's joint gives + the ground's rotor."""
    wrenches, d = laws.some_wrenches(mech), zoo.with_numbers(mech.description)
    mass = sum(b.mass if b.modes is None else b.modes.rr0[3, 3] for b in d.bodies)
    total = moved(ask(mech, "center_of_mass", s.q), np.r_[np.zeros(3), mass * np.array(d.gravity)])
    for name, x in wrenches.items():
        if d.carrier(name)[0] != "ground":
            total += moved(ask(mech, "pose", s.q, frames=(name,))[:3, 3], x)
    row = ask(mech, "reactions", s.q, s.v, s.vdot, wrenches=wrenches)[0]
    joint = d.connections[0]
    X = ask(mech, "pose", s.q, frames=(joint.child,)) @ joint.child_at.matrix()
    total += moved(X[:3, 3], np.r_[X[:3, :3] @ row[:3], X[:3, :3] @ row[3:]])
    if joint.rotor is not None:
        spin = (
            joint.rotor.inertia
            * joint.rotor.ratio
            * s.vdot[d.v_slices[joint.name]]
            * np.array(joint.rotor.axis)
        )
        total[:3] += spin
    close(along(mech, "momentum", s, s.vdot), total, scale=np.abs(row).max() + np.abs(total).max())


def moved(p: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    return np.r_[wrench[:3] + np.cross(p, wrench[3:]), wrench[3:]]


def test_ruthless_does_not_conserve_energy() -> None:
    mech = softened("arm", "ruthless")
    with pytest.raises(AssertionError):
        energy_changes_by_power(mech, state(mech, 8))


@pytest.mark.parametrize("name", ["geared", "tree"])
def test_no_modes_give_the_rigid_result(name: str) -> None:
    """Every quantity of bodies with zero modes is that of the rigid bodies, in as many operations."""
    import dataclasses

    from articulus.model.mechanism import Body
    from articulus.model.mechanism.modes import Modes, Station

    mech = RIGID[name]()
    d = zoo.with_numbers(mech.description)
    none = {
        "rr1": (0, 6, 6),
        "rr2": (0, 0, 6, 6),
        "rr2_shortening": (0, 0, 6, 6),
        "rf0": (6, 0),
        "rf1": (0, 6, 0),
    }
    none |= {"rf1_shortening": (0, 6, 0), "ff": (0, 0), "stiffness": (0, 0), "damping": (0, 0)}
    bodies = []
    for b in d.bodies:
        c = np.array(b.com)
        C = np.cross(np.eye(3), c)
        rr0 = np.block(
            [[b.inertia_matrix() - b.mass * C @ C, b.mass * C], [b.mass * C.T, b.mass * np.eye(3)]]
        )
        station = Station(np.zeros(3), np.zeros((3, 0)), np.zeros((3, 0)), np.zeros((3, 0, 0)))
        modes = Modes((), rr0=rr0, stations={"here": station}, **{k: np.zeros(x) for k, x in none.items()})
        bodies.append(Body(b.name, modes=modes))
    joints = tuple(dataclasses.replace(c, node="" if c.parent == "ground" else "here") for c in d.connections)
    flexible = art.Mechanism.from_description(
        dataclasses.replace(d, bodies=tuple(bodies), connections=joints)
    )
    rigid = art.Mechanism.from_description(d)
    assert flexible.description.flexible
    assert (flexible.nq, flexible.nv) == (rigid.nq, rigid.nv)
    s, w = zoo.random_state(rigid, 3), laws.some_wrenches(rigid)
    tolerance = solved(rigid, s)
    for quantity in QUANTITIES:
        asked = ("tool", "camera")[: QUANTITIES[quantity].frames]
        counts = [m.function(quantity, asked).n_instructions() for m in (flexible, rigid)]
        if quantity == "velocity_transformation":
            continue  # of centers of mass, which a body of modes has in its origin
        # an inertia about another point may round to a whole number on one side, which saves an operation on some processors
        assert abs(counts[0] - counts[1]) <= 2, quantity
    for quantity, inputs, frames, wrenches in (
        ("inverse_dynamics", (s.q, s.v, s.vdot), (), w),
        ("forward_dynamics", (s.q, s.v, s.tau), (), w),
        ("mass_matrix", (s.q,), (), None),
        ("energy", (s.q, s.v), (), None),
        ("momentum", (s.q, s.v), (), None),
        ("center_of_mass", (s.q,), (), None),
        ("acceleration", (s.q, s.v, s.vdot), ("tool",), None),
        ("reactions", (s.q, s.v, s.vdot), (), w),
        ("mass_matrix_factors", (s.q,), (), None),
        ("operational_inertia", (s.q,), ("tool", "camera"), None),
        ("derivatives", (s.q, s.v, s.tau), (), None),
        ("centroidal_momentum_matrix", (s.q,), (), None),
    ):
        found, expected = (
            ask(m, quantity, *inputs, frames=frames, wrenches=wrenches) for m in (flexible, rigid)
        )
        for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected))):
            close(a, b, tolerance, scale=np.abs(b).max(initial=0))


def test_batches_and_lanes_are_the_single_state() -> None:
    mech = softened("arm", "consistent")
    states = [state(mech, k) for k in range(11)]
    q, v, tau = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "tau"))
    together = mech.forward_dynamics(q, v, tau)
    for k, s in enumerate(states):
        assert np.array_equal(
            together[k], mech.forward_dynamics(q[k : k + 1], v[k : k + 1], tau[k : k + 1])[0]
        )
        close(together[k], ask(mech, "forward_dynamics", s.q, s.v, s.tau), solved(mech, s))
