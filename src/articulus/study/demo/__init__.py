"""The study of `articulus demo`: the Caterpillar 215B in RESOLVED mode on its hydraulics, and its key figures."""

from articulus.study.demo.figures import by_joint, overall
from articulus.study.demo.show import Demo, run_demo

__all__ = ["Demo", "by_joint", "overall", "run_demo"]
