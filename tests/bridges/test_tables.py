"""Parquet, polars, MAT files and bags of ROS, each written or read by the other side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.study.records import read_record

polars = pytest.importorskip("polars")
scipy_io = pytest.importorskip("scipy.io")


@pytest.fixture(scope="module")
def run() -> art.Run:
    return art.simulate(art.load("two_link"), 0.1, [0.1, 0.2], step=1e-3, sample=1e-2)


@pytest.fixture(scope="module")
def batch() -> art.Run:
    arm = art.load("two_link")
    return art.rollout(arm, 0.1, np.random.default_rng(0).uniform(-1, 1, (3, 2)), step=1e-3, sample=5e-2)


def test_polars(run: art.Run, batch: art.Run) -> None:
    frame = run.to_polars()
    assert frame.columns[:2] == ["t", "q.joint1"]
    assert np.array_equal(frame["q.joint2"].to_numpy(), run.q[:, 1])
    many = batch.to_polars()
    assert many.columns[0] == "run"
    assert many.height == 9
    last = many.filter(polars.col("run") == 2)
    assert np.array_equal(last["q.joint1"].to_numpy(), batch.q[2, :, 0])


def test_parquet_there_and_back(run: art.Run, batch: art.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run.parquet")
    assert np.array_equal(polars.read_parquet(tmp_path / "run.parquet")["v.joint1"].to_numpy(), run.v[:, 0])
    record = read_record(tmp_path / "run.parquet")
    assert np.array_equal(record["q.joint2"], run.q[:, 1])
    assert record.units["q.joint2"] == "rad"
    assert record.units["v.joint2"] == "rad/s"
    batch.save(tmp_path / "batch.parquet")
    with pytest.raises(InputError, match="batch of 3 runs"):
        read_record(tmp_path / "batch.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "run.parquet").read_bytes()[:200])
    with pytest.raises(InputError, match="not a Parquet file"):
        read_record(tmp_path / "cut.parquet")
    given = polars.DataFrame({"time": [0.0, 0.1, 0.2], "angle": [1.0, None, 3.0], "label": ["a", "b", "c"]})
    given.write_parquet(tmp_path / "own.parquet")
    own = read_record(tmp_path / "own.parquet", units={"angle": "deg"})
    assert np.allclose(own["angle"], np.deg2rad([1.0, np.nan, 3.0]), equal_nan=True)
    assert list(own.columns) == ["angle"]


def test_mat_there_and_back(run: art.Run, batch: art.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run.mat")
    held = scipy_io.loadmat(tmp_path / "run.mat")
    assert np.array_equal(held["q"], run.q)
    assert held["q_names"][1, 0][0] == "q.joint2"
    record = read_record(tmp_path / "run.mat")
    assert np.array_equal(record["q.joint2"], run.q[:, 1])
    assert record.units["v.joint1"] == "rad/s"
    batch.save(tmp_path / "batch.mat")
    assert scipy_io.loadmat(tmp_path / "batch.mat")["q"].shape == (3, 3, 2)


def test_linear_models_there_and_back(tmp_path: Path) -> None:
    model = art.load("two_link").linearize()
    model.to_mat(tmp_path / "m.mat")
    again = art.linear.LinearModel.from_mat(tmp_path / "m.mat")
    for name in ("A", "B", "C", "D"):
        assert np.array_equal(getattr(again, name), getattr(model, name))
    for name in ("states", "inputs", "outputs", "input_units", "output_units", "period", "t", "name"):
        assert getattr(again, name) == getattr(model, name)
    held = scipy_io.loadmat(tmp_path / "m.mat")
    assert held["Ts"] == 0
    scipy_io.savemat(
        tmp_path / "bare.mat",
        {"A": [[0.0, 1], [-1, 0]], "B": [[0.0], [1]], "C": [[1.0, 0]], "D": [[0.0]], "Ts": 0.1},
    )
    bare = art.linear.LinearModel.from_mat(tmp_path / "bare.mat")
    assert bare.inputs == ("i1",)
    assert bare.period == 0.1
    scipy_io.savemat(tmp_path / "wrong.mat", {"A": np.eye(2), "B": np.eye(3), "C": np.eye(2), "D": np.eye(2)})
    with pytest.raises(InputError, match="expected"):
        art.linear.LinearModel.from_mat(tmp_path / "wrong.mat")
    (tmp_path / "no.mat").write_bytes(b"not a file of MATLAB")
    with pytest.raises(InputError, match="MAT file"):
        art.linear.LinearModel.from_mat(tmp_path / "no.mat")


def test_bags_of_ros_2(tmp_path: Path) -> None:
    """Written by rosbags itself: joint states with names, IMU with units, a float; a text has no numbers."""
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    Header, Time = types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]
    JointState, Float64, String = (
        types["sensor_msgs/msg/JointState"],
        types["std_msgs/msg/Float64"],
        types["std_msgs/msg/String"],
    )
    place = tmp_path / "bag"
    times = (np.arange(20) * 10_000_000 + 1_700_000_000_000_000_000).tolist()
    with rosbag2.Writer(place, version=9) as writer:
        joints = writer.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        level = writer.add_connection("/tank/level", Float64.__msgtype__, typestore=store)
        words = writer.add_connection("/words", String.__msgtype__, typestore=store)
        for k, t in enumerate(times):
            stamp = Header(stamp=Time(sec=0, nanosec=0), frame_id="")
            state = JointState(
                header=stamp,
                name=["lift", "turn"],
                position=np.array([0.1 * k, -0.1 * k]),
                velocity=np.array([1.0, 2.0]),
                effort=np.array([]),
            )
            writer.write(joints, t, store.serialize_cdr(state, state.__msgtype__))
            if k % 2 == 0:
                writer.write(level, t, store.serialize_cdr(Float64(data=float(k)), Float64.__msgtype__))
            writer.write(words, t, store.serialize_cdr(String(data="hello"), String.__msgtype__))
    record = read_record(place)
    assert np.allclose(record.t, np.arange(20) * 0.01)
    assert np.allclose(record["joint_states.position.turn"], -0.1 * np.arange(20))
    assert np.allclose(record["tank.level"][::2], np.arange(0, 20, 2))
    assert np.isnan(record["tank.level"][1::2]).all()
    assert not any(name.startswith("words") for name in record.columns)
    (data,) = place.glob("*.db3")
    assert np.array_equal(read_record(data)["tank.level"][::2], record["tank.level"][::2])
    data.write_bytes(data.read_bytes()[:3000])
    with pytest.raises(InputError, match="bag"):
        read_record(place)
    empty = tmp_path / "x.bag"
    empty.write_bytes(b"#ROSBAG V2.0\n")
    with pytest.raises(InputError, match="bag"):
        read_record(empty)


@pytest.mark.parametrize("name", ["log[1].parquet", "log?.parquet", "log*.parquet"])
def test_parquet_files_of_any_name(run: art.Run, tmp_path: Path, name: str) -> None:
    """A name is that of one file, never a pattern of several."""
    run.save(tmp_path / "log1.parquet")
    run.save(tmp_path / name)
    assert len(read_record(tmp_path / name)) == len(run.t)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["Datetime", "Duration"])
def test_clocks_of_parquet_files(tmp_path: Path, unit: str, kind: str) -> None:
    """Dates and durations in any unit are seconds; a column of times of day does not stand in the way."""
    at = np.arange(5) * {"ms": 1, "us": 10**3, "ns": 10**6}[unit]
    t = polars.Series(at).cast(getattr(polars, kind)(unit))
    day = polars.Series(np.arange(5) * 10**9).cast(polars.Time)
    polars.DataFrame({"t": t, "x": np.arange(5.0), "day": day}).write_parquet(tmp_path / "a.parquet")
    record = read_record(tmp_path / "a.parquet")
    np.testing.assert_allclose(record.t, np.arange(5) * 1e-3, rtol=1e-12)
    np.testing.assert_allclose(record["day"], np.arange(5.0))


def test_small_parquet_files_of_many_numbers_are_refused(tmp_path: Path, monkeypatch) -> None:
    """Equal numbers need no room in a file: it is the number of rows that is looked at, before any is read."""
    from articulus.bridges import tables

    polars.DataFrame({"t": np.zeros(100_000)}).write_parquet(tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    monkeypatch.setattr(tables, "MOST_NUMBERS", 99_999)
    with pytest.raises(InputError, match="1 columns of 100000 rows"):
        read_record(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "wrong", [{"Ts": -1.0}, {"Ts": np.nan}, {"Ts": []}, {"Ts": "a"}, {"A": [[np.nan]]}, {"t": [1.0, 2.0]}]
)
def test_numbers_of_a_model_that_are_none_are_refused(tmp_path: Path, wrong: dict) -> None:
    """MATLAB's period that is not known (-1) is no period; the message names file and variable."""
    scipy_io.savemat(tmp_path / "m.mat", {k: np.eye(1) for k in "ABCD"} | wrong)
    with pytest.raises(InputError, match=rf"m\.mat: {next(iter(wrong))}\b"):
        art.linear.LinearModel.from_mat(tmp_path / "m.mat")


