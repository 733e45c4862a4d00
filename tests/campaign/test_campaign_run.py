"""Campaigns from end to end: what comes out does not depend on how they are cut, and nothing is lost."""

import csv
import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import articulus as art
from articulus.cli.commands import app
from articulus.errors import DoubtfulResult, InputError, ModelError, NumericalError
from articulus.study.campaign import driver, work
from articulus.study.check import RunCheck
from slowness import slowness

STUDY = """
schema = 1
[study]
name = "arm"
model = "two_link"
[initial.q]
joint1 = "30 deg"
[[component]]
type = "measured"
name = "gyro"
sensor = {type = "rate_gyro", frame = "link2"}
noise = "0.1 deg/s"
period = "2 ms"
[[component]]
type = "pd"
name = "servo"
kp = "900 N m/rad"
kd = "400 N m s/rad"
[run]
t_end = "0.1 s"
step = "1 ms"
sample = "10 ms"
[[check]]
name = "turn"
signal = "q.joint1"
at = "peak"
less = "35 deg"
[campaign]
runs = 40
seed = 3
requirements = ["rate < 1 rad/s"]
bands = ["q.joint1"]
keep = {rate = 1}
[campaign.vary]
"q.joint1" = {normal = ["30 deg", "5 deg"]}
"servo.kp" = {uniform = [800, 1000]}
[campaign.figures]
rate = {signal = "gyro.rate.2", at = "rms"}
"energy" = {figure = "relative energy balance"}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study in a folder of its own."""
    path = tmp_path_factory.mktemp("campaign") / "arm.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def whole(study: Path) -> art.campaign.Result:
    """All runs at once."""
    return art.campaign.run(study)


def test_every_run_has_a_row(whole: art.campaign.Result) -> None:
    table = whole.table
    assert len(table) == 40
    assert (table.index == np.arange(40)).all()
    assert list(table.inputs) == ["q.joint1", "servo.kp"]
    assert list(table.figures) == ["turn", "rate", "energy"]
    assert (table.status == 0).all()
    assert ((table.inputs["servo.kp"] >= 800) & (table.inputs["servo.kp"] <= 1000)).all()
    assert np.unique(table.inputs["q.joint1"]).size == 40


@pytest.mark.parametrize(("chunk", "threads"), [(1, 1), (7, 2), (16, 1)])
def test_bits_do_not_depend_on_chunks_and_threads(
    whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch, chunk: int, threads: int
) -> None:
    """Sizes that fill no vector, single runs among them; noise, inputs, energies and bands included."""
    monkeypatch.setattr(driver.Driver, "_cut", lambda self, queue, *rest: _cut(queue, chunk))
    cut = art.campaign.run(STUDY, threads=threads)
    assert cut.table.same(whole.table)
    assert cut.digest() == whole.digest()
    band, other = cut.bands()["q.joint1"], whole.bands()["q.joint1"]
    assert (band.values == other.values).all()
    assert (band.least == other.least).all()


def _cut(queue, size: int) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    first, count = queue.popleft()
    if count > size:
        queue.appendleft((first + size, count - size))
    return first, min(size, count)


def test_bits_do_not_depend_on_the_pieces_of_a_chunk(
    whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "FIRST_CHUNK", 40)
    monkeypatch.setattr(work, "PIECE_BYTES", 1)
    counts: list[int] = []
    real = work._rows
    monkeypatch.setattr(work, "_rows", lambda *given: [counts.append(given[2]), real(*given)][1])
    cut = art.campaign.run(STUDY)
    assert len(counts) > 4  # two chunks, each of some vectors: the first runs, then all
    assert sum(counts) == 2 * 40
    assert cut.digest() == whole.digest()
    np.testing.assert_array_equal(cut.bands()["q.joint1"].values, whole.bands()["q.joint1"].values)


