"""Back onto the constraints: the smallest change, measured by the mass matrix, of positions and of velocities.

dx minimizes dx' M dx / 2 under G dx + residual = 0. As in the augmented form,

    (M + G' a G) dx_{i+1} = -G' a residual(dx_i)   added up,   or   dx -= M^-1 G' (G M^-1 G' + 1/a)^-1 residual(dx)

so that redundant rows and singular positions do no harm: what no motion can correct is left alone. M and G are those
of the point from which the step starts; only the residual is evaluated again, which converges as fast as the drift
is small.

Source: the iteration of Bayo & Avello 1994, equation 27, applied to positions and velocities.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX

from articulus.dynamics.loops.schur import Schur

Residual = Callable[[SX], SX]


class Projection:
    """Both projections with one factorization.

    Parameters
    ----------
    M : SX, (nv, nv)
    G : SX, (m, nv)
        At the point that is projected.
    penalty : number or (m,)
        As in `augmented`; see `suggested_penalty`.
    iterations : int
        Two take the drift of one step to rounding.
    """

    def __init__(self, M: SX, G: SX, penalty: SX | float, iterations: int = 2):
        self._schur = Schur(M, G, 1 / (penalty * SX.ones(G.shape[0])))
        self._size = G.shape[1]
        self._iterations = iterations

    def change(self, residual: Residual) -> SX:
        """Return the change dx of a position (in the directions of v) or of a velocity, (nv,).

        Parameters
        ----------
        residual : callable
            From dx to what should vanish: g at the position that dq leads to, or G (v + dv) + g_t, best at the
            projected position.
        """
        dx = SX.zeros(self._size)
        for _ in range(self._iterations):
            dx = dx - self._schur.response(self._schur.multipliers(residual(dx)))
        return dx
