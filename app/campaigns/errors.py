"""Errors of campaigns."""

from app.core.errors import Conflict


class CampaignFrozen(Conflict):
    number, code = 40955, "CAMPAIGN_FROZEN"
    message = (
        "Sending has begun, or the campaign is called off, so it cannot be changed; duplicate it to go on from it."
    )


class CampaignStarted(Conflict):
    number, code = 40956, "CAMPAIGN_STARTED"
    message = "Sending has begun, so the campaign can no longer be called off; data.status says its state."


class NothingUncertain(Conflict):
    number, code = 40957, "NOTHING_UNCERTAIN"
    message = "None of these messages is uncertain, so there is nothing to send again; list the uncertain ones first."


class NoReachableChannel(Conflict):
    number, code = 40958, "NO_WAY_TO_YOU"
    message = "None of these channels leads to you: save a telephone number, or register a device, and try again."
