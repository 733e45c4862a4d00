"""The public class: shapes, messages, documentation."""

from __future__ import annotations

import doctest
import inspect
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import articulus as art
import zoo
from articulus.dynamics import mechanism as api
from articulus.dynamics.quantities import QUANTITIES
from articulus.linear import LinearModel, LinearModels

FRAME, OTHER = "tool", "camera"

METHODS = {
    "pose": ("frame", "q"),
    "velocity": ("frame", "q", "v"),
    "acceleration": ("frame", "q", "v", "vdot"),
    "jacobian": ("frame", "q"),
    "jacobian_rate": ("frame", "q", "v"),
    "position_rate": ("q", "v"),
    "integrate_position": ("q", "v"),
    "position_difference": ("q", "q_end"),
    "local_jacobian": ("frame", "q"),
    "relative_jacobian": ("frame", "frame", "q"),
    "center_of_mass_jacobian": ("q",),
    "velocity_transformation": ("q",),
    "coriolis_matrix": ("q", "v"),
    "regressor": ("q", "v", "vdot"),
    "inverse_dynamics": ("q", "v", "vdot"),
    "forward_dynamics": ("q", "v", "tau"),
    "innovations": ("q", "v", "tau"),
    "mass_matrix": ("q",),
    "bias": ("q", "v"),
    "gravity": ("q",),
    "energy": ("q", "v"),
    "momentum": ("q", "v"),
    "centroidal_momentum": ("q", "v"),
    "centroidal_momentum_matrix": ("q",),
    "center_of_mass": ("q",),
    "reactions": ("q", "v", "vdot"),
    "mass_matrix_factors": ("q",),
    "mass_matrix_inverse": ("q",),
    "solve_mass_matrix": ("q", "tau"),
    "operational_inertia": ("frame", "q"),
    "derivatives": ("q", "v", "tau"),
    "inverse_dynamics_derivatives": ("q", "v", "vdot"),
}
ABOUT_CONSTRAINTS = {
    "constraint_residual",
    "constraint_rate",
    "constraint_acceleration",
    "constraint_jacobian",
    "constraint_derivatives",
    "constraint_forces",
    "closed_dynamics",
}
"""Tested in test_closed.py, on a mechanism that has constraints."""
ABOUT_PARAMETERS = {"parameter_derivatives", "inverse_dynamics_parameter_derivatives"}
"""Tested in test_attached_jacobians.py, on mechanisms that have parameters."""
TAKES_PARAMS = [m for m in METHODS if m not in ("position_rate", "integrate_position", "position_difference")]


def shapes(mech):
    """Return the documented trailing axes of every result."""
    n, q, joints = mech.nv, mech.nq, len(mech.joint_names)
    square = (n, n)
    return {
        "pose": [(4, 4)],
        "velocity": [(6,)],
        "acceleration": [(6,)],
        "jacobian": [(6, n)],
        "jacobian_rate": [(6, n)],
        "position_rate": [(q,)],
        "integrate_position": [(q,)],
        "position_difference": [(n,)],
        "local_jacobian": [(6, n)],
        "relative_jacobian": [(6, n)],
        "center_of_mass_jacobian": [(3, n)],
        "velocity_transformation": [(6 * len(mech.body_names), n)],
        "coriolis_matrix": [square],
        "regressor": [(n, 10 * len(mech.body_names))],
        "inverse_dynamics": [(n,)],
        "forward_dynamics": [(n,)],
        "innovations": [(n,)] * 3,
        "mass_matrix": [square],
        "bias": [(n,)],
        "gravity": [(n,)],
        "energy": [(), ()],
        "momentum": [(6,)],
        "centroidal_momentum": [(6,)],
        "centroidal_momentum_matrix": [(6, n)],
        "center_of_mass": [(3,)],
        "reactions": [(joints, 6)],
        "mass_matrix_factors": [square, (n,), square],
        "mass_matrix_inverse": [square],
        "solve_mass_matrix": [(n,)],
        "operational_inertia": [(6, 6)],
        "derivatives": [square] * 3,
        "inverse_dynamics_derivatives": [square] * 3,
    }


