"""Flexible mechanisms and structures of the library: printed sizes, and laws that their sources state."""

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh

import articulus as art
from articulus.errors import InputError
from articulus.model import library
from articulus.structure import normal_modes

FREEDOMS = {
    "draper_tetrahedron": 12,
    "minas_truss": 42,
    "satellite582": 582,
    "three_masses": 3,
    "truss54": 54,
}


def elastic(arm, q):
    """Return the frequencies of a mechanism with its joints locked [rad/s]."""
    modal = [i for i, name in enumerate(arm.v_names) if name.split(".")[0] in arm.body_names]
    K = block_diag(*(b.modes.stiffness for b in arm.description.bodies if b.modes is not None))
    return np.sqrt(eigh(K, arm.mass_matrix(q)[np.ix_(modal, modal)], eigvals_only=True))


@pytest.mark.parametrize("name", library.STRUCTURES)
def test_structures_have_the_printed_number_of_dofs(name):
    assert library.structure(name).count == FREEDOMS[name]


def test_unknown_structure_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'truss54'"):
        library.structure("truss45")


def test_wrong_argument_of_a_structure_is_named():
    with pytest.raises(InputError, match=r"minas_truss.*nodes"):
        library.structure("minas_truss", nodes=3)


@pytest.mark.parametrize(("name", "actuators", "sensors"), [("truss54", 4, 6), ("satellite582", 18, 18)])
def test_rate_sensors_sit_beside_their_actuators(name, actuators, sensors):
    s = library.structure(name)
    assert (len(s.inputs), len(s.outputs)) == (actuators, sensors)
    rates = [i for i, output in enumerate(s.outputs) if output.startswith("rate")]
    partners = [s.inputs.index("u " + s.outputs[i].removeprefix("rate ")) for i in rates]
    np.testing.assert_array_equal(s.H_rate[rates], s.B[:, partners].T)


def test_the_satellite_flies_freely():
    assert np.count_nonzero(normal_modes(library.structure("satellite582"), 12).omega == 0) == 6


def test_the_truss_is_cantilevered():
    """Its first frequency is that of a beam of two chords, less what diagonals and springs give way (here 13 percent)."""
    s = library.structure("truss54")
    along = s.rigid()[:, 3]
    EA, mass = 7e10 * np.pi * (0.025**2 - 0.023**2), along @ (s.M @ along)
    chords = 1.8751041**2 * np.sqrt(2 * EA * 0.5**2 / (mass / 8) / 8**4) / (2 * np.pi)
    assert 0.8 * chords < normal_modes(s, 1).hertz[0] < chords


def test_pulls_of_the_tetrahedron_are_unit_forces_along_the_legs():
    B = library.structure("draper_tetrahedron").B[:, :6]
    np.testing.assert_allclose(np.linalg.norm(B, axis=0), 1, rtol=1e-12)
    legs = B.reshape(4, 3, 6)
    for bipod in range(3):  # right-angled, as the paper says
        a, b = legs[:, :, 2 * bipod].sum(axis=0), legs[:, :, 2 * bipod + 1].sum(axis=0)
        assert abs(a @ b) < 2e-3


def test_mass_of_the_t_truss_is_the_printed_one():
    s = library.structure("minas_truss")
    whole = s.whole or s
    held = np.array([name in ("15", "16") for name in whole.names])
    assert held.sum() == 2
    up = (s.dofs[:, 1] == 2).astype(float)
    missing = 7.335 - up @ (s.M @ up)
    assert 0 < missing < 2.5 * 7.335 / 16


def test_hub_carries_141_modes_from_a_tenth_of_a_hertz_up():
    bodies = [b.modes for b in library.read("hub_with_appendages").bodies if b.modes is not None]
    assert sum(m.count for m in bodies) == 141
    hertz = np.sqrt(np.concatenate([np.diag(m.stiffness) for m in bodies])) / (2 * np.pi)
    assert hertz.min() == pytest.approx(0.1, rel=1e-3)


def test_no_modes_make_the_rigid_hub():
    """The inertia of the whole at rest is the same for any number of modes."""
    hubs = [art.load("hub_with_appendages", modes=n, elements=4) for n in (0, 6)]
    inertia = [hub.mass_matrix(hub.neutral) for hub in hubs]
    np.testing.assert_allclose(inertia[1][:6, :6], inertia[0], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("links", [1, 2])
def test_king_arm_with_locked_joints_is_one_beam(links):
    """Straight and stiffly locked, both links make a cantilever of their whole length; nodal functions carry it."""
    from articulus.model.library.king_arm import LENGTH, MASS, ROUND

    arm = art.load("king_arm", links=links, modes=None, elements=8)
    exact = 1.8751041**2 * np.sqrt(ROUND / (MASS / LENGTH) / (links * LENGTH) ** 4)
    assert elastic(arm, arm.neutral)[0] == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("modes", [4, None])
@pytest.mark.parametrize("name", ["king_arm", "bayo_link"])
def test_links_shorten_when_they_bend(name, modes):
    """The consistent level needs axial degrees of freedom in the structure, if not in the basis: mu11 of a uniform beam is 1.57088 / L."""
    elements = {"elements": 8} if modes is None else {}
    held = library.read(name, modes=modes, **elements).bodies[0].modes
    first = eigh(held.stiffness, held.ff)[1][:, 0]
    length = held.station("tip").position[0]
    mu = -first @ held.rf1_shortening[:, 3] @ first
    assert mu == pytest.approx(1.5708782 / length, rel=1e-3)


def test_payload_of_the_king_arm_is_a_point_mass():
    bare, loaded = (art.load("king_arm", payload=m).mass_matrix(np.zeros(4)) for m in (0.0, 0.2))
    J = art.load("king_arm").jacobian("tip2", np.zeros(4))[3:]
    np.testing.assert_allclose(loaded - bare, 0.2 * J.T @ J, atol=1e-12)


def test_stiffness_of_the_padilla_arm_is_an_input():
    soft, stiff = (
        elastic(art.load("padilla_arm", EI=EI), np.zeros(6)) for EI in ((100.0, 10.0), (400.0, 40.0))
    )
    np.testing.assert_allclose(stiff, 2 * soft, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("king_arm", {"links": 3}, "links = 3; expected 1 or 2"),
        ("king_arm", {"payload": -1.0}, "payload = -1.0"),
        ("padilla_arm", {"EI": (1.0,)}, "expected two numbers"),
        ("hub_with_appendages", {"modes": 1000}, "expected an integer"),
    ],
)
def test_wrong_sizes_are_refused(name, arguments, message):
    with pytest.raises(InputError, match=message):
        library.read(name, **arguments)
