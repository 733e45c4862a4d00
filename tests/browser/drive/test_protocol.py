"""Messages and access: what is taken, what is dropped, who is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articulus.browser.drive import Access
from articulus.browser.drive.protocol import (
    Act,
    Choose,
    ChooseDelay,
    Message,
    Move,
    SwitchSoil,
    TakeAxes,
    read,
)
from articulus.browser.web.messages import LARGEST, MessageError

from .support import two_link


def test_good_messages() -> None:
    def of(**fields):
        return read(json.dumps(fields), two_link())

    assert of(do="move", axes=[0.5, -3], number=7) == Move((0.5, -1.0), 7)
    assert of(do="pause") == Act("pause")
    assert of(do="mode", mode="JOINT") == Choose(0)
    assert of(do="soil", on=True) == SwitchSoil(True)
    assert of(do="delay", seconds=2) == ChooseDelay(2.0)
    assert of(do="take", group="left") == TakeAxes("left", True)
    assert of(do="give", group="left") == TakeAxes("left", False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        b"\x00\x01",
        "[" * 9000,
        '{"do": "move", "axes": [0, 0]}',
        '{"do": "move", "axes": [0], "number": 1}',
        '{"do": "move", "axes": [0, NaN], "number": 1}',
        '{"do": "move", "axes": [0, 1e999], "number": 1}',
        '{"do": "move", "axes": [0, "1"], "number": 1}',
        '{"do": "move", "axes": [0, true], "number": 1}',
        '{"do": "move", "axes": [[], 1], "number": 1}',
        '{"do": "mode", "mode": "FLY"}',
        '{"do": "soil", "on": 1}',
        '{"do": "take", "group": "__class__"}',
        '{"do": "__init__"}',
        '{"do": "leave"}',
        '{"do": "delay", "seconds": 3}',
        '{"do": "delay", "seconds": -1}',
        '{"do": "delay", "seconds": true}',
        '{"do": "delay", "seconds": NaN}',
        json.dumps({"do": "pause", "padding": "x" * LARGEST}),
        json.dumps({"do": "pause", "padding": "é" * (LARGEST // 2)}, ensure_ascii=False),
    ],
)
def test_bad_messages_are_errors(text) -> None:
    with pytest.raises(MessageError):
        read(text, two_link())


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["do", "axes", "number", "mode", "on"]), inner)
    ),
    max_leaves=8,
)


@given(values | st.text())
def test_anything_is_a_message_or_a_message_error(value) -> None:
    try:
        found = read(value if isinstance(value, str) else json.dumps(value), two_link())
    except MessageError:
        return
    assert isinstance(found, Message)


def test_access() -> None:
    access = Access()
    good = f"/{access.token}/", "127.0.0.1:8215"
    assert access.refusal(*good, None, False) is None
    assert access.refusal(*good, "http://127.0.0.1:8215", True) is None
    for name in ("localhost", "localhost:8215", "[::1]:8215", "[::1]"):
        assert access.refusal(good[0], name, f"http://{name}", True) is None
    refused = [
        ("/", good[1], None, False),
        ("/wrong/", good[1], None, False),
        ("", good[1], None, False),
        (f"/{access.token}x/", good[1], None, False),
        (good[0], None, None, False),
        (good[0], "evil.example:8215", None, False),
        (good[0], "[::1]evil.com", None, False),
        (good[0], "[::1]evil.com:8215", None, False),
        (good[0], "[::1", None, False),
        (good[0], "::1]", None, False),
        (good[0], "127.0.0.1:evil.com", None, False),
        (good[0], "127.0.0.1:80@evil.com", None, False),
        (good[0], "localhost:8215\n", None, False),
        (good[0], "", None, False),
        (good[0], good[1], "http://evil.example", False),
        (good[0], good[1], "https://127.0.0.1:8215", True),
        (good[0], good[1], "null", True),
        (good[0], good[1], None, True),
    ]
    for request in refused:
        assert access.refusal(*request) is not None, request
    assert access.token != Access().token
    assert len(access.token) >= 32


def test_elsewhere_a_foreign_name_is_still_refused() -> None:
    access = Access("0.0.0.0")
    assert not access.local
    assert access.refusal(f"/{access.token}/", "192.168.1.7:8215", None, False) is None
    assert access.refusal(f"/{access.token}/", "[fe80::1]:8215", None, False) is None
    assert access.refusal(f"/{access.token}/", "evil.example:8215", None, False) is not None
