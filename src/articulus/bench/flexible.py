"""Rows of flexible bodies: an arm beside Exudyn's reduced bodies, growth with the number of links, many modes."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from functools import cache, partial
from tempfile import TemporaryDirectory
from time import perf_counter

import casadi as ca
import numpy as np

import articulus as art
from articulus import kernel
from articulus.bench import flexible_arm
from articulus.bench.beside_exudyn import beside_exudyn, too_far
from articulus.bench.child import one_core_json
from articulus.bench.first import QUANTITY
from articulus.bench.models import Array, chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import AGREE, RESULT_BYTES, ROWS, Effort, difference, differs, notes
from articulus.bench.startup import ONE_STATE, LibraryModel, starter
from articulus.bench.timing import Contender, race
from articulus.dynamics.compiled import physics_version
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.quantities import function
from articulus.errors import DoubtfulResult
from articulus.model.mechanism.modes import Level
from articulus.structure import beam_body

ALLOWED = 1e-3
"""Error of the arm's tip at any sampled time [m]; its reach is 2.44 m."""
OUR_STEP, EXUDYN_STEP = 2.5e-3, 1e-3
"""[s]. Ours is bound by the fastest mode (3.4 ms go, 4 ms do not), not by the error, 1e-4 m; Exudyn's error is 8e-4 m."""
ARM_MODES = 4
"""Of each link where derivatives are measured."""
HUB_STEP = 2e-3
"""[s]. The fastest of 141 modes has a period of 8.8 ms, 4.4 steps; up to 4 ms are stable."""
HUB_SPIN = (0.02, 0.01, 0.03)
"""Of the hub at the start [rad/s], with appendages undeformed."""
HUB_AGREE = 1e-6
"""Largest difference of the tips from those of a run with half the step, over the first seconds [m]."""


# a planar arm beside Exudyn


def planar_arm(effort: Effort) -> Iterator[Measurement]:
    """Yield a free motion of two flexible links against Exudyn's reduced bodies, each with a step that is exact enough.

    Exudyn's bodies have no shortening, so ours are at the level without it too; the note says what it costs more.
    """
    end = 1.0 if effort.quick else 10.0
    row = partial(
        Measurement, f"two-link flexible arm, {end:g} s", 6, bar=None if effort.quick else FigureLimit(10)
    )
    exact = _tips(end, OUR_STEP / 8)
    gap = np.abs(_tips(end, OUR_STEP) - exact).max()
    if not gap <= ALLOWED:
        yield row(failed=True, note=too_far("the tip", gap, ALLOWED))
        return
    levels: tuple[Level, ...] = ("inconsistent", "consistent")
    ways = [Contender(level, partial(_run, end, OUR_STEP, level)) for level in levels]
    ours, stiffened = race(ways, effort.seconds, effort.rounds)
    row = partial(row, ours_us=ours)
    comparison = beside_exudyn(
        row, lambda: flexible_arm.exudyn(end, round(end / EXUDYN_STEP)), exact, ALLOWED, effort
    )
    if isinstance(comparison, Measurement):
        yield comparison
        return
    their_gap, peer = comparison
    note = notes(
        f"errors {gap:.1e} and {their_gap:.1e} m with steps of {OUR_STEP:g} and {EXUDYN_STEP:g} s",
        f"{stiffened / 1e3:.3g} ms with stiffening by motion, which Exudyn's bodies do not have",
    )
    yield row(peer="Exudyn FFRFreducedOrder", peer_us=peer, value=peer / ours, note=note)


def _run(end: float, step: float, level: Level = "inconsistent") -> art.Run:
    arm = _arm(level)
    q, v = flexible_arm.start(arm)
    with warnings.catch_warnings():  # the peer's bodies do not know either how motion stiffens them
        warnings.filterwarnings("ignore", "(?s).*over its first frequency", DoubtfulResult)
        return art.simulate(arm, end, q0=q, v0=v, step=step, sample=flexible_arm.SAMPLE, outputs=())


def _tips(end: float, step: float) -> Array:
    """Return the places of the tip in the plane, (samples, 2) [m]."""
    return _arm("inconsistent").pose("tip", _run(end, step).q)[:, :2, 3]


# arms in space


