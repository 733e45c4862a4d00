"""Flight code against the plant: rates, order, delays, failures, votes and checks, in Python, C and studies."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus import components as c
from articulus.simulation.loop.compiled_law import CompiledLaw
from articulus.simulation.loop.executive import Executive, FlightTask, Refusal
from articulus.study.reader import parse_study

TICK = 0.01


def hub() -> art.Mechanism:
    m = art.Mechanism("hub", gravity=(0, 0, 0))
    m.body("hub", 1.0, inertia=(2.0, 2.0, 2.0))
    return m.joint("axis", art.Revolute((0, 0, 1)), "ground", "hub")


def flown(executive: Executive, time: float = 0.2, parts: tuple[art.Component, ...] = ()) -> art.Run:
    return art.simulate(hub(), time, controller=executive.controller, components=parts, step=TICK)


def test_tasks_run_at_their_rates_in_their_order_and_their_outputs_come_late() -> None:
    seen: list[tuple[str, float]] = []

    def slow(t: float) -> float:
        seen.append(("slow", t))
        return t

    def fast(t: float, x: np.ndarray) -> tuple[float, float]:
        seen.append(("fast", t))
        return x[0], t

    tasks = [
        FlightTask("slow", slow, 0.04, "t", "x", delay=0.02, offset=0.01),
        FlightTask("fast", fast, 0.02, ("t", "x"), ("u", "w"), hangs=((0.1, 0.13),)),
    ]
    run = flown(Executive(tasks, ["u"], TICK, {"x": -1.0}))
    t = np.round(run.t[:-1], 9)
    assert [at for name, at in seen if name == "slow"] == pytest.approx(np.arange(0.01, 0.2, 0.04))
    assert [at for name, at in seen if name == "fast" and at < 0.199] == pytest.approx(
        [0.01 * k for k in range(0, 20, 2) if k not in (10, 12)]
    )

    def expected(now: float) -> float:
        """Return what fast passed on at its last run: the last x that was there."""
        ran = max(0.01 * k for k in range(0, 20, 2) if 0.01 * k <= now + 1e-9 and k not in (10, 12))
        there = [x for x in np.arange(0.01, 0.2, 0.04) if x + 0.02 <= ran + 1e-9]
        return there[-1] if there else -1.0

    np.testing.assert_allclose(run["u"][:-1, 0], [expected(now) for now in t], atol=1e-12)


def test_a_run_begins_with_new_laws_and_refuses_what_is_no_output() -> None:
    class Count:
        def __init__(self) -> None:
            self.n = 0

        def __call__(self, t: float) -> float:
            self.n += 1
            return np.nan if self.n == 3 else float(self.n)

    executive = Executive([FlightTask("count", Count, TICK, "t", "u")], ["u"], TICK)
    first, second = flown(executive), flown(executive)
    np.testing.assert_array_equal(first["u"][:4, 0], [1, 2, 2, 4])
    np.testing.assert_array_equal(first["u"], second["u"])
    assert executive.refusals == [Refusal(pytest.approx(0.02), "count", "numbers that are not finite")]
    pair = Executive([FlightTask("pair", lambda t: t, TICK, "t", ("u", "w"))], ["u"], TICK)
    flown(pair)
    assert pair.refusals[0].reason == "1 outputs, not 2"


def test_compiled_c_is_a_task(tmp_path: Path) -> None:
    """u = -4 (rate - 0.2) - 0.5 integral, as the same law in Python, twice: its state begins at zero."""
    if not (compiler := shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("no C compiler")
    code = "void step(const double *in, double *out, double *state)\n"
    code += "{ state[0] += 0.01 * in[0]; out[0] = -4.0 * (in[0] - 0.2) - 0.5 * state[0]; }\n"
    (tmp_path / "law.c").write_text(code)
    library = tmp_path / "law.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, tmp_path / "law.c"], check=True)

    def integrating():  # type: ignore[no-untyped-def]
        (rate,), total = (yield), 0.0
        while True:
            total += 0.01 * rate[0]
            (rate,) = yield -4.0 * (rate[0] - 0.2) - 0.5 * total

    def run(law: object) -> np.ndarray:
        return flown(Executive([FlightTask("law", law, TICK, "v", "u")], ["u"], TICK), 1.0).v

    compiled = CompiledLaw(library, 1, 1, 1)
    np.testing.assert_allclose(run(compiled), run(integrating), atol=1e-15)
    np.testing.assert_array_equal(run(compiled), run(compiled))
    with pytest.raises(art.InputError, match="2 numbers come in; expected 1"):
        compiled(np.zeros(2))
    with pytest.raises(art.InputError, match="no function 'stop'"):
        CompiledLaw(library, 1, 1, function="stop")
    with pytest.raises(art.InputError, match="a shared library for this machine"):
        CompiledLaw(tmp_path / "law.c", 1, 1)
    with pytest.raises(art.InputError, match="no file"):
        CompiledLaw(tmp_path / "missing.so", 1, 1)


BAD = {
    "period": (lambda: [FlightTask("a", abs, 0.015, "t", "u")], "period: found 0.015 s; expected a whole number of ticks"),
    "delay": (lambda: [FlightTask("a", abs, TICK, "t", "u", delay=-1.0)], "delay: found -1 s"),
    "twice": (lambda: [FlightTask("a", abs, TICK, "t", "u"), FlightTask("b", abs, TICK, "t", "u")], "which task 'a' puts out"),
    "command": (lambda: [FlightTask("a", abs, TICK, "t", "w")], "'u', which no task puts out"),
    "input": (lambda: [FlightTask("a", abs, TICK, "uu", "u")], "inputs: found 'uu'.*did you mean 'u'"),
    "law": (lambda: [FlightTask("a", 3, TICK, "t", "u")], "law: found 3"),
    "output": (lambda: [FlightTask("a", abs, TICK, "t", "gyro.u")], "names without dots"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_wrong_tasks_are_told(case: str) -> None:
    make, words = BAD[case]
    with pytest.raises(art.InputError, match=words):
        Executive(make(), ["u"], TICK)  # type: ignore[arg-type]


def test_batches_are_refused() -> None:
    executive = Executive([FlightTask("a", lambda v: v[0], TICK, "v", "u")], ["u"], TICK)
    with pytest.raises(art.ArticulusError, match="single runs"):
        art.rollout(hub(), 0.1, q0=np.zeros((3, 1)), controller=executive.controller, step=TICK)


# the components


def gyro(name: str) -> c.Measured:
    return c.Measured(c.RateGyro("hub", name=name), period=TICK)


def spun(*parts: art.Component, time: float = 0.5, torque: float = 2.0) -> art.Run:
    """Return the run of a hub whose rate rises by 1 rad/s^2."""
    push = c.PrescribedForce("axis", torque)
    return art.simulate(hub(), time, components=[push, *parts], step=TICK)


def test_a_sensor_sticks_dies_or_drifts_within_its_time() -> None:
    kinds = {"stuck": None, "dead": (0, 0, 7.0), "bias": (0, 0, 0.25)}
    for kind, value in kinds.items():
        given = {} if value is None else {"value": value}
        run = spun(c.executive.SensorFailure(gyro("g"), start=0.1, end=0.3, kind=kind, **given))
        rate, t = run["g.rate"][:, 2], run.t
        failed = (t > 0.1 - 1e-9) & (t < 0.3 - 1e-9)
        wrong = {"stuck": np.full(t.shape, 0.09), "dead": np.full(t.shape, 7.0), "bias": t + 0.25}[kind]
        np.testing.assert_allclose(rate, np.where(failed, wrong, t), atol=1e-12)


def test_a_failing_actuator_keeps_a_part_of_its_command() -> None:
    """Rate from a torque of 2 N m on 2 kg m^2, half of it from 0.1 to 0.3 s, with 0.4 N m more."""
    command = c.PrescribedCommand("axis_torque", 2.0)
    failing = c.executive.ActuatorFailure("axis", start=0.1, end=0.3, gain=0.5, offset=0.4)
    run = art.simulate(hub(), 0.5, components=[command, failing], step=TICK)
    assert run.v[-1, 0] == pytest.approx(0.3 * 1.0 + 0.2 * 0.7, abs=1e-12)


def test_three_channels_vote_and_two_that_disagree_are_doubted() -> None:
    parts = (
        gyro("a"),
        c.executive.SensorFailure(gyro("b"), start=0.1, kind="bias", value=0.5),
        c.executive.SensorFailure(gyro("c"), start=0.3, kind="bias", value=-0.5),
        c.executive.Voter(("a.rate", "b.rate", "c.rate"), 0.1, TICK, patience=3, unit="rad/s"),
    )
    run = spun(*parts)
    k = round(0.12 / TICK)
    np.testing.assert_array_equal(run["voter.healthy"][[k - 1, k, -1]], [[1, 1, 1], [1, 0, 1], [1, 0, 1]])
    before = run.t < 0.3 - 1e-9
    np.testing.assert_allclose(run["voter.value"][before, 2], run.t[before], atol=1e-12)
    np.testing.assert_array_equal(run["voter.doubt"][:, 0], np.where(before, 0, 1))


def test_commands_are_checked_limited_and_late() -> None:
    """Refused ones are bridged by the last good one, then by the safe one; the rest is followed at the rate."""

    def wanted(t: float) -> np.ndarray:
        return np.array([1.0 if t < 0.045 else 9.0 if t < 0.105 else -1.0])

    law = art.PythonController(wanted, TICK, inputs=("t",))
    check = c.executive.CommandCheck("axis_torque", -2.0, 2.0, TICK, rate=50.0, safe=0.5, patience=2, delay=1)
    run = art.simulate(hub(), 0.2, controller=law, components=[c.Torque("axis"), check], step=TICK)
    good = [0.5, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.0, -0.5, -1, -1]
    np.testing.assert_allclose(run["tau"][:16, 0], [0.0, *good], atol=1e-12)
    assert run["command_check.refused"][-1, 0] == 6


def test_wrong_parts_are_told() -> None:
    with pytest.raises(art.InputError, match=r"which is continuous.*Measured"):
        c.executive.SensorFailure(c.RateGyro("hub"), start=1.0)
    with pytest.raises(art.InputError, match="not after start"):
        c.executive.SensorFailure(gyro("g"), start=1.0, end=1.0)
    with pytest.raises(art.InputError, match="one of stuck, dead, bias"):
        c.executive.SensorFailure(gyro("g"), start=1.0, kind="odd")
    with pytest.raises(art.InputError, match="not after start"):
        c.executive.ActuatorFailure("axis", start=1.0, end=0.5)
    with pytest.raises(art.InputError, match="two signals or more"):
        c.executive.Voter(("a.rate",), 0.1, TICK)
    with pytest.raises(art.InputError, match="signals of the same size"):
        spun(gyro("a"), c.JointSensor(name="j"), c.executive.Voter(("a.rate", "j.v"), 0.1, TICK))
    with pytest.raises(art.InputError, match="did you mean 'axis_torque'"):
        spun(c.Torque("axis"), c.executive.CommandCheck("axis_torqe", -1, 1, TICK))


STUDY = """schema = 1
[study]
name = "arm"
model = "two_link"
[parameters]
failing = "1 s"
[[component]]
type = "measured"
name = "encoder"
sensor = {type = "joint_sensor"}
period = "10 ms"
[[component]]
type = "command_check"
actuators = ["joint1", "joint2"]
lower = -500
upper = 500
period = "10 ms"
[[component]]
type = "pd"
name = "servo"
kp = 900
kd = 400
measured = ["encoder.q", "encoder.v"]
[[component]]
type = "torque"
joint = "joint1"
name = "joint1"
[[component]]
type = "torque"
joint = "joint2"
name = "joint2"
[[executive.task]]
component = "servo"
period = "20 ms"
[[executive.task]]
component = "command_check"
[[executive.failure]]
component = "encoder"
start = "0.5 s"
end = "0.6 s"
[[executive.failure]]
component = "joint2"
start = {parameter = "failing"}
gain = 0.5
[run]
t_end = "1.2 s"
"""


def test_a_study_orders_its_tasks_and_lets_parts_fail() -> None:
    """The same loop written with components."""
    study = parse_study(STUDY)
    own = [
        c.executive.SensorFailure(
            c.Measured(c.JointSensor(), name="encoder", period=0.01), start=0.5, end=0.6
        ),
        c.PD(900, 400, measured=("encoder.q", "encoder.v"), period=0.02, name="servo"),
        c.executive.CommandCheck(("joint1", "joint2"), -500, 500, 0.01),
        c.Torque("joint1", name="joint1"),
        c.executive.ActuatorFailure(c.Torque("joint2", name="joint2"), start=1.0, gain=0.5),
    ]
    expected = art.simulate(study.mechanism, 1.2, components=own, step=1e-3)
    np.testing.assert_allclose(study.loop.simulate(1.2, step=1e-3).q, expected.q, atol=1e-14)


def test_mistakes_of_the_table_are_told_with_their_lines() -> None:
    bad = STUDY.replace('component = "encoder"', 'component = "encodr"').replace(
        "gain = 0.5", 'gain = "3 m"\nkind = "stuck"'
    )
    bad = bad.replace('component = "servo"', 'component = "joint1"')
    with pytest.raises(art.ModelError) as caught:
        parse_study(bad)
    text = str(caught.value)
    line = bad[: bad.index("[[executive.task]]")].count("\n") + 2
    for words in (
        f":{line}: executive.task[0].component: found 'joint1'; expected the name of a controller",
        "did you mean 'encoder'",
        "executive.failure[1].gain: found '3 m'",
        "executive.failure[1].kind: found the unknown key 'kind'",
    ):
        assert words in text, words
    with pytest.raises(art.ModelError, match="unknown key 'library'"):
        parse_study(STUDY.replace("[run]", '[executive]\nlibrary = "law.so"\n[run]'))
    with pytest.raises(art.ModelError, match="a second time"):
        parse_study(STUDY.replace('component = "command_check"', 'component = "servo"'))
