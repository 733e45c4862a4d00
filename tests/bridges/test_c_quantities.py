"""C source of quantities: the same numbers as in Python, for every kind of mechanism, whatever form its code has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.bridges.compiling import needs_gcc, run

import articulus as art
from articulus.bridges.c import export_quantities
from articulus.bridges.c.module import REALS, distinct


def exported(mechanism: art.Mechanism, asked: list[str], folder: Path, *options: str, **given: str) -> str:
    """Export, compile, run the test program; return what it prints."""
    paths = export_quantities(mechanism, asked, folder, name="m", **given)
    assert [p.name for p in paths] == ["m.h", "m.c", "Makefile", "test_m.c"]
    return run([folder / "m.c", folder / "test_m.c"], folder / "test", *options)


def with_parameters() -> art.Mechanism:
    arm = art.Mechanism("arm")
    arm.body("a", mass=art.Parameter("mass_a", 2.0), com=(0.1, 0.0, 0.0), inertia=(0.1, 0.2, 0.3))
    arm.body("b", mass=1.0, com=(0.2, 0.0, 0.1), inertia=(0.1, 0.2, 0.3))
    arm.joint("one", art.Revolute((0, 1, 0)), "ground", "a", damping=art.Parameter("damping", 0.3))
    arm.joint("two", art.Spherical(), "a", "b", at=art.Pose((0.5, 0.0, 0.0)))
    return arm


MECHANISMS = {
    "rigid": (lambda: art.load("rrc7"), ["forward_dynamics", "inverse_dynamics", "mass_matrix", "energy"]),
    "flexible": (lambda: art.load("king_arm"), ["forward_dynamics", "mass_matrix"]),
    "closed": (lambda: art.load("n_four_bar", n=2), ["closed_dynamics", "constraint_residual"]),
    "parameters": (with_parameters, ["forward_dynamics@b", "pose:b", "derivatives", "parameter_derivatives"]),
    "calls": (lambda: art.load("pendulum_chain", n=40), ["forward_dynamics", "inverse_dynamics"]),
    "one joint": (lambda: art.load("pendulum_chain", n=1), ["forward_dynamics", "jacobian:tip"]),
}


@needs_gcc
@pytest.mark.parametrize("name", MECHANISMS)
def test_compiled_under_sanitizers_it_has_the_numbers_of_python(name: str, tmp_path: Path) -> None:
    make, asked = MECHANISMS[name]
    assert exported(make(), asked, tmp_path).endswith("all results agree\n")


@needs_gcc
def test_the_test_program_fails_where_a_number_differs(tmp_path: Path) -> None:
    """One that cannot fail would prove nothing."""
    export_quantities(art.load("two_link"), ["bias"], tmp_path, name="m")
    text = (tmp_path / "m.c").read_text()
    assert "copy(2, q, w + 0);" in text
    (tmp_path / "m.c").write_text(text.replace("copy(2, q, w + 0);", "copy(2, q, w + 2);"))
    with pytest.raises(AssertionError, match="results differ"):
        run([tmp_path / "m.c", tmp_path / "test_m.c"], tmp_path / "test")


@needs_gcc
def test_single_precision(tmp_path: Path) -> None:
    found = exported(art.load("rrc7"), ["inverse_dynamics", "pose:tool"], tmp_path, "-O2", real="float")
    assert found.endswith("all results agree\n")
    text = (tmp_path / "m.c").read_text()
    assert "double" not in text
    assert "sinf(" in text


@needs_gcc
def test_make_test(tmp_path: Path) -> None:
    export_quantities(art.load("two_link"), ["forward_dynamics"], tmp_path, name="m")
    done = subprocess.run(["make", "-C", tmp_path, "test"], capture_output=True, text=True, check=True)
    assert "all results agree" in done.stdout
    assert "warning" not in done.stderr


def test_long_chains_grow_linearly(tmp_path: Path) -> None:
    """The bar: a hundred revolutes in at most 1 MB of source."""
    sizes = []
    for n in (50, 100):
        export_quantities(art.load("pendulum_chain", n=n), ["forward_dynamics"], tmp_path, name="m")
        sizes.append((tmp_path / "m.c").stat().st_size)
    assert sizes[1] < 1_000_000
    assert sizes[1] < 2.2 * sizes[0]


def test_header_has_names_units_and_sizes(tmp_path: Path) -> None:
    export_quantities(with_parameters(), ["forward_dynamics"], tmp_path, name="m")
    header = (tmp_path / "m.h").read_text()
    assert "double mass_a; /* mass_a" in header
    assert "one [rad/s^2]" in header
    assert "void m_forward_dynamics(const m_parameters *p, const double q[5]" in header
    assert "bytes of stack" in header


@pytest.mark.parametrize(
    ("asked", "given", "text"),
    [
        (["forward_dynamic"], {}, "did you mean 'forward_dynamics'"),
        (["pose:nowhere"], {}, "nowhere"),
        (["pose"], {}, "about 1 frame"),
        (["mass_matrix@link1"], {}, "takes no external wrenches"),
        ([], {}, "found no quantity"),
        (["bias"], {"real": "half"}, "'double' or 'float'"),
        (["bias"], {"name": "2 arms"}, "letters, digits and underscores"),
        ([3], {}, "expected the name of a quantity"),
    ],
)
def test_bad_input(asked: list, given: dict, text: str, tmp_path: Path) -> None:
    with pytest.raises(art.ArticulusError, match=text):
        export_quantities(art.load("pendulum_chain", n=2), asked, tmp_path, **given)
    assert not list(tmp_path.iterdir())


def test_closed_mechanisms_are_told_what_to_ask_instead(tmp_path: Path) -> None:
    with pytest.raises(art.InputError, match="closed_dynamics"):
        export_quantities(art.load("n_four_bar", n=2), ["forward_dynamics"], tmp_path)


def test_names() -> None:
    assert distinct(["a b", "a-b", "2x", "double", "é"]) == ("a_b", "a_b_1", "n2x", "double_", "x")
    assert np.isfinite(list(REALS.values())).all()
