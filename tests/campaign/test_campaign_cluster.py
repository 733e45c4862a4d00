"""Workers of a dask cluster that share no folder with the driver: the files of the study go with the job."""

import base64
import gc
import http.client
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.model.files.storage import noting_files
from articulus.study.campaign import driver, file_bundle
from articulus.study.campaign.cluster import _local
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.file_bundle import Unpacked, pack

distributed = pytest.importorskip("distributed")

STUDY = """
schema = 1
[study]
name = "arm"
model = "../robot/urdf/arm.urdf"
[[component]]
type = "pd"
kp = 20
kd = 1
target = {csv = "course.csv", columns = ["turn"]}
[run]
t_end = "0.02 s"
step = "1 ms"
[campaign]
runs = 40
figures = {turn = "q.hinge"}
[campaign.vary]
"q.hinge" = {uniform = [-1, 1]}
"v.hinge" = {table = "speeds.csv", column = "speed"}
"""
URDF = """<robot name="arm"><link name="base"/><link name="rod">
<inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="package://robot/meshes/rod.stl"/></geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
STL = "solid rod\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid rod\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study beside the package of its robot, whose mesh is found only because of a file that nobody reads."""
    place = tmp_path / "project"
    for folder in ("studies", "robot/urdf", "robot/meshes"):
        (place / folder).mkdir(parents=True)
    (place / "robot/package.xml").write_text("<package/>")
    (place / "robot/urdf/arm.urdf").write_text(URDF)
    (place / "robot/meshes/rod.stl").write_text(STL)
    (place / "studies/course.csv").write_text("t [s],turn [rad]\n0,0\n0.01,1\n0.02,-1\n")
    (place / "studies/speeds.csv").write_text("speed [rad/s]\n0.5\n-0.25\n0.125\n")
    path = place / "studies/arm.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two workers that live elsewhere."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            local_directory=str(elsewhere),
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        client.run(os.chdir, str(elsewhere))
        client.elsewhere = elsewhere
        yield client


