"""A run played live, heard by a client that speaks Foxglove's protocol through the package websockets."""

from __future__ import annotations

import json
import socket as socketlib
import struct
import threading

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, UnsupportedOperation
from articulus.simulation.running.watching import RunPart

client = pytest.importorskip("websockets.sync.client")
SPOKEN = ["foxglove.websocket.v1"]

from articulus.bridges import foxglove  # noqa: E402
from articulus.bridges.foxglove import LivePlayer  # noqa: E402


@pytest.fixture(scope="module")
def run() -> art.Run:
    return art.simulate(art.load("two_link"), 0.3, [0.1, 0.2], step=1e-3, sample=1e-2)


def test_a_listener_gets_what_it_asks_for(run: art.Run) -> None:
    with (
        LivePlayer(port=0) as player,
        client.connect(f"ws://127.0.0.1:{player.port}", subprotocols=["foxglove.websocket.v1"]) as socket,
    ):
        assert socket.subprotocol == "foxglove.websocket.v1"
        assert json.loads(socket.recv(timeout=5))["op"] == "serverInfo"
        gone = threading.Event()
        playing = threading.Thread(target=player.play, args=(run, 0.5, gone.is_set))
        playing.start()
        advertised = json.loads(socket.recv(timeout=5))
        topics = {c["topic"]: c for c in advertised["channels"]}
        assert {"/tf", "/scene", "/joint_states", "/signals/q"} <= set(topics)
        assert topics["/tf"]["schemaName"] == "foxglove.FrameTransforms"
        wish = {"op": "subscribe", "subscriptions": [{"id": 7, "channelId": topics["/signals/q"]["id"]}]}
        socket.send("nonsense")
        socket.send(json.dumps(wish))
        heard = []
        for _ in range(5):
            message = socket.recv(timeout=5)
            kind, subscription, at = struct.unpack("<BIQ", message[:13])
            heard.append((at, json.loads(message[13:])))
            assert (kind, subscription) == (1, 7)
        gone.set()
        playing.join(5)
    times = [at for at, _ in heard]
    assert times == sorted(times)
    assert abs((times[-1] - times[0]) / (len(times) - 1) / 2e7 - 1) < 1e-6  # 10 ms at half speed
    known = {round(x, 12) for x in run.q[:, 0]}
    assert all(round(content["joint1"], 12) in known for _, content in heard)


def test_it_listens_on_this_computer_alone_and_says_what_is_wrong(run: art.Run) -> None:
    with LivePlayer(port=0) as player:
        with pytest.raises(UnsupportedOperation, match="cannot be listened on"), LivePlayer(player.port):
            pass
        with pytest.raises(InputError, match="speed"):
            player.play(run, 0.0)
        many = art.rollout(run.mechanism, 0.01, [[0.0, 0.0], [1.0, 1.0]], step=1e-3)
        with pytest.raises(InputError, match="batch"):
            player.play(many)


def test_a_listener_with_odd_wishes_stays(run: art.Run) -> None:
    """Numbers that no packet holds are passed over; what is asked for after them comes, and the player plays on."""
    with (
        LivePlayer(port=0) as player,
        client.connect(f"ws://127.0.0.1:{player.port}", subprotocols=["foxglove.websocket.v1"]) as socket,
    ):
        player.play(run, 1000.0)
        socket.recv(timeout=5)
        advertised = json.loads(socket.recv(timeout=5))
        topics = {c["topic"]: c["id"] for c in advertised["channels"]}
        for odd in ("-1", "4294967296", "1e999", '"a"', "[" * 100_000):
            subscription = f'{{"id": {odd}, "channelId": {topics["/scene"]}}}'
            socket.send(f'{{"op": "subscribe", "subscriptions": [{subscription}]}}')
        wish = {"op": "subscribe", "subscriptions": [{"id": 7, "channelId": topics["/scene"]}]}
        socket.send(json.dumps(wish))
        messages = iter(lambda: socket.recv(timeout=5), None)
        data = next(m for m in messages if isinstance(m, bytes))  # what is advertised may come twice
        assert struct.unpack("<BI", data[:5]) == (1, 7)
    with pytest.raises(UnsupportedOperation, match="port must be"), LivePlayer(70_000):
        pass


