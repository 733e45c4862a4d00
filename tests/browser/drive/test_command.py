"""`articulus drive` as a user starts and ends it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")


def start(*arguments: str, folder) -> subprocess.Popen:
    command = [sys.executable, "-m", "articulus", "drive", "two_link", "--no-browser", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, cwd=folder, env={**os.environ, "COLUMNS": "200"}
    )


@pytest.mark.parametrize(("arguments", "warned"), [([], False), (["--host", "0.0.0.0"], True)])
def test_it_prints_its_address_and_ends_with_an_interrupt(tmp_path, arguments, warned) -> None:
    running = start("--port", "0", *arguments, folder=tmp_path)
    line = running.stdout.readline()
    assert re.search(r"http://\S+:\d+/[\w-]{32}/", line), line
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 0
    assert ("warning: listening on" in said) is warned
    assert "Traceback" not in said


def test_a_port_in_use_is_a_user_error(tmp_path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        running = start("--port", str(taken.getsockname()[1]), folder=tmp_path)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 2
    assert "--port" in said
    assert "Traceback" not in said
