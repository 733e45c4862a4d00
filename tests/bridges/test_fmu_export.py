"""Loops as functional mock-up units, in the hands of FMPy: valid, the run of `simulate`, and never a crash."""

from __future__ import annotations

import ctypes
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.bridges.compiling import needs_gcc

import articulus as art
from articulus.bridges.fmi import export_fmu
from articulus.cases.cat215b_hydraulics.machine import STEP
from articulus.model.library.cat215b_drives import START, actuators
from articulus.simulation.loop import components, contact

fmpy = pytest.importorskip("fmpy")
fmi3 = pytest.importorskip("fmpy.fmi3")
validation = pytest.importorskip("fmpy.validation")


def robot() -> art.Loop:
    return art.Loop(art.load("puma600"), components=[components.ComputedTorque(kp=36, kd=12, period=0.002)])


def swinging() -> tuple[np.ndarray, np.ndarray]:
    linkage = art.load("n_four_bar", n=1)
    found = art.assemble(linkage, linkage.neutral, np.array([1.0, 0.0, 0.0]))
    return found.q, found.v


def excavator() -> art.Loop:
    return art.Loop(art.load("cat215b"), components=actuators())


LOOPS = {
    "robot with a sampled controller": (robot, lambda: ([0.1] * 6, None), 1e-3, 0.1),
    "four-bar": (lambda: art.Loop(art.load("n_four_bar", n=1)), swinging, 1e-3, 0.1),
    "flexible arm": (lambda: art.Loop(art.load("king_arm")), lambda: (None, None), 1e-3, 0.1),
    "excavator with hydraulics": (excavator, lambda: (START, None), STEP / 10, 0.1),
}


def simulated(path: Path, stop: float, interval: float, **given: object) -> np.ndarray:
    return fmpy.simulate_fmu(str(path), stop_time=stop, output_interval=interval, **given)


@needs_gcc
@pytest.mark.in_turn(2)
@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_valid_unit_with_the_run_of_simulate(name: str, version: str, tmp_path: Path) -> None:
    """1e-9 of the largest value of a signal: the two differ by rounding alone (fused multiply-add)."""
    make, start, step, stop = LOOPS[name]
    loop, state = make(), start()
    path = loop.export_fmu(tmp_path / "loop.fmu", *state, version=version, step=step)
    assert validation.validate_fmu(str(path)) == []
    found = simulated(path, stop, step, fmi_type="CoSimulation")
    run = loop.simulate(stop, *state, step=step)
    assert found["time"] == pytest.approx(run.t, abs=1e-12)
    for signal in ("q", "v", "energy", "u"):
        columns = run.signals[signal].columns[: 4 if signal == "energy" else None]
        size = np.abs(run.signals[signal].values).max() or 1.0
        for k, column in enumerate(columns):
            off = np.abs(found[column] - run.signals[signal].values[:, k]).max()
            assert off <= 1e-9 * size, column


@needs_gcc
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_model_exchange_with_the_importers_integrator(version: str, tmp_path: Path) -> None:
    """CVODE with 1e-9 against RK4 at 1 ms: their errors, not the model's."""
    loop = robot()
    path = loop.export_fmu(tmp_path / "loop.fmu", [0.1] * 6, version=version)
    found = simulated(path, 0.1, 1e-3, fmi_type="ModelExchange", relative_tolerance=1e-9)
    run = loop.simulate(0.1, [0.1] * 6)
    expected = np.interp(found["time"], run.t, run["q.joint2"])
    assert np.abs(found["q.joint2"] - expected).max() < 1e-7
    assert np.ptp(run["q.joint2"]) > 1e-4


@needs_gcc
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_gaps_are_event_indicators(version: str, tmp_path: Path) -> None:
    """A ball that falls on a plane and a joint with a stop: two gaps with the signs of what touches; FMPy's integrator stops where they change."""
    ball = art.Mechanism("ball")
    ball.body("ball", 1.0, inertia=(0.01, 0.01, 0.01))
    ball.joint("fall", art.Prismatic((0, 0, 1)), "ground", "ball")
    floor = components.Contact(
        contact.Sphere("ball", 0.1), contact.Plane(), 1e5, dissipation=0.5, friction=0.0
    )
    stop = components.JointStop("fall", 1e4, 10.0, upper=0.5)
    loop = art.Loop(ball, components=[floor, stop])
    path = loop.export_fmu(tmp_path / "ball.fmu", [0.3], version=version, step=1e-4)
    assert validation.validate_fmu(str(path)) == []
    described = fmpy.read_model_description(str(path))
    assert described.numberOfEventIndicators == len(described.eventIndicators or []) or version == "2.0"
    names = [v.name for v in described.modelVariables if v.name.startswith("gap.")]
    assert len(names) == 2
    if version == "2.0":
        assert described.numberOfEventIndicators == 2
    found = simulated(
        path, 0.5, 1e-3, fmi_type="ModelExchange", relative_tolerance=1e-8, output=["q.fall", *names]
    )
    run = loop.simulate(0.5, [0.3], step=1e-5, method="rk4")
    assert np.abs(found["q.fall"] - np.interp(found["time"], run.t, run["q.fall"])).max() < 1e-5
    on_floor = next(n for n in names if abs(found[n][0] - 0.2) < 1e-9)
    assert np.allclose(found[on_floor], found["q.fall"] - 0.1, atol=1e-12)
    steps = np.diff(found["time"])
    assert (np.sign(found[on_floor]) < 0).any()
    assert steps.min() < 9e-4  # a sample of its own where it touched


