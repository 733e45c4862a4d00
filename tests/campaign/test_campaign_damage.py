"""Requirements that cannot be read are refused before the first run; damaged rows are noticed; a report is never all or nothing."""

import functools
import glob
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.study.campaign import report as report_package
from articulus.study.campaign.figures import Figure, Requirement, read_requirements, scales
from articulus.study.campaign.page.watch import Watch
from articulus.study.campaign.report import sections
from articulus.study.campaign.statistics import pass_rate

STUDY = """
schema = 1
[study]
name = "pendulum"
model = "pendulum_chain"
options = {n = 1}
[run]
t_end = "0.1 s"
step = "1 ms"
[campaign]
runs = 64
requirements = ["turn < BOUND"]
figures = {turn = "q.hinge1"}
[campaign.vary]
"q.hinge1" = {uniform = [-1, 1]}
"""


def command(*given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "articulus", *given], capture_output=True, text=True, timeout=120
    )


# requirements


@pytest.mark.parametrize("bound", ["5", "0.05", "12", "1.25", "1e-6", "-2.5e-1", "1_000", ".5", "0.05 rad", "3deg", "2 mrad"])  # fmt: skip
def test_a_bound_with_and_without_a_unit(bound: str) -> None:
    """Bound, unit and size agree with what Python and the table of units say of the same text."""
    figure = Figure("turn", "q.hinge1", "end", "rad")
    from articulus.model.files.units import convert

    (r,) = read_requirements(
        [f"turn < {bound}"], (figure,), lambda x, unit, at: convert(x, unit) if isinstance(x, str) else x
    )
    size = {"rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3}
    unit = next((u for u in ("mrad", "rad", "deg") if bound.endswith(u)), "rad")
    assert r.bound_unit == (unit, pytest.approx(size[unit], rel=1e-15))
    assert r.value == pytest.approx(float(bound.removesuffix(unit)) * size[unit], rel=1e-15)
    assert scales([r], {"turn": "rad"})["turn"] == r.bound_unit


def test_a_bound_in_the_own_unit_of_a_figure_that_si_does_not_have() -> None:
    own = Requirement("heat", "less", 3.0, "ohm", given="heat < 3 ohm")
    assert own.bound_unit == ("ohm", 1.0)
    other = Requirement("pressure", "less", 14.5, "psi", given="pressure < 1 bar")
    assert other.bound_unit == ("bar", pytest.approx(1e5 / 6894.757293168, rel=1e-9))


@pytest.mark.parametrize(
    "made", [("less", 1.0, "turn < 1 zz"), ("less", float("nan"), "turn < nan"), ("below", 1.0, "")]
)
def test_a_requirement_that_cannot_be_judged_is_refused_when_it_is_made(
    made: tuple[str, float, str],
) -> None:
    bound, value, given = made
    with pytest.raises(InputError, match="requirements: "):
        Requirement("turn", bound, value, "rad", given=given)


def test_a_plain_bound_to_the_end(tmp_path: Path) -> None:
    """Every consumer of a requirement takes a plain bound of several digits: command line, show, report, page, searches."""
    study = tmp_path / "s.toml"
    study.write_text(STUDY.replace("BOUND", "0.25"))
    ran = command("campaign", "run", str(study))
    assert ran.returncode == 0, ran.stderr
    assert "turn < 0.25" in ran.stdout
    assert "report:" in ran.stdout
    folder = tmp_path / "s.campaign"
    shown = command("campaign", "show", str(folder))
    assert shown.returncode == 0, shown.stderr
    state = Watch(folder).look()
    assert state["requirements"][0]["unit"] == "rad"
    table = art.campaign.show(folder).table
    kept = int((table.figures["turn"] < 0.25).sum())
    assert state["requirements"][0]["passed"] == kept
    assert f"{kept} of 64" in shown.stdout
    worst = art.campaign.worst_case(str(study), runs=64)
    assert worst.found.runs <= 64
    assert art.campaign.failure_probability(str(study), runs_per_level=100).probability > 0


def test_a_section_that_fails_does_not_take_the_report_along(monkeypatch: pytest.MonkeyPatch) -> None:
    result = art.campaign.run(STUDY.replace("BOUND", "0.25"))

    def broken(content: object) -> None:
        raise ZeroDivisionError("a section & its defect")

    monkeypatch.setattr(sections, "figures", broken)
    with pytest.warns(DoubtfulResult, match="the section 'Figures' could not be written"):
        text = report_package.report_text(result, replay=False)
    assert "ZeroDivisionError: a section &amp; its defect" in text
    for title in ("Requirements", "What varies", "How to reproduce"):
        assert f">{title}</h2>" in text


def test_whole_numbers_pass() -> None:
    assert pass_rate(np.int64(1), 3).passed == 1
    for passed, runs in ((1.5, 3), (1, 3.5), (True, 3), ("1", 3), (-1, 3), (4, 3)):
        with pytest.raises(InputError, match="expected whole numbers"):
            pass_rate(passed, runs)  # type: ignore[arg-type]


def test_doubtful_runs_are_told_with_their_reasons(tmp_path: Path) -> None:
    """A step that is too long for the fast hinge: the command line says which runs, and what about them."""
    study = tmp_path / "s.toml"
    text = STUDY.replace("BOUND", "1000").replace('step = "1 ms"', 'step = "0.25 s"')
    text = text.replace('"0.1 s"', '"20 s"').replace("runs = 64", "runs = 8")
    study.write_text(text.replace("[-1, 1]", "[2.8, 3.1]").replace("[run]", '[run]\nmethod = "rk4"'))
    ran = command("campaign", "run", str(study), "--no-report")
    assert ran.returncode == 0, ran.stderr
    assert "8 runs are doubtful" in ran.stdout
    assert ": energy" in ran.stdout
    assert "Likely cause" in ran.stdout


# damaged rows


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study and its finished campaign."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "s.toml").write_text(STUDY.replace("BOUND", "0.25"))
    art.campaign.run(folder / "s.toml")
    return folder


def _flip(shard: str, at: int, bit: int) -> None:
    with open(shard, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ (1 << bit)]))


