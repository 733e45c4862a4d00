"""Coupled joints: the reduced equations against the tree's, laws of every mechanism, and cases by hand."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import coupled_zoo
import laws
import zoo
from articulus.dynamics.quantities import QUANTITIES, compilable
from laws import close
from selection import in_turn
from zoo import ask

UNAWARE = (
    laws.momentum_changes_by_outer_forces,
    laws.every_body_obeys_newton_and_euler,
    laws.reactions_along_free_directions_are_the_drive,
    laws.energy_changes_by_power,
)
"""Laws whose reference knows no couplings; their place is taken by the comparison with the tree."""
LAWS = [law for law in (*laws.LAWS, *laws.SMALL_LAWS) if law not in UNAWARE]


@pytest.fixture(params=coupled_zoo.ALL)
def case(request):
    return coupled_zoo.get(request.param)


def test_every_quantity_says_what_couplings_make_of_it():
    assert [name for name, row in QUANTITIES.items() if row.coupled is None] == []


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(case, law):
    law(case.coupled, case.state())


def test_equations_are_those_of_the_tree_with_multipliers(case):
    """M_t a + G' lambda = tau_t - bias_t with the rows of G on the coupled joints; a = T vdot + dT/dt v solves it."""
    s = case.state()
    t, T = case.tree_state(s), case.T(s.q)
    M, bias = ask(case.free, "mass_matrix", t.q), ask(case.free, "bias", t.q, t.v)
    G = np.linalg.svd(T.T)[2][T.shape[1] :]  # rows that vanish on the columns of T
    m = len(G)
    assert m == len(case.rows)
    whole = np.block([[M, G.T], [G, np.zeros((m, m))]])
    right = np.r_[t.tau - bias, G @ case.carried(s.q, s.v)]
    a = np.linalg.solve(whole, right)[: case.free.nv]
    found = ask(case.coupled, "forward_dynamics", s.q, s.v, s.tau)
    tolerance = laws.EXACT + 100 * laws.EPS * np.linalg.cond(whole)
    close(T @ found + case.carried(s.q, s.v), a, tolerance)


def test_forces_are_projected_and_bodies_move_as_in_the_tree(case):
    s = case.state()
    t, T = case.tree_state(s), case.T(s.q)
    m, free = case.coupled, case.free
    close(ask(m, "mass_matrix", s.q), T.T @ ask(free, "mass_matrix", t.q) @ T)
    close(ask(m, "inverse_dynamics", s.q, s.v, s.vdot), T.T @ ask(free, "inverse_dynamics", t.q, t.v, t.vdot))
    close(ask(m, "gravity", s.q), T.T @ ask(free, "gravity", t.q))
    for name in ("energy", "momentum", "centroidal_momentum"):
        close(np.hstack([np.ravel(x) for x in ask(m, name, s.q, s.v)]),
              np.hstack([np.ravel(x) for x in ask(free, name, t.q, t.v)]))  # fmt: skip
    close(ask(m, "pose", s.q, frames=("tool",)), ask(free, "pose", t.q, frames=("tool",)))
    close(ask(m, "velocity", s.q, s.v, frames=("tool",)), ask(free, "velocity", t.q, t.v, frames=("tool",)))
    close(ask(m, "reactions", s.q, s.v, s.vdot), ask(free, "reactions", t.q, t.v, t.vdot))


def test_energy_changes_by_power(case):
    """dE/dt = tau' v less what friction in all joints, coupled ones included, and damping of modes take."""
    s = case.state()
    t = case.tree_state(s)
    vdot = ask(case.coupled, "forward_dynamics", s.q, s.v, s.tau)
    rates = laws.along(case.coupled, "energy", s, vdot)
    power = s.tau @ s.v + laws.Reference(case.free).friction(t.v) @ t.v
    for body in case.free.description.bodies:
        if body.modes is not None:
            rate = t.v[case.free.description.mode_slices(body.name)[0]]
            power -= rate @ body.modes.damping @ rate
    close(rates.sum(), power, laws.solved(case.coupled, s), scale=np.abs(rates).max())


