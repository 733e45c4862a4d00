"""Draw the diagrams of the theory pages: `python docs/diagrams.py` writes them to `docs/_static/theory`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path

PLACE = Path(__file__).resolve().parent / "_static" / "theory"
INK, BLUE, RED, GREEN, PALE = "#333333", "#1f6fb2", "#c2452d", "#2e7d4f", "#eef3f8"
Point = tuple[float, float]


class Drawing:
    """Lines, boxes and texts of one SVG picture, on white, in pixels."""

    def __init__(self, width: int, height: int):
        self.size = width, height
        self.parts: list[str] = []

    def line(
        self, points: Sequence[Point], color: str = INK, width: float = 1.5, dashed: bool = False
    ) -> None:
        """Add a line through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"{dash}/>'
        )

    def arrow(self, points: Sequence[Point], color: str = INK) -> None:
        """Add a line with a head at its last point."""
        self.line(points, color)
        (x0, y0), (x1, y1) = points[-2:]
        along = math.atan2(y1 - y0, x1 - x0)
        ends = [(x1 - 9 * math.cos(along + s), y1 - 9 * math.sin(along + s)) for s in (0.4, -0.4)]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in ((x1, y1), *ends))
        self.parts.append(f'<polygon points="{corners}" fill="{color}"/>')

    def text(self, at: Point, words: str, color: str = INK, size: int = 14, anchor: str = "middle") -> None:
        """Add a line of text; `at` is the middle (or start) of its base line."""
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{at[0]:g}" y="{at[1]:g}" font-size="{size}" text-anchor="{anchor}" fill="{color}">{words}</text>'
        )

    def box(self, x: float, y: float, words: str, width: float = 110, height: float = 44) -> None:
        """Add a box with a text, its corner at (x, y)."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{PALE}" stroke="{INK}"/>'
        )
        self.text((x + width / 2, y + height / 2 + 5), words)

    def dot(self, x: float, y: float, color: str = INK, radius: float = 4) -> None:
        """Add a dot."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{color}"/>')

    def plus(self, x: float, y: float) -> None:
        """Add a summing point."""
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="white" stroke="{INK}" stroke-width="1.5"/>'
        )
        self.text((x, y + 5), "+")

    def svg(self) -> str:
        """Return the picture."""
        w, h = self.size
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" font-family="sans-serif">'
        return (
            "\n".join([head, f'<rect width="{w}" height="{h}" fill="white"/>', *self.parts, "</svg>"]) + "\n"
        )


def articulated() -> Drawing:
    """The three passes of the articulated-body algorithm on a chain."""
    d = Drawing(640, 250)
    joints = [(90 + 130 * k, 130 - 18 * math.sin(1.3 * k)) for k in range(4)]
    tip = (600.0, 110.0)
    d.line([(40, 105), (40, 155)], width=4)
    d.line([(40, 130), joints[0]], width=2)
    for k, (here, there) in enumerate(zip(joints, [*joints[1:], tip])):
        d.line([here, there], BLUE, 9)
        d.text(((here[0] + there[0]) / 2, (here[1] + there[1]) / 2 - 16), f"body {k + 1}", BLUE)
    for k, (x, y) in enumerate(joints):
        d.dot(x, y, INK, 7)
        d.text((x, y + 26), f"tau{k + 1}")
    d.arrow([(90, 40), (590, 40)], GREEN)
    d.text((340, 30), "1  outward: velocities w, known from q and v", GREEN)
    d.arrow([(590, 190), (90, 190)], RED)
    d.text((340, 182), "2  inward: the part behind a joint acts as one body, F = IA A + pA", RED)
    d.arrow([(90, 230), (590, 230)], GREEN)
    d.text((340, 222), "3  outward: accelerations, vdot = (u - U . A') / d at each joint", GREEN)
    return d


def ports() -> Drawing:
    """A closed loop with the places where a linear model has inputs."""
    d = Drawing(720, 260)
    for x, words in ((60, "controllers"), (240, "actuators"), (430, "mechanism")):
        d.box(x, 60, words)
    d.box(430, 180, "sensors")
    d.arrow([(170, 82), (196, 82)])
    d.plus(205, 82)
    d.arrow([(214, 82), (240, 82)])
    d.arrow([(350, 82), (376, 82)])
    d.plus(385, 82)
    d.arrow([(394, 82), (430, 82)])
    d.arrow([(540, 82), (620, 82), (620, 202), (540, 202)])
    d.text((585, 74), "q, v")
    d.arrow([(430, 202), (239, 202)])
    d.plus(230, 202)
    d.arrow([(221, 202), (20, 202), (20, 82), (60, 82)])
    for x, y, words in ((205, 30, "u"), (385, 30, "tau")):
        d.arrow([(x, y), (x, y + 43)], RED)
        d.text((x + 14, y + 10), words, RED, anchor="start")
    d.arrow([(230, 160), (230, 193)], RED)
    d.text((244, 165), "a signal, where it is read", RED, anchor="start")
    d.arrow([(485, 250), (485, 224)], RED)
    d.text((500, 245), "w: noise", RED, anchor="start")
    d.arrow([(485, 30), (485, 60)], RED)
    d.text((500, 40), "p.<name>: parameters", RED, anchor="start")
    return d


