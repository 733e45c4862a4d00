"""The cache: warm starts, damage, permissions, concurrency."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.kernel import cache, jit


def square() -> ca.Function:
    x = ca.SX.sym("x", 3)
    return ca.Function("square", [x], [x * x], ["x"], ["y"])


def forget() -> None:
    """Do as a new process would: lose every kernel in memory."""
    kernel._sources.clear()
    kernel._kernels.clear()


def never() -> ca.Function:
    raise AssertionError("build was called on a warm start")


def test_warm_start_builds_nothing(own_cache):
    calls = []
    k = kernel.cached("one", lambda: calls.append(1) or square())
    k([1.0, 2.0, 3.0])
    k(np.ones((9, 3)))
    assert kernel.cached("one", never)(np.ones((2, 3))).tolist() == [[1.0] * 3] * 2
    assert len(calls) == 1
    forget()
    warm = kernel.cached("one", never)
    assert warm([1.0, 2.0, 3.0]).tolist() == [1.0, 4.0, 9.0]
    assert warm(np.ones((9, 3))).shape == (9, 3)
    assert (warm.input_shapes, warm.output_names, warm.instruction_count) == (((3,),), ("y",), 3)
    assert oct(own_cache.stat().st_mode & 0o777) == "0o700"
    widths = {1, k.lanes}  # the signature, and the code of each width
    assert len(list(own_cache.glob("*.kernel"))) == 1 + len(widths)


def test_compiled_functions_are_found_again(monkeypatch):
    kernel.compile(square())(np.ones(3))
    monkeypatch.setattr(jit, "compile_object", lambda *given: pytest.fail("compiled again"))
    assert kernel.compile(square())([2.0, 0.0, 1.0]).tolist() == [4.0, 0.0, 1.0]


def test_any_damage_is_found():
    """Flip a random byte, cut or extend the file: 100 of 100 are ignored."""
    fields = {"key": "damage"}
    payload = os.urandom(3000)
    cache.store(fields, payload)
    (path,) = cache.folder().glob("*.kernel")
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    assert cache.load(fields) == payload
    for trial in range(100):
        damaged = bytearray(whole)
        damaged[rng.integers(len(damaged))] ^= int(rng.integers(1, 256))
        path.write_bytes(
            [damaged, whole[: rng.integers(len(whole))], whole + b"\0"][0 if trial < 80 else 1 + trial % 2]
        )
        assert cache.load(fields) is None
    path.write_bytes(whole)
    assert cache.load(fields) == payload


def test_a_damaged_kernel_is_rebuilt(own_cache):
    k = kernel.cached("one", square)
    k(np.ones(3))
    for path in own_cache.glob("*.kernel"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    forget()
    assert kernel.cached("one", square)([3.0, 0.0, 0.0]).tolist() == [9.0, 0.0, 0.0]
    forget()
    assert kernel.cached("one", never)([3.0, 0.0, 0.0]).tolist() == [9.0, 0.0, 0.0]


@pytest.mark.parametrize("what", ["version", "source", "cpu", "renamed"])
def test_other_versions_and_machines_are_ignored(what, monkeypatch, own_cache):
    kernel.cached("one", square)(np.ones(3))
    forget()
    if what == "version":
        monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    elif what == "source":
        monkeypatch.setattr(cache, "source_digest", lambda: "other")
    elif what == "cpu":
        monkeypatch.setattr(jit, "versions", lambda: {"cpu": "other"})
    else:
        files = sorted(own_cache.glob("*.kernel"))
        contents = [f.read_bytes() for f in files]
        for file, content in zip(files, contents[1:] + contents[:1]):
            file.write_bytes(content)
    calls = []
    kernel.cached("one", lambda: calls.append(1) or square())(np.ones(3))
    assert calls == [1]


@pytest.mark.parametrize("off", ["off", "0", "OFF"])
def test_off_switch(off, monkeypatch, own_cache):
    monkeypatch.setenv("ARTICULUS_CACHE", off)
    assert kernel.cached("one", square)([1.0, 2.0, 3.0]).tolist() == [1.0, 4.0, 9.0]
    assert not own_cache.exists()


def test_default_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("ARTICULUS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "articulus"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")
def test_a_folder_others_may_write_to_is_refused(own_cache):
    own_cache.mkdir(mode=0o700)
    own_cache.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=r"open to others \(mode 777\).*Delete it"):
        k = kernel.cached("one", square)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert k([1.0, 2.0, 3.0]).tolist() == [1.0, 4.0, 9.0]
    assert not list(own_cache.iterdir())


def wrong() -> ca.Function:
    x = ca.SX.sym("x", 3)
    return ca.Function("square", [x], [-x], ["x"], ["y"])


def plant(own_cache) -> list[bytes]:
    """Leave entries of another function, made with another secret, under the names of `square`; return them."""
    kernel.cached("one", wrong)([1.0, 2.0, 3.0])
    planted = {path.name: path.read_bytes() for path in own_cache.glob("*.kernel")}
    (own_cache / "secret").unlink()
    cache._secret.cache_clear()
    forget()
    cache.folder()
    for name, content in planted.items():
        (own_cache / name).write_bytes(content)
        (own_cache / name).chmod(0o600)
    return list(planted.values())


def test_planted_code_is_not_loaded(own_cache):
    """Somebody who could write to the folder once, but not read the secret, cannot make an entry that counts."""
    planted = plant(own_cache)
    assert kernel.cached("one", square)([1.0, 2.0, 3.0]).tolist() == [1.0, 4.0, 9.0]
    assert not set(planted) & {path.read_bytes() for path in own_cache.glob("*.kernel")}


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")
@pytest.mark.parametrize("what", ["mode", "owner", "link", "fifo"])
def test_an_entry_of_somebody_else_is_not_loaded(what, monkeypatch, own_cache):
    fields = {"key": "mine"}
    cache.store(fields, b"code")
    (path,) = own_cache.glob("*.kernel")
    if what == "mode":
        path.chmod(0o666)
    elif what == "owner":
        another = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: another)
    elif what == "link":
        path.rename(own_cache / "elsewhere")
        path.symlink_to(own_cache / "elsewhere")
    else:
        path.unlink()
        os.mkfifo(path)
    if what == "link":
        assert cache.load(fields) is None
    else:
        with pytest.warns(RuntimeWarning, match="an entry is ignored"):
            assert cache.load(fields) is None
    monkeypatch.undo()
    monkeypatch.setenv("ARTICULUS_CACHE", str(own_cache))
    cache.store(fields, b"code")  # takes the place of what was there
    assert cache.load(fields) == b"code"
    assert not path.is_symlink()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")
@pytest.mark.parametrize("what", ["mode", "short"])
def test_a_secret_that_others_know_is_refused(what, own_cache):
    cache.store({"key": "mine"}, b"code")
    secret = own_cache / "secret"
    assert oct(secret.stat().st_mode & 0o777) == "0o600"
    if what == "mode":
        secret.chmod(0o644)
    else:
        secret.write_bytes(b"short")
    cache._secret.cache_clear()
    with pytest.warns(RuntimeWarning, match="not used: .*[dD]elete"):
        assert cache.folder() is None


def test_a_folder_that_cannot_be_made_is_no_error(own_cache):
    own_cache.write_text("a file, not a folder")
    with pytest.warns(RuntimeWarning, match="not used"):
        assert kernel.cached("one", square)([1.0, 2.0, 3.0]).tolist() == [1.0, 4.0, 9.0]


SCRIPT = """
import casadi as ca, numpy as np
from articulus import kernel
x = ca.SX.sym("x", 3)
y = x
for _ in range(300):
    y = ca.sin(y) + x * y