def test_replay_is_the_run_of_the_campaign(whole: art.campaign.Result) -> None:
    table = whole.table
    for index in (0, 17, 39):
        run = whole.replay(index)
        assert run.batch is None
        assert run["q.joint1"][0] == table.inputs["q.joint1"][index]
        assert (
            RunCheck("", "q.joint1", "peak", "less", 0, 0, "rad").values(run)[0]
            == table.figures["turn"][index]
        )
        assert np.sqrt((run["gyro.rate.2"] ** 2).mean()) == table.figures["rate"][index]
    with pytest.raises(InputError, match=r"replay: found run 40; expected a whole number from 0 to 39"):
        whole.replay(40)


def test_a_run_is_what_rollout_gives(whole: art.campaign.Result) -> None:
    """Without noise in the loop, a run is that of `simulate` with the same numbers."""
    table, run = whole.table, whole.replay(5)
    same = whole.campaign.study.loop.simulate(
        0.1, [table.inputs["q.joint1"][5], 0.0], params={"servo_kp": table.inputs["servo.kp"][5]}, sample=0.01
    )
    assert np.array_equal(same.q, run.q)


def test_worst_runs_are_kept_whole(whole: art.campaign.Result) -> None:
    worst = int(whole.table.figures["rate"].argmax())
    assert whole.worst("rate").tolist() == [worst]
    kept = art.load_run(whole.folder / "runs" / f"run_{worst:09d}.nc")
    assert np.array_equal(kept.q, whole.replay(worst).q)


def test_bands_hold_the_share_of_runs_they_say(whole: art.campaign.Result) -> None:
    """The initial angle varies: its percentiles are those of the inputs within one cell, 1.2 % of their width."""
    band, values = whole.bands([10, 50, 90])["q.joint1"], whole.table.inputs["q.joint1"]
    exact = np.quantile(values, [0.1, 0.5, 0.9], method="inverted_cdf")
    assert np.abs(band.values[:, 0] - exact).max() <= 3 * np.ptp(values) / 256
    assert (band.least[0], band.greatest[0]) == (values.min(), values.max())


