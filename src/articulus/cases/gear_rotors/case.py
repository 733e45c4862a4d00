"""Arms driven through gears: what the rotors add, what is conserved, and the seven-joint RRC arm."""

from collections.abc import Callable

import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.cases.gear_rotors.variants import gears, variant
from articulus.model.mechanism import Description
from articulus.simulation.integrate import RK4

Q = np.array([0.3, -0.8, 0.5, 1.1, -0.4, 0.9, -1.2])
V = np.array([0.7, -0.5, 0.9, -1.1, 0.8, 0.6, -0.9])


def compute() -> dict:
    arm = art.load("rrc7")
    direct = variant(arm.description, "direct")
    return {**formulas(arm, direct), **conservation(arm.description), **load(arm), **rrc_arm(arm.description)}


# what the rotors add, eqs. 45, 46, 48, 51, 52


def formulas(arm: art.Mechanism, direct: art.Mechanism) -> dict:
    ratio, spin, axes = gears(arm, Q)
    turn = [np.zeros((3, 7)), *(arm.jacobian(f"link{k}", Q)[:3] for k in range(1, 7))]
    coupling = np.array([spin[i] * axes[i] @ turn[i] for i in range(7)])
    A = direct.mass_matrix(Q) + coupling + coupling.T + np.diag(ratio * spin)
    kinetic = direct.energy(Q, V)[0] + sum(
        0.5 * ratio[i] * spin[i] * V[i] ** 2 + V[i] * coupling[i] @ V for i in range(7)
    )
    momentum = direct.momentum(Q, V)[:3] + sum(spin[i] * V[i] * axes[i] for i in range(7))
    once = variant(arm.description, first_ratio=1.0)
    return {
        "A less A' with the rotor terms, relative": relative(arm.mass_matrix(Q), A),
        "bias less bias' with the rotor terms, relative": relative(
            arm.bias(Q, V), direct.bias(Q, V) - gyroscopic(arm, spin, axes)
        ),
        "K less K' with the rotor terms, relative": relative(arm.energy(Q, V)[0], kinetic),
        "K less 1/2 qd A qd, relative": relative(arm.energy(Q, V)[0], 0.5 * V @ arm.mass_matrix(Q) @ V),
        "H less H' with the rotor terms, relative": relative(arm.momentum(Q, V)[:3], momentum),
        "H.z1 less sum A_1i qd_i (mu1 = 1), relative": relative(
            once.momentum(Q, V)[2], once.mass_matrix(Q)[0] @ V
        ),
    }


def gyroscopic(arm: art.Mechanism, spin: np.ndarray, axes: list[np.ndarray]) -> np.ndarray:
    """Return G_r = -mu_r J_r alpha'_{r-1}.e_r + sum_{i>r} mu_i J_i qd_i (w_{i-1} x z_r).e_i (eq. 46)."""
    still = np.zeros(7)
    w = [np.zeros(3), *(arm.velocity(f"link{k}", Q, V)[:3] for k in range(1, 8))]
    alpha = [np.zeros(3), *(arm.acceleration(f"link{k}", Q, V, still)[:3] for k in range(1, 8))]
    z = [arm.jacobian(f"link{k + 1}", Q)[:3, k] for k in range(7)]
    return np.array(
        [
            -spin[r] * alpha[r] @ axes[r]
            + sum(spin[i] * V[i] * np.cross(w[i], z[r]) @ axes[i] for i in range(r + 1, 7))
            for r in range(7)
        ]
    )


# what is conserved, cases I, IIa and IIb