def test_native_code_in_batches_is_the_expression(case):
    m, s = case.coupled, case.state()
    batch = [np.tile(x, (5, 1)) for x in (s.q, s.v, s.tau)]
    close(m.forward_dynamics(*batch)[3], ask(m, "forward_dynamics", s.q, s.v, s.tau), laws.solved(m, s))


def test_parameters_of_a_coupling_are_set_by_name():
    case, other = coupled_zoo.get("parameters"), coupled_zoo.get("parameters").coupled
    s = case.state()
    written = art.Mechanism.from_description(
        zoo.with_numbers(other.description, {"ratio": -0.5, "offset": 1.1})
    )
    found = ask(other, "forward_dynamics", s.q, s.v, s.tau, params={"ratio": -0.5, "offset": 1.1})
    close(found, ask(written, "forward_dynamics", s.q, s.v, s.tau))


# by hand


def wheels(*inertias: float) -> art.Mechanism:
    m = art.Mechanism("wheels", gravity=(0, 0, 0))
    for k, J in enumerate(inertias):
        m.body(f"wheel{k}", mass=1.0, inertia=(J, J, J))
        m.joint(f"axis{k}", art.Revolute(axis=(0, 0, 1)), parent="ground", child=f"wheel{k}")
    return m


def test_gear_pair_has_the_reflected_inertia():
    """J1 + n^2 J2 on the first shaft; a torque M accelerates it by M over that."""
    m = wheels(2.0, 3.0).couple("axis1", to="axis0", ratio=-4.0)
    assert m.nq == m.nv == 1
    assert m.q_names == ("axis0",)
    assert m.mass_matrix([0.3]).item() == pytest.approx(2.0 + 16 * 3.0, rel=1e-15)
    assert m.forward_dynamics([0.3], [1.0], [5.0]).item() == pytest.approx(0.1, rel=1e-15)


def test_gear_train_resolves_whatever_the_order():
    """Three wheels, ratios -2 and -3: J1 + 4 J2 + 36 J3."""
    m = wheels(1.0, 1.0, 1.0).couple("axis2", to="axis1", ratio=-3.0).couple("axis1", to="axis0", ratio=-2.0)
    assert m.mass_matrix([0.0]).item() == pytest.approx(1 + 4 + 36, rel=1e-15)


def test_rack_moves_by_radius_times_angle():
    m = wheels(0.5)
    m.body("rack", mass=2.0, inertia=(1, 1, 1)).joint(
        "slide", art.Prismatic(axis=(1, 0, 0)), "ground", "rack"
    )
    m.couple("slide", to="axis0", ratio=0.1)
    assert m.pose("rack", [2.0])[0, 3] == pytest.approx(0.2, rel=1e-15)
    assert m.mass_matrix([2.0]).item() == pytest.approx(0.5 + 0.01 * 2.0, rel=1e-15)


def test_differential_is_the_mean_of_its_sides():
    """A carrier that turns with the mean of two wheels: M = J I + J/4 [[1, 1], [1, 1]]."""
    m = wheels(1.0, 1.0, 2.0).couple("axis2", to=("axis0", "axis1"), ratio=(0.5, 0.5))
    close(m.mass_matrix([0.0, 0.0]), [[1.5, 0.5], [0.5, 1.5]], 1e-15)


def test_friction_of_a_coupled_joint_acts_through_its_ratio():
    """Damping d on a joint that turns n times as fast resists with n^2 d."""
    m = wheels(1.0)
    m.body("b", mass=1.0, inertia=(1, 1, 1)).joint(
        "geared", art.Revolute(axis=(0, 0, 1)), "ground", "b", damping=0.2
    )
    m.couple("geared", to="axis0", ratio=3.0)
    assert m.bias([0.0], [2.0]).item() == pytest.approx(9 * 0.2 * 2.0, rel=1e-14)


# mistakes


