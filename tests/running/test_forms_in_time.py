"""Every form of closed loops in a run, by name, against the default one and against laws."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import articulus as art
from articulus import structure
from articulus.cli import app
from articulus.dynamics.loops import FORMS, form
from articulus.errors import InputError, ModelError, UnsupportedOperation
from articulus.simulation.loop.events import Switch
from articulus.study import read_study, run_study
from closed_zoo import four_bar, skew_four_bar

NAMES = [f.name for f in FORMS if f.name != "multiple_chains"]
"""Forms for linkages; several chains on one body have their own tests (test_chains_in_time)."""
EXACT = (1e-10, 1e-9, 1e-7, 1e-14)
"""Bounds of the differences from the default form after half a second in steps of 1 ms: q [rad], v [rad/s], vdot
[rad/s^2], and of the position residuals [m]. Forms that add penalties of 1e6 masses to the masses round to 1e-10 of their
accelerations, up to 100 rad/s^2; the others differ by how they take RK4's error off the constraints back."""
BOUNDS = {
    # the error of RK4 is not taken back but damped, with 20 rad/s
    "baumgarte": (1e-8, 1e-7, 1e-5, 1e-9),
    "canonical": (1e-8, 1e-7, 1e-5, 1e-9),
    # rows give way by their acceleration, up to 40 m/s^2, over the stiffness per mass of 4e8 1/s^2: 1e-7 m
    "penalty": (2e-6, 1e-5, 1e-3, 1e-6),
    # the same with 1e10 1/s^2; rates vanish in the middle of a step, so that velocities at its ends are of order h^2 and
    # accelerations of order h
    "park": (1e-7, 1e-4, 0.1, 1e-7),
}


@dataclasses.dataclass(frozen=True)
class Linkage:
    mechanism: art.Mechanism
    q: np.ndarray
    v: np.ndarray


@functools.cache
def linkage(name: str) -> Linkage:
    if name == "spatial":
        m = skew_four_bar()
        found = art.assemble(m, np.array([0.5, 0.0, 0.0, 0.0]), np.array([3.0, 0.0, 0.0, 0.0]))
        return Linkage(m, found.q, found.v / found.v[0])
    if name == "rod":  # a planar four-bar whose coupler is a rod without mass: one row, independent
        m = four_bar()
        d = m.description
        bars = tuple(b for b in d.bodies if b.name != "coupler")
        pins = tuple(c for c in d.connections if c.child != "coupler")
        m = art.Mechanism.from_description(
            dataclasses.replace(d, bodies=bars, connections=pins, constraints=())
        )
        m.frame("crank_tip", "crank", (0, 0, 1))
        m.frame("rocker_tip", "rocker", (0, 0, 0.8))
        m.constrain(art.Distance("rod", "crank_tip", "rocker_tip", 1.1))
        found = art.assemble(m, np.array([3.0, 3.2]), np.array([2.0, 0.0]))
        return Linkage(m, found.q, found.v)
    way = np.array([1.0, -1.0, 1.0])  # five rows of rank two
    return Linkage(four_bar(), (np.pi + 0.1) * way, 2.0 * way)


def opening() -> Switch:
    """Return the event in which the ball of the spatial linkage lets go, at 0.2 s."""
    t = ca.SX.sym("t")
    return Switch(ca.Function("late", [t], [t - 0.2], ["t"], ["f"]), "ball", active=False, name="open")


def run(name: str, loops: str, **options: object) -> art.Run:
    at = linkage(name)
    given = {"step": 1e-3, "sample": 0.05, "q0": at.q, "v0": at.v, **options}
    return art.simulate(at.mechanism, 0.5, loops=loops, **given)


@functools.cache
def default(name: str) -> art.Run:
    return run(name, "regularized")


def test_the_names_are_those_of_the_documentation() -> None:
    assert FORMS[0].name == "regularized"
    assert {f.name for f in FORMS[1:]} == {
        "augmented", "canonical", "penalty", "lagrange", "null_space", "minimal", "operator", "absolute", "baumgarte", "park",
        "multiple_chains",
    }  # fmt: skip


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", ["rod", "spatial", "redundant"])
@pytest.mark.parametrize("loops", NAMES[1:])
def test_every_form_moves_the_linkage_alike(name: str, loops: str) -> None:
    expected, found = default(name), run(name, loops)
    position, velocity, acceleration, residual = BOUNDS.get(loops, EXACT)
    assert np.abs(found.q - expected.q).max() < position
    assert np.abs(found.v - expected.v).max() < velocity
    assert np.abs(found["vdot"] - expected["vdot"]).max() < acceleration
    assert found["constraint.position"].max() < residual
    assert np.abs(found["energy.balance"]).max() < 10 * position  # moves some 10 J per rad
    assert found.meta["settings"]["loops"] == loops
    assert f"loops                 {loops}" in found.summary()


