"""A small study that everything is tried on."""

from __future__ import annotations

BASE = """schema = 1

[study]
name = "arm"
purpose = "A two-link arm under PD control."
model = "two_link"

[initial]
q = {joint1 = "30 deg", joint2 = -0.2}
v = [0.0, "10 deg/s"]

[[component]]
type = "pd"
name = "servo"
kp = 300
kd = ["60 N m s/rad", 60]
target = {times = [0.0, 0.5], values = [[0.0, 0.0], ["5 deg", 0.0]]}

[[component]]
type = "rate_gyro"
name = "gyro"
frame = "link2"

[run]
t_end = "0.5 s"
step = "1 ms"
sample = "10 ms"

[outputs]
signals = ["gyro.rate"]
plots = [["q.joint1", "q.joint2"], "energy"]

[[check]]
figure = "energy balance"
less = "0.001 J"
"""


def changed(*pairs: tuple[str, str]) -> str:
    """Return the study with texts replaced."""
    text = BASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def line_of(text: str, part: str) -> int:
    """Return the line on which a part of a text stands."""
    return text[: text.index(part)].count("\n") + 1
