"""Places where formulas change or may break: parallel axes, massless bodies, nothing that moves, big numbers."""

from __future__ import annotations

import numpy as np
import pytest
from reference import Reference

import articulus as art
import zoo
from laws import LAWS, close
from selection import in_turn
from zoo import ask

CHEAP = [
    law
    for law in LAWS
    if law.__name__
    in (
        "forward_undoes_inverse",
        "mass_matrix_is_symmetric_positive_definite",
        "factors_make_the_mass_matrix",
        "derivatives_are_differences",
        "every_body_obeys_newton_and_euler",
    )
]


def chain(*joints, at=(0.1, 0.2, 0.3), masses=None):
    m = art.Mechanism("chain")
    for i, joint in enumerate(joints):
        massless = masses is not None and not masses[i]
        if massless:
            m.body(f"b{i}", massless="an intermediate frame")
        else:
            m.body(f"b{i}", 1.0 + i, (0.1, -0.2, 0.3), (0.2, 0.3, 0.25, 0.01, -0.02, 0.03))
        m.joint(f"j{i}", joint, f"b{i - 1}" if i else "ground", f"b{i}", at=None if i == 0 else at)
    for name in ("tool", "camera"):
        m.frame(name, f"b{len(joints) - 1}", at=(0, 0.1, 0.2))
    return m.frame("bench", "ground")


@pytest.mark.parametrize(
    ("kind", "sine", "sign"),
    [
        pytest.param(kind, sine, sign, id=f"{kind.__name__}-{sine}-{sign}")
        for turn, sine in enumerate((0.0, 1e-15, 5e-13, 2e-12, 1e-9, 1e-4, 0.0499, 0.0501, 0.3))
        for sign in (1, -1)
        for kind in in_turn((art.Revolute, art.Prismatic, art.Cylindrical), turn + sign)
    ],
)
def test_nearly_parallel_axes(kind, sine, sign):
    """Working frames are chosen by the angle between axes; the dynamics must not notice where the choice changes."""
    tilted = (np.sin(np.arcsin(sine)), 0.0, sign * np.cos(np.arcsin(sine)))
    m = chain(
        art.Revolute(), kind(tilted), art.Revolute((0, 1, 0)), art.Revolute((0, sine, np.sqrt(1 - sine**2)))
    )
    s = zoo.random_state(m, 61)
    reference = Reference(m)
    # 2e-12: below a sine of 1e-12 two axes are taken as parallel, which moves bodies by that much
    close(ask(m, "inverse_dynamics", s.q, s.v, s.vdot), reference.inverse_dynamics(s.q, s.v, s.vdot), 2e-12)
    pose = reference.motion(s.q, s.v, s.vdot)[0]["tool"]
    close(ask(m, "pose", s.q, frames=("tool",))[:3, 3], pose.p, 2e-12)


@pytest.mark.parametrize("offset", [0.0, 1e-14, 1e-9, 1.0])
def test_coaxial_joints(offset):
    """Two hinges on one line, and nearly on one line."""
    m = chain(
        art.Revolute(),
        art.Revolute(),
        art.Helical((0, 0, 1), 0.2),
        art.Revolute((0, 1, 0)),
        at=(offset, 0, 0.5),
    )
    s = zoo.random_state(m, 62)
    close(
        ask(m, "inverse_dynamics", s.q, s.v, s.vdot), Reference(m).inverse_dynamics(s.q, s.v, s.vdot), 1e-12
    )


@pytest.mark.parametrize("law", CHEAP, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    ("joints", "masses"),
    [
        ([art.Revolute((1, 0, 0)), art.Revolute((0, 1, 0))], [0, 1]),
        ([art.Revolute((1, 0, 0)), art.Revolute((0, 1, 0)), art.Revolute()], [0, 0, 1]),
        (
            [art.Prismatic((1, 0, 0)), art.Prismatic((0, 1, 0)), art.Prismatic(), art.Spherical()],
            [0, 0, 0, 1],
        ),
        ([art.Free(), art.Fixed(), art.Revolute()], [1, 0, 1]),
    ],
    ids=["cross", "wrist", "gantry", "adapter"],
)
def test_laws_with_massless_bodies(joints, masses, law):
    m = chain(*joints, masses=masses, at=(0.0, 0.0, 0.0) if len(joints) < 4 else (0.1, 0.2, 0.3))
    law(m, zoo.random_state(m, 63))


