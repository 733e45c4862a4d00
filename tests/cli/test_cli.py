"""The command line as a user meets it."""

import json
import shutil
import subprocess
import sys

import pytest

import coupled_zoo
from articulus import cases, cli

KEYS = {"case", "source", "quantity", "expected", "computed", "tolerance", "origin", "reason", "pass"} | {
    "deviation",
    "same_as",
}


@pytest.fixture
def articulus(capsys):
    """Return a function that runs a command and gives exit status, output and errors."""

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main(arguments)
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


@pytest.fixture
def broken(tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(cases.HERE / "cat215b", folder)
    path = folder / "case.toml"
    path.write_text(path.read_text().replace("17626.608", "17626.508"))
    return str(folder)


def test_help_lists_the_commands(articulus):
    code, out, _ = articulus("--help")
    assert code == 0
    assert all(word in out for word in ("info", "run", "verify", "bench", "demo", "--version"))


def test_campaign_has_commands_of_its_own(articulus, tmp_path):
    code, out, _ = articulus("campaign", "--help")
    assert code == 0
    assert all(word in out for word in ("run", "show", "status", "worst-case", "rare", "until"))
    for command in ("run", "worst-case", "rare", "until"):
        assert "--output" in articulus("campaign", command, "--help")[1], command
    code, _, err = articulus("campaign", "arm.toml", "--runs", "10")
    assert code == 2
    assert "articulus campaign run arm.toml" in " ".join(err.replace("│", "").split())
    code, _, err = articulus("campaign", "status", str(tmp_path / "arm.toml"))
    assert code == 2
    assert "found no campaign" in err


def test_version_names_what_code_depends_on(articulus):
    code, out, _ = articulus("--version")
    assert code == 0
    assert all(word in out for word in ("articulus", "casadi", "llvmlite", "LLVM", "lanes of 64 bits"))


def test_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "articulus", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("articulus ")


def test_info_draws_the_tree_of_a_branched_mechanism(articulus):
    code, out, _ = articulus("info", "human_torso")
    assert code == 0
    lines = out.splitlines()
    assert "6 bodies, 6 joints, nq = 6, nv = 6, 54.4 kg" in lines[0]
    assert any("├── head  neck (revolute)" in line for line in lines)
    assert any("left_hand (frame)" in line for line in lines)
    assert "2.7 0.4 2.7 0 0 0" in out


def test_info_shows_limits(articulus):
    assert "333812" in articulus("info", "cat215b")[1]


def test_info_passes_arguments_to_generators(articulus):
    assert "10 bodies" in articulus("info", "pendulum_chain", "--set", "n=10")[1]


def test_info_reads_files_with_parameters(articulus, tmp_path):
    path = tmp_path / "crane.toml"
    path.write_text("""
schema = 1
name = "crane [b]"
[parameters]
payload = 2.5
[body.boom]
mass = {parameter = "payload"}
inertia = [1, 1, 1]
[joint.lift]
type = "prismatic"
parent = "ground"
child = "boom"
axis = [0, 0, 1]
limits = {lower = -1, upper = 2}
""")
    code, out, _ = articulus("info", str(path))
    assert code == 0
    assert "crane [b]" in out
    assert "payload = 2.5" in out
    assert "-1 to 2" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "puma60"), "did you mean 'puma600'"),
        (("info", "nowhere/model.toml"), "model.toml"),
        (("info", "pendulum_chain", "--set", "n"), "expected NAME=VALUE"),
        (("info", "pendulum_chain", "--set", "n=0"), "at least 1"),
        (("info", "puma600", "--set", "n=3"), "takes no arguments"),
        (("verify", "puma60"), "did you mean 'puma600'"),
    ],
)
def test_mistakes_exit_with_2_and_no_traceback(articulus, arguments, message):
    code, out, err = articulus(*arguments)
    assert code == 2
    assert not out
    assert message in err
    assert "Traceback" not in err


def test_unknown_commands_and_options_exit_with_2(articulus):
    assert articulus("inof")[0] == 2
    assert articulus("verify", "--xml")[0] == 2


def test_verify_prints_the_table(articulus):
    code, out, _ = articulus("verify", "cat215b", "two_link")
    assert code == 0
    assert "16 rows, 16 pass, 0 known deviations, 0 fail" in out
    for word in (
        "case",
        "source",
        "quantity",
        "expected",
        "computed",
        "tolerance",
        "origin",
        "reason",
        "[rad/s^2]",
    ):
        assert word in out


def test_verify_json_has_exactly_the_keys(articulus):
    code, out, _ = articulus("verify", "cat215b", "--json")
    rows = json.loads(out)
    assert code == 0
    assert all(set(row) == KEYS for row in rows)
    assert all(row["pass"] is True for row in rows)


def test_verify_fails_with_1_on_a_wrong_digit(articulus, broken):
    code, out, _ = articulus("verify", broken)
    assert code == 1
    assert "6 rows, 5 pass, 0 known deviations, 1 fail" in out
    assert "FAIL" in out


def test_verify_json_fails_with_1_too(articulus, broken):
    code, out, _ = articulus("verify", broken, "--json")
    assert code == 1
    assert [row["pass"] for row in json.loads(out)].count(False) == 1


def test_verify_in_a_narrow_terminal_keeps_everything(articulus, monkeypatch):
    monkeypatch.setattr("articulus.cli.printing.PIPE_WIDTH", 80)
    code, out, _ = articulus("verify", "cat215b")
    assert code == 0
    assert "tolerance 5e-07; recomputed" in out
    assert "wong1991" in out


def test_verify_list_names_every_case(articulus):
    code, out, _ = articulus("verify", "--list")
    assert code == 0
    assert all(name in out for name in cases.names())
    assert [c["name"] for c in json.loads(articulus("verify", "--list", "--json")[1])] == cases.names()


def test_demo_shows_figures_report_and_what_to_do_next(articulus, tmp_path):
    code, out, err = articulus("demo", "--output", str(tmp_path / "deep" / "er"))
    report = tmp_path / "deep" / "er" / "cat215b_resolved.html"
    assert code == 0
    assert "compiling" in err
    assert all(text in out for text in (report.as_uri(), "peak flow [l/min]", "articulus drive cat215b"))
    assert report.stat().st_size > 500_000


def test_demo_into_a_file_is_a_users_mistake(articulus, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = articulus("demo", "--output", str(tmp_path / "file"))
    assert code == 2
    assert "cannot be made" in err


def test_info_shows_couplings(articulus, tmp_path):
    coupled_zoo.four_bar().save(tmp_path / "bar.toml")
    out = articulus("info", str(tmp_path / "bar.toml"))[1]
    assert "0.2 - 3 coupler" in out
    assert "0.02 wheel + 0.01 wheel^2" in out
    assert "nv = 3" in out


def test_info_lists_findings_and_warns_of_nothing_else(articulus, tmp_path, recwarn):
    inertia = '<inertia ixx="1" iyy="1" izz="2.05" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="a"><inertial><mass value="1"/>{inertia}</inertial></link>'
    joint = '<joint name="j" type="continuous"><parent link="w"/><child link="a"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="w"/>{link}{joint}</robot>')
    status, out, _ = articulus("info", str(tmp_path / "r.urdf"))
    assert status == 0
    assert "principal moments" in " ".join(out.split())
    assert not recwarn.list