f = ca.Function("f", [x], [y])
print(kernel.compile(f)(np.arange(30.0).reshape(10, 3) / 30).tobytes().hex())
"""


FOUND = """
from articulus.kernel import jit
jit.compile_object = None  # a call would raise: everything comes from the cache
"""


def test_two_processes_at_once(own_cache):
    command = [sys.executable, "-c", SCRIPT]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [p.communicate(timeout=60)[0] for p in both]
    assert answers[0] == answers[1] != ""
    # signature and wide code, readable by both: the key and the secret are the same in both processes
    assert sorted(p.suffix for p in own_cache.iterdir()) == ["", ".kernel", ".kernel"]
    assert subprocess.run([*command[:-1], FOUND + SCRIPT], timeout=60).returncode == 0


def test_two_threads_compile_once(monkeypatch):
    compiled = []
    real = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", lambda *given: compiled.append(1) or real(*given))
    built = []
    results = []

    def use() -> None:
        results.append(kernel.cached("one", lambda: built.append(1) or square())(np.ones((4, 3))))

    workers = [threading.Thread(target=use) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (len(built), len(compiled), len(results)) == (1, 1, 6)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_work_after_fork(monkeypatch):
    monkeypatch.setattr("articulus.kernel.batch.SHARE", 1)
    k = kernel.compile(square())
    x = np.ones((64, 3))
    with kernel.threads(2):
        k(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns about fork with threads
            child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(k(x), x) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