@pytest.mark.parametrize("loops", NAMES)
def test_a_batch_over_a_parameter_is_its_runs(loops: str) -> None:
    """The equations are the same; only where the compiler contracts products may they round differently."""
    at = linkage("spatial")
    masses = np.array([1.0, 2.0, 3.5])
    given = {"step": 1e-3, "q0": at.q, "v0": at.v, "loops": loops}
    batch = art.rollout(at.mechanism, 0.1, params={"coupler_mass": masses}, **given)
    for k, mass in enumerate(masses):
        alone = art.simulate(at.mechanism, 0.1, params={"coupler_mass": mass}, **given)
        assert np.abs(batch.q[k, -1] - alone.q[-1]).max() < 1e-12
    again = alone.again({"coupler_mass": 1.0})
    assert again.meta["settings"]["loops"] == loops
    assert np.abs(again.q[-1] - batch.q[0, -1]).max() < 1e-12


@pytest.mark.parametrize(
    ("loops", "method", "tolerance"),
    [
        ("canonical", "dormand_prince", 1e-7),
        ("minimal", "dormand_prince", 1e-7),
        ("minimal", "rosenbrock", 1e-6),
        ("baumgarte", "rosenbrock", 1e-6),
        ("augmented", "cvodes", 1e-5),
        ("canonical", "lie_rk4", 1e-8),
        ("null_space", "ab4", 1e-7),
    ],
)
def test_forms_go_with_methods(loops: str, method: str, tolerance: float) -> None:
    """Against RK4 with the same form; tolerances: those of the method, 1e-9, summed up over its steps."""
    found = run("spatial", loops, method=method, step=1e-3, rtol=1e-9, atol=1e-11)
    assert np.abs(found.q - run("spatial", loops).q).max() < tolerance


@pytest.mark.parametrize("loops", [name for name in NAMES[1:] if not form(name).own])
def test_rows_that_are_switched_off_hold_no_more(loops: str) -> None:
    expected, found = (run("spatial", name, events=[opening()]) for name in ("regularized", loops))
    assert np.abs(found.q - expected.q).max() < BOUNDS.get(loops, EXACT)[0]
    assert np.abs(found["multipliers"][found.t > 0.201]).max() == 0.0
    assert np.abs(found.q[-1] - default("spatial").q[-1]).max() > 0.1


def test_a_run_goes_on_in_its_form(tmp_path) -> None:
    """A checkpoint of another form is refused."""
    kept = tmp_path / "run.checkpoint"
    first = run("spatial", "canonical", checkpoint=kept, checkpoint_interval=0.0, keep_checkpoint=True)
    with pytest.raises(InputError, match="loops"):
        run("spatial", "minimal", checkpoint=kept)
    np.testing.assert_array_equal(run("spatial", "canonical", checkpoint=kept).q, first.q)


def test_an_unknown_form_is_told_from_the_known_ones() -> None:
    with pytest.raises(InputError, match="no form 'minmal'; did you mean 'minimal'"):
        run("rod", "minmal")


@pytest.mark.parametrize(
    ("loops", "options", "reason"),
    [
        (
            "minimal",
            {"method": "generalized_alpha"},
            "'generalized_alpha', which keeps the constraints itself",
        ),
        ("park", {"method": "dormand_prince"}, "is for the methods rk4, lie_rk4; found 'dormand_prince'"),
        ("canonical", {"events": [opening()]}, "nothing of the event 'open'"),
    ],
)
def test_a_form_that_cannot_serve_says_why(loops: str, options: dict, reason: str) -> None:
    with pytest.raises(UnsupportedOperation, match=reason):
        run("spatial", loops, **options)


