"""Place and length of a piezoelectric pair on a simply supported beam, by three criteria."""

import numpy as np

from articulus.motion.inversion.piezo import BeamModes, BeamPlacement, PiezoLayers, beam_placement
from articulus.structure import beam

LENGTH, LINE = 0.5, 2500.0 * 0.05 * 0.01
LAYERS = PiezoLayers(0.05, 0.01, 70e9, 2e-4, 63e9, 120e-12, adhesive_thickness=2e-5, adhesive_young=2.4e9)
EI = LAYERS.young * LAYERS.beam_inertia
SMALL = 1.0
"""Passive gain [V^2 s/J] that is small against the frequencies: every mode is damped by b^2 / 2 of it."""


def compute() -> dict:
    free, damped = (simply_supported(damping) for damping in (0.0, 0.01))
    passive = beam_placement(free, LAYERS.gain, feedback=SMALL)
    grid = source_grid()
    table = {
        "passive": beam_placement(free, LAYERS.gain, feedback=SMALL, candidates=grid),
        "lqr": beam_placement(free, LAYERS.gain, criterion="lqr", R=1e-8, candidates=grid),
        "gramian": beam_placement(damped, LAYERS.gain, criterion="gramian", candidates=grid),
    }
    gramian = beam_placement(damped, LAYERS.gain, criterion="gramian")
    nodes = beam(LENGTH, EI=EI, mass_per_length=LINE, root="pinned", tip="pinned", elements=32, planes="y")
    elements = beam_placement(BeamModes.of(nodes, 2), LAYERS.gain, feedback=SMALL)
    second = beam_placement(free.only(2), LAYERS.gain, feedback=SMALL)
    return {
        "I_Eq and I_b [1e-9 m^4]": [1e9 * LAYERS.inertia, 1e9 * LAYERS.beam_inertia],
        "K* and K [1e-3 N m/V]": [1e3 * LAYERS.section_gain, 1e3 * LAYERS.gain],
        "frequencies of the two modes [Hz]": free.omega / (2 * np.pi),
        **{f"table 1, {name}: length and middle over the length of the beam": place(x) for name, x in table.items()},
        "the Gramian's pair is the shortest, and its middle the farthest from mid-span (1 = yes)": bool(
            all(table["gramian"].length < table[k].length and table["gramian"].center < table[k].center for k in ("passive", "lqr"))
        ),
        "passive less regulator: length and middle": np.abs(place(table["passive"]) - place(table["lqr"])) < 0.03,
        "passive without structural damping: length and middle": place(passive),
        "Gramian, finer: length and middle": place(gramian),
        "passive, beam of 32 elements: length and middle": place(elements),
        "first mode alone: middle": beam_placement(free.only(1), LAYERS.gain, feedback=SMALL).center / LENGTH,
        "second mode alone: middle": second.center / LENGTH,
    }  # fmt: skip


def simply_supported(damping: float) -> BeamModes:
    return BeamModes.simply_supported(LENGTH, EI=EI, mass_per_length=LINE, modes=2, damping=damping)


def source_grid() -> np.ndarray:
    """Return all pairs whose length and middle are whole numbers of 1/101 of the beam, as those of table 1 are."""
    long, middle = np.meshgrid(np.arange(1, 101), np.arange(1, 101), indexing="ij")
    pairs = np.stack([middle - long / 2, middle + long / 2], axis=-1).reshape(-1, 2)
    return LENGTH / 101 * pairs[(pairs[:, 0] >= 0) & (pairs[:, 1] <= 101)]


def place(found: BeamPlacement) -> np.ndarray:
    return np.array([found.length, found.center]) / LENGTH