def blind(folder: str) -> None:
    """Let a worker read nothing in a folder, as if it were on another machine."""

    def refuse(event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and str(given[0]).startswith(folder):
            raise FileNotFoundError(folder)

    sys.addaudithook(refuse)


def test_workers_without_the_folder_give_the_same_bits(study: Path, cluster: Any, tmp_path: Path) -> None:
    here = art.campaign.run(study, output=tmp_path / "here")
    cluster.run(blind, str(study.parents[1]))
    there = art.campaign.run(study, output=tmp_path / "there", scheduler=cluster.scheduler.address)
    assert there.digest() == here.digest()
    assert not here.table.failed.any()
    assert not list(cluster.elsewhere.rglob("*.urdf"))  # removed from the workers


def test_a_worker_that_is_killed_costs_nothing(
    study: Path, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9 with chunks in its hands: no run is lost, none counted twice, every bit is that of the undisturbed campaign."""
    from articulus.study.campaign.cluster import Cluster

    here = art.campaign.run(study, output=tmp_path / "here")
    victim = next(iter(cluster.run(os.getpid).values()))
    real, tasks = Cluster.submit, []

    def submit(self: Cluster, task: tuple[int, int]) -> None:
        real(self, task)
        tasks.append(task)
        if len(tasks) == 4:
            os.kill(victim, signal.SIGKILL)

    monkeypatch.setattr(Cluster, "submit", submit)
    monkeypatch.setattr(driver, "FIRST_CHUNK", 4)
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(driver, "LEAST_CHUNK_SECONDS", 0.0)
    there = art.campaign.run(study, output=tmp_path / "there", scheduler=cluster.scheduler.address)
    assert len(tasks) > 4
    assert victim not in cluster.run(os.getpid).values()
    assert there.digest() == here.digest()


def test_a_worker_that_lost_the_job_gets_it_again(
    study: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from articulus.study.campaign import cluster as module

    plan, given = Campaign.read(study), []
    with_job = module.Cluster(plan, None, cluster.scheduler.address)
    try:
        cluster.run(module.drop_job, with_job._name)
        with_job.submit((0, 4))
        while not given:
            given = with_job.wait(0.2)
    finally:
        with_job.close()
    assert given[0][1].count == 4


def test_a_worker_with_other_versions_gets_no_work(
    study: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when it is the only one left: the campaign waits, and says so."""
    from articulus.study.campaign import cluster as module

    monkeypatch.setattr(module, "GONE_SECONDS", 0.3)
    driver = module.Cluster(Campaign.read(study), None, cluster.scheduler.address)
    try:
        driver._good = dict.fromkeys(driver._good, 0)  # as if both that are left had told other versions
        driver.submit((0, 4))
        assert driver.wait(0.1) == []
        time.sleep(0.3)
        with pytest.raises(NumericalError, match="no usable worker"):
            driver.wait(0.1)
    finally:
        driver.close()


def test_a_file_by_its_absolute_path_has_to_be_there(study: Path, cluster: Any, tmp_path: Path) -> None:
    course = study.parent / "course.csv"
    text = study.read_text().replace("course.csv", str(course))
    study.write_text(text)
    seen = art.campaign.run(study, scheduler=cluster.scheduler.address, output=tmp_path / "seen")
    assert seen.digest() == art.campaign.run(study, output=tmp_path / "here").digest()
    cluster.run(blind, str(study.parents[1]))
    with pytest.raises(InputError, match=r"scheduler: .*course\.csv"):
        art.campaign.run(study, scheduler=cluster.scheduler.address)


def test_a_parcel_is_laid_out_as_the_folder_and_removed(study: Path, tmp_path: Path) -> None:
    plan = Campaign.read(study)
    held = Unpacked(pack(plan), str(tmp_path))
    root = held.folder.parents[len(study.parent.parts) - 2]
    files = sorted(str(p.relative_to(held.folder.parent)) for p in root.rglob("*") if p.is_file())
    assert files == ["robot/meshes/rod.stl", "robot/package.xml", "robot/urdf/arm.urdf", "studies/course.csv"]
    assert (held.folder / "course.csv").read_bytes() == (study.parent / "course.csv").read_bytes()
    held.close()
    assert not root.exists()


def test_a_worker_that_reads_other_files_is_refused(study: Path, tmp_path: Path) -> None:
    plan = Campaign.read(study)
    held = Unpacked(pack(plan), str(tmp_path))
    names = [p.name for p in plan.study_files]
    opened = [held.folder / os.path.relpath(p, study.parent) for p in plan.study_files]
    held.require(opened)
    with pytest.raises(InputError, match=r"a worker does not read .*rod\.stl"):
        held.require([p for p in opened if p.suffix != ".stl"])
    (tmp_path / "other.csv").write_text("")
    with pytest.raises(InputError, match=r"a worker reads .*other\.csv; expected the files of the driver"):
        held.require([*opened, tmp_path / "other.csv"])
    opened[names.index("course.csv")].write_text("changed")
    with pytest.raises(InputError, match=r"course\.csv, with another content"):
        held.require(opened)
    held.close()


def test_files_that_xacro_includes_are_noted(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    head, rest = URDF.split('<link name="base"/>')
    rest = rest.replace(
        '<visual><geometry><mesh filename="package://robot/meshes/rod.stl"/></geometry></visual>', ""
    )
    (tmp_path / "part.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/></robot>'
    )
    include = '<xacro:include filename="part.xacro"/>'
    (tmp_path / "arm.xacro").write_text(
        head.replace(">", ' xmlns:xacro="http://www.ros.org/wiki/xacro">') + include + rest
    )
    with noting_files() as paths:
        art.load(tmp_path / "arm.xacro", expand_xacro=True)
    assert {p.name for p in paths} == {"arm.xacro", "part.xacro"}


def test_a_changed_file_is_not_packed(study: Path) -> None:
    plan = Campaign.read(study)
    (study.parent / "course.csv").write_text("t [s],turn [rad]\n0,0\n0.02,5\n")
    with pytest.raises(InputError, match=r"course\.csv has changed"):
        pack(plan)


def test_files_that_are_too_large(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bundle, "LIMIT", 100)
    with pytest.raises(InputError, match=r"the largest .*arm\.urdf with .* MB; expected at most"):
        pack(Campaign.read(study))


@pytest.mark.parametrize("place", ["../out", "/etc/out", "a/../../out", "a\\..\\out"])
def test_a_parcel_that_leads_out_of_its_folder(place: str, study: Path, tmp_path: Path) -> None:
    held = json.loads(pack(Campaign.read(study)))
    for key in ("marks", "folders"):
        with pytest.raises(InputError, match="expected one inside of its folder"):
            Unpacked(json.dumps(held | {key: [place]}), str(tmp_path))
    entry = held["files"].popitem()[1]
    with pytest.raises(InputError, match="expected one inside of its folder"):
        Unpacked(json.dumps(held | {"files": {place: entry}}), str(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["project"]


def test_a_damaged_parcel(study: Path, tmp_path: Path) -> None:
    held = json.loads(pack(Campaign.read(study)))
    name = next(iter(held["files"]))
    held["files"][name][1] = base64.b64encode(b"something else").decode()
    with pytest.raises(InputError, match="is damaged"):
        Unpacked(json.dumps(held), str(tmp_path))


# a cluster on this machine


def _listening(process: Any) -> list[tuple[str, int]]:
    """Addresses and ports on which a process and its children listen."""
    every = [process, *process.children(recursive=True)]
    kinds = ("tcp4", "tcp6")
    held = [c.laddr for p in every for k in kinds for c in p.net_connections(kind=k) if c.status == "LISTEN"]
    return [(address.ip, address.port) for address in held]


def test_a_local_cluster_is_closed_to_strangers() -> None:
    """It listens on the loopback address only; clients without its certificate, and browsers, get nothing."""
    pytest.importorskip("cryptography")
    psutil = pytest.importorskip("psutil")
    before = set(_listening(psutil.Process()))
    local = _local(distributed, 1)
    try:
        opened = set(_listening(psutil.Process())) - before
        assert len(opened) >= 3  # scheduler, nanny and worker
        assert {ip for ip, _ in opened} == {"127.0.0.1"}
        address = local.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        bare = address.replace("tls://", "tcp://")
        other = distributed.Security.temporary()
        for at, security in ((bare, None), (address, other), (address, None)):
            with pytest.raises((OSError, TimeoutError, ValueError, TypeError, RuntimeError)):
                distributed.Client(at, security=security, timeout=1, set_as_default=False)
            gc.collect()  # now: while the next client starts, `__del__` of this one waits for ever for a lock that is held
        for _, port in opened:
            for path in ("/", "/status", "/json/identity.json", "/info/main/workers.html", "/metrics"):
                assert _answer(port, path) in (None, 404)
        with distributed.Client(address, security=local.security, set_as_default=False) as client:
            assert client.submit(pow, 2, 10).result(timeout=20) == 1024
    finally:
        local.close(timeout=5)


def _answer(port: int, path: str) -> int | None:
    """Status of what a port answers a browser; None where it speaks another language."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def test_a_campaign_on_a_local_cluster_gives_the_same_bits(study: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    here = art.campaign.run(study, output=tmp_path / "here")
    there = art.campaign.run(study, output=tmp_path / "there", scheduler="local", workers=1)
    assert there.digest() == here.digest()


def test_without_certificates_no_local_cluster(study: Path, tmp_path: Path, monkeypatch: Any) -> None:
    def missing(**given: Any) -> None:
        raise ImportError("cryptography")

    monkeypatch.setattr(distributed.Security, "temporary", missing)
    with pytest.raises(InputError, match=r"found no package 'cryptography'.*articulus\[cluster\]"):
        art.campaign.run(study, output=tmp_path / "c", scheduler="local", workers=1)