def test_sparse_models_are_read_and_models_written_whole_or_not_at_all(tmp_path: Path) -> None:
    import scipy.sparse

    scipy_io.savemat(
        tmp_path / "m.mat", {k: np.eye(1) for k in "BCD"} | {"A": scipy.sparse.csc_array([[2.0]])}
    )
    model = art.linear.LinearModel.from_mat(tmp_path / "m.mat")
    assert model.A.tolist() == [[2.0]]
    with pytest.raises(InputError, match="cannot be written"):
        model.to_mat(tmp_path / "nowhere" / "m.mat")
    assert [x.name for x in tmp_path.iterdir()] == ["m.mat"]


@pytest.mark.parametrize("suffix", ["mat5", "mat73", "nc"])
def test_binary_files_of_many_numbers_are_refused(tmp_path: Path, suffix: str) -> None:
    """A file of some kB that says it holds 10^12 numbers is refused before any is read."""
    if suffix == "mat5":
        from articulus.study.records import readers

        scipy_io.savemat(tmp_path / "a.mat", {"t": np.zeros((1000, 1))}, do_compression=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(readers, "MOST_NUMBERS", 999)
            with pytest.raises(InputError, match="1000 numbers"):
                read_record(tmp_path / "a.mat")
        return
    h5py = pytest.importorskip("h5py")
    place = tmp_path / ("a.mat" if suffix == "mat73" else "a.nc")
    with h5py.File(place, "w", userblock_size=512 if suffix == "mat73" else 0) as file:
        x = file.create_dataset("t", (10**12,), chunks=(1000,), dtype="f8")
        x.make_scale("t")
    if suffix == "mat73":
        with place.open("r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file".ljust(128))
    with pytest.raises(InputError, match="1000000000000 numbers"):
        read_record(place)