def spatial_arms(effort: Effort) -> Iterator[Measurement]:
    """Yield forward dynamics of arms with three modes a link: beside as many rigid coordinates, and what more links cost."""
    sizes = (2, 3, 4) if effort.quick else (6, 12, 18)
    arms, n = [spatial_arm(links) for links in sizes], sizes[0]
    rigid = chain(arms[0].nv).mechanism
    row = partial(Measurement, f"forward dynamics, batch, {n} flexible links", arms[0].nv)
    gap = max(_round_trip(arm) for arm in arms)
    if not gap <= AGREE:
        yield row(failed=True, note=differs(gap))
        return
    *times, peer = race([_forward(arm) for arm in (*arms, rigid)], 2 * effort.seconds, effort.rounds)
    *flops, rigid_flops = (arm.kernel("forward_dynamics").flops for arm in (*arms, rigid))
    bar = FigureLimit(3, at_least=False, unit="x flops")
    note = notes(
        f"3 modes a link, beside a rigid chain of as many coordinates, {peer:.3g} us",
        f"inverse of it agrees to {gap:.0e}",
    )
    ratio = flops[0] / rigid_flops
    yield row(ours_us=times[0], value=ratio, unit=bar.unit, bar=bar, flops=flops[0], note=note)
    bar = FigureLimit(1.1, at_least=False, unit="x per link")
    more = np.diff(flops) / np.diff(sizes)
    note = ", ".join(f"{n}: {count:,} flops, {t:.3g} us" for n, count, t in zip(sizes, flops, times))
    name = f"forward dynamics, batch, a further link after {sizes[-2]} beside one after {sizes[0]}"
    yield Measurement(
        name,
        arms[-1].nv,
        ours_us=times[-1],
        value=float(more[1] / more[0]),
        unit=bar.unit,
        bar=bar,
        note=note,
    )


@cache
def spatial_arm(links: int) -> art.Mechanism:
    """Return links that bend along y and z and twist, on revolutes about z, y and x in turn."""
    body = beam_body(
        1.0,
        EI=(80.0, 100.0),
        mass_per_length=1.2,
        GJ=60.0,
        rotary_inertia=2e-3,
        modes=1,
        planes="both",
        torsion=1,
    )
    made, axes = art.Mechanism(f"{links} flexible links"), ((0, 0, 1), (0, 1, 0), (1, 0, 0))
    for i in range(links):
        made.flexible(f"link{i}", body)
        parent, node = (f"link{i - 1}", "tip") if i else ("ground", "")
        made.joint(f"joint{i}", art.Revolute(axis=axes[i % 3]), parent=parent, child=f"link{i}", node=node)
    return made


def _states(mechanism: art.Mechanism, rows: int) -> list[Array]:
    rng = np.random.default_rng(1)
    return [0.1 * rng.normal(size=(rows, mechanism.nv)) for _ in range(3)]


def _forward(mechanism: art.Mechanism) -> Contender:
    call = partial(mechanism.forward_dynamics, *_states(mechanism, ROWS))
    return Contender("articulus", call, ROWS)


def _round_trip(mechanism: art.Mechanism) -> float:
    """Return how far M vdot of the accelerations that forces give is from tau - bias."""
    q, v, tau = _states(mechanism, 8)
    found = mechanism.inverse_dynamics(q, v, mechanism.forward_dynamics(q, v, tau))
    bias = mechanism.bias(q, v)
    return difference([found - bias], [tau - bias])


def cold_arms(effort: Effort) -> Iterator[Measurement]:
    """Yield cold first results of arms with three modes a link."""
    if effort.quick:
        return
    for name, links, limit in (
        ("forward_dynamics", 20, 3.0),
        ("derivatives", 6, 6.0),
        ("derivatives", 20, 10.0),
    ):
        with starter(QUANTITY.format(name=name, frames=(), wrenches=())) as start:
            seconds = start.cold(LibraryModel(f"arm{links}", spatial_arm(links)), ONE_STATE).processor
        bar, title = (
            FigureLimit(limit, at_least=False, unit="s"),
            f"cold {name.replace('_', ' ')}, {links} flexible links",
        )
        n = spatial_arm(links).nv
        yield Measurement(
            title, n, ours_us=1e6 * seconds, value=seconds, unit="s", bar=bar, note="3 modes a link"
        )


# derivatives


def derivatives(effort: Effort) -> Iterator[Measurement]:
    """Yield derivatives of forward dynamics beside CasADi's differentiation of the same recursion, as native code too."""
    short = _arm("consistent", ARM_MODES)
    yield _derivatives("two links of 4 modes in a plane", short, FigureLimit(5), effort)
    links = 2 if effort.quick else 6
    yield _derivatives(f"{links} links of 3 modes in space", spatial_arm(links), None, effort)