def test_a_run_is_followed_while_it_is_computed() -> None:
    """A controller in Python waits in the middle of the run until a sample of its beginning has been heard."""
    heard, late = threading.Event(), []
    arm = art.load("two_link")

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.9 and not late:
            late.append(heard.wait(20))
        return np.zeros(2)

    with (
        LivePlayer(port=0) as player,
        client.connect(f"ws://127.0.0.1:{player.port}", subprotocols=["foxglove.websocket.v1"]) as socket,
    ):

        def work() -> None:
            with player.follow():
                art.simulate(
                    arm,
                    1.0,
                    [0.1, 0.2],
                    controller=art.PythonController(law, period=1e-2),
                    step=1e-3,
                    sample=1e-2,
                )

        running = threading.Thread(target=work)
        running.start()
        topics: dict[str, int] = {}
        while "/signals/q" not in topics:
            message = json.loads(socket.recv(timeout=20))
            topics |= {c["topic"]: c["id"] for c in message.get("channels", ())}
        wanted = [
            {"id": number, "channelId": topics[name]} for number, name in enumerate(("/signals/q", "/scene"))
        ]
        socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
        kinds = set()
        while kinds != {0, 1}:
            message = socket.recv(timeout=20)
            if isinstance(message, bytes):
                kinds.add(struct.unpack("<BI", message[:5])[1])
                heard.set()
        running.join(20)
    assert late == [True]


def test_pages_of_others_and_other_names_are_refused() -> None:
    """What a foreign web page sends has its origin, what reaches this computer by another name has that name."""
    exceptions = pytest.importorskip("websockets.exceptions")
    with LivePlayer(port=0, origins=("https://foxglove.example.org",)) as player:
        url = f"ws://127.0.0.1:{player.port}"
        for origin in (
            None,
            "https://app.foxglove.dev",
            "https://foxglove.example.org",
            "http://localhost:8080",
        ):
            with client.connect(url, origin=origin, subprotocols=SPOKEN) as socket:
                assert json.loads(socket.recv(timeout=5))["op"] == "serverInfo"
        for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://[bad"):
            with (
                pytest.raises(exceptions.InvalidStatus, match="403"),
                client.connect(url, origin=origin, subprotocols=SPOKEN),
            ):
                pass
        with pytest.raises(exceptions.InvalidStatus, match="403"):
            client.connect(
                f"ws://rebound.example:{player.port}",
                sock=socketlib.create_connection(("127.0.0.1", player.port)),
            )


def test_a_listener_who_does_not_read_holds_a_bounded_queue() -> None:
    """What waits for it is bounded, the oldest is dropped, and the player neither waits nor grows."""
    player = LivePlayer(port=0)
    player._channels = [{"id": 1, "topic": "/signals/q"}]
    listener = foxglove._Listener()
    listener.subscribed[1] = 7
    player._clients = {None: listener}
    player._loop.call_soon_threadsafe = lambda *_: None  # type: ignore[method-assign]
    for k in range(3 * foxglove.MOST_WAITING):
        player._send(1, k, b"x")
    assert len(listener.waiting) == foxglove.MOST_WAITING
    assert player.dropped == 2 * foxglove.MOST_WAITING
    assert struct.unpack("<BIQ", listener.waiting[-1][:13])[2] == 3 * foxglove.MOST_WAITING - 1
    player._loop.close()


def test_a_feed_sends_what_is_new() -> None:
    """Polled states of one time are sent once; another mechanism gets its shapes."""
    sent = []

    class Player:
        def _tell(self, part: RunPart, begin: float, start: int, speed: float, scene: bool) -> None:
            sent.append((float(part.t[0]), scene))

    feed = foxglove.LiveFeed(Player())  # type: ignore[arg-type]
    arm, other = art.load("two_link"), art.load("puma600")
    for mechanism, t in ((arm, 0.0), (arm, 0.1), (other, 0.2), (other, 0.0)):
        feed.send(RunPart.of(mechanism, np.array([t]), mechanism.neutral[None], np.zeros((1, mechanism.nv))))
    assert sent == [(0.0, True), (0.1, False), (0.2, True), (0.0, True)]
    polled, began = threading.Event(), len(sent)

    def read() -> RunPart:
        if len(sent) > began + 3:
            polled.set()
        return RunPart.of(arm, np.array([1.0 + len(sent)]), arm.neutral[None], np.zeros((1, arm.nv)))

    with feed.polling(read):
        assert polled.wait(20)
    assert [scene for _, scene in sent[began : began + 3]] == [True, False, False]


def test_a_study_is_followed(tmp_path, monkeypatch) -> None:
    from typer.testing import CliRunner

    from articulus.cli import app

    sent: list[RunPart] = []
    monkeypatch.setattr(foxglove.LiveFeed, "send", lambda self, part: sent.append(part))
    text = 'schema = 1\n[study]\nname = "swing"\nmodel = "two_link"\n[run]\nt_end = 0.05\nstep = 1e-3\n'
    (tmp_path / "study.toml").write_text(text)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "study.toml"), "--foxglove", "0", "--no-report"])
    assert done.exit_code == 0, done.output
    assert np.concatenate([part.t for part in sent])[0] == 0.0
    assert all(part.q.shape == (len(part.t), 2) for part in sent)
