"""Rows of campaigns: runs of a 7-revolute arm with everything that a campaign does around them.

A campaign is timed from the text of the study to the table on the disk: reading, sampling, runs, figures, shards, ledger.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from articulus.bench import peers
from articulus.bench.models import chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import AGREE, Effort, difference, differs, race_row
from articulus.bench.timing import Contender, race
from articulus.study.campaign.calls import run as run_campaign
from articulus.study.campaign.design import Campaign

N = 7
STEP = 1e-3
KP, KD = 50.0, 1.0
"""Nominal gains [N m/rad, N m s/rad]; in a campaign they vary by 10 % from run to run."""
PEER_RUNS = 4
ERROR = 1e-6
"""Largest error of a joint's position or velocity at the end of a run, where both have the same [rad, rad/s]."""
STUDY = """
schema = 1
[study]
name = "chain"
model = "chain.toml"
[[component]]
type = "pd"
name = "servo"
kp = {kp}
kd = {kd}
[run]
t_end = {end}
step = {step}
[campaign]
runs = {runs}
[campaign.vary]
"servo.kp" = {{uniform = [{kp_low}, {kp_high}]}}
"servo.kd" = {{uniform = [{kd_low}, {kd_high}]}}
{states}
[campaign.figures]
"last" = "q.{joint}"
"""
MILLION = """
import resource, sys
from pathlib import Path
import articulus as art
result = art.campaign.run(sys.argv[1], runs=int(sys.argv[2]), output=sys.argv[3])
assert result.complete
status = Path("/proc/self/status")  # ru_maxrss counts the process that started this one, too
found = [line.split()[1] for line in status.read_text().splitlines() if line[:6] == "VmHWM:"] if status.exists() else []
print(float(found[0] if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024)
"""
SHORT = """
schema = 1
[study]
name = "pendulum"
model = "pendulum_chain"
options = {n = 1}
[run]
t_end = "10 ms"
step = "1 ms"
[campaign]
figures = {turn = "q.hinge1", speed = "v.hinge1"}
[campaign.vary]
"q.hinge1" = {uniform = [-1, 1]}
"v.hinge1" = {uniform = [-1, 1]}
"""


def _study(folder: Path, runs: int, steps: int, end: float | None = None) -> Path:
    """Write the study and its model; return its path. It ends after `end` [s], after steps of STEP if not given."""
    end = steps * STEP if end is None else end
    model = chain(N).mechanism
    model.save(folder / "chain.toml")
    joints = model.description.coordinate_names()
    states = "\n".join(f'"{k}.{j}" = {{uniform = [-0.3, 0.3]}}' for k in "qv" for j in joints)
    text = STUDY.format(
        kp=KP, kd=KD, end=end, step=end / steps, runs=runs, states=states, joint=joints[-1],
        kp_low=0.9 * KP, kp_high=1.1 * KP, kd_low=0.9 * KD, kd_high=1.1 * KD,
    )  # fmt: skip
    path = folder / "study.toml"
    path.write_text(text)
    return path


def _campaign(study: Path, runs: int, **how: Any) -> None:
    """Run a campaign from the study to the table on the disk."""
    with TemporaryDirectory(prefix="articulus-bench-", dir=study.parent) as folder:
        run_campaign(study, runs, output=Path(folder) / "c", **how)


def _bare(plan: Any, runs: int, steps: int) -> Any:
    """Return the runs of a campaign by one call of `rollout`, without anything around."""
    x = plan.inputs(0, runs)
    q, v = (np.stack([x[n] for n in x if n.startswith(k)], axis=1) for k in ("q.", "v."))
    params = {"servo_kp": x["servo.kp"], "servo_kd": x["servo.kd"]}
    return partial(plan.study.loop.rollout, steps * STEP, q, v, params=params, step=STEP)


