"""Somebody's unit in a loop: here one of ours, a filter driven by an angle, compared with the same thing in components."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.bridges.compiling import needs_gcc

import articulus as art
from articulus.bridges.fmi import export_fmu, with_fmu

pytest.importorskip("fmpy")

PERIOD = 0.01


def pendulum() -> art.Mechanism:
    arm = art.Mechanism("pendulum")
    arm.body("rod", mass=1.0, com=(0.3, 0.0, 0.0), inertia=(0.05, 0.05, 0.05))
    arm.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod", damping=0.1)
    return arm


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pendulum as units of both versions: driven by a torque it answers with an angle."""
    folder = tmp_path_factory.mktemp("units")
    return {
        v: export_fmu(art.Loop(pendulum()), folder / f"unit{v[0]}.fmu", version=v, outputs=())
        for v in ("2.0", "3.0")
    }


def coupled(path: Path, **given: object) -> art.Loop:
    """A second pendulum, driven by the angle of the unit, whose torque is the own angle."""
    return with_fmu(
        art.Loop(pendulum()), path, inputs={"command.hinge": "tau.hinge"}, commands={"hinge": "q.hinge"}, period=PERIOD, **given,  # type: ignore[arg-type]
    )  # fmt: skip


@needs_gcc
@pytest.mark.parametrize(("version", "own_process"), [("2.0", False), ("3.0", False), ("3.0", True)])
def test_the_unit_drives_the_loop(version: str, own_process: bool, units: dict[str, Path]) -> None:
    """The unit falls from rest; its angle is the command of the loop at every instant."""
    loop = with_fmu(
        art.Loop(pendulum()), units[version], inputs={}, commands={"hinge": "q.hinge"}, period=PERIOD, trust=True,
        own_process=own_process,
    )  # fmt: skip
    run = loop.simulate(0.3, sample=PERIOD)
    alone = art.Loop(pendulum()).simulate(0.3, sample=PERIOD)["q.hinge"]
    assert np.abs(alone).max() > 0.1
    assert np.ravel(run["u"]) == pytest.approx(alone, abs=1e-12)
    if not own_process:
        assert np.array_equal(loop.simulate(0.3, sample=PERIOD).q, run.q)


@needs_gcc
def test_every_row_of_a_rollout_has_its_own(units: dict[str, Path]) -> None:
    loop = with_fmu(
        art.Loop(pendulum()), units["3.0"], inputs={"command.hinge": "tau.hinge"}, commands={"hinge": "v.hinge"}, period=PERIOD, trust=True,
    )  # fmt: skip
    many = loop.rollout(0.1, np.array([[0.1], [0.5]]))
    for row, q0 in enumerate((0.1, 0.5)):
        one = loop.simulate(0.1, [q0], sample=0.1)
        assert many.q[row, -1] == pytest.approx(one.q[-1], abs=1e-12)


@needs_gcc
def test_nothing_runs_that_is_not_trusted(units: dict[str, Path]) -> None:
    with pytest.raises(art.InputError, match="native code"):
        coupled(units["3.0"])
    with pytest.raises(art.InputError, match="native code"):
        coupled(units["3.0"], trust="yes")


@needs_gcc
def test_names_units_and_files(units: dict[str, Path], tmp_path: Path) -> None:
    def refused(match: str, path: Path = units["3.0"], **given: object) -> None:
        whole = {"inputs": {}, "commands": {"hinge": "q.hinge"}, "period": PERIOD, "trust": True} | given
        with pytest.raises(art.InputError, match=match):
            with_fmu(art.Loop(pendulum()), path, **whole)  # type: ignore[arg-type]

    refused("no input 'torque'", inputs={"torque": "q.hinge"})
    refused("did you mean 'q.hinge'", inputs={"command.hinge": "q.hing"})
    refused("is in N m, the signal 'q.hinge' in rad", inputs={"command.hinge": "q.hinge"})
    refused("nothing commands 'elbow'", commands={"elbow": "q.hinge"})
    refused("no output 'angle'", commands={"hinge": "angle"})
    refused("no parameter 'mass'", start={"mass": 1.0})
    refused("positive time", period=0.0)
    refused("no such file", tmp_path / "none.fmu")
    bad = tmp_path / "bad.fmu"
    bad.write_bytes(b"no archive")
    refused("cannot be read", bad)


@needs_gcc
@pytest.mark.parametrize("own_process", [True])
def test_a_unit_that_crashes_ends_its_own_process(
    own_process: bool, units: dict[str, Path], tmp_path: Path
) -> None:
    """The library of a unit is replaced by one that aborts at its first step."""
    with zipfile.ZipFile(units["3.0"]) as archive:
        archive.extractall(tmp_path / "unit")
    folder = tmp_path / "unit" / "sources"
    text = (folder / "common.h").read_text()
    (folder / "common.h").write_text(
        text.replace(
            "static int do_step(instance *i, double from, double length)\n{",
            "static int do_step(instance *i, double from, double length)\n{\n    abort();",
        )
    )
    library = next((tmp_path / "unit" / "binaries").rglob("*.so"))
    command = ["gcc", "-std=c99", "-shared", "-fPIC", "-o", library, "model.c", "fmi3.c", "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    path = tmp_path / "crash.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        for each in (tmp_path / "unit").rglob("*"):
            if each.is_file():
                archive.write(each, each.relative_to(tmp_path / "unit"))
    loop = with_fmu(
        art.Loop(pendulum()),
        path,
        inputs={},
        commands={"hinge": "q.hinge"},
        period=PERIOD,
        trust=True,
        own_process=own_process,
    )
    with pytest.raises(art.NumericalError, match="ended its process at 'go'"):
        loop.simulate(0.1)