def one_hinge():
    m = art.Mechanism("pendulum").body("rod", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")
    return m.frame("tool", "rod", at=(0, 0, -1.0)).frame("camera", "rod")


def arm():
    """Return a mechanism with two degrees of freedom and two parameters; small, for all its kernels are compiled."""
    m = art.Mechanism("arm")
    m.body("upper", art.Parameter("payload", 1.0), (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.body("lower", art.Parameter("forearm", 1.0), (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.joint("shoulder", art.Revolute((0, 1, 0)), "ground", "upper")
    m.joint("elbow", art.Revolute((0, 1, 0)), "upper", "lower", at=(0, 0, -1.0))
    return m.frame("tool", "lower", at=(0, 0, -1.0)).frame("camera", "upper")


def arguments(mech, method, lead=(), seed=0):
    """Return arguments of a method; arrays with the given leading axes."""
    rng = np.random.default_rng(seed)
    count = math.prod(lead)
    states = [zoo.random_state(mech, rng) for _ in range(count)]
    out = []
    for name in METHODS[method]:
        if name == "frame":
            out.append(FRAME)
        else:
            out.append(np.array([getattr(s, name) for s in states]).reshape(*lead, -1))
    return out


def results(mech, method, given, **options):
    out = getattr(mech, method)(*given, **options)
    return out if isinstance(out, tuple) else (out,)


def test_list_of_methods_is_complete():
    """A new quantity has to be added here, and so gets its shapes and messages tested."""
    public = {n for n, _ in inspect.getmembers(art.Mechanism, inspect.isfunction) if not n.startswith("_")}
    assert {n for n in public if n in {*QUANTITIES, "derivatives"}} == set(
        METHODS
    ) | ABOUT_CONSTRAINTS | ABOUT_PARAMETERS


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lead", [(), (1,), (5,), (2, 3)], ids=str)
def test_shapes(method, lead):
    mech = arm()
    out = results(mech, method, arguments(mech, method, lead))
    assert [np.shape(x) for x in out] == [lead + s for s in shapes(mech)[method]]


@pytest.mark.parametrize("method", METHODS)
def test_shapes_with_one_dof(method):
    """nv = 1 is no exception: q is (1,), M is (1, 1), the energy a number."""
    mech = one_hinge()
    for lead in ((), (5,)):
        out = results(mech, method, arguments(mech, method, lead))
        assert [np.shape(x) for x in out] == [lead + s for s in shapes(mech)[method]]


@pytest.mark.parametrize("method", ["forward_dynamics", "mass_matrix", "pose", "energy"])
def test_shapes_with_one_parameter(method):
    mech = arm()
    single = art.Mechanism.from_description(zoo.with_numbers(mech.description))
    single.body("ballast", art.Parameter("ballast", 1.0), inertia=(0.1, 0.1, 0.1))
    single.joint("weld", art.Fixed(), "lower", "ballast")
    out = results(single, method, arguments(single, method))
    assert [np.shape(x) for x in out] == shapes(single)[method]


@pytest.mark.parametrize("method", METHODS)
def test_lists_and_integers_are_welcome(method):
    mech = arm()
    given = [x if isinstance(x, str) else np.round(x).astype(int) for x in arguments(mech, method)]
    as_lists = [x if isinstance(x, str) else x.tolist() for x in given]
    as_floats = [x if isinstance(x, str) else x.astype(float) for x in given]
    for a, b in zip(results(mech, method, as_lists), results(mech, method, as_floats)):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("method", METHODS)
def test_wrong_shape_names_the_argument_and_what_was_expected(method):
    mech = arm()
    good = arguments(mech, method)
    for k, name in enumerate(METHODS[method]):
        if name == "frame":
            continue
        bad = [*good]
        bad[k] = np.zeros(7)
        with pytest.raises(art.InputError, match=rf"'{name}' has shape \(7,\); expected \(\.\.\., 2\)"):
            getattr(mech, method)(*bad)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_not_finite_input_is_refused(method, value):
    mech = arm()
    for lead in ((), (5,)):
        good = arguments(mech, method, lead)
        for k, name in enumerate(METHODS[method]):
            if name == "frame":
                continue
            bad = [x if isinstance(x, str) else x.copy() for x in good]
            bad[k][..., -1] = value
            with pytest.raises(art.InputError, match=f"'{name}' is {value}.*expected finite numbers"):
                getattr(mech, method)(*bad)


@pytest.mark.parametrize(
    "bad",
    ["text", None, [1j, 2.0], [[1.0], [2.0, 3.0]], object()],
    ids=["text", "none", "complex", "ragged", "object"],
)
def test_what_is_no_array_of_numbers(bad):
    mech = arm()
    with pytest.raises(art.InputError, match="'v'"):
        mech.forward_dynamics([0.0, 0.0], bad, [0.0, 0.0])


def test_leading_axes_that_do_not_broadcast():
    mech = arm()
    with pytest.raises(art.InputError, match="do not broadcast"):
        mech.forward_dynamics(np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2))


def test_empty_batch():
    mech = arm()
    assert mech.forward_dynamics(*np.zeros((3, 0, 2))).shape == (0, 2)


def test_result_is_the_callers_own():
    mech = arm()
    first = mech.mass_matrix([0.1, 0.2])
    copy = first.copy()
    mech.mass_matrix([1.0, 2.0])
    assert np.array_equal(first, copy)
    first[:] = 7
    assert np.array_equal(mech.mass_matrix([0.1, 0.2]), copy)


# names


def test_unknown_frame():
    mech = arm()
    with pytest.raises(
        art.InputError, match="no body or frame 'tol' in mechanism 'arm'; did you mean 'tool'"
    ):
        mech.pose("tol", [0.0, 0.0])
    with pytest.raises(art.InputError, match="did you mean 'tool'"):
        mech.operational_inertia("tool", [0.0, 0.0], "tooll")
    with pytest.raises(art.InputError, match="did you mean 'lower'"):
        mech.forward_dynamics(*np.zeros((3, 2)), wrenches={"lowr": np.zeros(6)})


def test_unknown_parameter():
    mech = arm()
    with pytest.raises(art.InputError, match="no parameter 'paylod' in 'arm'; did you mean 'payload'"):
        mech.mass_matrix([0.0, 0.0], params={"paylod": 1.0})
    with pytest.raises(art.InputError, match="no parameter 'payload' in 'pendulum'; there are none"):
        one_hinge().mass_matrix([0.0], params={"payload": 1.0})


def test_unknown_quantity():
    with pytest.raises(art.InputError, match="no quantity 'mass_matrx'; did you mean 'mass_matrix'"):
        arm().function("mass_matrx")
    with pytest.raises(art.InputError, match=r"'pose' is about 1 frame\(s\), found 0"):
        arm().kernel("pose")
    with pytest.raises(art.InputError, match="'mass_matrix' takes no external wrenches"):
        arm().function("mass_matrix", wrenches=["tool"])


@pytest.mark.parametrize("method", TAKES_PARAMS)
def test_every_method_takes_parameters(method):
    mech = arm()
    given = arguments(mech, method)
    assert results(mech, method, given, params={"payload": 2.0})
    with pytest.raises(art.InputError, match="no parameter 'x'"):
        results(mech, method, given, params={"x": 2.0})


def test_bad_values_of_parameters():
    mech = arm()
    with pytest.raises(art.InputError, match=r"payload|'p'"):
        mech.mass_matrix([0.0, 0.0], params={"payload": math.nan})
    with pytest.raises(art.InputError):
        mech.mass_matrix(np.zeros((3, 2)), params={"payload": [1.0, 2.0]})


@pytest.mark.parametrize(
    "value",
    [
        None,
        "heavy",
    ],
)
def test_parameter_that_is_no_number(value):
    with pytest.raises(art.InputError):
        arm().mass_matrix([0.0, 0.0], params={"payload": value})


@pytest.mark.parametrize("wrench", [np.zeros(3), [math.nan] * 6])
def test_bad_wrench(wrench):
    with pytest.raises(art.InputError, match="wrench"):
        arm().forward_dynamics(*np.zeros((3, 2)), wrenches={"tool": wrench})


# building


def test_building_is_chained_and_order_is_free():
    m = art.Mechanism("m").joint("late", art.Revolute(), "ground", "rod")
    assert m.body("rod", 1.0, inertia=(0.1, 0.1, 0.1)).frame("tip", "rod") is m
    assert (m.nq, m.nv, m.joint_names, m.body_names, m.frame_names) == (1, 1, ("late",), ("rod",), ("tip",))
    assert "'m': 1 bodies, 1 joints" in repr(m)


def test_mechanism_may_grow_after_it_was_asked():
    m = arm()
    before = m.mass_matrix([0.1, 0.2])
    m.body("hand", 1.0, inertia=(0.1, 0.1, 0.1)).joint("wrist", art.Revolute(), "lower", "hand")
    assert m.nv == 3
    assert m.mass_matrix([0.1, 0.2, 0.3]).shape == (3, 3)
    assert m.mass_matrix([0.1, 0.2, 0.3])[1, 1] > before[1, 1]


def test_forms_of_inertia():
    I = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    forms = [I, I.tolist(), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03)]
    bodies = [art.Mechanism("m").body("b", 1.0, inertia=form)._bodies[0] for form in forms]
    assert bodies[0] == bodies[1] == bodies[2]
    assert np.array_equal(bodies[0].inertia_matrix(), I)
    three = art.Mechanism("m").body("b", 1.0, inertia=(1, 2, 3))._bodies[0]
    assert np.array_equal(three.inertia_matrix(), np.diag([1.0, 2, 3]))


def test_inertia_with_rounding_is_symmetric_enough():
    I = np.diag([0.3, 0.4, 0.5])
    I[0, 1] = 1e-18
    art.Mechanism("m").body("b", 1.0, inertia=I)


def test_a_square_inertia_takes_parameters():
    own, across = art.Parameter("own", 2.0), art.Parameter("across", 0.1) * 3
    m = art.Mechanism("m").body("b", 1.0, inertia=[[own, across, 0], [across, 2.0, 0], [0, 0, 2.5]])
    m.joint("j", art.Revolute(axis=(1, 0, 0)), parent="ground", child="b")
    assert m.mass_matrix([0.0], params={"own": 1.75}) == pytest.approx(1.75)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: m.body("b", mass="heavy"), "body 'b', mass: expected a number, found 'heavy'"),
        (lambda m: m.body("b", 1.0, com=(1, 2)), "body 'b', com: expected 3 numbers, found 2"),
        (lambda m: m.body("b", 1.0, inertia=(1, 2)), "body 'b', inertia: expected 6 numbers, found 2"),
        (lambda m: m.body("b", 1.0, inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "symmetric 3 x 3"),
        (
            lambda m: m.body(
                "b",
                1.0,
                inertia=[[2, art.Parameter("a", 0.1), 0], [art.Parameter("b", 0.1), 2, 0], [0, 0, 2]],
            ),
            "symmetric 3 x 3",
        ),
        (lambda m: m.body("b", 1.0, inertia=2.0), "body 'b', inertia"),
        (
            lambda m: m.joint("j", "revolute", "ground", "b"),
            "joint 'j': found 'revolute'; expected a joint type",
        ),
        (lambda m: m.joint("j", art.Revolute, "ground", "b"), "expected a joint type"),
        (
            lambda m: m.joint("j", art.Revolute(), "ground", "b", at=(1, 2)),
            "joint 'j', at: expected 3 numbers",
        ),
        (
            lambda m: m.joint("j", art.Planar(), "ground", "b", damping=1.0),
            "joint 'j', damping: expected 3 numbers",
        ),
        (
            lambda m: m.joint("j", art.Planar(), "ground", "b", armature=(1, 2)),
            "armature: expected 3 numbers, found 2",
        ),
        (lambda m: m.joint("j", art.Revolute(), "ground", "b", coulomb_speed="x"), "coulomb_speed"),
        (lambda m: m.frame("f", "b", at="here"), "frame 'f', at"),
        (lambda m: art.Mechanism("m", gravity=9.81), "expected 3 numbers"),
    ],
)
def test_bad_numbers_are_refused_where_they_are_given(make, words):
    with pytest.raises(art.InputError, match=words):
        make(art.Mechanism("m"))


def test_wrong_mechanism_is_refused_when_asked():
    m = art.Mechanism("m").body("b", 1.0, inertia=(-1, 1, 1))
    with pytest.raises(art.ModelError) as error:
        _ = m.nv
    assert len(error.value.findings) == 2


# the linear model


def test_linear_model_of_wrong_arguments():
    mech = arm()
    with pytest.raises(art.InputError, match="'q' has shape"):
        mech.linearize(q=np.zeros(3))
    with pytest.raises(art.InputError, match="'v' is nan"):
        mech.linearize(v=[math.nan, 0.0])
    with pytest.raises(art.InputError):
        mech.linearize(tau=np.zeros(1))


def test_linear_models_about_many_states_are_those_about_each():
    mech, rng = arm(), np.random.default_rng(3)
    q, v, u = rng.normal(size=(2, 3, 2)), rng.normal(size=(3, 2)), rng.normal(size=2)
    models = mech.linearize(q, v, u)
    assert isinstance(models, LinearModels)
    assert models.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        one, found = mech.linearize(q[i, j], v[j], u), models[i, j]
        assert type(found) is LinearModel
        for name in "ABCD":
            np.testing.assert_array_equal(getattr(found, name), getattr(one, name))
        assert (found.states, found.inputs, found.outputs) == (one.states, one.inputs, one.outputs)
        np.testing.assert_allclose(models.poles[i, j], one.poles, rtol=1e-12)
        np.testing.assert_allclose(models.response([1.0, 2.0])[i, j], one.response([1.0, 2.0]), rtol=1e-12)
    assert [m.shape for m in models] == [(3,), (3,)]
    assert models[1, 1:].between(models.inputs[0], models.outputs[1]).D.shape == (2, 1, 1)
    with pytest.raises(art.InputError, match="expected one"):
        models.to_control()


def test_linear_models_about_no_state():
    assert arm().linearize(np.zeros((0, 2))).A.shape == (0, 4, 4)


def test_labels_of_the_linear_model_stay_apart_in_python_control():
    m = art.Mechanism("m")
    for i, name in enumerate(("arm.1", "arm_1")):
        m.body(f"b{i}", 1.0, inertia=(0.1, 0.1, 0.1))
        m.joint(name, art.Revolute(), "ground", f"b{i}")
    model = m.linearize()
    assert model.states == ("q.arm.1", "q.arm_1", "v.arm.1", "v.arm_1")
    system = model.to_control()
    assert len(set(system.state_labels)) == system.nstates == 4
    assert len(set(system.input_labels)) == 2


def test_quaternion_of_zeros_is_no_rotation():
    m = art.Mechanism("m").body("b", 1.0, inertia=(0.1, 0.1, 0.1)).joint("j", art.Free(), "ground", "b")
    with pytest.raises(art.InputError, match="joint 'j' has a quaternion of zeros"):
        m.pose("b", np.zeros(7))


def test_mechanism_that_was_asked_can_be_sent_to_another_process():
    m = arm()
    before = m.mass_matrix([0.1, 0.2])
    assert np.array_equal(pickle.loads(pickle.dumps(m)).mass_matrix([0.1, 0.2]), before)  # noqa: S301


# documentation


def test_docstring_example_runs():
    found = doctest.testmod(api, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 3
    assert found.failed == 0


def test_everything_public_is_documented():
    bare = [
        n for n, f in inspect.getmembers(art.Mechanism) if not n.startswith("_") and not inspect.getdoc(f)
    ]
    bare += [n for n in art.__all__ if not inspect.getdoc(getattr(art, n))]
    assert bare == []


@pytest.mark.parametrize("method", METHODS)
def test_docstring_tells_the_shape(method):
    assert "..." in inspect.getdoc(getattr(art.Mechanism, method))


def test_results_have_units_in_their_docstrings():
    dimensionless = {"jacobian", "jacobian_rate", "position_rate", "integrate_position", "pose"}
    bare = []
    for method in METHODS:
        text = inspect.getdoc(getattr(art.Mechanism, method))
        if "[" not in text and method not in dimensionless:
            bare.append(method)
    allowed = {
        "centroidal_momentum",
        "centroidal_momentum_matrix",
        "mass_matrix_factors",
        "mass_matrix_inverse",
        "solve_mass_matrix",
        "operational_inertia",
        "derivatives",
        "inverse_dynamics_derivatives",
    }
    assert set(bare) <= allowed


def test_every_public_name_exists():
    assert sorted(art.__all__, key=str.lower) == sorted(set(art.__all__), key=str.lower)
    assert all(hasattr(art, name) for name in art.__all__)


# import


def test_import_is_quick_and_light():
    """Importing reads neither control nor matplotlib nor scipy's heavy parts; processor time, as tests share the machine."""
    code = (
        "import sys, time; t = time.process_time(); import articulus; t = time.process_time() - t;"
        "heavy = [m for m in ('control', 'matplotlib', 'scipy.optimize', 'mujoco', 'pinocchio') if m in sys.modules];"
        "print(t, *heavy)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    seconds, *heavy = min((r.stdout.split() for r in runs), key=lambda words: float(words[0]))
    assert heavy == []
    assert float(seconds) < 1.5


def test_a_warm_start_makes_no_equations(tmp_path):
    """A second process takes native code from the cache and imports nothing of the dynamics, be there loops or not."""
    code = (
        "import sys, articulus; m = articulus.load('two_link'); m.forward_dynamics([0, 0], [0, 0], [0, 0]);"
        "m = articulus.load('n_four_bar', n=1); m.forward_dynamics(m.neutral, [0, 0, 0], [0, 0, 0]); m.tree.gravity(m.neutral);"
        "print('articulus.dynamics.quantities' in sys.modules)"
    )
    given = os.environ | {"ARTICULUS_CACHE": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=given
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "False"]
