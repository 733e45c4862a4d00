"""Flexible bodies in TOML files and npz archives: round trips, and what is said about wrong ones."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus import structure
from articulus.errors import InputError, ModelError
from articulus.model.files import parse_toml, read_toml, toml_text, write_toml
from articulus.model.files.modes_file import modes_bytes, modes_from_bytes, read_modes, write_modes
from flexible_zoo import random_modes, soften
from zoo import random_mechanism

ARM = """schema = 1
name = "arm"

[body.link]
beam = {length = "80 cm", EI = "120 N m^2", mass_per_length = "0.9 kg/m", modes = 3, tip_mass = "200 g", damping = [0.01, 0.01, 0.02]}

[body.load]
mass = 1
inertia = [0.1, 0.1, 0.1]

[joint.shoulder]
type = "revolute"
parent = "ground"
child = "link"
axis = [0, 0, 1]

[joint.grip]
type = "fixed"
parent = "link"
child = "load"
node = "tip"

[frame.gauge]
body = "link"
node = "middle"
"""


def test_modes_survive_an_archive(tmp_path: Path) -> None:
    for modes in (
        random_modes(np.random.default_rng(1), 3, "inconsistent"),
        random_modes(np.random.default_rng(2), 1),
    ):
        write_modes(modes, tmp_path / "link.npz")
        assert read_modes(tmp_path / "link.npz") == modes
        assert modes_bytes(modes) == (tmp_path / "link.npz").read_bytes()
        with np.load(tmp_path / "link.npz", allow_pickle=False) as archive:
            assert np.array_equal(archive["ff"], modes.ff)


@pytest.mark.parametrize("seed", range(3))
def test_mechanisms_survive_a_file(tmp_path: Path, seed: int) -> None:
    mech = soften(random_mechanism(seed, 4, parameters=["mass", "xyz"]), seed)
    write_toml(mech.description, tmp_path / "soft.toml")
    assert read_toml(tmp_path / "soft.toml") == mech.description
    assert art.load(tmp_path / "soft.toml").description.fingerprint == mech.description.fingerprint
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {
        "soft.toml",
        *(f"soft.{b.name}.npz" for b in mech.description.bodies if b.modes is not None),
    }


def test_equal_links_share_a_file(tmp_path: Path) -> None:
    m, modes = art.Mechanism("pair"), random_modes(np.random.default_rng(1), 2)
    m.flexible("a/b", modes).flexible("c", modes)
    m.joint("one", art.Revolute(), parent="ground", child="a/b")
    m.joint("two", art.Revolute(), parent="a/b", child="c", node="s0")
    m.save(tmp_path / "pair.toml")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pair.body 0.npz", "pair.toml"]
    assert read_toml(tmp_path / "pair.toml") == m.description


def test_a_beam_in_one_line_is_beam_body() -> None:
    read = parse_toml(ARM)
    expected = structure.beam_body(
        0.8, EI=120.0, mass_per_length=0.9, modes=3, tip_mass=0.2, damping=[0.01, 0.01, 0.02]
    )
    assert read.bodies[0].modes == expected
    assert read.nv == 4
    assert read.connections[1].node == "tip"
    assert read.frames[0].node == "middle"


def test_a_beam_is_written_as_its_modes(tmp_path: Path) -> None:
    read = parse_toml(ARM)
    write_toml(read, tmp_path / "arm.toml")
    assert 'flexible = "arm.link.npz"' in (tmp_path / "arm.toml").read_text()
    assert read_toml(tmp_path / "arm.toml") == read


def test_two_planes_and_level() -> None:
    text = ARM.replace(
        'EI = "120 N m^2"', 'EI = [120, "0.2 kN m^2"], planes = "both", level = "ruthless"'
    ).replace(", damping = [0.01, 0.01, 0.02]", "")
    modes = parse_toml(text).bodies[0].modes
    assert modes is not None
    assert modes.level == "ruthless"
    assert modes == structure.beam_body(
        0.8, EI=(120.0, 200.0), mass_per_length=0.9, modes=3, tip_mass=0.2, planes="both"
    ).at_level("ruthless")


WRONG = {
    (
        "modes = 3",
        "mode = 3",
    ): r"arm\.toml:5: body\.link\.beam\.mode: found the unknown key 'mode'; expected a known key\. did you mean 'modes'",
    (
        '"80 cm"',
        '"80 kg"',
    ): r"arm\.toml:5: body\.link\.beam\.length: found '80 kg' measures \[kg\], not \[m\]",
    (
        "modes = 3",
        "modes = 2.5",
    ): r"arm\.toml:5: body\.link\.beam\.modes: found 2\.5; expected a whole number",
    ('length = "80 cm"', "length = -1"): r"arm\.toml:5: body\.link\.beam: found beam: length = -1",
    (
        'node = "tip"',
        'node = "tipp"',
    ): r"arm\.toml:21: joint\.grip\.node: found 'tipp'; .* did you mean 'tip'",
    ('node = "middle"', 'nod = "middle"'): r"arm\.toml:25: frame\.gauge\.nod: .* did you mean 'node'",
    (
        "beam = {",
        'flexible = "a.npz"\nbeam = {',
    ): r"body\.link\.beam: found a beam and a file of modes; expected one of the two",
    (
        "beam = {",
        "mass = 2\nbeam = {",
    ): r"arm\.toml:5: body\.link\.mass: found \(2\.0,\) on a flexible body; expected nothing",
    ("beam = {", "level = 2\nbeam = {"): r"body\.link\.level: found the unknown key 'level'",
    ("modes = 3", 'modes = 3, level = "consistant"'): r"did you mean 'consistent'",
}


@pytest.mark.parametrize("change", WRONG)
def test_mistakes_are_named_with_their_line(change: tuple[str, str]) -> None:
    with pytest.raises(ModelError, match=WRONG[change]) as raised:
        parse_toml(ARM.replace(*change), "arm.toml")
    assert len(raised.value.findings) == 1, raised.value


def test_a_parameter_in_a_beam_needs_a_range() -> None:
    text = ARM.replace('"80 cm"', '{parameter = "L"}').replace(
        "[body.link]", "[parameters]\nL = 1\n\n[body.link]"
    )
    with pytest.raises(ModelError, match=r"body\.link\.beam: found .*parameter 'L' has no range"):
        parse_toml(text)


FILED = ARM.replace(ARM.splitlines()[4], 'flexible = "link.npz"')


def test_a_file_of_modes(tmp_path: Path) -> None:
    (tmp_path / "arm.toml").write_text(FILED)
    where = r"arm\.toml:5: body\.link\.flexible: found 'link\.npz': "
    with pytest.raises(ModelError, match=where + "no such file") as raised:
        read_toml(tmp_path / "arm.toml")
    assert len(raised.value.findings) == 1  # nothing about its stations
    (tmp_path / "link.npz").write_bytes(b"no archive")
    with pytest.raises(ModelError, match=where + "no readable npz archive"):
        read_toml(tmp_path / "arm.toml")
    write_modes(structure.beam_body(1.0, EI=1.0, mass_per_length=1.0), tmp_path / "link.npz")
    assert read_toml(tmp_path / "arm.toml").nv == 3
    with pytest.raises(ModelError, match="a text without a folder; expected a file, by read_toml"):
        parse_toml(FILED)
    for outside in ("/etc/link.npz", "../link.npz"):
        (tmp_path / "arm.toml").write_text(FILED.replace("link.npz", outside))
        with pytest.raises(ModelError, match="a file that is not read: it leads out of the model's folder"):
            read_toml(tmp_path / "arm.toml")


def archive(**changes: object) -> bytes:
    with np.load(io.BytesIO(modes_bytes(random_modes(np.random.default_rng(1), 2)))) as held:
        arrays = {name: held[name] for name in held.files} | changes
    out = io.BytesIO()
    np.savez(out, **{name: array for name, array in arrays.items() if array is not None})
    return out.getvalue()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "else"}, "another npz archive"),
        ({"ff": None}, "no array 'ff'"),
        ({"rf0": np.zeros((6, 3))}, r"'rf0' has shape \(6, 3\)"),
        ({"ff": np.eye(2)}, "numbers that do not give its checksum"),
        ({"station_position": np.zeros((1, 3))}, "arrays whose shapes belong together"),
        ({"names": np.array([{}, {}], dtype=object)}, "no readable npz archive"),
    ],
)
def test_wrong_archives_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        modes_from_bytes(archive(**changes), "link.npz")


def test_nothing_is_written_where_there_is_no_folder(tmp_path: Path) -> None:
    m = art.Mechanism("odd").flexible("link", random_modes(np.random.default_rng(1), 1))
    m.joint("one", art.Revolute(), parent="ground", child="link")
    with pytest.raises(InputError, match="cannot be written"):
        m.save(tmp_path / "no" / "odd.toml")
    assert not list(tmp_path.iterdir())


def test_text_names_the_files() -> None:
    m = soften(random_mechanism(1, 2), 1)
    assert 'flexible = "b0.npz"' in toml_text(m.description)
