"""Doubtful findings: counted in one warning, kept on the mechanism, without part in equality and fingerprint."""

import dataclasses
import warnings

import pytest

import articulus as art
from articulus.errors import DoubtfulModel, Finding, ModelError
from articulus.model.files.findings import announce, count_kinds
from articulus.model.mechanism import Body, Connection, Description, Revolute

INERTIA = Finding("arm.urdf:3: link.a.inertia", "1, 2, 9", "moments of a body", kind="doubtful inertia")
MESH = Finding("arm.urdf:7: link.a.mesh", "no file", "a file", kind="mesh")


def pendulum(findings: tuple[Finding, ...] = ()) -> Description:
    body = Body("rod", 1.0, (0.0, 0.0, -0.5), (0.1, 0.1, 0.01, 0.0, 0.0, 0.0))
    hinge = Connection("hinge", Revolute((0.0, 1.0, 0.0)), "ground", "rod")
    return Description.build("pendulum", (body,), (hinge,), findings=findings)


def test_kinds_are_counted_in_the_plural() -> None:
    assert count_kinds([INERTIA, MESH, INERTIA]) == "2 doubtful inertias, 1 mesh"
    assert count_kinds([MESH, MESH]) == "2 meshes"
    assert count_kinds([Finding("a", "b", "c", kind="ignored body")] * 2) == "2 ignored bodies"
    assert count_kinds([Finding("a", "b", "c")]) == "1 finding"


def test_one_warning_for_all_of_them_at_the_place_of_the_call() -> None:
    with pytest.warns(DoubtfulModel, match=r"arm\.urdf: 1 doubtful inertia, 1 mesh: see") as caught:
        announce([INERTIA, MESH], "arm.urdf", strict=False)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_no_findings_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        announce([], "arm.urdf", strict=False)
        announce([], "arm.urdf", strict=True)


def test_strict_refuses_all_but_pictures() -> None:
    with pytest.raises(ModelError) as caught:
        announce([INERTIA, MESH, INERTIA], "arm.urdf", strict=True)
    assert caught.value.findings == (INERTIA, INERTIA)
    with pytest.warns(DoubtfulModel, match="1 mesh"):
        announce([MESH], "arm.urdf", strict=True)


def test_findings_stay_with_the_mechanism_and_out_of_the_equations() -> None:
    plain, marked = pendulum(), pendulum((INERTIA,))
    assert plain == marked
    assert plain.fingerprint == marked.fingerprint
    arm = art.Mechanism.from_description(marked)
    assert arm.findings == (INERTIA,)
    assert arm.frame("tip", "rod").findings == (INERTIA,)  # building on does not lose them
    assert dataclasses.replace(marked, name="other").findings == (INERTIA,)
