"""The gallery of the documentation: runs that the build computes, as moving pictures and as pages that play them.

`.. gallery::` puts the cards on a page, `.. player:: name` one of the pages; `python docs/gallery.py` draws the picture of README.md anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive

import articulus as art
from articulus.browser import export_html
from articulus.browser.picture import animation
from articulus.motion import trajectory

FOLDER = "gallery"
WIDTH, FRAMES = 320, 24


@dataclass(frozen=True)
class Exhibit:
    """A run worth seeing.

    Attributes
    ----------
    name : str
        Of its files.
    title, text : str
    page : str
        Where it is explained.
    make : callable
        Returns the run.
    """

    name: str
    title: str
    text: str
    page: str
    make: Callable[[], art.Run]


def excavator() -> art.Run:
    machine = art.load("cat215b")
    stations = np.radians(
        [
            [-40, 30, -70, -20],
            [-40, -15, -60, -60],
            [-40, 0, -110, -120],
            [50, 35, -80, -110],
            [50, 35, -60, 0],
        ]
    )
    t = np.linspace(0.0, 8.0, 161)
    part, share = np.divmod(t / 2.0, 1.0)
    part, share = np.where(part == 4, 3, part).astype(int), np.where(part == 4, 1.0, share)
    share = (3 * share**2 - 2 * share**3)[:, None]
    way = art.components.Table(t, (1 - share) * stations[part] + share * stations[part + 1])
    law = art.components.ComputedTorque(kp=40.0, kd=12.0, target=way)
    return art.simulate(machine, 8.0, stations[0], controller=law, step=2e-3, sample=0.04)


def planned_arm() -> art.Run:
    arm = art.load("rrc7")
    plan = trajectory.plan(arm, 0.4 * np.ones(7), -0.7 * np.ones(7), duration=1.5)
    return plan.run(track=False)


def falling_arm() -> art.Run:
    arm = art.load("puma600")
    return art.simulate(arm, 3.0, [0, -0.8, 1.6, 0, 0, 0], step=1e-3, sample=0.03)


def flexible_arm() -> art.Run:
    arm = art.load("king_arm", EI=120.0).with_gravity((0, 0, 0))
    law = art.components.PD(kp=8.0, kd=5.0, joints=("joint1", "joint2"), target=(1.2, 0.8))
    return art.simulate(arm, 4.0, controller=law, method="rosenbrock", step=2e-3, sample=0.03)


def linkage() -> art.Run:
    bars = art.load("n_four_bar", n=3)
    start = art.assemble(bars, np.r_[0.5, -0.5, 0.5, np.zeros(4)], np.r_[4.0, np.zeros(6)], fixed=["hinge0"])
    return art.simulate(bars, 3.0, start.q, start.v, step=2e-3, sample=0.03)


def chain() -> art.Run:
    pendulums = art.load("pendulum_chain", n=12)
    return art.simulate(pendulums, 5.0, np.r_[1.6, np.zeros(11)], step=1e-3, sample=0.04)


def tumbling() -> art.Run:
    craft = art.load("hub_with_appendages", modes=12)
    v = np.zeros(craft.nv)
    v[:3] = 0.05, 0.6, 0.02
    return art.simulate(craft, 12.0, v0=v, step=5e-3, sample=0.1)


EXHIBITS = (
    Exhibit("excavator", "A Cat 215B digs and swings", "Computed torque on the published machine of Wong 1991.", "drive.html", excavator),
    Exhibit("plan", "Seven joints, the least effort", "A planned motion, played with its own forces and nothing else.", "trajectory/index.html", planned_arm),
    Exhibit("flexible", "An arm that bends", "Two slender links under a joint controller; turn the deformation up in the player.", "tutorial_flexible.html", flexible_arm),
    Exhibit("fall", "A PUMA 600 let go", "Six joints fall freely.", "browser.html", falling_arm),
    Exhibit(
        "linkage",
        "Three four-bar loops",
        "Closed loops stay closed, whatever the motion.",
        "theory/constraints.html",
        linkage,
    ),
    Exhibit("chain", "Twelve pendulums", "Let go from one side; where it ends depends on every digit.", "simulate.html", chain),
    Exhibit("tumble", "A craft with six appendages tumbles", "Flexible booms and panels on a free hub.", "spacecraft.html", tumbling),
)  # fmt: skip


def write(folder: Path, exhibit: Exhibit) -> None:
    """Write the page that plays a run, its moving picture and its still one, unless they are there."""
    page, moving, still = (folder / f"{exhibit.name}{end}" for end in (".html", ".png", "_still.png"))
    if page.exists() and moving.exists() and still.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    run = exhibit.make()
    export_html(run, page, title=exhibit.title, play=True)
    q, duration = positions(run)
    mechanism = run.mechanism
    moving.write_bytes(animation(mechanism, q, duration, width=WIDTH))
    still.write_bytes(animation(mechanism, q[-1:], 1.0, width=WIDTH))


def positions(run: art.Run) -> tuple[np.ndarray, float]:
    """Return some positions of a run, and its length in time."""
    chosen = np.linspace(0, len(run.t) - 1, FRAMES).round().astype(int)
    return run.q[chosen], float(run.t[-1] - run.t[0])


class Gallery(Directive):
    """Cards that play when they are looked at; whoever prefers less motion sees them still."""

    def run(self) -> list[nodes.Node]:
        cards = "\n".join(map(_card, EXHIBITS))
        return [nodes.raw("", f'<div class="gallery">{cards}</div>', format="html")]


def _card(e: Exhibit) -> str:
    still, moving = f"{FOLDER}/{e.name}_still.png", f"{FOLDER}/{e.name}.png"
    return f"""<div class="card">
<a href="{FOLDER}/{e.name}.html" aria-label="Play: {e.title}"><picture>
<source media="(prefers-reduced-motion: reduce)" srcset="{still}"><img src="{moving}" alt="" width="{WIDTH}" height="{WIDTH * 5 // 7}" loading="lazy">
</picture></a>
<p><strong>{e.title}.</strong> {e.text} <a href="{e.page}">Read how</a></p></div>"""


class Player(Directive):
    """The page that plays a run, within a page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        (name,) = self.arguments
        title = next(e.title for e in EXHIBITS if e.name == name)
        frame = f'<iframe class="player" src="{FOLDER}/{name}.html" title="{title}" loading="lazy"></iframe>'
        return [nodes.raw("", frame, format="html")]


def _write_all(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for exhibit in EXHIBITS:
            write(Path(app.outdir) / FOLDER, exhibit)


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("gallery", Gallery)
    app.add_directive("player", Player)
    app.connect("build-finished", _write_all)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    run = excavator()
    q, duration = positions(run)
    front = Path(__file__).parent / "pictures" / "front.png"
    front.write_bytes(animation(run.mechanism, q, duration, width=420))