def test_resume_and_extension(
    tmp_path: Path, whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = art.campaign.run(STUDY, runs=15, output=tmp_path / "c")
    assert first.complete
    shards = len(list((tmp_path / "c").glob("shard_*.h5")))
    with monkeypatch.context() as nothing:  # that nothing is left is known without reading the study
        nothing.setattr("articulus.study.campaign.design.Campaign.read", None)
        again = art.campaign.run(STUDY, runs=15, output=tmp_path / "c")
    assert len(list((tmp_path / "c").glob("shard_*.h5"))) == shards
    assert again.table.same(first.table)
    more = art.campaign.run(STUDY, runs=40, output=tmp_path / "c")
    assert more.table.same(whole.table)


def test_a_lost_shard_is_run_again_and_a_torn_ledger_rebuilt(
    tmp_path: Path, whole: art.campaign.Result
) -> None:
    place = tmp_path / "c"
    for runs in (10, 25, 40):
        art.campaign.run(STUDY, runs=runs, output=place)
    (place / "shard_000001.h5").unlink()
    with pytest.warns(DoubtfulResult, match=r"1 of its shards gone or damaged \(shard_000001.h5\)"):
        assert art.campaign.run(STUDY, output=place).table.same(whole.table)
    ledger = place / "ledger.sqlite"
    for end in ("-wal", "-shm"):
        Path(f"{ledger}{end}").unlink(missing_ok=True)
    ledger.write_bytes(ledger.read_bytes()[:5000] + b"torn" * 1000)
    assert art.campaign.run(STUDY, output=place).table.same(whole.table)
    base = sqlite3.connect(ledger)
    assert base.execute("SELECT SUM(count) FROM ranges").fetchone() == (40,)
    base.close()


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_a_ledger_that_is_lost_is_written_again_from_the_shards(tmp_path: Path, whole, how: str) -> None:  # type: ignore[no-untyped-def]
    place = tmp_path / "c"
    art.campaign.run(STUDY, output=place)
    before = sorted(place.glob("shard_*"))
    for end in ("", "-wal", "-shm"):
        (place / f"ledger.sqlite{end}").unlink(missing_ok=True)
    if how == "empty":
        (place / "ledger.sqlite").write_bytes(b"")
    assert len(art.campaign.show(place).table) == 40
    assert art.campaign.run(STUDY, output=place).table.same(whole.table)
    assert sorted(place.glob("shard_*")) == before  # nothing was run again


def test_what_was_tried_again_with_success_outlives_the_ledger(
    tmp_path: Path, whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, real = tmp_path / "c", work._rows

    def poisoned(campaign, first, count, scale):  # type: ignore[no-untyped-def]
        if first <= 7 < first + count:
            raise ZeroDivisionError("poisoned")
        return real(campaign, first, count, scale)

    with monkeypatch.context() as patch:
        patch.setattr(work, "_rows", poisoned)
        first = art.campaign.run(STUDY, output=place)
    assert np.flatnonzero(first.table.failed).tolist() == [7]
    assert art.campaign.run(STUDY, output=place, retry_failed=True).table.same(whole.table)
    before = sorted(place.glob("shard_*"))
    for end in ("", "-wal", "-shm"):
        (place / f"ledger.sqlite{end}").unlink(missing_ok=True)
    again = art.campaign.run(STUDY, output=place)
    assert again.table.same(whole.table)
    assert again.table.texts == {}
    assert sorted(place.glob("shard_*")) == before


def test_figures_that_some_runs_do_not_reach_are_shown_of_the_others(tmp_path: Path) -> None:
    text = STUDY.replace(
        "[[check]]",
        '[[event]]\ntype = "crossing"\nname = "stop"\nsignal = "t"\nlevel = "50 ms"\nstop = true\n[[check]]',
        1,
    )
    given = {"sampler": "grid", "requirements": [], "keep": {}, "bands": []}
    given["figures"] = {"late": {"signal": "v.joint1", "at": "80 ms"}}
    art.campaign.run(text, 4, vary={"stop.level": [0.02, 0.2]}, output=tmp_path / "c", **given)
    shown = CliRunner().invoke(app, ["campaign", "show", str(tmp_path / "c"), "--no-report"]).stdout
    (line,) = [x for x in shown.splitlines() if "late" in x]
    assert "nan" not in line
    one = art.campaign.show(tmp_path / "c").table.figures["late"]
    assert np.isnan(one).tolist() == [True, False, True, False]
    assert f"{one[1]:.6g}" in line
    art.campaign.run(text, 2, vary={"stop.level": [0.02, 0.03]}, output=tmp_path / "d", **given)
    shown = CliRunner().invoke(app, ["campaign", "show", str(tmp_path / "d"), "--no-report"]).stdout
    (line,) = [x for x in shown.splitlines() if "late" in x]
    assert line.count("–") == 3


def test_a_second_driver_changes_nothing(tmp_path: Path) -> None:
    art.campaign.run(STUDY, runs=4, output=tmp_path / "c")
    before = {p.name: p.read_bytes() for p in (tmp_path / "c").iterdir() if p.is_file()}
    with driver.Folder(tmp_path / "c").lock():
        for more in ({"runs": 8}, {"runs": 4, "requirements": []}):
            with pytest.raises(InputError, match=r"another process that works on this campaign"):
                art.campaign.run(STUDY, output=tmp_path / "c", **more)
    after = {p.name: p.read_bytes() for p in (tmp_path / "c").iterdir() if p.is_file()}
    assert {n for n in before if before[n] != after[n]} <= {driver.LOCK}  # `locked` above empties it


def test_a_driver_that_is_killed_while_it_claims_its_folder_can_begin_again(tmp_path: Path) -> None:
    place = tmp_path / "c"
    script = (
        "import os, signal, articulus as art\n"
        "from articulus.model.files import storage\n"
        "storage.os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"art.campaign.run({STUDY!r}, runs=4, output={str(place)!r})\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert list(place.iterdir())
    assert len(art.campaign.run(STUDY, runs=4, output=place).table) == 4


def test_the_command_line_shows_figures_in_the_unit_of_their_requirement(tmp_path: Path) -> None:
    figures = {
        "turn of joint 1": {"signal": "q.joint1", "at": "start"},
        "bare": {"signal": "q.joint1", "at": "start"},
    }
    given = {"vary": {"q.joint1": ["30 deg"]}, "keep": {}, "figures": figures}
    art.campaign.run(STUDY, 2, requirements=["turn of joint 1 < 45 deg"], output=tmp_path / "c", **given)
    shown = CliRunner().invoke(app, ["campaign", "show", str(tmp_path / "c"), "--no-report"]).stdout
    rows = {line.split("  ")[0].strip(): line.split()[-4:] for line in shown.splitlines() if line.strip()}
    assert rows["turn of joint 1"] == ["deg", "30", "30", "30"]
    assert rows["bare"] == ["rad", "0.523599", "0.523599", "0.523599"]


def test_a_shard_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    art.campaign.run(STUDY, output=tmp_path / "c")
    (shard,) = (tmp_path / "c").glob("shard_*")
    shard.write_bytes(shard.read_bytes()[:100])
    result = art.campaign.show(tmp_path / "c")
    with pytest.raises(InputError, match=r"found a shard that is gone or damaged"):
        result.table.figures["rate"]
    with pytest.raises(InputError, match=r"found a shard that is gone or damaged"):
        result.bands()


def test_notes_are_few_however_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk tells which of its runs was moved most; one of them is enough."""
    monkeypatch.setattr(driver, "FIRST_CHUNK", 8)
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.0)
    result = art.campaign.run(
        """
schema = 1
[study]
name = "bars"
model = "n_four_bar"
options = {n = 2}
[run]
t_end = "10 ms"
step = "1 ms"
""",
        runs=64,
        vary={"v.hinge0": {"normal": [1, 1]}},
        figures={"turn": "q.hinge0"},
    )
    (note,) = result.notes
    assert "off the constraints" in note
    assert len({tuple(work.run_rows(result.campaign, k, 8).notes.values()) for k in (0, 8)}) == 2


def test_a_doubtful_run_says_so_once_when_it_is_replayed() -> None:
    hard = STUDY.replace("400 N m s/rad", "-900 N m s/rad").replace('t_end = "0.1 s"', 't_end = "2 s"')
    result = art.campaign.run(hard, runs=16)
    (index, *_) = np.flatnonzero(result.table.doubts)
    with pytest.warns(DoubtfulResult) as told:
        run = result.replay(int(index))
    (text,) = [str(w.message) for w in told]
    assert text.startswith("'two_link': the result is doubtful\n")
    assert {d.run for d in run.warnings} == {0}


def test_another_campaign_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "c"
    art.campaign.run(STUDY, runs=4, output=place)
    before = {p.name: p.read_bytes() for p in place.iterdir() if p.is_file()}
    with pytest.raises(InputError, match=r"differs in: seed; expected the same one"):
        art.campaign.run(STUDY, runs=4, seed=9, output=place)
    with pytest.raises(InputError, match=r"differs in: study"):
        art.campaign.run(STUDY.replace("400 N m s/rad", "410 N m s/rad"), runs=4, output=place)
    settings = json.loads((place / "campaign.json").read_text())
    settings["identity"]["processor"] = "another"
    (place / "campaign.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"processor \(another then, .* now\)"):
        art.campaign.run(STUDY, runs=6, output=place)
    after = {p.name: p.read_bytes() for p in place.iterdir() if p.is_file()}
    assert {n: b for n, b in before.items() if n.startswith("shard")} == {
        n: b for n, b in after.items() if n.startswith("shard")
    }
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="found a folder with other files"):
        art.campaign.run(STUDY, runs=4, output=tmp_path / "full")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"runs": 0}, r"runs: found 0; expected a whole number, at least 1"),
        ({"vary": {"servo.kq": [1, 2]}}, r"no parameter, initial state or number of a component 'servo\.kq'"),
        ({"vary": {"q.joint3": [1, 2]}}, r"q\.joint3"),
        (
            {"figures": {"x": {"signal": "q.joint3"}}},
            r"no entry 'q\.joint3' of a signal; did you mean 'q\.joint2'",
        ),
        ({"requirements": ["rates < 2"]}, r"no figure 'rates'; did you mean 'rate'"),
        ({"sampler": "monte"}, r"sampler: found 'monte'"),
        ({"run": 3}, r"no key 'run'; did you mean 'runs'"),
        ({"bands": ["q.x"]}, r"bands: no entry 'q\.x'"),
        ({"threads": 0}, r"threads: found 0"),
        ({"runs": 10**20}, r"runs: found 1\d+; expected at most"),
        ({"figures": ["q.joint1"]}, r"figures: found \['q\.joint1'\]; expected a table"),
        ({"requirements": 3}, r"requirements: found 3; expected a list"),
        ({"bands": 3}, r"bands: found 3; expected a list"),
        ({"group": [3]}, r"campaign\.group: found \[3\]; expected tables"),
        ({"group": [{"names": 3}]}, r"campaign\.group\[0\]"),
        ({"second_order": "no"}, r"second_order: found 'no'; expected true or false"),
        ({"vary": {"seed": [-1, 2]}}, r"vary 'seed': found values from -1 to 2"),
    ],
)
def test_bad_input(given: dict, text: str) -> None:
    with pytest.raises((InputError, ModelError), match=text):
        art.campaign.run(STUDY, **({"runs": 4} | given))


def test_a_run_that_raises_is_set_aside_and_the_others_count(
    tmp_path: Path, whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunk is halved until the run is found; tried again after the fault is gone, the table is the undisturbed one."""
    real = work.run_rows

    def poisoned(campaign, first, count, scale):  # type: ignore[no-untyped-def]
        if first <= 13 < first + count:
            raise ZeroDivisionError("thirteen")
        return real(campaign, first, count, scale)

    monkeypatch.setattr(work, "run_rows", poisoned)
    result = art.campaign.run(STUDY, output=tmp_path / "c")
    table, others = result.table, np.arange(40) != 13
    assert len(table) == 40
    assert table.failed.tolist() == (~others).tolist()
    assert table.texts == {13: "raised: ZeroDivisionError: thirteen"}
    assert np.array_equal(table.figures["rate"][others], whole.table.figures["rate"][others])
    assert table.inputs["q.joint1"][13] == whole.table.inputs["q.joint1"][13]
    monkeypatch.undo()
    again = art.campaign.run(STUDY, output=tmp_path / "c", retry_failed=True)
    assert again.table.same(whole.table)
    assert (again.bands()["q.joint1"].values == whole.bands()["q.joint1"].values).all()


def test_a_study_that_cannot_run_at_all_ends_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(campaign, first, count, scale):  # type: ignore[no-untyped-def]
        raise ValueError("never")

    monkeypatch.setattr(work, "run_rows", broken)
    with pytest.raises(
        NumericalError, match=r"the first 16 runs could not be run and not one could; .*ValueError: never"
    ):
        art.campaign.run(STUDY)


def test_a_full_disk_keeps_what_was_written(
    tmp_path: Path, whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    art.campaign.run(STUDY, runs=20, output=tmp_path / "c")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(driver.shards, "_sync_folder", full)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        art.campaign.run(STUDY, output=tmp_path / "c")
    monkeypatch.undo()
    assert len(art.campaign.show(tmp_path / "c").table) == 20
    assert not list((tmp_path / "c").glob("*.tmp"))
    assert art.campaign.run(STUDY, output=tmp_path / "c").table.same(whole.table)


def test_command_line(study: Path, tmp_path: Path, whole: art.campaign.Result) -> None:
    runner, place = CliRunner(), tmp_path / "c"
    ran = runner.invoke(app, ["campaign", "run", str(study), "--runs", "12", "--output", str(place)])
    assert ran.exit_code == 0, ran.output
    assert "12 of 12 runs done, 0 without figures" in ran.output
    assert "turn < 0.610865238 rad" in ran.output
    status = runner.invoke(app, ["campaign", "status", str(place)])
    assert "12 of 12 runs done, complete" in status.output
    shown = runner.invoke(app, ["campaign", "show", str(place)])
    assert "rate" in shown.output
    assert shown.exit_code == 0
    assert np.array_equal(art.campaign.show(place).table.figures["rate"], whole.table.figures["rate"][:12])


def test_the_table_as_a_file(tmp_path: Path, whole: art.campaign.Result) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("rows.parquet", "rows.csv"):
        done = CliRunner().invoke(
            app, ["campaign", "show", str(whole.folder), "--table", str(tmp_path / name)]
        )
        assert done.exit_code == 0, done.output
    read = parquet.read_table(tmp_path / "rows.parquet")
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert read.column_names == list(rows[0])
    for name, values in {**whole.table.inputs, **whole.table.figures}.items():
        assert read[name].to_numpy().tobytes() == values.tobytes()
        assert [float(row[name]) for row in rows] == values.tolist()
    assert read["status"].to_pylist() == [row["status"] for row in rows] == ["complete"] * len(rows)
    with pytest.raises(InputError, match=r"ends in \.parquet or \.csv"):
        whole.table.save(tmp_path / "rows.txt")


def test_a_changed_file_of_the_study_is_refused(tmp_path: Path) -> None:
    """Model and tables of values are read from files; a campaign knows them by their content."""
    model = Path(art.__file__).parent / "model" / "library" / "two_link.toml"
    (tmp_path / "model.toml").write_text(model.read_text())
    (tmp_path / "gains.csv").write_text("kp\n800\n900\n")
    study = tmp_path / "arm.toml"
    text = STUDY.replace('model = "two_link"', 'model = "model.toml"')
    study.write_text(text.replace("{uniform = [800, 1000]}", '{table = "gains.csv", column = "kp"}'))
    first = art.campaign.run(study, runs=4)
    assert set(np.unique(first.table.inputs["servo.kp"])) <= {800.0, 900.0}
    assert sorted(Path(p).name for p in first.settings["files"]) == ["gains.csv", "model.toml"]
    art.campaign.run(study, runs=6)
    (tmp_path / "model.toml").write_text(model.read_text() + "\n")
    with pytest.raises(InputError, match=r"model\.toml has changed since the campaign began"):
        art.campaign.run(study, runs=8)
    with pytest.raises(InputError, match=r"model\.toml has changed since the campaign began"):
        art.campaign.show(first.folder).replay(0)


def test_a_study_that_lies_elsewhere_has_to_read_the_same_files(tmp_path: Path) -> None:
    """The text of the study is the same; its model is not, or is: the folder is refused, or taken, wherever the first study is."""
    model = (Path(art.__file__).parent / "model" / "library" / "two_link.toml").read_text()
    for name, text in (("a", model), ("b", model.replace("mass = 10", "mass = 11", 1)), ("c", model)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.toml").write_text(text)
        (tmp_path / name / "arm.toml").write_text(STUDY.replace('model = "two_link"', 'model = "model.toml"'))
    first = art.campaign.run(tmp_path / "a" / "arm.toml", runs=4, output=tmp_path / "out")
    for runs in (4, 6):
        with pytest.raises(InputError, match=r"b/model\.toml is another file since the campaign began"):
            art.campaign.run(tmp_path / "b" / "arm.toml", runs=runs, output=tmp_path / "out")
    (tmp_path / "a").rename(tmp_path / "moved")
    more = art.campaign.run(tmp_path / "c" / "arm.toml", runs=6, output=tmp_path / "out")
    assert np.array_equal(more.table.figures["turn"][:4], first.table.figures["turn"])
    assert np.array_equal(more.replay(5)["q.joint1"][:1], more.table.inputs["q.joint1"][5:])


def test_a_table_outlives_the_variable_of_its_campaign(whole: art.campaign.Result) -> None:
    """The folder of a study that was given as text goes when nobody can ask for its rows any more."""
    table = art.campaign.run(STUDY, runs=4).table
    gc.collect()
    assert np.array_equal(table.figures["rate"], whole.table.figures["rate"][:4])
    place = table._folder
    assert place.is_dir()
    del table
    gc.collect()
    assert not place.exists()


def test_nothing_is_given_beside_a_campaign() -> None:
    planned = art.campaign.Campaign.read(STUDY)
    for given in ({"runs": 4}, {"seed": 9}, {"vary": {"servo.kp": [1, 2]}}):
        with pytest.raises(InputError, match=rf"found {next(iter(given))} beside a Campaign"):
            art.campaign.run(planned, **given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="found vary beside a Campaign"):
        art.campaign.worst_case(planned, "rate", vary={"servo.kp": [1, 2]})


def test_fewer_runs_of_a_finished_campaign(tmp_path: Path) -> None:
    """They are there with the others; unless one of them is lost, or the design of fewer runs is another one."""
    art.campaign.run(STUDY, runs=12, output=tmp_path / "c")
    assert len(art.campaign.run(STUDY, runs=5, output=tmp_path / "c").table) == 12
    ledger = driver.Folder(tmp_path / "c").ledger()
    ledger.forget([3])
    ledger.close()
    assert (art.campaign.run(STUDY, runs=5, output=tmp_path / "c").table.index == np.arange(12)).all()
    art.campaign.run(STUDY, runs=12, sampler="latin hypercube", output=tmp_path / "l")
    with pytest.raises(InputError, match=r"differs in: sampler"):
        art.campaign.run(STUDY, runs=5, sampler="latin hypercube", output=tmp_path / "l")


def test_a_finished_campaign_is_known_by_every_number_and_their_order(tmp_path: Path) -> None:
    """The text of an array of more than 1000 numbers leaves out those in the middle; keys may be several names at once."""
    gains = np.linspace(800, 1000, 1500)
    other = gains.copy()
    other[700] += 1
    art.campaign.run(STUDY, runs=4, vary={"servo.kp": gains}, output=tmp_path / "c")
    with pytest.raises(InputError, match=r"differs in: axes"):
        art.campaign.run(STUDY, runs=4, vary={"servo.kp": other}, output=tmp_path / "c")
    two = {"q.joint1": [0.5, 0.6], "servo.kp": [800, 900]}
    art.campaign.run(STUDY, runs=4, vary=two, output=tmp_path / "o")
    with pytest.raises(InputError, match=r"differs in: axes"):
        art.campaign.run(STUDY, runs=4, vary=dict(reversed(two.items())), output=tmp_path / "o")
    both = {("q.joint1", "q.joint2"): art.campaign.Rows(((0.5, 0.1), (0.6, 0.2)))}
    assert len(art.campaign.run(STUDY, runs=4, vary=both, output=tmp_path / "t").table) == 4


def test_ctrl_c_ends_at_once_and_keeps_what_is_done(tmp_path: Path, whole: art.campaign.Result) -> None:
    """Interrupted with chunks done and one under way that never ends; it ends within 2 s of a processor that does nothing else, and the same command goes on."""
    study, place = tmp_path / "arm.toml", tmp_path / "c"
    study.write_text(STUDY)
    script = (
        "import threading\n"
        "from articulus.study.campaign import driver, work\n"
        "from articulus.cli.commands import main\n"
        "driver.FIRST_CHUNK, driver.CHUNK_SECONDS, driver.SHARD_SECONDS = 8, 0.0, 1e9\n"
        "real, take, taken = work.run_rows, driver.Driver._take, threading.Semaphore(0)\n"
        "def slow(campaign, first, count, scale):\n"
        "    if first >= 16 and scale is not None:\n"
        "        taken.acquire(), taken.acquire()\n"
        "        print('busy', flush=True)\n"
        "        threading.Event().wait()\n"
        "    return real(campaign, first, count, scale)\n"
        "def told(self, rows):\n"
        "    take(self, rows)\n"
        "    taken.release()\n"
        "work.run_rows, driver.Driver._take = slow, told\n"
        f"main(['campaign', 'run', {str(study)!r}, '--output', {str(place)!r}])\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    before, began = slowness(), time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    spent = time.monotonic() - began
    assert spent / max(before, slowness()) < 2.0
    assert process.returncode == 130
    assert f"interrupted: 16 of 40 runs are kept in {place}" in said.replace("\n", "")
    assert art.campaign.run(study, output=place).table.same(whole.table)