def conservation(arm: Description) -> dict:
    geared, direct = variant(arm), variant(arm, "direct")
    drift = energy_drift(direct)
    inner = np.array([0.0, 20.0, -15.0, 10.0, 8.0, -5.0, 3.0])
    return {
        "case I: drift of energy in 3 s, T = 0, over the kinetic energy": energy_drift(geared),
        "case I without rotors: drift of energy in 3 s, over the kinetic energy": drift,
        "case I without rotors: drift at h = 2 ms over drift at h = 1 ms": energy_drift(direct, 2e-3) / drift,
        "case IIa: drift of H.z1 in 3 s, g = 0, T1 = 0, mu1 = 1, relative": momentum_drift(
            variant(arm, first_ratio=1.0, gravity=False), inner
        ),
        "case IIb: drift of H.z1 in 3 s, z1 along gravity, T1 = 0, mu1 = 1, relative": momentum_drift(
            variant(arm, first_ratio=1.0), inner
        ),
    }


def simulate(
    arm: art.Mechanism,
    torque: Callable[[float], np.ndarray],
    q: np.ndarray,
    v: np.ndarray,
    end: float,
    step: float,
) -> tuple:
    def rate(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[7:], arm.forward_dynamics(x[:7], x[7:], torque(t))])

    _, x = RK4().integrate(rate, 0.0, end, np.concatenate([q, v]), round(end / step))
    return x[:, :7], x[:, 7:]


def energy_drift(arm: art.Mechanism, step: float = 1e-3) -> float:
    free = np.zeros(7)
    kinetic, potential = arm.energy(*simulate(arm, lambda t: free, Q, V, 3.0, step))
    total = kinetic + potential
    return float(np.abs(total - total[0]).max() / kinetic.max())


def momentum_drift(arm: art.Mechanism, torque: np.ndarray) -> float:
    H = arm.momentum(*simulate(arm, lambda t: torque, Q, V, 3.0, 1e-3))[:, 2]
    return float(np.abs(H - H[0]).max() / np.abs(H[0]))


def load(arm: art.Mechanism) -> dict:
    """Return an external wrench on the last link against its virtual work, J' w (eqs. 40, 41 corrected)."""
    wrench = np.array([3.0, -2.0, 5.0, 20.0, -35.0, 12.0])
    vdot = np.linspace(-1.0, 1.0, 7)
    loaded = arm.inverse_dynamics(Q, V, vdot, wrenches={"tool": wrench})
    carried = arm.inverse_dynamics(Q, V, vdot) - loaded
    return {
        "torque of an external load less virtual work, relative": relative(
            carried, arm.jacobian("tool", Q).T @ wrench
        )
    }


# the RRC arm, frames assumed


def rrc_arm(arm: Description) -> dict:
    still = np.zeros(7)
    sets = {
        1: variant(arm, "direct", gravity=False),
        2: variant(arm, gravity=False),
        3: variant(arm, "diagonal", gravity=False),
    }
    push = np.array([160 * 0.625, 0, 0, 0, 0, 0, 0])
    ends = {k: simulate(sets[k], lambda t: push, still, still, 1.0, 1e-3)[0][-1, 0] for k in (1, 2)}
    swing = {k: simulate(sets[k], sway, still, still, 5.0, 2e-3)[0] for k in (2, 3)}
    return {
        "RRC arm: diagonal of A' [kg m^2]": np.diag(sets[1].mass_matrix(still)),
        "RRC arm: diagonal of A less that of A', mu^2 J [kg m^2]": np.diag(
            sets[2].mass_matrix(still) - sets[1].mass_matrix(still)
        ),
        "RRC arm: first acceleration without and with rotors, T1 = 0.625 N m [rad/s^2]": [
            sets[k].forward_dynamics(still, still, push)[0] for k in (1, 2)
        ],
        "RRC arm: q1 after 1 s without rotors, T1 = 0.625 N m [rad]": ends[1],
        "RRC arm: q1 after 1 s with rotors, T1 = 0.625 N m [rad]": ends[2],
        "RRC arm: largest difference of sets 2 and 3 at t = 5 s, T1 = 3.125 cos 0.8 pi t [rad]": np.abs(
            swing[2][-1] - swing[3][-1]
        ).max(),
    }


def sway(t: float) -> np.ndarray:
    return np.array([160 * 3.125 * np.cos(0.8 * np.pi * t), 0, 0, 0, 0, 0, 0])