@needs_gcc
def test_inputs_parameters_and_start_values(tmp_path: Path) -> None:
    arm = art.Mechanism("arm")
    arm.body("link", mass=art.Parameter("load", 2.0), com=(0.3, 0.0, 0.0), inertia=(0.1, 0.2, 0.3))
    arm.joint("hinge", art.Revolute((0, 1, 0)), "ground", "link")
    path = export_fmu(art.Loop(arm), tmp_path / "arm.fmu", wrenches=["link"])
    given = {"load": 5.0, "command.hinge": 0.4, "external.link.fz": -2.0}
    found = simulated(path, 0.2, 1e-3, start_values=given)
    pushed = art.Loop(
        arm,
        components=[
            components.PrescribedCommand("hinge", 0.4),
            components.FrameWrench("link", (0.0, 0.0, 0.0, 0.0, 0.0, -2.0)),
        ],
    )
    expected = pushed.simulate(0.2, params={"load": 5.0})["q.hinge"]
    assert np.abs(expected).max() > 0.01
    assert found["q.hinge"] == pytest.approx(expected, rel=0, abs=1e-9 * np.abs(expected).max())
    described = {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}
    assert (described["external.link.fz"].unit, described["command.hinge"].unit) == ("N", "N m")
    assert (described["load"].start, described["q.hinge"].unit) == ("2.0", "rad")


class Unit:
    """An FMU of version 3.0 instantiated for co-simulation, with the messages that it sent."""

    def __init__(self, path: Path, folder: Path):
        fmpy.extract(str(path), str(folder))
        described = fmpy.read_model_description(str(path))
        self.references = {v.name: v.valueReference for v in described.modelVariables}
        self.fmu = fmi3.FMU3Slave(
            guid=described.guid, unzipDirectory=str(folder), modelIdentifier="loop", instanceName="one"
        )
        self.messages = list[str]()
        self.log = fmi3.fmi3LogMessageCallback(lambda *given: self.messages.append(given[3].decode()))
        self.fmu.instantiate(logMessage=self.log)

    def start(self) -> None:
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def refuses(self, call: object, *given: object, **named: object) -> str:
        """Return the message of a call that must fail with an error."""
        self.messages.clear()
        with pytest.raises(fmpy.fmi1.FMICallException, match="error"):
            call(*given, **named)  # type: ignore[operator]
        return self.messages[-1]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return robot().export_fmu(tmp_path_factory.mktemp("fmu") / "loop.fmu", [0.1] * 6)


@pytest.fixture
def unit(packed: Path, tmp_path: Path) -> Unit:
    return Unit(packed, tmp_path / "unit")


@needs_gcc
def test_bad_calls_end_in_an_error_with_a_message(unit: Unit) -> None:
    fmu, command = unit.fmu, unit.references["command.joint1"]
    state, output = unit.references["state.q.joint1"], unit.references["q.joint1"]
    assert "mode 'instantiated'" in unit.refuses(fmu.doStep, 0.0, 1e-3)
    assert "mode 'instantiated'" in unit.refuses(fmu.getFloat64, [output])
    assert "not finite" in unit.refuses(fmu.setFloat64, [command], [float("nan")])
    assert "not finite" in unit.refuses(fmu.setFloat64, [command], [float("inf")])
    assert "expected a parameter, an input or a state" in unit.refuses(fmu.setFloat64, [output], [1.0])
    assert "value reference 4000000" in unit.refuses(fmu.setFloat64, [4000000], [1.0])
    unit.start()
    assert "mode 'step'" in unit.refuses(fmu.enterInitializationMode)
    assert "mode 'step'" in unit.refuses(fmu.exitInitializationMode)
    assert "after initialization" in unit.refuses(fmu.setFloat64, [state], [1.0])
    assert "whole multiple" in unit.refuses(fmu.doStep, 0.0, 0.5e-3)
    assert "whole multiple" in unit.refuses(fmu.doStep, 0.0, -1e-3)
    assert "whole multiple" in unit.refuses(fmu.doStep, 0.0, 1e300)
    assert "the present one" in unit.refuses(fmu.doStep, 0.5, 1e-3)
    assert "the present one" in unit.refuses(fmu.doStep, float("nan"), 1e-3)
    assert "value reference 4000000" in unit.refuses(fmu.getFloat64, [4000000])
    assert "Float64, as all are" in unit.refuses(fmu.getInt32, [1])
    assert "no variable" in unit.refuses(fmu.getString, [1])
    assert "no state of this model" in unit.refuses(fmu.deserializeFMUState, b"\x00" * 40)
    assert "found none" in unit.refuses(fmu.setFMUState, None)
    fmu.doStep(0.0, 1e-3)
    fmu.setFloat64([command], [1e12])
    message = ""
    for k in range(1, 2000):
        try:
            fmu.doStep(k * 1e-3, 1e-3)
        except fmpy.fmi1.FMICallException:
            message = unit.messages[-1]
            break
    assert "no number or too large" in message or not message
    fmu.reset()
    unit.start()
    fmu.doStep(0.0, 1e-3)
    fmu.terminate()
    assert "mode 'terminated'" in unit.refuses(fmu.doStep, 1e-3, 1e-3)
    fmu.freeInstance()


