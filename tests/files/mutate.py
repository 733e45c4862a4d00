"""Texts broken in the ways that files get broken, and the law that every reader keeps to."""

from __future__ import annotations

import random
import re
import warnings

from articulus.errors import InputError, ModelError, UnsupportedOperation
from articulus.model.files import parse_mjcf, parse_sdf, parse_toml, parse_urdf
from articulus.model.files.storage import decode
from articulus.model.mechanism import Description
from articulus.study.reader import parse_study
from articulus.study.study import Study
from browser.drawn import ROBOT
from study.support import BASE

from .mjcf_models import MODELS
from .sdf_models import FOUR_BAR
from .support import ARM, CRANE

NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e308",
    "-1e308",
    "-0",
    "0",
    "1e-320",
    "9" * 400,
    "",
    "true",
    '"1 kg"',
    "[[]]",
    "{}",
    "0x7f",
]
NAMES = [
    b"x" * 300,
    b"<script>alert(1)</script>",
    b"&lt;b&gt;",
    b"../../etc/passwd",
    b"a[0]",
    b"",
    "\u202e\u0000".encode(),
    b"ground",
    b"__class__",
    b"%s%n{0}",
]
TOKENS = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"'''",
    b"<",
    b"/>",
    b"<!--",
    b"&amp;",
    b"&#0;",
    b"=",
    b"\x00",
    b"\n",
    b"\xff",
    b"[[a]]",
]
SHAPES = """
[[body.boom.visuals]]
type = "box"
size = [1, 2, "3 cm"]
at = {rpy = [0, 0, "10 deg"]}
color = "#12345678"
[[body.boom.visuals]]
type = "ellipsoid"
radii = [1, 2, 3]
[[visuals]]
type = "capsule"
radius = 1
length = 2
"""
GRID = """
[campaign]
sampler = "grid"
runs = 6
seed = 5
[campaign.vary]
"q.joint1" = {normal = ["10 deg", "1 deg"]}
"v.joint2" = [0, "1 rad/s"]
"q.joint2" = {from = 0.1, to = 0.3, count = 3}
"""
READERS = {
    "toml": (parse_toml, [CRANE, CRANE + SHAPES]),
    "urdf": (parse_urdf, [ARM, ROBOT]),
    "mjcf": (parse_mjcf, list(MODELS.values())),
    "sdf": (parse_sdf, [FOUR_BAR]),
    "study": (parse_study, [BASE, BASE + GRID]),
}


def mutated(text: str | bytes, seed: int) -> bytes:
    """Return a text with up to four random changes: of bytes, of numbers, names and lines."""
    rng = random.Random(seed)
    content = text.encode() if isinstance(text, str) else text
    for _ in range(rng.randint(1, 4)):
        content = rng.choice(CHANGES)(content, rng)
    return content


def _span(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.randint(1, 60))


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def _delete(content: bytes, rng: random.Random) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _double(content: bytes, rng: random.Random) -> bytes:
    start, stop = _span(content, rng)
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[start:stop] * rng.choice((1, 2, 50)) + content[at:]


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(TOKENS) * rng.choice((1, 1, 300)) + content[at:]


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)] if rng.random() < 0.2 else content


def _swap_number(content: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?", content))
    if not found:
        return content
    spot = rng.choice(found)
    return content[: spot.start()] + rng.choice(NUMBERS).encode() + content[spot.end() :]


def _swap_name(content: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"[A-Za-z_][A-Za-z_0-9.]+", content))
    if not found:
        return content
    spot = rng.choice(found)
    name = rng.choice([*NAMES, rng.choice(found)[0]])
    return content[: spot.start()] + name + content[spot.end() :]


def _drop_or_repeat_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    return b"\n".join([*lines[:at], *lines[at : at + 1] * rng.choice((0, 0, 2, 40)), *lines[at + 1 :]])


CHANGES = (
    _flip,
    _delete,
    _double,
    _swap_number,
    _swap_number,
    _swap_name,
    _drop_or_repeat_line,
    _insert,
    _cut,
)


def check(kind: str, seed: int) -> str:
    """Read a mutated text and return what came of it; anything but a Description, a Study or a refusal raises."""
    read, texts = READERS[kind]
    content = mutated(texts[seed % len(texts)], seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            description = read(decode(content, f"x.{kind}"), f"x.{kind}")
    except (ModelError, InputError, UnsupportedOperation) as refusal:
        return "refused" if f"x.{kind}" in str(refusal) else f"refused without the file's name: {refusal}"
    assert isinstance(description, Study if kind == "study" else Description)
    return "read"