def arms(effort: Effort) -> Iterator[Measurement]:
    """Yield runs of a 7-revolute arm with PD, all parameters varied: against MuJoCo, the bare rollout, and on two threads."""
    steps = 100 if effort.quick else 1000
    with TemporaryDirectory(prefix="articulus-bench-") as place:
        study = _study(Path(place), 1, steps)
        yield _against_mujoco(study, steps, effort)
        yield _at_equal_error(Path(place), steps * STEP, effort)
        _study(Path(place), 1, steps)
        yield _overhead(study, steps, effort)
        yield _two(study, steps, effort)
        if not effort.quick:
            yield _two_dask_workers(study, effort)


def _against_mujoco(study: Path, steps: int, effort: Effort) -> Measurement:
    runs = 512 if effort.quick else 4096
    row = partial(Measurement, "campaign of arms with PD, one step of a run", N, bar=FigureLimit(20))
    ours = Contender("articulus", partial(_campaign, study, runs), runs * steps)
    if not peers.mujoco():
        return row(ours_us=race([ours], 0.0, 2)[0], note="MuJoCo is not installed (extra `bench`)")
    plan = Campaign.read(study, runs=runs, vary={})
    q, v, _ = chain(N).states(PEER_RUNS)
    rivals, ends = peers.mujoco_rollouts(chain(N), 0.3 * q, 0.3 * v, kp=KP, kd=KD, step=STEP, steps=steps)
    found = plan.study.loop.rollout(steps * STEP, 0.3 * q, 0.3 * v, step=STEP)
    gap = difference([np.hstack([found.q[:, -1], found.v[:, -1]])], [ends])
    if not gap <= AGREE:
        return row(failed=True, note=differs(gap))
    note = (
        f"{runs} runs of {steps} steps, gains and initial states varied, sampling, table and ledger included"
    )
    return race_row(row, ours, rivals, Effort(0.0, effort.quick, 2), note)


def _at_equal_error(folder: Path, end: float, effort: Effort) -> Measurement:
    """Time whole runs, each engine with the longest step whose error is within ERROR."""
    runs = 512 if effort.quick else 4096
    row = partial(Measurement, "campaign of arms with PD, one run at equal error", N, bar=FigureLimit(20))
    if not peers.mujoco():
        return row(note="MuJoCo is not installed (extra `bench`)")
    loop = Campaign.read(_study(folder, runs, 1000, end), runs=runs, vary={}).study.loop
    q, v, _ = chain(N).states(PEER_RUNS)
    start = 0.3 * q, 0.3 * v

    def ours_after(steps: int) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # steps that are too long are among those that are tried
            found = loop.rollout(end, *start, step=end / steps)
        return np.hstack([found.q[:, -1], found.v[:, -1]])

    def theirs(steps: int) -> Any:
        return peers.mujoco_rollouts(chain(N), *start, kp=KP, kd=KD, step=end / steps, steps=steps)

    exact, first = ours_after(16_000), round(end / 4e-3)
    ours_steps, ours_error = _fewest_steps(
        lambda steps: float(np.abs(ours_after(steps) - exact).max()), first
    )
    peer_steps, peer_error = _fewest_steps(lambda steps: float(np.abs(theirs(steps)[1] - exact).max()), first)
    study = _study(folder, runs, ours_steps, end)
    rivals = [Contender(c.name, c.call, PEER_RUNS) for c in theirs(peer_steps)[0]]
    note = (
        f"{end:g} s by RK4; errors {ours_error:.2g} and {peer_error:.2g} with {ours_steps} and {peer_steps} steps, against "
        f"16,000 steps; {runs} runs"
    )
    ours = Contender("articulus", partial(_campaign, study, runs), runs)
    return race_row(row, ours, rivals, Effort(0.0, effort.quick, 2), note)


def _fewest_steps(error_after: Callable[[int], float], high: int) -> tuple[int, float]:
    """Return the fewest steps whose error is within ERROR, at least half of `high`, and that error."""
    while not error_after(high) <= ERROR:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_after(middle) <= ERROR else (middle, high)
    return high, error_after(high)