@needs_gcc
def test_no_instance_and_wrong_tokens(packed: Path, tmp_path: Path) -> None:
    """Null pointers are what an importer's mistake looks like."""
    unit = Unit(packed, tmp_path / "unit")
    library = unit.fmu.dll
    library.fmi3DoStep.restype = ctypes.c_int
    for name in ("fmi3Terminate", "fmi3Reset", "fmi3EnterEventMode", "fmi3ExitInitializationMode"):
        assert getattr(library, name)(ctypes.c_void_p(None)) == 3
    library.fmi3FreeInstance(ctypes.c_void_p(None))
    unit.fmu.guid = unit.fmu.instantiationToken = "{other}"
    unit.messages.clear()
    with pytest.raises(Exception, match="instantiate"):
        unit.fmu.instantiate(logMessage=unit.log)
    assert "expected '{" in unit.messages[-1]


@needs_gcc
def test_a_state_that_is_saved_goes_on_the_same(unit: Unit) -> None:
    fmu, q = unit.fmu, [unit.references["q.joint1"]]
    unit.start()
    for k in range(7):
        fmu.doStep(k * 1e-3, 1e-3)
    state = fmu.getFMUState()
    saved = fmu.serializeFMUState(state)
    fmu.freeFMUState(state)

    def after() -> list[float]:
        for k in range(7, 20):
            fmu.doStep(k * 1e-3, 1e-3)
        return fmu.getFloat64(q)

    first = after()
    fmu.setFMUState(fmu.deserializeFMUState(saved))
    assert fmu.getFloat64(q) != first
    assert after() == first


@needs_gcc
def test_directional_derivatives_are_exact(tmp_path: Path) -> None:
    """Against central differences of the same unit, whose error is 1e-8 of a derivative. Held values count as constants."""
    path = art.Loop(art.load("puma600")).export_fmu(tmp_path / "loop.fmu", [0.1] * 6, [0.5] * 6)
    unit = Unit(path, tmp_path / "unit")
    fmu, r = unit.fmu, unit.references
    fmu.enterInitializationMode()
    knowns = [r["state.q.joint2"], r["state.v.joint3"], r["command.joint1"]]
    unknowns = [r["rate.v.joint1"], r["rate.v.joint2"], r["energy.kinetic"], r["vdot.joint3"]]
    at = np.array(fmu.getFloat64(knowns))
    for k, known in enumerate(knowns):
        found = fmu.getDirectionalDerivative(unknowns, [known], [1.0])
        ends = []
        for sign in (1, -1):
            fmu.setFloat64([known], [at[k] + sign * 1e-5])
            ends.append(np.array(fmu.getFloat64(unknowns)))
        fmu.setFloat64([known], [at[k]])
        slope = (ends[0] - ends[1]) / 2e-5
        assert np.abs(slope).max() > 0 or known == knowns[2]
        assert list(found) == pytest.approx(slope, rel=1e-6, abs=1e-6 * max(np.abs(slope).max(), 1e-3))


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    loop = robot()
    with pytest.raises(art.InputError, match=r"ends in \.fmu"):
        loop.export_fmu(tmp_path / "a.zip")
    with pytest.raises(art.InputError, match=r"'2\.0' or '3\.0'"):
        loop.export_fmu(tmp_path / "a.fmu", version="1.0")
    with pytest.raises(art.InputError, match="did you mean 'linux64'"):
        loop.export_fmu(tmp_path / "a.fmu", platforms=["linux"])
    with pytest.raises(art.UnsupportedOperation, match="Python function"):
        art.Loop(art.load("two_link"), lambda t, q, v: -q).export_fmu(tmp_path / "a.fmu")
    assert not list(tmp_path.iterdir())


def test_sources_alone(tmp_path: Path) -> None:
    path = robot().export_fmu(tmp_path / "a.fmu", platforms=())
    names = zipfile.ZipFile(path).namelist()
    assert {"modelDescription.xml", "sources/model.c", "sources/fmi3.c"} <= set(names)
    assert not [n for n in names if n.startswith("binaries")]
    again = robot().export_fmu(tmp_path / "b.fmu", platforms=(), name="a")
    assert path.read_bytes() == again.read_bytes()
