"""The server over the loopback: refusals, dropped messages, roles, and a machine that stops when nobody is there."""

from __future__ import annotations

import http.client
import json
import logging
import time
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("websockets", reason="needs the extra view: pip install 'articulus[view]'")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from articulus.browser.drive.protocol import HEADER
from articulus.browser.drive.server import DriveClient
from articulus.browser.drive.session import DrivePhase
from articulus.browser.web.messages import LARGEST

from ..browser import eventually
from .support import driving, two_link


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    with driving(two_link(), tmp_path_factory.mktemp("recordings")) as found:
        yield found


def join(driven, origin: str | None = None, url: str = "") -> ClientConnection:
    parts = urlsplit(driven.url)
    return connect(
        (url or driven.url).replace("http", "ws", 1) + "socket",
        additional_headers={"Origin": f"http://{parts.netloc}" if origin is None else origin},
        max_queue=None,
        close_timeout=2,
    )


def say(socket, **fields) -> None:
    socket.send(json.dumps(fields))


def heard(socket, kind: str) -> dict:
    """Return the next message of a kind."""
    while True:
        text = socket.recv(timeout=60)
        if isinstance(text, str) and (found := json.loads(text))["kind"] == kind:
            return found


def get(driven, path: str, **headers: str) -> tuple[int, bytes, dict]:
    connection = http.client.HTTPConnection(urlsplit(driven.url).netloc, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.headers)
    finally:
        connection.close()


def alone(driven) -> bool:
    return not driven.server.clients


def speed(driven) -> float:
    return float(np.abs(driven.session.plant.v(driven.session.shown.state)).max())


@pytest.fixture(autouse=True)
def empty(driven):
    yield
    assert eventually(lambda: alone(driven))


# who is let in


def test_pages_are_served_with_the_token_only(driven) -> None:
    path = urlsplit(driven.url).path
    status, body, headers = get(driven, path)
    assert status == 200
    assert b"<canvas" in body
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    for name in (
        "drive.js",
        "drive.css",
        "view.js",
        "three.min.js",
        "numbers.js",
        "scene.js",
    ):
        assert get(driven, path + name)[0] == 200, name
    assert get(driven, "/")[0] == get(driven, "/index.html")[0] == get(driven, "/guess/drive.js")[0] == 403


@pytest.mark.parametrize(
    "name",
    [
        "../server.py",
        "..%2fserver.py",
        "page/drive.js",
        "/etc/passwd",
        "drive.js/",
        "recordings",
        "%00",
        "socket",
    ],
)
def test_no_other_file_is_served(driven, name) -> None:
    assert get(driven, urlsplit(driven.url).path + name)[0] == 404


