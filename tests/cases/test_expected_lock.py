"""An independent number is never replaced by the change that breaks it: `expected.lock` lists them all."""

import subprocess

import pytest
from lock import HERE, Line, independent, locked, lost, withdrawn


def test_no_independent_number_is_gone_or_changed_or_looser():
    """One that is not reached any more gets `deviation` in its row; one that was wrong is named in withdrawn.toml."""
    assert not [str(line) for line in lost(locked(), independent(), withdrawn())]


def test_every_independent_number_is_in_the_lock():
    known = {str(line) for line in locked()}
    missing = [str(row) for row in independent() if str(row) not in known]
    assert not missing, "run python tests/cases/lock.py"


def test_nothing_is_ever_taken_out_of_the_lock():
    """Of all lines that any commit took out of the lock, none is missing today."""
    command = ["git", "log", "-p", "--format=", "--unified=0", "--", "expected.lock"]
    try:
        history = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no repository")
    gone = [line[1:] for line in history.splitlines() if line.startswith("-") and not line.startswith("--- ")]
    out = {line for line in gone if "\t" in line}  # others, such as marks of a merge, are no rows
    assert not out - {str(line) for line in locked()}


def test_withdrawn_numbers_have_a_reason_and_were_locked():
    known = {(line.case, line.quantity) for line in locked()}
    for entry in withdrawn():
        assert len(entry["reason"]) > 20, entry
        assert (entry["case"], entry["quantity"]) in known, entry


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, 0),
        ({"tolerance": 0.05}, 0),
        ({"tolerance": 0.2}, 1),
        ({"expected": 1.01}, 1),
        ({"origin": "assumed"}, 1),
        ({"quantity": "y [m]"}, 1),
    ],
)
def test_what_counts_as_lost(change, found):
    line = Line("crane", "x [m]", "printed", 0.1, 1.0)
    assert len(lost([line], [line._replace(**change)], [])) == found


def test_a_withdrawn_number_is_not_lost():
    line = Line("crane", "x [m]", "printed", 0.1, 1.0)
    assert not lost([line], [], [{"case": "crane", "quantity": "x [m]", "expected": 1, "reason": "misprint"}])
