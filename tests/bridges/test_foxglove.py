"""A run played live, heard by a client that speaks Foxglove's protocol through the package websockets."""

from __future__ import annotations

import json
import struct
import threading

import pytest

import articulus as art
from articulus.errors import InputError, UnsupportedOperation

client = pytest.importorskip("websockets.sync.client")

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