def test_mechanisms_that_a_form_cannot_serve() -> None:
    arm = art.Mechanism("arm").flexible(
        "beam", structure.beam_body(1.0, EI=50.0, mass_per_length=2.0, modes=2)
    )
    arm.joint("hinge", art.Revolute((0, 0, 1)), "ground", "beam", armature=0.1)
    arm.constrain(art.Prescribed("course", "hinge", 0.1))
    for loops, reason in (("operator", "rigid bodies; found flexible"), ("absolute", "at joint 'hinge'")):
        with pytest.raises(UnsupportedOperation, match=f"the form '{loops}' .*{reason}"):
            art.simulate(arm, 0.1, loops=loops)
    with pytest.raises(UnsupportedOperation, match=r"'minimal' .* 60 rows on 41 velocities"):
        art.simulate(art.load("n_four_bar", n=20), 0.1, loops="minimal")
    with pytest.raises(UnsupportedOperation, match="linear: the form 'canonical' has further states"):
        run("spatial", "canonical").linearize()


@pytest.mark.parametrize("loops", ["canonical", "minimal", "baumgarte", "park", "augmented"])
def test_flexible_bodies_and_a_motion_in_time(loops: str) -> None:
    """A flexible arm whose hinge is led on a course; what the course puts in is what is stored and lost."""
    t = ca.SX.sym("t")
    course = ca.Function("course", [t], [0.2 * (1 - ca.cos(3 * t))])
    arm = art.Mechanism("arm").flexible(
        "beam", structure.beam_body(1.0, EI=50.0, mass_per_length=2.0, modes=2)
    )
    arm.joint("hinge", art.Revolute((0, 0, 1)), "ground", "beam", damping=0.1)
    arm.constrain(art.Prescribed("course", "hinge", course))
    expected, found = (
        art.simulate(arm, 0.5, step=2.5e-4, sample=0.05, loops=name) for name in ("regularized", loops)
    )
    assert np.abs(found.q - expected.q).max() < 1e-7
    assert np.abs(found["energy.balance"]).max() < 1e-6 < expected["energy.input"][-1]


@pytest.mark.parametrize("loops", ["canonical", "minimal", "null_space", "operator", "baumgarte", "absolute"])
def test_rows_on_velocities(loops: str) -> None:
    """A body with a blade: no velocity along its own y, while its position is free."""
    body = art.Mechanism("skate").body("skate", 1.0, (0, 0, 0), (0.3, 0.3, 0.5))
    body.joint("flight", art.Free(), "ground", "skate")
    q, v, t = ca.SX.sym("q", 7), ca.SX.sym("v", 6), ca.SX.sym("t")
    knife = ca.Function("knife", [q, v, t], [v[4]])
    body.constrain(art.CustomVelocityConstraint("blade", knife))
    start = {"q0": np.array([1.0, 0, 0, 0, 0, 0, 0]), "v0": np.array([0.3, 0.1, 2.0, 1.0, 0.0, 0.2])}
    expected, found = (
        art.simulate(body, 0.5, sample=0.05, loops=name, **start) for name in ("regularized", loops)
    )
    assert np.abs(found.q - expected.q).max() < 1e-8
    assert found["constraint.velocity"].max() < 1e-8
    assert np.abs(found["energy.balance"]).max() < 1e-7


def test_a_study_and_the_command_line_choose_the_form(tmp_path: Path) -> None:
    (tmp_path / "bar.toml").write_text(
        "schema = 1\n[study]\nname = 'bar'\nmodel = 'n_four_bar'\noptions = {n = 1}\n"
        "[run]\nt_end = 0.1\nloops = 'minimal'\n[initial]\nv = {hinge0 = 1, knee1 = -1, hinge1 = 1}\n"
    )
    study = read_study(tmp_path / "bar.toml")
    assert run_study(study, tmp_path, report=False).run.meta["settings"]["loops"] == "minimal"
    shown = CliRunner().invoke(
        app, ["run", str(tmp_path / "bar.toml"), "--no-report", "--loops", "augmented"]
    )
    assert shown.exit_code == 0
    assert "augmented" in shown.stdout
    (tmp_path / "bar.toml").write_text((tmp_path / "bar.toml").read_text().replace("minimal", "minmal"))
    with pytest.raises(ModelError, match=r"run\.loops.*'minmal'.*did you mean 'minimal'"):
        read_study(tmp_path / "bar.toml")