def sampled() -> Drawing:
    """Two sampled components with different periods beside a continuous state."""
    d = Drawing(640, 250)
    level: Callable[[float], float] = lambda t: 60 - 32 * math.sin(2 * t + 0.3) * math.exp(-0.12 * t)  # noqa: E731
    scale, start = 90.0, 90.0
    d.line([(start + scale * t, level(t)) for t in (k / 20 for k in range(119))], BLUE, 2)
    d.text((80, 64), "q(t)", BLUE, anchor="end")
    for row, (period, name, color) in enumerate(((0.5, "period T", RED), (1.0, "period 2T", GREEN))):
        base, points = 120.0 + 55 * row, []
        for k in range(int(6 / period)):
            a, b = k * period, (k + 1) * period
            y = base + 0.5 * (level(a) - 60) + 15
            points += [(start + scale * a, y), (start + scale * b, y)]
            d.line([(start + scale * a, level(a)), (start + scale * a, y)], color, 0.6, dashed=True)
            d.dot(start + scale * a, y, color, 3)
        d.line(points, color, 1.8)
        d.text((80, base + 20), name, color, anchor="end")
    d.arrow([(start, 232), (640 - 5, 232)])
    d.text((612, 224), "t")
    for k in range(7):
        d.line([(start + scale * k, 228), (start + scale * k, 236)])
    return d


def crossings() -> Drawing:
    """Values of two events over one step: a change of sign, and a way there and back."""
    d = Drawing(640, 230)
    for left, words in (
        (40.0, "signs differ: false position"),
        (350.0, "signs agree, slopes do not: a turn"),
    ):
        d.line([(left, 110), (left + 250, 110)], width=1)
        d.text((left - 14, 114), "0")
        for x, label in ((left + 20, "t"), (left + 230, "t + h")):
            d.line([(x, 40), (x, 180)], "#999999", 1, dashed=True)
            d.text((x, 200), label)
        d.text((left + 125, 22), words)
    first = [(60 + 210 * s, 150 - 95 * s**1.6) for s in (k / 30 for k in range(31))]
    second = [(370 + 210 * s, 150 - 250 * s * (1 - s) + 4 * s) for s in (k / 30 for k in range(31))]
    for way in (first, second):
        d.line(way, BLUE, 2)
        d.dot(*way[0], BLUE)
        d.dot(*way[-1], BLUE)
    x = next(a[0] for a, b in itertools.pairwise(first) if b[1] < 110)
    d.dot(x + 3, 110, RED, 5)
    for a, b in itertools.pairwise(second):
        if (a[1] - 110) * (b[1] - 110) < 0:
            d.dot((a[0] + b[0]) / 2, 110, RED, 5)
    for a, b in (((355, 178), (385, 118)), ((565, 118), (595, 182))):
        d.line([a, b], GREEN)
    d.text((478, 76), "top, found first", GREEN, 12)
    return d


FLOORS = (
    ("use it", (("cli", "command line"), ("cases", "published numbers"), ("bench", "speed"))),
    (
        "show it",
        (
            ("bridges", "C, FMI, logs"),
            ("design", "fits, co-design"),
            ("study", "studies, campaigns"),
            ("browser", "pages, drive"),
        ),
    ),
    (
        "decide",
        (
            ("control", "analysis, reduction, design"),
            ("parallel", "counts, schedules"),
            ("motion", "trajectory, inversion"),
        ),
    ),
    (
        "run it",
        (("simulation", "loop, integrate, running, results"), ("spacecraft", "orbits, fields, parts")),
    ),
    ("equations", (("dynamics", "one algorithm per file; quantities; the class Mechanism"),)),
    ("data", (("model", "mechanism, files, library"), ("structure", "finite elements, modes, reduction"))),
    (
        "ground",
        (
            ("kernel", "native code"),
            ("spatial", "value types"),
            ("linear", "models"),
            ("numerics", "matrices"),
        ),
    ),
    ("", (("declared", "fields of objects"), ("errors", "findings"))),
)
"""Floors of the house from the top: what each is for, its packages and what they hold."""


def house() -> Drawing:
    """The packages as floors of a house: each imports only from the floors below it."""
    left, width, height, gap = 90.0, 620.0, 50.0, 10.0
    d = Drawing(730, int(len(FLOORS) * (height + gap) + gap))
    for k, (purpose, rooms) in enumerate(FLOORS):
        y = gap + k * (height + gap)
        d.text((left - 10, y + height / 2 + 5), purpose, BLUE, 13, "end")
        room = (width - gap * (len(rooms) - 1)) / len(rooms)
        for i, (name, words) in enumerate(rooms):
            x = left + i * (room + gap)
            d.box(x, y, "", room, height)
            d.text((x + room / 2, y + 20), name, INK, 15)
            d.text((x + room / 2, y + 39), words, INK, 12)
    return d


DIAGRAMS = {
    "articulated": articulated,
    "ports": ports,
    "sampled": sampled,
    "crossings": crossings,
    "house": house,
}

if __name__ == "__main__":
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, draw in DIAGRAMS.items():
        (PLACE / f"{name}.svg").write_text(draw().svg())