@pytest.mark.parametrize(
    ("couple", "text"),
    [
        ({"joint": "axis1", "to": "axsi0"}, "axsi0"),
        ({"joint": "axle", "to": "axis0"}, "axle"),
        ({"joint": "axis1", "to": "axis1"}, "itself"),
        ({"joint": "axis1", "to": ("axis0", "axis2"), "ratio": (1.0, 2.0, 3.0)}, "one per joint"),
        ({"joint": "axis1", "to": "axis0", "ratio": 2.0, "polynomial": (0.0, 1.0)}, "polynomial"),
        ({"joint": "axis1", "to": "ball"}, "one degree of freedom"),
        ({"joint": "axis1", "to": "axis0", "ratio": float("nan")}, "finite"),
    ],
)
def test_mistakes_are_named(couple, text):
    m = wheels(1.0, 1.0, 1.0)
    m.body("b", mass=1.0, inertia=(1, 1, 1)).joint("ball", art.Spherical(), "ground", "b")
    with pytest.raises(art.ModelError, match=text):
        _ = m.couple(**couple).description


def test_cycles_and_second_couplings_are_refused():
    with pytest.raises(art.ModelError, match="a cycle"):
        _ = wheels(1.0, 1.0).couple("axis0", to="axis1").couple("axis1", to="axis0").description
    m = wheels(1.0, 1.0, 1.0).couple("axis1", to="axis0").couple("axis1", to="axis2")
    with pytest.raises(art.ModelError, match="second coupling"):
        _ = m.description


def test_names_that_are_no_names_are_refused():
    with pytest.raises(art.InputError, match=r"Coupling\.to"):
        wheels(1.0).couple("axis0", to=3)


# loops


@pytest.fixture(scope="module")
def closed_state():
    """A state of the geared four-bar on its constraints, with forces."""
    m = coupled_zoo.linkage().coupled
    at = art.assemble(m, [0.3, 0.2, 0.1], [1.0, 0.0, 0.0], fixed=["crank"])
    return zoo.State(at.q, at.v, np.zeros(3), np.array([0.4, -0.2, 0.7]))


def test_closed_mechanism_is_the_tree_with_all_multipliers(closed_state):
    """Couplings as further rows of the same equations give the same accelerations of all joints and the same multipliers."""
    case, s = coupled_zoo.linkage(), closed_state
    t, T = case.tree_state(s), case.T(s.q)
    M, bias = ask(case.free, "mass_matrix", t.q), ask(case.free, "bias", t.q, t.v)
    G = ask(case.free, "constraint_jacobian", t.q, 0.0)
    gamma = np.ravel(ask(case.free, "constraint_acceleration", t.q, t.v, np.zeros(5), 0.0))
    rows = np.linalg.svd(T.T)[2][T.shape[1] :]
    both, right = np.vstack([G, rows]), np.r_[-gamma, rows @ case.carried(s.q, s.v)]
    whole = np.block([[M, both.T], [both, np.zeros((len(both),) * 2)]])
    a = np.linalg.lstsq(whole, np.r_[t.tau - bias, right], rcond=1e-12)[0][:5]
    vdot, _ = case.coupled.closed_dynamics(s.q, s.v, s.tau)
    close(T @ vdot + case.carried(s.q, s.v), a, 1e-9)  # `closed_dynamics` is exact to 2e-10


def test_closed_derivatives_are_differences(closed_state):
    """Along the one motion that the loop leaves, by two states on the constraints close by."""
    m, s, h = coupled_zoo.linkage().coupled, closed_state, 1e-4
    by_q, by_v, _ = m.derivatives(s.q, s.v, s.tau)
    states = [art.assemble(m, s.q + k * h * s.v, s.v, fixed=["crank"]) for k in (1, -1)]
    found = [m.forward_dynamics(x.q, x.v, s.tau) for x in states]
    dq, dv = (states[0].q - states[1].q), (states[0].v - states[1].v)
    expected = found[0] - found[1]
    close(by_q @ dq + by_v @ dv, expected, 1e-7, scale=0.0)  # truncation h^2 of central differences
    assert np.abs(expected).max() > 1e-4


def test_closed_mechanism_keeps_its_energy(closed_state):
    """The rate of the energy is tau' v less what the dampers take, constraints and couplings take none."""
    case, s = coupled_zoo.linkage(), closed_state
    t = case.tree_state(s)
    vdot = case.coupled.forward_dynamics(s.q, s.v, s.tau)
    rates = laws.along(case.coupled, "energy", s, vdot)
    power = s.tau @ s.v + laws.Reference(case.free).friction(t.v) @ t.v
    close(rates.sum(), power, 1e-9, scale=np.abs(rates).max())