def test_every_flipped_bit_of_a_shard_is_noticed_and_run_again(finished: Path, tmp_path: Path) -> None:
    whole = art.campaign.show(finished / "s.campaign").digest()
    rng = np.random.default_rng(4)
    (shard,) = glob.glob(str(finished / "s.campaign" / "shard_*.h5"))
    size = Path(shard).stat().st_size
    with h5py.File(shard) as held:
        figure = held["figures"].id.get_offset() + 8 * 7 + 6
    for k, at in enumerate([figure, size - 1, *rng.integers(size, size=6).tolist()]):
        place = tmp_path / str(k)
        shutil.copytree(finished, place)
        _flip(str(place / "s.campaign" / Path(shard).name), at, int(rng.integers(8)))
        held = art.campaign.show(place / "s.campaign")
        for ask in (held.digest, functools.partial(held.table.column, "figures", 0), held.report):
            with pytest.raises(InputError, match=r"shard_000000\.h5: found a shard that is gone or damaged"):
                ask()
        assert Watch(place / "s.campaign").look()["phase"] == "unreadable"
        if k < 2:
            shutil.copy(finished / "s.toml", place / "s.toml")
            with pytest.warns(DoubtfulResult, match="1 of its shards gone or damaged"):
                again = art.campaign.run(place / "s.toml")
            assert again.digest() == whole


def test_a_damaged_shard_does_not_come_back_with_a_ledger_that_is_rebuilt(
    finished: Path, tmp_path: Path
) -> None:
    """Without its ledger a shard is known by its own seal."""
    place = tmp_path / "c"
    shutil.copytree(finished, place)
    (shard,) = glob.glob(str(place / "s.campaign" / "shard_*.h5"))
    with h5py.File(shard) as held:
        at = held["figures"].id.get_offset() + 8 * 7 + 6
    _flip(shard, at, 5)
    for file in glob.glob(str(place / "s.campaign" / "ledger.sqlite*")):
        Path(file).unlink()
    assert len(art.campaign.show(place / "s.campaign").table) == 0


@pytest.mark.parametrize("column", ["file", "digest"])
def test_torn_texts_of_the_ledger_are_noticed(finished: Path, tmp_path: Path, column: str) -> None:
    """Bytes that are no text within a sound page."""
    place = tmp_path / "c"
    shutil.copytree(finished, place)
    base = sqlite3.connect(place / "s.campaign" / "ledger.sqlite")
    base.execute(f"UPDATE shards SET {column} = CAST(x'73ff41' AS TEXT)")
    base.commit()
    base.close()
    with pytest.raises(InputError, match="gone or damaged"):
        art.campaign.show(place / "s.campaign").digest()


def test_ranges_without_a_shard_are_not_believed(finished: Path, tmp_path: Path) -> None:
    place = tmp_path / "c"
    shutil.copytree(finished, place)
    base = sqlite3.connect(place / "s.campaign" / "ledger.sqlite")
    base.execute("DELETE FROM shards")
    base.commit()
    base.close()
    with pytest.raises(InputError, match="gone or damaged"):
        art.campaign.show(place / "s.campaign").digest()
