"""Frequencies of a planar truss with a mass at one of its nodes, its Guyan reduction, and the tuning of an actuator."""

import numpy as np

from articulus.control.synthesis import tuned_absorber
from articulus.model.library import structure
from articulus.model.library.minas_truss import PARASITIC
from articulus.structure import Structure, guyan, normal_modes

PLACES = (None, 8, 2, 3, 4, 5, 6, 7, 10)
PROOF = 0.225
"""Proof mass of the actuator [kg]."""
PRINTED = (
    (1.04, 3.47, 8.05, 19.90, 21.75, 22.09, 30.48, 39.33, 48.55, 51.84, 58.72, 71.27, 72.28, 80.92),
    (0.97, 2.94, 8.00, 16.42, 21.44, 22.06, 28.53, 39.12, 46.40, 51.45, 58.52, 70.71, 72.28, 80.74),
    (0.93, 3.39, 7.71, 18.25, 21.74, 21.98, 30.09, 39.17, 45.12, 51.67, 54.15, 68.85, 71.87, 80.44),
    (0.93, 3.40, 7.66, 18.41, 21.45, 22.07, 30.02, 38.15, 46.65, 49.02, 57.71, 68.34, 72.26, 80.13),
    (0.92, 2.94, 7.65, 17.47, 20.17, 21.77, 29.60, 37.87, 48.35, 49.76, 58.47, 70.27, 72.26, 80.69),
    (0.98, 2.96, 7.95, 15.54, 21.75, 21.96, 27.79, 36.87, 48.35, 50.89, 58.54, 70.62, 72.09, 80.67),
    (0.98, 3.41, 7.93, 19.84, 20.52, 21.94, 30.07, 39.30, 43.27, 49.56, 58.60, 67.91, 71.67, 79.27),
    (0.98, 3.40, 7.95, 19.88, 20.24, 21.75, 30.43, 38.92, 45.40, 51.40, 56.68, 68.31, 72.23, 79.27),
    (1.01, 3.42, 7.28, 19.52, 20.52, 22.00, 29.83, 37.06, 43.03, 51.83, 56.07, 68.53, 71.34, 77.81),
)
"""Table 3, a row for each place [Hz]."""


TABLE_1 = {
    "42 freedoms": (1.045, 3.467, 8.050, 19.894, 21.746, 22.077, 30.468, 39.268, 48.524, 51.746, 58.645, 71.169, 72.090, 80.741),
    "126 freedoms": (1.048, 3.468, 8.050, 19.894, 21.748, 22.074, 30.472, 39.252, 48.521, 51.704, 58.629, 71.116, 72.039, 80.610),
    "Guyan to 14 freedoms": (1.039, 3.469, 8.051, 19.902, 21.750, 22.087, 30.477, 39.326, 48.552, 51.842),
}  # fmt: skip
"""Columns of table 1 [Hz]."""
TESTS = (
    {1: 1.07, 2: 3.54, 3: 7.94, 6: 22.54, 7: 32.61, 8: 40.35, 10: 52.51, 11: 61.41, 12: 65.62, 13: 78.24, 14: 91.74},
    {1: 1.01, 2: 3.09, 3: 7.69, 4: 17.01, 6: 22.02, 7: 30.08, 8: 39.78, 10: 49.31, 11: 54.57, 12: 65.02, 13: 77.73, 14: 84.8},
)  # fmt: skip
"""Measured modes of table 2 without a mass and with a dead mass at node 8 [Hz]."""


def compute() -> dict:
    bare = structure("minas_truss")
    table = np.array([normal_modes(structure("minas_truss", parasitic=place)).hertz[:14] for place in PLACES])
    full, reduced = table[0], guyan(bare, {str(i): "z" for i in range(1, 15)}).omega / (2 * np.pi)
    finer = structure("minas_truss", middle_nodes=True)
    what = "without and with the mass at node 8, 2, 3, 4, 5, 6, 7, 10 [Hz]"
    out = {f"table 3, mode {k + 1}: {what}": table[:, k] for k in range(14)}
    return out | {
        "table 3: rms of the logarithm of computed over printed": np.sqrt(
            np.mean(np.log(table / PRINTED) ** 2)
        ),
        "full model: modes 1-4 [Hz]": full[:4],
        "Guyan to 14 translations: modes 1-4 [Hz]": reduced[:4],
        "Guyan over the full model, modes 1-14: smallest ratio is at least 1 (1 = yes)": (
            reduced / full
        ).min()
        >= 1,
        "Guyan over the full model, modes 1-11: largest ratio": (reduced / full)[:11].max(),
        "nodes in the middle of the links: freedoms": finer.count,
        "nodes in the middle of the links: modes 1-14 over those of the 42 freedoms": normal_modes(
            finer
        ).hertz[:14]
        / full,
        **tuning(bare),
        **beside_tables(table, reduced, finer),
    }


def beside_tables(table: np.ndarray, reduced: np.ndarray, finer: Structure) -> dict:
    """Return the columns of tables 1 and 2."""
    fine = normal_modes(finer).hertz
    found = dict(zip(TABLE_1, (table[0], fine, reduced)))
    out = {
        f"table 1, {name}: modes 1-{len(printed)} over the printed": found[name][: len(printed)] / printed
        for name, printed in TABLE_1.items()
    }
    whole = normal_modes(structure("minas_truss")).hertz
    out["table 1, mode 15 of 42 and of 126 freedoms [Hz]"] = [whole[14], fine[14]]
    for row, test, name in zip(table, TESTS, ("without a mass", "with a mass at node 8")):
        held = np.array(list(test)) - 1
        out[f"table 2, {name}: computed over measured modes {', '.join(map(str, test))}"] = row[held] / list(
            test.values()
        )
    return out


def tuning(bare: Structure) -> dict:
    """Return frequency and damping of an absorber at node 8 that is tuned to mode 4."""
    carrying = structure("minas_truss", parasitic=8)
    loaded = normal_modes(carrying, 4)
    mu = PROOF * loaded.shapes[carrying.where("8", "z")[0], 3] ** 2
    absorber = tuned_absorber(bare.with_input("8z", "8", {"z": 1.0}), "8z", 4, PROOF, PARASITIC)
    return {
        "tuning of the actuator to mode 4 by eqs. 4a, 4b, 5 [Hz]": np.array(
            [loaded.omega[3], loaded.omega[3] / (1 + mu), absorber.frequency]
        )
        / (2 * np.pi),
        "damping of the tuned actuator by eq. 5 [N s/m]": absorber.damping,
    }
