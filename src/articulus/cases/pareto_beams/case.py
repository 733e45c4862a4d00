"""Trade-off between mass and control of a cantilever and of a hub with a tapered beam: the printed designs, the fronts of the obvious model."""

import warnings

import numpy as np

from articulus.design import Front, ModalRatio, RegulatorCost, SizedStructure, TradeOff
from articulus.design.tapered_beam import constrain, stepped_beam, tapered_beam

LENGTH, DENSITY, MODULUS, WIDTH, HUB = 45.0, 1660.0, 9.56e10, 1e-3, 50.0
EFFORT = 1e-4
CANTILEVER = (
    (0, 0.0001, 0.0001, 0.0001, 350000, 0.007, 0.007),
    (1e-06, 0.00035, 0.00038, 0.00032, 96000, 0.026, 0.122),
    (1e-05, 0.00116, 0.00114, 0.00077, 30800, 0.076, 0.384),
    (0.0001, 0.0057, 0.00625, 0.00287, 5870, 0.369, 0.955),
    (0.005, 0.0585, 0.0708, 0.0187, 495, 3.68, 6.14),
    (0.01, 0.0801, 0.0802, 0.0212, 391, 4.52, 8.89),
    (0.02, 0.113, 0.111, 0.03, 265, 6.33, 11.52),
    (0.04, 0.159, 0.155, 0.0438, 177, 8.9, 15.64),
    (0.1, 0.237, 0.249, 0.0761, 102, 14, 22.77),
    (0.2, 0.367, 0.349, 0.112, 61.8, 20.62, 28.86),
    (0.3, 0.425, 0.457, 0.154, 46.1, 25.8, 31.92),
    (0.4, 0.563, 0.532, 0.189, 35.5, 31.97, 32.99),
    (0.5, 0.622, 0.65, 0.231, 27.93, 37.43, 32.68),
    (0.6, 0.795, 0.751, 0.279, 21.33, 45.45, 30.97),
    (0.7, 0.886, 0.934, 0.346, 16.86, 53.92, 27.98),
    (0.8, 1.2, 1.14, 0.44, 11.78, 69.39, 23.3),
    (0.9, 1.68, 1.59, 0.62, 7.3, 96.98, 16.27),
    (0.94, 1.93, 2.07, 0.82, 5.4, 119.9, 12.27),
    (0.98, 3.37, 3.22, 1.37, 2.58, 198.2, 6.49),
    (0.99, 3.95, 4.4, 1.81, 1.81, 253.6, 4.33),
)
"""Table 1: lambda, three areas [1e-3 m^2], J_c, J_s, J_lambda."""
TAPERED = (
    (0, 0.001, 0.001, 0.001, 0.001, 1.6e10, 0.075, 0.075),
    (0.0001, 0.02404, 0.02363, 0.02291, 0.01366, 3355.26, 1.628, 1.963),
    (0.001, 0.03552, 0.03485, 0.03359, 0.02065, 482.6, 2.404, 2.884),
    (0.01, 0.05223, 0.05134, 0.0494, 0.03043, 70.78, 3.54, 4.21),
    (0.1, 0.07699, 0.07559, 0.07157, 0.05303, 10.03, 5.28, 5.757),
    (0.2, 0.08759, 0.08563, 0.08031, 0.06659, 5.33, 6.05, 5.906),
    (0.3, 0.0955, 0.09267, 0.08657, 0.07847, 3.54, 6.62, 5.703),
    (0.4, 0.10258, 0.09867, 0.09187, 0.09085, 2.56, 7.15, 5.31),
    (0.5, 0.10944, 0.10389, 0.0967, 0.1047, 1.93, 7.66, 4.79),
    (0.6, 0.11715, 0.10948, 0.10135, 0.12176, 1.46, 8.22, 4.17),
    (0.7, 0.12657, 0.11576, 0.10681, 0.14516, 1.08, 8.92, 3.43),
    (0.8, 0.13944, 0.12322, 0.11304, 0.18055, 0.77, 9.87, 2.59),
    (0.9, 0.16369, 0.13641, 0.1243, 0.24923, 0.47, 11.63, 1.59),
    (0.92, 0.17299, 0.14104, 0.12893, 0.27374, 0.41, 12.28, 1.355),
    (0.94, 0.18542, 0.14815, 0.13565, 0.30544, 0.34, 13.18, 1.107),
    (0.96, 0.20578, 0.16117, 0.14818, 0.35131, 0.26, 14.64, 0.83),
    (0.98, 0.25035, 0.19468, 0.18421, 0.42401, 0.16, 17.83, 0.52),
    (0.99, 0.29401, 0.25488, 0.24878, 0.48165, 0.09, 22.2, 0.32),
)
"""Table 2: lambda, four depths [m], J_c, J_s, J_lambda."""


