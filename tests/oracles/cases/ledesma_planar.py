"""Link 2 of Ledesma & Bayo 1993 alone, as in `bayo_link`; motions of a thousandth are linear."""

import numpy as np
from bayo_inversion import support
from bayo_link import inverse, rigid_peak, zeros


def expected():
    t, tau = inverse(0.5)
    return {
        "link 2 alone: slowest zeros, squared [1/s^2]": zeros()[:2],
        "link 2 alone, 0.7 mrad in 0.5 s: peak torque, times 1000 [N m]": np.abs(tau).max(),
        "the same for a rigid link [N m]": rigid_peak(0.5),
        "the same: the torque begins and ends [s]": support(t, tau),
    }
