"""Velocities and forces that the factors of the mass matrix decouple: sums over joints in place of double sums."""

import numpy as np

import articulus as art

NAMES = ("puma600", "human_torso", "two_link")


def compute() -> dict:
    out: dict[str, list] = {"energy": [], "power": [], "rest": [], "printed sign": []}
    rng = np.random.default_rng(8)
    for name in NAMES:
        arm = art.load(name)
        q, v, tau = rng.uniform(-1, 1, arm.nq), rng.normal(size=arm.nv), rng.normal(size=arm.nv)
        n, e, D = arm.innovations(q, v, tau)
        kinetic = 0.5 * v @ arm.mass_matrix(q) @ v
        out["energy"].append(np.sum(D * n**2) / 2 / kinetic)
        out["power"].append(n @ e / (v @ tau))
        # from rest: D dn/dt = e - L^-1 bias, where n = L'v
        still = np.zeros(arm.nv)
        vdot = arm.forward_dynamics(q, still, tau)
        rate = arm.innovations(q, vdot, tau)[0]
        pushed = arm.innovations(q, still, tau - arm.bias(q, still))[1]
        out["rest"].append(np.abs(D * rate - pushed).max() / np.abs(pushed).max())
        out["printed sign"].append(abs(np.sum(D * (2 * v - n) ** 2) / 2 / kinetic - 1))
    return {
        "sum of D n^2 / 2 over the kinetic energy, three arms": out["energy"],
        "sum of n e over the power, three arms": out["power"],
        "from rest: D dn/dt - e + L^-1 bias over its largest, three arms": out["rest"],
        "with the printed sign, n = (I - K*) v, the energies differ (1 = yes)": bool(max(out["printed sign"]) > 0.1),
    }  # fmt: skip