def test_locks_act_on_coupled_joints():
    """A lock on a geared wheel holds the motor: no acceleration, and a multiplier of its torque over the ratio."""
    m = wheels(2.0, 3.0).couple("axis1", to="axis0", ratio=-4.0)
    m.constrain(art.Lock("brake", "axis1", 0.0))
    vdot, multipliers = m.closed_dynamics([0.0], [0.0], [5.0])
    assert abs(vdot.item()) < 1e-9
    assert multipliers.item() == pytest.approx(-5.0 / 4.0, rel=1e-9)


def test_functions_of_the_user_see_the_independent_coordinates():
    """q of a constraint is that of the mechanism: one entry here, though there are two joints."""
    q, t = ca.SX.sym("q", 1), ca.SX.sym("t")
    m = wheels(2.0, 3.0).couple("axis0", to="axis1", ratio=0.5)
    m.constrain(art.CustomConstraint("drive", ca.Function("g", [q, t], [q - t**2])))
    assert m.constraint_residual([3.0], 1.0).item() == pytest.approx(2.0)
    assert m.forward_dynamics([1.0], [2.0], [0.0], 1.0).item() == pytest.approx(2.0, rel=1e-9)


def test_positions_of_all_joints_by_name(case):
    q = np.array([case.state(k).q for k in (1, 2, 3)])
    for row, at in zip(q, np.array([case.lift(x) for x in q])):
        for name, place in case.free.description.q_slices.items():
            assert_allclose(
                np.ravel(case.coupled.joint_position(name, row)), at[place], rtol=1e-14, atol=1e-14
            )
    name = next(iter(case.rows))
    assert case.coupled.joint_position(name, q).shape == (3,)


def test_actuators_are_independent_joints():
    m = wheels(1.0, 1.0).couple("axis1", to="axis0", ratio=2.0)
    with pytest.raises(art.InputError, match=r"actuators.*such as 'axis0'"):
        m.inverse_dynamics([0.0], [0.0], [1.0], actuators=["axis1"])


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(
    ("which", "name"),
    [
        pytest.param(which, name, id=f"{which}-{name}")
        for turn, name in enumerate(n for n, q in QUANTITIES.items() if q.rolled is not None)
        for which in ("parameters", *in_turn(("linear", "polynomial"), turn))
    ],
)
def test_graphs_of_calls_are_the_expressions_written_out(which, name, monkeypatch):
    """The form for long mechanisms, here of a short one."""
    for key, quantity in QUANTITIES.items():
        monkeypatch.setitem(QUANTITIES, key, dataclasses.replace(quantity, roll_from=0))
    m, s = coupled_zoo.get(which).coupled, coupled_zoo.get(which).state()
    frames = ("tool", "camera")[: QUANTITIES[name].frames]
    called = compilable(m.description, name, frames)
    assert called.is_a("MXFunction")
    given = [list(m.parameters.values()) if k == "p" else getattr(s, k) for k in called.name_in()]
    written = m.function(name, frames).call([ca.DM(x) for x in given])
    for found, expected in zip(called.call([ca.DM(x) for x in given]), written):
        close(np.array(found), np.array(expected), laws.solved(m, s))


def test_a_coupling_may_be_given_as_an_object():
    made, given = wheels(1.0, 1.0), wheels(1.0, 1.0)
    coupling = art.Coupling("axis1", "axis0", ratio=2.0)
    assert made.couple("axis1", to="axis0", ratio=2.0).description == given.couple(coupling).description
    with pytest.raises(art.InputError, match="a Coupling alone"):
        given.couple(coupling, ratio=3.0)


def test_the_leader_may_be_without_inertia():
    """All inertia may be in the follower: M = n^2 J; the tree alone would have a singular mass matrix."""
    m = (
        art.Mechanism("gear")
        .body("hand", massless="a crank of no mass")
        .body("wheel", mass=1.0, inertia=(3, 3, 3))
    )
    m.joint("crank", art.Revolute(axis=(0, 0, 1)), "ground", "hand")
    m.joint("axis", art.Revolute(axis=(0, 0, 1)), "ground", "wheel").couple("axis", to="crank", ratio=2.0)
    assert m.forward_dynamics([0.1], [1.0], [6.0]).item() == pytest.approx(6.0 / 12.0, rel=1e-14)
