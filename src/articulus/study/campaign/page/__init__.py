"""A page that shows a campaign while it runs, or as it ended. It only reads the folder of the campaign."""

from articulus.study.campaign.page.serving import CampaignPage

__all__ = ["CampaignPage"]
