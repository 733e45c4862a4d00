"""The report of a campaign: one HTML file that needs nothing else."""

from articulus.study.campaign.report.page import report_text

__all__ = ["report_text"]
