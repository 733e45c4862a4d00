"""A loop served in real time: its own clients in C and Python, the watchdog, packets that are none."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import articulus as art
from articulus.bridges.serve import FAILED, UNCOMMANDED, Server
from articulus.bridges.shared import SharedStates
from articulus.errors import InputError, UnsupportedOperation

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "serve"


def client(name: str = "client") -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"serve_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def serving(*given, **more) -> Iterator[Server]:
    server = Server(*given, **more)
    stop = threading.Event()
    thread = threading.Thread(target=server.run, kwargs={"duration": 20.0, "until": stop.is_set})
    thread.start()
    try:
        yield server
    finally:
        stop.set()
        thread.join(5)
        server.close()


def test_states_are_those_of_simulate() -> None:
    """Without commands the served loop does what one run does, tick for tick."""
    arm, there = art.load("two_link"), client()
    with serving(arm, 200.0, q0=[0.3, 0.2]) as server:
        link, told = there.connect(server.port)
        states = [there.state(link) for _ in range(20)]
        link.close()
    assert told["columns"] == ["q.joint1", "q.joint2", "v.joint1", "v.joint2"]
    assert told["units"] == ["rad", "rad", "rad/s", "rad/s"]
    assert told["commands"] == ["joint1", "joint2"]
    end = max(tick for tick, *_ in states)
    run = art.simulate(arm, (end + 1) / 200, [0.3, 0.2], step=1 / 200)
    for tick, time, flags, values in states:
        assert time == pytest.approx(tick / 200, abs=1e-12)
        assert flags & UNCOMMANDED
        assert np.allclose(values, np.concatenate([run.q[tick], run.v[tick]]), rtol=1e-12, atol=1e-13)


def test_commands_move_it_until_the_watchdog_takes_them_away() -> None:
    arm, there = art.load("two_link"), client()
    hold = arm.gravity(np.zeros(2))
    with serving(arm, 200.0, watchdog=0.05, safe=hold) as server:
        link, _ = there.connect(server.port)
        there.command(link, 41, [100.0, 0.0])
        heard = [there.state(link) for _ in range(60)]
        link.close()
        statistics = server.statistics
    commanded = [k for k, (*_, flags, _) in enumerate(heard) if not flags & UNCOMMANDED]
    assert 1 <= len(commanded) < 40
    assert heard[-1][2] & UNCOMMANDED
    assert max(abs(values[0]) for *_, values in heard) > 1e-4
    assert statistics.heard == 1
    assert statistics.uncommanded > 0


def test_packets_that_are_none_are_counted_and_do_nothing() -> None:
    there = client()
    with serving(art.load("two_link"), 200.0) as server:
        link, _ = there.connect(server.port)
        for bad in (
            b"",
            b"ATCC",
            b"ATCC" + bytes(8 + 8),
            b"hello world",
            struct.pack("<4sQ2d", b"ATCC", 1, np.nan, 0.0),
            bytes(60_000),
        ):
            link.send(bad)
        for _ in range(5):
            last = there.state(link)
        link.close()
        assert server.statistics.refused >= 5
        assert server.statistics.heard == 0
    assert last[2] & UNCOMMANDED


def test_a_run_that_fails_stands_still_and_says_so() -> None:
    there = client()
    with serving(art.load("two_link"), 200.0, watchdog=10.0) as server:
        link, _ = there.connect(server.port)
        there.command(link, 1, [1e300, -1e300])
        for _ in range(40):
            *_, flags, values = there.state(link)
            if flags & FAILED:
                break
        link.close()
    assert flags & FAILED
    assert np.isfinite(values).all()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_client_in_c(tmp_path: Path) -> None:
    program = tmp_path / "client"
    subprocess.run(
        [
            "gcc",
            "-O2",
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-D_POSIX_C_SOURCE=200809L",
            EXAMPLES / "client.c",
            "-o",
            program,
        ],
        check=True,
    )
    with serving(art.load("two_link"), 200.0, q0=[0.4, -0.2], watchdog=0.5) as server:
        done = subprocess.run(
            [program, str(server.port), "100"], check=False, capture_output=True, text=True, timeout=20
        )
        assert server.statistics.heard > 50
    assert done.returncode == 0, done.stderr
    assert "100 states" in done.stdout


def test_it_listens_on_this_computer_alone() -> None:
    server = Server(art.load("two_link"), 100.0)
    assert server._socket.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InputError, match="cannot be used"):
        Server(art.load("two_link"), 100.0, port=server.port)
    server.close()


def test_what_cannot_be_served_is_named() -> None:
    arm = art.load("two_link")
    with pytest.raises(UnsupportedOperation, match="Python function"):
        Server(art.Loop(arm, lambda t, q, v: [0.0, 0.0]))
    for wrong in ({"rate": -1.0}, {"step": 3e-4}, {"watchdog": 0.0}, {"safe": [1.0]}):
        with pytest.raises(InputError, match="serve"):
            Server(arm, **wrong)


def test_deadlines_are_told() -> None:
    server = Server(art.load("two_link"), 200.0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM):
        found = server.run(0.1)
    server.close()
    assert found.ticks == 20
    assert len(found.work) == 20
    assert dict(found.figures())["commands heard"].startswith("0;")


@pytest.mark.parametrize(
    "wrong", [{"port": 70_000}, {"port": -1}, {"step": 0.0}, {"step": float("nan")}, {"safe": ["a", "b"]}]
)
def test_numbers_that_are_none_are_refused_by_name(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Server(art.load("two_link"), 200.0, **wrong)


def test_a_description_that_no_packet_holds_is_refused() -> None:
    """900 values are 7 kB in each state, but their names are more than 65 kB in the description: refused at the start, where a hello would end the server."""
    arm = art.load("two_link")
    name = "a_signal_with_a_name_that_is_rather_long_for_each_of_its_many_repetitions"
    gauges = [art.components.FramePose("tip", name=f"{name}{k}") for k in range(300)]
    with pytest.raises(InputError, match="names and units of"):
        Server(art.Loop(arm, components=gauges), outputs=[f"{g.name}.position" for g in gauges])


def test_shared_memory_is_what_udp_is(tmp_path: Path) -> None:
    """States are those of `simulate`, commands move the arm, the watchdog takes them away, and the file is gone at the end."""
    arm, there, path = art.load("two_link"), client("shared"), tmp_path / "arm"
    with serving(arm, 200.0, q0=[0.3, 0.2], watchdog=0.05, shared=path) as server:
        assert path.stat().st_mode & 0o777 == 0o600
        memory, told = there.connect(str(path))
        assert told == {
            **server.description(),
            "commands": list(told["commands"]),
            "columns": list(server.columns),
            "units": list(server.units),
            "tick": told["tick"],
        }
        states = [there.state(memory)]
        for _ in range(5):
            states.append(there.state(memory, states[-1][0]))
        there.command(memory, 1, [np.nan, 0.0])
        there.state(memory, there.state(memory)[0] + 1)
        assert server.statistics.refused == 1
        assert server.statistics.heard == 0
        there.command(memory, 41, [100.0, 0.0])
        heard = [there.state(memory)]
        while heard[-1][0] < heard[0][0] + 40:
            heard.append(there.state(memory, heard[-1][0]))
        memory.close()
        assert server.statistics.heard == 1
    assert not path.exists()
    assert heard[-1][2] & UNCOMMANDED
    assert any(not flags & UNCOMMANDED for _, _, flags, _ in heard)
    end = states[-1][0]
    run = art.simulate(arm, (end + 1) / 200, [0.3, 0.2], step=1 / 200)
    for tick, time, _, values in states:
        assert time == pytest.approx(tick / 200, abs=1e-12)
        assert np.allclose(values, np.concatenate([run.q[tick], run.v[tick]]), rtol=1e-12, atol=1e-13)


def test_commands_that_are_half_written_are_not_taken(tmp_path: Path) -> None:
    shared = SharedStates(tmp_path / "half", {}, 1, 2)
    memory, _ = client("shared").connect(str(tmp_path / "half"))
    assert shared.commands() is None
    client("shared").command(memory, 5, [1.0, 2.0])
    number, values = shared.commands() or (0, np.zeros(0))
    assert (number, *values) == (5, 1.0, 2.0)
    assert shared.commands() is None
    struct.pack_into("<Q", memory, 48, 3)  # a client that died while it wrote
    assert shared.commands() is None
    memory.close()
    shared.close()


def test_shared_memory_takes_no_file_that_exists(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InputError, match="does not exist"):
        Server(art.load("two_link"), 100.0, shared=tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_client_in_c_of_shared_memory(tmp_path: Path) -> None:
    flags = ["-O2", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_POSIX_C_SOURCE=200809L"]
    subprocess.run(["gcc", *flags, EXAMPLES / "shared.c", "-o", tmp_path / "shared"], check=True)
    with serving(
        art.load("two_link"), 200.0, q0=[0.4, -0.2], watchdog=0.5, shared=tmp_path / "arm"
    ) as server:
        done = subprocess.run(
            [tmp_path / "shared", tmp_path / "arm", "100"],
            check=False,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert server.statistics.heard > 50
    assert done.returncode == 0, done.stderr
    assert "100 states" in done.stdout
