"""The width of the vectors (ARTICULUS_LANES), optimization (ARTICULUS_OPTIMIZATION) and the number of threads change the speed, never a bit of
a result."""

import os
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus import kernel
from articulus.errors import InputError
from articulus.kernel import build, jit

ROLLOUT = """
import hashlib, numpy as np, articulus as art
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for name in ("puma600", "king_arm"):
    arm = art.load(name)
    q = np.tile(arm.neutral, (37, 1)) + 1e-2 * rng.standard_normal((37, arm.nq))
    run = art.rollout(arm, q0=q, t_end=0.01, step=0.001)
    digest.update(np.ascontiguousarray(run.q).tobytes() + np.ascontiguousarray(run.v).tobytes())
    digest.update(arm.mass_matrix(q).tobytes())
print(digest.hexdigest())
"""


def test_every_width_gives_the_same_bits(monkeypatch):
    rng = np.random.default_rng(1)
    arm = art.load("rrc7")
    function, rows = arm.function("forward_dynamics"), 21
    q, v, tau = rng.standard_normal((3, rows, arm.nv))
    found = {}
    for width in jit.WIDTHS:
        monkeypatch.setenv("ARTICULUS_LANES", width)
        code = kernel.compile(function)
        assert code.lanes == int(width)
        found[width] = code(q, v, tau)
    for width, value in found.items():
        np.testing.assert_array_equal(value, found["1"], err_msg=f"{width} lanes")


def test_rollouts_of_other_widths_thread_counts_and_optimization_give_the_same_bits(tmp_path):
    """In processes of their own, as a user would set the variables; the cache is shared by all widths."""
    digests = {}
    for lanes, threads, effort in (("1", "1", "1"), ("4", "1", "0"), ("", "3", "1")):
        given = {"ARTICULUS_LANES": lanes, "ARTICULUS_THREADS": threads, "ARTICULUS_OPTIMIZATION": effort}
        given = {**os.environ, **given}
        child = subprocess.run([sys.executable, "-c", ROLLOUT], env=given, capture_output=True, text=True)
        assert child.returncode == 0, child.stderr
        digests[lanes, threads, effort] = child.stdout
    assert len(set(digests.values())) == 1, digests


@pytest.mark.parametrize("wrong", ["3", "16", "0", "wide"])
def test_a_width_that_does_not_exist_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("ARTICULUS_LANES", wrong)
    x = ca.SX.sym("x")
    with pytest.raises(InputError, match=f"ARTICULUS_LANES = '{wrong}'; expected 1, 2, 4 or 8"):
        kernel.compile(ca.Function("f", [x], [x]))


@pytest.mark.parametrize("wrong", ["2", "-1", "fast"])
def test_an_effort_that_does_not_exist_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("ARTICULUS_OPTIMIZATION", wrong)
    x = ca.SX.sym("x")
    with pytest.raises(InputError, match=f"ARTICULUS_OPTIMIZATION = '{wrong}'; expected 0 or 1"):
        kernel.compile(ca.Function("f", [x], [x]))(1.0)


def test_without_the_variable_code_is_optimized(monkeypatch):
    monkeypatch.delenv("ARTICULUS_OPTIMIZATION")
    assert jit.optimization() == 1


def test_without_the_variable_the_widest_register_is_used(monkeypatch):
    monkeypatch.delenv("ARTICULUS_LANES", raising=False)
    assert jit.host().lanes == jit.widest()


def test_long_code_that_is_hurried_gives_the_same_bits(monkeypatch, tmp_path):
    monkeypatch.setenv("ARTICULUS_CACHE", str(tmp_path))
    monkeypatch.setenv("ARTICULUS_OPTIMIZATION", "1")
    monkeypatch.setattr(build, "LONG_TEXT", 0)
    efforts, machine = [], jit._machine
    monkeypatch.setattr(jit, "_machine", lambda effort: efforts.append(effort) or machine(effort))
    arm = art.load("rrc7")
    q, v, tau = np.random.default_rng(2).standard_normal((3, 21, arm.nv))
    found = []
    for hurried in (False, True):
        efforts.clear()
        code = kernel.cached(
            f"hurried {hurried}", lambda: arm.function("forward_dynamics"), hurried=hurried, ranks=None
        )
        found.append(code(q, v, tau))
        assert (0 in efforts) == hurried
    np.testing.assert_array_equal(*found)
