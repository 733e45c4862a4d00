"""Stable inversion of nonlinear systems x' = f(x) + g(x) u, y = h(x), minimum-phase or not (Chen & Paden)."""

from articulus.motion.inversion.stable.forward import ForwardRun, forward_run
from articulus.motion.inversion.stable.normal_form import NormalForm, normal_form
from articulus.motion.inversion.stable.regulator import Regulator, regulator

__all__ = [
    "ForwardRun",
    "NormalForm",
    "Regulator",
    "forward_run",
    "normal_form",
    "regulator",
]