def test_universal_is_two_hinges_with_a_massless_cross_between_them():
    m = chain(art.Universal((1, 0, 0), (0, 1, 0)))
    two = art.Mechanism("two").body("cross", massless="the cross")
    two.body("b0", 1.0, (0.1, -0.2, 0.3), (0.2, 0.3, 0.25, 0.01, -0.02, 0.03))
    two.joint("first", art.Revolute((1, 0, 0)), "ground", "cross")
    two.joint("second", art.Revolute((0, 1, 0)), "cross", "b0")
    s = zoo.random_state(m, 64)
    close(ask(m, "forward_dynamics", s.q, s.v, s.tau), ask(two, "forward_dynamics", s.q, s.v, s.tau), 1e-13)


@pytest.mark.parametrize(
    ("joint", "parts"),
    [
        (art.Planar(), [art.Prismatic((1, 0, 0)), art.Prismatic((0, 1, 0)), art.Revolute()]),
        (art.Cylindrical((0, 1, 0)), [art.Revolute((0, 1, 0)), art.Prismatic((0, 1, 0))]),
    ],
    ids=["planar", "cylindrical"],
)
def test_joint_is_its_parts_with_massless_bodies_between_them(joint, parts):
    whole, split = chain(joint), art.Mechanism("split")
    for i, part in enumerate(parts[:-1]):
        split.body(f"m{i}", massless="part of a joint")
        split.joint(f"p{i}", part, f"m{i - 1}" if i else "ground", f"m{i}")
    split.body("end", 1.0, (0.1, -0.2, 0.3), (0.2, 0.3, 0.25, 0.01, -0.02, 0.03))
    split.joint("last", parts[-1], f"m{len(parts) - 2}", "end")
    s = zoo.random_state(whole, 65)
    close(
        ask(whole, "forward_dynamics", s.q, s.v, s.tau),
        ask(split, "forward_dynamics", s.q, s.v, s.tau),
        1e-13,
    )


def test_quaternion_of_any_norm_is_the_same_rotation():
    m = zoo.get("balls")
    s = zoo.random_state(m, 66)
    q = s.q.copy()
    q[:4] *= 1.7
    close(ask(m, "forward_dynamics", q, s.v, s.tau), ask(m, "forward_dynamics", s.q, s.v, s.tau), 1e-12)
    q[:4] = -s.q[:4]
    close(ask(m, "forward_dynamics", q, s.v, s.tau), ask(m, "forward_dynamics", s.q, s.v, s.tau), 1e-12)


def test_ill_conditioned_mechanism():
    """A heavy body at the end of a feather: cond(M) about 1e8, and forward still undoes inverse to that measure."""
    m = art.Mechanism("whip")
    for i, mass in enumerate((1e-4, 1e-2, 1e2)):
        m.body(f"b{i}", mass, (0.1, 0, 0), (1e-3 * mass,) * 3)
        m.joint(
            f"j{i}",
            art.Revolute((0, 1, 0)),
            f"b{i - 1}" if i else "ground",
            f"b{i}",
            at=(0.5 if i else 0, 0, 0),
        )
    s = zoo.random_state(m, 67)
    M = ask(m, "mass_matrix", s.q)
    tau = ask(m, "inverse_dynamics", s.q, s.v, s.vdot)
    found = ask(m, "forward_dynamics", s.q, s.v, tau)
    # backward stable: the error of a solution is at most a few roundings times cond(M)
    assert (
        np.abs(found - s.vdot).max() <= 100 * np.finfo(float).eps * np.linalg.cond(M) * np.abs(s.vdot).max()
    )


def test_position_of_one_coordinate_and_a_fixed_joint():
    m = chain(art.Revolute(), art.Fixed())
    assert ask(m, "integrate_position", [0.1], [0.2]).shape == (1,)
    assert ask(m, "position_rate", [0.1], [0.2]).shape == (1,)


def test_mechanism_without_dof():
    m = chain(art.Fixed(), art.Fixed())
    nothing = np.zeros(0)
    assert m.nq == m.nv == 0
    assert ask(m, "forward_dynamics", nothing, nothing, nothing).shape == (0,)
    assert ask(m, "mass_matrix", nothing).shape == (0, 0)
    close(ask(m, "pose", nothing, frames=("b1",))[:3, 3], [0.1, 0.2, 0.3])
    weights = ask(m, "reactions", nothing, nothing, nothing)
    close(weights[:, 5], [3 * 9.81, 2 * 9.81])