def test_a_foreign_host_is_refused(driven) -> None:
    assert get(driven, urlsplit(driven.url).path, Host="evil.example")[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null", ""])
def test_a_foreign_origin_is_refused(driven, origin) -> None:
    with pytest.raises(InvalidStatus) as refused:
        join(driven, origin)
    assert refused.value.response.status_code == 403


def test_a_bad_token_is_refused(driven) -> None:
    wrong = driven.url.replace(driven.access.token, "x" * len(driven.access.token))
    with pytest.raises(InvalidStatus) as refused:
        join(driven, url=wrong)
    assert refused.value.response.status_code == 403


def test_it_listens_on_this_machine_only(driven) -> None:
    assert urlsplit(driven.url).hostname == "127.0.0.1"


# what is dropped


def test_bad_messages_are_dropped_with_a_log_line_and_the_connection_stays(driven, caplog) -> None:
    with join(driven) as socket, caplog.at_level(logging.WARNING, logger="articulus.browser"):
        heard(socket, "hello")
        for count, text in enumerate(("{", '{"do": "fly"}', "x" * (LARGEST + 1)), 1):
            socket.send(text)
            assert eventually(
                lambda count=count: len([r for r in caplog.records if "dropped" in r.message]) == count
            )
            time.sleep(1.05)  # one line a second at most
        say(socket, do="pause")
        assert eventually(lambda: driven.session.phase is DrivePhase.PAUSED)
        say(socket, do="resume")
        assert eventually(lambda: driven.session.phase is DrivePhase.RUNNING)
    lines = [r.getMessage() for r in caplog.records if "dropped" in r.message]
    assert len(lines) == 3
    assert "no JSON" in lines[0]
    assert "unknown message" in lines[1]
    assert str(LARGEST) in lines[2]


def test_a_huge_message_ends_the_connection(driven) -> None:
    with join(driven) as socket:
        heard(socket, "hello")
        socket.send("x" * 200_000)
        with pytest.raises(ConnectionClosed):
            heard(socket, "the end")


def test_too_many_messages_are_dropped(driven, caplog) -> None:
    with join(driven) as socket, caplog.at_level(logging.WARNING, logger="articulus.browser"):
        for _ in range(2000):
            move(socket, [0, 0])
        assert eventually(lambda: any("too many" in r.getMessage() for r in caplog.records))


# driving


def move(socket, axes, number=1) -> None:
    say(socket, do="move", axes=axes, number=number)


def drive_until(socket, axes, condition) -> bool:
    """Hold sticks until something comes true, and return whether it did."""

    def held() -> bool:
        move(socket, axes)
        return bool(condition())

    return eventually(held)


def test_sticks_move_the_machine_and_are_echoed(driven) -> None:
    with join(driven) as socket:
        machine = heard(socket, "hello")["machine"]
        assert [axis["name"] for axis in machine["axes"]] == [axis.name for axis in two_link().axes]
        assert drive_until(socket, [1, 0], lambda: speed(driven) > 0.1)
        move(socket, [0, 0], number=77)
        numbers = next(found for found in frames(socket) if found[HEADER.index("echo")] == 77)
        bodies = len(machine["scene"]["bodies"])
        assert len(numbers) == len(HEADER) + 2 + machine["nq"] + machine["nv"] + 7 * bodies
        assert not numbers[len(HEADER) : len(HEADER) + 2].any(), "the state that answers knows the move"


def frames(socket):
    """Give frames as they come."""
    while True:
        content = socket.recv(timeout=60)
        if isinstance(content, bytes):
            yield np.frombuffer(content, "<f4")


def test_frames_come_30_times_a_second(driven) -> None:
    """The best of ten seconds, as tests share the processor; 60 are sent."""
    most = 0
    with join(driven) as socket:
        for _ in range(10):
            end, count = time.monotonic() + 1.0, 0
            for _ in frames(socket):
                count += 1
                if time.monotonic() > end:
                    break
            most = max(most, count)
            if most >= 20:
                return
    pytest.fail(f"at most {most} frames in a second; expected 20")


def test_an_echo_is_of_a_state_whose_sticks_were_read_after_it() -> None:
    client = DriveClient(1, None)
    client.note_move(5, at=100)
    client.note_move(6, at=120)
    assert [client.last_move(read) for read in (99, 100, 119, 500)] == [0, 5, 5, 6]


def test_silence_stops_the_machine(driven) -> None:
    with join(driven) as socket:
        assert drive_until(socket, [1, 0], lambda: speed(driven) > 0.1)
        assert eventually(lambda: driven.session.shown.stopped)
        assert eventually(lambda: speed(driven) < 1e-2)
        assert driven.session.phase is DrivePhase.RUNNING


def test_a_lost_connection_stops_the_machine_and_keeps_the_recording(driven) -> None:
    saved = len(driven.server.saved)
    with join(driven) as socket:
        say(socket, do="record")
        assert drive_until(socket, [1, 0], lambda: speed(driven) > 0.1)
        socket.socket.close()  # no goodbye
    assert eventually(lambda: driven.session.phase is DrivePhase.PAUSED)
    assert speed(driven) < 1e-2
    assert eventually(lambda: len(driven.server.saved) == saved + 1)
    assert driven.server.saved[-1].stat().st_size > 0


def test_the_first_drives_and_others_watch(driven, caplog) -> None:
    with join(driven) as first, caplog.at_level(logging.WARNING, logger="articulus.browser"):
        assert heard(first, "status")["yours"] == ["left"]
        with join(driven) as second:
            assert heard(second, "status")["yours"] == []
            assert heard(second, "status")["spectators"] == 1
            say(second, do="pause")
            assert drive_until(
                second, [1, 0], lambda: any("order of a spectator" in r.getMessage() for r in caplog.records)
            )
            assert speed(driven) < 1e-2
            assert driven.session.phase is DrivePhase.RUNNING
            say(second, do="take", group="left")
            assert heard(second, "status")["yours"] == []
            say(first, do="give", group="left")
            assert eventually(lambda: driven.server.holders["left"] is None)
            say(second, do="take", group="left")
            assert eventually(lambda: driven.server.holders["left"] is not None)
            assert drive_until(second, [1, 0], lambda: speed(driven) > 0.1)
