"""Runs on disk: what is saved comes back exactly; other tools read it; a failed write leaves the old file."""

from __future__ import annotations

import builtins
import csv
import dataclasses
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from synthetic import made_up

import articulus as art
from articulus.errors import InputError, UnsupportedOperation
from articulus.model.files.seal import LENGTH, seal
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal, position_signal, velocity_signal


def same_array(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize(("batch", "fail"), [(None, None), (None, 0), (5, None), (5, 3), (1, None)])
def test_round_trip_is_exact(tmp_path: Path, batch: int | None, fail: int | None) -> None:
    run, path = made_up(batch, fail=fail), tmp_path / "run.nc"
    run.save(path)
    back = Run.load(path)
    assert back.mechanism.description == run.mechanism.description
    assert same_array(back.t, run.t)
    assert back.names == run.names
    for name, signal in run.signals.items():
        found = back.signals[name]
        assert same_array(found.values, signal.values)
        assert (found.labels, found.units, found.meaning) == (signal.labels, signal.units, signal.meaning)
    assert same_array(back.status, run.status)
    assert back.events == run.events
    assert (back.statistics, back.meta) == (run.statistics, run.meta)
    assert (back.final.step, back.final.t, back.final.rng) == (run.final.step, run.final.t, run.final.rng)
    assert same_array(back.final.x, run.final.x)
    for a, b in zip(back.failures, run.failures, strict=True):
        assert (a.run, a.time, a.code, a.reason) == (b.run, b.time, b.code, b.reason)
        assert all(same_array(getattr(a, n), getattr(b, n)) for n in "qvx")
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_other_tools_read_it(tmp_path: Path) -> None:
    run, path = made_up(3), tmp_path / "run.nc"
    run.save(path)
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        lift = data["q"].sel(q_entry="lift")
        assert lift.dims == ("batch", "time")
        assert np.array_equal(lift.values, run["q.lift"])
        assert data["gyro.rate"].attrs["units"] == "rad/s"
        assert data["gyro.rate"].attrs["long_name"] == "measured rate"
        assert data["q_unit"].sel(q_entry="reach") == "m"
        assert data["time"].dtype == np.float64
        assert data.attrs["method"] == "rk4"
    with h5py.File(path) as file:
        assert np.array_equal(file["v"][()], run.v)
        assert [file["v"].dims[k][0].name for k in range(3)] == ["/batch", "/time", "/v_entry"]


def test_dataset_has_units_and_dimensions() -> None:
    data = made_up(4).to_xarray()
    assert data["tau"].dims == ("batch", "time", "tau_entry")
    assert data["time"].attrs["units"] == "s"
    assert data["energy"].sel(energy_entry="balance").shape == (4, 41)
    assert data["status"].attrs["flag_meanings"] == "COMPLETE STOPPED FAILED"
    assert made_up().to_xarray()["q"].dims == ("time", "q_entry")


def test_names_with_a_slash(tmp_path: Path) -> None:
    """A slash would be a folder inside the file."""
    run = made_up()
    odd = dataclasses.replace(run.signals["gyro.rate"], name="left/right.rate")
    Run(run.mechanism, run.t, {**run.signals, odd.name: odd}).save(tmp_path / "a.nc")
    assert np.array_equal(Run.load(tmp_path / "a.nc")["left/right.rate"], odd.values)


def test_signal_without_entries(tmp_path: Path) -> None:
    run = made_up()
    none = Signal("u", np.zeros((41, 0)), ())
    Run(run.mechanism, run.t, {**run.signals, "u": none}).save(tmp_path / "a.nc")
    assert Run.load(tmp_path / "a.nc").u.shape == (41, 0)


@dataclass(frozen=True)
class Odd(art.Revolute):
    """A joint that no model file knows."""

    type_name = "odd"


def test_mechanism_that_has_no_text(tmp_path: Path) -> None:
    """Results are kept all the same; the mechanism must then be given."""
    m = (
        art.Mechanism("odd")
        .body("a", mass=1.0, inertia=(1, 1, 1))
        .joint("j", Odd(), parent="ground", child="a")
    )
    t, d = np.linspace(0, 1, 4), m.description
    signals = [position_signal(d, np.ones((4, 1))), velocity_signal(d, np.ones((4, 1)))]
    Run(m, t, {s.name: s for s in signals}).save(tmp_path / "a.nc")
    with pytest.raises(InputError, match="pass it as the argument `mechanism`"):
        Run.load(tmp_path / "a.nc")
    assert Run.load(tmp_path / "a.nc", m).mechanism is m


def test_refusals(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    with pytest.raises(InputError, match="no such file"):
        Run.load(path)
    path.write_text("t,q\n0,1\n")
    with pytest.raises(InputError, match="found a file without a seal"):
        Run.load(path)
    path.write_bytes(seal(path.read_bytes()))
    with pytest.raises(InputError, match="found no readable netCDF4 file"):
        Run.load(path)
    path.write_bytes(seal(bytes(xarray.Dataset({"a": ("x", [1.0])}).to_netcdf(engine="h5netcdf"))))
    with pytest.raises(InputError, match="found another netCDF4 file; expected articulus run 3"):
        Run.load(path)
    with pytest.raises(InputError, match="cannot be written"):
        made_up().save(tmp_path / "missing" / "a.nc")


@pytest.mark.parametrize("method", ["save", "to_csv"])
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    path = tmp_path / "a.nc"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        getattr(made_up(), method)(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.nc"]


FULL = """
import resource, sys
from pathlib import Path
from synthetic import made_up
from articulus.errors import InputError
folder, method = Path(sys.argv[1]), sys.argv[2]
run = made_up()
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    getattr(run, method)(folder / "a.nc")
except InputError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
getattr(run, method)(folder / "b.nc")
"""


@pytest.mark.parametrize("method", ["save", "to_csv"])
def test_full_disk(tmp_path: Path, method: str) -> None:
    """A disk on which only 4096 bytes find room: the process goes on, nothing is left, and the run is saved elsewhere."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), method],
        cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "cannot be written (File too large)" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["b.nc"]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # h5netcdf, closing damaged files
def test_any_flipped_bit_is_found(tmp_path: Path) -> None:
    """Each of 20 flips of one bit is refused, or hit a byte that holds nothing; those inside numbers are all refused."""
    run, path = made_up(3, fail=1), tmp_path / "a.nc"
    run.save(path)
    whole, rng, before = path.read_bytes(), np.random.default_rng(0), art.load_run(path)
    places = list(rng.integers(len(whole), size=20))
    inside = whole.index(run.q[0, 7].tobytes())
    for at in [*places, *range(inside, inside + 8 * run.q.shape[-1], 7)]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            back = art.load_run(path)
        except InputError:
            continue
        assert at < inside or at >= inside + 8 * run.q.shape[-1]
        assert all(same_array(back[name], before[name]) for name in run.names)
        assert (back.meta, back.events, back.statistics) == (before.meta, before.events, before.statistics)


def _changed(path: Path, **attributes: str) -> None:
    """Change attributes of a file and seal it again, as somebody would who means it."""
    content = path.read_bytes()
    path.write_bytes(content[:-LENGTH])
    with h5py.File(path, "r+") as file:
        file.attrs.update(attributes)
    path.write_bytes(seal(path.read_bytes()))


def test_damaged_text_under_a_whole_seal(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    for name in ("meta", "statistics", "signals"):
        made_up().save(path)
        _changed(path, **{name: "{damaged"})
        with pytest.raises(InputError, match=r"a\.nc: found a damaged file"):
            art.load_run(path)
    made_up().save(path)
    _changed(path, format="articulus run 2")
    with pytest.raises(InputError, match=r"found articulus run 2; expected articulus run 3"):
        art.load_run(path)


def test_a_file_without_a_seal_never_comes_to_hdf5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HDF5 follows what damaged files say, some of it for ever: no byte of a file that is not as written reaches it."""
    path = tmp_path / "a.nc"
    made_up().save(path)
    content = path.read_bytes()
    monkeypatch.setattr(h5py, "File", None)
    rng = np.random.default_rng(1)
    damaged = [b"", content[: LENGTH - 1], content[:-LENGTH], content[: len(content) // 2], content + b"0"]
    for at in rng.integers(len(content), size=20).tolist():
        damaged.append(content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :])
    for held in damaged:
        path.write_bytes(held)
        with pytest.raises(InputError, match=r"a\.nc: found a file (without a seal|whose bytes do not)"):
            art.load_run(path)
    for place in (tmp_path / "none.nc", tmp_path, tmp_path / ("x" * 300 + ".nc")):
        with pytest.raises(
            InputError, match=r"no such file|cannot be read|a name of 303 bytes; expected at most 255"
        ):
            art.load_run(place)


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "h5netcdf":
            raise ImportError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnsupportedOperation, match=r"'h5netcdf'; pip install 'articulus\[data\]'"):
        made_up().to_xarray()


@pytest.mark.parametrize("batch", [None, 3])
def test_csv_holds_every_number(tmp_path: Path, batch: int | None) -> None:
    """Names, units and the very numbers; nothing stands after a failure."""
    run, path = made_up(batch, fail=0), tmp_path / "run.csv"
    run.to_csv(path)
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    lead = [] if batch is None else ["run"]
    assert header[: len(lead) + 2] == [*lead, "t [s]", "q.base.qw [-]"]
    assert "q.reach [m]" in header
    assert "gyro.rate.z [rad/s]" in header
    assert "height [m]" in header
    assert len(rows) == 41 * (batch or 1)
    table = np.array([[float(x) if x else np.nan for x in row] for row in rows])
    at = header.index("tau.lift [N m]")
    assert same_array(table[:, at], run["tau.lift"].ravel())
    assert np.isnan(table[40, at])
    assert same_array(table[:41, len(lead)], run.t)
