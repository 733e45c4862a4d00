"""The report of a study: one HTML file that needs nothing else."""

from articulus.study.report.page import report_text

__all__ = ["report_text"]
