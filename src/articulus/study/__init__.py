"""Studies: a TOML file with model, components, method, outputs and checks; results and a report come out."""

from articulus.study.check import RunCheck, Verdict
from articulus.study.reader import is_study, parse_study, read_study
from articulus.study.runner import Files, Outcome, run_only, run_study
from articulus.study.study import Study

__all__ = [
    "Files",
    "Outcome",
    "RunCheck",
    "Study",
    "Verdict",
    "is_study",
    "parse_study",
    "read_study",
    "run_only",
    "run_study",
]
