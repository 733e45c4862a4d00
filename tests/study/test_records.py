"""Records: units, gaps, clocks, files of every kind, and what is refused."""

import numpy as np
import pytest
import scipy.io

import articulus as art
from articulus.errors import InputError
from articulus.study.records import Gap, Record, read_record

T = np.arange(0, 1, 0.1)


def written(path, text):
    path.write_text(text)
    return path


def test_units_become_si(tmp_path):
    file = written(tmp_path / "a.csv", "time [ms];lift [deg];force (kN)\n0;90;1,5\n100;180;-2\n")
    r = read_record(file)
    assert r.t.tolist() == [0, 0.1]
    assert r["lift"] == pytest.approx([np.pi / 2, np.pi])
    assert r["force"].tolist() == [1500, -2000]
    assert r.units == {"lift": "rad", "force": "kg m s^-2"}
    assert read_record(file, units={"lift": "rad"})["lift"].tolist() == [90, 180]


def test_a_saved_run_is_a_record(tmp_path):
    m = art.load("two_link")
    run = art.simulate(m, 0.1, q0=[0.3, 0.1], step=0.01)
    run.to_csv(tmp_path / "run.csv")
    r, direct = read_record(tmp_path / "run.csv"), Record.of(run)
    np.testing.assert_array_equal(r.t, run.t)
    for column in ("q." + m.joint_names[1], "energy.kinetic"):
        np.testing.assert_array_equal(r[column], direct[column])
    noisy = Record.of(run, noise={"q." + m.joint_names[0]: 0.1}, seed=1)
    assert 0.02 < np.std(noisy["q." + m.joint_names[0]] - run.q[:, 0]) < 0.3


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_mat_files(tmp_path, version):
    place = tmp_path / "a.mat"
    if version == "5":
        scipy.io.savemat(place, {"t": T, "q": np.column_stack([T, T**2]), "other": np.eye(3), "text": "x"})
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(place, "w", userblock_size=512) as file:
            file["t"], file["q"] = T[None, :], np.vstack([T, T**2])
        with place.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(128))
    r = read_record(place)
    np.testing.assert_allclose(r.t, T)
    np.testing.assert_allclose(r["q.1"], T**2)
    assert set(r.columns) == {"q.0", "q.1"}


def test_netcdf_files(tmp_path):
    xarray = pytest.importorskip("xarray")
    data = xarray.Dataset(
        {"q": (("time", "joint"), np.column_stack([T, 2 * T]), {"units": "deg"})},
        {"time": T, "joint": ["a", "b"]},
    )
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    r = read_record(tmp_path / "a.nc")
    np.testing.assert_allclose(r["q.b"], np.deg2rad(2 * T))


def test_gaps_are_found_and_not_bridged():
    t = np.delete(T, [4, 5])
    x = t.copy()
    x[1] = np.nan
    r = Record("test", t, {"x": x, "y": t})
    assert r.gaps == (Gap(0.0, t[2], "x"), Gap(t[3], t[4]))
    assert np.isnan(r.at(np.array([0.45]), "y")).all()
    assert r.at(np.array([0.65, 2.0]), "y")[0] == pytest.approx(0.65)
    assert np.isnan(r.at(np.array([2.0]), "y")).all()
    assert r.shift(-0.1).t[0] == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("t,x\n0,1\n0,2\n", "times that rise"),
        ("t,x\n0,1\n1,two\n", "a.csv:3: found 'two'"),
        ("t,x\n0,1\n1\n", "found 1 cells"),
        ("t,t\n0,1\n", "twice"),
        ("t,x [parsec]\n0,1\n1,2\n", "parsec"),
        ("t,x\n", "no line of numbers"),
        ("a,b\n0,1\n1,2\n", "no column of times"),
        ("t,x\n0,inf\n1,2\n", "infinite"),
    ],
)
def test_bad_files_say_where(tmp_path, text, word):
    with pytest.raises(InputError, match=word):
        read_record(written(tmp_path / "a.csv", text))


def test_unknown_endings_and_names(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_record(tmp_path / "b.csv")
    with pytest.raises(InputError, match="no reader for"):
        read_record(written(tmp_path / "a.xyz", "t,x\n0,1\n"))
    with pytest.raises(InputError, match="no column"):
        Record("r", T, {"x": T})["y"]
    (tmp_path / "bad.mat").write_bytes(b"nothing")
    with pytest.raises(InputError, match="MAT"):
        read_record(tmp_path / "bad.mat")