def _derivatives(
    which: str, mechanism: art.Mechanism, bar: FigureLimit | None, effort: Effort
) -> Measurement:
    rows = max(8, RESULT_BYTES // (24 * mechanism.nv**2))
    states, ours = _states(mechanism, rows), mechanism.kernel("derivatives")
    plain = kernel.cached(
        f"differentiated {mechanism.description.fingerprint} {physics_version()}",
        lambda: _derivatives_function(mechanism),
        ranks=lambda: ((1, 1, 1), (2, 2, 2)),
    )
    row = partial(
        Measurement,
        f"derivatives of forward dynamics, batch, {which}",
        mechanism.nv,
        bar=bar,
        flops=ours.flops,
    )
    gap = difference(ours(*states), plain(*states))
    if not gap <= AGREE:
        return row(failed=True, note=differs(gap))
    contenders = [Contender(name, partial(f, *states), rows) for name, f in (("", ours), ("", plain))]
    time, peer = race(contenders, effort.seconds, effort.rounds)
    note = notes(f"agree to {gap:.0e}", f"{ours.flops:,} operations beside {plain.flops:,}")
    name = "the recursion, differentiated"
    return row(ours_us=time, peer=name, peer_us=peer, value=peer / time, note=note)


def _derivatives_function(mechanism: art.Mechanism) -> ca.Function:
    """Return (q, v, tau) -> derivatives of vdot by q and v, and M^-1, of a mechanism without quaternions."""
    q, v, tau, vdot = (ca.SX.sym(name, mechanism.nv) for name in ("q", "v", "tau", "vdot"))
    d = mechanism.description
    forces = function(d, "inverse_dynamics")(q, v, vdot)
    M = Factorization(function(d, "mass_matrix")(q))
    slopes = [ca.densify(ca.jacobian(forces, x)) for x in (q, v)]
    slopes = ca.substitute(slopes, [vdot], [M.solve(tau - function(d, "bias")(q, v))])
    outputs = [*(-M.solve(x) for x in slopes), M.solve(ca.SX.eye(mechanism.nv))]
    return ca.Function("differentiated", [q, v, tau], [ca.densify(x) for x in outputs])


# many modes


def hub(effort: Effort) -> Iterator[Measurement]:
    """Yield 300 s of a free hub with six appendages and 141 modes in all; native code exists before the clock starts."""
    modes, end, checked = (12, 0.4, 0.2) if effort.quick else (141, 300.0, 5.0)
    bar = None if effort.quick else FigureLimit(30, at_least=False, unit="s")
    mechanism = art.load("hub_with_appendages", modes=modes)
    row = partial(Measurement, f"hub with {modes} modes, {end:g} s", mechanism.nv, unit="s", bar=bar)
    ends = [_spinning(mechanism, checked, HUB_STEP / k).q[-1] for k in (1, 2)]
    tips = [np.array([mechanism.pose(frame, q)[:3, 3] for frame in mechanism.frame_names]) for q in ends]
    gap = np.abs(tips[0] - tips[1]).max()
    if not gap <= HUB_AGREE:
        yield row(failed=True, note=f"half the step differs by {gap:.1e} m, more than {HUB_AGREE:g}")
        return
    whole = Contender("whole", partial(_spinning, mechanism, end, HUB_STEP))
    time = race([whole], 0.0, rounds=1)[0]
    note = (
        f"RK4, steps of {HUB_STEP:g} s; with half the step the tips differ by {gap:.0e} m after {checked:g} s"
    )
    if not effort.quick:
        note = notes(note, f"model and native code made in {_cold(modes):.2g} s with an empty cache")
    yield row(ours_us=time, value=1e-6 * time, note=note)


def _cold(modes: int) -> float:
    """Return the seconds of model, equations and native code in a new process with an empty cache."""
    with TemporaryDirectory(prefix="articulus-bench-") as folder:
        seconds: float = one_core_json(["-m", __name__, str(modes)], {"ARTICULUS_CACHE": folder})
    return seconds


def _spinning(mechanism: art.Mechanism, end: float, step: float) -> art.Run:
    v = np.zeros(mechanism.nv)
    v[:3] = HUB_SPIN
    return art.simulate(mechanism, end, v0=v, step=step, sample=end, outputs=())


_arm = cache(flexible_arm.arm)


if __name__ == "__main__":
    began = perf_counter()
    _spinning(art.load("hub_with_appendages", modes=int(sys.argv[1])), HUB_STEP, HUB_STEP)
    sys.stdout.write(json.dumps(perf_counter() - began))
