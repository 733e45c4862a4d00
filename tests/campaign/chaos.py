"""Kills at random times, many of them: `make chaos`. Not a test that pytest collects; exits with 1 when a run is lost or doubled.

Every trial runs a campaign, kills something at a random time, gives the same command again until it is done, and compares the table
with the undisturbed one bit by bit.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import articulus as art

STUDY = """
schema = 1
[study]
name = "arm"
model = "two_link"
[[component]]
type = "measured"
name = "gyro"
sensor = {type = "rate_gyro", frame = "link2"}
noise = "0.1 deg/s"
period = "2 ms"
[[component]]
type = "pd"
name = "servo"
kp = "900 N m/rad"
kd = "400 N m s/rad"
[run]
t_end = "0.5 s"
step = "1 ms"
sample = "10 ms"
[campaign]
runs = 3000
bands = ["q.joint1"]
figures = {rate = {signal = "gyro.rate.2", at = "rms"}, turn = {signal = "q.joint1", at = "peak"}}
[campaign.vary]
"q.joint1" = {normal = ["30 deg", "5 deg"]}
"servo.kp" = {uniform = [800, 1000]}
"""

SMALL = (
    "import sys; from articulus.study.campaign import driver;"
    "driver.CHUNK_SECONDS, driver.LEAST_CHUNK_SECONDS, driver.SHARD_SECONDS = 0.1, 0.05, 0.3;"
    "from articulus.cli.commands import main; main(sys.argv[1:])"
)
"""The command line with small chunks and shards, so that there is much to break."""


def command(study: Path, place: Path, *more: str) -> list[str]:
    """Return the command that runs the campaign."""
    return [
        sys.executable,
        "-c",
        SMALL,
        "campaign",
        "run",
        str(study),
        "--output",
        str(place),
        "--no-report",
        *more,
    ]


def children(pid: int) -> list[int]:
    """Return the processes that a process has begun, and theirs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text()
            parent = int(text.rpartition(")")[2].split()[1])
            if parent == pid:
                mine = int(path.parent.name)
                found += [mine, *children(mine)]
    return found


def kill(pids: list[int]) -> None:
    """End some processes at once."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def workers_of(driver: subprocess.Popen) -> list[int]:
    """Return the worker processes of a driver."""
    return children(driver.pid)


Fault = Callable[[subprocess.Popen, "Scheduler | None"], None]


class Scheduler:
    """A dask scheduler and two workers in processes of their own, which can be killed and begun again."""

    def __init__(self) -> None:
        self.port = random.randint(20000, 50000)
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.begin()

    def begin(self) -> None:
        """Start the scheduler and its workers."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        base = [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
        ]
        self.scheduler = subprocess.Popen([*base, "--no-dashboard"], **quiet)  # type: ignore[call-overload]
        one = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads",
            "1",
            "--no-dashboard",
        ]
        self.workers = [subprocess.Popen(one, **quiet) for _ in range(2)]  # type: ignore[call-overload]

    def kill_scheduler(self) -> None:
        """End the scheduler and begin again; workers of the old one end by themselves or are ended."""
        kill([self.scheduler.pid])
        self.scheduler.wait()
        time.sleep(random.uniform(0, 2))
        self.close()
        self.begin()

    def close(self) -> None:
        """End everything."""
        for p in (self.scheduler, *self.workers):
            kill([*children(p.pid), p.pid])
            p.wait()


def one_worker(driver: subprocess.Popen, cluster: Scheduler | None) -> None:
    """Kill one worker, of its own processes or of the cluster."""
    pids = workers_of(driver) if cluster is None else [c for w in cluster.workers for c in children(w.pid)]
    kill(random.sample(pids, min(1, len(pids))))


def all_workers(driver: subprocess.Popen, cluster: Scheduler | None) -> None:
    """Kill all workers at once."""
    kill(workers_of(driver) if cluster is None else [c for w in cluster.workers for c in children(w.pid)])


def the_driver(driver: subprocess.Popen, cluster: Scheduler | None) -> None:
    """Kill the driver."""
    kill([driver.pid])


def the_scheduler(driver: subprocess.Popen, cluster: Scheduler | None) -> None:
    """Kill the scheduler; another one takes its place after a while."""
    assert cluster is not None
    cluster.kill_scheduler()


KINDS: dict[str, tuple[Fault, tuple[str, ...], bool]] = {
    "one worker": (one_worker, ("--workers", "2"), False),
    "all workers": (all_workers, ("--workers", "2"), False),
    "driver with workers": (the_driver, ("--workers", "2"), False),
    "driver": (the_driver, (), False),
    "one dask worker": (one_worker, (), True),
    "dask scheduler": (the_scheduler, (), True),
    "driver of dask": (the_driver, (), True),
}
"""What is killed: how, with which options, and whether on a dask cluster."""


def trial(study: Path, place: Path, kind: str, longest: float, cluster: Scheduler | None) -> int:
    """Run one campaign with a kill at a random time; return how many commands it took."""
    fault, options, _ = KINDS[kind]
    if cluster is not None:
        options = (*options, "--scheduler", cluster.address)
    for attempt in range(1, 6):
        driver = subprocess.Popen(
            command(study, place, *options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if attempt == 1:
            time.sleep(random.uniform(0.0, longest))
            fault(driver, cluster)
        _, said = driver.communicate(timeout=300)
        if driver.returncode == 0:
            return attempt
        if driver.returncode != -signal.SIGKILL:
            print(f"  attempt {attempt}: exit {driver.returncode}: {said.decode()[-300:]}", flush=True)
    raise RuntimeError(f"{kind}: not done after 5 commands")


def main() -> int:
    """Run all trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20, help="kills of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    given = parser.parse_args()
    random.seed(given.seed)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "arm.toml"
        study.write_text(STUDY)
        began = time.monotonic()
        subprocess.run(command(study, Path(folder) / "whole"), check=True, stdout=subprocess.DEVNULL)
        longest = time.monotonic() - began
        whole = art.campaign.show(Path(folder) / "whole")
        for kind in given.kinds:
            cluster = Scheduler() if KINDS[kind][2] else None
            try:
                for k in range(given.trials):
                    place = Path(folder) / f"{kind.replace(' ', '_')}_{k}"
                    commands = trial(study, place, kind, 1.5 * longest, cluster)
                    found = art.campaign.show(place)
                    same = found.table.same(whole.table)
                    bands = (found.bands()["q.joint1"].values == whole.bands()["q.joint1"].values).all()
                    bad += not (same and bands)
                    print(
                        f"{kind}, trial {k}: {commands} commands, {'same' if same and bands else 'DIFFERENT'}",
                        flush=True,
                    )
            finally:
                if cluster is not None:
                    cluster.close()
    print(f"{bad} of {given.trials * len(given.kinds)} trials differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
