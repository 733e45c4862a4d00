"""Denavit-Hartenberg tables: Wong's PUMA 600, products of elementary motions, random chains there and back, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, ModelError
from articulus.model.files.toml.reader import parse_toml
from articulus.model.mechanism.denavit_hartenberg import CONVENTIONS, DHRow

# Wong 1991, table 3.4 (alpha [deg], a, b [m]), eq. 3.41 (m, k, l) and eq. 3.42 (J)
ALPHA, A, B = (0, -90, 0, 90, -90, 90), (0, 0, 0.432, 0.02, 0, 0), (0, -0.149, 0, -0.432, 0, -0.056)
MASS = (10.521, 15.781, 8.767, 1.052, 1.052, 0.351)
K = ((0, 0.054, 0), (-0.14, 0, 0), (0, 0.197, 0), (0, 0, 0.057), (0, 0.007, 0), (0, 0, 0.019))
L = ((0, 0.203, 0), (0.292, 0, 0), (0.02, -0.235, 0), (0, 0, 0.057), (0, -0.049, 0))
J = (
    (1.6120, 0.5091, 1.6120),
    (0.4898, 8.0783, 8.2672),
    (3.3768, 0.3009, 3.3768),
    (0.1810, 0.1810, 0.1273),
    (0.0735, 0.0735, 0.1273),
    (0.0071, 0.0071, 0.0141),
)


def wong_rows() -> list[dict]:
    return [
        {"alpha": math.radians(alpha), "a": a, "d": b, "mass": m, "com": tuple(-x for x in k), "inertia": j}
        for alpha, a, b, m, k, j in zip(ALPHA, A, B, MASS, K, J)
    ]


def test_table_3_4_gives_the_hinges_of_eq_3_41() -> None:
    """l = k + (from hinge i to hinge i+1); printed to a millimetre."""
    puma = art.Mechanism.from_dh(wong_rows(), "wong", name="puma600")
    for i, (k, l) in enumerate(zip(K, L), 1):
        place = np.linalg.inv(puma.pose(f"link{i}", np.zeros(6))) @ puma.pose(f"link{i + 1}", np.zeros(6))
        np.testing.assert_allclose(np.add(k, place[:3, 3]), l, atol=5e-13)


def test_the_puma_of_the_table_is_the_one_of_the_library_along_eq_3_43() -> None:
    """The torques (3.44) of the motion (3.43), w_n = 2 pi / 10 s."""
    puma, ready = art.Mechanism.from_dh(wong_rows(), "wong", name="puma600"), art.load("puma600")
    t, w = np.linspace(0, 10, 41)[:, None], 2 * math.pi / 10
    motion = [(w * t - np.sin(w * t)) / 2, (w - w * np.cos(w * t)) / 2, w * w * np.sin(w * t) / 2]
    q, v, vdot = (np.repeat(x, 6, axis=1) for x in motion)
    expected = ready.inverse_dynamics(q, v, vdot)
    np.testing.assert_allclose(puma.inverse_dynamics(q, v, vdot), expected, atol=1e-13 * abs(expected).max())


def turn(axis: int, angle: float) -> np.ndarray:
    X = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    X[i, i] = X[j, j] = math.cos(angle)
    X[i, j], X[j, i] = -math.sin(angle), math.sin(angle)
    return X


def shift(axis: int, length: float) -> np.ndarray:
    X = np.eye(4)
    X[axis, 3] = length
    return X


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_poses_are_products_of_elementary_motions(convention: str) -> None:
    rng = np.random.default_rng(1)
    rows, types = rng.uniform(-2, 2, (5, 4)), ("revolute", "prismatic", "revolute", "prismatic", "revolute")
    q = rng.uniform(-2, 2, 5)
    base = turn(0, 0.3) @ shift(1, 0.7)
    chain = art.Mechanism.from_dh(
        [
            {"alpha": alpha, "a": a, "d": d, "theta": theta, "type": kind, "mass": 1.0, "inertia": (1, 1, 1)}
            for (alpha, a, d, theta), kind in zip(rows, types)
        ],
        convention,
        base=base,
        tool=shift(2, 0.25),
    )
    X = base
    for (alpha, a, d, theta), kind, position in zip(rows, types, q):
        theta, d = (theta + position, d) if kind == "revolute" else (theta, d)
        along = -d if convention == "wong" else d
        along += position if kind == "prismatic" else 0.0
        twist, screw = turn(0, alpha) @ shift(0, a), turn(2, theta) @ shift(2, along)
        X = X @ (screw @ twist if convention == "standard" else twist @ screw)
    np.testing.assert_allclose(chain.pose("tool", q), X @ shift(2, 0.25), atol=1e-14)


def random_chain(seed: int) -> art.Mechanism:
    """Return a chain of five joints, some of whose axes are parallel, meet or coincide, with welded parts."""
    rng = np.random.default_rng(seed)
    m = art.Mechanism(f"chain{seed}")
    parent = "ground"
    for i in range(5):
        m.body(f"b{i}", 1.0 + i, rng.uniform(-0.1, 0.1, 3), (0.2, 0.25, 0.3, 0.01, -0.02, 0.03))
        joint = (art.Revolute, art.Prismatic)[int(rng.integers(2))] if i else art.Revolute
        axis = np.eye(3)[rng.integers(3)] if seed % 2 else rng.normal(size=3)
        axis = axis * rng.choice([-1.0, 1.0]) / np.linalg.norm(axis)
        place = (rng.uniform(-1, 1, 3) * rng.integers(0, 2, 3)) if seed % 2 else rng.uniform(-1, 1, 3)
        m.joint(f"j{i}", joint(axis=tuple(axis)), parent, f"b{i}", tuple(place), damping=0.1 * i)
        m.body(f"w{i}", 0.5, (0.1, 0, 0), (0.01, 0.02, 0.02))
        m.joint(f"weld{i}", art.Fixed(), f"b{i}", f"w{i}", (0.1, 0.2, -0.1))
        parent = f"w{i}"
    return m.frame("end", parent, turn(1, 0.4) @ shift(2, 0.3))


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_a_chain_comes_back_from_its_table(seed: int, convention: str) -> None:
    """The same coordinates and dynamics; tolerance: rounding of poses of some metres."""
    chain = random_chain(seed)
    again = art.Mechanism.from_dh(chain.to_dh(convention, tip="end"))
    rng = np.random.default_rng(seed)
    q, v, tau = rng.uniform(-1, 1, (3, 5))
    np.testing.assert_allclose(again.pose("tool", q), chain.pose("end", q), atol=1e-11)
    np.testing.assert_allclose(again.mass_matrix(q), chain.mass_matrix(q), atol=1e-10)
    np.testing.assert_allclose(again.bias(q, v), chain.bias(q, v), atol=1e-9)
    np.testing.assert_allclose(
        again.forward_dynamics(q, v, tau), chain.forward_dynamics(q, v, tau), atol=1e-8
    )


@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_tables_of_micrometres_and_kilometres(size: float) -> None:
    rows = [
        {"alpha": 0.3, "a": 0.4 * size, "d": 0.2 * size, "mass": 1.0, "inertia": (1, 1, 1)} for _ in range(3)
    ]
    chain = art.Mechanism.from_dh(rows, "modified", tool=(0, 0, 0.1 * size))
    table = chain.to_dh("modified", tip="tool")
    np.testing.assert_allclose([float(r.a) / size for r in table.rows], 0.4, rtol=1e-9)
    q = np.array([0.1, 0.2, 0.3])
    again = art.Mechanism.from_dh(table)
    np.testing.assert_allclose(
        again.pose("tool", q)[:3, 3] / size, chain.pose("tool", q)[:3, 3] / size, atol=1e-9
    )


def test_lengths_and_masses_may_be_parameters() -> None:
    reach = art.Parameter("reach", 0.5)
    arm = art.Mechanism.from_dh([{"a": reach, "mass": 1.0, "inertia": (1, 1, 1)}], "standard")
    np.testing.assert_allclose(arm.pose("tool", [0.0], params={"reach": 0.8})[:3, 3], (0.8, 0, 0))


@pytest.mark.parametrize(
    ("rows", "convention", "told"),
    [
        ([{"alpha": 0}], None, "convention: found None; expected 'standard'"),
        ([{"alpha": 0}], "craig", "convention: found 'craig'"),
        ([{"alpha": 0}, {"alfa": 0}], "modified", r"row 2.*alfa.*did you mean 'alpha'"),
        ([(0, 0, 0, 0)], "modified", "row 1.*Name the numbers"),
        ([], "modified", "rows: found none"),
        (
            [{"type": "spherical"}],
            "modified",
            "row 1.*type: found 'spherical'; expected revolute or prismatic",
        ),
        ([{"alpha": art.Parameter("twist", 0.1)}], "modified", "row 1.*alpha.*a plain number"),
        ([{"a": "long"}], "standard", r"row 1.*DHRow\.a"),
    ],
)
def test_wrong_rows_are_told_with_their_number(rows: list, convention: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        art.Mechanism.from_dh(rows, convention)


def with_joint(joint: art.Joint) -> art.Mechanism:
    m = art.Mechanism("arm").body("a", 1.0, inertia=(1, 1, 1)).body("b", 1.0, inertia=(1, 1, 1))
    return m.joint("first", art.Revolute(axis=(0, 0, 1)), "ground", "a").joint("second", joint, "a", "b")


def test_mechanisms_without_a_table_are_refused_with_the_joint() -> None:
    with pytest.raises(ModelError, match="joint 'second': found type spherical"):
        with_joint(art.Spherical()).to_dh()
    branch = with_joint(art.Revolute(axis=(1, 0, 0))).body("c", 1.0, inertia=(1, 1, 1))
    branch.joint("third", art.Revolute(axis=(0, 0, 1)), "a", "c")
    with pytest.raises(ModelError, match="joint 'third': found parent 'a'; expected 'b'"):
        branch.to_dh()
    with pytest.raises(ModelError, match="closed or coupled"):
        art.load("n_four_bar", n=1).to_dh()
    with pytest.raises(ModelError, match="flexible"):
        art.load("king_arm").to_dh()
    with pytest.raises(InputError, match="no body or frame 'tol'; did you mean 'tool'"):
        art.load("puma600").to_dh(tip="tol")
    with pytest.raises(
        InputError, match="it moves with 'link1'; expected a body or frame on the last link 'link6'"
    ):
        art.load("puma600").to_dh(tip="link1")


def test_a_table_prints_its_four_columns() -> None:
    text = str(
        art.Mechanism.from_dh(
            [DHRow(alpha=math.pi / 2, d=0.089, mass=1.0, inertia=(1, 1, 1))], "standard"
        ).to_dh()
    )
    assert "alpha [deg]" in text
    assert "joint1" in text


FILE = """
schema = 1
name = "arm"
[body.upper]
mass = 2
inertia = [1, 1, 1]
[body.lower]
mass = 1
inertia = [1, 1, 1]
[joint.shoulder]
type = "revolute"
parent = "ground"
child = "upper"
dh = {convention = "standard", d = "400 mm", alpha = "90 deg"}
[joint.elbow]
type = "prismatic"
parent = "upper"
child = "lower"
dh = {convention = "standard", a = 0.3, theta = "10 deg"}
"""


def test_a_file_places_joints_by_their_rows() -> None:
    rows = [
        {"d": 0.4, "alpha": math.pi / 2, "mass": 2.0, "inertia": (1, 1, 1)},
        {"a": 0.3, "theta": math.radians(10), "type": "prismatic", "mass": 1.0, "inertia": (1, 1, 1)},
    ]
    built, read = art.Mechanism.from_dh(rows, "standard"), art.Mechanism.from_description(parse_toml(FILE))
    q = np.array([0.3, -0.2])
    np.testing.assert_allclose(read.pose("lower", q), built.pose("link2", q), atol=1e-15)
    np.testing.assert_allclose(read.mass_matrix(q), built.mass_matrix(q), atol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('convention = "standard", d', "d", r"joint\.shoulder\.dh: found no convention"),
        ('"standard", d', '"paul", d', r"joint\.shoulder\.dh.*found 'paul'"),
        ("alpha =", "alfa =", "unknown key 'alfa'.*did you mean 'alpha'"),
        ('"90 deg"', '"90 mm"', r"joint\.shoulder\.dh\.alpha"),
        ('type = "prismatic"', 'type = "spherical"', "`dh` of a spherical joint"),
        ('child = "upper"', 'child = "upper"\nat = [0, 0, 1]', "`dh` beside `at`"),
        ("dh = {convention", "dh = 3 # {convention", r"joint\.shoulder\.dh: found 3; expected a table"),
    ],
)
def test_wrong_rows_of_a_file_are_told_with_their_joint(old: str, new: str, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        parse_toml(FILE.replace(old, new, 1))
