"""Runs as logs: read back with the packages of the other side; measured logs as records."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import articulus as art
import flexible_zoo
import zoo
from articulus.bridges.drawn import solids_of
from articulus.errors import InputError
from articulus.simulation.results import Run
from articulus.study.records import read_record
from browser.runs import kinematic_run

mcap_reader = pytest.importorskip("mcap.reader")
mcap_writer = pytest.importorskip("mcap.writer")


@pytest.fixture(scope="module")
def run() -> Run:
    return kinematic_run(art.load("puma600"))


@pytest.fixture(scope="module")
def log(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("logs") / "run.mcap"
    run.save(place)
    return place


def messages(log: Path, topic: str) -> list[tuple[int, dict]]:
    with log.open("rb") as file:
        found = mcap_reader.make_reader(file).iter_messages(topics=[topic])
        return [(message.log_time, json.loads(message.data)) for _, _, message in found]


def test_frames_are_the_poses_of_the_bodies(run: Run, log: Path) -> None:
    found = messages(log, "/tf")
    assert [time for time, _ in found] == [round(1e9 * t) for t in run.t]
    for k in (0, 4, 10):
        for frame in found[k][1]["transforms"]:
            assert frame["parent_frame_id"] == "ground"
            X = run.mechanism.pose(frame["child_frame_id"], run.q[k])
            np.testing.assert_allclose([frame["translation"][i] for i in "xyz"], X[:3, 3], atol=1e-12)
            w, x, y, z = (frame["rotation"][i] for i in "wxyz")
            turned = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
            np.testing.assert_allclose(turned, X[:3, 0], atol=1e-12)


def test_every_message_fits_its_schema(log: Path) -> None:
    """Checked by jsonschema; shapes of Foxglove's schemas need all of their lists."""
    jsonschema = pytest.importorskip("jsonschema")
    with log.open("rb") as file:
        seen = set()
        for schema, channel, message in mcap_reader.make_reader(file).iter_messages():
            content = json.loads(message.data)
            jsonschema.validate(content, json.loads(schema.data))
            seen.add(channel.topic)
    assert {"/tf", "/scene", "/joint_states", "/signals/q", "/signals/v"} <= seen


def test_a_log_comes_back_as_a_record_with_names_and_units(run: Run, log: Path) -> None:
    record = read_record(log)
    np.testing.assert_allclose(record.t, run.t, atol=1e-9)  # whole nanoseconds
    for k, name in enumerate(run.mechanism.joint_names):
        np.testing.assert_array_equal(record[f"q.{name}"], run.q[:, k])
        np.testing.assert_array_equal(record[f"joint_states.position.{name}"], run.q[:, k])
        assert record.units[f"q.{name}"] == "rad"


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "cut.mcap"
    with place.open("wb") as file:
        writer = mcap_writer.Writer(file, chunk_size=256)  # many chunks, as a long log has them
        writer.start()
        channel = writer.register_channel(topic="/arm", message_encoding="json", schema_id=0)
        for k in range(200):
            data = json.dumps({"name": ["lift"], "position": [0.1 * k]}).encode()
            writer.add_message(channel_id=channel, log_time=k * 10**7, publish_time=k * 10**7, data=data)
        writer.finish()
    whole = place.read_bytes()
    place.write_bytes(whole[: len(whole) // 2])
    record = read_record(place)
    assert 20 < len(record) < 200
    np.testing.assert_allclose(record["arm.position.lift"], 0.1 * np.arange(len(record)))


@pytest.mark.parametrize("content", [b"", b"no log", b"\x89MCAP0\r\n" + bytes(40)])
def test_what_is_no_log_is_refused(content: bytes, tmp_path: Path) -> None:
    place = tmp_path / "bad.mcap"
    place.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.mcap"):
        read_record(place)


def test_logs_of_other_encodings_say_what_they_hold(tmp_path: Path) -> None:
    place = tmp_path / "ros.mcap"
    with place.open("wb") as file:
        writer = mcap_writer.Writer(file)
        writer.start()
        channel = writer.register_channel(topic="/arm", message_encoding="cdr", schema_id=0)
        writer.add_message(channel_id=channel, log_time=0, publish_time=0, data=b"1234")
        writer.finish()
    with pytest.raises(InputError, match="encoded as cdr; expected messages encoded as json"):
        read_record(place)


def test_a_batch_is_refused(tmp_path: Path) -> None:
    arm = art.load("two_link")
    runs = art.rollout(arm, 0.01, q0=np.zeros((2, 2)), step=1e-3)
    for name in ("a.mcap", "a.rrd"):
        with pytest.raises(InputError, match="found a batch of runs"):
            runs.save(tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("kind", ["puma600", "every_joint", "soft"])
def test_solids_span_what_is_drawn(kind: str) -> None:
    """Every solid is turned properly and lies within the size of its mechanism."""
    made = {
        "puma600": lambda: art.load("puma600"),
        "every_joint": lambda: zoo.get("every_joint"),
        "soft": lambda: flexible_zoo.soften(zoo.get("every_joint"), 5),
    }
    mechanism = made[kind]()
    drawn = solids_of(mechanism)
    assert set(drawn) == {"ground", *mechanism.body_names}
    for solid in (s for solids in drawn.values() for s in solids):
        R = solid.pose[:3, :3]
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1)
        assert np.isfinite(solid.size).all()


def test_rerun_verifies_its_recordings(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    place = tmp_path / "run.rrd"
    run.save(place)
    quiet = {**os.environ, "HOME": str(tmp_path)}
    ask = [sys.executable, "-m", "rerun", "rrd"]
    checked = subprocess.run([*ask, "verify", place], env=quiet, capture_output=True, text=True, timeout=300)
    assert checked.returncode == 0, checked.stderr
    told = subprocess.run(
        [*ask, "print", "-vvv", place], env=quiet, capture_output=True, text=True, timeout=300
    ).stdout
    chunks = re.findall(r"with (\d+) rows .*? - (/\S+)", told)
    rows = {path: count for count, path in chunks if count != "1"}  # what stays is one row
    for name in run.mechanism.body_names:
        assert rows[f"/world/{name}"] == str(len(run.t))
    for name in run.mechanism.joint_names:
        assert rows[f"/signals/q/{name}"] == str(len(run.t))