def _overhead(study: Path, steps: int, effort: Effort) -> Measurement:
    runs = 4096 if effort.quick else 100_000
    plan = Campaign.read(study, runs=runs)
    ways = [
        Contender("campaign", partial(_campaign, study, runs), runs),
        Contender("rollout", _bare(plan, runs, steps), runs),
    ]
    whole, bare = race(ways, 0.0, 2)
    over = 100 * (whole / bare - 1)
    return Measurement(
        f"campaign of {runs:,} runs, over the bare rollout", N, ours_us=whole, peer="rollout", peer_us=bare, value=over, unit="%",
        bar=None if effort.quick else FigureLimit(3.0, at_least=False, unit="%"), note=f"{steps} steps per run",
    )  # fmt: skip


def _two(study: Path, steps: int, effort: Effort) -> Measurement:
    runs = 2048 if effort.quick else 8192
    ways = [Contender(f"{k} threads", partial(_campaign, study, runs, threads=k), runs) for k in (2, 1)]
    two, one = race(ways, 0.0, effort.rounds, cores=2)
    return Measurement(
        "campaign on two threads", N, ours_us=two, peer="articulus, one thread", peer_us=one, value=one / two,
        bar=None if effort.quick else FigureLimit(1.7), note=f"{runs} runs of {steps} steps; {_load()}",
    )  # fmt: skip


def _two_dask_workers(study: Path, effort: Effort) -> Measurement:
    """Time the work on clusters of one and two workers that are there already."""
    row = partial(
        Measurement,
        "campaign on two dask workers",
        N,
        peer="articulus, one dask worker",
        bar=FigureLimit(1.6),
    )
    try:
        from distributed import LocalCluster
    except ImportError:
        return row(note="dask.distributed is not installed (extra `cluster`)")
    runs, best = 30_000, {1: float("inf"), 2: float("inf")}
    for count in best:
        with LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster:
            address = cluster.scheduler_address
            _campaign(study, 512, scheduler=address)  # code is loaded before the clock starts
            for _ in range(2):
                began = time.perf_counter()
                _campaign(study, runs, scheduler=address)
                best[count] = min(best[count], time.perf_counter() - began)
    two, one = (1e6 * best[k] / runs for k in (2, 1))
    return row(ours_us=two, peer_us=one, value=one / two, note=f"{runs} runs; {_load()}")


def large(effort: Effort) -> Iterator[Measurement]:
    """Yield memory of a campaign of a million runs, and the time of a new process to know that nothing is left of it."""
    runs = 20_000 if effort.quick else 1_000_000
    with TemporaryDirectory(prefix="articulus-bench-") as place:
        study, out = Path(place) / "pendulum.toml", Path(place) / "out"
        study.write_text(SHORT)
        ran = subprocess.run(
            [sys.executable, "-c", MILLION, str(study), str(runs), str(out)],
            check=True,
            capture_output=True,
            text=True,
        )
        bar = None if effort.quick else FigureLimit(400, at_least=False, unit="MB")
        yield Measurement(
            f"memory of a campaign of {runs:,} runs", 1, value=float(ran.stdout), unit="MB", bar=bar
        )
        command = [
            sys.executable,
            "-m",
            "articulus",
            "campaign",
            "run",
            str(study),
            "--runs",
            str(runs),
            "--output",
            str(out),
        ]
        times = []
        for _ in range(effort.rounds):
            before = os.times()
            subprocess.run(command, check=True, capture_output=True)
            after = os.times()
            times.append(
                after.children_user + after.children_system - before.children_user - before.children_system
            )
        yield Measurement(
            f"finished campaign of {runs:,} runs: nothing is left", 1, value=min(times), unit="s",
            bar=None if effort.quick else FigureLimit(1.0, at_least=False, unit="s"), note="processor time of a new process",
        )  # fmt: skip


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
