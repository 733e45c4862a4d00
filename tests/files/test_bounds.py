"""What files ask for is bounded, and what is wrong with them is told by errors of our own."""

import hashlib
import json
import os
import pwd
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus import kernel
from articulus.errors import ArticulusError, DoubtfulModel, DoubtfulResult, InputError, ModelError
from articulus.kernel import cache
from articulus.model.files.csv_table import columns_of
from articulus.model.files.mesh.reader import parse_mesh, read_mesh
from articulus.model.files.npz import npz_arrays
from articulus.model.files.xml_tree import parse_xml
from articulus.simulation.running import checkpoint

from .support import ARM

STUDY = """
schema = 1
[study]
name = "arm"
model = "pendulum_chain"
options = {n = 1}
[run]
t_end = 0.01
step = 0.001
"""


def _seconds() -> float:
    return time.process_time()


# sizes


def gltf(**more: object) -> bytes:
    return json.dumps({"asset": {"version": "2.0"}, **more}).encode()


ACCESSOR = {"componentType": 5126, "count": 10**9, "type": "VEC3"}


@pytest.mark.parametrize(
    ("held", "text"),
    [
        ({"accessors": [ACCESSOR]}, "accessors of 11444 MB"),
        ({"accessors": [{**ACCESSOR, "count": 10**6}] * 30}, "accessors of 343 MB"),
        ({"accessors": [{**ACCESSOR, "count": -1}]}, "an accessor without a valid count"),
        ({"accessors": [{**ACCESSOR, "componentType": [5126]}]}, "an accessor without a valid count"),
        ({"accessors": 3}, "no list of tables"),
        ({"nodes": [{"children": [1]}, {"children": [0]}]}, "a cycle of nodes"),
        ({"nodes": [{"children": [0]}]}, "a cycle of nodes"),
        ({"nodes": [{"children": [7]}]}, "a child that is none"),
        ({"nodes": [{"children": [2]}, {"children": [2]}, {}]}, "or of another node too"),
        ({"nodes": [{}] * 100_001}, "100001 nodes"),
    ],
)
def test_gltf_files_are_counted_before_they_are_read(held: dict, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        parse_mesh(gltf(**held), "a.gltf")
    body = gltf(**held)
    glb = b"glTF" + np.array([2, 20 + len(body), len(body), 0x4E4F534A], "<u4").tobytes() + body
    with pytest.raises(ModelError, match=text):
        parse_mesh(glb, "a.glb")


def test_a_heading_costs_its_length() -> None:
    """Twenty thousand blanks took hours."""
    began = _seconds()
    for heading in ("t," + " " * 20_000 + "x", "t,x" + " " * 20_000 + "y", "t,x [" + " " * 20_000):
        columns_of(f"{heading}\n0,1\n", "a.csv")
    assert _seconds() - began < 0.5


def test_headings_mean_what_they_did() -> None:
    found = columns_of("t [s], boom [deg] ,a[0] [m],plain,b ] c [m]\n0,1,2,3,4\n", "a.csv")
    assert found.names == ("boom", "a[0]", "plain", "b ] c")
    assert found.units == ("deg", "m", "", "m")


def test_many_elements_are_refused_early() -> None:
    began = _seconds()
    with pytest.raises(ModelError, match="at most 256 levels and 200000 elements"):
        parse_xml("<a>" + "<b/>" * 2_500_000 + "</a>", "a.urdf")
    assert _seconds() - began < 3.0  # of a busy machine, half a second by itself; reading them all took 4.4 s


@pytest.mark.parametrize("name", ["pendulum_chain", "n_four_bar"])
def test_library_models_have_a_largest_size(name: str) -> None:
    for n in (10**8, 10**400, -(10**8)):
        with pytest.raises(InputError, match="expected a whole number of at most 10000"):
            art.load(name, n=n)
    text = STUDY.replace("pendulum_chain", name).replace("n = 1", "n = 100000000")
    with pytest.raises(ModelError, match="at most 10000"):
        art.campaign.run(text + '[campaign]\nruns = 2\nfigures = {t = "q.hinge1"}\n')


# names and numbers


def test_names_that_no_file_has(tmp_path: Path) -> None:
    long = "x" * 300
    (tmp_path / "a.obj").write_text(f"mtllib {long}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert len(read_mesh(tmp_path / "a.obj").triangles) == 1
    mesh = f'<visual><geometry><mesh filename="package://{long}/a.stl"/></geometry></visual>'
    urdf = ARM.replace("</inertial>", "</inertial>" + mesh, 1)
    assert mesh in urdf
    (tmp_path / "a.urdf").write_text(urdf)
    with pytest.warns(DoubtfulModel):
        art.load(tmp_path / "a.urdf")
    mjcf = f'<mujoco><asset><mesh name="m" file="{long}.stl"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    (tmp_path / "a.xml").write_text(mjcf)
    arm = art.load("two_link")
    for call in (
        lambda: art.load(tmp_path / "a.xml"),
        lambda: art.load(tmp_path / f"{long}.toml"),
        lambda: art.load_run(tmp_path / f"{long}.nc"),
        lambda: art.campaign.show(tmp_path / long),
        lambda: art.campaign.run(STUDY, runs=2, output=tmp_path / long),
        lambda: art.simulate(arm, 0.01, checkpoint=tmp_path / long),
        lambda: arm.save(tmp_path / f"{long}.toml"),
        lambda: art.load("\ud800.toml"),
    ):
        with pytest.raises(ArticulusError):
            call()


def test_numbers_that_overflow_when_squared() -> None:
    huge = ARM.replace("<mass", '<origin xyz="0 0 1e308"/><mass', 1) if "<origin" not in ARM else ARM
    wrong = huge.replace('xyz="', 'xyz="1e308 0 0" was="', 1)
    with pytest.raises(ModelError, match="finite number"):
        art.load(wrong)
    text = '[body.a]\nmass = 1\ncom = [0, 0, 1e308]\ninertia = [1, 1, 1]\n[joint.j]\ntype = "revolute"\nchild = "a"\naxis = [1, 0, 0]\n'
    with pytest.raises(ModelError, match=r"1e\+308; expected a finite number, at most 1e\+100"):
        art.load('schema = 1\nname = "x"\n' + text.replace('child = "a"', 'parent = "ground"\nchild = "a"'))


@pytest.mark.parametrize("line", ["runs = 1" + 400 * "0", "seed = 1" + 400 * "0"])
def test_numbers_of_400_digits_in_a_study(line: str) -> None:
    from articulus.study.campaign.design import Campaign

    more = "" if line.startswith("runs") else "runs = 2\n"
    text = STUDY + f'[campaign]\n{more}{line}\n[campaign.vary]\n"q.hinge1" = {{uniform = [0, 1]}}\n'
    if line.startswith("runs"):
        with pytest.raises(InputError, match="expected at most"):
            Campaign.read(text)
    else:
        Campaign.read(text)


def test_names_of_components() -> None:
    from articulus.simulation.loop.components import PD

    for name in ("[", "[[a]]gyro", "", "a]"):
        with pytest.raises(InputError, match="expected a text without brackets"):
            art.simulate(art.load("two_link"), 0.01, controller=PD(kp=1.0, kd=1.0, name=name))


def test_positions_and_threads() -> None:
    arm, rng = art.load("two_link"), np.random.default_rng(0)
    for given in ((rng, "x"), (rng, -1), (rng, 10**12), (rng, 2.5), (rng, True), ("x", 2)):
        with pytest.raises(InputError, match="random_position: found"):
            arm.random_position(*given)
    assert arm.random_position(rng, (2, 3)).shape == (2, 3, 2)
    for n in (0, -1, "x", 1.5, True, None):
        with pytest.raises(InputError, match="threads: found"), kernel.threads(n):  # type: ignore[arg-type]
            pass


def test_an_archive_whose_header_is_none() -> None:
    """The text of a header is read by a tokenizer, which has an exception of its own."""
    import io
    import zipfile

    for header in (b"{'descr': (", b"'''", b"{'descr': '<f8', 'shape': (3,), 'fortran_order':", b"\xff\xfe"):
        array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.npy", array)
        with pytest.raises(ValueError):
            npz_arrays(out.getvalue(), 1 << 20)


# files that somebody made up


def _forged(path: Path, body: bytes) -> None:
    head = checkpoint.FORMAT + str(checkpoint.VERSION).encode()
    path.write_bytes(head + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_checkpoints_with_a_forged_checksum(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    good = {"arrays": {"x": [1]}, "failures": [], "events": [], "model": "", "settings": {}, "step": 1, "t": 0.0,
            "rng": {}, "log": ["log", 10**15, {"t": [1]}, ""], "statistics": {}}  # fmt: skip
    (tmp_path / "log").write_bytes(b"")
    texts = [b"", b"{", b"[]", b"{}", b"[" * 100_000, json.dumps({**good, "arrays": {"x": [10**9]}}).encode()]
    texts += [json.dumps({**good, key: 3}).encode() for key in good]
    texts += [json.dumps(good).encode(), json.dumps({**good, "log": ["../log", 1, {"t": [1]}, ""]}).encode()]
    for text in texts:
        _forged(path, len(text).to_bytes(8, "little") + text + bytes(8))
        with pytest.raises(InputError, match=r"a\.checkpoint|log"):
            checkpoint.read(path)


def test_campaign_folders_that_are_damaged(tmp_path: Path) -> None:
    text = (
        STUDY
        + '[campaign]\nruns = 4\nbands = ["q.hinge1"]\nfigures = {t = "q.hinge1"}\n[campaign.vary]\n"q.hinge1" = {uniform = [0, 1]}\n'
    )
    place = tmp_path / "c"
    whole = art.campaign.run(text, output=place)
    digest, values = whole.digest(), whole.bands()["q.hinge1"].values
    settings = place / "campaign.json"
    held = json.loads(settings.read_text())
    for wrong in (
        {**held, "campaign": {}},
        {**held, "campaign": {**held["campaign"], "axes": 3}},
        {**held, "runs": "x"},
        3,
    ):
        settings.write_text(json.dumps(wrong))
        with pytest.raises(InputError, match=r"campaign\.json: found"):
            art.campaign.show(place).digest()
    settings.write_text('{"campaign": ' + "[" * 100_000)
    with pytest.raises(InputError, match=r"campaign\.json: found"):
        art.campaign.show(place)
    settings.write_text(json.dumps(held))
    scale = (place / "scale.npz").read_bytes()
    for damaged in (b"", scale[:100], b"PK" + scale[50:]):
        (place / "scale.npz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"scale\.npz: found a file that cannot be read"):
            art.campaign.show(place).bands()
    with pytest.warns(DoubtfulResult, match="computed again from the first runs"):
        more = art.campaign.run(text, runs=6, output=place)
    assert len(more.table) == 6
    (place / "scale.npz").write_bytes(scale)
    assert np.isfinite(values).all()
    import sqlite3

    base = sqlite3.connect(place / "ledger.sqlite")
    base.executescript("DROP TABLE texts; CREATE TABLE texts (a INTEGER);")
    base.close()
    assert len(art.campaign.show(place).table) == 6
    assert art.campaign.show(place).digest() != digest  # two runs more


def test_an_axis_of_400_digits() -> None:
    from articulus.browser.drive.protocol import _axes
    from articulus.browser.web.messages import MessageError

    assert _axes([10**400, -(10**400), 1, 0.5], 4) == (1.0, -1.0, 1.0, 0.5)
    for wrong in (float("nan"), float("inf"), True, "1"):
        with pytest.raises(MessageError):
            _axes([wrong], 1)


# the cache of kernels


def test_the_cache_keeps_what_was_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARTICULUS_CACHE", str(tmp_path / "cache"))
    for k in range(10):
        cache.store({"k": str(k)}, bytes(1000))
    base = cache.folder()
    assert base is not None
    for age, k in enumerate(reversed(range(10))):
        header = cache._header({"k": str(k)})
        os.utime(cache._path(base, header), (time.time() - 7200 - age,) * 2)
    assert cache.load({"k": "0"}) == bytes(1000)  # the oldest, until now
    (base / "left.tmp").write_bytes(b"x")
    os.utime(base / "left.tmp", (0, 0))
    size = sum(p.stat().st_size for p in base.glob("*.kernel"))
    cache.trim(base, size)
    assert len(list(base.glob("*.kernel"))) == 10
    cache.trim(base, size // 2)
    assert sum(p.stat().st_size for p in base.glob("*.kernel")) <= 0.4 * size
    assert [cache.load({"k": str(k)}) is not None for k in range(10)] == [True] + 6 * [False] + 3 * [True]
    assert (base / cache.SECRET).exists()
    assert not (base / "left.tmp").exists()


TRIM = """
import sys
from pathlib import Path
from articulus.kernel import cache
for k in range(60):
    cache.store({"who": sys.argv[1], "k": str(k)}, bytes(20_000))
    assert cache.load({"who": sys.argv[1], "k": str(k)}) in (None, bytes(20_000))
    cache.trim(cache.folder(), 200_000)
"""


def test_processes_trim_at_once(tmp_path: Path) -> None:
    there = {**os.environ, "ARTICULUS_CACHE": str(tmp_path / "cache"), "ARTICULUS_CACHE_SIZE": "0.2"}
    running = [
        subprocess.Popen([sys.executable, "-c", TRIM, str(k)], env=there, stderr=subprocess.PIPE)
        for k in range(3)
    ]
    for each in running:
        assert (each.communicate(timeout=60)[1], each.returncode) == (b"", 0)
    assert sum(p.stat().st_size for p in (tmp_path / "cache").glob("*.kernel")) <= 200_000 + 3 * 21_000


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache, one warning, and everything works."""
    for name in ("ARTICULUS_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    cache._warn_homeless.cache_clear()
    with pytest.warns(RuntimeWarning, match="no kernel cache is used"):
        assert cache.folder() is None
    assert cache.load({"k": "1"}) is None  # another warning would be an error here
    cache.store({"k": "1"}, b"1")


def test_reading_a_long_robot_costs_a_fraction_of_a_millisecond_a_link() -> None:
    """With a massless link, for which the mass matrix is looked at; every axis another one. It took 4.3 ms a link."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    n = 400
    art.load(f"<robot name='short'><link name='a'>{inertial}</link></robot>")  # imports
    links = "".join(f'<link name="l{k}">{"" if k == 5 else inertial}</link>' for k in range(n))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="{k} 1 0"/></joint>'
        for k in range(n - 1)
    )
    began = _seconds()
    art.load(f'<robot name="long">{links}{joints}</robot>')
    # 0.6 ms measured on the machine of the bar (1 s for 1500 links), 1.5 to 1.9 ms on a slower and busy one
    assert _seconds() - began < 2.2e-3 * n


def test_a_screw_is_the_exponential_of_its_matrix() -> None:
    from scipy.linalg import expm

    from articulus.model.mechanism.regular import _screw

    motions = np.random.default_rng(3).normal(size=(6, 6))
    motions[0, :3] = 0  # a shift
    for motion, X in zip(motions, _screw(motions)):
        w, v = motion[:3], motion[3:]
        A = np.zeros((4, 4))
        A[:3, :3], A[:3, 3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]], v
        assert np.abs(X - expm(A)).max() < 1e-14  # rounding of numbers of size 1, of expm too


def test_3mf_archives_are_not_opened() -> None:
    """What reads them, lxml and networkx, no extra brings along; and 6 MB of them can hold 6 GB."""
    with pytest.raises(ModelError, match=r"a.3mf: found the suffix '.3mf'; expected one of .stl"):
        parse_mesh(b"PK", "a.3mf")


@pytest.mark.parametrize("layout", ["csc", "csr", "bsr", "coo", "dia"])
def test_sparse_matrices_whose_numbers_point_elsewhere(layout: str, tmp_path: Path) -> None:
    """SciPy follows indices without a look at them: the process ended; a shape of 2^40 rows asked for 8 TB."""
    from scipy import sparse

    from articulus.model.files import read_matrices

    path = tmp_path / "K.npz"
    sparse.save_npz(path, sparse.eye_array(6).asformat(layout))
    assert read_matrices(path)["K"].nnz == 6
    with np.load(path) as archive:
        good = dict(archive)
    wrong = [{"shape": np.array([2**40, 6])}, {"shape": np.array([2**62, 2**62])}, {"shape": np.array(6)}]
    for key in {"indices", "indptr", "row", "col"} & set(good):
        wrong += [{key: good[key] + 10**8}, {key: good[key] - 10**8}]
    if "indptr" in good:
        wrong += [{"indptr": np.append(good["indptr"][:-1], 0).astype(np.int32)}]
    for changed in wrong:
        np.savez(path, **{**good, **changed})
        with pytest.raises(ModelError, match=r"K\.npz: found a file that cannot be read"):
            read_matrices(path)


def test_a_ledger_with_a_torn_name_is_made_anew(tmp_path: Path) -> None:
    """SQLite puts the name into its message, which was then no text: UnicodeDecodeError."""
    text = (
        STUDY
        + '[campaign]\nruns = 4\nfigures = {t = "q.hinge1"}\n[campaign.vary]\n"q.hinge1" = {uniform = [0, 1]}\n'
    )
    digest = art.campaign.run(text, output=tmp_path / "c").digest()
    ledger = tmp_path / "c" / "ledger.sqlite"
    content = ledger.read_bytes()
    assert b"tableranges" in content
    ledger.write_bytes(content.replace(b"tableranges", b"table\xec\xffnges"))
    assert art.campaign.show(tmp_path / "c").digest() == digest
