"""The studies of `articulus demo`: the Caterpillar 215B in RESOLVED mode on its hydraulics, the tip of a light arm, their key figures."""

from articulus.study.demo.figures import by_joint, overall, tip_rows
from articulus.study.demo.show import Demo, run_demo

__all__ = ["Demo", "by_joint", "overall", "run_demo", "tip_rows"]