def compute() -> dict:
    one, two = cantilever(), hub_and_beam()
    energy = RegulatorCost(EFFORT * np.eye(1), energy=1.0)
    first, second = np.array(CANTILEVER), np.array(TAPERED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no restart finds better designs, the front does not go backwards
        beam_front = TradeOff.of(one, energy, 1e-7).front(
            (0.0001, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9), restarts=1
        )
        hub_front = TradeOff.of(two, tip(EFFORT), 1e-3).front(
            (0.1, 0.3, 0.5, 0.7, 0.9), start=np.full(4, 0.05)
        )
    depths = {R: TradeOff.of(two, tip(R), 1e-3).minimize(0.7, np.full(4, 0.1)).x for R in (1e-6, 1e-2)}
    sums = [(1 - t[:, 0]) * t[:, -2] + t[:, 0] * t[:, -3] for t in (first, second)]
    odd = np.isin(first[:, 0], (0.01, 0.4))
    return {
        "table 1: J_s of the 20 printed designs over the printed ones": np.array(
            [one.mass(1e-3 * a) for a in first[:, 1:4]]
        )
        / first[:, 5],
        "table 2: J_s of the 18 printed designs [kg]": np.array([two.mass(d) for d in second[:, 1:5]]),
        "table 1: (1 - lambda) J_s + lambda J_c of printed numbers, but for lambda = .01, .4": sums[0][~odd],
        "table 1: (1 - lambda) J_s + lambda J_c of printed numbers, lambda = .01, .4": sums[0][odd],
        "table 2: (1 - lambda) J_s + lambda J_c of printed numbers": sums[1],
        "table 1: control cost of the printed design at lambda = .5": energy.at(one, 1e-3 * first[12, 1:4])[
            0
        ],
        "cantilever of square sections: J_c at lambda = .01, .5, .9": of(beam_front, (0.01, 0.5, 0.9))[:, 1],
        "cantilever of square sections: J_s at lambda = .5, .9 [kg]": of(beam_front, (0.5, 0.9))[:, 0],
        "hub and beam: J_lambda at lambda = .1, .5, .9": totals(hub_front, (0.1, 0.5, 0.9)),
        "hub and beam: depths at lambda = .5 [m]": next(d.x for d in hub_front.designs if d.share == 0.5),
        "J_c falls and J_s grows along both fronts (1 = yes)": all(
            (np.diff(f.costs[:, 0]) > 0).all() and (np.diff(f.costs[:, 1]) < 0).all()
            for f in (beam_front, hub_front)
        ),
        "hub and beam, lambda = .7, R = 1e-6: depths [m]": depths[1e-6],
        "hub and beam, lambda = .7, R = 1e-2: depths [m]": depths[1e-2],
        "derivatives of LQG cost over central differences": lqg_slopes(two),
    }


def cantilever() -> SizedStructure:
    """Return three elements of square section: force at the end, disturbances at all three deflections, damping 0.5 %."""
    M, K, weights = stepped_beam(LENGTH, 3, DENSITY, MODULUS)
    free, unit = np.arange(2, 8), np.eye(6)
    return SizedStructure(
        ("a1", "a2", "a3"), constrain(M, free), constrain(K, free), weights, unit[:, [4]], unit[:, [0, 2, 4]], np.zeros((0, 6)),
        damping=ModalRatio(0.005),
    )  # fmt: skip


def hub_and_beam() -> SizedStructure:
    """Return a pinned hub with three tapered elements: torque at the hub, disturbance and output at the tip."""
    M, K, weights = tapered_beam(LENGTH, 3, WIDTH, DENSITY, MODULUS)
    free, unit = np.arange(1, 8), np.eye(7)
    hub = HUB * np.outer(unit[0], unit[0])
    return SizedStructure(
        ("d1", "d2", "d3", "d4"), constrain(M, free, hub), constrain(K, free), weights, unit[:, [0]], unit[:, [5]], unit[[5]],
        damping=ModalRatio(0.005),
    )  # fmt: skip


def tip(R: float) -> RegulatorCost:
    return RegulatorCost(R * np.eye(1), outputs=np.eye(1))


def of(front: Front, shares: tuple[float, ...]) -> np.ndarray:
    return np.array([d.costs for d in front.designs if d.share in shares])


def totals(front: Front, shares: tuple[float, ...]) -> np.ndarray:
    return np.array([d.total for d in front.designs if d.share in shares])


def lqg_slopes(structure: SizedStructure) -> np.ndarray:
    """Return the derivatives of the LQG cost by the depths over central differences."""
    angle = np.eye(14)[[0]]
    cost = RegulatorCost(
        EFFORT * np.eye(1),
        outputs=np.eye(1),
        noise=1e-3 * np.eye(14),
        sensors=angle,
        sensor_noise=1e-3 * np.eye(1),
    )
    depths = np.array([0.08, 0.11, 0.10, 0.07])
    differences = [
        (cost.at(structure, depths + h)[0] - cost.at(structure, depths - h)[0]) / (2 * h.max())
        for h in 1e-6 * np.eye(4)
    ]
    return cost.at(structure, depths)[1] / differences
