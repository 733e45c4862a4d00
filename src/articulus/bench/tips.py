"""Rows of inverse dynamics of whole flexible mechanisms: tips along paths, growth with their length and with the links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

import articulus as art
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort, exponent
from articulus.bench.startup import ONE_STATE, LibraryModel, starter
from articulus.bench.timing import Contender, race
from articulus.cases.ledesma_planar.models import ABOUT_Z, arm
from articulus.cases.ledesma_spatial.case import CLOSED
from articulus.cases.ledesma_spatial.models import chain as spatial_chain
from articulus.motion.inversion import Inversion, Line, Profile, tip_torques
from articulus.structure import beam_body

POSE = {"shoulder": -0.6, "elbow": 2.2}
COLD = """
from articulus.motion.inversion import Line, Profile, tip_torques
path = Line((0.5, 0.3), (0.983, 0.3), Profile(1.0, law="sine"))
tip_torques(mechanism, "tip", path, ["shoulder", "elbow"], guess={"shoulder": -0.6, "elbow": 2.2})
"""


def torques(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of a whole inversion of 1 s at steps of 1 ms, and how it grows."""
    step = 4e-3 if effort.quick else 1e-3
    plain, closed = arm(), spatial_chain()
    calls = (
        ("tip torques, two links of 2 modes in a plane", plain, 0.5, partial(_planar, plain, 1.0, step)),
        ("tip torques, spatial closed chain", closed, 5.0, partial(_closed, closed, step)),
    )
    for name, mechanism, limit, call in calls[: 1 if effort.quick else None]:
        bar = None if effort.quick else FigureLimit(limit, at_least=False, unit="s")
        yield _time_call(name, mechanism, call, bar, effort)
    if not effort.quick:
        lengths = (4.0, 8.0, 16.0)
        calls_by_length = [partial(_planar, plain, length, step, 0.5) for length in lengths]
        yield _growth("tip torques, growth with the length", plain.nv, lengths, calls_by_length, 1.1, effort)
        links = (2, 4, 8)
        chains = [planar_chain(n) for n in links]
        calls_by_links = [partial(_chain, c, step) for c in chains]
        yield _growth("tip torques, growth with the links", chains[-1].nv, links, calls_by_links, 1.3, effort)


def cold_torques(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of the first inversion in a new process with an empty cache."""
    if effort.quick:
        return
    with starter(COLD) as start:
        seconds = start.cold(LibraryModel("two_links", arm()), ONE_STATE).processor
    yield Measurement(
        "cold tip torques, two links in a plane", 6, ours_us=1e6 * seconds, value=seconds, unit="s"
    )


def planar_chain(links: int) -> art.Mechanism:
    """Return equal links of 2 modes in a row, stiffer towards the base, with a motor at every joint."""
    m = art.Mechanism(f"{links} flexible links", gravity=(0, 0, 0))
    for i in range(links):
        EI = 10.0 * (links - i)
        m.flexible(f"link{i}", beam_body(0.4, EI=EI, mass_per_length=0.3, modes=2, elements=8))
        parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
        m.joint(f"joint{i}", ABOUT_Z, parent, f"link{i}", node=node)
        m.frame(f"end{i}", f"link{i}", node="tip")
    return m


def _planar(mechanism: art.Mechanism, duration: float, step: float, pad: float | None = None) -> Inversion:
    path = Line((0.5, 0.3), (0.983, 0.3), Profile(duration, law="sine"))
    return tip_torques(
        mechanism, "tip", path, ("shoulder", "elbow"), guess=POSE, step=step, pre=pad, post=pad
    )


def _closed(mechanism: art.Mechanism, step: float) -> Inversion:
    path = Line((0.43, 1.43), (0.63, 1.23), Profile(1.0, law="sine"))
    return tip_torques(mechanism, "tip", path, ("joint2", "joint3"), guess=CLOSED, step=step)


def _chain(mechanism: art.Mechanism, step: float) -> Inversion:
    """Return the torques that move the end of every link across the row."""
    links = len(mechanism.joint_names)
    ends = 3e-3 * np.arange(1, links + 1) * np.where(np.arange(links) % 2, 0.5, 1.0)
    return tip_torques(
        mechanism,
        f"end{links - 1}",
        Line(np.zeros(links), ends, Profile(1.0, law="sine")),
        mechanism.joint_names,
        outputs=[f"end{i}.y" for i in range(links)],
        step=step,
        pre=0.2,
        post=0.2,
    )


def _time_call(
    name: str,
    mechanism: art.Mechanism,
    call: Callable[[], Inversion],
    bar: FigureLimit | None,
    effort: Effort,
) -> Measurement:
    found = call()
    note = f"{len(found.t)} times, {found.figures['iterations']} steps of Newton's method, error {found.figures['force_error']:.0e}"
    (time,) = race([Contender("articulus", call)], effort.seconds, 2)
    failed = not found.ok
    return Measurement(
        name, mechanism.nv, ours_us=time, value=1e-6 * time, unit="s", bar=bar, failed=failed, note=note
    )


def _growth(
    name: str,
    n: int,
    sizes: Sequence[float],
    calls: Sequence[Callable[[], Inversion]],
    limit: float,
    effort: Effort,
) -> Measurement:
    failed = not all(call().ok for call in calls)
    times = race([Contender("articulus", call) for call in calls], 2 * effort.seconds, 2)
    note = ", ".join(f"{size:g}: {1e-6 * time:.3f} s" for size, time in zip(sizes, times))
    bar = FigureLimit(limit, at_least=False, unit="exponent")
    power = exponent(sizes, times)
    return Measurement(
        name, n, ours_us=times[-1], value=power, unit="exponent", bar=bar, failed=failed, note=note
    )
